//===- NormOps.cpp - Verifiers and loops of the normalization ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/NormOps.h"
#include "rudnn/IR/EinBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/NormOps.cpp.inc"

void RudnnDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/NormOps.cpp.inc"
      >();
}

/// `x` has at least one axis and rows that are not empty.
static LogicalResult verifyRows(Operation *op, StringRef clause, Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.empty())
    return op->emitOpError()
           << clause << ": x has rank 0, expected at least rank 1";
  if (shape.back() == 0)
    return op->emitOpError()
           << clause << ": the last axis of x has extent 0, expected at least 1";
  return success();
}

/// `y` equals `x` in shape and element type.
static LogicalResult verifySame(Operation *op, StringRef clause, Value x,
                                Value y, StringRef name = "the output") {
  if (failed(verifyShape(op, clause, name, y, shapeOf(x))))
    return failure();
  return verifyElementType(op, clause, name, y, elementTypeOf(x));
}

static LogicalResult verifyWeight(Operation *op, StringRef clause,
                                  StringRef name, Value x, Value weight) {
  if (failed(verifyShape(op, clause, name, weight, {shapeOf(x).back()})))
    return failure();
  return verifyF32Or(op, clause, name, weight, elementTypeOf(x));
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  if (failed(verifyDestination(*this, "rms_norm_c5")) ||
      failed(verifyRows(*this, "rms_norm_c1", getX())) ||
      failed(verifySame(*this, "rms_norm_c2", getX(), getOuts()[0])) ||
      failed(verifyWeight(*this, "rms_norm_c3", "gamma", getX(), getGamma())))
    return failure();
  return verifyPositiveFinite(*this, "rms_norm_c4", "eps", getEps());
}

TilingLoops RmsNormOp::getTilingLoops() { return getRowLoops(*this); }

//===----------------------------------------------------------------------===//
// add_rms_norm
//===----------------------------------------------------------------------===//

LogicalResult AddRmsNormOp::verify() {
  if (failed(verifyDestination(*this, "add_rms_norm_c6", 2, 2)) ||
      failed(verifyRows(*this, "add_rms_norm_c1", getX())) ||
      failed(verifySame(*this, "add_rms_norm_c2", getX(), getResidual(),
                        "the residual")) ||
      failed(verifySame(*this, "add_rms_norm_c3", getX(), getOuts()[0],
                        "the first output")) ||
      failed(verifySame(*this, "add_rms_norm_c3", getX(), getOuts()[1],
                        "the second output")) ||
      failed(verifyWeight(*this, "add_rms_norm_c4", "gamma", getX(),
                          getGamma())))
    return failure();
  return verifyPositiveFinite(*this, "add_rms_norm_c5", "eps", getEps());
}

TilingLoops AddRmsNormOp::getTilingLoops() { return getRowLoops(*this); }

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  if (failed(verifyDestination(*this, "layer_norm_c6")) ||
      failed(verifyRows(*this, "layer_norm_c1", getX())) ||
      failed(verifySame(*this, "layer_norm_c2", getX(), getOuts()[0])) ||
      failed(verifyWeight(*this, "layer_norm_c3", "gamma", getX(), getGamma())))
    return failure();
  if (getBeta() &&
      failed(verifyWeight(*this, "layer_norm_c4", "beta", getX(), getBeta())))
    return failure();
  return verifyPositiveFinite(*this, "layer_norm_c5", "eps", getEps());
}

TilingLoops LayerNormOp::getTilingLoops() { return getRowLoops(*this); }

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyDestination(*this, "softmax_c3")) ||
      failed(verifyRows(*this, "softmax_c1", getX())))
    return failure();
  return verifySame(*this, "softmax_c2", getX(), getOuts()[0]);
}

TilingLoops SoftmaxOp::getTilingLoops() { return getRowLoops(*this); }

/// A row of one element is 1, unless the element isn't finite: 1 + (x - x).
static LogicalResult foldSingleElementRows(SoftmaxOp op,
                                           PatternRewriter &rewriter) {
  if (op->getNumResults() == 0 || shapeOf(op.getX()).back() != 1)
    return rewriter.notifyMatchFailure(op, "on memrefs or rows of several");
  std::string letters;
  for (size_t dim = 0, rank = shapeOf(op.getX()).size(); dim < rank; ++dim)
    letters += static_cast<char>('a' + dim);
  Type type = elementTypeOf(op.getX());
  EinBuilder e(rewriter, op.getLoc());
  Value y = e.map(
      letters + "->" + letters, op.getX(), type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value wide = toF32(b, loc, x[0]);
        Value zero = arith::SubFOp::create(b, loc, wide, wide);
        Value one =
            arith::AddFOp::create(b, loc, f32Const(b, loc, 1.0), zero);
        return fromF32(b, loc, one, type);
      },
      op.getOuts()[0]);
  rewriter.replaceOp(op, y);
  return success();
}

void SoftmaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(foldSingleElementRows);
}
