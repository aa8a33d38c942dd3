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

/// Folds one block of keys into (maximum, sum, output).
static SmallVector<Value> foldBlock(AttentionBlocks &blocks, OpBuilder &b,
                                    const AttentionScores &scores,
                                    const AttentionBlocks::Block &block,
                                    ValueRange state) {
  EinBuilder &e = blocks.ein();
  const std::string &rows = blocks.rows();
  std::string all = rows + "k", outs = rows + "v";
  Type f32 = b.getF32Type();
  Value products = blocks.products(block);
  Value score = blocks.mapScores(
      block, products, {},
      [](OpBuilder &, Location, ValueRange x) -> Value { return x[0]; },
      products);
  Value max = e.reduceMax(all + "->" + rows, score, state[0]);
  Value rescale = e.map(rows + "," + rows + "->" + rows, {state[0], max}, f32,
                        expDifference);
  Value p = e.map(all + "," + rows + "->" + all, {score, max}, f32,
                  expDifference, score);
  auto multiply = [](OpBuilder &b, Location loc, ValueRange x) -> Value {
    return arith::MulFOp::create(b, loc, x[0], x[1]);
  };
  Value sum = e.map(rows + "," + rows + "->" + rows, {state[1], rescale}, f32,
                    multiply, state[1]);
  sum = e.reduceSum(all + "->" + rows, p, sum);
  Value out = e.map(outs + "," + rows + "->" + outs, {state[2], rescale}, f32,
                    multiply, state[2]);
  out =
      e.contract(all + ",bhkv->" + outs, p, blocks.slice(scores.v, block), out);
  return {max, sum, out};
}

FailureOr<SmallVector<Value>> AttentionOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
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
