//===- WidenWrites.cpp - Vector writes of the rank of their tensor -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNWIDENWRITES
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

struct WidenWrites : rudnn::impl::RudnnWidenWritesBase<WidenWrites> {
  void runOnOperation() override {
    SmallVector<vector::TransferWriteOp> writes;
    getOperation()->walk([&](vector::TransferWriteOp write) {
      auto type = dyn_cast<RankedTensorType>(write.getBase().getType());
      if (type && write.getVectorType().getRank() < type.getRank() &&
          write.getPermutationMap().isMinorIdentity() && !write.getMask())
        writes.push_back(write);
    });
    IRRewriter rewriter(&getContext());
    for (vector::TransferWriteOp write : writes)
      widen(rewriter, write);
  }

  static void widen(RewriterBase &rewriter, vector::TransferWriteOp write) {
    auto tensor = cast<RankedTensorType>(write.getBase().getType());
    VectorType narrow = write.getVectorType();
    int64_t added = tensor.getRank() - narrow.getRank();
    SmallVector<int64_t> shape(added, 1);
    llvm::append_range(shape, narrow.getShape());
    SmallVector<bool> scalable(added, false);
    llvm::append_range(scalable, narrow.getScalableDims());
    // A tensor with an empty leading dim has no place even for one element.
    SmallVector<bool> inBounds(added, true);
    llvm::append_range(inBounds, write.getInBoundsValues());
    rewriter.setInsertionPoint(write);
    Location loc = write.getLoc();
    Value wide = vector::BroadcastOp::create(
        rewriter, loc,
        VectorType::get(shape, narrow.getElementType(), scalable),
        write.getVector());
    rewriter.replaceOpWithNewOp<vector::TransferWriteOp>(
        write, wide, write.getBase(), write.getIndices(),
        AffineMapAttr::get(rewriter.getMultiDimIdentityMap(tensor.getRank())),
        rewriter.getBoolArrayAttr(inBounds));
  }
};

} // namespace
