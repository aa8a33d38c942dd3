//===- Attention.cpp - Dense attention forward on sm_90a -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes 128 query rows of one head: one warp group loads the queries
// and the blocks of keys and values from right to left into rings with TMA, two
// warp groups take 64 rows each. A step multiplies the next scores S = Q K^T
// while the product O += P V of the step before is in flight, so that
// exponentials overlap with the tensor cores; the two groups take turns in
// starting their products, so that one's exponentials run beside the other's
// products. The running output is rescaled between the two products of a step.
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

static constexpr double kLog2E = 1.4426950408889634;

//===----------------------------------------------------------------------===//
// Which keys a tile of rows sees
//===----------------------------------------------------------------------===//

AttentionKernel::AttentionKernel(AttentionOp op, const Machine &machine,
                                 OpBuilder &b)
    : op(op), s(getAttentionScores(op)), shape(getAttentionShape(op)),
      machine(machine), k(b, op.getLoc()) {
  element = elementTypeOf(s.q);
  headFactor = s.softcap || s.bias ? 1.0 : s.scale * kLog2E;
}

/// Head and rows of work item t.
AttentionKernel::Tile AttentionKernel::tileOf(Value t) {
  Value head, m;
  if (!s.windowRight) {
    head = k.div(t, rowTiles);
    m = k.rem(t, rowTiles);
  } else {
    // The longest rows first, a few heads at a time so that keys stay in L2.
    constexpr int64_t kSection = 4;
    Value perSection = k.mul(rowTiles, kSection);
    Value section = k.div(t, perSection), rest = k.rem(t, perSection);
    Value first = k.mul(section, kSection);
    Value width = k.min(k.sub(heads, first), k.index(kSection));
    m = k.sub(k.sub(rowTiles, 1), k.div(rest, width));
    head = k.add(first, k.rem(rest, width));
  }
  Tile tile;
  tile.batch = k.div(head, s.queryHeads());
  tile.head = k.rem(head, s.queryHeads());
  tile.keyHead = k.div(tile.head, s.group());
  tile.flatHead = head;
  tile.row = k.mul(m, kQueryRows);
  addBlocks(tile);
  return tile;
}

/// The blocks of keys: `blocks` of them from `last` downwards; of these the
/// first `cutRight` and the last `cutLeft` hold keys that some row does not
/// see.
void AttentionKernel::addBlocks(Tile &tile) {
  Value zero = k.index(0), one = k.index(1);
  Value lastRow = k.sub(k.min(k.add(tile.row, kQueryRows), queries), 1);
  Value end = keys, firstCut = keys, begin = zero;
  auto clamp = [&](Value x) { return k.min(k.max(x, zero), keys); };
  if (s.windowRight) {
    end = clamp(k.add(k.add(lastRow, offset), *s.windowRight + 1));
    firstCut = clamp(k.add(k.add(tile.row, offset), *s.windowRight + 1));
  }
  if (s.windowLeft)
    begin = clamp(k.sub(k.add(tile.row, offset), *s.windowLeft));
  Value beginBlock = k.div(begin, shape.keyTile);
  tile.blocks = k.max(k.sub(k.ceilDiv(end, shape.keyTile), beginBlock), one);
  tile.last = k.sub(k.add(beginBlock, tile.blocks), 1);
  tile.cutRight =
      k.max(k.sub(k.add(tile.last, 1), k.div(firstCut, shape.keyTile)), one);
  tile.cutRight = k.min(tile.cutRight, tile.blocks);
  tile.cutLeft = zero;
  if (s.windowLeft) {
    Value seenByAll = clamp(k.sub(k.add(lastRow, offset), *s.windowLeft));
    tile.cutLeft = k.min(
        k.max(k.sub(k.ceilDiv(seenByAll, shape.keyTile), beginBlock), zero),
        tile.blocks);
  }
}

/// Sets what a row does not see to -inf; `column` is the block's first key.
Value AttentionKernel::mask(Value scores, const Tile &tile, Value group,
                            Value column) {
  auto type = cast<FragmentType>(scores.getType());
  Layout layout = type.getLayout();
  Type i32 = k.b.getI32Type();
  Value row = k.add(tile.row, k.mul(group, 64));
  // Key minus row, so that each bound is one comparison with zero.
  SmallVector<Value> inputs = {scores};
  auto bound = [&](Value start, int32_t rowFactor, int32_t columnFactor) {
    inputs.push_back(
        IotaOp::create(k.b, k.loc, k.fragment(layout, i32), start,
                       k.b.getDenseI32ArrayAttr({rowFactor, columnFactor})));
  };
  if (s.windowRight) // row + offset + right - key >= 0
    bound(k.sub(k.add(k.add(row, offset), *s.windowRight), column), 1, -1);
  if (s.windowLeft) // key - (row + offset - left) >= 0
    bound(k.add(k.sub(column, k.add(row, offset)), *s.windowLeft), -1, 1);
  if (!shape.boundsImplyEnd)
    bound(k.sub(k.sub(keys, 1), column), 0, -1);
  if (s.mask)
    inputs.push_back(loadPerScore(maskBuffer, s.mask, maskStrides, tile, group,
                                  column, layout));
  return k.map1(inputs, [&](ValueRange args) {
    Value x = args[0];
    Value low = k.f32(-std::numeric_limits<float>::infinity());
    for (Value arg : args.drop_front()) {
      if (arg.getType().isInteger(1)) {
        x = k.select(arg, low, x);
        continue;
      }
      Value zero = arith::ConstantIntOp::create(k.b, k.loc, 0, 32);
      x = k.select(k.compare(arith::CmpIPredicate::sge, arg, zero), x, low);
    }
    return x;
  });
}

/// Elements of the mask or bias for the scores of a block, with broadcast dims.
Value AttentionKernel::loadPerScore(Value buffer, Value source,
                                    ValueRange strides, const Tile &tile,
                                    Value group, Value column,
                                    const Layout &layout) {
  Value row = k.add(tile.row, k.mul(group, 64));
  Value index = k.mul(k.i64(tile.batch), strides[0]);
  index = k.add(index, k.mul(k.i64(tile.head), strides[1]));
  index = k.add(index, k.mul(k.i64(row), strides[2]));
  bool wide = shapeOf(source)[3] != 1;
  if (wide)
    index = k.add(index, k.i64(column));
  Value loaded = LoadOp::create(
      k.b, k.loc, k.fragment(layout, elementTypeOf(source)), buffer, index,
      strides[2], ValueRange{k.sub(queries, row), k.sub(keys, column)},
      k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, wide ? 1 : 0}), 1);
  return elementTypeOf(source).isInteger(1)
             ? loaded
             : k.convert(loaded, k.b.getF32Type());
}

/// Softcap and bias, in the domain of base-2 exponents; without them the raw
/// scores.
Value AttentionKernel::transform(Value scores, const Tile &tile, Value group,
                                 Value column) {
  if (!s.softcap && !s.bias)
    return scores;
  Layout layout = cast<FragmentType>(scores.getType()).getLayout();
  SmallVector<Value> inputs = {scores};
  if (s.bias)
    inputs.push_back(loadPerScore(biasBuffer, s.bias, biasStrides, tile, group,
                                  column, layout));
  return k.map1(inputs, [&](ValueRange args) {
    Value x = args[0];
    if (s.softcap) {
      // cap * tanh(y) = cap - 2 cap / (exp(2y) + 1), y = scale * x / cap.
      Value e = k.exp2(k.mulf(x, k.f32(2 * kLog2E * s.scale / *s.softcap)));
      Value fraction =
          k.divf(k.f32(-2 * *s.softcap * kLog2E), k.addf(e, k.f32(1)));
      x = k.addf(fraction, k.f32(*s.softcap * kLog2E));
    } else {
      x = k.mulf(x, k.f32(s.scale * kLog2E));
    }
    if (s.bias)
      x = k.fma(args[1], k.f32(kLog2E), x);
    return x;
  });
}

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
        k.tmaLoad(source, {tile.batch, tile.keyHead, row, k.index(0)}, stage,
                  ring, it);
        k.commit(ring, it);
      };
      auto loadQueries = [&] {
        k.acquire(queryRing, count);
        k.tmaLoad(tmaQ, {tile.batch, tile.head, tile.row, k.index(0)}, tileQ,
                  queryRing, count);
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
  Value q = k.rows(tileQ, k.mul(group, 64), 64);
  return k.wgmma(q, k.stage(tilesK, k.slot(keyRing, it)));
}

/// O += P V of a trip, in flight.
Value AttentionKernel::update(Value output, Value weights, Value it) {
  return k.wgmma(weights, k.stage(tilesV, k.slot(valueRing, it)), output,
                 /*transposeB=*/true);
}

/// New maximum, weights exp2(S - max) and their partial sums.
AttentionKernel::Step AttentionKernel::softmax(Value scores, Value oldMaximum) {
  auto type = cast<FragmentType>(scores.getType());
  Value maximum = k.reduce(Combine::Max, scores, 1);
  if (oldMaximum)
    maximum = k.map1({oldMaximum, maximum},
                     [&](ValueRange x) { return k.maxf(x[0], x[1]); });
  Value shift = k.map1(maximum, [&](ValueRange x) {
    Value m = x[0];
    if (shape.mayBeEmpty) { // all -inf: exponents of -inf, not of NaN
      Value low = k.f32(-std::numeric_limits<float>::infinity());
      Value empty =
          arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, m, low);
      m = k.select(empty, k.f32(0), m);
    }
    return k.mulf(m, k.f32(-headFactor));
  });
  Value weights =
      k.map1({scores, k.broadcast(shift, type, 1)}, [&](ValueRange x) {
        return k.exp2(k.fma(x[0], k.f32(headFactor), x[1]));
      });
  Step step;
  step.maximum = maximum;
  step.weights = weights;
  step.sum = k.reduce(Combine::Add, weights, 1, /*partial=*/true);
  if (oldMaximum)
    step.rescale = k.map1({oldMaximum, shift}, [&](ValueRange x) {
      return k.exp2(k.fma(x[0], k.f32(headFactor), x[1]));
    });
  return step;
}

Value AttentionKernel::scaleRows(Value output, Value factor) {
  auto type = cast<FragmentType>(output.getType());
  return k.map1({output, k.broadcast(factor, type, 1)},
                [&](ValueRange x) { return k.mulf(x[0], x[1]); });
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
    TurnTakeOp::create(k.b, k.loc, group, 2);
    Value s = scores(group, it);
    output = scaleRows(output, rescale);
    k.wait(valueRing, before);
    output = update(output, weights, before);
    TurnPassOp::create(k.b, k.loc, group, 2);
    s = k.wgmmaWait(1, s)[0];
    k.release(keyRing, it);
    s = transform(s, tile, group, column);
    if (masked)
      s = mask(s, tile, group, column);
    Step next = softmax(s, maximum);
    auto sumType = cast<FragmentType>(sum.getType());
    sum = k.map1({sum, k.broadcast(next.rescale, sumType, 1), next.sum},
                 [&](ValueRange x) { return k.fma(x[0], x[1], x[2]); });
    output = k.wgmmaWait(0, output, weights)[0];
    k.release(valueRing, before);
    // Packed only here: the product before may still read the old registers.
    weights = k.convert(next.weights, element);
    return Values{output, weights, next.maximum, sum, next.rescale};
  });
}

void AttentionKernel::consumer(Value group) {
  TurnEdgeOp::create(k.b, k.loc, group, 2, /*first=*/true);
  forEachTile([&](Tile tile, Value first, Value count) {
    k.wait(queryRing, count);
    k.wait(keyRing, first);
    TurnTakeOp::create(k.b, k.loc, group, 2);
    Value x = scores(group, first);
    TurnPassOp::create(k.b, k.loc, group, 2);
    x = k.wgmmaWait(0, x)[0];
    k.release(keyRing, first);
    Value column = k.mul(tile.last, shape.keyTile);
    x = transform(x, tile, group, column);
    if (shape.firstMasked)
      x = mask(x, tile, group, column);
    Step start = softmax(x, {});
    FragmentType rows = cast<FragmentType>(start.maximum.getType());
    FragmentType outType =
        k.fragment(Layout::accumulator(64, shape.valuePanels * 64));
    Values state = {k.splat(outType, k.f32(0)),
                    k.convert(start.weights, element), start.maximum, start.sum,
                    k.splat(rows, k.f32(1))};
    // Right edge, middle, left edge.
    Value one = k.index(1), done = one;
    if (shape.allMasked) {
      state = steps(one, tile.blocks, state, tile, first, group, true);
    } else {
      if (shape.rightLoop) {
        state = steps(one, tile.cutRight, state, tile, first, group, true);
        done = k.max(tile.cutRight, one);
      }
      Value middle = tile.blocks;
      if (s.windowLeft)
        middle = k.max(done, k.sub(tile.blocks, tile.cutLeft));
      state = steps(done, middle, state, tile, first, group, false);
      if (s.windowLeft)
        state = steps(middle, tile.blocks, state, tile, first, group, true);
    }
    finish(tile, group, state, k.sub(k.add(first, tile.blocks), 1), count);
    return k.add(first, tile.blocks);
  });
  TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/false);
  TurnEdgeOp::create(k.b, k.loc, group, 2, /*first=*/false);
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
  Value sum = k.reduce(Combine::Add, state[3], 1);
  output = k.wgmmaWait(0, output, weights)[0];
  k.release(valueRing, last);

  Value sink;
  if (s.sinks) {
    Value loaded =
        LoadOp::create(k.b, k.loc,
                       k.fragment(cast<FragmentType>(sum.getType()).getLayout(),
                                  elementTypeOf(s.sinks)),
                       sinkBuffer, k.i64(tile.head), Value(), ValueRange(),
                       k.b.getDenseI64ArrayAttr({0}), 1);
    sink = k.convert(loaded, k.b.getF32Type());
  }
  SmallVector<Value> inputs = {maximum, sum};
  if (sink)
    inputs.push_back(sink);
  Type f32 = k.b.getF32Type();
  Values rows =
      k.map(inputs, [&](ValueRange x) { return finishRow(x); }, {f32, f32});
  output = scaleRows(output, rows[0]);
  Value row = k.add(tile.row, k.mul(group, 64));
  if (op.getLseOut())
    StoreOp::create(
        k.b, k.loc, rows[1], lseBuffer,
        k.add(k.mul(k.i64(tile.flatHead), k.i64(queries)), k.i64(row)), Value(),
        ValueRange{k.sub(queries, row)}, k.b.getDenseI64ArrayAttr({1}), 1);
  output = k.convert(output, element);
  Value mine = k.rows(tileO, k.mul(group, 64), 64);
  if (shape.persistent)
    TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/true);
  GroupBarrierOp::create(k.b, k.loc, group);
  StoreSharedOp::create(k.b, k.loc, output, mine);
  GroupBarrierOp::create(k.b, k.loc, group);
  k.tmaStore(mine, tmaO, {tile.batch, tile.head, row, k.index(0)});
}

/// Factor of the output row and its log-sum-exp from maximum, sum and sink.
AttentionKernel::Values AttentionKernel::finishRow(ValueRange x) {
  Value zero = k.f32(0), low = k.f32(-std::numeric_limits<float>::infinity());
  auto isLow = [&](Value v) {
    return arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, v, low);
  };
  Value maximum = k.mulf(x[0], k.f32(headFactor)), sum = x[1],
        factor = k.f32(1);
  if (s.sinks) {
    // The sink is one more key without a value.
    Value sink = k.mulf(x[2], k.f32(kLog2E));
    Value both = k.maxf(maximum, sink);
    Value shift = k.select(isLow(both), zero, both);
    factor = k.exp2(k.subf(maximum, shift));
    sum = k.fma(sum, factor, k.exp2(k.subf(sink, shift)));
    maximum = both;
  }
  Value inverse = k.divf(factor, sum);
  Value lse = k.addf(maximum, k.log2(sum));
  if (shape.mayBeEmpty || s.sinks) {
    Value none =
        arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, sum, zero);
    inverse = k.select(none, zero, inverse);
    lse = k.select(none, low, lse);
  }
  if (s.lseBase == LogBase::E)
    lse = k.mulf(lse, k.f32(1.0 / kLog2E));
  return {inverse, lse};
}
