//===- WorkListTest.cpp - Properties of work lists -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/WorkList.h"

#include "Plans.h"

#include <gtest/gtest.h>

using namespace rudnn;
using namespace rudnn::test;

namespace {

/// One decode row per sequence of the given length; page i of a sequence is its
/// own.
Input decode(const U32s &lengths, uint32_t pageSize = 64) {
  Input in{pageSize, 1, {}, lengths, {}, {}};
  uint32_t page = 0;
  for (uint32_t s = 0; s < lengths.size(); ++s) {
    U32s table((uint64_t(lengths[s]) + pageSize - 1) / pageSize);
    std::iota(table.begin(), table.end(), page);
    page += uint32_t(table.size());
    in.tables.push_back(table);
    in.ids.push_back(s);
    in.positions.push_back(lengths[s] ? lengths[s] - 1 : 0);
  }
  in.pages = page + 1;
  return in;
}

WorkList build(const Input &in, const WorkListOptions &options) {
  auto plan = in.create();
  EXPECT_TRUE(plan) << plan.message();
  auto list = WorkList::build(plan->view(), options);
  EXPECT_TRUE(list) << list.message();
  return *std::move(list);
}

struct Piece {
  uint32_t part, sequence, begin, end;
};

/// Tiles that the rows of a sequence see, straight from the definition.
U32s visibleTiles(const Input &in, const WorkListOptions &options) {
  U32s tiles(in.tables.size(), 0);
  for (size_t r = 0; r < in.ids.size(); ++r) {
    uint64_t length = in.lengths[in.ids[r]];
    uint64_t sees = options.causal
                        ? std::min(length, uint64_t(in.positions[r]) + 1)
                        : length;
    uint32_t count =
        uint32_t((sees + options.tileTokens - 1) / options.tileTokens);
    tiles[in.ids[r]] = std::max(tiles[in.ids[r]], count);
  }
  return tiles;
}

/// Walks the ranges tile by tile as a kernel would.
std::vector<Piece> pieces(const WorkList &list, const U32s &tiles) {
  std::vector<Piece> out;
  for (uint32_t p = 0; p < list.ranges().size(); ++p) {
    const WorkRange &range = list.ranges()[p];
    uint32_t s = range.beginSequence, t = range.beginTile;
    while (s != range.endSequence || t != range.endTile) {
      if (s >= tiles.size()) {
        ADD_FAILURE() << "part " << p << " runs past the last sequence";
        return out;
      }
      uint32_t end = s == range.endSequence ? range.endTile : tiles[s];
      if (t < end)
        out.push_back({p, s, t, end});
      s == range.endSequence ? void(t = end) : void((++s, t = 0));
    }
  }
  return out;
}

/// All properties that hold for every list.
void check(const Input &in, const WorkListOptions &options) {
  WorkList list = build(in, options);
  U32s tiles = visibleTiles(in, options);
  ASSERT_EQ(list.ranges().size(), options.parts);
  std::vector<Piece> all = pieces(list, tiles);

  // Every visible tile exactly once, in order, parts ascending.
  U32s next(tiles.size(), 0);
  for (const Piece &piece : all) {
    ASSERT_EQ(piece.begin, next[piece.sequence]);
    ASSERT_LE(piece.end, tiles[piece.sequence]);
    next[piece.sequence] = piece.end;
  }
  ASSERT_EQ(next, tiles);

  // Balance.
  uint64_t chunk = options.fixedSplit, overhead = options.fixedCost, total = 0;
  std::vector<uint64_t> cost(options.parts, 0);
  auto costOf = [&](uint32_t count) {
    uint64_t parts = count == 0 ? 0 : chunk ? (count + chunk - 1) / chunk : 1;
    return count + parts * overhead;
  };
  for (uint32_t count : tiles)
    total += costOf(count);
  for (const Piece &piece : all)
    cost[piece.part] += costOf(piece.end - piece.begin);
  uint64_t largest = *std::max_element(cost.begin(), cost.end());
  uint64_t mean = (total + options.parts - 1) / options.parts;
  if (!chunk)
    ASSERT_LE(largest, mean + overhead);
  else if (total > 0)
    ASSERT_LT(largest, mean + chunk + overhead);

  // Slots: one per piece of a cut sequence, in the order of merges and of
  // ranges.
  std::map<uint32_t, U32s> slots;
  for (uint32_t p = 0, i = 0; p < options.parts; ++p) {
    uint32_t slot = list.ranges()[p].firstSlot;
    for (; i < all.size() && all[i].part == p; ++i) {
      uint32_t count = tiles[all[i].sequence];
      bool whole =
          chunk ? count <= chunk : all[i].begin == 0 && all[i].end == count;
      if (whole)
        continue;
      if (chunk)
        ASSERT_EQ(all[i].begin % chunk, 0u);
      uint64_t records =
          chunk ? (all[i].end - all[i].begin + chunk - 1) / chunk : 1;
      while (records-- > 0)
        slots[all[i].sequence].push_back(slot++);
    }
  }
  uint32_t slot = 0;
  size_t merge = 0;
  std::set<uint32_t> queried(in.ids.begin(), in.ids.end());
  for (uint32_t s : queried) {
    if (tiles[s] != 0 && slots[s].empty())
      continue;
    ASSERT_LT(merge, list.merges().size());
    ASSERT_EQ(list.merges()[merge],
              (WorkMerge{s, slot, uint32_t(slots[s].size())}));
    ++merge;
    for (uint32_t used : slots[s])
      ASSERT_EQ(used, slot++);
  }
  ASSERT_EQ(merge, list.merges().size());
  ASSERT_EQ(list.slots(), slot);
  if (!chunk)
    ASSERT_LE(list.slots(), WorkList::maxSlots(options.parts));
}

TEST(WorkList, RandomProperties) {
  PlanMaker make(11);
  for (int i = 0; i < 20000; ++i) {
    Input in = make.valid();
    while (in.pageSize > 1000)
      in = make.valid();
    WorkListOptions options;
    options.parts = uint32_t(1 + make.below(make.chance(50) ? 4 : 140));
    options.tileTokens = uint32_t(1 + make.below(make.chance(50) ? 3 : 70));
    options.fixedCost = uint32_t(make.below(8));
    options.fixedSplit = make.chance(50) ? uint32_t(1 + make.below(5)) : 0;
    options.causal = make.chance(50);
    ASSERT_NO_FATAL_FAILURE(check(in, options)) << i;
  }
}

TEST(WorkList, LargeBatches) {
  PlanMaker make(12);
  for (int i = 0; i < 200; ++i) {
    U32s lengths(1 + make.below(300));
    for (uint32_t &length : lengths)
      length = make.chance(10) ? 0 : uint32_t(make.below(20000));
    WorkListOptions options;
    options.parts = i % 3 ? 132 : 66;
    options.fixedSplit = i % 2 ? uint32_t(1 + make.below(40)) : 0;
    ASSERT_NO_FATAL_FAILURE(check(decode(lengths, 512), options)) << i;
  }
}

TEST(WorkList, HugeLengths) {
  // Tiles near 2^32 and chunks of one tile: arithmetic, not loops over tiles.
  Input in = decode({4294967295u, 4294967295u, 5}, 1u << 30);
  for (uint32_t split : {0u, 1u << 20}) {
    WorkListOptions options{132, 1, 5, split, true};
    ASSERT_NO_FATAL_FAILURE(check(in, options));
  }
  auto plan = in.create();
  auto list = WorkList::build(plan->view(), {132, 1, 5, 1, true});
  EXPECT_EQ(list.code(), RUDNN_WORK_TOO_LARGE);
  EXPECT_EQ(list.message(), "a fixed split of 1 tiles gives 8589934595 partial "
                            "results; there may be 4294967295");
}

TEST(WorkList, EqualSequencesStayWhole) {
  // 64 sequences of 4096 tokens on 66 parts, and multiples on 132.
  for (auto [count, parts] : {std::pair(64u, 66u),
                              {132u, 132u},
                              {264u, 132u},
                              {1056u, 132u},
                              {1u, 1u},
                              {12u, 4u}}) {
    WorkList list =
        build(decode(U32s(count, 4096), 256), {parts, 64, 5, 0, true});
    EXPECT_EQ(list.slots(), 0u) << count;
    EXPECT_TRUE(list.merges().empty());
  }
}

TEST(WorkList, FittingSequenceIsNotCut) {
  // Costs 15 + 15 + 25 = 55; a part takes 28 + 5: both short ones, then 3 are
  // left, less than a piece costs, so the long one starts whole in part 1.
  WorkList list = build(decode({640, 640, 1280}), {2, 64, 5, 0, true});
  EXPECT_EQ(list.ranges()[0], (WorkRange{0, 0, 2, 0, 0}));
  EXPECT_EQ(list.ranges()[1], (WorkRange{2, 0, 3, 0, 0}));
  EXPECT_EQ(list.slots(), 0u);
}

TEST(WorkList, LongSequenceIsCut) {
  // Cost 25; a part takes 7 + 5: 7 tiles each, then the rest.
  WorkList list = build(decode({1280}), {4, 64, 5, 0, true});
  EXPECT_EQ(list.ranges()[0], (WorkRange{0, 0, 0, 7, 0}));
  EXPECT_EQ(list.ranges()[1], (WorkRange{0, 7, 0, 14, 1}));
  EXPECT_EQ(list.ranges()[2], (WorkRange{0, 14, 1, 0, 2}));
  EXPECT_EQ(list.ranges()[3], (WorkRange{1, 0, 1, 0, 3}));
  EXPECT_EQ(list.merges(), (std::vector<WorkMerge>{{0, 0, 3}}));
  EXPECT_EQ(list.words(), (U32s{0, 0, 0, 7, 0, 0, 7, 0, 14, 1, 0, 14,
                                1, 0, 2, 1, 0, 1, 0, 3, 0,  0, 3}));
}

TEST(WorkList, EmptyHistoriesAreMergedFromNothing) {
  WorkList list = build(decode({0, 64, 0}), {3, 64, 5, 0, true});
  EXPECT_EQ(list.merges(), (std::vector<WorkMerge>{{0, 0, 0}, {2, 0, 0}}));
  EXPECT_EQ(list.slots(), 0u);
  // A sequence without rows is nobody's work.
  Input in = decode({0, 64, 128});
  in.ids = {1}, in.positions = {63};
  list = build(in, {3, 64, 5, 0, true});
  EXPECT_TRUE(list.merges().empty());
  EXPECT_EQ(list.ranges()[0], (WorkRange{1, 0, 3, 0, 0}));
}

TEST(WorkList, CausalLooksAtPositions) {
  Input in = decode({640});
  in.positions = {63};
  EXPECT_EQ(build(in, {1, 64, 5, 0, true}).ranges()[0],
            (WorkRange{0, 0, 1, 0, 0}));
  EXPECT_EQ(visibleTiles(in, {1, 64, 5, 0, true}), U32s{1});
  EXPECT_EQ(build(in, {4, 64, 0, 0, false}).ranges()[0],
            (WorkRange{0, 0, 0, 3, 0}));
}

// The boundaries of a sequence are the same alone and in any batch.
TEST(WorkList, FixedSplitIsIndependentOfTheBatch) {
  PlanMaker make(13);
  for (int i = 0; i < 1000; ++i) {
    uint32_t chunk = uint32_t(1 + make.below(40));
    uint32_t parts = uint32_t(1 + make.below(132));
    U32s lengths(1 + make.below(20));
    for (uint32_t &length : lengths)
      length = uint32_t(make.below(30000));
    WorkListOptions options{parts, 64, 5, chunk, true};
    WorkList batch = build(decode(lengths, 256), options);
    std::map<uint32_t, uint32_t> count;
    for (const WorkMerge &merge : batch.merges())
      count[merge.sequence] = merge.pieces;
    for (uint32_t s = 0; s < lengths.size(); ++s) {
      WorkList alone = build(decode({lengths[s]}, 256), options);
      uint32_t tiles = (lengths[s] + 63) / 64,
               chunks = (tiles + chunk - 1) / chunk;
      ASSERT_EQ(alone.merges().empty(), chunks == 1);
      if (chunks != 1) {
        ASSERT_EQ(alone.merges()[0].pieces, chunks);
        ASSERT_EQ(count.at(s), chunks);
      } else {
        ASSERT_FALSE(count.count(s));
      }
    }
    // No range begins or ends inside a chunk.
    for (const WorkRange &range : batch.ranges()) {
      ASSERT_EQ(range.beginTile % chunk, 0u);
      ASSERT_EQ(range.endTile % chunk, 0u);
    }
  }
}

// Nothing about heads enters, and a second run gives the same list.
TEST(WorkList, Deterministic) {
  PlanMaker make(14);
  for (int i = 0; i < 1000; ++i) {
    Input in = make.valid();
    WorkListOptions options{uint32_t(1 + make.below(132)), 4, 5, 0, true};
    EXPECT_EQ(build(in, options), build(in, options));
  }
}

TEST(WorkList, RefusesBadOptions) {
  auto plan = decode({64}).create();
  auto expect = [&](WorkListOptions options, RudnnStatusCode code,
                    const char *message) {
    auto list = WorkList::build(plan->view(), options);
    EXPECT_EQ(list.code(), code);
    EXPECT_EQ(list.message(), message);
  };
  expect({0, 64, 5, 0, true}, RUDNN_WORK_PARTS,
         "parts is 0; it must be 1 to 65535");
  expect({65536, 64, 5, 0, true}, RUDNN_WORK_PARTS,
         "parts is 65536; it must be 1 to 65535");
  expect({132, 0, 5, 0, true}, RUDNN_WORK_TILE,
         "tile_tokens is 0; it must be at least 1");
  expect({132, 64, 65536, 0, true}, RUDNN_WORK_FIXED_COST,
         "fixed_cost is 65536; it must be at most 65535");
}

} // namespace
