//===- WorkList.cpp - Who computes which tiles of a batch -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/WorkList.h"

#include "Support.h"

#include <algorithm>

using namespace rudnn;

namespace {

/// A place in the sequence of all tiles. (s, all tiles of s) is written (s + 1,
/// 0).
struct Place {
  uint32_t sequence = 0, tile = 0;
};

} // namespace

struct WorkList::Builder {
  const PlanView &plan;
  WorkList &out;
  std::vector<uint32_t> tiles; ///< Per sequence.
  std::vector<bool> queried;

  void countTiles() {
    tiles.assign(plan.sequences, 0);
    queried.assign(plan.sequences, false);
    for (uint32_t r = 0; r < plan.queries; ++r) {
      uint32_t s = plan.sequenceIds()[r];
      tiles[s] = std::max(tiles[s], plan.visible(r, out.opts.causal));
      queried[s] = true;
    }
    for (uint32_t &count : tiles)
      count = uint32_t(ceilDiv(count, out.opts.tileTokens));
  }

  /// Skips what has no tiles, so that a range starts at a tile.
  Place normalized(Place at) const {
    while (at.sequence < plan.sequences && at.tile == tiles[at.sequence])
      at = {at.sequence + 1, 0};
    return at;
  }

  void addRange(Place begin, Place end) {
    out.parts.push_back(
        {begin.sequence, begin.tile, end.sequence, end.tile, 0});
  }

  /// One part of the greedy rule: the place where it ends.
  Place takeGreedy(Place at, uint64_t budget) const {
    uint64_t cost = out.opts.fixedCost;
    for (at = normalized(at); at.sequence < plan.sequences;
         at = normalized(at)) {
      uint64_t left = tiles[at.sequence] - at.tile;
      if (left + cost <= budget) {
        budget -= left + cost;
        at = {at.sequence + 1, 0};
        continue;
      }
      if (budget > cost)
        at.tile += uint32_t(budget - cost);
      break;
    }
    return at;
  }

  void greedy() {
    uint64_t total = 0;
    for (uint32_t count : tiles)
      total += count ? uint64_t(count) + out.opts.fixedCost : 0;
    uint64_t budget = ceilDiv(total, out.opts.parts) + out.opts.fixedCost;
    Place at = normalized({});
    for (uint32_t p = 0; p < out.opts.parts; ++p) {
      Place end = normalized(takeGreedy(at, budget));
      addRange(at, end);
      at = end;
    }
  }

  void fixedSplit() {
    uint64_t chunk = out.opts.fixedSplit, cost = out.opts.fixedCost;
    auto costOf = [&](uint32_t count) {
      return count + ceilDiv(count, chunk) * cost;
    };
    using Wide = unsigned __int128;
    Wide total = 0;
    for (uint32_t count : tiles)
      total += costOf(count);
    // A part begins at the first chunk that starts at or after its share.
    Wide before = 0; // Cost of the sequences before `s`.
    uint32_t s = 0;
    auto begin = [&](uint32_t p) -> Place {
      Wide share = (total * p + out.opts.parts - 1) / out.opts.parts;
      for (; s < plan.sequences; before += costOf(tiles[s]), ++s) {
        uint64_t chunks = ceilDiv(tiles[s], chunk);
        uint64_t first = share <= before
                             ? 0
                             : uint64_t((share - before + chunk + cost - 1) /
                                        (chunk + cost));
        if (first < chunks)
          return {s, uint32_t(first * chunk)};
      }
      return {plan.sequences, 0};
    };
    Place at = begin(0);
    for (uint32_t p = 0; p < out.opts.parts; ++p) {
      Place end =
          p + 1 < out.opts.parts ? begin(p + 1) : Place{plan.sequences, 0};
      addRange(at, end);
      at = end;
    }
  }

  /// Pieces per sequence, slots and merges.
  Status assignSlots() {
    uint64_t slot = 0;
    // Pieces of each sequence: chunks, or the ranges that touch it.
    std::vector<uint32_t> pieces(plan.sequences, 0);
    uint64_t chunk = out.opts.fixedSplit;
    if (chunk) {
      for (uint32_t s = 0; s < plan.sequences; ++s)
        pieces[s] = uint32_t(ceilDiv(tiles[s], chunk));
    } else {
      for (const WorkRange &range : out.parts)
        forPieces(range, [&](uint32_t s, uint32_t, uint32_t) { ++pieces[s]; });
    }
    for (uint32_t s = 0; s < plan.sequences; ++s) {
      if (pieces[s] == 1 || !queried[s])
        continue;
      out.cut.push_back({s, uint32_t(slot), pieces[s]});
      slot += pieces[s];
    }
    if (slot > kU32Max)
      return {RUDNN_WORK_TOO_LARGE, text("a fixed split of %u tiles gives %llu "
                                         "partial results; there may be "
                                         "4294967295",
                                         out.opts.fixedSplit, ull(slot))};
    uint64_t next = 0;
    for (WorkRange &range : out.parts) {
      range.firstSlot = uint32_t(next);
      forPieces(range, [&](uint32_t s, uint32_t begin, uint32_t end) {
        if (pieces[s] > 1)
          next += chunk ? ceilDiv(end - begin, chunk) : 1;
      });
    }
    out.slotCount = uint32_t(slot);
    return {};
  }

  template <typename F>
  void forPieces(const WorkRange &range, F visit) const {
    for (uint32_t s = range.beginSequence; s <= range.endSequence; ++s) {
      uint32_t begin = s == range.beginSequence ? range.beginTile : 0;
      uint32_t end = s == range.endSequence ? range.endTile : tiles[s];
      if (begin < end)
        visit(s, begin, end);
    }
  }
};

Result<WorkList> WorkList::build(const PlanView &plan,
                                 const WorkListOptions &options) {
  if (options.parts == 0 || options.parts > 65535)
    return {RUDNN_WORK_PARTS,
            text("parts is %u; it must be 1 to 65535", options.parts)};
  if (options.tileTokens == 0)
    return {RUDNN_WORK_TILE, "tile_tokens is 0; it must be at least 1"};
  if (options.fixedCost > 65535)
    return {
        RUDNN_WORK_FIXED_COST,
        text("fixed_cost is %u; it must be at most 65535", options.fixedCost)};
  WorkList out;
  out.opts = options;
  out.parts.reserve(options.parts);
  Builder builder{plan, out, {}, {}};
  builder.countTiles();
  options.fixedSplit ? builder.fixedSplit() : builder.greedy();
  if (Status status = builder.assignSlots(); !status)
    return status;
  return out;
}

std::vector<uint32_t> WorkList::words() const {
  std::vector<uint32_t> words;
  words.reserve(5 * parts.size() + 3 * cut.size());
  for (const WorkRange &range : parts)
    words.insert(words.end(),
                 {range.beginSequence, range.beginTile, range.endSequence,
                  range.endTile, range.firstSlot});
  for (const WorkMerge &merge : cut)
    words.insert(words.end(), {merge.sequence, merge.firstSlot, merge.pieces});
  return words;
}
