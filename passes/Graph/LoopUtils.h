//===- LoopUtils.h - Loops of linalg ops built by hand -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes that turn linalg ops on tensors into loops share.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_GRAPH_LOOPUTILS_H
#define RUDNN_PASSES_GRAPH_LOOPUTILS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace rudnn {

using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value iv, mlir::ValueRange state)>;

/// state = init; for (iv = from; iv < to; iv += step) state = body(iv, state).
/// `b` stands in the loop while `body` runs and after the loop at the end. A
/// loop that is known to make exactly one trip is left out.
llvm::SmallVector<mlir::Value> buildLoop(mlir::OpBuilder &b,
                                         mlir::Location loc, mlir::Value from,
                                         mlir::Value to, int64_t step,
                                         mlir::ValueRange init, LoopBody body);

/// The same for one value.
mlir::Value
buildLoop1(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
           mlir::Value to, int64_t step, mlir::Value init,
           llvm::function_ref<mlir::Value(mlir::Value iv, mlir::Value state)>
               body);

/// Nested loops of step one over `dims` (outermost first). `ivs[dim]` is set
/// for the body, which runs innermost.
llvm::SmallVector<mlir::Value>
buildNest(mlir::OpBuilder &b, mlir::Location loc,
          llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<mlir::Value> extents,
          llvm::MutableArrayRef<mlir::Value> ivs, mlir::ValueRange init,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(
              mlir::ValueRange state)>
              body);

/// Extents of the loops of a linalg op on tensors, as index values.
llvm::SmallVector<mlir::Value> loopExtents(mlir::OpBuilder &b,
                                           mlir::linalg::LinalgOp op);

/// The value of a constant index, if it is one.
std::optional<int64_t> constantIndex(mlir::Value value);

/// x rounded down to a multiple.
mlir::Value roundDown(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      int64_t multiple);

/// Indices of an operand with this map (dims and constants only) at `ivs`.
llvm::SmallVector<mlir::Value> operandIndices(mlir::OpBuilder &b,
                                              mlir::Location loc,
                                              mlir::AffineMap map,
                                              llvm::ArrayRef<mlir::Value> ivs);

/// `x` (scalar or vector of floats) with the element type `type`.
mlir::Value convertFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         mlir::Type type);

/// True when `op` is nested in a loop whose iterations run in parallel.
bool isInParallelLoop(mlir::Operation *op);

/// A sum of products over floats (also through extensions), any indexing that
/// is a contraction.
bool isFloatContraction(mlir::Operation *op);

/// Bytes of a vector register: `option`, or this machine's when that is 0.
unsigned vectorBytesOf(unsigned option);

} // namespace rudnn

#endif // RUDNN_PASSES_GRAPH_LOOPUTILS_H
