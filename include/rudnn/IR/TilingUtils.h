//===- TilingUtils.h - TilingInterface for ops with simple loops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_TILINGUTILS_H
#define RUDNN_IR_TILINGUTILS_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace rudnn {

/// How the loops of an op run along the dims of its operands. Every loop must
/// appear with factor 1 in the operand that defines its extent; a dim without a
/// loop (-1) is taken whole by every tile.
struct TilingLoops {
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  /// operandDims[i][d]: the loop that runs along dim d of operand i, or -1.
  llvm::SmallVector<llvm::SmallVector<int64_t>> operandDims;
  /// factors[i][d]: how many elements of dim d one step of its loop covers (the
  /// query heads of a key/value head); empty when 1 everywhere.
  llvm::SmallVector<llvm::SmallVector<int64_t>> factors;
  /// What a loop counts (heads, channels) when every tile of it must have one
  /// static size, else "". May be shorter than the loops.
  llvm::SmallVector<llvm::StringRef> staticLoops;

  int64_t factor(size_t operand, size_t dim) const {
    return factors.empty() || factors[operand].empty() ? 1
                                                       : factors[operand][dim];
  }
};

/// The loops of a row op: every dim of operand 0 but the last is a parallel
/// loop; operands of the same rank follow it, operands of lower rank are whole.
TilingLoops getRowLoops(mlir::Operation *op);

llvm::SmallVector<mlir::Range> tilingDomain(mlir::OpBuilder &b,
                                            mlir::Operation *op,
                                            const TilingLoops &loops);

mlir::FailureOr<mlir::TilingResult>
tileAlongDims(mlir::OpBuilder &b, mlir::Operation *op, const TilingLoops &loops,
              llvm::ArrayRef<mlir::OpFoldResult> offsets,
              llvm::ArrayRef<mlir::OpFoldResult> sizes);

llvm::LogicalResult
resultTilePosition(mlir::OpBuilder &b, mlir::Operation *op,
                   const TilingLoops &loops, unsigned result,
                   llvm::ArrayRef<mlir::OpFoldResult> offsets,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   llvm::SmallVector<mlir::OpFoldResult> &resultOffsets,
                   llvm::SmallVector<mlir::OpFoldResult> &resultSizes);

/// How one tile of an op is made; tileAlongDims unless the op needs more.
using TileFunction = llvm::function_ref<mlir::FailureOr<mlir::TilingResult>(
    mlir::OpBuilder &, mlir::Operation *, const TilingLoops &,
    llvm::ArrayRef<mlir::OpFoldResult>, llvm::ArrayRef<mlir::OpFoldResult>)>;

mlir::FailureOr<mlir::TilingResult>
tileForResult(mlir::OpBuilder &b, mlir::Operation *op, const TilingLoops &loops,
              unsigned result, llvm::ArrayRef<mlir::OpFoldResult> offsets,
              llvm::ArrayRef<mlir::OpFoldResult> sizes,
              TileFunction tile = tileAlongDims);

llvm::LogicalResult
domainOfResultTile(mlir::OpBuilder &b, mlir::Operation *op,
                   const TilingLoops &loops, unsigned result,
                   llvm::ArrayRef<mlir::OpFoldResult> offsets,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   llvm::SmallVectorImpl<mlir::OpFoldResult> &domainOffsets,
                   llvm::SmallVectorImpl<mlir::OpFoldResult> &domainSizes);

llvm::LogicalResult domainOfOperandTiles(
    mlir::OpBuilder &b, mlir::Operation *op, const TilingLoops &loops,
    llvm::ArrayRef<unsigned> operands,
    llvm::ArrayRef<llvm::SmallVector<mlir::OpFoldResult>> offsets,
    llvm::ArrayRef<llvm::SmallVector<mlir::OpFoldResult>> sizes,
    llvm::SmallVectorImpl<mlir::OpFoldResult> &domainOffsets,
    llvm::SmallVectorImpl<mlir::OpFoldResult> &domainSizes);

} // namespace rudnn

#endif // RUDNN_IR_TILINGUTILS_H
