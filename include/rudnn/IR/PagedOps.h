//===- PagedOps.h - Paged attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_PAGEDOPS_H
#define RUDNN_IR_PAGEDOPS_H

#include "rudnn/IR/RudnnDialect.h"

#include <optional>

#define GET_OP_CLASSES
#include "rudnn/PagedOps.h.inc"

namespace rudnn {

/// The page operands of an op.
struct PageOperands {
  mlir::Value tables;      // [S,W]
  mlir::Value lengths;     // [S]
  mlir::Value sequenceIds; // [Q]
  mlir::Value positions;   // [Q]
};

template <typename OpTy>
PageOperands getPageOperands(OpTy op) {
  return {op.getTables(), op.getLengths(), op.getSequenceIds(),
          op.getPositions()};
}

/// What a paged attention op says about its scores, the same for grouped-query
/// and latent attention, forward and backward: x[t] is the sum over `parts` of
/// row part times cache part.
struct PagedScores {
  /// A row operand [Q,Hq,D] and the cache [pages,page_size,Hkv,D] it meets.
  struct Part {
    mlir::Value rows, cache;
  };
  llvm::SmallVector<Part, 2> parts;
  mlir::Value values; // the cache [pages,page_size,Hkv,Dv] that is averaged
  mlir::Value sinks;  // may be null
  PageOperands pages;
  double scale = 1.0; // the default filled in
  bool causal = false;
  std::optional<double> softcap;
  std::optional<int64_t> windowLeft, windowRight;
};

PagedScores getPagedScores(PagedAttentionOp op);
PagedScores getPagedScores(PagedAttentionBackwardOp op);
PagedScores getPagedScores(PagedMlaOp op);
PagedScores getPagedScores(PagedMlaBackwardOp op);

/// Tiles along whole dims; heads must stay a static number.
mlir::FailureOr<mlir::TilingResult>
tilePaged(mlir::OpBuilder &b, mlir::Operation *op, const TilingLoops &loops,
          llvm::ArrayRef<mlir::OpFoldResult> offsets,
          llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Registers the run-time checks of index operands
/// (`-generate-runtime-verification`).
void registerPagedRuntimeVerification(mlir::DialectRegistry &registry);

} // namespace rudnn

#endif // RUDNN_IR_PAGEDOPS_H
