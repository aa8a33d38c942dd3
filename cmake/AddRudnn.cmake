# Wrappers that keep the CMakeLists of the folders to a list of files.

if(RUDNN_STATIC)
  set(RUDNN_MLIR_LIBS ${RUDNN_LLVM_ARCHIVES})
else()
  set(RUDNN_MLIR_LIBS MLIR LLVM)
endif()

# Flags every MLIR-facing target shares.
function(rudnn_mlir_target name)
  target_include_directories(${name} SYSTEM PRIVATE ${RUDNN_MLIR_INCLUDES})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_compile_definitions(${name} PRIVATE ${RUDNN_MLIR_DEFINITIONS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} rudnn-headers)
  if(RUDNN_PCH AND NOT name STREQUAL "rudnn-pch")
    target_precompile_headers(${name} REUSE_FROM rudnn-pch)
  endif()
endfunction()

# add_rudnn_library(Name file.cpp... [LINK_LIBS l...] [STATIC_LIBS l...])
# A library of MLIR code. LINK_LIBS are libraries of ours; STATIC_LIBS are the
# MLIR archives that the RUDNN_STATIC build needs in place of libMLIR.so.
function(add_rudnn_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;STATIC_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  rudnn_mlir_target(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} ${RUDNN_MLIR_LIBS})
  if(RUDNN_STATIC)
    target_link_libraries(${name} PUBLIC ${ARG_STATIC_LIBS})
  endif()
  set_property(GLOBAL APPEND PROPERTY RUDNN_LIBRARIES ${name})
endfunction()

# add_rudnn_tool(name file.cpp... LINK_LIBS ...): a program in bin/.
function(add_rudnn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  # -fPIC as in the libraries (CMake would use -fPIE): the precompiled header
  # is shared.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  rudnn_mlir_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${RUDNN_MLIR_LIBS})
  set_property(GLOBAL APPEND PROPERTY RUDNN_TOOLS ${name})
endfunction()

# rudnn_tablegen(<file.td> <output> <generator args...>)
# The .td files live in dialect/ and passes/; what is generated from them lands
# in <build>/include/rudnn next to where the headers are installed.
macro(rudnn_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${PROJECT_SOURCE_DIR}/${td})
  get_filename_component(_td_dir ${PROJECT_SOURCE_DIR}/${td} DIRECTORY)
  mlir_tablegen(${output} ${ARGN} EXTRA_INCLUDES ${_td_dir} ${MLIR_INCLUDE_DIRS})
endmacro()
