//===- Lower.h - From NVPTX IR to host IR -----------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_EMULATOR_LOWER_H
#define RUDNN_LIB_EMULATOR_LOWER_H

#include "Machine.h"
#include "Ptx.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace llvm {
class CallInst;
class Module;
} // namespace llvm

namespace rudnn::emulator {

/// What the lowering leaves beside the rewritten module.
struct Lowered {
  llvm::StringMap<KernelInfo> kernels; ///< `entry` is filled after the JIT.
  std::vector<std::unique_ptr<Block>> blocks;
  /// Global variables that kernels may access: name, bytes, constant.
  struct Variable {
    std::string name;
    uint64_t bytes;
    bool constant;
  };
  std::vector<Variable> variables;
};

/// Name of the wrapper of a kernel that takes an array of pointers to values.
std::string entryName(llvm::StringRef kernel);

/// Rewrites the module in place for the host. Device operations become calls
/// of rudnnEmu* functions.
llvm::Error lowerToHost(llvm::Module &module, Lowered &lowered);

/// Replaces device operations in one module's functions (Lower.cpp).
llvm::Error lowerOperations(llvm::Module &module, Lowered &lowered);
/// Inserts the checks of memory accesses and of accumulator reads
/// (Instrument.cpp); before lowerOperations.
void instrument(llvm::Module &module);
/// Whether the inline asm of a call issues or waits for a wgmma.
bool isWgmma(const llvm::CallInst &call);
bool isWgmmaWait(const llvm::CallInst &call);

/// PTX text of an NVVM intrinsic with $dI for results and $aI for arguments;
/// empty when the emulator does not model it.
std::string intrinsicText(llvm::StringRef name, const llvm::CallInst &call);
/// Number of the special register an intrinsic reads, or -1.
int intrinsicSpecialRegister(llvm::StringRef name);

} // namespace rudnn::emulator

#endif // RUDNN_LIB_EMULATOR_LOWER_H
