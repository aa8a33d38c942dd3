//===- AttentionBlocks.h - Attention over blocks of keys -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decompositions of attention and of its backward op share: the loop
// over blocks of keys that some row sees, and the scores of a block.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_ATTENTIONBLOCKS_H
#define RUDNN_DIALECT_ATTENTIONBLOCKS_H

#include "rudnn/IR/AttentionOps.h"
#include "rudnn/IR/EinBuilder.h"

namespace rudnn {

/// Index letters: b batch, h key/value head, g query head of the group (only
/// with groups), q query row, k key of the block, d head dim, v value dim.
class AttentionBlocks {
public:
  /// Keys per block: the scores of 64 rows fill half of a small L1 cache.
  static constexpr int64_t kKeys = 128;

  struct Block {
    mlir::OpFoldResult start, size;
  };
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      const Block &, mlir::ValueRange)>;

  AttentionBlocks(mlir::OpBuilder &b, mlir::Location loc,
                  const AttentionScores &scores);

  /// The letters of a value per row, "bhq" or "bhgq"; those of a value per
  /// query head without the row.
  const std::string &rows() const { return rowLetters; }
  std::string heads() const {
    return rowLetters.substr(1, rowLetters.size() - 2);
  }

  /// q in f32, with its heads split by group.
  mlir::Value queries() const { return query; }
  /// A tensor whose dim `dim` is the query heads, with that dim split by group;
  /// and back to `type`.
  mlir::Value split(mlir::Value x, int64_t dim = 1);
  mlir::Value join(mlir::Value x, mlir::Type type, int64_t dim = 1);

  /// `state` after every block of keys that a row may see, in order.
  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange state, Body body);

  /// The rows of k or v that are in the block, in f32: "bhkd" or "bhkv".
  mlir::Value slice(mlir::Value keysOrValues, const Block &block);
  /// The same with the last two dims exchanged.
  mlir::Value sliceTransposed(mlir::Value keysOrValues, const Block &block);

  /// q . k in f32 for the block: rows() + "k".
  mlir::Value products(const Block &block);
  /// The score of each element (scaled, capped, biased), -inf where the key is
  /// excluded, in the place of the products.
  mlir::Value updateScores(const Block &block, mlir::Value products);
  /// exp(score - lse) of each element, in a new tensor.
  mlir::Value probabilities(const Block &block, mlir::Value products,
                            mlir::Value lse);

  /// A mask or bias with its heads split by group, when it has heads.
  mlir::Value splitBroadcast(mlir::Value x) {
    return shapeOf(x)[1] == 1 ? x : split(x);
  }
  /// The part of a split mask or bias that is in the block.
  struct Slice {
    llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
    std::string letters;             // of the dims that are not a static 1
    llvm::SmallVector<int64_t> kept; // their extents
  };
  Slice broadcastSlice(mlir::Value x, const Block &block);

  /// A float tensor in f32; the tensor itself when it is.
  mlir::Value toF32Tensor(mlir::Value x);
  /// A float tensor of zeros, in the place of `init`.
  mlir::Value fillZero(mlir::Value init);

  EinBuilder &ein() { return e; }

private:
  /// What makes the score of an element: the operands it reads and their
  /// letters, and the bounds on key - row.
  struct ScoreInputs {
    llvm::SmallVector<mlir::Value> operands;
    std::string letters; // "bk,hqk,"
    mlir::Value left, right;
  };
  ScoreInputs scoreInputs(const Block &block);
  mlir::Value makeScore(mlir::OpBuilder &nested, const ScoreInputs &inputs,
                        mlir::Value product, mlir::ValueRange values);
  mlir::Value makeExcluded(mlir::OpBuilder &nested, mlir::Value masked,
                           const ScoreInputs &inputs);

  mlir::OpBuilder &b;
  mlir::Location loc;
  AttentionScores scores;
  EinBuilder e;
  std::string rowLetters;
  mlir::Value query;
  mlir::OpFoldResult offset; // key position of row 0, when positions are used
};

} // namespace rudnn

#endif // RUDNN_DIALECT_ATTENTIONBLOCKS_H
