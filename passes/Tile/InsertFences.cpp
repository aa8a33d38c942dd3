//===- InsertFences.cpp - Fences of wgmma and of asynchronous copies -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"
#include "rudnn/Tile/TileDialect.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNINSERTFENCES
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn::tile;

/// Between plain stores and the asynchronous copy of a tile stand, in this
/// order, the fence (run by the writers) and a barrier of the group.
static LogicalResult fenceStores(Block &block) {
  bool written = false, synchronized = true;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<StoreSharedOp>(op)) {
      written = true;
      synchronized = false;
    } else if (isa<GroupBarrierOp>(op) && written) {
      OpBuilder b(&op);
      ProxyFenceOp::create(b, op.getLoc());
      written = false;
      synchronized = true;
    } else if (isa<TmaStoreOp>(op) && !synchronized) {
      return op.emitOpError(
          "no rudnn_tile.group_barrier stands between it and the "
          "rudnn_tile.store_shared before it");
    }
  }
  return success();
}

namespace {
struct InsertFences : rudnn::impl::RudnnInsertFencesBase<InsertFences> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](KernelOp kernel) {
      kernel.walk([](WgmmaOp op) {
        OpBuilder b(op);
        WgmmaFenceOp::create(b, op.getLoc());
      });
      return kernel.walk([](Block *block) {
        return failed(fenceStores(*block)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
      });
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
