//===- OpUtils.h - What all rudnn ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_OPUTILS_H
#define RUDNN_IR_OPUTILS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace rudnn {

/// Memory effects of an op whose operands may be memrefs: reads of the inputs,
/// writes (and, for read-modify-write ops, reads) of the outs. Tensors: none.
void getDestinationStyleEffects(
    mlir::Operation *op,
    llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// The shape of result i is the shape of outs operand i.
llvm::LogicalResult
reifyDestinationShapes(mlir::OpBuilder &b, mlir::Operation *op,
                       mlir::ReifiedRankedShapedTypeDims &shapes);

//===----------------------------------------------------------------------===//
// Verifier helpers. `clause` is the label of the violated clause; each message
// names the operand, what it is and what is allowed.
//===----------------------------------------------------------------------===//

/// `value` (called `name`) has rank `rank`.
llvm::LogicalResult verifyRank(mlir::Operation *op, llvm::StringRef clause,
                               llvm::StringRef name, mlir::Value value,
                               int64_t rank);

/// `value` has this shape; a dynamic extent on either side matches anything.
llvm::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef clause,
                                llvm::StringRef name, mlir::Value value,
                                llvm::ArrayRef<int64_t> expected);

/// `value` has element type `expected`.
llvm::LogicalResult verifyElementType(mlir::Operation *op,
                                      llvm::StringRef clause,
                                      llvm::StringRef name, mlir::Value value,
                                      mlir::Type expected);

/// `value` has element type f32 or `type`.
llvm::LogicalResult verifyF32Or(mlir::Operation *op, llvm::StringRef clause,
                                llvm::StringRef name, mlir::Value value,
                                mlir::Type type);

/// A float attribute is finite and greater than 0.
llvm::LogicalResult verifyPositiveFinite(mlir::Operation *op,
                                         llvm::StringRef clause,
                                         llvm::StringRef name,
                                         const llvm::APFloat &value);

/// Every attribute is one of the op or has a dialect's prefix, so that none is
/// ignored. Every operand has less than 2^63 bytes. Between `min` and `max`
/// outs; on tensors one result per out of its type, on memrefs no result; no
/// mix of tensors and memrefs among all shaped operands.
llvm::LogicalResult verifyDestination(mlir::Operation *op,
                                      llvm::StringRef clause, unsigned min = 1,
                                      unsigned max = 1);

/// Two extents agree when they are equal or one of them is dynamic.
inline bool extentsAgree(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) ||
         mlir::ShapedType::isDynamic(b);
}

/// The shape of a ranked tensor or memref.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// The element type of a ranked tensor or memref.
inline mlir::Type elementTypeOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getElementType();
}

} // namespace rudnn

#endif // RUDNN_IR_OPUTILS_H
