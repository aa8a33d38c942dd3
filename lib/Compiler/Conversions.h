//===- Conversions.h - Float conversions that code calls -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_COMPILER_CONVERSIONS_H
#define RUDNN_LIB_COMPILER_CONVERSIONS_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace rudnn {

/// Adds the functions that code generation may call to convert f16 and bf16.
llvm::Error linkConversions(llvm::Module &module);

} // namespace rudnn

#endif // RUDNN_LIB_COMPILER_CONVERSIONS_H
