//===- PagedBackward.cpp - Paged gradients as scf and linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two passes over the batch. The first, one iteration per row and cache head,
// makes the softmax statistics of every row and the gradients that a row owns.
// The second, one iteration per page and cache head, recomputes the
// probabilities of the rows that see the page and sums the gradients of its
// slots in a fixed order: table entries that name the page by (sequence,
// place), rows in the order of the batch, heads of the group.
//
//===----------------------------------------------------------------------===//

#include "PagedBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// What both passes need of the op.
struct Gradients {
  PagedScores scores;
  Value gradOut;
  /// Outs of the row gradients and the score part each belongs to.
  SmallVector<std::pair<Value, unsigned>> rows;
  /// Outs of the history gradients and what they sum.
  struct History {
    Value out;
    std::optional<unsigned> part; // adds ds * rows of this part
    bool values;                  // adds p * grad_out
  };
  SmallVector<History> history;
  Value sinks; // out of the sinks' gradient, or null
};

/// Softmax statistics of every row and query head, f32 [Q,Hq].
struct Statistics {
  Value max; // of the scores and the sink
  Value sum; // of exp(x - max), with the sink
  Value dot; // sum_t p[t] * dp[t]
};

} // namespace

//===----------------------------------------------------------------------===//
// Elementwise pieces, [G,T] with a value per head
//===----------------------------------------------------------------------===//

/// exp(x - max) / sum
static Value probabilities(PagedBuilder &p, Value x, Value max, Value sum) {
  return p.e.map("gt,g,g->gt", {x, max, sum}, p.b.getF32Type(),
                 [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                   Value w = math::ExpOp::create(
                       b, loc, arith::SubFOp::create(b, loc, x[0], x[1]));
                   return arith::DivFOp::create(b, loc, w, x[2]);
                 });
}

/// prob * (dp - dot) * scale * (1 - (x / softcap)^2), written over dp.
static Value scoreGradients(PagedBuilder &p, Value x, Value prob, Value dp,
                            Value dot) {
  double scale = p.scores.scale;
  std::optional<double> softcap = p.scores.softcap;
  return p.e.update(
      "gt,gt,g->gt", {x, prob, dot}, dp,
      [=](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value centred = arith::SubFOp::create(b, loc, x[3], x[2]);
        Value ds = arith::MulFOp::create(b, loc, x[1], centred);
        ds = arith::MulFOp::create(b, loc, ds, f32Const(b, loc, scale));
        if (!softcap)
          return ds;
        Value y =
            arith::DivFOp::create(b, loc, x[0], f32Const(b, loc, *softcap));
        Value slope = arith::SubFOp::create(
            b, loc, f32Const(b, loc, 1.0), arith::MulFOp::create(b, loc, y, y));
        return arith::MulFOp::create(b, loc, ds, slope);
      });
}

//===----------------------------------------------------------------------===//
// First pass: rows
//===----------------------------------------------------------------------===//

/// exp(sink - max), 0 for a sink of -inf, which is no sink.
static Value sinkWeight(OpBuilder &b, Location loc, Value sink, Value max) {
  auto minusInf =
      b.getFloatAttr(b.getF32Type(),
                     APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
  Value none =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sink,
                            arith::ConstantOp::create(b, loc, minusInf));
  Value weight =
      math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, sink, max));
  return arith::SelectOp::create(b, loc, none, f32Const(b, loc, 0.0), weight);
}

/// The statistics of one row and group over its scores x [G,range].
static Statistics rowStatistics(PagedBuilder &p, Value x, Value head) {
  Type f32 = p.b.getF32Type();
  Statistics result;
  result.max = p.e.reduceMax("gt->g", x);
  Value sinks;
  if (p.scores.sinks) {
    sinks = p.groupSinks(head);
    result.max = p.e.map("g,g->g", {result.max, sinks}, f32,
                         [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                           return arith::MaximumFOp::create(b, loc, x[0], x[1]);
                         });
  }
  auto addWeight = [](OpBuilder &b, Location loc, ValueRange x) -> Value {
    Value w =
        math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, x[0], x[1]));
    return arith::AddFOp::create(b, loc, x[2], w);
  };
  result.sum = p.e.reduce("gt,g->g", {x, result.max}, p.b.getF32FloatAttr(0.0),
                          addWeight);
  if (sinks)
    result.sum =
        p.e.update("g,g->g", {sinks, result.max}, result.sum,
                   [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                     return arith::AddFOp::create(
                         b, loc, x[2], sinkWeight(b, loc, x[0], x[1]));
                   });
  return result;
}

/// Writes a tile of one row and group into the shared result.
static void insertRows(PagedBuilder &p, Value tile, Value shared, Value row,
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

static Value round(PagedBuilder &p, Value x, Type type) {
  if (type.isF32())
    return x;
  return p.e.map("ab->ab", x, type,
                 [type](OpBuilder &b, Location loc, ValueRange x) {
                   return fromF32(b, loc, x[0], type);
                 });
}

/// The tiles of one row and group: its gradients, then its statistics.
static SmallVector<Value> rowTiles(PagedBuilder &p, const Gradients &g,
                                   Value row, Value head) {
  Value sequence = p.load(g.scores.pages.sequenceIds, row);
  TokenRange range = p.visible(row, sequence);
  Value x = p.rangeScores(p.scoreRows(row, head), sequence, head, range);
  Statistics statistics = rowStatistics(p, x, head);
  Value prob = probabilities(p, x, statistics.max, statistics.sum);
  Value grad = p.groupSlice(g.gradOut, row, head);
  Value dp = p.forColumns(
      sequence, range,
      [&](PagedBuilder &p, const PagedBuilder::PagePiece &piece, Value slice) {
        Value zero = p.e.filledLike(slice, p.b.getF32FloatAttr(0.0));
        return p.product(grad, g.scores.values, piece, head, zero);
      });
  statistics.dot = p.e.contract("gt,gt->g", prob, dp);
  SmallVector<Value> tiles;
  if (!g.rows.empty()) {
    Value ds = scoreGradients(p, x, prob, dp, statistics.dot);
    for (auto [out, part] : g.rows)
      tiles.push_back(round(
          p,
          p.weightedSum(ds, g.scores.parts[part].cache, sequence, head, range),
          elementTypeOf(out)));
  }
  tiles.append({statistics.max, statistics.sum, statistics.dot});
  return tiles;
}

/// Row gradients and statistics.
static std::pair<SmallVector<Value>, Statistics>
buildRowPass(PagedBuilder &top, const Gradients &g) {
  OpBuilder &b = top.b;
  Value q = g.scores.parts[0].rows;
  OpFoldResult rows = top.e.size(q, 0);
  SmallVector<Value> outs;
  for (auto [out, part] : g.rows)
    outs.push_back(out);
  for (int i = 0; i < 3; ++i)
    outs.push_back(tensor::EmptyOp::create(b, top.loc, {rows, top.e.size(q, 1)},
                                           b.getF32Type()));
  SmallVector<OpFoldResult> bounds{rows,
                                   b.getIndexAttr(shapeOf(g.scores.values)[2])};
  auto loop = scf::ForallOp::create(
      b, top.loc, bounds, outs, std::nullopt,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        PagedBuilder p(nested, loc, g.scores);
        SmallVector<Value> tiles = rowTiles(p, g, args[0], args[1]);
        Value firstHead = p.mul(args[1], p.index(p.group()));
        auto writes = scf::InParallelOp::create(nested, loc);
        nested.setInsertionPointToStart(writes.getBody());
        for (auto [tile, shared] : llvm::zip_equal(tiles, args.drop_front(2)))
          insertRows(p, tile, shared, args[0], firstHead);
      });
  SmallVector<Value> results(loop.getResults());
  Statistics statistics{results.end()[-3], results.end()[-2],
                        results.end()[-1]};
  results.truncate(results.size() - 3);
  return {results, statistics};
}

/// dsinks[h] = -sum_r exp(sinks[h] - max) / sum * dot, in row order.
static Value buildSinkGradient(PagedBuilder &top, const Gradients &g,
                               const Statistics &statistics) {
  Value sum = top.e.reduce(
      "qh,qh,qh,h->h",
      {statistics.max, statistics.sum, statistics.dot, g.scores.sinks},
      top.b.getF32FloatAttr(0.0),
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value weight = sinkWeight(b, loc, toF32(b, loc, x[3]), x[0]);
        Value p = arith::DivFOp::create(b, loc, weight, x[1]);
        Value term = arith::MulFOp::create(b, loc, p, x[2]);
        // Nothing seen and no sink: 0 / 0.
        Value zero = f32Const(b, loc, 0.0);
        Value empty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                            weight, zero);
        term = arith::SelectOp::create(b, loc, empty, zero, term);
        return arith::SubFOp::create(b, loc, x[4], term);
      });
  Type type = elementTypeOf(g.sinks);
  return top.e.map(
      "h->h", sum, type,
      [type](OpBuilder &b, Location loc, ValueRange x) {
        return fromF32(b, loc, x[0], type);
      },
      g.sinks);
}

//===----------------------------------------------------------------------===//
// Inverse index: which table entries name a page, which rows a sequence has
//===----------------------------------------------------------------------===//

namespace {
/// Items grouped by key: items[offsets[key] .. offsets[key + 1]) of each list.
struct Groups {
  Value offsets;
  SmallVector<Value> items;
};
} // namespace

static Value loadIndex(PagedBuilder &p, Value tensor, Value at) {
  return tensor::ExtractOp::create(p.b, p.loc, tensor, at);
}
static Value storeIndex(PagedBuilder &p, Value value, Value tensor, Value at) {
  return tensor::InsertOp::create(p.b, p.loc, value, tensor, at);
}

/// A sequential loop that carries `state`.
static SmallVector<Value> loopOver(
    PagedBuilder &p, Value end, ValueRange state,
    function_ref<SmallVector<Value>(PagedBuilder &, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      p.b, p.loc, p.index(0), end, p.index(1), state,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange args) {
        PagedBuilder inner(nested, loc, p.scores);
        scf::YieldOp::create(nested, loc, body(inner, i, args));
      });
  return SmallVector<Value>(loop.getResults());
}

/// Walks over all items in their final order: calls the visitor with the key
/// and the fields of each, and carries its state.
using ItemVisitor = function_ref<SmallVector<Value>(
    PagedBuilder &, Value key, ArrayRef<Value> fields, ValueRange state)>;
using ItemWalk = function_ref<SmallVector<Value>(
    PagedBuilder &, ValueRange state, ItemVisitor)>;

/// A counting sort of what `walk` visits, at most `most` items: stable, two
/// walks. The lists have room for `most`, which is known without the tables.
static Groups groupByKey(PagedBuilder &p, Value keys, Value most,
                         unsigned fields, ItemWalk walk) {
  OpBuilder &b = p.b;
  TypedAttr zero = b.getIndexAttr(0);
  Value one = p.index(1);
  Value offsets = p.e.filled(OpFoldResult(p.add(keys, one)), zero);
  offsets =
      walk(p, offsets,
           [](PagedBuilder &p, Value key, ArrayRef<Value>,
              ValueRange state) -> SmallVector<Value> {
             Value next = p.add(key, p.index(1));
             Value count = loadIndex(p, state[0], next);
             return {storeIndex(p, p.add(count, p.index(1)), state[0], next)};
           })[0];
  offsets = loopOver(
      p, keys, offsets,
      [](PagedBuilder &p, Value key, ValueRange state) -> SmallVector<Value> {
        Value next = p.add(key, p.index(1));
        Value sum =
            p.add(loadIndex(p, state[0], key), loadIndex(p, state[0], next));
        return {storeIndex(p, sum, state[0], next)};
      })[0];
  // The cursors start where each group starts.
  SmallVector<Value> state{
      p.e.map("k->k", offsets, b.getIndexType(),
              [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                return arith::AddIOp::create(
                    b, loc, x[0], arith::ConstantIndexOp::create(b, loc, 0));
              })};
  for (unsigned i = 0; i < fields; ++i)
    state.push_back(tensor::EmptyOp::create(b, p.loc, OpFoldResult(most),
                                            b.getIndexType()));
  state = walk(p, state,
               [](PagedBuilder &p, Value key, ArrayRef<Value> fields,
                  ValueRange state) -> SmallVector<Value> {
                 Value at = loadIndex(p, state[0], key);
                 SmallVector<Value> next{
                     storeIndex(p, p.add(at, p.index(1)), state[0], key)};
                 for (auto [field, list] :
                      llvm::zip_equal(fields, state.drop_front()))
                   next.push_back(storeIndex(p, field, list, at));
                 return next;
               });
  return {offsets, {state.begin() + 1, state.end()}};
}

/// Table entries by page: (sequence, place) in that order.
static Groups buildLinks(PagedBuilder &p) {
  const PageOperands &pages = p.scores.pages;
  return groupByKey(
      p, p.pageCount(), p.mul(p.dim(pages.tables, 0), p.dim(pages.tables, 1)),
      2, [&](PagedBuilder &p, ValueRange state, ItemVisitor visit) {
        return loopOver(
            p, p.dim(pages.tables, 0), state,
            [&](PagedBuilder &p, Value sequence, ValueRange state) {
              Value need = arith::CeilDivUIOp::create(
                  p.b, p.loc, p.length(sequence), p.pageSize());
              return loopOver(
                  p, need, state,
                  [&](PagedBuilder &p, Value place, ValueRange state) {
                    Value page = p.load(pages.tables, {sequence, place});
                    page = p.min(page, p.sub(p.pageCount(), p.index(1)));
                    return visit(p, page, {sequence, place}, state);
                  });
            });
      });
}

/// Rows by sequence, in the order of the batch; rows of sequences that don't
/// exist come last.
static Groups buildRowLists(PagedBuilder &p) {
  const PageOperands &pages = p.scores.pages;
  Value sequences = p.dim(pages.tables, 0);
  return groupByKey(
      p, p.add(sequences, p.index(1)), p.dim(pages.sequenceIds, 0), 1,
      [&](PagedBuilder &p, ValueRange state, ItemVisitor visit) {
        return loopOver(p, p.dim(pages.sequenceIds, 0), state,
                        [&](PagedBuilder &p, Value row, ValueRange state) {
                          Value sequence =
                              p.min(p.load(pages.sequenceIds, row), sequences);
                          return visit(p, sequence, {row}, state);
                        });
      });
}

/// A loop over one group that carries `state`; the body gets the index of the
/// item in the lists.
static SmallVector<Value> forGroup(
    PagedBuilder &p, const Groups &groups, Value key, ValueRange state,
    function_ref<SmallVector<Value>(PagedBuilder &, Value, ValueRange)> body) {
  Value begin = loadIndex(p, groups.offsets, key);
  Value end = loadIndex(p, groups.offsets, p.add(key, p.index(1)));
  return loopOver(p, p.sub(end, begin), state,
                  [&](PagedBuilder &p, Value i, ValueRange state) {
                    return body(p, p.add(begin, i), state);
                  });
}

//===----------------------------------------------------------------------===//
// Second pass: history
//===----------------------------------------------------------------------===//

/// Row `head` of a [G,X] tensor.
static Value headRow(PagedBuilder &p, Value tensor, Value head) {
  OpFoldResult width = p.e.size(tensor, 1);
  auto type =
      RankedTensorType::get({shapeOf(tensor)[1]}, elementTypeOf(tensor));
  OpFoldResult one = p.b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      p.b, p.loc, type, tensor, {OpFoldResult(head), p.b.getIndexAttr(0)},
      {one, width}, {one, one});
}

/// Statistics [G] of one row and group.
static Value groupStatistic(PagedBuilder &p, Value tensor, Value row,
                            Value head) {
  OpFoldResult one = p.b.getIndexAttr(1);
  auto type = RankedTensorType::get({p.group()}, p.b.getF32Type());
  return tensor::ExtractSliceOp::create(
      p.b, p.loc, type, tensor,
      {OpFoldResult(row), OpFoldResult(p.mul(head, p.index(p.group())))},
      {one, p.b.getIndexAttr(p.group())}, {one, one});
}

/// sums[slot + t] += the terms of one head, one fused multiply-add each.
static Value addTerms(PagedBuilder &p, Value sums, Value slot, Value count,
                      ValueRange weightsAndRows) {
  OpFoldResult one = p.b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{slot, p.b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{count, p.e.size(sums, 1)};
  SmallVector<OpFoldResult> strides{one, one};
  Value old =
      tensor::ExtractSliceOp::create(p.b, p.loc, sums, offsets, sizes, strides);
  StringRef spec = weightsAndRows.size() == 2 ? "t,d->td" : "t,d,t,d->td";
  Value updated = p.e.update(
      spec, weightsAndRows, old, [](OpBuilder &b, Location loc, ValueRange x) {
        Value sum = x.back();
        for (unsigned i = 0; i + 1 < x.size(); i += 2)
          sum = math::FmaOp::create(b, loc, x[i], toF32(b, loc, x[i + 1]), sum);
        return sum;
      });
  return tensor::InsertSliceOp::create(p.b, p.loc, updated, sums, offsets,
                                       sizes, strides);
}

/// What row `row` adds to the sums of the page at `place` of its table.
static SmallVector<Value> addRow(PagedBuilder &p, const Gradients &g,
                                 const Statistics &statistics, Value page,
                                 Value sequence, Value place, Value row,
                                 Value head, ValueRange sums) {
  TokenRange range = p.visible(row, sequence);
  Value size = p.pageSize(), start = p.mul(place, size);
  Value lo = p.max(start, range.lo);
  Value hi = p.max(lo, p.min(p.add(start, size), range.hi));
  Value none =
      arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq, lo, hi);
  // Beyond the page there is no slot to name.
  Value slot =
      arith::SelectOp::create(p.b, p.loc, none, p.index(0), p.sub(lo, start));
  // Never more than a page, which bounds what a kernel needs for it.
  PagedBuilder::PagePiece piece{page, slot, lo, p.min(p.sub(hi, lo), size)};

  OpFoldResult heads = p.b.getIndexAttr(p.group());
  auto empty = [&]() -> Value {
    return tensor::EmptyOp::create(
        p.b, p.loc, {heads, OpFoldResult(piece.count)}, p.b.getF32Type());
  };
  SmallVector<Value> rows = p.scoreRows(row, head);
  Value grad = p.groupSlice(g.gradOut, row, head);
  Value x = p.pieceScores(rows, piece, head, empty());
  Value prob = probabilities(p, x, groupStatistic(p, statistics.max, row, head),
                             groupStatistic(p, statistics.sum, row, head));
  bool needScores = llvm::any_of(g.history, [](const Gradients::History &h) {
    return h.part.has_value();
  });
  Value ds;
  if (needScores) {
    Value dp = p.product(grad, g.scores.values, piece, head,
                         p.e.filledLike(empty(), p.b.getF32FloatAttr(0.0)));
    ds = scoreGradients(p, x, prob, dp,
                        groupStatistic(p, statistics.dot, row, head));
  }
  return loopOver(
      p, p.index(p.group()), sums,
      [&](PagedBuilder &p, Value member, ValueRange sums) {
        SmallVector<Value> next;
        for (auto [history, sum] : llvm::zip_equal(g.history, sums)) {
          SmallVector<Value> terms;
          if (history.part)
            terms.append({headRow(p, ds, member),
                          headRow(p, rows[*history.part], member)});
          if (history.values)
            terms.append({headRow(p, prob, member), headRow(p, grad, member)});
          next.push_back(addTerms(p, sum, piece.slot, piece.count, terms));
        }
        return next;
      });
}

/// The gradients of the slots of one page and cache head, f32 [page_size,X].
static SmallVector<Value> pageSums(PagedBuilder &p, const Gradients &g,
                                   const Statistics &statistics,
                                   const Groups &links, const Groups &rowLists,
                                   Value page, Value head) {
  SmallVector<Value> sums;
  for (const Gradients::History &history : g.history)
    sums.push_back(
        p.e.filled({p.e.size(g.scores.values, 1), p.e.size(history.out, 3)},
                   p.b.getF32FloatAttr(0.0)));
  return forGroup(
      p, links, page, sums, [&](PagedBuilder &p, Value link, ValueRange sums) {
        Value sequence = loadIndex(p, links.items[0], link);
        Value place = loadIndex(p, links.items[1], link);
        return forGroup(p, rowLists, sequence, sums,
                        [&](PagedBuilder &p, Value item, ValueRange sums) {
                          Value row = loadIndex(p, rowLists.items[0], item);
                          return addRow(p, g, statistics, page, sequence, place,
                                        row, head, sums);
                        });
      });
}

static SmallVector<Value> buildHistoryPass(PagedBuilder &top,
                                           const Gradients &g,
                                           const Statistics &statistics) {
  OpBuilder &b = top.b;
  Groups links = buildLinks(top), rowLists = buildRowLists(top);
  SmallVector<Value> outs;
  for (const Gradients::History &history : g.history)
    outs.push_back(history.out);
  SmallVector<OpFoldResult> bounds{top.e.size(g.scores.values, 0),
                                   b.getIndexAttr(shapeOf(g.scores.values)[2])};
  auto loop = scf::ForallOp::create(
      b, top.loc, bounds, outs, std::nullopt,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        PagedBuilder p(nested, loc, g.scores);
        SmallVector<Value> sums =
            pageSums(p, g, statistics, links, rowLists, args[0], args[1]);
        for (auto [sum, out] : llvm::zip_equal(sums, outs))
          sum = round(p, sum, elementTypeOf(out));
        OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
        OpFoldResult size = p.e.size(g.scores.values, 1);
        auto writes = scf::InParallelOp::create(nested, loc);
        nested.setInsertionPointToStart(writes.getBody());
        for (auto [sum, shared] : llvm::zip_equal(sums, args.drop_front(2))) {
          OpFoldResult width = b.getIndexAttr(shapeOf(sum)[1]);
          SmallVector<OpFoldResult> strides(4, one);
          tensor::ParallelInsertSliceOp::create(
              nested, loc, sum, shared,
              {OpFoldResult(args[0]), zero, OpFoldResult(args[1]), zero},
              {one, size, one, width}, strides);
        }
      });
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

/// The gradients of an op, in the order of its outs.
template <typename OpTy>
static SmallVector<Value> decomposeBackward(OpTy op, OpBuilder &b) {
  Gradients g{getPagedScores(op), op.getGradOut(), {}, {}, {}};
  for (auto [gradient, out] :
       llvm::zip_equal(op.getGradientList(), op.getOuts())) {
    switch (gradient) {
    case PagedGradients::Dq:
      g.rows.push_back({out, 0});
      break;
    case PagedGradients::Dqp:
      g.rows.push_back({out, 1});
      break;
    case PagedGradients::Dk:
      g.history.push_back({out, 0, false});
      break;
    case PagedGradients::Dv:
      g.history.push_back({out, std::nullopt, true});
      break;
    case PagedGradients::Dlatent:
      g.history.push_back({out, 0, true});
      break;
    case PagedGradients::Dkp:
      g.history.push_back({out, 1, false});
      break;
    case PagedGradients::Dsinks:
      g.sinks = out;
      break;
    }
  }
  PagedBuilder top(b, op.getLoc(), g.scores);
  auto [results, statistics] = buildRowPass(top, g);
  if (!g.history.empty())
    llvm::append_range(results, buildHistoryPass(top, g, statistics));
  if (g.sinks)
    results.push_back(buildSinkGradient(top, g, statistics));
  return results;
}

FailureOr<SmallVector<Value>>
PagedAttentionBackwardOp::decomposeOperation(OpBuilder &b) {
  return decomposeBackward(*this, b);
}

FailureOr<SmallVector<Value>>
PagedMlaBackwardOp::decomposeOperation(OpBuilder &b) {
  return decomposeBackward(*this, b);
}
