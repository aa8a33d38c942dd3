//===- AttentionBackwardDecompose.cpp - Its gradients as linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace rudnn;

namespace {

/// One decomposition. Gradients of keys and values are finished block by block
/// and stored into the outs; those of queries, and of a bias that is broadcast
/// along the keys, are summed in f32 over the blocks.
class Backward {
public:
  Backward(OpBuilder &b, AttentionBackwardOp op)
      : b(b), loc(op.getLoc()), op(op), scores(getAttentionScores(op)),
        blocks(b, loc, scores), e(blocks.ein()), rows(blocks.rows()) {}

  SmallVector<Value> run();

private:
  Value cast(Value x, Type type, Value init);
  Value rowLse();
  Value scoreGradient(Value p, Value products, Value values,
                      Value &biasGradient);
  Value store(Value gradient, Value into, const AttentionBlocks::Block &block);
  Value addBiasGradient(const AttentionBlocks::Block &block, Value gradient,
                        Value state);
  Value initialBiasGradient();
  Value finishBiasGradient(Value state);
  Value sinksGradient();
  SmallVector<Value> foldBlock(const AttentionBlocks::Block &block,
                               ValueRange state);

  bool sumsBiasOverKeys() {
    return op.getBiasGradient() && shapeOf(op.getBias())[3] == 1;
  }

  OpBuilder &b;
  Location loc;
  AttentionBackwardOp op;
  AttentionScores scores;
  AttentionBlocks blocks;
  EinBuilder &e;
  const std::string &rows;
  Value dout, delta, lse;
};

} // namespace

/// Letters for any tensor: capitals, the small ones have extents of their own.
static std::string lettersOf(Value x) {
  std::string letters;
  for (size_t dim = 0, rank = shapeOf(x).size(); dim < rank; ++dim)
    letters += static_cast<char>('A' + dim);
  return letters;
}

/// `x` (f32) in `type`, written into `init` when given.
Value Backward::cast(Value x, Type type, Value init) {
  if (type.isF32() && !init)
    return x;
  std::string letters = lettersOf(x);
  return e.map(
      letters + "->" + letters, x, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, x[0], type);
      },
      init);
}

/// The log-sum-exp of each row in base e. A row that saw nothing gets +inf, so
/// that exp(s - lse) is 0 for every score.
Value Backward::rowLse() {
  bool two = scores.lseBase == LogBase::Two;
  return e.map(rows + "->" + rows, blocks.split(op.getLse()), b.getF32Type(),
               [two](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value lse = x[0];
                 Value empty =
                     arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                           lse, f32Const(b, loc, -INFINITY));
                 if (two)
                   lse = arith::MulFOp::create(
                       b, loc, lse, f32Const(b, loc, std::numbers::ln2));
                 return arith::SelectOp::create(
                     b, loc, empty, f32Const(b, loc, INFINITY), lse);
               });
}

/// The gradient of the products q.k of a block; that of the scores, before the
/// soft cap, in `biasGradient` when it is wanted.
Value Backward::scoreGradient(Value p, Value products, Value values,
                              Value &biasGradient) {
  std::string all = rows + "k";
  Value dp = e.contract(rows + "v,bhvk->" + all, dout, values);
  Value ds = e.update(all + "," + rows + "->" + all, {p, delta}, dp,
                      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                        Value inner = arith::SubFOp::create(b, loc, x[2], x[1]);
                        return arith::MulFOp::create(b, loc, x[0], inner);
                      });
  if (op.getBiasGradient())
    biasGradient = ds;
  return e.update(
      all + "->" + all, ds, products,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value factor = f32Const(b, loc, scores.scale);
        if (scores.softcap) {
          Value inner = arith::MulFOp::create(
              b, loc, x[1], f32Const(b, loc, scores.scale / *scores.softcap));
          Value tanh = math::TanhOp::create(b, loc, inner);
          Value square = arith::MulFOp::create(b, loc, tanh, tanh);
          Value slope =
              arith::SubFOp::create(b, loc, f32Const(b, loc, 1.0), square);
          factor = arith::MulFOp::create(b, loc, factor, slope);
        }
        return arith::MulFOp::create(b, loc, x[0], factor);
      });
}

/// The finished gradient of a block of keys or values, in its place.
Value Backward::store(Value gradient, Value into,
                      const AttentionBlocks::Block &block) {
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = e.sizes(into);
  offsets[2] = block.start, sizes[2] = block.size;
  Value slot =
      tensor::ExtractSliceOp::create(b, loc, into, offsets, sizes, strides);
  Value stored = cast(gradient, elementTypeOf(into), slot);
  return tensor::InsertSliceOp::create(b, loc, stored, into, offsets, sizes,
                                       strides);
}

//===----------------------------------------------------------------------===//
// Bias and sinks
//===----------------------------------------------------------------------===//

/// One f32 sum per element of a bias without keys, else the out itself.
Value Backward::initialBiasGradient() {
  Value out = blocks.splitBroadcast(op.getDbiasOut());
  if (!sumsBiasOverKeys())
    return blocks.fillZero(out);
  SmallVector<OpFoldResult> sizes;
  for (char letter : blocks.broadcastSlice(out, {}).letters)
    sizes.push_back(e.extent[letter]);
  return e.filled(sizes, b.getF32FloatAttr(0.0));
}

Value Backward::addBiasGradient(const AttentionBlocks::Block &block,
                                Value gradient, Value state) {
  std::string all = rows + "k";
  AttentionBlocks::Slice slice =
      blocks.broadcastSlice(blocks.splitBroadcast(op.getBias()), block);
  if (sumsBiasOverKeys())
    return e.reduceSum(all + "->" + slice.letters, gradient, state);
  Value sum = gradient;
  if (slice.letters != all)
    sum = e.reduceSum(all + "->" + slice.letters, gradient);
  Value stored = cast(sum, elementTypeOf(state), {});
  return tensor::InsertSliceOp::create(b, loc, stored, state, slice.offsets,
                                       slice.sizes, slice.strides);
}

Value Backward::finishBiasGradient(Value state) {
  Value out = op.getDbiasOut();
  Value whole = state;
  if (sumsBiasOverKeys()) {
    Value target = blocks.splitBroadcast(out);
    AttentionBlocks::Slice slice = blocks.broadcastSlice(target, {});
    whole = tensor::InsertSliceOp::create(
        b, loc, cast(state, elementTypeOf(out), {}), target, slice.offsets,
        slice.sizes, slice.strides);
  }
  return shapeOf(out)[1] == 1 ? whole : blocks.join(whole, out.getType());
}

Value Backward::sinksGradient() {
  std::string heads = blocks.heads();
  Value sinks = blocks.split(op.getSinks(), 0);
  Value sum = e.reduce(rows + "," + rows + "," + heads + "->" + heads,
                       {lse, delta, sinks}, b.getF32FloatAttr(0.0),
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         Value shifted = arith::SubFOp::create(
                             b, loc, toF32(b, loc, x[2]), x[0]);
                         Value p = math::ExpOp::create(b, loc, shifted);
                         Value term = arith::MulFOp::create(b, loc, p, x[1]);
                         return arith::SubFOp::create(b, loc, x[3], term);
                       });
  Value out = blocks.split(op.getDsinksOut(), 0);
  return blocks.join(cast(sum, elementTypeOf(out), out),
                     op.getDsinksOut().getType(), 0);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// state: dq (f32), dk, dv and, when asked for, dbias.
SmallVector<Value> Backward::foldBlock(const AttentionBlocks::Block &block,
                                       ValueRange state) {
  std::string all = rows + "k";
  Value products = blocks.products(block);
  Value p = blocks.probabilities(block, products, lse);
  Value dv = e.contract(all + "," + rows + "v->bhkv", p, dout);
  Value biasGradient;
  Value ds = scoreGradient(p, products, blocks.sliceTransposed(scores.v, block),
                           biasGradient);
  Value dq = e.contract(all + ",bhkd->" + rows + "d", ds,
                        blocks.slice(scores.k, block), state[0]);
  Value dk = e.contract(all + "," + rows + "d->bhkd", ds, blocks.queries());
  SmallVector<Value> next{dq, store(dk, state[1], block),
                          store(dv, state[2], block)};
  if (op.getBiasGradient())
    next.push_back(addBiasGradient(block, biasGradient, state[3]));
  return next;
}

SmallVector<Value> Backward::run() {
  dout = blocks.toF32Tensor(blocks.split(op.getDout()));
  Value out = blocks.toF32Tensor(blocks.split(op.getOut()));
  delta = e.contract(rows + "v," + rows + "v->" + rows, dout, out);
  lse = rowLse();
  SmallVector<Value> state{
      e.filled(e.sizes(blocks.queries()), b.getF32FloatAttr(0.0)),
      blocks.fillZero(op.getOuts()[1]), blocks.fillZero(op.getOuts()[2])};
  if (op.getBiasGradient())
    state.push_back(initialBiasGradient());
  state = blocks.forEach(
      state, [&](const AttentionBlocks::Block &block, ValueRange state) {
        return foldBlock(block, state);
      });

  Value dqOut = op.getOuts()[0];
  Value dq = cast(state[0], elementTypeOf(dqOut), blocks.split(dqOut));
  SmallVector<Value> results{blocks.join(dq, dqOut.getType()), state[1],
                             state[2]};
  if (op.getBiasGradient())
    results.push_back(finishBiasGradient(state[3]));
  if (op.getSinksGradient())
    results.push_back(sinksGradient());
  return results;
}

FailureOr<SmallVector<Value>>
AttentionBackwardOp::decomposeOperation(OpBuilder &b) {
  // Without rows every gradient is 0 or empty; upstream slices of a static 0
  // don't verify.
  if (shapeOf(getQ())[0] == 0 || shapeOf(getQ())[2] == 0) {
    EinBuilder e(b, getLoc());
    SmallVector<Value> zeros;
    for (Value out : getOuts())
      zeros.push_back(
          e.filledLike(out, b.getFloatAttr(elementTypeOf(out), 0.0)));
    return zeros;
  }
  return Backward(b, *this).run();
}
