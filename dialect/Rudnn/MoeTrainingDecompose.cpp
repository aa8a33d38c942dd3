//===- MoeTrainingDecompose.cpp - MoE gradients as linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

//===----------------------------------------------------------------------===//
// router_weights, router_backward
//===----------------------------------------------------------------------===//

static Value scoreRows(OpBuilder &b, Location loc, Value logits,
                       RouterScoring scoring) {
  return scoring == RouterScoring::Softmax ? softmaxRows(b, loc, logits)
                                           : sigmoidRows(b, loc, logits);
}

/// Per token: 0, or NaN when one of its ids is out of range. To be added.
static Value badTokens(OpBuilder &b, Location loc, Value ids, int64_t experts) {
  return EinBuilder(b, loc).reduce(
      "tj->t", ids, b.getF32FloatAttr(0.0),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value bound = arith::ConstantIndexOp::create(b, loc, experts);
        Value valid = isBelow(b, loc, toIndex(b, loc, x[0]), bound);
        Value term = arith::SelectOp::create(
            b, loc, valid, f32Const(b, loc, 0.0), nanConst(b, loc));
        return arith::AddFOp::create(b, loc, x[1], term);
      });
}

/// selected + bad, per slot.
static Value poison(OpBuilder &b, Location loc, Value selected, Value bad) {
  return EinBuilder(b, loc).map(
      "tj,t->tj", {selected, bad}, b.getF32Type(),
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return arith::AddFOp::create(b, loc, x[0], x[1]);
      });
}

FailureOr<SmallVector<Value>>
MoeRouterWeightsOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  Value p = scoreRows(b, loc, getLogits(), getScoring());
  Value bad = badTokens(b, loc, getIds(), shapeOf(getLogits())[1]);
  Value selected = poison(b, loc, gatherColumns(b, loc, p, getIds()), bad);
  return SmallVector<Value>{scaleWeights(b, loc, selected, getRenormalize(),
                                         getScale().convertToDouble(),
                                         getOuts()[0])};
}

/// For every token and expert the sum over the slots of that expert of `grad`,
/// or of 1 when it is not given.
static Value sumByExpert(OpBuilder &b, Location loc, Value ids, Value grad,
                         OpFoldResult experts) {
  EinBuilder e(b, loc);
  e.extent['e'] = experts;
  SmallVector<Value> operands{ids};
  if (grad)
    operands.push_back(grad);
  return e.reduce(
      grad ? "tj,tj->te" : "tj->te", operands, b.getF32FloatAttr(0.0),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value expert = linalg::IndexOp::create(b, loc, 1);
        Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           toIndex(b, loc, x[0]), expert);
        Value term = arith::SelectOp::create(
            b, loc, same, grad ? x[1] : f32Const(b, loc, 1.0),
            f32Const(b, loc, 0.0));
        return arith::AddFOp::create(b, loc, x.back(), term);
      });
}

namespace {
/// Scalar arithmetic with operators, for the formulas below.
struct Scalar {
  OpBuilder *b;
  Location loc;
  Value value;

  Scalar with(Value v) const { return {b, loc, v}; }
  Scalar constant(double v) const { return with(f32Const(*b, loc, v)); }
  friend Scalar operator+(Scalar x, Scalar y) {
    return x.with(arith::AddFOp::create(*x.b, x.loc, x.value, y.value));
  }
  friend Scalar operator-(Scalar x, Scalar y) {
    return x.with(arith::SubFOp::create(*x.b, x.loc, x.value, y.value));
  }
  friend Scalar operator*(Scalar x, Scalar y) {
    return x.with(arith::MulFOp::create(*x.b, x.loc, x.value, y.value));
  }
  friend Scalar operator/(Scalar x, Scalar y) {
    return x.with(arith::DivFOp::create(*x.b, x.loc, x.value, y.value));
  }
};
} // namespace

FailureOr<SmallVector<Value>>
MoeRouterBackwardOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  bool softmax = getScoring() == RouterScoring::Softmax;
  bool renormalize = getRenormalize();
  double factor = getScale().convertToDouble();
  Type type = elementTypeOf(getLogits());
  OpFoldResult experts = e.size(getLogits(), 1);

  Value p = scoreRows(b, loc, getLogits(), getScoring());
  Value selected = gatherColumns(b, loc, p, getIds());
  Value d = e.contract("tj,tj->t", selected, getGrad());
  Value bad = badTokens(b, loc, getIds(), shapeOf(getLogits())[1]);
  Value g = sumByExpert(b, loc, getIds(), getGrad(), experts);
  SmallVector<Value> operands{p, g, d, bad};
  std::string spec = "te,te,t,t";
  if (renormalize) {
    operands.push_back(e.reduceSum("tj->t", selected));
    operands.push_back(sumByExpert(b, loc, getIds(), Value(), experts));
    spec += ",t,te";
  }
  Value dx = e.map(
      spec + "->te", operands, type,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        auto scalar = [&](Value v) { return Scalar{&b, loc, v}; };
        Scalar p = scalar(x[0]), g = scalar(x[1]), d = scalar(x[2]);
        Scalar scale = p.constant(factor), one = p.constant(1.0);
        Scalar slope = softmax ? p : p * (one - p);
        Scalar result = p;
        if (renormalize) {
          Scalar s = scalar(x[4]), n = scalar(x[5]);
          result = slope * (scale * (g - n * d / s) / s);
        } else {
          result = scale * slope * (softmax ? g - d : g);
        }
        return fromF32(b, loc, (result + scalar(x[3])).value, type);
      },
      getOuts()[0]);
  return SmallVector<Value>{dx};
}

//===----------------------------------------------------------------------===//
// combine_backward, dispatch_backward
//===----------------------------------------------------------------------===//

/// dy[r, c] = weights[t, j] * grad[t, c] for the slot of row r, 0 without one.
static Value rowGradients(OpBuilder &b, Location loc, MoeCombineBackwardOp op,
                          Value init) {
  EinBuilder e(b, loc);
  Value grad = op.getGrad(), weights = op.getWeights();
  Type type = elementTypeOf(init);
  Value k =
      arith::ConstantIndexOp::create(b, loc, shapeOf(op.getSlotRows())[1]);
  Value tokens = getValueOrCreateConstantIndexOp(b, loc, e.size(grad, 0));
  Value slots = arith::MulIOp::create(b, loc, tokens, k);
  e.extent['c'] = e.size(grad, 1);
  return e.map(
      "r->rc", op.getRowSlots(), type,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value slot = toIndex(b, loc, x[0]);
        Value valid = isBelow(b, loc, slot, slots);
        Value safe = arith::SelectOp::create(b, loc, valid, slot, zero);
        Value token = arith::DivUIOp::create(b, loc, safe, k);
        Value choice = arith::RemUIOp::create(b, loc, safe, k);
        Value column = linalg::IndexOp::create(b, loc, 1);
        Value g =
            tensor::ExtractOp::create(b, loc, grad, ValueRange{token, column});
        Value w = tensor::ExtractOp::create(b, loc, weights,
                                            ValueRange{token, choice});
        Value product =
            arith::MulFOp::create(b, loc, toF32(b, loc, g), toF32(b, loc, w));
        Value result = arith::SelectOp::create(b, loc, valid, product,
                                               f32Const(b, loc, 0.0));
        return fromF32(b, loc, result, type);
      },
      init);
}

/// dweights[t, j] = sum_c grad[t, c] * y[slot_rows[t, j], c].
static Value weightGradients(OpBuilder &b, Location loc,
                             MoeCombineBackwardOp op, Value init) {
  EinBuilder e(b, loc);
  Value y = op.getY();
  Value numRows = getValueOrCreateConstantIndexOp(b, loc, e.size(y, 0));
  Value sum = e.reduce(
      "tj,tc->tj", {op.getSlotRows(), op.getGrad()}, b.getF32FloatAttr(0.0),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value row = toIndex(b, loc, x[0]);
        Value valid = isBelow(b, loc, row, numRows);
        Value safe = arith::SelectOp::create(b, loc, valid, row, zero);
        Value column = linalg::IndexOp::create(b, loc, 2);
        Value value =
            tensor::ExtractOp::create(b, loc, y, ValueRange{safe, column});
        auto flags =
            arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
        Value product = arith::MulFOp::create(b, loc, toF32(b, loc, x[1]),
                                              toF32(b, loc, value), flags);
        Value term = arith::SelectOp::create(b, loc, valid, product,
                                             f32Const(b, loc, 0.0));
        return arith::AddFOp::create(b, loc, x[2], term, flags);
      });
  return e.map(
      "tj->tj", sum, b.getF32Type(),
      [](OpBuilder &, Location, ValueRange x) { return x[0]; }, init);
}

FailureOr<SmallVector<Value>>
MoeCombineBackwardOp::decomposeOperation(OpBuilder &b) {
  return SmallVector<Value>{rowGradients(b, getLoc(), *this, getOuts()[0]),
                            weightGradients(b, getLoc(), *this, getOuts()[1])};
}

FailureOr<SmallVector<Value>>
MoeDispatchBackwardOp::decomposeOperation(OpBuilder &b) {
  return SmallVector<Value>{
      sumOfSlots(b, getLoc(), getGrad(), getSlotRows(), Value(), getOuts()[0])};
}
