# RUDNN_STATIC: tools that carry LLVM and MLIR and need neither on the machine they run on.
#
# Debian builds MLIR against libLLVM.so, so every exported MLIR archive asks for that library
# (INTERFACE_LINK_LIBRARIES "...;LLVM"). Here the request becomes one for the LLVM archives of
# what rudnn generates code for: the host (X86) and NVPTX.

find_package(ZLIB REQUIRED)
# LLVMSupport names this target; the development package of zstd, which would define it, is
# not needed for anything else.
if(NOT TARGET zstd::libzstd_shared)
  find_library(RUDNN_ZSTD NAMES libzstd.so libzstd.so.1 REQUIRED)
  add_library(zstd::libzstd_shared SHARED IMPORTED GLOBAL)
  set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${RUDNN_ZSTD})
endif()

llvm_map_components_to_libnames(RUDNN_LLVM_ARCHIVES
  Analysis BitReader BitWriter CodeGen Core ExecutionEngine FrontendOpenMP IRReader JITLink
  Linker MC OrcJIT Passes Support Target TargetParser TransformUtils
  NVPTXCodeGen NVPTXDesc NVPTXInfo X86AsmParser X86CodeGen X86Desc X86Info)

foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
  if(NOT TARGET ${target})
    continue()
  endif()
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(libraries)
    list(TRANSFORM libraries REPLACE "^LLVM$" "LLVMSupport;LLVMCore")
    string(REPLACE "$<LINK_ONLY:LLVM>" "LLVMSupport;LLVMCore" libraries "${libraries}")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endforeach()

# The C++ library too: the other machine's may be older.
add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed)
