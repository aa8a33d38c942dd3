//===- PlanSmem.cpp - Places in shared memory -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"
#include "rudnn/Tile/TileDialect.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNPLANSMEM
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn::tile;

static LogicalResult planKernel(KernelOp kernel) {
  Builder builder(kernel.getContext());
  int64_t end = 0;
  auto place = [&](int64_t bytes, int64_t alignment) {
    int64_t offset = llvm::alignTo(end, alignment);
    end = offset + bytes;
    return builder.getI32IntegerAttr(offset);
  };
  WalkResult walk = kernel.walk([&](AllocOp alloc) {
    MemRefType type = alloc.getTile().getType();
    if (!alloc.getOver()) {
      // A swizzle pattern repeats every 8 rows of up to 128 bytes.
      alloc.setOffsetAttr(place(getBytes(type), getSwizzle(type) ? 1024 : 16));
      return WalkResult::advance();
    }
    auto other = alloc.getOver().getDefiningOp<AllocOp>();
    if (!other || !other.getOffset()) {
      alloc.emitOpError("`over` must be an earlier rudnn_tile.alloc");
      return WalkResult::interrupt();
    }
    alloc.setOffsetAttr(other.getOffsetAttr());
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  kernel.walk([&](RingOp ring) {
    ring.setOffsetAttr(place(16 * ring.getRing().getType().getStages(), 8));
  });
  if (end > kMaxSharedBytes)
    return kernel.emitOpError("needs ")
           << end << " bytes of shared memory, a block has " << kMaxSharedBytes;
  kernel.setSharedBytesAttr(builder.getI32IntegerAttr(end));
  return success();
}

namespace {
struct PlanSmem : rudnn::impl::RudnnPlanSmemBase<PlanSmem> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](KernelOp kernel) {
      return failed(planKernel(kernel)) ? WalkResult::interrupt()
                                        : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
