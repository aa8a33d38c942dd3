//===- RaggedAttentionDecompose.cpp - A loop over packed sequences -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each sequence is a dense attention op over slices of the operands, heads
// first, so that the options mean what they mean there. Rows of no sequence
// have the results of rows without keys from the start.
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/AttentionOps.h"
#include "rudnn/IR/EinBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace rudnn;

namespace {

/// Rows [first, first + count) of a packed operand.
struct RowRange {
  Value first, count;
};

/// One place of the loop over sequences.
class Sequences {
public:
  Sequences(OpBuilder &b, Location loc, const AttentionScores &scores)
      : b(b), loc(loc), scores(scores), e(b, loc) {}

  using Body = function_ref<SmallVector<Value>(Sequences &, ValueRange)>;
  /// `state` after every sequence, in order.
  SmallVector<Value> forEach(ValueRange state, Body body);

  /// The rows of [T,H,X] as [1,H,n,X].
  Value pack(Value x, const RowRange &rows);
  /// [1,H,n,X] in the place of the rows of [T,H,X].
  Value unpack(Value packed, Value into, const RowRange &rows);
  /// The rows of [H,T] as [1,H,n], and back.
  Value packStatistic(Value x, const RowRange &rows);
  Value unpackStatistic(Value packed, Value into, const RowRange &rows);
  /// An uninitialized [1,H,n,X] for the rows of [T,H,X].
  Value emptyLike(Value x, const RowRange &rows);

  OpBuilder &b;
  Location loc;
  AttentionScores scores;
  EinBuilder e;
  RowRange queries, keys;

private:
  RowRange rangeOf(Value offsets, Value sequence, Value operand);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value extent(Value x) {
    return getValueOrCreateConstantIndexOp(b, loc, e.size(x, 0));
  }
};

} // namespace

/// offsets[sequence] .. offsets[sequence + 1], within the rows of `operand`.
RowRange Sequences::rangeOf(Value offsets, Value sequence, Value operand) {
  Value limit = extent(operand);
  auto load = [&](Value at) -> Value {
    Value value = tensor::ExtractOp::create(b, loc, offsets, at);
    value = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
    return arith::MinUIOp::create(b, loc, value, limit);
  };
  Value first = load(sequence);
  Value end = load(arith::AddIOp::create(b, loc, sequence, index(1)));
  end = arith::MaxUIOp::create(b, loc, end, first);
  return {first, arith::SubIOp::create(b, loc, end, first)};
}

SmallVector<Value> Sequences::forEach(ValueRange state, Body body) {
  Value count =
      arith::SubIOp::create(b, loc, extent(scores.queryOffsets), index(1));
  auto loop = scf::ForOp::create(
      b, loc, index(0), count, index(1), state,
      [&](OpBuilder &nested, Location loc, Value sequence, ValueRange args) {
        Sequences inner(nested, loc, scores);
        inner.queries = inner.rangeOf(scores.queryOffsets, sequence, scores.q);
        inner.keys = inner.rangeOf(scores.keyOffsets, sequence, scores.k);
        scf::YieldOp::create(nested, loc, body(inner, args));
      });
  return SmallVector<Value>(loop.getResults());
}

namespace {
/// A slice along dim `dim`.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Slice(Sequences &s, Value x, int64_t dim, const RowRange &rows)
      : offsets(shapeOf(x).size(), s.b.getIndexAttr(0)), sizes(s.e.sizes(x)),
        strides(shapeOf(x).size(), s.b.getIndexAttr(1)) {
    offsets[dim] = rows.first, sizes[dim] = rows.count;
  }
  Value extract(Sequences &s, Value x) const {
    return tensor::ExtractSliceOp::create(s.b, s.loc, x, offsets, sizes,
                                          strides);
  }
  Value insert(Sequences &s, Value value, Value into) const {
    return tensor::InsertSliceOp::create(s.b, s.loc, value, into, offsets,
                                         sizes, strides);
  }
};
} // namespace

static Value transposed(Sequences &s, Value x, Value init) {
  return linalg::TransposeOp::create(s.b, s.loc, x, init,
                                     ArrayRef<int64_t>{1, 0, 2})
      ->getResult(0);
}

/// With a batch of 1 in front, and without it.
static Value withBatch(Sequences &s, Value x) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> indices{{0, 1}};
  for (int64_t i = 2, rank = shape.size(); i < rank; ++i)
    indices.push_back({i});
  return tensor::ExpandShapeOp::create(
      s.b, s.loc, RankedTensorType::get(shape, elementTypeOf(x)), x, indices);
}

static Value withoutBatch(Sequences &s, Value x) {
  SmallVector<ReassociationIndices> indices{{0, 1}};
  for (int64_t i = 2, rank = shapeOf(x).size(); i < rank; ++i)
    indices.push_back({i});
  return tensor::CollapseShapeOp::create(s.b, s.loc, x, indices);
}

Value Sequences::pack(Value x, const RowRange &rows) {
  Value part = Slice(*this, x, 0, rows).extract(*this, x);
  SmallVector<OpFoldResult> sizes = e.sizes(part);
  std::swap(sizes[0], sizes[1]);
  Value init = tensor::EmptyOp::create(b, loc, sizes, elementTypeOf(x));
  return withBatch(*this, transposed(*this, part, init));
}

Value Sequences::unpack(Value packed, Value into, const RowRange &rows) {
  Slice place(*this, into, 0, rows);
  return place.insert(*this,
                      transposed(*this, withoutBatch(*this, packed),
                                 place.extract(*this, into)),
                      into);
}

Value Sequences::packStatistic(Value x, const RowRange &rows) {
  return withBatch(*this, Slice(*this, x, 1, rows).extract(*this, x));
}

Value Sequences::unpackStatistic(Value packed, Value into,
                                 const RowRange &rows) {
  return Slice(*this, into, 1, rows)
      .insert(*this, withoutBatch(*this, packed), into);
}

Value Sequences::emptyLike(Value x, const RowRange &rows) {
  ArrayRef<int64_t> shape = shapeOf(x);
  return tensor::EmptyOp::create(b, loc,
                                 {b.getIndexAttr(1), b.getIndexAttr(shape[1]),
                                  rows.count, b.getIndexAttr(shape[2])},
                                 elementTypeOf(x));
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

static Value zeros(EinBuilder &e, OpBuilder &b, Value init) {
  return e.filledLike(init, b.getFloatAttr(elementTypeOf(init), 0.0));
}

/// The log-sum-exp of rows without keys.
static Value emptyLse(EinBuilder &e, OpBuilder &b, const AttentionScores &s,
                      Value init) {
  if (!s.sinks)
    return e.filledLike(init, b.getF32FloatAttr(-INFINITY));
  double factor = s.lseBase == LogBase::Two ? std::numbers::log2e : 1.0;
  e.extent['n'] = e.size(init, 1);
  return e.map(
      "h->hn", s.sinks, b.getF32Type(),
      [=](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return arith::MulFOp::create(b, loc, toF32(b, loc, x[0]),
                                     f32Const(b, loc, factor));
      },
      init);
}

FailureOr<SmallVector<Value>>
RaggedAttentionOp::decomposeOperation(OpBuilder &b) {
  AttentionScores scores = getAttentionScores(*this);
  Sequences top(b, getLoc(), scores);
  SmallVector<Value> state{zeros(top.e, b, getOuts()[0])};
  if (getLseOut())
    state.push_back(emptyLse(top.e, b, scores, getLseOut()));
  // Nothing to compute, and upstream slices of a static 0 don't verify.
  if (shapeOf(getQ())[0] == 0)
    return state;
  return top.forEach(state, [&](Sequences &s, ValueRange state) {
    SmallVector<Value> outs{s.emptyLike(state[0], s.queries)};
    if (getLseOut())
      outs.push_back(s.packStatistic(state[1], s.queries));
    auto dense = AttentionOp::create(
        s.b, s.loc, TypeRange(ValueRange(outs)), s.pack(getQ(), s.queries),
        s.pack(getK(), s.keys), s.pack(getV(), s.keys), /*mask=*/Value(),
        /*bias=*/Value(), getSinks(), /*query_offset=*/Value(), outs,
        getCausalAttr(), getScaleAttr(), getSoftcapAttr(), getWindowLeftAttr(),
        getWindowRightAttr(), getLseBaseAttr());
    SmallVector<Value> next{s.unpack(dense->getResult(0), state[0], s.queries)};
    if (getLseOut())
      next.push_back(
          s.unpackStatistic(dense->getResult(1), state[1], s.queries));
    return next;
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
RaggedAttentionBackwardOp::decomposeOperation(OpBuilder &b) {
  Sequences top(b, getLoc(), getAttentionScores(*this));
  bool sinks = getSinksGradient();
  SmallVector<Value> state;
  for (Value out : getOuts().take_front(3))
    state.push_back(zeros(top.e, b, out));
  // Summed over the sequences in f32.
  if (sinks)
    state.push_back(
        top.e.filled(top.e.sizes(getDsinksOut()), b.getF32FloatAttr(0.0)));
  bool empty = shapeOf(getQ())[0] == 0 || shapeOf(getK())[0] == 0;
  if (!empty)
    state = top.forEach(state, [&](Sequences &s, ValueRange state) {
      const RowRange *rows[] = {&s.queries, &s.keys, &s.keys};
      SmallVector<Value> outs;
      for (auto [gradient, range] : llvm::zip(state, rows))
        outs.push_back(s.emptyLike(gradient, *range));
      if (sinks)
        outs.push_back(tensor::EmptyOp::create(s.b, s.loc, s.e.sizes(state[3]),
                                               s.b.getF32Type()));
      auto dense = AttentionBackwardOp::create(
          s.b, s.loc, TypeRange(ValueRange(outs)), s.pack(getQ(), s.queries),
          s.pack(getK(), s.keys), s.pack(getV(), s.keys),
          s.pack(getOut(), s.queries), s.pack(getDout(), s.queries),
          s.packStatistic(getLse(), s.queries), /*mask=*/Value(),
          /*bias=*/Value(), getSinks(), /*query_offset=*/Value(), outs,
          getCausalAttr(), getScaleAttr(), getSoftcapAttr(),
          getWindowLeftAttr(), getWindowRightAttr(), getLseBaseAttr(),
          /*bias_gradient=*/UnitAttr(), getSinksGradientAttr());
      SmallVector<Value> next;
      for (auto [i, range] : llvm::enumerate(rows))
        next.push_back(s.unpack(dense->getResult(i), state[i], *range));
      if (sinks)
        next.push_back(
            s.e.update("h->h", dense->getResult(3), state[3],
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         return arith::AddFOp::create(b, loc, x[0], x[1]);
                       }));
      return next;
    });
  if (!sinks)
    return state;
  Type type = elementTypeOf(getDsinksOut());
  state[3] = top.e.map(
      "h->h", state[3], type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, x[0], type);
      },
      getDsinksOut());
  return state;
}
