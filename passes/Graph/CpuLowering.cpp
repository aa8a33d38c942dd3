//===- CpuLowering.cpp - Small passes of the CPU pipeline -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNEXPANDCOPIES
#define GEN_PASS_DEF_RUDNNEXPANDMATH
#define GEN_PASS_DEF_RUDNNKEEPCARRIEDVALUES
#define GEN_PASS_DEF_RUDNNPROTECTARGUMENTS
#define GEN_PASS_DEF_RUDNNSCHEDULETHREADS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

struct ExpandMath : rudnn::impl::RudnnExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained({math::ExpOp::getOperationName(),
                                 math::ExpM1Op::getOperationName(),
                                 math::LogOp::getOperationName(),
                                 math::Log1pOp::getOperationName(),
                                 math::Log2Op::getOperationName(),
                                 math::TanhOp::getOperationName(),
                                 math::ErfOp::getOperationName()},
                                name);
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct ProtectArguments
    : rudnn::impl::RudnnProtectArgumentsBase<ProtectArguments> {
  void runOnOperation() override {
    auto readOnly = BoolAttr::get(&getContext(), false);
    getOperation().walk([&](FunctionOpInterface function) {
      if (!function.isPublic())
        return;
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
        if (isa<TensorType>(type))
          function.setArgAttr(
              i, bufferization::BufferizationDialect::kWritableAttrName,
              readOnly);
    });
  }
};

struct KeepCarriedValues
    : rudnn::impl::RudnnKeepCarriedValuesBase<KeepCarriedValues> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](scf::ForOp loop) {
      for (BlockArgument state : loop.getRegionIterArgs())
        if (isa<RankedTensorType>(state.getType()))
          keep(rewriter, state);
      separate(rewriter, loop.getInitArgsMutable());
    });
    // The destinations of insertions, by block.
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<OpOperand *>> dests;
    getOperation()->walk([&](tensor::InsertSliceOp insert) {
      dests[{insert->getBlock(), insert.getDest()}].push_back(
          &insert.getDestMutable());
    });
    for (auto &[dest, uses] : dests)
      for (OpOperand *use : ArrayRef(uses).drop_front())
        use->set(copyOf(rewriter, use->get()));
  }

  /// A copy of a tensor, right after its definition.
  static Value copyOf(RewriterBase &rewriter, Value tensor) {
    Location loc = tensor.getLoc();
    rewriter.setInsertionPointAfterValue(tensor);
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, tensor),
        cast<RankedTensorType>(tensor.getType()).getElementType());
    return linalg::CopyOp::create(rewriter, loc, tensor, empty).getResult(0);
  }

  /// Gives every value that a loop starts from more than once a copy per start.
  /// CSE makes one of two equal inits (the zeros of two gradients), and the
  /// analysis of one-shot-bufferize takes writes to equal slices of the two for
  /// writes to one.
  static void separate(RewriterBase &rewriter,
                       MutableArrayRef<OpOperand> inits) {
    llvm::SmallDenseSet<Value> seen;
    for (OpOperand &init : inits)
      if (isa<RankedTensorType>(init.get().getType()) &&
          !seen.insert(init.get()).second)
        init.set(copyOf(rewriter, init.get()));
  }

  /// Copies `state` for its readers after the first op that writes into it.
  static void keep(RewriterBase &rewriter, BlockArgument state) {
    Block *body = state.getOwner();
    Operation *writer = nullptr;
    for (OpOperand &use : state.getUses()) {
      auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      if (op && op->getBlock() == body && op.isDpsInit(&use) &&
          (!writer || op->isBeforeInBlock(writer)))
        writer = op;
    }
    if (!writer)
      return;
    SmallVector<OpOperand *> later;
    for (OpOperand &use : state.getUses()) {
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      if (user != writer && writer->isBeforeInBlock(user))
        later.push_back(&use);
    }
    if (later.empty())
      return;
    Location loc = writer->getLoc();
    rewriter.setInsertionPoint(writer);
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, state),
        cast<RankedTensorType>(state.getType()).getElementType());
    Value copy =
        linalg::CopyOp::create(rewriter, loc, state, empty).getResult(0);
    for (OpOperand *use : later)
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(copy); });
  }
};

struct ExpandCopies : rudnn::impl::RudnnExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto isDense = [](Value x) {
        auto type = dyn_cast<MemRefType>(x.getType());
        return !type || type.getLayout().isIdentity() || type.getRank() == 0;
      };
      if (!isDense(copy.getSource()) || !isDense(copy.getTarget()))
        copies.push_back(copy);
    });
    IRRewriter rewriter(&getContext());
    for (memref::CopyOp copy : copies) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      rewriter.eraseOp(copy);
    }
  }
};

struct ScheduleThreads
    : rudnn::impl::RudnnScheduleThreadsBase<ScheduleThreads> {
  void runOnOperation() override {
    SmallVector<memref::AllocaScopeOp> scopes;
    getOperation()->walk([&](memref::AllocaScopeOp scope) {
      bool allocates = scope
                           ->walk([](memref::AllocaOp) {
                             return WalkResult::interrupt();
                           })
                           .wasInterrupted();
      if (scope->getNumResults() == 0 && !allocates &&
          scope.getBodyRegion().hasOneBlock())
        scopes.push_back(scope);
    });
    IRRewriter rewriter(&getContext());
    for (memref::AllocaScopeOp scope : scopes) {
      Block *body = &scope.getBodyRegion().front();
      rewriter.eraseOp(body->getTerminator());
      rewriter.inlineBlockBefore(body, scope);
      rewriter.eraseOp(scope);
    }
    getOperation()->walk([](omp::WsloopOp loop) {
      if (!loop.getScheduleKind())
        loop.setScheduleKind(omp::ClauseScheduleKind::Dynamic);
    });
  }
};
} // namespace
