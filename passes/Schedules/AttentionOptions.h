//===- AttentionOptions.h - What attention schedules share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of rudnn.attention and rudnn.ragged_attention in a kernel, for
// any schedule that walks over blocks of keys with scores in registers: which
// keys a tile of rows sees, softcap, bias, mask, the running softmax, sinks and
// log-sum-exp, and the kernel arguments of these. A schedule derives from it
// and says how tiles move and how products are made.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_SCHEDULES_ATTENTIONOPTIONS_H
#define RUDNN_PASSES_SCHEDULES_ATTENTIONOPTIONS_H

#include "Schedules.h"

#include "rudnn/IR/AttentionOps.h"

namespace rudnn::tile {

inline constexpr double kLog2E = 1.4426950408889634;

/// One rudnn.attention or rudnn.ragged_attention.
struct AttentionCall {
  explicit AttentionCall(mlir::Operation *op);
  mlir::Location loc;
  AttentionScores scores;
  mlir::Value out, lse; // lse may be null
};

/// Why no schedule takes the operands; empty when they can.
std::string whyNotAttentionOperands(const AttentionScores &s);

/// The tile sizes, and what they say about masks.
struct ScoreShape {
  int64_t queryRows, keyTile;  // rows of a tile, keys of a block
  bool groupsDiffer;           // groups of a tile may end in different blocks
  bool boundsImplyEnd;         // the right bound never lies behind the last key
  bool firstMasked, allMasked; // which blocks of keys need a mask
  bool rightLoop;              // more than one block may be cut on the right
  bool mayBeEmpty;             // a row may see no key
};

/// `groupRows`: rows of a tile that walk over their own blocks of keys.
ScoreShape getScoreShape(const AttentionScores &s, int64_t queryRows,
                         int64_t keyTile, int64_t groupRows);

class AttentionOptions {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Values = KernelBuilder::Values;

protected:
  struct Tile {
    Value batch, head, keyHead, flatHead, row;
    Value queries, keys,
        offset; // rows and keys there are, key position of row 0
    Value last, blocks, cutRight, cutLeft;
    // Ragged: where the sequence starts in the packed operands, and whether the
    // tile has rows of it.
    Value firstRow, firstKey, valid;
  };
  struct Step {
    Value maximum, weights, sum, rescale;
  };

  AttentionOptions(const AttentionCall &call, const ScoreShape &bounds,
                   mlir::OpBuilder &b);

  // Tiles of rows and their blocks of keys.
  Tile tileOf(Value t);
  Tile tileOfPair(Value pair, Value second);
  Tile tileAt(Value head, Value m);
  void addBlocks(Tile &tile);
  Value offsetAt(Value offsets, Value sequence, Value total);
  Value findSequence(Value slot);
  Value placeOf(Value sequence);
  void addSequence(Tile &tile, Value slot);
  /// The keys from which on all of some rows see nothing, and from which on one
  /// does not see everything.
  struct Reach {
    Value end, firstCut;
  };
  Reach reachOf(const Tile &tile, Value row, int64_t rows);
  /// On the right of a tile: how many blocks `rows` of its rows do not see, and
  /// how many behind those their bound cuts.
  struct Right {
    Value unseen, cut;
  };
  Right rightOf(const Tile &tile, Value row, int64_t rows);

  // Scores: `row` is the first row of the fragment, `column` its first key.
  Value transform(Value scores, const Tile &tile, Value row, Value column);
  Value mask(Value scores, const Tile &tile, Value row, Value column);
  Value loadPerScore(Value buffer, Value source, ValueRange strides,
                     const Tile &tile, Value row, Value column,
                     const Layout &layout);

  // The running softmax.
  Step softmax(Value scores, Value oldMaximum);
  Value addSums(Value sum, const Step &next);
  Value scaleRows(Value output, Value factor);
  /// Scales the rows where a factor is not 1; a branch of each warp.
  Value rescaleRows(Value output, Value factor);
  /// The factor of each output row and its log-sum-exp, from the maxima and the
  /// sums of the threads.
  Values finishRows(Value maximum, Value sum, const Tile &tile);
  Values finishRow(ValueRange x);
  void storeLse(Value lse, const Tile &tile, Value row);

  llvm::StringRef kernelName() const {
    return s.isRagged() ? "ragged_attention" : "attention";
  }

  // Kernel arguments: extents and options, behind the schedule's own.
  void appendTypes(llvm::SmallVectorImpl<mlir::Type> &types);
  void takeArguments(unsigned first);
  /// On the host; returns the number of tiles of rows.
  Value appendArguments(llvm::SmallVectorImpl<Value> &args);

  AttentionCall call;
  AttentionScores s;
  ScoreShape bounds;
  KernelBuilder k;
  mlir::Type element;
  double headFactor; // from scores to base-2 exponents

  /// Of all sequences when ragged.
  Value rowTiles, heads, tiles, queries, keys, offset;
  Value sequences, searchSteps, queryOffsets, keyOffsets; // ragged
  Value lseBuffer, maskBuffer, biasBuffer, sinkBuffer;
  Values maskStrides, biasStrides;
};

} // namespace rudnn::tile

#endif // RUDNN_PASSES_SCHEDULES_ATTENTIONOPTIONS_H
