//===- CarryInPlace.cpp - One place per buffer that a loop carries -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNCARRYINPLACE
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

/// A buffer of its own with the extents and contents of `buffer`.
Value copyOf(OpBuilder &b, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(b.createOrFold<memref::DimOp>(loc, buffer, d));
  auto dense = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, loc, dense, sizes);
  memref::CopyOp::create(b, loc, buffer, copy);
  return copy;
}

bool sameExtents(Value lhs, Value rhs) {
  auto type = cast<MemRefType>(lhs.getType());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    FailureOr<bool> equal =
        ValueBoundsConstraintSet::areEqual({lhs, d}, {rhs, d});
    if (failed(equal) || !*equal)
      return false;
  }
  return true;
}

/// An allocation that nobody but the loop needs from there on.
bool isOnlyForLoop(Value init, scf::ForOp loop) {
  if (!init.getDefiningOp<memref::AllocOp>() ||
      init.getParentBlock() != loop->getBlock())
    return false;
  unsigned starts = llvm::count(loop.getInitArgs(), init);
  return starts == 1 && llvm::all_of(init.getUsers(), [&](Operation *user) {
           Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
           // A view could be used in or behind the loop.
           return user == loop ||
                  (ancestor && ancestor->isBeforeInBlock(loop) &&
                   user->getNumResults() == 0);
         });
}

LogicalResult carry(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<unsigned> carried;
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isa<MemRefType>(arg.getType()) && yield.getOperand(i) != arg)
      carried.push_back(i);
  if (carried.empty())
    return success();

  Location loc = loop.getLoc();
  OpBuilder b(yield);
  // What comes from the old value of another carried buffer is set aside before
  // that is overwritten.
  BufferViewFlowAnalysis origins(loop);
  SmallVector<Value> next;
  for (unsigned i : carried) {
    Value value = yield.getOperand(i);
    if (!sameExtents(value, loop.getInitArgs()[i]))
      return loop.emitOpError("carries a buffer whose extents may change from "
                              "one iteration to the next: number ")
             << i << " of type " << value.getType();
    auto reaching = origins.resolveReverse(value);
    bool mixed = llvm::any_of(loop.getRegionIterArgs(), [&](Value arg) {
      return arg != loop.getRegionIterArgs()[i] && reaching.contains(arg);
    });
    next.push_back(mixed && carried.size() > 1 ? copyOf(b, loc, value) : value);
  }
  for (auto [i, value] : llvm::zip_equal(carried, next)) {
    b.setInsertionPoint(loop);
    Value init = loop.getInitArgs()[i];
    Value place = isOnlyForLoop(init, loop) ? init : copyOf(b, loc, init);
    Value state = place;
    BlockArgument arg = loop.getRegionIterArgs()[i];
    if (place.getType() != arg.getType()) {
      if (!memref::CastOp::areCastCompatible(place.getType(), arg.getType()))
        return loop.emitOpError("carries a buffer with gaps: number ")
               << i << " of type " << arg.getType();
      state = memref::CastOp::create(b, loc, arg.getType(), place);
    }
    loop.getInitArgsMutable()[i].set(state);
    arg.replaceAllUsesWith(state);
    loop.getResult(i).replaceAllUsesWith(state);
    b.setInsertionPoint(yield);
    Value source = value == arg ? state : value;
    memref::CopyOp::create(b, loc, source, place);
    yield->setOperand(i, arg);
  }
  return success();
}

struct CarryInPlace : public rudnn::impl::RudnnCarryInPlaceBase<CarryInPlace> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (failed(carry(loop)))
        return signalPassFailure();
  }
};

} // namespace
