//===- EmulateTarget.h - NVIDIA kernels on the CPU -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_COMPILER_EMULATETARGET_H
#define RUDNN_COMPILER_EMULATETARGET_H

#include "rudnn/Compiler/Target.h"

namespace rudnn {

/// `emulate[:CHIP][:SEED]`: kernels for a chip (default sm_90a), run by the kernel
/// emulator. With a seed, copies and matrix operations complete late, in an order
/// drawn from it.
llvm::Expected<std::unique_ptr<Target>> createEmulateTarget(llvm::StringRef name);

} // namespace rudnn

#endif // RUDNN_COMPILER_EMULATETARGET_H
