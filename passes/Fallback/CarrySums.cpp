//===- CarrySums.cpp - Sums of generic kernels in registers -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNCARRYSUMS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

/// One element that each trip of a loop reads, changes and writes back.
struct Sum {
  memref::LoadOp load;
  memref::StoreOp store;
};

/// What a buffer is a view of.
Value rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// The loop touches the memory of `buffer` through another view.
bool hasOtherView(scf::ForOp loop, Value buffer) {
  Value root = rootOf(buffer);
  return loop
      .walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()) && operand != buffer &&
              rootOf(operand) == root)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// The only accesses of the loop to the buffer of `store` are `store` and one
/// load before it, of an element that is the same in all trips.
std::optional<Sum> findSum(scf::ForOp loop) {
  for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
    Value buffer = store.getMemref();
    auto fixed = [&](Value value) {
      return loop.isDefinedOutsideOfLoop(value);
    };
    if (!fixed(buffer) || !llvm::all_of(store.getIndices(), fixed) ||
        hasOtherView(loop, buffer))
      continue;
    memref::LoadOp load;
    bool others = false;
    for (Operation *user : buffer.getUsers()) {
      if (user == store || !loop->isProperAncestor(user))
        continue;
      auto candidate = dyn_cast<memref::LoadOp>(user);
      others |= load || !candidate || candidate->getBlock() != loop.getBody() ||
                !candidate->isBeforeInBlock(store) ||
                !llvm::equal(candidate.getIndices(), store.getIndices());
      load = candidate;
    }
    if (load && !others)
      return Sum{load, store};
  }
  return std::nullopt;
}

/// The loop with the element as a value that it carries.
scf::ForOp carry(scf::ForOp loop, Sum sum) {
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  auto start = memref::LoadOp::create(rewriter, loc, sum.load.getMemref(),
                                      sum.load.getIndices());
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(start);
  auto carried =
      scf::ForOp::create(rewriter, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  Block *body = carried.getBody();
  body->clear();
  Value last = sum.store.getValue();
  rewriter.replaceAllUsesWith(sum.load.getResult(),
                              body->getArguments().back());
  if (last == sum.load.getResult())
    last = body->getArguments().back();
  Value buffer = sum.store.getMemref();
  SmallVector<Value> indices(sum.store.getIndices());
  rewriter.eraseOp(sum.load);
  rewriter.eraseOp(sum.store);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> yielded(yield.getOperands());
  yielded.push_back(last);
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getResultsMutable().assign(yielded); });
  rewriter.mergeBlocks(loop.getBody(), body, body->getArguments().drop_back());
  rewriter.setInsertionPointAfter(carried);
  memref::StoreOp::create(rewriter, loc, carried.getResults().back(), buffer,
                          indices);
  rewriter.replaceOp(loop, carried.getResults().drop_back());
  return carried;
}

struct CarrySums : rudnn::impl::RudnnCarrySumsBase<CarrySums> {
  void runOnOperation() override {
    // Inner loops first: what they leave is before and after them.
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->getParentOfType<scf::ParallelOp>())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      while (std::optional<Sum> sum = findSum(loop))
        loop = carry(loop, *sum);
  }
};

} // namespace
