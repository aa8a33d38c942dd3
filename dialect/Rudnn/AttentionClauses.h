//===- AttentionClauses.h - Clauses that attention ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_ATTENTIONCLAUSES_H
#define RUDNN_DIALECT_ATTENTIONCLAUSES_H

#include "rudnn/IR/AttentionOps.h"

namespace rudnn {

/// The number `index` clause of an op: "attention_c3".
std::string clauseOf(mlir::Operation *op, unsigned index);

/// Clause 2: heads and head dims.
llvm::LogicalResult verifyHeads(mlir::Operation *op, const AttentionScores &s);
/// Clause 6: element types.
llvm::LogicalResult verifyOperandTypes(mlir::Operation *op,
                                       const AttentionScores &s,
                                       mlir::Value out);
/// Clauses 10 to 12: sinks, softcap and windows. The attributes are those of
/// the op, before defaults.
llvm::LogicalResult verifySharedOptions(mlir::Operation *op,
                                        const AttentionScores &s,
                                        std::optional<llvm::APFloat> softcap,
                                        std::optional<int64_t> windowLeft,
                                        std::optional<int64_t> windowRight);
/// Clause `index`: a gradient has the shape of its operand and is f32 or of its
/// type.
llvm::LogicalResult verifyGradient(mlir::Operation *op, unsigned index,
                                   llvm::StringRef name, mlir::Value gradient,
                                   mlir::Value operand);

} // namespace rudnn

#endif // RUDNN_DIALECT_ATTENTIONCLAUSES_H
