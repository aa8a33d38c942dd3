//===- WorkList.h - Who computes which tiles of a batch -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The histories of a batch, cut into tiles of tileTokens tokens and laid end to
// end, are dealt to a constant number of parts (CTAs): every part gets one
// contiguous range, possibly empty. The list depends on the plan and the
// options below only, not on heads, head dims, scale or softcap, so that one
// list serves all layers; it is the same in every run.
//
// The tiles of a sequence are those that its rows see: ceil(v / tileTokens)
// with v the largest number of visible tokens over its rows, 0 without rows.
//
// A range holds pieces: runs of tiles of one sequence. A sequence in one piece
// is written to the output directly. The pieces of a cut sequence are partial
// results: each goes to a slot of its own, in order, and is merged afterwards
// (Merge).
//
// Greedy rule. A piece costs its tiles plus fixedCost, which stands for
// starting a piece and storing it. With T the cost of all sequences in one
// piece each, every part takes pieces up to a cost of ceil(T / parts) +
// fixedCost: a sequence that fits into what is left is taken whole; else, if
// more than fixedCost is left, as many of its tiles as fit; else the part ends.
// So no part costs more than the mean ceil(T / parts) plus fixedCost, and equal
// sequences that divide evenly among the parts are not cut. At most 2 * (parts
// - 1) slots, whatever the batch.
//
// Fixed split. Every sequence is cut into chunks of fixedSplit tiles, the last
// may be shorter: a function of its own tiles only, so that its bits do not
// depend on the rest of the batch. Each chunk is a piece and costs its tiles
// plus fixedCost. A chunk whose cost starts at c in the sum T over all chunks
// goes to part floor(c * parts / T). So no part costs more than the mean plus
// the largest chunk. Slots follow the number of chunks of cut sequences.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_WORKLIST_H
#define RUDNN_RUNTIME_WORKLIST_H

#include "rudnn/Runtime/HostPlan.h"

#include <vector>

namespace rudnn {

struct WorkListOptions {
  uint32_t parts = 132;     ///< 1 .. 65535.
  uint32_t tileTokens = 64; ///< At least 1.
  uint32_t fixedCost = 5;   ///< In tiles, at most 65535.
  uint32_t fixedSplit = 0;  ///< Tiles per chunk; 0: the greedy rule.
  bool causal = true;       ///< Which tokens rows see, as in the attention op.
};

/// The tiles from (beginSequence, beginTile) up to, not including,
/// (endSequence, endTile), sequence by sequence. endTile is 0 when the range
/// ends with the last tile of the sequence before endSequence. Begin equals end
/// in an empty range.
struct WorkRange {
  uint32_t beginSequence, beginTile, endSequence, endTile;
  /// Slot of the range's first piece of a cut sequence; the next ones follow.
  uint32_t firstSlot;
  friend bool operator==(const WorkRange &, const WorkRange &) = default;
};

/// A sequence whose result comes from partial results: slots firstSlot ..
/// firstSlot + pieces - 1, in the order of its tiles. With 0 pieces its rows
/// see nothing: their result is 0.
struct WorkMerge {
  uint32_t sequence, firstSlot, pieces;
  friend bool operator==(const WorkMerge &, const WorkMerge &) = default;
};

class WorkList {
public:
  /// RUDNN_WORK_PARTS, RUDNN_WORK_TILE, RUDNN_WORK_FIXED_COST: an option is out
  /// of its range. RUDNN_WORK_TOO_LARGE: more than 2^32 - 1 slots.
  static Result<WorkList> build(const PlanView &plan,
                                const WorkListOptions &options);

  const WorkListOptions &options() const { return opts; }
  /// options().parts of them.
  const std::vector<WorkRange> &ranges() const { return parts; }
  /// Ascending by sequence.
  const std::vector<WorkMerge> &merges() const { return cut; }
  /// Slots for partial results: one per piece of a cut sequence.
  uint32_t slots() const { return slotCount; }
  /// An upper bound of slots() under the greedy rule for any plan.
  static uint32_t maxSlots(uint32_t parts) { return 2 * (parts - 1); }

  /// Words for a kernel: parts x 5 of ranges(), then merges() x 3.
  std::vector<uint32_t> words() const;

  friend bool operator==(const WorkList &a, const WorkList &b) {
    return a.parts == b.parts && a.cut == b.cut && a.slotCount == b.slotCount;
  }

private:
  struct Builder;
  WorkListOptions opts;
  std::vector<WorkRange> parts;
  std::vector<WorkMerge> cut;
  uint32_t slotCount = 0;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_WORKLIST_H
