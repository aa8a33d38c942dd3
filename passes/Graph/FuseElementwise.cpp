//===- FuseElementwise.cpp - Chains of elementwise ops in one -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"
#include "rudnn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNFUSEELEMENTWISE
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

/// Cheap enough to be computed again for each of several consumers' elements.
static bool isCheap(linalg::GenericOp op) {
  unsigned count = 0;
  for (Operation &nested : op.getBody()->without_terminator()) {
    if (isa_and_nonnull<math::MathDialect>(nested.getDialect()) ||
        isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, arith::DivUIOp,
            arith::RemUIOp>(nested))
      return false;
    ++count;
  }
  return count <= 2;
}

static bool shouldFuse(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(use->getOwner());
  if (!producer || !consumer || !producer->hasOneUse() ||
      producer->getBlock() != consumer->getBlock())
    return false;
  // A product is lowered as one; its operands are copied into panels once.
  if (isFloatContraction(consumer))
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(use);
  return map.isPermutation() || isCheap(producer);
}

namespace {
struct FuseElementwise
    : rudnn::impl::RudnnFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
