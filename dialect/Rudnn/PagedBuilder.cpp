//===- PagedBuilder.cpp - Pieces of paged decompositions -*- C++ -*-===//
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
// Index arithmetic
//===----------------------------------------------------------------------===//

Value PagedBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value PagedBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value PagedBuilder::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value PagedBuilder::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}
Value PagedBuilder::min(Value x, Value y) {
  return arith::MinUIOp::create(b, loc, x, y);
}
Value PagedBuilder::max(Value x, Value y) {
  return arith::MaxUIOp::create(b, loc, x, y);
}

Value PagedBuilder::dim(Value tensor, int64_t dim) {
  return getValueOrCreateConstantIndexOp(b, loc, e.size(tensor, dim));
}

Value PagedBuilder::load(Value tensor, ValueRange indices) {
  Value word = tensor::ExtractOp::create(b, loc, tensor, indices);
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), word);
}

Value PagedBuilder::loadIf(Value inside, Value tensor, ValueRange indices,
                           Value otherwise) {
  auto guarded = scf::IfOp::create(
      b, loc, inside,
      [&](OpBuilder &nested, Location nestedLoc) {
        PagedBuilder p(nested, nestedLoc, scores);
        scf::YieldOp::create(nested, nestedLoc, p.load(tensor, indices));
      },
      [&](OpBuilder &nested, Location nestedLoc) {
        scf::YieldOp::create(nested, nestedLoc, otherwise);
      });
  return guarded.getResult(0);
}

//===----------------------------------------------------------------------===//
// Visibility
//===----------------------------------------------------------------------===//

Value PagedBuilder::length(Value sequence) {
  const PageOperands &pages = scores.pages;
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                       sequence, dim(pages.tables, 0));
  Value zero = index(0);
  Value length = loadIf(exists, pages.lengths, sequence, zero);
  // A length beyond the table, or a cache without pages, can't be read.
  Value hasPages = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                         pageCount(), zero);
  Value capacity = mul(dim(pages.tables, 1), pageSize());
  capacity = arith::SelectOp::create(b, loc, hasPages, capacity, zero);
  return min(length, capacity);
}

TokenRange PagedBuilder::visible(Value row, Value sequence) {
  TokenRange range{index(0), length(sequence)};
  if (!scores.causal && !scores.windowLeft && !scores.windowRight)
    return range;
  Value position = load(scores.pages.positions, row);
  // Causal is a right window of 0.
  if (scores.causal || scores.windowRight) {
    int64_t right = scores.causal ? 0 : *scores.windowRight;
    range.hi = min(range.hi, add(position, index(right + 1)));
  }
  if (scores.windowLeft) {
    Value left = index(*scores.windowLeft);
    range.lo = min(sub(max(position, left), left), range.hi);
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Value PagedBuilder::groupSlice(Value tensor, Value row, Value head) {
  int64_t heads = group(), width = shapeOf(tensor)[2];
  Type type = RankedTensorType::get({heads, width}, elementTypeOf(tensor));
  SmallVector<OpFoldResult> offsets{row, mul(head, index(heads)),
                                    b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), b.getIndexAttr(heads),
                                  b.getIndexAttr(width)};
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, cast<RankedTensorType>(type),
                                        tensor, offsets, sizes, strides);
}

Value PagedBuilder::tokenSlice(Value cache, Value page, Value slot, Value count,
                               Value head) {
  int64_t width = shapeOf(cache)[3];
  auto type = RankedTensorType::get({ShapedType::kDynamic, width},
                                    elementTypeOf(cache));
  SmallVector<OpFoldResult> offsets{page, slot, head, b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), count, b.getIndexAttr(1),
                                  b.getIndexAttr(width)};
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, type, cache, offsets, sizes,
                                        strides);
}

SmallVector<Value> PagedBuilder::scoreRows(Value row, Value head) {
  SmallVector<Value> rows;
  for (const PagedScores::Part &part : scores.parts)
    rows.push_back(groupSlice(part.rows, row, head));
  return rows;
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

SmallVector<Value> PagedBuilder::forPages(Value sequence, TokenRange range,
                                          ValueRange init, PageBody body) {
  Value size = pageSize();
  Value first = arith::DivUIOp::create(b, loc, range.lo, size);
  Value end = arith::CeilDivUIOp::create(b, loc, range.hi, size);
  auto loop = scf::ForOp::create(
      b, loc, first, end, index(1), init,
      [&](OpBuilder &nested, Location nestedLoc, Value page, ValueRange args) {
        PagedBuilder p(nested, nestedLoc, scores);
        Value start = p.mul(page, size);
        Value token = p.max(start, range.lo);
        Value tokenEnd = p.min(p.add(start, size), range.hi);
        Value id = p.load(scores.pages.tables, {sequence, page});
        // range.hi > 0, so there is a last page.
        id = p.min(id, p.sub(p.pageCount(), p.index(1)));
        PagePiece piece{id, p.sub(token, start), token, p.sub(tokenEnd, token)};
        scf::YieldOp::create(nested, nestedLoc, body(p, piece, args));
      });
  return SmallVector<Value>(loop.getResults());
}

Value PagedBuilder::product(Value rows, Value cache, const PagePiece &piece,
                            Value head, Value init) {
  Value tokens = tokenSlice(cache, piece.page, piece.slot, piece.count, head);
  return e.contract("gd,td->gt", rows, tokens, init);
}

Value PagedBuilder::pieceScores(ValueRange rows, const PagePiece &piece,
                                Value head, Value init) {
  Value sum = e.filledLike(init, b.getF32FloatAttr(0.0));
  for (auto [part, row] : llvm::zip_equal(scores.parts, rows))
    sum = product(row, part.cache, piece, head, sum);
  double scale = scores.scale;
  std::optional<double> softcap = scores.softcap;
  return e.update(
      "->gt", {}, sum, [=](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value s = arith::MulFOp::create(b, loc, x[0], f32Const(b, loc, scale));
        if (!softcap)
          return s;
        s = arith::DivFOp::create(b, loc, s, f32Const(b, loc, *softcap));
        s = math::TanhOp::create(b, loc, s);
        return arith::MulFOp::create(b, loc, s, f32Const(b, loc, *softcap));
      });
}

/// Columns [token - lo, count) of a [G,range] tensor.
static void rangeColumns(PagedBuilder &p, TokenRange range,
                         const PagedBuilder::PagePiece &piece,
                         SmallVectorImpl<OpFoldResult> &offsets,
                         SmallVectorImpl<OpFoldResult> &sizes) {
  offsets.assign({p.b.getIndexAttr(0), p.sub(piece.token, range.lo)});
  sizes.assign({p.b.getIndexAttr(p.group()), piece.count});
}

Value PagedBuilder::forColumns(Value sequence, TokenRange range,
                               ColumnBody body) {
  Value all = tensor::EmptyOp::create(
      b, loc, {b.getIndexAttr(group()), OpFoldResult(sub(range.hi, range.lo))},
      b.getF32Type());
  return forPages(
      sequence, range, all,
      [&](PagedBuilder &p, PagePiece piece,
          ValueRange args) -> SmallVector<Value> {
        SmallVector<OpFoldResult> offsets, sizes;
        rangeColumns(p, range, piece, offsets, sizes);
        SmallVector<OpFoldResult> strides(2, p.b.getIndexAttr(1));
        Value slice = tensor::ExtractSliceOp::create(p.b, p.loc, args[0],
                                                     offsets, sizes, strides);
        Value computed = body(p, piece, slice);
        return {tensor::InsertSliceOp::create(p.b, p.loc, computed, args[0],
                                              offsets, sizes, strides)};
      })[0];
}

Value PagedBuilder::rangeScores(ValueRange rows, Value sequence, Value head,
                                TokenRange range) {
  return forColumns(sequence, range,
                    [&](PagedBuilder &p, const PagePiece &piece, Value slice) {
                      return p.pieceScores(rows, piece, head, slice);
                    });
}

Value PagedBuilder::weightedSum(Value weights, Value cache, Value sequence,
                                Value head, TokenRange range) {
  Value sum =
      e.filled({b.getIndexAttr(group()), b.getIndexAttr(shapeOf(cache)[3])},
               b.getF32FloatAttr(0.0));
  return forPages(sequence, range, sum,
                  [&](PagedBuilder &p, PagePiece piece,
                      ValueRange args) -> SmallVector<Value> {
                    SmallVector<OpFoldResult> offsets, sizes;
                    rangeColumns(p, range, piece, offsets, sizes);
                    SmallVector<OpFoldResult> strides(2, p.b.getIndexAttr(1));
                    Value w = tensor::ExtractSliceOp::create(
                        p.b, p.loc, weights, offsets, sizes, strides);
                    Value tokens = p.tokenSlice(cache, piece.page, piece.slot,
                                                piece.count, head);
                    return {p.e.contract("gt,td->gd", w, tokens, args[0])};
                  })[0];
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

SoftmaxState PagedBuilder::attend(ValueRange rows, Value sequence, Value head,
                                  TokenRange range) {
  Value x = rangeScores(rows, sequence, head, range);
  Value max = e.reduceMax("gt->g", x);
  Value weights = e.update(
      "g->gt", max, x, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return math::ExpOp::create(b, loc,
                                   arith::SubFOp::create(b, loc, x[1], x[0]));
      });
  Value sum = e.reduceSum("gt->g", weights);
  return {max, sum, weightedSum(weights, scores.values, sequence, head, range)};
}

SoftmaxState PagedBuilder::emptyState() {
  OpFoldResult heads = b.getIndexAttr(group());
  auto minusInf =
      b.getFloatAttr(b.getF32Type(),
                     APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
  FloatAttr zero = b.getF32FloatAttr(0.0);
  return {e.filled(heads, minusInf), e.filled(heads, zero),
          e.filled({heads, b.getIndexAttr(valueWidth())}, zero)};
}

/// What weights of a state with `sum` and `max` are multiplied by beside
/// another state: sum == 0 ? 0 : exp(max - maximum(max, otherMax)).
static Value rescale(OpBuilder &b, Location loc, Value sum, Value max,
                     Value otherMax) {
  Value zero = f32Const(b, loc, 0.0);
  Value empty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value both = arith::MaximumFOp::create(b, loc, max, otherMax);
  Value factor =
      math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, max, both));
  return arith::SelectOp::create(b, loc, empty, zero, factor);
}

SoftmaxState PagedBuilder::merge(const SoftmaxState &state,
                                 const SoftmaxState &part) {
  Type f32 = b.getF32Type();
  auto factor = [&](const SoftmaxState &side, const SoftmaxState &other) {
    return e.map("g,g,g->g", {side.sum, side.max, other.max}, f32,
                 [](OpBuilder &b, Location loc, ValueRange x) {
                   return rescale(b, loc, x[0], x[1], x[2]);
                 });
  };
  Value left = factor(state, part), right = factor(part, state);
  auto blend = [](OpBuilder &b, Location loc, ValueRange x) -> Value {
    Value old = arith::MulFOp::create(b, loc, x[3], x[0]);
    return math::FmaOp::create(b, loc, x[1], x[2], old);
  };
  // Written over the old state, so that a loop carries one buffer. An empty
  // part has maximum -inf.
  Value max = e.update("g->g", part.max, state.max,
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         return arith::MaximumFOp::create(b, loc, x[1], x[0]);
                       });
  Value sum = e.update("g,g,g->g", {left, part.sum, right}, state.sum, blend);
  Value acc = e.update("g,gd,g->gd", {left, part.acc, right}, state.acc, blend);
  return {max, sum, acc};
}

Value PagedBuilder::groupSinks(Value head) {
  int64_t heads = group();
  Value sinks = tensor::ExtractSliceOp::create(
      b, loc, scores.sinks, {OpFoldResult(mul(head, index(heads)))},
      {b.getIndexAttr(heads)}, {b.getIndexAttr(1)});
  return e.map("g->g", sinks, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) {
                 return toF32(b, loc, x[0]);
               });
}

SoftmaxState PagedBuilder::addSinks(const SoftmaxState &state, Value head) {
  // A sink is a token with weight 1 and value 0; one of -inf is no token.
  Type f32 = b.getF32Type();
  SoftmaxState sink;
  sink.max = groupSinks(head);
  sink.sum = e.map(
      "g->g", sink.max, f32,
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        auto minusInf = b.getFloatAttr(b.getF32Type(),
                                       APFloat::getInf(APFloat::IEEEsingle(),
                                                       /*Negative=*/true));
        Value none =
            arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[0],
                                  arith::ConstantOp::create(b, loc, minusInf));
        return arith::SelectOp::create(b, loc, none, f32Const(b, loc, 0.0),
                                       f32Const(b, loc, 1.0));
      });
  sink.acc = e.filledLike(state.acc, b.getF32FloatAttr(0.0));
  return merge(state, sink);
}
