//===- AssignPhases.cpp - Slots, parities and byte counts of rings -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"
#include "rudnn/Tile/TileDialect.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNASSIGNPHASES
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn::tile;

namespace {
/// Stage and parity of a trip.
struct Phase {
  Value slot, parity;
};
} // namespace

static Value slotOf(OpBuilder &b, Location loc, Value it, unsigned stages) {
  if (stages == 1)
    return arith::ConstantIndexOp::create(b, loc, 0);
  if (llvm::isPowerOf2_32(stages))
    return arith::AndIOp::create(
        b, loc, it, arith::ConstantIndexOp::create(b, loc, stages - 1));
  return arith::RemUIOp::create(b, loc, it,
                                arith::ConstantIndexOp::create(b, loc, stages));
}

static Phase phaseOf(OpBuilder &b, Location loc, Value it, RingType ring) {
  unsigned stages = ring.getStages();
  Value trip = it;
  if (stages != 1)
    trip =
        llvm::isPowerOf2_32(stages)
            ? Value(arith::ShRUIOp::create(b, loc, it,
                                           arith::ConstantIndexOp::create(
                                               b, loc, llvm::Log2_32(stages))))
            : Value(arith::DivUIOp::create(
                  b, loc, it, arith::ConstantIndexOp::create(b, loc, stages)));
  Value parity = arith::AndIOp::create(
      b, loc, trip, arith::ConstantIndexOp::create(b, loc, 1));
  parity = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), parity);
  return {slotOf(b, loc, it, stages), parity};
}

/// Bytes of the copies that name this ring and trip after the acquire.
static int64_t tripBytes(RingAcquireOp acquire) {
  int64_t bytes = 0;
  for (Operation *op = acquire->getNextNode(); op; op = op->getNextNode())
    if (auto load = dyn_cast<TmaLoadOp>(op))
      if (load.getRing() == acquire.getRing() &&
          load.getIt() == acquire.getIt())
        bytes += getBytes(load.getTile().getType());
  return bytes;
}

static void lowerAcquire(OpBuilder &b, RingAcquireOp op) {
  Location loc = op.getLoc();
  Phase phase = phaseOf(b, loc, op.getIt(), op.getRing().getType());
  // The first trip of a stage finds it free: the phase before the first has
  // ended.
  Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
  Value previous = arith::XOrIOp::create(b, loc, phase.parity, one);
  BarrierWaitOp::create(b, loc, Barrier::Empty, op.getRing(), phase.slot,
                        previous);
  BarrierArriveOp::create(b, loc, Barrier::Full, op.getRing(), phase.slot,
                          b.getI32IntegerAttr(tripBytes(op)));
}

static void assignRing(RingOp ring) {
  OpBuilder b(ring.getContext());
  RingType type = ring.getRing().getType();
  SmallVector<Operation *> users(ring.getRing().getUsers());
  // Acquires look at the copies, so they go first.
  for (Operation *user : users)
    if (auto acquire = dyn_cast<RingAcquireOp>(user)) {
      b.setInsertionPoint(user);
      lowerAcquire(b, acquire);
    }
  for (Operation *user : users) {
    b.setInsertionPoint(user);
    Location loc = user->getLoc();
    if (auto load = dyn_cast<TmaLoadOp>(user)) {
      load.getItMutable().assign(
          slotOf(b, loc, load.getIt(), type.getStages()));
      continue;
    }
    if (auto slot = dyn_cast<RingSlotOp>(user)) {
      slot.replaceAllUsesWith(slotOf(b, loc, slot.getIt(), type.getStages()));
    } else if (auto wait = dyn_cast<RingWaitOp>(user)) {
      Phase phase = phaseOf(b, loc, wait.getIt(), type);
      BarrierWaitOp::create(b, loc, Barrier::Full, ring.getRing(), phase.slot,
                            phase.parity);
    } else if (auto release = dyn_cast<RingReleaseOp>(user)) {
      BarrierArriveOp::create(b, loc, Barrier::Empty, ring.getRing(),
                              slotOf(b, loc, release.getIt(), type.getStages()),
                              IntegerAttr());
    } else if (!isa<RingAcquireOp, RingCommitOp>(user)) {
      continue;
    }
    user->erase();
  }
}

namespace {
struct AssignPhases : rudnn::impl::RudnnAssignPhasesBase<AssignPhases> {
  void runOnOperation() override {
    getOperation()->walk([](KernelOp kernel) {
      SmallVector<RingOp> rings;
      kernel.walk([&](RingOp ring) { rings.push_back(ring); });
      if (rings.empty())
        return;
      SmallVector<Value> values;
      for (RingOp ring : rings) {
        assignRing(ring);
        values.push_back(ring.getRing());
      }
      OpBuilder b(kernel.getContext());
      b.setInsertionPointAfter(rings.back());
      RingInitOp::create(b, rings.back().getLoc(), values);
    });
  }
};
} // namespace
