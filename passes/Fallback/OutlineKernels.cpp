//===- OutlineKernels.cpp - Generic kernels for loops on buffers -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `fallback` strategy: whatever touches buffers becomes a kernel. The host
// keeps index arithmetic, views, allocations and the loops around kernels; it
// never reads the buffers.
//
//===----------------------------------------------------------------------===//

#include "HostBounds.h"

#include "rudnn/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNOUTLINEKERNELS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

constexpr int64_t kThreadsPerBlock = 128;
/// Blocks that fill a large device several times over; more iterations than
/// threads are walked in strides.
constexpr int64_t kMostBlocks = 2048;
/// Fewer when every thread needs scratch memory of its own.
constexpr int64_t kMostBlocksWithScratch = 16;
/// Places of temporaries in a scratch area, in bytes.
constexpr int64_t kScratchAlignment = 16;

class Outliner {
public:
  explicit Outliner(func::FuncOp func) : func(func) {}
  LogicalResult run() { return outline(func.getBody().front()); }

private:
  LogicalResult outline(Block &block);
  LogicalResult outlineParallel(scf::ParallelOp loop);
  LogicalResult outlineSequence(Block &block, Operation *first,
                                Operation *last);
  gpu::LaunchOp createLaunch(OpBuilder &b, Location loc, Value blocks,
                             int64_t threads);
  LogicalResult moveTemporaries(gpu::LaunchOp launch, Value threads);
  FailureOr<Value> temporaryBytes(OpBuilder &b, memref::AllocOp alloc,
                                  gpu::LaunchOp launch);
  void cloneGlobals(gpu::LaunchOp launch);

  func::FuncOp func;
};

/// Ops that stay on the host: they compute indices, make and view buffers, or
/// launch kernels that there are already.
bool staysOnHost(Operation &op) {
  if (isa<gpu::LaunchOp, memref::AllocOp, memref::GetGlobalOp, memref::DimOp,
          rudnn::tile::LaunchOp, memref::ExtractStridedMetadataOp,
          ViewLikeOpInterface>(op))
    return true;
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op);
}

/// A loop or branch that the host can run: nothing it decides on or yields
/// comes from a kernel (whose results are buffers only).
bool isHostControl(Operation &op) {
  return isa<scf::ForOp, scf::IfOp>(op) && op.getNumResults() == 0;
}

Value threadIndex(OpBuilder &b, gpu::LaunchOp launch) {
  Location loc = launch.getLoc();
  Value block = launch.getBlockIds().x, thread = launch.getThreadIds().x;
  Value width = launch.getBlockSize().x;
  Value start = arith::MulIOp::create(b, loc, block, width);
  return arith::AddIOp::create(b, loc, start, thread);
}

} // namespace

/// Cuts the block into runs: what stays, control flow around kernels, kernels.
LogicalResult Outliner::outline(Block &block) {
  for (Operation *op = &block.front(); op && op != block.getTerminator();) {
    Operation *next = op->getNextNode();
    if (staysOnHost(*op)) {
      op = next;
      continue;
    }
    if (isHostControl(*op)) {
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          if (failed(outline(inner)))
            return failure();
      op = next;
      continue;
    }
    if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
      if (failed(outlineParallel(loop)))
        return failure();
      op = next;
      continue;
    }
    // One thread runs this op and all that uses its results.
    Operation *last = op;
    for (Operation *inner = op;; inner = inner->getNextNode()) {
      for (Operation *user : inner->getUsers()) {
        Operation *ancestor = block.findAncestorOpInBlock(*user);
        if (ancestor == block.getTerminator())
          return user->emitOpError(
              "needs on the host a value that a kernel computes; the host of a "
              "cuda target never reads device data");
        if (ancestor && last->isBeforeInBlock(ancestor))
          last = ancestor;
      }
      if (inner == last)
        break;
    }
    next = last->getNextNode();
    if (failed(outlineSequence(block, op, last)))
      return failure();
    op = next;
  }
  return success();
}

gpu::LaunchOp Outliner::createLaunch(OpBuilder &b, Location loc, Value blocks,
                                     int64_t threads) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value width = arith::ConstantIndexOp::create(b, loc, threads);
  auto launch =
      gpu::LaunchOp::create(b, loc, blocks, one, one, width, one, one);
  b.setInsertionPointToEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

LogicalResult Outliner::outlineParallel(scf::ParallelOp loop) {
  if (loop.getNumResults() != 0)
    return loop.emitOpError("has results, which no generic kernel can return");
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  // Extents of the loops and their product.
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1),
             s2 = b.getAffineSymbolExpr(2);
  SmallVector<Value> extents;
  OpFoldResult total = b.getIndexAttr(1);
  for (auto [low, high, step] : llvm::zip_equal(
           loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    auto extent = affine::makeComposedFoldedAffineApply(
        b, loc, AffineMap::get(0, 3, (s1 - s0).ceilDiv(s2)),
        {OpFoldResult(low), OpFoldResult(high), OpFoldResult(step)});
    // An empty range may run backwards.
    Value value = getValueOrCreateConstantIndexOp(b, loc, extent);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    extents.push_back(arith::MaxSIOp::create(b, loc, value, zero));
    total = arith::MulIOp::create(
                b, loc, getValueOrCreateConstantIndexOp(b, loc, total),
                extents.back())
                .getResult();
  }
  Value count = getValueOrCreateConstantIndexOp(b, loc, total);
  bool scratch =
      loop.getBody()
          ->walk([](memref::AllocOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  int64_t threads = scratch ? 32 : kThreadsPerBlock;
  int64_t most = scratch ? kMostBlocksWithScratch * kThreadsPerBlock / threads
                         : kMostBlocks;
  Value width = arith::ConstantIndexOp::create(b, loc, threads);
  Value limit = arith::ConstantIndexOp::create(b, loc, most);
  Value needed = arith::CeilDivSIOp::create(b, loc, count, width);
  Value blocks = arith::MinSIOp::create(b, loc, needed, limit);
  Value allThreads = arith::MulIOp::create(b, loc, blocks, width);

  gpu::LaunchOp launch = createLaunch(b, loc, blocks, threads);
  Value first = threadIndex(b, launch);
  auto strided = scf::ForOp::create(b, loc, first, count, allThreads);
  b.setInsertionPointToStart(strided.getBody());
  SmallVector<Value> ivs(extents.size());
  Value rest = strided.getInductionVar();
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    Value index = rest;
    if (dim > 0) {
      index = arith::RemUIOp::create(b, loc, rest, extents[dim]);
      rest = arith::DivUIOp::create(b, loc, rest, extents[dim]);
    }
    Value scaled = arith::MulIOp::create(b, loc, index, loop.getStep()[dim]);
    ivs[dim] = arith::AddIOp::create(b, loc, scaled, loop.getLowerBound()[dim]);
  }
  Block *body = loop.getBody();
  for (auto [from, to] : llvm::zip_equal(body->getArguments(), ivs))
    from.replaceAllUsesWith(to);
  body->getTerminator()->erase();
  strided.getBody()->getOperations().splice(std::prev(strided.getBody()->end()),
                                            body->getOperations());
  loop.erase();
  return moveTemporaries(launch, allThreads);
}

/// Ops from `first` to `last` as a kernel of one thread.
LogicalResult Outliner::outlineSequence(Block &block, Operation *first,
                                        Operation *last) {
  OpBuilder b(first);
  Location loc = first->getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  gpu::LaunchOp launch = createLaunch(b, loc, one, 1);
  Block &body = launch.getBody().front();
  auto end = std::next(last->getIterator());
  // Allocations between the two may be used after them.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::make_range(first->getIterator(), end)))
    if (isa<memref::AllocOp>(op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return !def || def->getBlock() != &block ||
                 def->isBeforeInBlock(first);
        }))
      op.moveBefore(launch);
  body.getOperations().splice(std::prev(body.end()), block.getOperations(),
                              first->getIterator(), end);
  return moveTemporaries(launch, one);
}

/// Bytes of a temporary, as the host can compute them: an upper bound of its
/// extents in terms of values from outside of the kernel.
FailureOr<Value> Outliner::temporaryBytes(OpBuilder &b, memref::AllocOp alloc,
                                          gpu::LaunchOp launch) {
  Location loc = alloc.getLoc();
  MemRefType type = alloc.getType();
  int64_t bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  int64_t bytes = llvm::divideCeil(bits, 8);
  Value size = arith::ConstantIndexOp::create(b, loc, bytes);
  rudnn::HostBounds bounds(b, loc, [&](Value value) {
    return !launch.getBody().isAncestor(value.getParentRegion());
  });
  unsigned next = 0;
  for (int64_t extent : type.getShape()) {
    Value value = ShapedType::isDynamic(extent)
                      ? bounds.upper(alloc.getDynamicSizes()[next++])
                      : arith::ConstantIndexOp::create(b, loc, extent);
    if (!value)
      return alloc.emitOpError("is a temporary of a kernel whose extent has no "
                               "bound that the host knows");
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    value = arith::MaxSIOp::create(b, loc, value, zero);
    size = arith::MulIOp::create(b, loc, size, value);
  }
  Value unit = arith::ConstantIndexOp::create(b, loc, kScratchAlignment);
  Value units = arith::CeilDivSIOp::create(b, loc, size, unit);
  return Value(arith::MulIOp::create(b, loc, units, unit));
}

/// Temporaries inside of a kernel get a place per thread in a buffer that the
/// host allocates.
LogicalResult Outliner::moveTemporaries(gpu::LaunchOp launch, Value threads) {
  SmallVector<memref::AllocOp> allocs;
  launch.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  OpBuilder b(launch);
  for (memref::AllocOp alloc : allocs) {
    Location loc = alloc.getLoc();
    b.setInsertionPoint(launch);
    FailureOr<Value> bytes = temporaryBytes(b, alloc, launch);
    if (failed(bytes))
      return failure();
    Value all = arith::MulIOp::create(b, loc, threads, *bytes);
    auto bufferType =
        MemRefType::get({ShapedType::kDynamic}, b.getIntegerType(8));
    Value buffer = memref::AllocOp::create(b, loc, bufferType, all);
    b.setInsertionPointToStart(&launch.getBody().front());
    Value place = arith::MulIOp::create(b, loc, threadIndex(b, launch), *bytes);
    b.setInsertionPoint(alloc);
    Value view = memref::ViewOp::create(b, loc, alloc.getType(), buffer, place,
                                        alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  cloneGlobals(launch);
  return success();
}

/// Constants are read where the kernel is: outlining copies their globals.
void Outliner::cloneGlobals(gpu::LaunchOp launch) {
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(launch.getBody(), above);
  OpBuilder b = OpBuilder::atBlockBegin(&launch.getBody().front());
  // A global may be seen through views.
  std::function<bool(Value)> fromGlobal = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (!def)
      return false;
    if (isa<memref::GetGlobalOp>(def))
      return true;
    auto view = dyn_cast<ViewLikeOpInterface>(def);
    return view && fromGlobal(view.getViewSource());
  };
  IRMapping mapping;
  std::function<Value(Value)> rebuild = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *def = value.getDefiningOp();
    if (!isa<memref::GetGlobalOp>(def))
      rebuild(cast<ViewLikeOpInterface>(def).getViewSource());
    b.clone(*def, mapping);
    return mapping.lookup(value);
  };
  for (Value value : above)
    if (fromGlobal(value)) {
      Value copy = rebuild(value);
      replaceAllUsesInRegionWith(value, copy, launch.getBody());
    }
}

namespace {

struct OutlineKernels
    : public rudnn::impl::RudnnOutlineKernelsBase<OutlineKernels> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation()->walk([&](func::FuncOp func) {
      if (!func.isExternal() && !isShapeFunction(func))
        functions.push_back(func);
    });
    for (func::FuncOp func : functions) {
      if (!func.getBody().hasOneBlock()) {
        func.emitOpError("has more than one block; kernels are made from "
                         "structured control flow");
        return signalPassFailure();
      }
      prepare(func);
      if (failed(Outliner(func).run()))
        return signalPassFailure();
    }
  }

private:
  /// Functions that only compute extents run on the host.
  static bool isShapeFunction(func::FuncOp func) {
    return func.getSymName().ends_with("__result_shapes");
  }

  /// Copies become loops, stack buffers ordinary ones; nobody frees.
  void prepare(func::FuncOp func) {
    func.walk([](Operation *op) {
      OpBuilder b(op);
      if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        auto generic = linalg::makeMemRefCopyOp(
            b, op->getLoc(), copy.getSource(), copy.getTarget());
        IRRewriter rewriter(b);
        rewriter.setInsertionPoint(generic);
        (void)linalg::linalgOpToParallelLoops(rewriter, generic);
        rewriter.eraseOp(generic);
        op->erase();
      } else if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
        Value alloc = memref::AllocOp::create(b, op->getLoc(), alloca.getType(),
                                              alloca.getDynamicSizes());
        alloca.replaceAllUsesWith(alloc);
        op->erase();
      } else if (isa<memref::DeallocOp>(op)) {
        op->erase();
      }
    });
  }
};

} // namespace
