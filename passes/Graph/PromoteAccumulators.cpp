//===- PromoteAccumulators.cpp - Products of narrow floats in f32 -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"
#include "rudnn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNPROMOTEACCUMULATORS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

/// init with each element converted, a fill when `init` is one.
static Value convertInit(OpBuilder &b, Location loc, Value init, Type type) {
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, init), type);
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    Value x = convertFloat(b, loc, fill.getInputs()[0], type);
    return linalg::FillOp::create(b, loc, x, empty).getResult(0);
  }
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), init, empty,
             ArrayRef<AffineMap>{identity, identity}, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               linalg::YieldOp::create(
                   nested, loc, convertFloat(nested, loc, args[0], type));
             })
      .getResult(0);
}

/// The contraction with f32 sums from `init`.
static Value sumInF32(OpBuilder &b, linalg::LinalgOp op, Value init) {
  Location loc = op.getLoc();
  return linalg::GenericOp::create(
             b, loc, init.getType(), op.getDpsInputs(), init,
             op.getIndexingMapsArray(), op.getIteratorTypesArray(),
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               Type f32 = nested.getF32Type();
               Value product = arith::MulFOp::create(
                   nested, loc, convertFloat(nested, loc, args[0], f32),
                   convertFloat(nested, loc, args[1], f32));
               Value sum =
                   arith::AddFOp::create(nested, loc, args[2], product);
               linalg::YieldOp::create(nested, loc, sum);
             })
      .getResult(0);
}

namespace {
struct PromoteAccumulators
    : rudnn::impl::RudnnPromoteAccumulatorsBase<PromoteAccumulators> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && isFloatContraction(op) &&
          getElementTypeOrSelf(op->getResult(0).getType())
                  .getIntOrFloatBitWidth() < 32)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      Location loc = op.getLoc();
      Value init = op.getDpsInits()[0];
      Value sums =
          sumInF32(rewriter, op,
                   convertInit(rewriter, loc, init, rewriter.getF32Type()));
      rewriter.replaceOp(op,
                         convertInit(rewriter, loc, sums,
                                     getElementTypeOrSelf(init.getType())));
    }
  }
};
} // namespace
