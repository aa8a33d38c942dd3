//===- NormDecompose.cpp - Normalization ops as linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/NormOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace rudnn;

/// Index strings for rows: "ab..z" for x, the same without its last letter for
/// a value per row, the last letter for a value per column.
namespace {
struct RowSpec {
  std::string all, row, column;
  explicit RowSpec(Value x) {
    for (size_t dim = 0, rank = shapeOf(x).size(); dim < rank; ++dim)
      all += static_cast<char>('a' + dim);
    row = all.substr(0, all.size() - 1);
    column = all.substr(all.size() - 1);
  }
};
} // namespace

/// sum / H per row, given the sum.
static Value divideByWidth(EinBuilder &e, OpBuilder &b, Location loc,
                           const RowSpec &spec, Value sum, Value x) {
  int64_t last = shapeOf(x).size() - 1;
  Value width = getValueOrCreateConstantIndexOp(b, loc, e.size(x, last));
  Value asInt = arith::IndexCastOp::create(b, loc, b.getI64Type(), width);
  Value asFloat = arith::SIToFPOp::create(b, loc, b.getF32Type(), asInt);
  return e.map(spec.row + ",->" + spec.row, {sum, asFloat}, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return arith::DivFOp::create(b, loc, x[0], x[1]);
               });
}

/// 1 / sqrt(mean + eps) per row.
static Value reciprocalRoot(EinBuilder &e, OpBuilder &b, const RowSpec &spec,
                            Value mean, const APFloat &eps) {
  double value = eps.convertToDouble();
  return e.map(
      spec.row + "->" + spec.row, mean, b.getF32Type(),
      [value](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value shifted =
            arith::AddFOp::create(b, loc, x[0], f32Const(b, loc, value));
        Value root = math::SqrtOp::create(b, loc, shifted);
        return arith::DivFOp::create(b, loc, f32Const(b, loc, 1.0), root);
      });
}

/// The sum of one term or of two, element by element, in f32.
static Value sumOf(OpBuilder &b, Location loc, ValueRange terms) {
  Value sum = toF32(b, loc, terms[0]);
  for (Value term : terms.drop_front())
    sum = arith::AddFOp::create(b, loc, sum, toF32(b, loc, term));
  return sum;
}

/// The root-mean-square norm of the sum of `terms`.
static Value rmsNorm(OpBuilder &b, Location loc, ArrayRef<Value> terms,
                     Value gamma, const APFloat &eps, Value out) {
  EinBuilder e(b, loc);
  RowSpec spec(terms[0]);
  std::string all = spec.all;
  for (size_t i = 1; i < terms.size(); ++i)
    all += "," + spec.all;
  Value squares =
      e.reduce(all + "->" + spec.row, terms, b.getF32FloatAttr(0.0),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value sum = sumOf(b, loc, x.drop_back());
                 auto flags = arith::FastMathFlags::reassoc |
                              arith::FastMathFlags::contract;
                 Value square = arith::MulFOp::create(b, loc, sum, sum, flags);
                 return arith::AddFOp::create(b, loc, x.back(), square, flags);
               });
  Value mean = divideByWidth(e, b, loc, spec, squares, terms[0]);
  Type type = elementTypeOf(terms[0]);
  SmallVector<Value> inputs(terms);
  inputs.push_back(reciprocalRoot(e, b, spec, mean, eps));
  inputs.push_back(gamma);
  return e.map(
      all + "," + spec.row + "," + spec.column + "->" + spec.all, inputs, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value sum = sumOf(b, loc, x.drop_back(2));
        Value n = arith::MulFOp::create(b, loc, sum, x.drop_back().back());
        Value y = arith::MulFOp::create(b, loc, n, toF32(b, loc, x.back()));
        return fromF32(b, loc, y, type);
      },
      out);
}

FailureOr<SmallVector<Value>> RmsNormOp::decomposeOperation(OpBuilder &b) {
  return SmallVector<Value>{
      rmsNorm(b, getLoc(), {getX()}, getGamma(), getEps(), getOuts()[0])};
}

FailureOr<SmallVector<Value>> AddRmsNormOp::decomposeOperation(OpBuilder &b) {
  EinBuilder e(b, getLoc());
  RowSpec spec(getX());
  Type type = elementTypeOf(getX());
  Value y = rmsNorm(b, getLoc(), {getX(), getResidual()}, getGamma(), getEps(),
                    getOuts()[0]);
  Value sum = e.map(
      spec.all + "," + spec.all + "->" + spec.all, {getX(), getResidual()},
      type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, sumOf(b, loc, x), type);
      },
      getOuts()[1]);
  return SmallVector<Value>{y, sum};
}

FailureOr<SmallVector<Value>> LayerNormOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  RowSpec spec(getX());
  Type f32 = b.getF32Type();
  Value mean = divideByWidth(
      e, b, loc, spec, e.reduceSum(spec.all + "->" + spec.row, getX()), getX());
  // The f32 mean of a long row of large values is off by its rounding. Around
  // it, the mean of the differences corrects both the mean and the variance.
  Value diff =
      e.map(spec.all + "," + spec.row + "->" + spec.all, {getX(), mean}, f32,
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              return arith::SubFOp::create(b, loc, toF32(b, loc, x[0]), x[1]);
            });
  Value rest = divideByWidth(
      e, b, loc, spec, e.reduceSum(spec.all + "->" + spec.row, diff), getX());
  Value squares =
      e.contract(spec.all + "," + spec.all + "->" + spec.row, diff, diff);
  Value meanSquare = divideByWidth(e, b, loc, spec, squares, getX());
  Value variance = e.map(
      spec.row + "," + spec.row + "->" + spec.row, {meanSquare, rest}, f32,
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value square = arith::MulFOp::create(b, loc, x[1], x[1]);
        Value var = arith::SubFOp::create(b, loc, x[0], square);
        return arith::MaximumFOp::create(b, loc, var, f32Const(b, loc, 0.0));
      });
  Value scale = reciprocalRoot(e, b, spec, variance, getEps());
  SmallVector<Value> operands{diff, rest, scale, getGamma()};
  std::string text =
      spec.all + "," + spec.row + "," + spec.row + "," + spec.column;
  if (getBeta()) {
    operands.push_back(getBeta());
    text += "," + spec.column;
  }
  Type type = elementTypeOf(getX());
  Value y = e.map(
      text + "->" + spec.all, operands, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value centred = arith::SubFOp::create(b, loc, x[0], x[1]);
        Value n = arith::MulFOp::create(b, loc, centred, x[2]);
        Value y = arith::MulFOp::create(b, loc, n, toF32(b, loc, x[3]));
        if (x.size() > 4)
          y = arith::AddFOp::create(b, loc, y, toF32(b, loc, x[4]));
        return fromF32(b, loc, y, type);
      },
      getOuts()[0]);
  return SmallVector<Value>{y};
}

FailureOr<SmallVector<Value>> SoftmaxOp::decomposeOperation(OpBuilder &b) {
  EinBuilder e(b, getLoc());
  RowSpec spec(getX());
  Value max = e.reduceMax(spec.all + "->" + spec.row, getX());
  Value exps = e.map(
      spec.all + "," + spec.row + "->" + spec.all, {getX(), max},
      b.getF32Type(), [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value shifted =
            arith::SubFOp::create(b, loc, toF32(b, loc, x[0]), x[1]);
        return math::ExpOp::create(b, loc, shifted);
      });
  Value sum = e.reduceSum(spec.all + "->" + spec.row, exps);
  Type type = elementTypeOf(getX());
  Value y = e.map(
      spec.all + "," + spec.row + "->" + spec.all, {exps, sum}, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value y = arith::DivFOp::create(b, loc, x[0], x[1]);
        return fromF32(b, loc, y, type);
      },
      getOuts()[0]);
  return SmallVector<Value>{y};
}
