//===- EinBuilder.h - Linalg code from index strings -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_EINBUILDER_H
#define RUDNN_IR_EINBUILDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace rudnn {

/// Builds linalg ops on tensors from einsum-like strings, for decompositions:
///
///   EinBuilder e(b, loc);
///   Value s = e.contract("bhqd,bhkd->bhqk", q, k);          // f32 sum
///   Value m = e.reduceMax("bhqk->bhq", s);
///   Value p = e.map("bhqk,bhq->bhqk", {s, m}, f32, [](auto &b, auto loc, auto x) {
///     return math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, x[0], x[1]));
///   });
///
/// Each letter is a loop. Letters of the result are parallel loops, in that
/// order; the others are reductions, in order of appearance, innermost. An
/// operand may be a scalar (empty string). Extents come from the operands; set
/// `extent` for a letter that no operand has.
class EinBuilder {
public:
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

  EinBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// Extents of letters that no operand has.
  llvm::DenseMap<char, mlir::OpFoldResult> extent;

  /// result[..] = body(operands[..]); no reduction letters. Floats reach the
  /// body as they are stored: see toF32. `elementType` is the body's type.
  /// Written into `init` when given.
  mlir::Value map(llvm::StringRef spec, mlir::ValueRange operands,
                  mlir::Type elementType, Body body, mlir::Value init = {});

  /// init[..] = body(operands[..], init[..]), elementwise and in place: what a
  /// loop carries stays in its buffer.
  mlir::Value update(llvm::StringRef spec, mlir::ValueRange operands,
                     mlir::Value init, Body body);

  /// result[..] = fold of body(operands[..], accumulator) from `identity`, or
  /// from the values of `init` when given.
  mlir::Value reduce(llvm::StringRef spec, mlir::ValueRange operands,
                     mlir::TypedAttr identity, Body body,
                     mlir::Value init = {});

  /// Sum of products in f32; `init` (f32) when given is added to.
  mlir::Value contract(llvm::StringRef spec, mlir::Value lhs, mlir::Value rhs,
                       mlir::Value init = {});

  /// Maximum in f32 from -inf, or from `init` (f32); NaN wins.
  mlir::Value reduceMax(llvm::StringRef spec, mlir::Value x,
                        mlir::Value init = {});
  /// Sum in f32 from 0, or from `init` (f32).
  mlir::Value reduceSum(llvm::StringRef spec, mlir::Value x,
                        mlir::Value init = {});

  /// A new tensor of these extents filled with `value`.
  mlir::Value filled(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     mlir::TypedAttr value);
  /// `init`'s shape filled with `value`.
  mlir::Value filledLike(mlir::Value init, mlir::TypedAttr value);

  /// Extent of dim `dim` of a tensor, static when known.
  mlir::OpFoldResult size(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::OpFoldResult> sizes(mlir::Value tensor);

private:
  mlir::Value generic(llvm::StringRef spec, mlir::ValueRange operands,
                      mlir::Value init, Body body, bool passAccumulator);
  llvm::SmallVector<mlir::OpFoldResult> resultSizes(llvm::StringRef spec,
                                                    mlir::ValueRange operands);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Scalar conversions inside bodies; no-ops when the type is right already.
mlir::Value toF32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value fromF32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                    mlir::Type type);
/// An f32 constant.
mlir::Value f32Const(mlir::OpBuilder &b, mlir::Location loc, double value);

} // namespace rudnn

#endif // RUDNN_IR_EINBUILDER_H
