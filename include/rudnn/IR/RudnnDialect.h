//===- RudnnDialect.h - The rudnn dialect -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_RUDNNDIALECT_H
#define RUDNN_IR_RUDNNDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "rudnn/IR/OpUtils.h"
#include "rudnn/IR/TilingUtils.h"

#include "rudnn/RudnnDialect.h.inc"
#include "rudnn/RudnnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "rudnn/RudnnAttrs.h.inc"

namespace rudnn {
/// Registers how rudnn ops bufferize (needed before one-shot-bufferize).
void registerBufferizableOpInterfaceExternalModels(mlir::DialectRegistry &);

/// Registers what `-generate-runtime-verification` checks in the ops without
/// index operands: that dynamic extents agree as the clauses say.
void registerExtentVerification(mlir::DialectRegistry &registry);
} // namespace rudnn

#endif // RUDNN_IR_RUDNNDIALECT_H
