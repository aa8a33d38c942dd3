//===- MoeOps.h - Mixture-of-experts ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_MOEOPS_H
#define RUDNN_IR_MOEOPS_H

#include "rudnn/IR/RudnnDialect.h"

#define GET_OP_CLASSES
#include "rudnn/MoeOps.h.inc"

namespace rudnn {
/// Registers what `-generate-runtime-verification` checks in these ops: expert
/// ids, offsets, rows, slots and dynamic extents.
void registerMoeRuntimeVerification(mlir::DialectRegistry &registry);
} // namespace rudnn

#endif // RUDNN_IR_MOEOPS_H
