//===- MoeUtils.cpp - What the mixture-of-experts ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MoeUtils.h"

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult rudnn::verifyExtent(Operation *op, StringRef clause,
                                  StringRef name, int64_t extent, int64_t min,
                                  int64_t max) {
  bool bounded = max != ShapedType::kDynamic;
  if (!ShapedType::isDynamic(extent) && extent >= min &&
      (!bounded || extent <= max))
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << clause << ": " << name << " is ";
  if (ShapedType::isDynamic(extent))
    error << "dynamic";
  else
    error << extent;
  error << ", expected a static extent of at least " << min;
  if (bounded)
    error << " and at most " << max;
  return error;
}

int64_t rudnn::product(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b)
             ? ShapedType::kDynamic
             : a * b;
}

LogicalResult rudnn::verifyIndices(Operation *op, StringRef clause,
                                   StringRef name, Value value,
                                   ArrayRef<int64_t> shape) {
  if (failed(verifyShape(op, clause, name, value, shape)))
    return failure();
  return verifyElementType(op, clause, name, value,
                           IntegerType::get(op->getContext(), 32));
}

LogicalResult rudnn::verifyCount(Operation *op, StringRef clause,
                                 StringRef name, int64_t value, int64_t min,
                                 int64_t max) {
  if (value >= min && value <= max)
    return success();
  return op->emitOpError() << clause << ": " << name << " is " << value
                           << ", expected at least " << min << " and at most "
                           << max;
}

LogicalResult rudnn::verifyMatrix(Operation *op, StringRef clause,
                                  StringRef name, StringRef extent,
                                  Value value) {
  if (failed(verifyRank(op, clause, name, value, 2)))
    return failure();
  if (shapeOf(value)[1] == 0)
    return op->emitOpError()
           << clause << ": " << extent << ", the second extent of " << name
           << ", is 0, expected at least 1";
  return success();
}

LogicalResult rudnn::verifyExpertOperands(Operation *op,
                                          const std::string &prefix, Value x,
                                          Value offsets, Value gate, Value up,
                                          Value down) {
  if (failed(verifyRank(op, prefix + "1", "x", x, 2)) ||
      failed(verifyExtent(op, prefix + "1", "H, the second extent of x,",
                          shapeOf(x)[1], 1)) ||
      failed(verifyRank(op, prefix + "2", "gate", gate, 3)))
    return failure();
  Type type = elementTypeOf(x);
  int64_t width = shapeOf(x)[1];
  int64_t experts = shapeOf(gate)[0], inner = shapeOf(gate)[1];
  if (failed(verifyExtent(op, prefix + "2", "E, the first extent of gate,",
                          experts, 1)) ||
      failed(verifyExtent(op, prefix + "2", "I, the second extent of gate,",
                          inner, 1)) ||
      failed(verifyShape(op, prefix + "2", "gate", gate,
                         {experts, inner, width})) ||
      failed(verifyElementType(op, prefix + "2", "gate", gate, type)) ||
      failed(
          verifyShape(op, prefix + "3", "up", up, {experts, inner, width})) ||
      failed(verifyElementType(op, prefix + "3", "up", up, type)) ||
      failed(verifyShape(op, prefix + "4", "down", down,
                         {experts, width, inner})) ||
      failed(verifyElementType(op, prefix + "4", "down", down, type)))
    return failure();
  return verifyShape(op, prefix + "5", "offsets", offsets, {experts + 1});
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

Value rudnn::i32Const(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

Value rudnn::toIndex(OpBuilder &b, Location loc, Value value) {
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
}

Value rudnn::toI32(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastUIOp::create(b, loc, b.getI32Type(), index);
}

Value rudnn::nanConst(OpBuilder &b, Location loc) {
  return arith::ConstantOp::create(
      b, loc,
      b.getFloatAttr(b.getF32Type(), APFloat::getNaN(APFloat::IEEEsingle())));
}

Value rudnn::minusInfConst(OpBuilder &b, Location loc) {
  return arith::ConstantOp::create(
      b, loc,
      b.getFloatAttr(b.getF32Type(),
                     APFloat::getInf(APFloat::IEEEsingle(), true)));
}

Value rudnn::isBelow(OpBuilder &b, Location loc, Value index, Value bound) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, bound);
}

std::pair<Value, Value> rudnn::largest(OpBuilder &b, Location loc, Value keys) {
  EinBuilder e(b, loc);
  Value best = e.reduce(
      "te->t", keys,
      cast<FloatAttr>(b.getFloatAttr(
          b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle(), true))),
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return arith::MaxNumFOp::create(b, loc, x[0], x[1]);
      });
  // The first position that holds it: a minimum, which vectorizes.
  Value position =
      e.reduce("te,t->t", {keys, best}, b.getI32IntegerAttr(INT32_MAX),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value is = arith::CmpFOp::create(
                     b, loc, arith::CmpFPredicate::OEQ, x[0], x[1]);
                 Value here = toI32(b, loc, linalg::IndexOp::create(b, loc, 1));
                 Value candidate = arith::SelectOp::create(
                     b, loc, is, here, i32Const(b, loc, INT32_MAX));
                 return arith::MinSIOp::create(b, loc, candidate, x[2]);
               });
  return {best, position};
}

Value rudnn::exclude(OpBuilder &b, Location loc, Value keys, Value position) {
  // The keys are the out that the body reads: updated in place in a loop.
  AffineExpr t, e;
  bindDims(b.getContext(), t, e);
  SmallVector<AffineMap> maps{AffineMap::get(2, 0, {t}, b.getContext()),
                              AffineMap::get(2, 0, {t, e}, b.getContext())};
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, keys.getType(), position, keys, maps, iterators,
      [](OpBuilder &b, Location loc, ValueRange x) {
        Value here = toI32(b, loc, linalg::IndexOp::create(b, loc, 1));
        Value taken =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, here, x[0]);
        Value key =
            arith::SelectOp::create(b, loc, taken, nanConst(b, loc), x[1]);
        linalg::YieldOp::create(b, loc, key);
      });
  return generic.getResult(0);
}

std::pair<Value, Value> rudnn::selectTop(OpBuilder &b, Location loc, Value keys,
                                         int64_t count, Value ids) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  EinBuilder e(b, loc);
  OpFoldResult tokens = e.size(keys, 0);
  SmallVector<Value> init{keys};
  if (ids)
    init.push_back(ids);
  auto loop = scf::ForOp::create(
      b, loc, index(0), index(count), index(1), init,
      [&](OpBuilder &b, Location loc, Value j, ValueRange state) {
        auto [best, position] = largest(b, loc, state[0]);
        SmallVector<Value> next{exclude(b, loc, state[0], position)};
        if (ids) {
          OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
          next.push_back(tensor::InsertSliceOp::create(
              b, loc, position, state[1], ArrayRef<OpFoldResult>{zero, j},
              ArrayRef<OpFoldResult>{tokens, one},
              ArrayRef<OpFoldResult>{one, one}));
        }
        scf::YieldOp::create(b, loc, next);
      });
  return {loop.getResult(0), ids ? loop.getResult(1) : Value()};
}

Value rudnn::gatherColumns(OpBuilder &b, Location loc, Value source,
                           Value ids) {
  EinBuilder e(b, loc);
  Value experts = getValueOrCreateConstantIndexOp(b, loc, e.size(source, 1));
  return e.map("tj->tj", ids, b.getF32Type(),
               [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value token = linalg::IndexOp::create(b, loc, 0);
                 Value id = toIndex(b, loc, x[0]);
                 Value valid = isBelow(b, loc, id, experts);
                 Value zero = arith::ConstantIndexOp::create(b, loc, 0);
                 Value safe = arith::SelectOp::create(b, loc, valid, id, zero);
                 Value value = tensor::ExtractOp::create(
                     b, loc, source, ValueRange{token, safe});
                 return arith::SelectOp::create(
                     b, loc, valid, toF32(b, loc, value), nanConst(b, loc));
               });
}

Value rudnn::softmaxRows(OpBuilder &b, Location loc, Value logits) {
  EinBuilder e(b, loc);
  Value max = e.reduceMax("te->t", logits);
  Value exps = e.map("te,t->te", {logits, max}, b.getF32Type(),
                     [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       Value shifted = arith::SubFOp::create(
                           b, loc, toF32(b, loc, x[0]), x[1]);
                       return math::ExpOp::create(b, loc, shifted);
                     });
  Value sum = e.reduceSum("te->t", exps);
  return e.map("te,t->te", {exps, sum}, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return arith::DivFOp::create(b, loc, x[0], x[1]);
               });
}

Value rudnn::sigmoid(OpBuilder &b, Location loc, Value x) {
  // exp of a non-positive number only: 1 / (1 + e) or e / (1 + e), e =
  // exp(-|x|).
  Value zero = f32Const(b, loc, 0.0), one = f32Const(b, loc, 1.0);
  Value magnitude = math::AbsFOp::create(b, loc, x);
  Value e =
      math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, magnitude));
  Value positive =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, zero);
  Value numerator = arith::SelectOp::create(b, loc, positive, one, e);
  return arith::DivFOp::create(b, loc, numerator,
                               arith::AddFOp::create(b, loc, one, e));
}

Value rudnn::sigmoidRows(OpBuilder &b, Location loc, Value logits) {
  EinBuilder e(b, loc);
  return e.map("te->te", logits, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return sigmoid(b, loc, toF32(b, loc, x[0]));
               });
}

Value rudnn::scaleWeights(OpBuilder &b, Location loc, Value selected,
                          bool renormalize, double scale, Value init) {
  EinBuilder e(b, loc);
  SmallVector<Value> operands{selected};
  std::string spec = "tj";
  if (renormalize) {
    operands.push_back(e.reduceSum("tj->t", selected));
    spec += ",t";
  }
  Type type = elementTypeOf(init);
  return e.map(
      spec + "->tj", operands, type,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value weight = x[0];
        if (renormalize)
          weight = arith::DivFOp::create(b, loc, weight, x[1]);
        if (scale != 1.0)
          weight =
              arith::MulFOp::create(b, loc, weight, f32Const(b, loc, scale));
        return fromF32(b, loc, weight, type);
      },
      init);
}
