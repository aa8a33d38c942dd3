# Finds LLVM/MLIR 22.1 and picks the fast build tools when they are present.

# The version file of MLIR accepts major.minor only ("22" alone is refused).
if(NOT DEFINED MLIR_DIR AND EXISTS /usr/lib/llvm-22/lib/cmake/mlir)
  set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir)
endif()
find_package(MLIR 22.1 REQUIRED CONFIG)
message(STATUS "rudnn: MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

# MLIRConfig does not export this; without it targets would link the archives
# next to the shared library and hold a second copy of MLIR.
if(RUDNN_STATIC)
  set(LLVM_LINK_LLVM_DYLIB OFF)
  set(MLIR_LINK_MLIR_DYLIB OFF)
else()
  set(MLIR_LINK_MLIR_DYLIB ON)
endif()

# Installed tools find the runtime beside them and LLVM where it was linked from; static
# ones bring everything along.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
if(NOT RUDNN_STATIC)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

find_program(RUDNN_CCACHE ccache)
if(RUDNN_CCACHE)
  # A precompiled header needs the sloppiness; base_dir lets several checkouts share.
  set(launcher ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${RUDNN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(RUDNN_LLD NAMES ld.lld ld.lld-22 HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
if(RUDNN_LLD)
  add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
endif()
if(RUDNN_SANITIZE)
  # Only our own code is instrumented: container annotations would disagree
  # with the uninstrumented LLVM libraries.
  add_compile_options(-fsanitize=${RUDNN_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize=vptr -fno-sanitize-recover=undefined
    -D_GLIBCXX_SANITIZE_VECTOR=0)
  add_link_options(-fsanitize=${RUDNN_SANITIZE})
  # The sanitizers' symbols come from the program, so a library of ours can't
  # insist on all of its own (LLVM's options add -z defs).
  foreach(kind SHARED MODULE)
    string(REPLACE "-Wl,-z,defs" "" CMAKE_${kind}_LINKER_FLAGS
      "${CMAKE_${kind}_LINKER_FLAGS}")
  endforeach()
endif()

separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
set(RUDNN_MLIR_DEFINITIONS ${llvm_definitions})
set(RUDNN_MLIR_INCLUDES ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

if(RUDNN_STATIC)
  include(RudnnStaticLLVM)
endif()
