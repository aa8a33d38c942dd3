//===- PagedOps.cpp - Verifiers and folds of the paged attention ops -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedCanonicalize.h"
#include "PagedClauses.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/PagedOps.cpp.inc"

void RudnnDialect::registerPagedOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/PagedOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// paged.attention
//===----------------------------------------------------------------------===//

/// What the forward and the backward op of one kind have in common.
template <typename OpTy>
static void addScoreAttributes(OpTy op, PagedScores &scores) {
  scores.pages = getPageOperands(op);
  scores.causal = op.getCausal();
  if (std::optional<APFloat> softcap = op.getSoftcap())
    scores.softcap = softcap->convertToDouble();
  scores.windowLeft = op.getWindowLeft();
  scores.windowRight = op.getWindowRight();
}

template <typename OpTy>
static PagedScores groupedScores(OpTy op) {
  PagedScores scores;
  scores.parts.push_back({op.getQ(), op.getK()});
  scores.values = op.getV();
  scores.sinks = op.getSinks();
  std::optional<APFloat> scale = op.getScale();
  double head = shapeOf(op.getQ())[2];
  scores.scale = scale ? scale->convertToDouble() : 1.0 / std::sqrt(head);
  addScoreAttributes(op, scores);
  return scores;
}

template <typename OpTy>
static PagedScores latentScores(OpTy op) {
  PagedScores scores;
  scores.parts.push_back({op.getQ(), op.getLatent()});
  scores.parts.push_back({op.getQp(), op.getKp()});
  scores.values = op.getLatent();
  scores.scale = op.getScale().convertToDouble();
  addScoreAttributes(op, scores);
  return scores;
}

PagedScores rudnn::getPagedScores(PagedAttentionOp op) {
  return groupedScores(op);
}
PagedScores rudnn::getPagedScores(PagedAttentionBackwardOp op) {
  return groupedScores(op);
}
PagedScores rudnn::getPagedScores(PagedMlaOp op) { return latentScores(op); }
PagedScores rudnn::getPagedScores(PagedMlaBackwardOp op) {
  return latentScores(op);
}

LogicalResult PagedAttentionOp::verify() {
  PagedClauses c{*this, "paged_attention"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 1, 2)) ||
      failed(c.rank(2, "q", getQ(), 3)) || failed(c.rank(2, "k", getK(), 4)) ||
      failed(c.rank(2, "v", getV(), 4)) || failed(c.pageRanks(2, pages)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ()), k = shapeOf(getK()),
                    v = shapeOf(getV());
  if (failed(c.extent(3, "Hq (dim 1 of q)", q[1])) ||
      failed(c.extent(3, "D (dim 2 of q)", q[2], 1024)) ||
      failed(c.extent(3, "Hkv (dim 2 of k)", k[2])) ||
      failed(c.extent(3, "Dv (dim 3 of v)", v[3], 1024)) ||
      failed(c.groups(4, q[1], k[2])) ||
      failed(c.shape(5, "k", getK(), {k[0], k[1], k[2], q[2]})) ||
      failed(c.shape(5, "v", getV(), {k[0], k[1], k[2], v[3]})) ||
      failed(c.pageSize(5, "k", getK())))
    return failure();
  Type type = elementTypeOf(getQ());
  Value out = getOuts()[0];
  if (failed(c.type(6, "k", getK(), type)) ||
      failed(c.type(6, "v", getV(), type)) ||
      failed(c.type(6, "out", out, type)) ||
      failed(c.pageShapes(7, pages, q[0])) ||
      failed(c.shape(8, "out", out, {q[0], q[1], v[3]})))
    return failure();
  if (Value lse = getLseOut())
    if (failed(c.shape(9, "lse", lse, {q[0], q[1]})) ||
        failed(c.type(9, "lse", lse, Float32Type::get(getContext()))))
      return failure();
  if (failed(c.positive(10, "scale", getScale())) ||
      failed(c.positive(11, "softcap", getSoftcap())) ||
      failed(c.window(12, "window_left", getWindowLeft())) ||
      failed(c.window(12, "window_right", getWindowRight())))
    return failure();
  if (Value sinks = getSinks())
    if (failed(c.shape(13, "sinks", sinks, {q[1]})) ||
        failed(verifyF32Or(*this, c.label(13), "sinks", sinks, type)))
      return failure();
  if (failed(c.splits(14, getNumSplits())))
    return failure();
  return c.lseBase(15, getLseBase(), getLseOut());
}

namespace {
/// An lse that nobody reads is not computed.
template <typename OpTy>
struct DropDeadLse : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 2 || !op->getResult(1).use_empty())
      return failure();
    // The lse is the last out, and the outs are the last operands.
    Value lse = op.getOuts()[1];
    SmallVector<Value> operands(op->getOperands().drop_back());
    auto lighter = cast<OpTy>(mlir::clone(
        rewriter, op, TypeRange{op->getResult(0).getType()}, operands));
    if constexpr (OpTy::template hasTrait<OpTrait::AttrSizedOperandSegments>())
      lighter.getProperties().operandSegmentSizes.back() = 1;
    lighter.setLseBase(LogBase::E);
    rewriter.replaceOp(op, {lighter->getResult(0), lse});
    return success();
  }
};
} // namespace

void PagedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  patterns.add<DropDeadLse<PagedAttentionOp>, DropDefaults<PagedAttentionOp>>(
      context);
}

//===----------------------------------------------------------------------===//
// paged.mla
//===----------------------------------------------------------------------===//

LogicalResult PagedMlaOp::verify() {
  PagedClauses c{*this, "paged_mla"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 1, 2)) ||
      failed(c.latent(2, getQ(), getQp(), getLatent(), getKp(), pages)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  Type type = elementTypeOf(getQ());
  Value out = getOuts()[0];
  if (failed(c.latentTypes(6, getQ(), getQp(), getLatent(), getKp())) ||
      failed(c.type(6, "out", out, type)) ||
      failed(c.pageShapes(7, pages, q[0])) || failed(c.shape(8, "out", out, q)))
    return failure();
  if (Value lse = getLseOut())
    if (failed(c.shape(9, "lse", lse, {q[0], q[1]})) ||
        failed(c.type(9, "lse", lse, Float32Type::get(getContext()))))
      return failure();
  if (failed(c.positive(10, "scale", getScale())) ||
      failed(c.positive(11, "softcap", getSoftcap())) ||
      failed(c.window(12, "window_left", getWindowLeft())) ||
      failed(c.window(12, "window_right", getWindowRight())) ||
      failed(c.splits(13, getNumSplits())))
    return failure();
  return c.lseBase(14, getLseBase(), getLseOut());
}

void PagedMlaOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<DropDeadLse<PagedMlaOp>, DropDefaults<PagedMlaOp>>(context);
}

//===----------------------------------------------------------------------===//
// paged.append
//===----------------------------------------------------------------------===//

LogicalResult PagedAppendOp::verify() {
  PagedClauses c{*this, "paged_append"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 2, 2)))
    return failure();
  Value kCache = getOuts()[0], vCache = getOuts()[1];
  if (failed(c.rank(2, "new_k", getNewK(), 3)) ||
      failed(c.rank(2, "new_v", getNewV(), 3)) ||
      failed(c.rank(2, "the key cache", kCache, 4)) ||
      failed(c.rank(2, "the value cache", vCache, 4)) ||
      failed(c.pageRanks(2, pages)))
    return failure();
  ArrayRef<int64_t> k = shapeOf(getNewK()), v = shapeOf(getNewV()),
                    cache = shapeOf(kCache);
  for (auto [name, extent] : {std::pair("Hkv (dim 1 of new_k)", k[1]),
                              std::pair("D (dim 2 of new_k)", k[2]),
                              std::pair("Dv (dim 2 of new_v)", v[2])})
    if (ShapedType::isDynamic(extent))
      return c.error(3) << name << " is dynamic, expected a static extent";
  if (failed(c.shape(4, "new_v", getNewV(), {k[0], k[1], v[2]})) ||
      failed(c.shape(5, "the key cache", kCache,
                     {cache[0], cache[1], k[1], k[2]})) ||
      failed(c.shape(5, "the value cache", vCache,
                     {cache[0], cache[1], k[1], v[2]})) ||
      failed(c.pageSize(5, "the key cache", kCache)) ||
      failed(c.pageSize(5, "the value cache", vCache)))
    return failure();
  Type type = elementTypeOf(getNewK());
  if (failed(c.type(6, "new_v", getNewV(), type)) ||
      failed(c.type(6, "the key cache", kCache, type)) ||
      failed(c.type(6, "the value cache", vCache, type)))
    return failure();
  return c.pageShapes(7, pages, k[0]);
}

namespace {
/// Nothing to write: the caches are the results.
struct FoldEmptyAppend : OpRewritePattern<PagedAppendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PagedAppendOp op,
                                PatternRewriter &rewriter) const override {
    auto isEmpty = [](Value rows) {
      return llvm::is_contained(shapeOf(rows), 0);
    };
    if (!isEmpty(op.getNewK()) || !isEmpty(op.getNewV()))
      return failure();
    if (op->getNumResults())
      rewriter.replaceOp(op, op.getOuts());
    else
      rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void PagedAppendOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<FoldEmptyAppend>(context);
}
