//===- MoeExpertsDecompose.cpp - Expert products as linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over the experts; each computes plain matrix products on the slice of
// its packed rows and the slice of its weights.
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// A slice with unit strides.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes;

  SmallVector<OpFoldResult> strides(OpBuilder &b) const {
    return SmallVector<OpFoldResult>(offsets.size(), b.getIndexAttr(1));
  }
  Value extract(OpBuilder &b, Location loc, Value source, Type type) const {
    return tensor::ExtractSliceOp::create(b, loc, cast<RankedTensorType>(type),
                                          source, offsets, sizes, strides(b));
  }
  Value insert(OpBuilder &b, Location loc, Value value, Value into) const {
    return tensor::InsertSliceOp::create(b, loc, value, into, offsets, sizes,
                                         strides(b));
  }
};

/// Rows [first, first + count) of a matrix.
struct RowRange {
  Value first, count;

  Slice of(OpBuilder &b, Value matrix) const {
    return {{first, b.getIndexAttr(0)},
            {count, b.getIndexAttr(shapeOf(matrix)[1])}};
  }
  Value extract(OpBuilder &b, Location loc, Value matrix) const {
    auto type = RankedTensorType::get(
        {ShapedType::kDynamic, shapeOf(matrix)[1]}, elementTypeOf(matrix));
    return of(b, matrix).extract(b, loc, matrix, type);
  }
};

/// weights[expert] of [E, M, N].
struct ExpertMatrix {
  Value expert;

  Slice of(OpBuilder &b, Value weights) const {
    ArrayRef<int64_t> shape = shapeOf(weights);
    OpFoldResult zero = b.getIndexAttr(0);
    return {{expert, zero, zero},
            {b.getIndexAttr(1), b.getIndexAttr(shape[1]),
             b.getIndexAttr(shape[2])}};
  }
  Value extract(OpBuilder &b, Location loc, Value weights) const {
    auto type = RankedTensorType::get(shapeOf(weights).drop_front(),
                                      elementTypeOf(weights));
    return of(b, weights).extract(b, loc, weights, type);
  }
};

/// The loop over the experts of an op.
struct ExpertLoop {
  Value offsets, numRows;
  int64_t experts;
  ExpertsStrategy strategy;

  /// Results of one expert, one for each of its slices of the outs.
  using Body = function_ref<SmallVector<Value>(OpBuilder &, Location, RowRange,
                                               ExpertMatrix, ValueRange)>;

  /// outs[0] is a matrix of packed rows, the others have a matrix per expert.
  SmallVector<Value> build(OpBuilder &b, Location loc, ValueRange outs,
                           Body body) const;
  /// `matrix` with zeros in the rows that no expert has.
  Value clearOtherRows(OpBuilder &b, Location loc, Value matrix) const;

private:
  Value offset(OpBuilder &b, Location loc, Value at) const;
  RowRange rowsOf(OpBuilder &b, Location loc, Value expert) const;
};

} // namespace

static Value indexConst(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// offsets[at], at most the number of rows.
Value ExpertLoop::offset(OpBuilder &b, Location loc, Value at) const {
  Value value = tensor::ExtractOp::create(b, loc, offsets, at);
  return arith::MinUIOp::create(b, loc, toIndex(b, loc, value), numRows);
}

RowRange ExpertLoop::rowsOf(OpBuilder &b, Location loc, Value expert) const {
  Value next = arith::AddIOp::create(b, loc, expert, indexConst(b, loc, 1));
  Value first = offset(b, loc, expert);
  Value end = arith::MaxUIOp::create(b, loc, offset(b, loc, next), first);
  return {first, arith::SubIOp::create(b, loc, end, first)};
}

Value ExpertLoop::clearOtherRows(OpBuilder &b, Location loc,
                                 Value matrix) const {
  Value begin = offset(b, loc, indexConst(b, loc, 0));
  Value end = offset(b, loc, indexConst(b, loc, experts));
  RowRange before{indexConst(b, loc, 0), begin};
  RowRange behind{end, arith::SubIOp::create(b, loc, numRows, end)};
  auto zero = cast<TypedAttr>(b.getZeroAttr(elementTypeOf(matrix)));
  for (RowRange rows : {before, behind}) {
    Value cleared =
        EinBuilder(b, loc).filledLike(rows.extract(b, loc, matrix), zero);
    matrix = rows.of(b, matrix).insert(b, loc, cleared, matrix);
  }
  return matrix;
}

SmallVector<Value> ExpertLoop::build(OpBuilder &b, Location loc,
                                     ValueRange outs, Body body) const {
  // One expert on its slices of `state`; then where its results belong.
  auto visit = [&](OpBuilder &b, Location loc, Value index, ValueRange state) {
    RowRange rows = rowsOf(b, loc, index);
    ExpertMatrix expert{index};
    SmallVector<Value> slices{rows.extract(b, loc, state[0])};
    SmallVector<Slice> places{rows.of(b, state[0])};
    for (Value matrices : state.drop_front()) {
      slices.push_back(expert.extract(b, loc, matrices));
      places.push_back(expert.of(b, matrices));
    }
    return std::make_pair(body(b, loc, rows, expert, slices), places);
  };
  if (strategy == ExpertsStrategy::Grouped) {
    auto loop = scf::ForallOp::create(
        b, loc, {b.getIndexAttr(experts)}, outs, std::nullopt,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          ValueRange state = args.drop_front();
          auto [results, places] = visit(b, loc, args[0], state);
          auto terminator = scf::InParallelOp::create(b, loc);
          b.setInsertionPointToStart(terminator.getBody());
          for (auto [result, into, place] :
               llvm::zip_equal(results, state, places))
            tensor::ParallelInsertSliceOp::create(b, loc, result, into,
                                                  place.offsets, place.sizes,
                                                  place.strides(b));
        });
    return SmallVector<Value>(loop.getResults());
  }
  auto loop = scf::ForOp::create(
      b, loc, indexConst(b, loc, 0), indexConst(b, loc, experts),
      indexConst(b, loc, 1), outs,
      [&](OpBuilder &b, Location loc, Value index, ValueRange state) {
        auto [results, places] = visit(b, loc, index, state);
        SmallVector<Value> next;
        for (auto [result, into, place] :
             llvm::zip_equal(results, state, places))
          next.push_back(place.insert(b, loc, result, into));
        scf::YieldOp::create(b, loc, next);
      });
  return SmallVector<Value>(loop.getResults());
}

/// Sum of products in f32, rounded into `init`.
static Value contractInto(OpBuilder &b, Location loc, StringRef spec, Value lhs,
                          Value rhs, Value init) {
  EinBuilder e(b, loc);
  Type type = elementTypeOf(init);
  if (type.isF32())
    return e.contract(spec, lhs, rhs,
                      e.filledLike(init, b.getF32FloatAttr(0.0)));
  Value sum = e.contract(spec, lhs, rhs);
  return e.map(
      "ab->ab", sum, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, x[0], type);
      },
      init);
}

//===----------------------------------------------------------------------===//
// experts
//===----------------------------------------------------------------------===//

/// silu(gate) * up.
static Value activate(OpBuilder &b, Location loc, Value gate, Value up) {
  return EinBuilder(b, loc).map(
      "ni,ni->ni", {gate, up}, b.getF32Type(),
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value silu = arith::MulFOp::create(b, loc, x[0], sigmoid(b, loc, x[0]));
        return arith::MulFOp::create(b, loc, silu, x[1]);
      });
}

FailureOr<SmallVector<Value>> MoeExpertsOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  Value numRows = getValueOrCreateConstantIndexOp(b, loc, e.size(getX(), 0));
  ExpertLoop loop{getOffsets(), numRows, shapeOf(getGate())[0], getStrategy()};
  Value init = loop.clearOtherRows(b, loc, getOuts()[0]);
  return loop.build(
      b, loc, init,
      [&](OpBuilder &b, Location loc, RowRange rows, ExpertMatrix expert,
          ValueRange slices) -> SmallVector<Value> {
        EinBuilder e(b, loc);
        Value x = rows.extract(b, loc, getX());
        Value gate =
            e.contract("nh,ih->ni", x, expert.extract(b, loc, getGate()));
        Value up = e.contract("nh,ih->ni", x, expert.extract(b, loc, getUp()));
        Value activated = activate(b, loc, gate, up);
        return {contractInto(b, loc, "ni,hi->nh", activated,
                             expert.extract(b, loc, getDown()), slices[0])};
      });
}

//===----------------------------------------------------------------------===//
// experts_backward
//===----------------------------------------------------------------------===//

namespace {
/// The gradients of gate and up from that of the activation.
struct ActivationGradient {
  Value gate, up;
};
} // namespace

static ActivationGradient activateBackward(OpBuilder &b, Location loc,
                                           Value grad, Value gate, Value up) {
  EinBuilder e(b, loc);
  Type f32 = b.getF32Type();
  Value dGate =
      e.map("ni,ni,ni->ni", {grad, gate, up}, f32,
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value one = f32Const(b, loc, 1.0);
              Value s = sigmoid(b, loc, x[1]);
              Value rest = arith::SubFOp::create(b, loc, one, s);
              Value slope = arith::AddFOp::create(
                  b, loc, one, arith::MulFOp::create(b, loc, x[1], rest));
              Value product = arith::MulFOp::create(b, loc, x[0], x[2]);
              product = arith::MulFOp::create(b, loc, product, s);
              return arith::MulFOp::create(b, loc, product, slope);
            });
  Value dUp = e.map("ni,ni->ni", {grad, gate}, f32,
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      Value silu = arith::MulFOp::create(b, loc, x[1],
                                                         sigmoid(b, loc, x[1]));
                      return arith::MulFOp::create(b, loc, x[0], silu);
                    });
  return {dGate, dUp};
}

FailureOr<SmallVector<Value>>
MoeExpertsBackwardOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  Value numRows = getValueOrCreateConstantIndexOp(b, loc, e.size(getX(), 0));
  ExpertLoop loop{getOffsets(), numRows, shapeOf(getGate())[0], getStrategy()};
  SmallVector<Value> outs(getOuts());
  outs[0] = loop.clearOtherRows(b, loc, outs[0]);
  return loop.build(
      b, loc, outs,
      [&](OpBuilder &b, Location loc, RowRange rows, ExpertMatrix expert,
          ValueRange slices) -> SmallVector<Value> {
        EinBuilder e(b, loc);
        Value x = rows.extract(b, loc, getX());
        Value dy = rows.extract(b, loc, getDy());
        Value wGate = expert.extract(b, loc, getGate());
        Value wUp = expert.extract(b, loc, getUp());
        Value wDown = expert.extract(b, loc, getDown());
        Value gate = e.contract("nh,ih->ni", x, wGate);
        Value up = e.contract("nh,ih->ni", x, wUp);
        Value dActivated = e.contract("nh,hi->ni", dy, wDown);
        ActivationGradient grad =
            activateBackward(b, loc, dActivated, gate, up);
        Value dx = e.contract("ni,ih->nh", grad.up, wUp,
                              e.contract("ni,ih->nh", grad.gate, wGate));
        Type type = elementTypeOf(slices[0]);
        dx = e.map(
            "nh->nh", dx, type,
            [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
              return fromF32(b, loc, x[0], type);
            },
            slices[0]);
        return {dx, contractInto(b, loc, "ni,nh->ih", grad.gate, x, slices[1]),
                contractInto(b, loc, "ni,nh->ih", grad.up, x, slices[2]),
                contractInto(b, loc, "nh,ni->hi", dy,
                             activate(b, loc, gate, up), slices[3])};
      });
}
