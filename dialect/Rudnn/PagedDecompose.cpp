//===- PagedDecompose.cpp - Paged ops as scf and linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rudnn;

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Part `split` of `splits` nearly equal parts of a range; the first
/// `length % splits` are longer by one.
static TokenRange splitRange(PagedBuilder &p, TokenRange range, Value split,
                             int64_t splits) {
  Value length = p.sub(range.hi, range.lo);
  Value count = p.index(splits);
  Value base = arith::DivUIOp::create(p.b, p.loc, length, count);
  Value extra = arith::RemUIOp::create(p.b, p.loc, length, count);
  Value lo = p.add(range.lo, p.add(p.mul(split, base), p.min(split, extra)));
  Value longer = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                       split, extra);
  Value more =
      arith::IndexCastUIOp::create(p.b, p.loc, p.b.getIndexType(), longer);
  return {lo, p.add(lo, p.add(base, more))};
}

/// The state over `range`, computed in `splits` parts that are merged in order.
static SoftmaxState attendInSplits(PagedBuilder &p, ValueRange rows,
                                   Value sequence, Value head, TokenRange range,
                                   int64_t splits) {
  if (splits == 1)
    return p.attend(rows, sequence, head, range);
  SoftmaxState empty = p.emptyState();
  auto loop = scf::ForOp::create(
      p.b, p.loc, p.index(0), p.index(splits), p.index(1),
      ValueRange{empty.max, empty.sum, empty.acc},
      [&](OpBuilder &nested, Location loc, Value split, ValueRange args) {
        PagedBuilder inner(nested, loc, p.scores);
        SoftmaxState part = inner.attend(
            rows, sequence, head, splitRange(inner, range, split, splits));
        SoftmaxState merged = inner.merge({args[0], args[1], args[2]}, part);
        scf::YieldOp::create(nested, loc,
                             ValueRange{merged.max, merged.sum, merged.acc});
      });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

/// acc / sum, or 0 where nothing was seen, rounded to `type`: [G,Dv].
static Value finishOutput(PagedBuilder &p, const SoftmaxState &state,
                          Type type) {
  return p.e.map("gd,g->gd", {state.acc, state.sum}, type,
                 [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
                   Value zero = f32Const(b, loc, 0.0);
                   Value empty = arith::CmpFOp::create(
                       b, loc, arith::CmpFPredicate::OEQ, x[1], zero);
                   Value y = arith::DivFOp::create(b, loc, x[0], x[1]);
                   y = arith::SelectOp::create(b, loc, empty, zero, y);
                   return fromF32(b, loc, y, type);
                 });
}

/// max + log(sum): -inf where nothing was seen.
static Value finishLse(PagedBuilder &p, const SoftmaxState &state,
                       LogBase base) {
  return p.e.map("g,g->g", {state.max, state.sum}, p.b.getF32Type(),
                 [base](OpBuilder &b, Location loc, ValueRange x) -> Value {
                   Value lse = arith::AddFOp::create(
                       b, loc, x[0], math::LogOp::create(b, loc, x[1]));
                   if (base == LogBase::E)
                     return lse;
                   return arith::MulFOp::create(
                       b, loc, lse, f32Const(b, loc, 1.4426950408889634));
                 });
}

/// Writes the tile of one row and group into the shared result.
static void insertGroup(PagedBuilder &p, Value tile, Value shared, Value row,
                        Value firstHead) {
  SmallVector<OpFoldResult> offsets{row, firstHead};
  SmallVector<OpFoldResult> sizes{p.b.getIndexAttr(1)};
  for (int64_t extent : shapeOf(tile))
    sizes.push_back(p.b.getIndexAttr(extent));
  offsets.resize(sizes.size(), p.b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), p.b.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(p.b, p.loc, tile, shared, offsets,
                                        sizes, strides);
}

/// One parallel iteration per row and cache head.
static SmallVector<Value> decomposeForward(OpBuilder &b, Location loc,
                                           const PagedScores &scores,
                                           ValueRange outs, int64_t splits,
                                           LogBase base) {
  PagedBuilder top(b, loc, scores);
  SmallVector<OpFoldResult> bounds{top.e.size(scores.pages.sequenceIds, 0),
                                   b.getIndexAttr(shapeOf(scores.values)[2])};
  auto loop = scf::ForallOp::create(
      b, loc, bounds, outs, std::nullopt,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        PagedBuilder p(nested, nestedLoc, scores);
        Value row = args[0], head = args[1];
        Value sequence = p.load(scores.pages.sequenceIds, row);
        SoftmaxState state =
            attendInSplits(p, p.scoreRows(row, head), sequence, head,
                           p.visible(row, sequence), splits);
        if (scores.sinks)
          state = p.addSinks(state, head);
        SmallVector<Value> tiles{
            finishOutput(p, state, elementTypeOf(outs[0]))};
        if (outs.size() > 1)
          tiles.push_back(finishLse(p, state, base));
        Value firstHead = p.mul(head, p.index(p.group()));
        auto writes = scf::InParallelOp::create(nested, nestedLoc);
        nested.setInsertionPointToStart(writes.getBody());
        for (auto [tile, shared] : llvm::zip_equal(tiles, args.drop_front(2)))
          insertGroup(p, tile, shared, row, firstHead);
      });
  return SmallVector<Value>(loop.getResults());
}

FailureOr<SmallVector<Value>>
PagedAttentionOp::decomposeOperation(OpBuilder &b) {
  return decomposeForward(b, getLoc(), getPagedScores(*this), getOuts(),
                          getNumSplits(), getLseBase());
}

FailureOr<SmallVector<Value>> PagedMlaOp::decomposeOperation(OpBuilder &b) {
  return decomposeForward(b, getLoc(), getPagedScores(*this), getOuts(),
                          getNumSplits(), getLseBase());
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

/// Where a row goes, and 1, or 0 when there is no such place.
namespace {
struct Slot {
  Value page, slot, count;
};
} // namespace

static Slot findSlot(PagedBuilder &p, Value row) {
  const PageOperands &pages = p.scores.pages;
  Value sequence = p.load(pages.sequenceIds, row);
  Value position = p.load(pages.positions, row);
  Value size = p.pageSize();
  Value logical = arith::DivUIOp::create(p.b, p.loc, position, size);
  Value slot = arith::RemUIOp::create(p.b, p.loc, position, size);
  auto below = [&](Value x, Value limit) -> Value {
    return arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult, x,
                                 limit);
  };
  Value inTable =
      arith::AndIOp::create(p.b, p.loc, below(sequence, p.dim(pages.tables, 0)),
                            below(logical, p.dim(pages.tables, 1)));
  Value none = p.pageCount();
  Value page = p.loadIf(inTable, pages.tables, {sequence, logical}, none);
  Value exists = below(page, none);
  Value zero = p.index(0);
  return {arith::SelectOp::create(p.b, p.loc, exists, page, zero),
          arith::SelectOp::create(p.b, p.loc, exists, slot, zero),
          arith::IndexCastUIOp::create(p.b, p.loc, p.b.getIndexType(), exists)};
}

/// Copies row `row` of `rows` [Q,Hkv,D] to its slot; a count of 0 copies none.
static Value writeRow(PagedBuilder &p, Value rows, Value cache, Value row,
                      const Slot &slot) {
  OpFoldResult heads = p.e.size(rows, 1), width = p.e.size(rows, 2);
  OpFoldResult zero = p.b.getIndexAttr(0), one = p.b.getIndexAttr(1);
  OpFoldResult count = slot.count;
  SmallVector<OpFoldResult> strides(4, one);
  Value source = tensor::ExtractSliceOp::create(
      p.b, p.loc, rows, {row, zero, zero}, {count, heads, width},
      ArrayRef(strides).drop_front());
  return tensor::InsertSliceOp::create(p.b, p.loc, source, cache,
                                       {slot.page, slot.slot, zero, zero},
                                       {one, count, heads, width}, strides);
}

FailureOr<SmallVector<Value>> PagedAppendOp::decomposeOperation(OpBuilder &b) {
  // Only the pages and the shape of a cache matter here.
  PagedScores scores;
  scores.values = getOuts()[0];
  scores.pages = getPageOperands(*this);
  PagedBuilder top(b, getLoc(), scores);
  auto loop = scf::ForOp::create(
      b, getLoc(), top.index(0), top.dim(getSequenceIds(), 0), top.index(1),
      getOuts(),
      [&](OpBuilder &nested, Location loc, Value row, ValueRange caches) {
        PagedBuilder p(nested, loc, scores);
        Slot slot = findSlot(p, row);
        SmallVector<Value> written{
            writeRow(p, getNewK(), caches[0], row, slot),
            writeRow(p, getNewV(), caches[1], row, slot)};
        scf::YieldOp::create(nested, loc, written);
      });
  return SmallVector<Value>(loop.getResults());
}
