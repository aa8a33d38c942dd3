//===- MoeUtils.h - What the mixture-of-experts ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_RUDNN_MOEUTILS_H
#define RUDNN_DIALECT_RUDNN_MOEUTILS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace rudnn {

//===----------------------------------------------------------------------===//
// Verifiers; `clause` is the label of the violated clause.
//===----------------------------------------------------------------------===//

/// An extent, called `name`, is static and in [min, max].
llvm::LogicalResult verifyExtent(mlir::Operation *op, llvm::StringRef clause,
                                 llvm::StringRef name, int64_t extent,
                                 int64_t min,
                                 int64_t max = mlir::ShapedType::kDynamic);

/// An integer attribute is in [min, max].
llvm::LogicalResult verifyCount(mlir::Operation *op, llvm::StringRef clause,
                                llvm::StringRef name, int64_t value,
                                int64_t min, int64_t max);

/// `value` has this shape and is of i32.
llvm::LogicalResult verifyIndices(mlir::Operation *op, llvm::StringRef clause,
                                  llvm::StringRef name, mlir::Value value,
                                  llvm::ArrayRef<int64_t> shape);

/// `value` has rank 2 and its second extent, called `extent`, is not 0.
llvm::LogicalResult verifyMatrix(mlir::Operation *op, llvm::StringRef clause,
                                 llvm::StringRef name, llvm::StringRef extent,
                                 mlir::Value value);

/// x [R, H], gate and up [E, I, H], down [E, H, I] of one element type, offsets
/// [E+1]: clauses `prefix`1 to `prefix`5.
llvm::LogicalResult verifyExpertOperands(mlir::Operation *op,
                                         const std::string &prefix,
                                         mlir::Value x, mlir::Value offsets,
                                         mlir::Value gate, mlir::Value up,
                                         mlir::Value down);

/// Product of extents, dynamic when one is.
int64_t product(int64_t a, int64_t b);

//===----------------------------------------------------------------------===//
// Decompositions; letters of shapes as in MoeOps.td.
//===----------------------------------------------------------------------===//

mlir::Value i32Const(mlir::OpBuilder &b, mlir::Location loc, int64_t value);
mlir::Value nanConst(mlir::OpBuilder &b, mlir::Location loc);
mlir::Value minusInfConst(mlir::OpBuilder &b, mlir::Location loc);
/// Unsigned conversions between index and the integers of index operands.
mlir::Value toIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);
mlir::Value toI32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index);
/// index < bound, unsigned.
mlir::Value isBelow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index,
                    mlir::Value bound);

/// Largest key of every row of `keys` [T, E] (f32) and its first position
/// (i32). A NaN is not a candidate; each row must hold one that is.
std::pair<mlir::Value, mlir::Value>
largest(mlir::OpBuilder &b, mlir::Location loc, mlir::Value keys);

/// `keys` with NaN at every row's `position`.
mlir::Value exclude(mlir::OpBuilder &b, mlir::Location loc, mlir::Value keys,
                    mlir::Value position);

/// The `count` largest keys of every row, ties to the lower position, written
/// to `ids` [T, count] (i32) when given. Returns the keys with NaN in place of
/// the chosen, and the ids.
std::pair<mlir::Value, mlir::Value> selectTop(mlir::OpBuilder &b,
                                              mlir::Location loc,
                                              mlir::Value keys, int64_t count,
                                              mlir::Value ids = {});

/// source[t, ids[t, j]] as f32 [T, K]; NaN where the id is out of range.
mlir::Value gatherColumns(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value source, mlir::Value ids);

/// Softmax and sigmoid of logits [T, E], in f32.
mlir::Value softmaxRows(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value logits);
mlir::Value sigmoidRows(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value logits);
/// Sigmoid of an f32 scalar, without overflow.
mlir::Value sigmoid(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// selected [/ its row sum] * scale, rounded into `init`.
mlir::Value scaleWeights(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value selected, bool renormalize, double scale,
                         mlir::Value init);

/// sum_j [weights[t, j] *] rows[slotRows[t, j], c] in f32, j ascending, rounded
/// into `init` [T, W]. A slot whose row is out of range adds nothing.
mlir::Value sumOfSlots(mlir::OpBuilder &b, mlir::Location loc, mlir::Value rows,
                       mlir::Value slotRows, mlir::Value weights,
                       mlir::Value init);

} // namespace rudnn

#endif // RUDNN_DIALECT_RUDNN_MOEUTILS_H
