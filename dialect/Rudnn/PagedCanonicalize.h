//===- PagedCanonicalize.h - Folds that paged ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_PAGEDCANONICALIZE_H
#define RUDNN_DIALECT_PAGEDCANONICALIZE_H

#include "rudnn/IR/PagedOps.h"

#include "mlir/IR/PatternMatch.h"

#include <cmath>

namespace rudnn {

/// Options that say what holds without them: the default scale, where there is
/// one, and a right window beside causal, which ends at the row already.
template <typename OpTy>
struct DropDefaults : mlir::OpRewritePattern<OpTy> {
  using mlir::OpRewritePattern<OpTy>::OpRewritePattern;
  llvm::LogicalResult
  matchAndRewrite(OpTy op, mlir::PatternRewriter &rewriter) const override {
    bool window = op.getCausal() && op.getWindowRight();
    bool scale = false;
    if constexpr (requires { op.removeScaleAttr(); })
      scale =
          op.getScale() && op.getScale()->convertToDouble() ==
                               1.0 / std::sqrt(double(shapeOf(op.getQ())[2]));
    if (!window && !scale)
      return rewriter.notifyMatchFailure(op, "no default is spelled out");
    rewriter.modifyOpInPlace(op, [&] {
      if (window)
        op.removeWindowRightAttr();
      if constexpr (requires { op.removeScaleAttr(); })
        if (scale)
          op.removeScaleAttr();
    });
    return llvm::success();
  }
};

} // namespace rudnn

#endif // RUDNN_DIALECT_PAGEDCANONICALIZE_H
