//===- TilingUtils.cpp - TilingInterface for ops with simple loops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/TilingUtils.h"

#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace rudnn;

TilingLoops rudnn::getRowLoops(Operation *op) {
  TilingLoops loops;
  int64_t rank = shapeOf(op->getOperand(0)).size();
  loops.iterators.assign(rank - 1, utils::IteratorType::parallel);
  for (Value operand : op->getOperands()) {
    int64_t operandRank = shapeOf(operand).size();
    SmallVector<int64_t> dims(operandRank, -1);
    if (operandRank == rank)
      std::iota(dims.begin(), dims.end() - 1, 0);
    loops.operandDims.push_back(dims);
  }
  return loops;
}

SmallVector<Range> rudnn::tilingDomain(OpBuilder &b, Operation *op,
                                       const TilingLoops &loops) {
  SmallVector<Range> domain(loops.iterators.size());
  for (auto [index, dims] : llvm::enumerate(loops.operandDims))
    for (auto [dim, loop] : llvm::enumerate(dims))
      if (loop >= 0 && !domain[loop].size && loops.factor(index, dim) == 1)
        domain[loop] = {b.getIndexAttr(0),
                        tensor::getMixedSize(b, op->getLoc(),
                                             op->getOperand(index), dim),
                        b.getIndexAttr(1)};
  return domain;
}

/// The slice of operand `index` that the tile of the loops touches.
static void operandTile(OpBuilder &b, Operation *op, const TilingLoops &loops,
                        unsigned index, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        SmallVectorImpl<OpFoldResult> &tileOffsets,
                        SmallVectorImpl<OpFoldResult> &tileSizes) {
  Location loc = op->getLoc();
  for (auto [dim, loop] : llvm::enumerate(loops.operandDims[index])) {
    if (loop < 0) {
      tileOffsets.push_back(b.getIndexAttr(0));
      tileSizes.push_back(
          tensor::getMixedSize(b, loc, op->getOperand(index), dim));
      continue;
    }
    AffineExpr scaled = b.getAffineSymbolExpr(0) * loops.factor(index, dim);
    tileOffsets.push_back(
        affine::makeComposedFoldedAffineApply(b, loc, scaled, {offsets[loop]}));
    tileSizes.push_back(
        affine::makeComposedFoldedAffineApply(b, loc, scaled, {sizes[loop]}));
  }
}

FailureOr<TilingResult> rudnn::tileAlongDims(OpBuilder &b, Operation *op,
                                             const TilingLoops &loops,
                                             ArrayRef<OpFoldResult> offsets,
                                             ArrayRef<OpFoldResult> sizes) {
  Location loc = op->getLoc();
  for (auto [loop, what] : llvm::enumerate(loops.staticLoops)) {
    if (what.empty() || getConstantIntValue(sizes[loop]))
      continue;
    OpFoldResult extent = tilingDomain(b, op, loops)[loop].size;
    return op->emitOpError("can't be tiled into a varying number of ")
           << what << ": give a tile size that divides "
           << getConstantIntValue(extent).value_or(0);
  }
  SmallVector<Value> operands;
  SmallVector<Operation *> slices;
  for (auto [index, dims] : llvm::enumerate(loops.operandDims)) {
    Value operand = op->getOperand(index);
    if (llvm::all_of(dims, [](int64_t loop) { return loop < 0; })) {
      operands.push_back(operand);
      continue;
    }
    SmallVector<OpFoldResult> tileOffsets, tileSizes;
    operandTile(b, op, loops, index, offsets, sizes, tileOffsets, tileSizes);
    SmallVector<OpFoldResult> strides(dims.size(), b.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(b, loc, operand, tileOffsets,
                                                tileSizes, strides);
    operands.push_back(slice);
    slices.push_back(slice);
  }
  auto dps = cast<DestinationStyleOpInterface>(op);
  SmallVector<Type> resultTypes;
  for (OpResult result : op->getResults())
    resultTypes.push_back(
        operands[dps.getTiedOpOperand(result)->getOperandNumber()].getType());
  Operation *tiled = mlir::clone(b, op, resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult rudnn::resultTilePosition(
    OpBuilder &b, Operation *op, const TilingLoops &loops, unsigned result,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
    SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  OpOperand *init = cast<DestinationStyleOpInterface>(op).getTiedOpOperand(
      op->getResult(result));
  operandTile(b, op, loops, init->getOperandNumber(), offsets, sizes,
              resultOffsets, resultSizes);
  return success();
}

/// Narrows the loops to the tile of operand `index`. Loops the operand does not
/// follow keep their full range; false when the tile cuts a dim without a loop,
/// or one of which a step of the loop covers several elements.
static bool narrowDomain(Operation *op, const TilingLoops &loops,
                         unsigned index, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         SmallVectorImpl<OpFoldResult> &domainOffsets,
                         SmallVectorImpl<OpFoldResult> &domainSizes) {
  for (auto [dim, loop] : llvm::enumerate(loops.operandDims[index])) {
    if (loop >= 0 && loops.factor(index, dim) == 1) {
      domainOffsets[loop] = offsets[dim];
      domainSizes[loop] = sizes[dim];
      continue;
    }
    int64_t extent = shapeOf(op->getOperand(index))[dim];
    bool whole = isZeroInteger(offsets[dim]) &&
                 (ShapedType::isDynamic(extent) ||
                  isConstantIntValue(sizes[dim], extent));
    if (!whole)
      return false;
  }
  return true;
}

LogicalResult rudnn::domainOfResultTile(
    OpBuilder &b, Operation *op, const TilingLoops &loops, unsigned result,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
    SmallVectorImpl<OpFoldResult> &domainOffsets,
    SmallVectorImpl<OpFoldResult> &domainSizes) {
  OpOperand *init = cast<DestinationStyleOpInterface>(op).getTiedOpOperand(
      op->getResult(result));
  return domainOfOperandTiles(b, op, loops, {init->getOperandNumber()},
                              {SmallVector<OpFoldResult>(offsets)},
                              {SmallVector<OpFoldResult>(sizes)}, domainOffsets,
                              domainSizes);
}

LogicalResult rudnn::domainOfOperandTiles(
    OpBuilder &b, Operation *op, const TilingLoops &loops,
    ArrayRef<unsigned> operands, ArrayRef<SmallVector<OpFoldResult>> offsets,
    ArrayRef<SmallVector<OpFoldResult>> sizes,
    SmallVectorImpl<OpFoldResult> &domainOffsets,
    SmallVectorImpl<OpFoldResult> &domainSizes) {
  for (Range range : tilingDomain(b, op, loops)) {
    domainOffsets.push_back(range.offset);
    domainSizes.push_back(range.size);
  }
  for (auto [operand, tileOffsets, tileSizes] :
       llvm::zip_equal(operands, offsets, sizes))
    if (!narrowDomain(op, loops, operand, tileOffsets, tileSizes, domainOffsets,
                      domainSizes))
      return failure();
  return success();
}

FailureOr<TilingResult> rudnn::tileForResult(OpBuilder &b, Operation *op,
                                             const TilingLoops &loops,
                                             unsigned result,
                                             ArrayRef<OpFoldResult> offsets,
                                             ArrayRef<OpFoldResult> sizes,
                                             TileFunction tile) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(domainOfResultTile(b, op, loops, result, offsets, sizes,
                                domainOffsets, domainSizes)))
    return failure();
  FailureOr<TilingResult> tiled =
      tile(b, op, loops, domainOffsets, domainSizes);
  if (failed(tiled))
    return failure();
  // The caller asked for one result.
  tiled->tiledValues = {tiled->tiledValues[result]};
  return tiled;
}
