//===- Attention.cpp - Dense attention forward on sm_90a -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes 128 or 192 query rows of one head: one warp group loads the
// queries and the blocks of keys and values from right to left into rings with
// TMA, two or three warp groups take 64 rows each. A step multiplies the next
// scores S = Q K^T while the product O += P V of the step before is in flight,
// so that exponentials overlap with the tensor cores; the groups take turns in
// starting their products, so that one's exponentials run beside the others'
// products. The running output is rescaled between the two products of a step,
// in the few steps that need it.
//
// A warp group passes over the blocks on the right that none of its rows sees,
// and over all when it has no rows; it then only keeps its turns and gives back
// the stages of the rings.
//
// Blocks of keys that a bound cuts (causal, windows, the end) are masked in
// loops of their own; the loop between them compares nothing. Head dims are
// padded to whole panels of 64 columns by the bulk copies, which read zero
// outside of a tensor.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "AttentionKernel.h"

using namespace mlir;
using namespace rudnn;
using namespace rudnn::tile;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void AttentionKernel::producer() {
  k.singleThread([&] {
    forEachTile([&](Tile tile, Value first, Value count) {
      auto load = [&](Value source, Value tiles, Value ring, Value step) {
        Value it = k.add(first, step);
        k.acquire(ring, it);
        Value row = k.mul(k.sub(tile.last, step), shape.keyTile);
        Value stage = k.stage(tiles, k.slot(ring, it));
        k.tmaLoad(source, keysAt(tile, row), stage, ring, it);
        k.commit(ring, it);
      };
      auto loadQueries = [&] {
        k.acquire(queryRing, count);
        k.tmaLoad(tmaQ, rowsAt(tile, tile.row), tileQ, queryRing, count);
        k.commit(queryRing, count);
      };
      // Keys do not wait for the tile before; queries do.
      if (!shape.persistent)
        loadQueries();
      load(tmaK, tilesK, keyRing, k.index(0));
      if (shape.persistent)
        loadQueries();
      k.loop(k.index(1), tile.blocks, k.index(1), {},
             [&](Value step, ValueRange) {
               load(tmaK, tilesK, keyRing, step);
               load(tmaV, tilesV, valueRing, k.sub(step, 1));
               return Values{};
             });
      load(tmaV, tilesV, valueRing, k.sub(tile.blocks, 1));
      return k.add(first, tile.blocks);
    });
  });
}

/// S = Q K^T of a trip, in flight.
Value AttentionKernel::scores(Value group, Value it) {
  Value q = queryOperand ? queryOperand : k.rows(tileQ, k.mul(group, 64), 64);
  return k.wgmma(q, k.stage(tilesK, k.slot(keyRing, it)));
}

/// O += P V of a trip, in flight.
Value AttentionKernel::update(Value output, Value weights, Value it) {
  return k.wgmma(weights, k.stage(tilesV, k.slot(valueRing, it)), output,
                 /*transposeB=*/true);
}

/// Steps [from, to) of a tile: carried are output, weights, maximum, sum,
/// rescale.
AttentionKernel::Values AttentionKernel::steps(Value from, Value to,
                                               Values state, const Tile &tile,
                                               Value first, Value group,
                                               bool masked) {
  return k.loop(from, to, k.index(1), state, [&](Value step, ValueRange c) {
    Value output = c[0], weights = c[1], maximum = c[2], sum = c[3],
          rescale = c[4];
    Value it = k.add(first, step), before = k.sub(it, 1);
    Value column = k.mul(k.sub(tile.last, step), shape.keyTile);
    k.wait(keyRing, it);
    TurnTakeOp::create(k.b, k.loc, group, shape.groups);
    Value s = scores(group, it);
    output = rescaleRows(output, rescale);
    k.wait(valueRing, before);
    output = update(output, weights, before);
    TurnPassOp::create(k.b, k.loc, group, shape.groups);
    s = k.wgmmaWait(1, s)[0];
    k.release(keyRing, it);
    s = transform(s, tile, rowOf(tile, group), column);
    if (masked)
      s = mask(s, tile, rowOf(tile, group), column);
    Step next = softmax(s, maximum);
    sum = addSums(sum, next);
    output = k.wgmmaWait(0, output, weights)[0];
    k.release(valueRing, before);
    // Packed only here: the product before may still read the old registers.
    weights = k.convert(next.weights, element);
    return Values{output, weights, next.maximum, sum, next.rescale};
  });
}

/// A warp group has no part in these steps: it gives back what it does not read.
void AttentionKernel::pass(Value from, Value to, Value first, Value group) {
  k.loop(from, to, k.index(1), {}, [&](Value step, ValueRange) {
    Value it = k.add(first, step);
    TurnTakeOp::create(k.b, k.loc, group, shape.groups);
    TurnPassOp::create(k.b, k.loc, group, shape.groups);
    for (Value ring : {keyRing, valueRing}) {
      k.wait(ring, it);
      k.release(ring, it);
    }
    return Values{};
  });
}

void AttentionKernel::consumer(Value group) {
  TurnEdgeOp::create(k.b, k.loc, group, shape.groups, /*first=*/true);
  forEachTile([&](Tile tile, Value first, Value count) {
    auto work = [&] { compute(tile, group, first, count); };
    auto idle = [&] {
      k.wait(queryRing, count);
      k.release(queryRing, count);
      pass(k.index(0), tile.blocks, first, group);
    };
    if (shape.idleGroups)
      k.branch(
          k.compare(arith::CmpIPredicate::slt, rowOf(tile, group), tile.queries),
          work, idle);
    else
      work();
    return k.add(first, tile.blocks);
  });
  TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/false);
  TurnEdgeOp::create(k.b, k.loc, group, shape.groups, /*first=*/false);
}

/// The rows of a warp group in a tile.
void AttentionKernel::compute(const Tile &tile, Value group, Value first,
                              Value count) {
  k.wait(queryRing, count);
  if (shape.queriesInRegisters)
    queryOperand = k.loadMatrix(k.rows(tileQ, k.mul(group, 64), 64), 0, 0,
                                Layout::accumulator(64, 64 * shape.headPanels));
  Right right = {k.index(0), tile.cutRight};
  if (shape.groupsDiffer) {
    right = rightOf(tile, rowOf(tile, group), 64);
    pass(k.index(0), right.unseen, first, group);
  }
  Value it = k.add(first, right.unseen);
  k.wait(keyRing, it);
  TurnTakeOp::create(k.b, k.loc, group, shape.groups);
  Value x = scores(group, it);
  TurnPassOp::create(k.b, k.loc, group, shape.groups);
  x = k.wgmmaWait(0, x)[0];
  k.release(keyRing, it);
  Value column = k.mul(k.sub(tile.last, right.unseen), shape.keyTile);
  x = transform(x, tile, rowOf(tile, group), column);
  if (shape.firstMasked)
    x = mask(x, tile, rowOf(tile, group), column);
  Step start = softmax(x, {});
  FragmentType rows = cast<FragmentType>(start.maximum.getType());
  FragmentType outType =
      k.fragment(Layout::accumulator(64, shape.valuePanels * 64));
  Values state = {k.splat(outType, k.f32(0)), k.convert(start.weights, element),
                  start.maximum, start.sum, k.splat(rows, k.f32(1))};
  state = allSteps(state, tile, right, first, group);
  finish(tile, group, state, k.sub(k.add(first, tile.blocks), 1), count);
}

/// All steps but the first: right edge, middle, left edge.
AttentionKernel::Values AttentionKernel::allSteps(Values state,
                                                  const Tile &tile,
                                                  const Right &right,
                                                  Value first, Value group) {
  Value done = k.add(right.unseen, 1);
  if (shape.allMasked)
    return steps(done, tile.blocks, state, tile, first, group, true);
  if (shape.rightLoop) {
    Value end = k.add(right.unseen, right.cut);
    state = steps(done, end, state, tile, first, group, true);
    done = k.max(end, done);
  }
  Value middle = tile.blocks;
  if (s.windowLeft)
    middle = k.max(done, k.sub(tile.blocks, tile.cutLeft));
  state = steps(done, middle, state, tile, first, group, false);
  if (s.windowLeft)
    state = steps(middle, tile.blocks, state, tile, first, group, true);
  return state;
}

/// The last product, normalization, log-sum-exp, output.
void AttentionKernel::finish(const Tile &tile, Value group, Values state,
                             Value last, Value count) {
  Value output = scaleRows(state[0], state[4]), weights = state[1],
        maximum = state[2];
  // All scores are made: the next tile's queries may come.
  k.release(queryRing, count);
  k.wait(valueRing, last);
  output = update(output, weights, last);
  Values rows = finishRows(maximum, state[3], tile);
  output = k.wgmmaWait(0, output, weights)[0];
  k.release(valueRing, last);

  output = scaleRows(output, rows[0]);
  Value row = rowOf(tile, group);
  if (call.lse)
    storeLse(rows[1], tile, row);
  output = k.convert(output, element);
  Value mine = k.rows(tileO, k.mul(group, 64), 64);
  if (shape.persistent)
    TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/true);
  GroupBarrierOp::create(k.b, k.loc, group);
  StoreSharedOp::create(k.b, k.loc, output, mine);
  GroupBarrierOp::create(k.b, k.loc, group);
  k.tmaStore(mine, tmaO, rowsAt(tile, row));
}
