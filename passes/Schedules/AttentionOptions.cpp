//===- AttentionOptions.cpp - What attention schedules share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionOptions.h"

using namespace mlir;
using namespace rudnn;
using namespace rudnn::tile;

AttentionCall::AttentionCall(Operation *op) : loc(op->getLoc()) {
  auto take = [&](auto attention) {
    scores = getAttentionScores(attention);
    out = attention.getOuts()[0];
    lse = attention.getLseOut();
  };
  if (auto ragged = dyn_cast<RaggedAttentionOp>(op))
    take(ragged);
  else
    take(cast<AttentionOp>(op));
}

AttentionOptions::AttentionOptions(const AttentionCall &call,
                                   const ScoreShape &bounds, OpBuilder &b)
    : call(call), s(call.scores), bounds(bounds), k(b, call.loc) {
  element = elementTypeOf(s.q);
  headFactor = s.softcap || s.bias ? 1.0 : s.scale * kLog2E;
}

std::string rudnn::tile::whyNotAttentionOperands(const AttentionScores &s) {
  Type element = elementTypeOf(s.q);
  if (!element.isF16() && !element.isBF16())
    return "the elements are neither f16 nor bf16";
  int64_t d = shapeOf(s.q).back(), dv = shapeOf(s.v).back();
  if (d % 8 != 0 || dv % 8 != 0)
    return "a head dim is not a multiple of 8";
  if (d > 256 || dv > 256)
    return "a head dim is more than 256";
  for (Value extent : {s.q, s.k})
    if (shapeOf(extent)[s.isRagged() ? 0 : 2] == 0)
      return "there are no rows or no keys";
  return "";
}

ScoreShape rudnn::tile::getScoreShape(const AttentionScores &s,
                                      int64_t queryRows, int64_t keyTile,
                                      int64_t groupRows) {
  ScoreShape shape;
  shape.queryRows = queryRows;
  shape.keyTile = keyTile;
  // Lengths of sequences are known on the device only.
  int64_t sq = s.isRagged() ? ShapedType::kDynamic : shapeOf(s.q)[2];
  int64_t sk = s.isRagged() ? ShapedType::kDynamic : shapeOf(s.k)[2];
  bool isStatic = !ShapedType::isDynamic(sq) && !ShapedType::isDynamic(sk);
  bool aligned = !ShapedType::isDynamic(sk) && sk % keyTile == 0 && sk > 0;
  bool bottomRight = !s.queryOffset && s.causal != Causal::TopLeft;
  shape.boundsImplyEnd =
      aligned || (bottomRight && s.windowRight && *s.windowRight == 0);
  shape.allMasked = !!s.mask;
  shape.firstMasked = s.usesPosition() || s.mask || !aligned;
  // The diagonal of so many rows stays within one block of keys.
  auto inOneBlock = [&](int64_t rows) {
    return isStatic && bottomRight && s.windowRight == 0 &&
           keyTile % rows == 0 && sk % rows == 0 && sq % rows == 0;
  };
  bool oneBlock = inOneBlock(groupRows);
  shape.groupsDiffer =
      groupRows < queryRows && s.windowRight && !inOneBlock(queryRows);
  shape.rightLoop = s.windowRight && !oneBlock;
  // Unless the diagonal stays within one block, rows of a tile may see no key
  // of the block that comes first.
  shape.mayBeEmpty = s.mask || s.bias || s.windowLeft ||
                     (s.windowRight && !(oneBlock && sk >= sq)) ||
                     ShapedType::isDynamic(sk) || sk == 0;
  return shape;
}

//===----------------------------------------------------------------------===//
// Which keys a tile of rows sees
//===----------------------------------------------------------------------===//

/// Head and rows of work item t.
AttentionOptions::Tile AttentionOptions::tileOf(Value t) {
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
  return tileAt(head, m);
}

/// The two tiles of a pair lie in neighboring heads. With one bound on the
/// right the work of a tile grows with its row, so the second is the mirror
/// image of the first and all pairs cost the same.
AttentionOptions::Tile AttentionOptions::tileOfPair(Value pair, Value second) {
  Value head = k.add(k.mul(k.div(pair, rowTiles), 2), second);
  Value m = k.rem(pair, rowTiles);
  Value isSecond = k.compare(arith::CmpIPredicate::eq, second, k.index(1));
  return tileAt(head, k.select(isSecond, k.sub(k.sub(rowTiles, 1), m), m));
}

/// Row tile m of a head.
AttentionOptions::Tile AttentionOptions::tileAt(Value head, Value m) {
  Tile tile;
  tile.batch = k.div(head, s.queryHeads());
  tile.head = k.rem(head, s.queryHeads());
  tile.keyHead = k.div(tile.head, s.group());
  tile.flatHead = head;
  if (s.isRagged()) {
    addSequence(tile, m);
  } else {
    tile.row = k.mul(m, bounds.queryRows);
    tile.queries = queries, tile.keys = keys, tile.offset = offset;
  }
  addBlocks(tile);
  return tile;
}

/// An element of the offsets, which are without sign, cut to the rows there
/// are.
Value AttentionOptions::offsetAt(Value offsets, Value sequence, Value total) {
  return arith::MinUIOp::create(k.b, k.loc, k.loadIndex(offsets, sequence),
                                total);
}

/// The row tiles of sequence s are among the slots from offset / rows + s on:
/// up to where the next one starts there are enough for any length, so that a
/// tile finds its sequence without a sum over those before.
Value AttentionOptions::placeOf(Value sequence) {
  Value first = offsetAt(queryOffsets, sequence, queries);
  return k.add(k.div(first, bounds.queryRows), sequence);
}

/// The last sequence that starts at or before a slot, by bisection. The rows
/// behind the last offset are one more sequence.
Value AttentionOptions::findSequence(Value slot) {
  Values found =
      k.loop(k.index(0), searchSteps, k.index(1), {k.index(0), sequences},
             [&](Value, ValueRange c) -> Values {
               Value middle = k.div(k.add(k.add(c[0], c[1]), 1), 2);
               Value starts =
                   k.compare(arith::CmpIPredicate::sle, placeOf(middle), slot);
               return {k.select(starts, middle, c[0]),
                       k.select(starts, c[1], k.sub(middle, 1))};
             });
  return found[0];
}

/// The sequence of a slot, cut to the operands whatever the offsets are.
void AttentionOptions::addSequence(Tile &tile, Value slot) {
  Value sequence = findSequence(slot);
  Value next = k.min(k.add(sequence, 1), sequences);
  auto range = [&](Value offsets, Value total) -> std::pair<Value, Value> {
    Value first = offsetAt(offsets, sequence, total);
    Value end = offsetAt(offsets, next, total);
    return {first, k.max(end, first)};
  };
  auto [firstRow, endRow] = range(queryOffsets, queries);
  auto [firstKey, endKey] = range(keyOffsets, keys);
  Value rest = k.compare(arith::CmpIPredicate::eq, sequence, sequences);
  endRow = k.select(rest, queries, endRow);
  tile.firstRow = firstRow, tile.firstKey = firstKey;
  tile.queries = k.sub(endRow, firstRow);
  Value m = k.sub(slot, k.add(k.div(firstRow, bounds.queryRows), sequence));
  tile.row = k.mul(m, bounds.queryRows);
  tile.valid = k.compare(arith::CmpIPredicate::slt, tile.row, tile.queries);
  tile.keys = k.select(tile.valid, k.sub(endKey, firstKey), k.index(0));
  tile.offset =
      s.causal == Causal::TopLeft ? k.index(0) : k.sub(tile.keys, tile.queries);
}

AttentionOptions::Reach AttentionOptions::reachOf(const Tile &tile, Value row,
                                                   int64_t rows) {
  if (!s.windowRight)
    return {tile.keys, tile.keys};
  Value lastRow = k.sub(k.min(k.add(row, rows), tile.queries), 1);
  auto behind = [&](Value x) {
    x = k.add(k.add(x, tile.offset), *s.windowRight + 1);
    return k.min(k.max(x, k.index(0)), tile.keys);
  };
  return {behind(lastRow), behind(row)};
}

AttentionOptions::Right AttentionOptions::rightOf(const Tile &tile, Value row,
                                                  int64_t rows) {
  auto [end, firstCut] = reachOf(tile, row, rows);
  Value tileEnd = k.add(tile.last, 1);
  Right right;
  right.unseen = k.min(k.sub(tileEnd, k.ceilDiv(end, bounds.keyTile)),
                       k.sub(tile.blocks, 1));
  Value cut =
      k.sub(k.sub(tileEnd, right.unseen), k.div(firstCut, bounds.keyTile));
  right.cut = k.min(k.max(cut, k.index(1)), k.sub(tile.blocks, right.unseen));
  return right;
}

/// The blocks of keys: `blocks` of them from `last` downwards; of these the
/// first `cutRight` and the last `cutLeft` hold keys that some row does not
/// see.
void AttentionOptions::addBlocks(Tile &tile) {
  Value zero = k.index(0), one = k.index(1), begin = zero;
  auto clamp = [&](Value x) { return k.min(k.max(x, zero), tile.keys); };
  auto [end, firstCut] = reachOf(tile, tile.row, bounds.queryRows);
  if (s.windowLeft)
    begin = clamp(k.sub(k.add(tile.row, tile.offset), *s.windowLeft));
  Value beginBlock = k.div(begin, bounds.keyTile);
  tile.blocks = k.max(k.sub(k.ceilDiv(end, bounds.keyTile), beginBlock), one);
  tile.last = k.sub(k.add(beginBlock, tile.blocks), 1);
  tile.cutRight =
      k.max(k.sub(k.add(tile.last, 1), k.div(firstCut, bounds.keyTile)), one);
  tile.cutRight = k.min(tile.cutRight, tile.blocks);
  tile.cutLeft = zero;
  if (s.windowLeft) {
    Value lastRow =
        k.sub(k.min(k.add(tile.row, bounds.queryRows), tile.queries), 1);
    Value seenByAll = clamp(k.sub(k.add(lastRow, tile.offset), *s.windowLeft));
    tile.cutLeft = k.min(
        k.max(k.sub(k.ceilDiv(seenByAll, bounds.keyTile), beginBlock), zero),
        tile.blocks);
  }
}

/// Sets what a row does not see to -inf; `column` is the block's first key.
Value AttentionOptions::mask(Value scores, const Tile &tile, Value row,
                             Value column) {
  auto type = cast<FragmentType>(scores.getType());
  Layout layout = type.getLayout();
  Type i32 = k.b.getI32Type();
  // Key minus row, so that each bound is one comparison with zero.
  SmallVector<Value> inputs = {scores};
  auto bound = [&](Value start, int32_t rowFactor, int32_t columnFactor) {
    inputs.push_back(
        IotaOp::create(k.b, k.loc, k.fragment(layout, i32), start,
                       k.b.getDenseI32ArrayAttr({rowFactor, columnFactor})));
  };
  if (s.windowRight) // row + offset + right - key >= 0
    bound(k.sub(k.add(k.add(row, tile.offset), *s.windowRight), column), 1, -1);
  if (s.windowLeft) // key - (row + offset - left) >= 0
    bound(k.add(k.sub(column, k.add(row, tile.offset)), *s.windowLeft), -1, 1);
  if (!bounds.boundsImplyEnd)
    bound(k.sub(k.sub(tile.keys, 1), column), 0, -1);
  if (s.mask)
    inputs.push_back(loadPerScore(maskBuffer, s.mask, maskStrides, tile, row,
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
Value AttentionOptions::loadPerScore(Value buffer, Value source,
                                     ValueRange strides, const Tile &tile,
                                     Value row, Value column,
                                     const Layout &layout) {
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
Value AttentionOptions::transform(Value scores, const Tile &tile, Value row,
                                  Value column) {
  if (!s.softcap && !s.bias)
    return scores;
  Layout layout = cast<FragmentType>(scores.getType()).getLayout();
  SmallVector<Value> inputs = {scores};
  if (s.bias)
    inputs.push_back(loadPerScore(biasBuffer, s.bias, biasStrides, tile, row,
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
// The running softmax
//===----------------------------------------------------------------------===//

/// A row's maximum follows its scores only when they lie this much above it, in
/// exponents of 2. Weights are then at most 256 and their sum, by which the
/// output is divided, is of the same maximum: nothing is lost, and most steps
/// leave the output as it is.
static constexpr float kSlack = 8;

/// New maximum, weights exp2(S - max) and their partial sums.
AttentionOptions::Step AttentionOptions::softmax(Value scores,
                                                 Value oldMaximum) {
  auto type = cast<FragmentType>(scores.getType());
  Value maximum = k.reduce(Combine::Max, scores, 1);
  if (oldMaximum)
    maximum = k.map1({oldMaximum, maximum}, [&](ValueRange x) -> Value {
      Value rise = k.mulf(k.subf(x[1], x[0]), k.f32(headFactor));
      Value above = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OGT,
                                          rise, k.f32(kSlack));
      return k.select(above, x[1], x[0]);
    });
  Value shift = k.map1(maximum, [&](ValueRange x) {
    Value m = x[0];
    if (bounds.mayBeEmpty) { // all -inf: exponents of -inf, not of NaN
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
    step.rescale = k.map1({oldMaximum, maximum, shift}, [&](ValueRange x) {
      Value kept = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ,
                                         x[0], x[1]);
      return k.select(kept, k.f32(1),
                      k.exp2(k.fma(x[0], k.f32(headFactor), x[2])));
    });
  return step;
}

/// sum * rescale + the step's sums, each thread for itself.
Value AttentionOptions::addSums(Value sum, const Step &next) {
  auto type = cast<FragmentType>(sum.getType());
  return k.map1({sum, k.broadcast(next.rescale, type, 1), next.sum},
                [&](ValueRange x) { return k.fma(x[0], x[1], x[2]); });
}

Value AttentionOptions::scaleRows(Value output, Value factor) {
  auto type = cast<FragmentType>(output.getType());
  return k.map1({output, k.broadcast(factor, type, 1)},
                [&](ValueRange x) { return k.mulf(x[0], x[1]); });
}

Value AttentionOptions::rescaleRows(Value output, Value factor) {
  Value moved = k.map(
      factor,
      [&](ValueRange x) {
        return Values{arith::CmpFOp::create(
            k.b, k.loc, arith::CmpFPredicate::UNE, x[0], k.f32(1))};
      },
      k.b.getI1Type())[0];
  return k.replaceIf(k.any(moved), output,
                     [&] { return scaleRows(output, factor); });
}

AttentionOptions::Values AttentionOptions::finishRows(Value maximum, Value sum,
                                                      const Tile &tile) {
  sum = k.reduce(Combine::Add, sum, 1);
  SmallVector<Value> inputs = {maximum, sum};
  if (s.sinks) {
    Layout layout = cast<FragmentType>(sum.getType()).getLayout();
    Value loaded =
        LoadOp::create(k.b, k.loc, k.fragment(layout, elementTypeOf(s.sinks)),
                       sinkBuffer, k.i64(tile.head), Value(), ValueRange(),
                       k.b.getDenseI64ArrayAttr({0}), 1);
    inputs.push_back(k.convert(loaded, k.b.getF32Type()));
  }
  Type f32 = k.b.getF32Type();
  return k.map(inputs, [&](ValueRange x) { return finishRow(x); }, {f32, f32});
}

void AttentionOptions::storeLse(Value lse, const Tile &tile, Value row) {
  Value first = k.add(k.mul(k.i64(tile.flatHead), k.i64(queries)), k.i64(row));
  if (tile.firstRow)
    first = k.add(first, k.i64(tile.firstRow));
  StoreOp::create(k.b, k.loc, lse, lseBuffer, first, Value(),
                  ValueRange{k.sub(tile.queries, row)},
                  k.b.getDenseI64ArrayAttr({1}), 1);
}

/// Factor of the output row and its log-sum-exp from maximum, sum and sink.
AttentionOptions::Values AttentionOptions::finishRow(ValueRange x) {
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
  if (bounds.mayBeEmpty || s.sinks) {
    Value none =
        arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, sum, zero);
    inverse = k.select(none, zero, inverse);
    lse = k.select(none, low, lse);
  }
  if (s.lseBase == LogBase::E)
    lse = k.mulf(lse, k.f32(1.0 / kLog2E));
  return {inverse, lse};
}

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

void AttentionOptions::appendTypes(SmallVectorImpl<Type> &types) {
  auto buffer = [](Type type) -> Type {
    return MemRefType::get({ShapedType::kDynamic}, type);
  };
  types.append(6, k.b.getIndexType());
  if (s.isRagged()) {
    types.append(2, k.b.getIndexType());
    types.append(2, buffer(k.b.getI32Type()));
  }
  if (call.lse)
    types.push_back(buffer(k.b.getF32Type()));
  for (Value source : {s.mask, s.bias})
    if (source) {
      types.push_back(buffer(elementTypeOf(source)));
      types.append(3, k.b.getI64Type());
    }
  if (s.sinks)
    types.push_back(buffer(elementTypeOf(s.sinks)));
}

void AttentionOptions::takeArguments(unsigned first) {
  auto take = [&] { return k.arg(first++); };
  for (Value *name : {&rowTiles, &heads, &tiles, &queries, &keys, &offset})
    *name = take();
  // Work items are divided by it: by a number that is a multiplication.
  if (int64_t rows = s.isRagged() ? ShapedType::kDynamic : shapeOf(s.q)[2];
      !ShapedType::isDynamic(rows))
    rowTiles = k.index(llvm::divideCeil(rows, bounds.queryRows));
  if (s.isRagged())
    for (Value *name : {&sequences, &searchSteps, &queryOffsets, &keyOffsets})
      *name = take();
  if (call.lse)
    lseBuffer = take();
  auto takeScores = [&](Value &buffer, Values &strides) {
    buffer = take();
    for (int i = 0; i < 3; ++i)
      strides.push_back(take());
  };
  if (s.mask)
    takeScores(maskBuffer, maskStrides);
  if (s.bias)
    takeScores(biasBuffer, biasStrides);
  if (s.sinks)
    sinkBuffer = take();
}

Value AttentionOptions::appendArguments(SmallVectorImpl<Value> &args) {
  OpBuilder &b = k.b;
  Location loc = k.loc;
  auto dim = [&](Value memref, unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(loc, memref, i);
  };
  Value sq = dim(s.q, s.isRagged() ? 0 : 2),
        sk = dim(s.k, s.isRagged() ? 0 : 2);
  Value mTiles = k.ceilDiv(sq, bounds.queryRows);
  Value headCount = k.index(s.queryHeads());
  Value first = s.queryOffset, sequences;
  if (s.isRagged()) {
    // Each sequence has a slot more than its share of the rows; none without
    // rows at all.
    sequences = k.sub(dim(s.queryOffsets, 0), 1);
    Value slots = k.add(k.add(k.div(sq, bounds.queryRows), sequences), 1);
    mTiles = k.select(k.compare(arith::CmpIPredicate::eq, sq, k.index(0)),
                      k.index(0), slots);
    first = k.index(0);
  } else {
    headCount = k.mul(dim(s.q, 0), s.queryHeads());
    if (!first)
      first = s.causal == Causal::TopLeft ? k.index(0) : k.sub(sk, sq);
  }
  Value count = k.mul(headCount, mTiles);
  args.append({mTiles, headCount, count, sq, sk, first});
  if (s.isRagged()) {
    // As many halvings as the number of sequences has bits.
    Value zeros = math::CountLeadingZerosOp::create(b, loc, k.i64(sequences));
    Value bits = arith::SubIOp::create(
        b, loc, arith::ConstantIntOp::create(b, loc, 64, 64), zeros);
    args.append({sequences,
                 arith::IndexCastOp::create(b, loc, b.getIndexType(), bits),
                 s.queryOffsets, s.keyOffsets});
  }
  if (call.lse)
    args.push_back(call.lse);
  for (Value source : {s.mask, s.bias}) {
    if (!source)
      continue;
    args.push_back(source);
    // Strides of a dense tensor; 0 where an extent of 1 is broadcast.
    ArrayRef<int64_t> extents = shapeOf(source);
    Value stride = k.i64(dim(source, 3));
    SmallVector<Value> strides(3);
    for (int d = 2; d >= 0; --d) {
      Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
      strides[d] = extents[d] == 1 ? zero : stride;
      stride = k.mul(stride, k.i64(dim(source, d)));
    }
    args.append(strides);
  }
  if (s.sinks)
    args.push_back(s.sinks);
  return count;
}
