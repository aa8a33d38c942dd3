//===- PagedBackwardOps.cpp - Verifiers of the paged gradients -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedCanonicalize.h"
#include "PagedClauses.h"

using namespace mlir;
using namespace rudnn;

/// Every gradient there is, in the order of the outs.
static constexpr PagedGradients kAllGradients[] = {
    PagedGradients::Dq,    PagedGradients::Dqp,     PagedGradients::Dk,
    PagedGradients::Dv,    PagedGradients::Dlatent, PagedGradients::Dkp,
    PagedGradients::Dsinks};

static SmallVector<PagedGradients> listGradients(PagedGradients set) {
  SmallVector<PagedGradients> list;
  for (PagedGradients gradient : kAllGradients)
    if (bitEnumContainsAny(set, gradient))
      list.push_back(gradient);
  return list;
}

/// `gradients` is a non-empty subset of `allowed` and has one out each, with
/// the shape and type of its source.
template <typename OpTy>
static LogicalResult verifyGradients(OpTy op, const PagedClauses &c,
                                     int setClause, int outClause,
                                     PagedGradients allowed) {
  PagedGradients set = op.getGradients();
  if (set == PagedGradients(0) || bitEnumContainsAny(set, ~allowed))
    return c.error(setClause)
           << "gradients is "
           << (set == PagedGradients(0) ? "empty"
                                        : stringifyPagedGradients(set))
           << ", expected one or more of " << stringifyPagedGradients(allowed);
  SmallVector<PagedGradients> list = listGradients(set);
  if (list.size() != op.getOuts().size())
    return c.error(setClause)
           << "has " << op.getOuts().size() << " outs, expected " << list.size()
           << " for gradients " << stringifyPagedGradients(set);
  for (auto [gradient, out] : llvm::zip_equal(list, op.getOuts())) {
    Value source = op.getGradientSource(gradient);
    // dsinks without sinks is reported by a clause of its own.
    if (!source)
      continue;
    std::string name = stringifyPagedGradients(gradient);
    if (failed(c.shape(outClause, name, out, shapeOf(source))) ||
        failed(c.type(outClause, name, out, elementTypeOf(source))))
      return failure();
  }
  return success();
}

namespace {
/// A gradient that nobody reads is not computed.
template <typename OpTy>
struct DropDeadGradients : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op->getNumResults() || op->use_empty() ||
        llvm::none_of(op->getResults(),
                      [](Value result) { return result.use_empty(); }))
      return failure();
    // The outs are the last operands.
    SmallVector<Value> operands(
        op->getOperands().drop_back(op.getOuts().size()));
    PagedGradients kept = PagedGradients(0);
    SmallVector<Type> types;
    for (auto [gradient, result, out] : llvm::zip_equal(
             op.getGradientList(), op->getResults(), op.getOuts())) {
      if (result.use_empty())
        continue;
      kept = kept | gradient;
      types.push_back(result.getType());
      operands.push_back(out);
    }
    auto lighter = cast<OpTy>(mlir::clone(rewriter, op, types, operands));
    lighter.setGradients(kept);
    if constexpr (OpTy::template hasTrait<OpTrait::AttrSizedOperandSegments>())
      lighter.getProperties().operandSegmentSizes.back() = types.size();
    SmallVector<Value> values(op.getOuts());
    unsigned next = 0;
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (!result.use_empty())
        values[index] = lighter->getResult(next++);
    rewriter.replaceOp(op, values);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// paged.attention_backward
//===----------------------------------------------------------------------===//

SmallVector<PagedGradients> PagedAttentionBackwardOp::getGradientList() {
  return listGradients(getGradients());
}

Value PagedAttentionBackwardOp::getGradientSource(PagedGradients gradient) {
  switch (gradient) {
  case PagedGradients::Dq:
    return getQ();
  case PagedGradients::Dk:
    return getK();
  case PagedGradients::Dv:
    return getV();
  case PagedGradients::Dsinks:
    return getSinks();
  default:
    return Value();
  }
}

LogicalResult PagedAttentionBackwardOp::verify() {
  PagedClauses c{*this, "paged_attention_backward"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 0, 4)) ||
      failed(c.rank(2, "q", getQ(), 3)) || failed(c.rank(2, "k", getK(), 4)) ||
      failed(c.rank(2, "v", getV(), 4)) ||
      failed(c.rank(2, "grad_out", getGradOut(), 3)) ||
      failed(c.pageRanks(2, pages)))
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
      failed(c.pageSize(5, "k", getK())) ||
      failed(c.shape(5, "grad_out", getGradOut(), {q[0], q[1], v[3]})))
    return failure();
  Type type = elementTypeOf(getQ());
  using G = PagedGradients;
  if (failed(c.type(6, "k", getK(), type)) ||
      failed(c.type(6, "v", getV(), type)) ||
      failed(c.type(6, "grad_out", getGradOut(), type)) ||
      failed(c.pageShapes(7, pages, q[0])) ||
      failed(
          verifyGradients(*this, c, 8, 9, G::Dq | G::Dk | G::Dv | G::Dsinks)) ||
      failed(c.positive(10, "scale", getScale())) ||
      failed(c.positive(11, "softcap", getSoftcap())) ||
      failed(c.window(12, "window_left", getWindowLeft())) ||
      failed(c.window(12, "window_right", getWindowRight())))
    return failure();
  if (Value sinks = getSinks())
    return success(
        succeeded(c.shape(13, "sinks", sinks, {q[1]})) &&
        succeeded(verifyF32Or(*this, c.label(13), "sinks", sinks, type)));
  if (bitEnumContainsAny(getGradients(), G::Dsinks))
    return c.error(13) << "gradients has dsinks but there are no sinks";
  return success();
}

void PagedAttentionBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropDeadGradients<PagedAttentionBackwardOp>,
               DropDefaults<PagedAttentionBackwardOp>>(context);
}

//===----------------------------------------------------------------------===//
// paged.mla_backward
//===----------------------------------------------------------------------===//

SmallVector<PagedGradients> PagedMlaBackwardOp::getGradientList() {
  return listGradients(getGradients());
}

Value PagedMlaBackwardOp::getGradientSource(PagedGradients gradient) {
  switch (gradient) {
  case PagedGradients::Dq:
    return getQ();
  case PagedGradients::Dqp:
    return getQp();
  case PagedGradients::Dlatent:
    return getLatent();
  case PagedGradients::Dkp:
    return getKp();
  default:
    return Value();
  }
}

LogicalResult PagedMlaBackwardOp::verify() {
  PagedClauses c{*this, "paged_mla_backward"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 0, 4)) ||
      failed(c.rank(2, "grad_out", getGradOut(), 3)) ||
      failed(c.latent(2, getQ(), getQp(), getLatent(), getKp(), pages)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ());
  Type type = elementTypeOf(getQ());
  using G = PagedGradients;
  if (failed(c.shape(5, "grad_out", getGradOut(), q)) ||
      failed(c.latentTypes(6, getQ(), getQp(), getLatent(), getKp())) ||
      failed(c.type(6, "grad_out", getGradOut(), type)) ||
      failed(c.pageShapes(7, pages, q[0])) ||
      failed(verifyGradients(*this, c, 8, 9,
                             G::Dq | G::Dqp | G::Dlatent | G::Dkp)) ||
      failed(c.positive(10, "scale", getScale())) ||
      failed(c.positive(11, "softcap", getSoftcap())) ||
      failed(c.window(12, "window_left", getWindowLeft())))
    return failure();
  return c.window(12, "window_right", getWindowRight());
}

void PagedMlaBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropDeadGradients<PagedMlaBackwardOp>,
               DropDefaults<PagedMlaBackwardOp>>(context);
}
