//===- PagedBuilder.h - Pieces of paged decompositions -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_PAGEDBUILDER_H
#define RUDNN_DIALECT_PAGEDBUILDER_H

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/PagedOps.h"

namespace rudnn {

/// A half-open range of tokens, index values.
struct TokenRange {
  mlir::Value lo, hi;
};

/// The softmax state of one group of query heads over a range of tokens: the
/// maximum [G], the sum of weights [G] and the weighted values [G,Dv], f32.
struct SoftmaxState {
  mlir::Value max, sum, acc;
};

/// Builds the loops that forward and backward decompositions share. All code of
/// one (row, key/value head) goes through a builder made at that place.
class PagedBuilder {
public:
  PagedBuilder(mlir::OpBuilder &b, mlir::Location loc,
               const PagedScores &scores)
      : b(b), loc(loc), e(b, loc), scores(scores) {}

  // Index arithmetic.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value dim(mlir::Value tensor, int64_t dim);
  /// Element of an i32 tensor, read as unsigned.
  mlir::Value load(mlir::Value tensor, mlir::ValueRange indices);
  /// load where `inside` holds, else `otherwise`; nothing is read then.
  mlir::Value loadIf(mlir::Value inside, mlir::Value tensor,
                     mlir::ValueRange indices, mlir::Value otherwise);

  mlir::Value pageSize() { return dim(scores.values, 1); }
  mlir::Value pageCount() { return dim(scores.values, 0); }
  /// Query heads per cache head.
  int64_t group() const {
    return shapeOf(scores.parts[0].rows)[1] / shapeOf(scores.values)[2];
  }
  int64_t valueWidth() const { return shapeOf(scores.values)[3]; }

  /// The number of tokens of sequence `sequence` that its table can hold; 0 for
  /// a sequence that doesn't exist.
  mlir::Value length(mlir::Value sequence);
  /// The tokens that row `row` of sequence `sequence` sees.
  TokenRange visible(mlir::Value row, mlir::Value sequence);

  /// The rows of `tensor` [Q,Hq,X] of one row and cache head: [G,X].
  mlir::Value groupSlice(mlir::Value tensor, mlir::Value row, mlir::Value head);
  /// `count` tokens of a cache from slot `slot` of page `page`: [count,X].
  mlir::Value tokenSlice(mlir::Value cache, mlir::Value page, mlir::Value slot,
                         mlir::Value count, mlir::Value head);

  /// Loops over the pages that hold `range` of `sequence`; the body gets the
  /// page id, the first slot in the page, the first token and the token count.
  struct PagePiece {
    mlir::Value page, slot, token, count;
  };
  using PageBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      PagedBuilder &, PagePiece, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> forPages(mlir::Value sequence,
                                          TokenRange range,
                                          mlir::ValueRange init, PageBody body);

  /// rows [G,X] times the tokens of a piece of `cache`, added to `init`
  /// [G,count].
  mlir::Value product(mlir::Value rows, mlir::Value cache,
                      const PagePiece &piece, mlir::Value head,
                      mlir::Value init);
  /// Scores x[t] of a piece, scaled and capped, written to `init` [G,count].
  /// `rows` are the group slices of the score parts.
  mlir::Value pieceScores(mlir::ValueRange rows, const PagePiece &piece,
                          mlir::Value head, mlir::Value init);
  /// The group slices of all score parts.
  llvm::SmallVector<mlir::Value> scoreRows(mlir::Value row, mlir::Value head);

  /// A [G,range] tensor, computed piece by piece: the body gets the columns of
  /// its piece and returns them.
  using ColumnBody = llvm::function_ref<mlir::Value(
      PagedBuilder &, const PagePiece &, mlir::Value)>;
  mlir::Value forColumns(mlir::Value sequence, TokenRange range,
                         ColumnBody body);
  /// Scores [G,range].
  mlir::Value rangeScores(mlir::ValueRange rows, mlir::Value sequence,
                          mlir::Value head, TokenRange range);
  /// sum_t weights[g,t] * cache[t]: [G,X].
  mlir::Value weightedSum(mlir::Value weights, mlir::Value cache,
                          mlir::Value sequence, mlir::Value head,
                          TokenRange range);
  /// The softmax state of one row and cache head over `range`.
  SoftmaxState attend(mlir::ValueRange rows, mlir::Value sequence,
                      mlir::Value head, TokenRange range);

  SoftmaxState emptyState();
  /// `state` followed by `part`; either may be empty (sum 0).
  SoftmaxState merge(const SoftmaxState &state, const SoftmaxState &part);
  /// `state` with the sink of each head in its sum.
  SoftmaxState addSinks(const SoftmaxState &state, mlir::Value head);
  /// The sinks of a group of heads in f32: [G].
  mlir::Value groupSinks(mlir::Value head);

  mlir::OpBuilder &b;
  mlir::Location loc;
  EinBuilder e;
  const PagedScores &scores;
};

} // namespace rudnn

#endif // RUDNN_DIALECT_PAGEDBUILDER_H
