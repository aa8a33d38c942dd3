//===- SplitSequences.cpp - Ragged attention as dense attention -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/AttentionOps.h"
#include "rudnn/Passes.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNSPLITSEQUENCES
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

namespace {
struct SplitSequences : rudnn::impl::RudnnSplitSequencesBase<SplitSequences> {
  void runOnOperation() override {
    SmallVector<linalg::AggregatedOpInterface> ops;
    getOperation()->walk([&](linalg::AggregatedOpInterface op) {
      if (isa<RaggedAttentionOp, RaggedAttentionBackwardOp>(op) &&
          llvm::none_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::AggregatedOpInterface op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
      if (failed(values)) {
        op->emitOpError("can't be split into sequences");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *values);
    }
  }
};
} // namespace
