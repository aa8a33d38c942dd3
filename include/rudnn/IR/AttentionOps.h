//===- AttentionOps.h - Dense attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_ATTENTIONOPS_H
#define RUDNN_IR_ATTENTIONOPS_H

#include "rudnn/IR/RudnnDialect.h"

#include <optional>

namespace rudnn {

/// Everything that an attention op says about its scores, in one value: what
/// verifiers, tiling, decompositions and schedules of the forward and the
/// backward ops, dense and ragged, share.
struct AttentionScores {
  mlir::Value q, k, v; // [B,Hq,Sq,D], [B,Hkv,Sk,D], [B,Hkv,Sk,Dv]; when ragged
                       // [Tq,Hq,D], [Tk,Hkv,D], [Tk,Hkv,Dv]
  mlir::Value queryOffsets, keyOffsets; // of ragged ops, else null
  mlir::Value mask, bias, sinks; // may be null
  mlir::Value queryOffset;       // index, may be null
  Causal causal;
  LogBase lseBase;
  double scale; // the default filled in
  std::optional<double> softcap;
  std::optional<int64_t> windowLeft;  // keys left of a query's position
  std::optional<int64_t> windowRight; // keys right of it; 0 at most when causal

  bool isRagged() const { return !!queryOffsets; }
  int64_t queryHeads() const { return shapeOf(q)[1]; }
  int64_t keyHeads() const { return shapeOf(k)[1]; }
  /// Query heads per key/value head.
  int64_t group() const { return queryHeads() / keyHeads(); }
  /// Whether which keys a row sees depends on its position.
  bool usesPosition() const {
    return windowLeft.has_value() || windowRight.has_value();
  }
};

/// The key position of query row 0: `query_offset`, else what `causal` says.
mlir::OpFoldResult getQueryOffset(mlir::OpBuilder &b, mlir::Location loc,
                                  const AttentionScores &scores);

/// One tile of an attention op over (batch, query heads, query rows): slices of
/// the operands, the key/value heads of the query heads, and the query offset
/// of the first row. Fails with a diagnostic for a tile of heads that neither
/// lies in one group nor is whole groups.
mlir::FailureOr<mlir::TilingResult>
tileAttention(mlir::OpBuilder &b, mlir::Operation *op, const TilingLoops &loops,
              llvm::ArrayRef<mlir::OpFoldResult> offsets,
              llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// One tile of attention_backward over (batch, key/value heads), as far as they
/// are loops. Fails with a diagnostic for a tile of a varying number of heads.
mlir::FailureOr<mlir::TilingResult>
tileAttentionBackward(mlir::OpBuilder &b, mlir::Operation *op,
                      const TilingLoops &loops,
                      llvm::ArrayRef<mlir::OpFoldResult> offsets,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// One tile of a ragged attention op over its key/value heads. Fails with a
/// diagnostic for a tile of a varying number of heads.
mlir::FailureOr<mlir::TilingResult>
tileRaggedAttention(mlir::OpBuilder &b, mlir::Operation *op,
                    const TilingLoops &loops,
                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes);

} // namespace rudnn

#define GET_OP_CLASSES
#include "rudnn/AttentionOps.h.inc"

namespace rudnn {

AttentionScores getAttentionScores(AttentionOp op);
AttentionScores getAttentionScores(AttentionBackwardOp op);
AttentionScores getAttentionScores(RaggedAttentionOp op);
AttentionScores getAttentionScores(RaggedAttentionBackwardOp op);

/// Checks of the offsets of ragged ops at run time.
void registerRaggedRuntimeVerification(mlir::DialectRegistry &registry);

} // namespace rudnn

#endif // RUDNN_IR_ATTENTIONOPS_H
