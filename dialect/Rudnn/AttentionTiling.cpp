//===- AttentionTiling.cpp - Tiles of the dense attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/AttentionOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace rudnn;

/// Dims of a broadcastable operand [B,Hq,Sq,Sk]; a static 1 is taken whole.
static SmallVector<int64_t> broadcastDims(Value value) {
  SmallVector<int64_t> dims{0, 1, 2, -1};
  for (auto [dim, extent] : llvm::zip_equal(dims, shapeOf(value)))
    if (extent == 1)
      dim = -1;
  return dims;
}

TilingLoops AttentionOp::getTilingLoops() {
  TilingLoops loops;
  loops.iterators.assign(3, utils::IteratorType::parallel);
  // With groups, the head dim of k and v has no loop of its own: tileAttention
  // slices it.
  int64_t heads = getAttentionScores(*this).group() == 1 ? 1 : -1;
  loops.operandDims = {{0, 1, 2, -1}, {0, heads, -1, -1}, {0, heads, -1, -1}};
  if (getMask())
    loops.operandDims.push_back(broadcastDims(getMask()));
  if (getBias())
    loops.operandDims.push_back(broadcastDims(getBias()));
  if (getSinks())
    loops.operandDims.push_back({1});
  if (getQueryOffset())
    loops.operandDims.emplace_back();
  loops.operandDims.push_back({0, 1, 2, -1});
  if (getLseOut())
    loops.operandDims.push_back({0, 1, 2});
  return loops;
}

TilingLoops AttentionBackwardOp::getTilingLoops() {
  AttentionScores scores = getAttentionScores(*this);
  // A loop along which a requested gradient is a sum is not offered.
  bool batch = !getSinksGradient(), head = true;
  if (getBiasGradient()) {
    batch &= shapeOf(getBias())[0] != 1;
    head &= shapeOf(getBias())[1] != 1;
  }
  TilingLoops loops;
  loops.iterators.assign(batch + head, utils::IteratorType::parallel);
  int64_t b = batch ? 0 : -1, h = head ? int64_t(batch) : -1;
  int64_t group = scores.group();
  auto add = [&](ArrayRef<int64_t> dims, int64_t headDim, int64_t factor) {
    loops.operandDims.emplace_back(dims);
    loops.factors.emplace_back(dims.size(), 1);
    if (!dims.empty())
      loops.factors.back()[headDim] = factor;
  };
  auto addBroadcast = [&](Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    add({shape[0] == 1 ? -1 : b, shape[1] == 1 ? -1 : h, -1, -1}, 1, group);
  };
  add({b, h, -1, -1}, 1, group); // q
  add({b, h, -1, -1}, 1, 1);     // k
  add({b, h, -1, -1}, 1, 1);     // v
  add({b, h, -1, -1}, 1, group); // out
  add({b, h, -1, -1}, 1, group); // dout
  add({b, h, -1}, 1, group);     // lse
  if (getMask())
    addBroadcast(getMask());
  if (getBias())
    addBroadcast(getBias());
  if (getSinks())
    add({h}, 0, group);
  if (getQueryOffset())
    add({}, 0, 1);
  add({b, h, -1, -1}, 1, group); // dq
  add({b, h, -1, -1}, 1, 1);     // dk
  add({b, h, -1, -1}, 1, 1);     // dv
  if (getBiasGradient())
    addBroadcast(getBias());
  if (getSinksGradient())
    add({h}, 0, group);
  return loops;
}

TilingLoops MergeAttentionStatesOp::getTilingLoops() {
  TilingLoops loops;
  loops.iterators.assign(3, utils::IteratorType::parallel);
  loops.operandDims.append(getStates().size(), {0, 1, 2, -1});
  loops.operandDims.append(getLses().size(), {0, 1, 2});
  loops.operandDims.push_back({0, 1, 2, -1});
  if (getLseOut())
    loops.operandDims.push_back({0, 1, 2});
  return loops;
}

OpFoldResult rudnn::getQueryOffset(OpBuilder &b, Location loc,
                                   const AttentionScores &scores) {
  if (scores.queryOffset)
    return getAsOpFoldResult(scores.queryOffset);
  if (scores.causal == Causal::TopLeft)
    return b.getIndexAttr(0);
  AffineExpr keys, rows;
  bindSymbols(b.getContext(), keys, rows);
  return affine::makeComposedFoldedAffineApply(
      b, loc, keys - rows,
      {tensor::getMixedSize(b, loc, scores.k, 2),
       tensor::getMixedSize(b, loc, scores.q, 2)});
}

/// Whether `offset` is known to be a multiple of `factor`: a constant, or the
/// induction variable of a loop that starts and steps in multiples.
static bool isMultipleOf(OpFoldResult offset, int64_t factor) {
  if (factor == 1)
    return true;
  if (std::optional<int64_t> value = getConstantIntValue(offset))
    return *value % factor == 0;
  auto value = cast<Value>(offset);
  if (auto apply = value.getDefiningOp<affine::AffineApplyOp>())
    return apply.getAffineMap().getResult(0).isMultipleOf(factor);
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg)
    return false;
  auto loop = dyn_cast<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
  if (!loop)
    return false;
  auto ivs = loop.getLoopInductionVars();
  auto lowers = loop.getLoopLowerBounds(), steps = loop.getLoopSteps();
  if (!ivs || !lowers || !steps)
    return false;
  for (auto [iv, lower, step] : llvm::zip_equal(*ivs, *lowers, *steps))
    if (iv == value)
      return isMultipleOf(lower, factor) && isMultipleOf(step, factor);
  return false;
}

/// The key/value heads of the query heads [offset, offset + size): of one group
/// one head, of whole groups one each.
static LogicalResult keyHeadTile(OpBuilder &b, Operation *op, int64_t group,
                                 OpFoldResult offset, OpFoldResult size,
                                 OpFoldResult &keyOffset,
                                 OpFoldResult &keySize) {
  std::optional<int64_t> heads = getConstantIntValue(size);
  bool inside = heads && group % *heads == 0 && isMultipleOf(offset, *heads);
  bool whole = heads && *heads % group == 0 && isMultipleOf(offset, group);
  if (!inside && !whole) {
    InFlightDiagnostic error = op->emitOpError() << "can't be tiled into ";
    if (heads)
      error << *heads;
    else
      error << "a varying number of";
    return error << " query heads: a tile must lie within one group of "
                 << group << " or be whole groups";
  }
  keyOffset = affine::makeComposedFoldedAffineApply(
      b, op->getLoc(), b.getAffineDimExpr(0).floorDiv(group), {offset});
  keySize = b.getIndexAttr(inside ? 1 : *heads / group);
  return success();
}

/// Batches and heads of k or v, whole along the other dims.
static Operation *sliceHeads(OpBuilder &b, Location loc, Value source,
                             OpFoldResult batch, OpFoldResult head,
                             OpFoldResult batches, OpFoldResult heads) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, source);
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
  offsets[0] = batch, offsets[1] = head;
  sizes[0] = batches, sizes[1] = heads;
  return tensor::ExtractSliceOp::create(b, loc, source, offsets, sizes,
                                        strides);
}

FailureOr<TilingResult> rudnn::tileAttention(OpBuilder &b, Operation *op,
                                             const TilingLoops &loops,
                                             ArrayRef<OpFoldResult> offsets,
                                             ArrayRef<OpFoldResult> sizes) {
  auto attention = cast<AttentionOp>(op);
  AttentionScores scores = getAttentionScores(attention);
  Location loc = op->getLoc();
  std::optional<int64_t> heads = getConstantIntValue(sizes[1]);
  if (!heads)
    return op->emitOpError("can't be tiled into a varying number of query "
                           "heads: give a tile size that divides ")
           << scores.queryHeads();
  OpFoldResult keyOffset = offsets[1], keySize = sizes[1];
  if (scores.group() > 1 &&
      failed(keyHeadTile(b, op, scores.group(), offsets[1], sizes[1], keyOffset,
                         keySize)))
    return failure();
  // The offset of the tile's first row, from the sizes of the whole op.
  Value queryOffset;
  if (scores.usesPosition()) {
    AffineExpr first, row;
    bindSymbols(b.getContext(), first, row);
    queryOffset = getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(
            b, loc, first + row, {getQueryOffset(b, loc, scores), offsets[2]}));
  }
  // The heads of k and v differ from those of q: sliced here, in one step.
  TilingLoops others = loops;
  if (scores.group() > 1)
    others.operandDims[1] = others.operandDims[2] = {-1, -1, -1, -1};
  FailureOr<TilingResult> tiled = tileAlongDims(b, op, others, offsets, sizes);
  if (failed(tiled))
    return failure();
  auto tile = cast<AttentionOp>(tiled->tiledOps.front());
  if (scores.group() > 1) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(tile);
    for (OpOperand *operand : {&tile.getKMutable(), &tile.getVMutable()}) {
      Operation *slice = sliceHeads(b, loc, operand->get(), offsets[0],
                                    keyOffset, sizes[0], keySize);
      operand->set(slice->getResult(0));
      tiled->generatedSlices.push_back(slice);
    }
  }
  if (queryOffset)
    tile.getQueryOffsetMutable().assign(queryOffset);
  return tiled;
}

FailureOr<TilingResult> rudnn::tileAttentionBackward(
    OpBuilder &b, Operation *op, const TilingLoops &loops,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  Value k = cast<AttentionBackwardOp>(op).getK();
  int64_t heads = loops.operandDims[1][1];
  if (heads >= 0 && !getConstantIntValue(sizes[heads]))
    return op->emitOpError("can't be tiled into a varying number of key/value "
                           "heads: give a tile size that divides ")
           << shapeOf(k)[1];
  return tileAlongDims(b, op, loops, offsets, sizes);
}
