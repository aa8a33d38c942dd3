//===- MoeTiling.cpp - Tiles of moe.experts -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of moe.experts is a range of packed rows. It is the same op with the
// offsets that the range has: what lies before it counts as its start, what
// lies behind as its end.
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace rudnn;

/// min(max(offsets, first) - first, count), unsigned.
static Value offsetsOfTile(OpBuilder &b, Location loc, Value offsets,
                           OpFoldResult first, OpFoldResult count) {
  Value start = getValueOrCreateConstantIndexOp(b, loc, first);
  Value size = getValueOrCreateConstantIndexOp(b, loc, count);
  return EinBuilder(b, loc).map(
      "o->o", offsets, b.getI32Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value offset = toIndex(b, loc, x[0]);
        Value behind = arith::MaxUIOp::create(b, loc, offset, start);
        Value inside = arith::SubIOp::create(b, loc, behind, start);
        return toI32(b, loc, arith::MinUIOp::create(b, loc, inside, size));
      });
}

SmallVector<utils::IteratorType> MoeExpertsOp::getLoopIteratorTypes() {
  return getTilingLoops().iterators;
}

SmallVector<Range> MoeExpertsOp::getIterationDomain(OpBuilder &b) {
  return tilingDomain(b, *this, getTilingLoops());
}

FailureOr<TilingResult>
MoeExpertsOp::getTiledImplementation(OpBuilder &b,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  Value ownOffsets =
      offsetsOfTile(b, getLoc(), getOffsets(), offsets[0], sizes[0]);
  FailureOr<TilingResult> tile =
      tileAlongDims(b, *this, getTilingLoops(), offsets, sizes);
  if (succeeded(tile))
    cast<MoeExpertsOp>(tile->tiledOps[0])
        .getOffsetsMutable()
        .assign(ownOffsets);
  return tile;
}

LogicalResult MoeExpertsOp::getResultTilePosition(
    OpBuilder &b, unsigned result, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  return resultTilePosition(b, *this, getTilingLoops(), result, offsets, sizes,
                            resultOffsets, resultSizes);
}

LogicalResult MoeExpertsOp::getIterationDomainTileFromOperandTiles(
    OpBuilder &b, ArrayRef<unsigned> operands,
    ArrayRef<SmallVector<OpFoldResult>> offsets,
    ArrayRef<SmallVector<OpFoldResult>> sizes,
    SmallVectorImpl<OpFoldResult> &domainOffsets,
    SmallVectorImpl<OpFoldResult> &domainSizes) {
  // The tile's own offsets replace the op's: a fused producer of them is not
  // what the tile reads.
  if (llvm::is_contained(operands, getOffsetsMutable().getOperandNumber()))
    return failure();
  return domainOfOperandTiles(b, *this, getTilingLoops(), operands, offsets,
                              sizes, domainOffsets, domainSizes);
}

LogicalResult MoeExpertsOp::getIterationDomainTileFromResultTile(
    OpBuilder &b, unsigned result, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVectorImpl<OpFoldResult> &domainOffsets,
    SmallVectorImpl<OpFoldResult> &domainSizes) {
  return domainOfResultTile(b, *this, getTilingLoops(), result, offsets, sizes,
                            domainOffsets, domainSizes);
}

FailureOr<TilingResult>
MoeExpertsOp::generateResultTileValue(OpBuilder &b, unsigned result,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromResultTile(b, result, offsets, sizes,
                                                  domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(b, domainOffsets, domainSizes);
}

FailureOr<TilingResult> MoeExpertsOp::getTiledImplementationFromOperandTiles(
    OpBuilder &b, ArrayRef<unsigned> operands,
    ArrayRef<SmallVector<OpFoldResult>> offsets,
    ArrayRef<SmallVector<OpFoldResult>> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromOperandTiles(
          b, operands, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(b, domainOffsets, domainSizes);
}
