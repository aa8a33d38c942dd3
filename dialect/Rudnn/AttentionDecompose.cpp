//===- AttentionDecompose.cpp - Attention as linalg and scf -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cfloat>
#include <numbers>

using namespace mlir;
using namespace rudnn;

/// exp(x[0] - x[1]).
static Value expDifference(OpBuilder &b, Location loc, ValueRange x) {
  return math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, x[0], x[1]));
}

/// The running maximum (never below the lowest finite value, so that a row of
/// -inf has differences of -inf and not NaN), sum and output before any key.
static SmallVector<Value> initialState(AttentionBlocks &blocks, OpBuilder &b,
                                       const AttentionScores &scores) {
  EinBuilder &e = blocks.ein();
  const std::string &rows = blocks.rows();
  Type f32 = b.getF32Type();
  SmallVector<OpFoldResult> sizes;
  for (char letter : rows)
    sizes.push_back(e.extent[letter]);
  SmallVector<OpFoldResult> outSizes = sizes;
  outSizes.push_back(e.size(scores.v, 3));
  Value out = e.filled(outSizes, b.getF32FloatAttr(0.0));
  if (!scores.sinks)
    return {e.filled(sizes, b.getF32FloatAttr(-FLT_MAX)),
            e.filled(sizes, b.getF32FloatAttr(0.0)), out};
  Value sinks = blocks.split(scores.sinks, 0);
  std::string heads = blocks.heads();
  Value max =
      e.map(heads + "->" + rows, sinks, f32,
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              return arith::MaximumFOp::create(b, loc, toF32(b, loc, x[0]),
                                               f32Const(b, loc, -FLT_MAX));
            });
  Value sum = e.map(heads + "," + rows + "->" + rows, {sinks, max}, f32,
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      return expDifference(b, loc, {toF32(b, loc, x[0]), x[1]});
                    });
  return {max, sum, out};
}

/// Folds one block of keys into (maximum, sum, output), each in its buffer.
static SmallVector<Value> foldBlock(AttentionBlocks &blocks, OpBuilder &b,
                                    const AttentionScores &scores,
                                    const AttentionBlocks::Block &block,
                                    ValueRange state) {
  EinBuilder &e = blocks.ein();
  const std::string &rows = blocks.rows();
  std::string all = rows + "k", outs = rows + "v";
  Value score = blocks.updateScores(block, blocks.products(block));
  // The old maximum is read before the new one takes its place.
  Value blockMax = e.reduceMax(all + "->" + rows, score);
  Value rescale =
      e.map(rows + "," + rows + "->" + rows, {state[0], blockMax},
            b.getF32Type(), [](OpBuilder &b, Location loc, ValueRange x) {
              Value max = arith::MaximumFOp::create(b, loc, x[0], x[1]);
              return expDifference(b, loc, {x[0], max});
            });
  Value max = e.update(rows + "->" + rows, blockMax, state[0],
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         return arith::MaximumFOp::create(b, loc, x[0], x[1]);
                       });
  Value p = e.update(rows + "->" + all, max, score,
                     [](OpBuilder &b, Location loc, ValueRange x) {
                       return expDifference(b, loc, {x[1], x[0]});
                     });
  auto multiply = [](OpBuilder &b, Location loc, ValueRange x) -> Value {
    return arith::MulFOp::create(b, loc, x[0], x[1]);
  };
  Value sum = e.update(rows + "->" + rows, rescale, state[1], multiply);
  sum = e.reduceSum(all + "->" + rows, p, sum);
  Value out = e.update(rows + "->" + outs, rescale, state[2], multiply);
  out =
      e.contract(all + ",bhkv->" + outs, p, blocks.slice(scores.v, block), out);
  return {max, sum, out};
}

FailureOr<SmallVector<Value>> AttentionOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  // Nothing to compute, and upstream slices of a static 0 don't verify.
  if (shapeOf(getQ())[0] == 0 || shapeOf(getQ())[2] == 0)
    return SmallVector<Value>(getOuts());
  AttentionScores scores = getAttentionScores(*this);
  AttentionBlocks blocks(b, loc, scores);
  SmallVector<Value> state = blocks.forEach(
      initialState(blocks, b, scores),
      [&](const AttentionBlocks::Block &block, ValueRange state) {
        return foldBlock(blocks, b, scores, block, state);
      });

  EinBuilder &e = blocks.ein();
  const std::string &rows = blocks.rows();
  Type type = elementTypeOf(getOuts()[0]);
  Value out = e.map(
      rows + "v," + rows + "->" + rows + "v", {state[2], state[1]}, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        // A row that saw nothing has sum 0 and output 0.
        Value sum =
            arith::MaximumFOp::create(b, loc, x[1], f32Const(b, loc, FLT_MIN));
        return fromF32(b, loc, arith::DivFOp::create(b, loc, x[0], sum), type);
      },
      blocks.split(getOuts()[0]));
  SmallVector<Value> results{blocks.join(out, getOuts()[0].getType())};
  if (!getLseOut())
    return results;
  bool two = scores.lseBase == LogBase::Two;
  Value lse = e.map(
      rows + "," + rows + "->" + rows, {state[0], state[1]}, b.getF32Type(),
      [two](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value log = math::LogOp::create(b, loc, x[1]);
        Value lse = arith::AddFOp::create(b, loc, x[0], log);
        if (two)
          lse = arith::MulFOp::create(b, loc, lse,
                                      f32Const(b, loc, std::numbers::log2e));
        return lse;
      },
      blocks.split(getLseOut()));
  results.push_back(blocks.join(lse, getLseOut().getType()));
  return results;
}

//===----------------------------------------------------------------------===//
// merge_attention_states
//===----------------------------------------------------------------------===//

/// x * factor, or x when factor is 1.
static Value scaled(OpBuilder &b, Location loc, Value x, double factor) {
  if (factor == 1.0)
    return x;
  return arith::MulFOp::create(b, loc, x, f32Const(b, loc, factor));
}

/// exp(lse - max) of one state per row.
static Value stateWeight(EinBuilder &e, OpBuilder &b, Value lse, Value max,
                         double toBaseE) {
  return e.map("bhq,bhq->bhq", {lse, max}, b.getF32Type(),
               [=](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value difference = arith::SubFOp::create(b, loc, x[0], x[1]);
                 return math::ExpOp::create(
                     b, loc, scaled(b, loc, difference, toBaseE));
               });
}

/// sum_n w_n * state_n / sum over the states and their weights.
static Value mergeOutputs(EinBuilder &e, ValueRange states, ValueRange weights,
                          Value sum, Value init) {
  Type type = elementTypeOf(init);
  SmallVector<Value> operands(states);
  llvm::append_range(operands, weights);
  operands.push_back(sum);
  std::string text;
  for (size_t i = 0; i < states.size(); ++i)
    text += "bhqv,";
  for (size_t i = 0; i < weights.size(); ++i)
    text += "bhq,";
  size_t count = states.size();
  return e.map(
      text + "bhq->bhqv", operands, type,
      [=](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value zero = f32Const(b, loc, 0.0), total;
        for (size_t i = 0; i < count; ++i) {
          Value weight = x[count + i];
          Value term =
              arith::MulFOp::create(b, loc, weight, toF32(b, loc, x[i]));
          // A state of no weight may hold anything.
          Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                             weight, zero);
          term = arith::SelectOp::create(b, loc, none, zero, term);
          total = total ? arith::AddFOp::create(b, loc, total, term).getResult()
                        : term;
        }
        Value divisor = arith::MaximumFOp::create(b, loc, x[2 * count],
                                                  f32Const(b, loc, FLT_MIN));
        return fromF32(b, loc, arith::DivFOp::create(b, loc, total, divisor),
                       type);
      },
      init);
}

FailureOr<SmallVector<Value>>
MergeAttentionStatesOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  Type f32 = b.getF32Type();
  bool two = getLseBase() == LogBase::Two;
  auto larger = [](OpBuilder &b, Location loc, ValueRange x) -> Value {
    return arith::MaximumFOp::create(b, loc, x[0], x[1]);
  };
  // Never below the lowest finite value: rows of -inf have weights of 0.
  SmallVector<OpFoldResult> rows = e.sizes(getLses()[0]);
  Value max = e.filled(rows, b.getF32FloatAttr(-FLT_MAX));
  for (Value lse : getLses())
    max = e.map("bhq,bhq->bhq", {lse, max}, f32, larger);
  SmallVector<Value> weights;
  Value sum = e.filled(rows, b.getF32FloatAttr(0.0));
  for (Value lse : getLses()) {
    weights.push_back(stateWeight(e, b, lse, max, two ? std::numbers::ln2 : 1));
    sum = e.map("bhq,bhq->bhq", {sum, weights.back()}, f32,
                [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                  return arith::AddFOp::create(b, loc, x[0], x[1]);
                });
  }
  SmallVector<Value> results{
      mergeOutputs(e, getStates(), weights, sum, getOuts()[0])};
  if (!getLseOut())
    return results;
  double fromBaseE = two ? std::numbers::log2e : 1;
  results.push_back(e.map(
      "bhq,bhq->bhq", {max, sum}, f32,
      [=](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value log = math::LogOp::create(b, loc, x[1]);
        return arith::AddFOp::create(b, loc, x[0],
                                     scaled(b, loc, log, fromBaseE));
      },
      getLseOut()));
  return results;
}
