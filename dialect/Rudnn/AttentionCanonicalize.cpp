//===- AttentionCanonicalize.cpp - Simpler dense attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/AttentionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace rudnn;

namespace {

/// An lse that nobody reads is not computed.
struct DropDeadLse : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() < 2 || !op.getResult(1).use_empty())
      return rewriter.notifyMatchFailure(op, "no lse result or one in use");
    AttentionOp::Properties properties = op.getProperties();
    properties.setLseBase(LogBaseAttr::get(op.getContext(), LogBase::E));
    properties.operandSegmentSizes.back() = 1;
    auto only = AttentionOp::create(
        rewriter, op.getLoc(), TypeRange{op.getResult(0).getType()},
        op->getOperands().drop_back(), properties,
        op->getDiscardableAttrDictionary().getValue());
    rewriter.replaceOp(op, {only.getResult(0), only.getResult(0)});
    return success();
  }
};

} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropDeadLse>(context);
}
