//===- Decompose.cpp - rudnn ops to linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/Extents.h"
#include "rudnn/Passes.h"
#include "rudnn/Rudnn.h"
#include "rudnn/Tile/TileDialect.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNDECOMPOSE
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

/// Results without an element are the outs. Slices of a static extent of 0
/// would not verify.
static bool isEmpty(Operation *op) {
  return op->getNumResults() > 0 &&
         llvm::all_of(op->getResultTypes(), [](Type type) {
           auto shaped = dyn_cast<ShapedType>(type);
           return shaped && shaped.hasRank() &&
                  llvm::is_contained(shaped.getShape(), 0);
         });
}

namespace {
struct Decompose : rudnn::impl::RudnnDecomposeBase<Decompose> {
  /// Ops without a schedule.
  SmallVector<Operation *> collect() {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      auto strategy = op->getAttrOfType<StringAttr>("rudnn.strategy");
      bool scheduled = strategy && strategy.getValue() == "schedule";
      bool ours = isa_and_nonnull<rudnn::RudnnDialect>(op->getDialect()) ||
                  isa<rudnn::tile::GemmOp>(op);
      if (ours && !scheduled)
        ops.push_back(op);
    });
    return ops;
  }

  void runOnOperation() override {
    // A decomposition may have ops of ours in turn.
    for (SmallVector<Operation *> ops = collect(); !ops.empty();
         ops = collect())
      if (failed(decompose(ops)))
        return signalPassFailure();
  }

  LogicalResult decompose(ArrayRef<Operation *> ops) {
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
        return op->emitOpError("can't be decomposed on memrefs, expected "
                               "tensors (decompose before bufferization)");
      if (isEmpty(op)) {
        rewriter.replaceOp(op,
                           cast<DestinationStyleOpInterface>(op).getDpsInits());
        continue;
      }
      // Decompositions read static extents where the clauses promise one.
      if (isa_and_nonnull<rudnn::RudnnDialect>(op->getDialect()))
        op = rudnn::refineExtents(rewriter, op);
      rewriter.setInsertionPoint(op);
      auto aggregated = dyn_cast<linalg::AggregatedOpInterface>(op);
      FailureOr<SmallVector<Value>> values = failure();
      if (aggregated)
        values = aggregated.decomposeOperation(rewriter);
      if (failed(values))
        return op->emitOpError("can't be decomposed");
      rewriter.replaceOp(op, *values);
    }
    return success();
  }
};
} // namespace
