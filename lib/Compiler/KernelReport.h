//===- KernelReport.h - The tables of --report -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_COMPILER_KERNELREPORT_H
#define RUDNN_COMPILER_KERNELREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace rudnn {

/// Two tables of a module that the GPU pipeline compiled. Operators: place in the
/// source, op, strategy and why it was chosen. Kernels: place, name, grid and block
/// (`?`: an extent known at run time only), cluster, dynamic and static shared memory
/// [bytes], registers per thread, bytes of local memory per thread (spilled registers;
/// 0 is what a good kernel has). The last three come from the cubin and are `-` for PTX.
/// An error for a module that did not go through that pipeline.
llvm::Expected<std::string> formatKernelReport(mlir::Operation *module);

} // namespace rudnn

#endif // RUDNN_COMPILER_KERNELREPORT_H
