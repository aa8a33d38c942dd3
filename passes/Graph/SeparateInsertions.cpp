//===- SeparateInsertions.cpp - Tiles of one memory each -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNSEPARATEINSERTIONS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

using Values = llvm::SetVector<Value>;

/// What costs less to make again than to copy.
bool isCheap(Value value) {
  return value.getDefiningOp<tensor::EmptyOp>() ||
         value.getDefiningOp<linalg::FillOp>();
}

class Separator {
public:
  explicit Separator(scf::ForallOp loop)
      : loop(loop), state(options), rewriter(loop) {}
  void run();

private:
  Values memoryOf(OpOperand &source);
  void remakeShared(OpOperand &source);
  bool sharesMemory(tensor::ParallelInsertSliceOp insertion);

  scf::ForallOp loop;
  bufferization::BufferizationOptions options;
  bufferization::AnalysisState state;
  IRRewriter rewriter;
  /// What the insertions so far may be in memory.
  Values taken;
};

} // namespace

/// The tensors whose memory `source` may be in, back to those of the results.
Values Separator::memoryOf(OpOperand &source) {
  Values visited;
  bufferization::TraversalConfig config;
  config.alwaysIncludeLeaves = false;
  state.findValueInReverseUseDefChain(
      &source,
      [&](Value value) {
        bool inside = loop.getRegion().isAncestor(value.getParentRegion());
        if (inside || isCheap(value))
          visited.insert(value);
        return !inside || llvm::is_contained(loop.getRegionIterArgs(), value);
      },
      config);
  return visited;
}

/// Gives the tile of `source` empty and filled tensors of its own.
void Separator::remakeShared(OpOperand &source) {
  for (bool changed = true; changed;) {
    changed = false;
    Values memory = memoryOf(source);
    for (Value value : memory) {
      Operation *op = value.getDefiningOp();
      if (!op || taken.contains(value))
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        Value shared = operand.get();
        if (!memory.contains(shared) || !taken.contains(shared) ||
            !isCheap(shared))
          continue;
        rewriter.setInsertionPoint(op);
        Operation *own = rewriter.clone(*shared.getDefiningOp());
        rewriter.modifyOpInPlace(op, [&] { operand.set(own->getResult(0)); });
        changed = true;
      }
    }
  }
}

bool Separator::sharesMemory(tensor::ParallelInsertSliceOp insertion) {
  return llvm::any_of(memoryOf(insertion.getSourceMutable()), [&](Value value) {
    bool isResult = llvm::is_contained(loop.getRegionIterArgs(), value);
    return isResult ? value != insertion.getDest() : taken.contains(value);
  });
}

void Separator::run() {
  llvm::SmallDenseSet<Value> sources;
  for (auto insertion : llvm::make_early_inc_range(
           loop.getTerminator()
               .getBody()
               ->getOps<tensor::ParallelInsertSliceOp>())) {
    OpOperand &source = insertion.getSourceMutable();
    // The same tile twice is one tile, whatever memory it is in.
    if (!sources.insert(source.get()).second)
      continue;
    remakeShared(source);
    if (sharesMemory(insertion)) {
      rewriter.setInsertionPoint(loop.getTerminator());
      auto copy = bufferization::AllocTensorOp::create(
          rewriter, insertion.getLoc(),
          cast<RankedTensorType>(source.get().getType()),
          /*dynamicSizes=*/ValueRange(), /*copy=*/source.get());
      rewriter.modifyOpInPlace(insertion,
                               [&] { source.set(copy.getResult()); });
    }
    Values memory = memoryOf(source);
    taken.insert(memory.begin(), memory.end());
  }
}

namespace {

struct SeparateInsertions
    : rudnn::impl::RudnnSeparateInsertionsBase<SeparateInsertions> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForallOp loop) { Separator(loop).run(); });
  }
};

} // namespace
