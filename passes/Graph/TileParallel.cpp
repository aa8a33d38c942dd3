//===- TileParallel.cpp - Parallel loops over tiles of the graph -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each group of ops that can share the loops of its last op (the root) becomes
// one scf.forall. A group has at most one op that is not elementwise: it gives
// the tile sizes (the anchor).
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"
#include "rudnn/IR/Extents.h"
#include "rudnn/Passes.h"
#include "rudnn/Rudnn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNTILEPARALLEL
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

/// Elements one tile of an elementwise op or of rows should touch.
constexpr int64_t kTileElements = 16384;
/// Below this many elementary operations an op stays on one thread.
constexpr int64_t kSequentialWork = 32768;
/// Rows and columns of the result of a matrix product per tile: multiples of
/// the register blocks, the rows with 256 of the summed loop fill half of a
/// second-level cache of 512 KiB.
constexpr int64_t kProductRows = 192;
constexpr int64_t kProductColumns = 256;
/// Query rows of attention per tile.
constexpr int64_t kAttentionRows = 64;
/// Assumed extent of a loop that is known at run time only.
constexpr int64_t kAssumedExtent = 256;

static bool isRudnnOp(Operation *op) {
  return isa_and_nonnull<RudnnDialect>(op->getDialect());
}

static bool isRowOp(Operation *op) {
  return isa<RmsNormOp, AddRmsNormOp, LayerNormOp, SoftmaxOp>(op);
}

/// Elementwise with every result in loop order.
static bool isPlainElementwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumLoops() == 0 ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops())
    return false;
  return llvm::all_of(linalgOp.getDpsInitsMutable(), [&](OpOperand &init) {
    return linalgOp.getMatchingIndexingMap(&init).isIdentity();
  });
}

namespace {

/// The ops that share the loops of `root`, and its tile sizes.
struct Group {
  TilingInterface root;
  Operation *anchor = nullptr;
  SmallPtrSet<Operation *, 4> members;
  SmallVector<int64_t> tileSizes;
};

class GroupBuilder {
public:
  explicit GroupBuilder(OpBuilder &b) : b(b) {}
  std::optional<Group> build(Operation *root);

private:
  void collect(Group &group, Operation *op);
  void collectElementwise(Group &group, linalg::LinalgOp op);
  bool isFusable(Operation *producer, Operation *consumer);
  SmallVector<int64_t> operatorTiles(TilingInterface op);
  SmallVector<int64_t> anchorTiles(Operation *op);
  SmallVector<int64_t> resultTiles(Operation *op, ArrayRef<int64_t> tiles);

  OpBuilder &b;
};
} // namespace

/// Work of a linalg op as far as it is known.
static int64_t workOf(linalg::LinalgOp op) {
  int64_t work = 1;
  for (int64_t range : op.getStaticLoopRanges()) {
    int64_t extent = ShapedType::isDynamic(range) ? kAssumedExtent : range;
    if (llvm::MulOverflow(work, extent, work))
      return std::numeric_limits<int64_t>::max();
  }
  return work;
}

/// One use but for its extents, in the same block.
bool GroupBuilder::isFusable(Operation *producer, Operation *consumer) {
  if (!producer || producer->getNumResults() != 1 ||
      producer->getBlock() != consumer->getBlock() ||
      !isa<TilingInterface>(producer))
    return false;
  return llvm::count_if(producer->getUsers(), [](Operation *user) {
           return !isa<tensor::DimOp>(user);
         }) == 1;
}

/// Asks `op` something that may make it build ops before itself; drops those.
static void ask(OpBuilder &b, Operation *op, function_ref<void()> question) {
  Operation *before = op->getPrevNode();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  question();
  while (op->getPrevNode() != before)
    op->getPrevNode()->erase();
}

void GroupBuilder::collectElementwise(Group &group, linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    Operation *producer = input->get().getDefiningOp();
    if (!isFusable(producer, op) ||
        !op.getMatchingIndexingMap(input).isIdentity())
      continue;
    if (isPlainElementwise(producer)) {
      group.members.insert(producer);
      collectElementwise(group, cast<linalg::LinalgOp>(producer));
      continue;
    }
    if (group.anchor)
      continue;
    SmallVector<int64_t> tiles = anchorTiles(producer);
    if (llvm::all_of(tiles, [](int64_t tile) { return tile == 0; }))
      continue;
    group.anchor = producer;
    group.members.insert(producer);
    group.tileSizes = resultTiles(producer, tiles);
    collect(group, producer);
  }
}

/// Producers of an anchor whose elements are needed by one tile each.
void GroupBuilder::collect(Group &group, Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp || !isRudnnOp(op))
    return;
  Operation *producer = op->getOperand(0).getDefiningOp();
  if (isFusable(producer, op) && isPlainElementwise(producer)) {
    group.members.insert(producer);
    collectElementwise(group, cast<linalg::LinalgOp>(producer));
  }
}

/// Tiles of a product: whole register blocks, more tiles than threads.
static void productTiles(linalg::LinalgOp op, SmallVectorImpl<int64_t> &tiles) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t n = -1, m = -1;
  if (maps[2].getNumResults() > 0)
    if (auto dim = dyn_cast<AffineDimExpr>(maps[2].getResults().back()))
      n = dim.getPosition();
  unsigned side = n >= 0 && maps[0].isFunctionOfDim(n) ? 1 : 0;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!maps[2].isFunctionOfDim(loop))
      continue;
    tiles[loop] = 1;
    if (static_cast<int64_t>(loop) != n && maps[side].isFunctionOfDim(loop) &&
        !maps[1 - side].isFunctionOfDim(loop))
      m = loop;
  }
  int64_t rows = kProductRows, columns = kProductColumns;
  int64_t count = 1;
  for (auto [loop, tile] : llvm::enumerate(tiles))
    if (tile == 1 && static_cast<int64_t>(loop) != m &&
        static_cast<int64_t>(loop) != n && !ShapedType::isDynamic(ranges[loop]))
      count *= std::max<int64_t>(ranges[loop], 1);
  auto tilesOf = [&](int64_t loop, int64_t tile) -> int64_t {
    if (loop < 0)
      return 1;
    int64_t extent = ShapedType::isDynamic(ranges[loop]) ? 1024 : ranges[loop];
    return llvm::divideCeil(std::max<int64_t>(extent, 1), tile);
  };
  while (count * tilesOf(m, rows) * tilesOf(n, columns) < 8 &&
         (rows > 48 || columns > 64)) {
    if (columns > 64 && tilesOf(n, columns / 2) > tilesOf(n, columns))
      columns /= 2;
    else if (rows > 48)
      rows /= 2;
    else
      columns /= 2;
  }
  auto capped = [&](int64_t loop, int64_t tile) {
    return ShapedType::isDynamic(ranges[loop])
               ? tile
               : std::min(tile, std::max<int64_t>(ranges[loop], 1));
  };
  if (m >= 0)
    tiles[m] = capped(m, rows);
  if (n >= 0)
    tiles[n] = capped(n, columns);
}

/// Tiles of about kTileElements elements, whole along the inner loops.
static void elementTiles(linalg::LinalgOp op, SmallVectorImpl<int64_t> &tiles) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  int64_t budget = kTileElements;
  for (auto [range, iterator] : llvm::zip_equal(ranges, iterators))
    if (iterator != utils::IteratorType::parallel)
      budget /= std::max<int64_t>(
          ShapedType::isDynamic(range) ? kAssumedExtent : range, 1);
  budget = std::max<int64_t>(budget, 1);
  for (int64_t loop = ranges.size(); loop-- > 0;) {
    if (iterators[loop] != utils::IteratorType::parallel)
      continue;
    int64_t extent =
        ShapedType::isDynamic(ranges[loop]) ? kAssumedExtent : ranges[loop];
    extent = std::max<int64_t>(extent, 1);
    tiles[loop] = std::min(budget, extent);
    if (ShapedType::isDynamic(ranges[loop]) && budget > extent)
      tiles[loop] = budget >= 4 * extent ? 4 * extent : extent;
    budget = std::max<int64_t>(budget / tiles[loop], 1);
  }
}

/// Iterations of a tile of a rudnn op, as its family suggests: many cheap rows,
/// or one heavy one.
static int64_t pointsPerTile(Operation *op) {
  if (isRowOp(op)) {
    int64_t width = shapeOf(op->getOperand(0)).back();
    width = ShapedType::isDynamic(width) ? 1024 : width;
    return std::clamp<int64_t>(kTileElements / width, 1, 256);
  }
  StringRef name = op->getName().stripDialect();
  return llvm::StringSwitch<int64_t>(name)
      .StartsWith("attention", kAttentionRows)
      .StartsWith("moe.", 64)
      .StartsWith("paged.", 4)
      .StartsWith("conv", 16)
      .Default(1);
}

/// Tile sizes of a rudnn op, from its innermost parallel loop outwards.
SmallVector<int64_t> GroupBuilder::operatorTiles(TilingInterface op) {
  SmallVector<std::optional<int64_t>> extents;
  ask(b, op, [&] {
    for (const Range &range : op.getIterationDomain(b))
      extents.push_back(getConstantIntValue(range.size));
  });
  SmallVector<int64_t> tiles(extents.size(), 0);
  // Batch and heads of attention are loops of their own.
  bool onlyInnermost = isa<AttentionOp>(op);
  int64_t budget = pointsPerTile(op);
  SmallVector<utils::IteratorType> iterators = op.getLoopIteratorTypes();
  for (int64_t loop = tiles.size(); loop-- > 0;) {
    if (iterators[loop] != utils::IteratorType::parallel)
      continue;
    std::optional<int64_t> extent = extents[loop];
    tiles[loop] = budget;
    if (extent && *extent <= budget) {
      tiles[loop] = std::max<int64_t>(*extent, 1);
    } else if (extent && !isRowOp(op) && !isa<AttentionOp>(op)) {
      // The extent may have to stay static.
      while (*extent % tiles[loop])
        --tiles[loop];
    }
    budget = onlyInnermost ? 1 : std::max<int64_t>(budget / tiles[loop], 1);
  }
  return tiles;
}

/// Tile sizes of the loops of an op that is not elementwise itself (or stands
/// alone); all zero when it should not be tiled.
SmallVector<int64_t> GroupBuilder::anchorTiles(Operation *op) {
  auto tilable = cast<TilingInterface>(op);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<int64_t> tiles(linalgOp.getNumLoops(), 0);
    if (!linalgOp.hasPureTensorSemantics() ||
        workOf(linalgOp) < kSequentialWork)
      return tiles;
    if (isFloatContraction(op))
      productTiles(linalgOp, tiles);
    else
      elementTiles(linalgOp, tiles);
    return tiles;
  }
  // Without elements there is nothing to share out, and upstream refuses slices
  // of a dim of extent 0.
  if (isRudnnOp(op) && llvm::any_of(op->getOperandTypes(), [](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        return shaped && shaped.hasRank() &&
               llvm::is_contained(shaped.getShape(), 0);
      }))
    return {};
  // The paged gradients decompose into parallel loops over one index of the
  // pages, which tiles would each make again.
  if (!isRudnnOp(op) || isa<PagedAttentionBackwardOp, PagedMlaBackwardOp>(op) ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return {};
  return operatorTiles(tilable);
}

/// Tile sizes of the dims of result 0 given those of the loops.
SmallVector<int64_t> GroupBuilder::resultTiles(Operation *op,
                                               ArrayRef<int64_t> tiles) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> result(type.getRank(), 0);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    AffineMap map = linalgOp.getIndexingMapMatchingResult(op->getResult(0));
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        result[dim] = tiles[loop.getPosition()];
    return result;
  }
  // Ask the op where a tile with sizes of a known mark lies. A dim of which a
  // step covers several elements (query heads of a group) stays whole.
  constexpr int64_t kMark = int64_t(1) << 40;
  SmallVector<OpFoldResult> offsets(tiles.size(), b.getIndexAttr(0)), sizes,
      resultOffsets, resultSizes;
  for (size_t loop = 0; loop < tiles.size(); ++loop)
    sizes.push_back(b.getIndexAttr(kMark + loop));
  ask(b, op, [&] {
    if (failed(cast<TilingInterface>(op).getResultTilePosition(
            b, 0, offsets, sizes, resultOffsets, resultSizes)))
      return;
    for (auto [dim, size] : llvm::enumerate(resultSizes))
      if (std::optional<int64_t> value = getConstantIntValue(size);
          value && *value >= kMark &&
          *value < kMark + static_cast<int64_t>(tiles.size()))
        result[dim] = tiles[*value - kMark];
  });
  return result;
}

std::optional<Group> GroupBuilder::build(Operation *op) {
  Group group;
  group.root = dyn_cast<TilingInterface>(op);
  if (!group.root || !(isRudnnOp(op) || isa<linalg::LinalgOp>(op)))
    return std::nullopt;
  if (isPlainElementwise(op))
    collectElementwise(group, cast<linalg::LinalgOp>(op));
  if (!group.anchor) {
    group.tileSizes = anchorTiles(op);
    collect(group, op);
  }
  if (llvm::all_of(group.tileSizes, [](int64_t tile) { return tile == 0; }))
    return std::nullopt;
  return group;
}

/// Tiles the group; its ops but the root stay behind without users.
static LogicalResult tileGroup(RewriterBase &rewriter, const Group &group) {
  scf::SCFTilingOptions tiling;
  tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  tiling.setTileSizes(
      getAsIndexOpFoldResult(rewriter.getContext(), group.tileSizes));
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer,
          bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
        Operation *op = producer.getOwner();
        if (group.members.contains(op) || isa<linalg::FillOp>(op))
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        return std::nullopt;
      });
  rewriter.setInsertionPoint(group.root);
  FailureOr<scf::SCFTileAndFuseResult> tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, group.root, options);
  if (failed(tiled))
    return group.root->emitOpError("can't be tiled");
  SmallVector<Value> replacements;
  for (OpResult result : group.root->getResults()) {
    auto it = tiled->replacements.find(result);
    if (it == tiled->replacements.end())
      return group.root->emitOpError("can't be tiled: result ")
             << result.getResultNumber() << " has no replacement";
    replacements.push_back(it->second);
  }
  rewriter.replaceOp(group.root, replacements);
  return success();
}

namespace {
struct TileParallel : rudnn::impl::RudnnTileParallelBase<TileParallel> {
  using RudnnTileParallelBase::RudnnTileParallelBase;

  /// Groups of one block, last op first.
  LogicalResult tileBlock(Block &block, IRRewriter &rewriter) {
    GroupBuilder builder(rewriter);
    SmallVector<Operation *> ops;
    for (Operation &op : llvm::reverse(block))
      ops.push_back(&op);
    SmallPtrSet<Operation *, 8> fused;
    for (Operation *op : ops) {
      if (fused.contains(op))
        continue;
      std::optional<Group> group = builder.build(op);
      if (!group || (onlyRudnn && !isRudnnOp(op) &&
                     !(group->anchor && isRudnnOp(group->anchor))))
        continue;
      fused.insert(group->members.begin(), group->members.end());
      if (failed(tileGroup(rewriter, *group)))
        return failure();
    }
    // Fused producers have copies in the loops and no user.
    for (Operation *op : ops)
      if (fused.contains(op) && isOpTriviallyDead(op))
        rewriter.eraseOp(op);
    return success();
  }

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<scf::ForallOp, scf::ParallelOp, linalg::LinalgOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    IRRewriter rewriter(&getContext());
    // Some loops take tiles of one size only, which needs a static extent.
    SmallVector<Operation *> ops;
    for (Block *block : blocks)
      for (Operation &op : *block)
        if (isRudnnOp(&op) &&
            llvm::none_of(op.getOperandTypes(), llvm::IsaPred<MemRefType>))
          ops.push_back(&op);
    for (Operation *op : ops)
      refineExtents(rewriter, op);
    for (Block *block : blocks)
      if (failed(tileBlock(*block, rewriter)))
        return signalPassFailure();
    // Fused producers write whole tensors of which one slice is used.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    scf::ForallOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns,
                                                        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace
