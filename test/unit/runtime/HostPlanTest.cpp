//===- HostPlanTest.cpp - Every rule of a plan -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plans.h"

#include <gtest/gtest.h>

using namespace rudnn;
using namespace rudnn::test;

namespace {

/// Two sequences of 7 and 2 tokens, three rows.
Input example() { return {4, 6, {{3, 0}, {5}}, {7, 2}, {0, 0, 1}, {5, 6, 1}}; }

void expectRefused(const Input &in, RudnnStatusCode code, const char *message) {
  auto plan = in.create();
  EXPECT_EQ(plan.code(), code);
  EXPECT_EQ(plan.message(), message);
  EXPECT_EQ(slowCreate(in), code);
}

void expectWrites(const Input &in, RudnnStatusCode code, const char *message) {
  auto plan = in.create();
  ASSERT_TRUE(plan) << plan.message();
  Status status = plan->validateWrites();
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(slowWrites(in), code);
}

TEST(HostPlan, ContractExample) {
  auto plan = example().create();
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_TRUE(plan->validateWrites().ok());
  EXPECT_EQ(plan->pageSize(), 4u);
  EXPECT_EQ(plan->pages(), 6u);
  EXPECT_EQ(plan->sequenceCount(), 2u);
  EXPECT_EQ(plan->queryCount(), 3u);
  EXPECT_EQ(plan->tableWidth(), 2u);
  U32s words(plan->words().begin(), plan->words().end());
  EXPECT_EQ(words, (U32s{0, 0, 1, 5, 6, 1, 7, 2, 3, 0, 5, kNoPage}));
}

TEST(HostPlan, Rule1PageSizeZero) {
  // First of all rules: everything else is wrong as well.
  expectRefused({0, 0, {}, {1}, {1}, {}}, RUDNN_PLAN_PAGE_SIZE_ZERO,
                "page_size is 0; it must be at least 1");
}

TEST(HostPlan, Rule1PagesZero) {
  expectRefused({4, 0, {}, {1}, {1}, {}}, RUDNN_PLAN_PAGES_ZERO,
                "pages is 0; it must be at least 1");
}

TEST(HostPlan, Rule1NoTables) {
  expectRefused({4, 6, {}, {1}, {1}, {}}, RUDNN_PLAN_NO_SEQUENCES,
                "there are no sequences; at least 1 is needed");
}

TEST(HostPlan, Rule1LengthCount) {
  expectRefused({4, 6, {{0}}, {1, 1}, {1}, {}}, RUDNN_PLAN_LENGTH_COUNT,
                "2 lengths for 1 tables; there must be one per table");
}

TEST(HostPlan, Rule1PositionCount) {
  expectRefused({1ull << 32, 1ull << 32, {{0}}, {1}, {1}, {}},
                RUDNN_PLAN_POSITION_COUNT,
                "0 positions for 1 sequence ids; there must be one per row");
}

TEST(HostPlan, Rule1PageSizeRange) {
  expectRefused({1ull << 32, 1ull << 32, {{0}}, {1}, {0}, {0}},
                RUDNN_PLAN_PAGE_SIZE_RANGE,
                "page_size is 4294967296; it must be at most 4294967295");
}

TEST(HostPlan, Rule1PagesRange) {
  expectRefused({4294967295u, 1ull << 32, {{0}}, {1}, {0}, {0}},
                RUDNN_PLAN_PAGES_RANGE,
                "pages is 4294967296; it must be at most 4294967295");
}

TEST(HostPlan, Rule2TooLarge) {
  // One word of input stands for 2^32: only the sizes are looked at.
  uint32_t word = 0;
  std::vector<std::span<const uint32_t>> tables(4096, {&word, 1u << 20});
  U32s lengths(4096, 0);
  auto plan = HostPlan::create(4, 6, tables, lengths, {}, {});
  EXPECT_EQ(plan.code(), RUDNN_PLAN_TOO_LARGE);
  EXPECT_EQ(plan.message(),
            "0 rows, 4096 sequences and a table width of 1048576 "
            "need more than 4294967295 words");
  tables.assign(2, {&word, SIZE_MAX / 4});
  lengths.assign(2, 0);
  EXPECT_EQ(HostPlan::create(4, 6, tables, lengths, {}, {}).code(),
            RUDNN_PLAN_TOO_LARGE);
}

TEST(HostPlan, Rule3TableShort) {
  expectRefused(
      {4, 6, {{0}}, {5}, {}, {}}, RUDNN_PLAN_TABLE_SHORT,
      "sequence 0: length 5 needs 2 pages of 4 tokens, the table has 1");
  // No overflow in ceil(length / page_size).
  expectRefused(
      {2, 6, {{0}}, {4294967295u}, {}, {}}, RUDNN_PLAN_TABLE_SHORT,
      "sequence 0: length 4294967295 needs 2147483648 pages of 2 tokens, "
      "the table has 1");
  // Before the range of the entries.
  expectRefused(
      {4, 6, {{9}}, {5}, {}, {}}, RUDNN_PLAN_TABLE_SHORT,
      "sequence 0: length 5 needs 2 pages of 4 tokens, the table has 1");
}

TEST(HostPlan, Rule3PageRange) {
  expectRefused({4, 6, {{3, 0}, {6}}, {7, 2}, {}, {}}, RUDNN_PLAN_PAGE_RANGE,
                "sequence 1: table entry 0 is page 6; it must be below 6");
  // Past the needed entries too.
  expectRefused(
      {4, 6, {{3, 0, 1, 4294967295u}}, {7}, {}, {}}, RUDNN_PLAN_PAGE_RANGE,
      "sequence 0: table entry 3 is page 4294967295; it must be below 6");
  // Before repeated pages of the same sequence, after those of an earlier one.
  expectRefused({4, 6, {{3, 3, 6}}, {7}, {}, {}}, RUDNN_PLAN_PAGE_RANGE,
                "sequence 0: table entry 2 is page 6; it must be below 6");
  expectRefused(
      {4, 6, {{3, 3}, {6}}, {7, 1}, {}, {}}, RUDNN_PLAN_PAGE_REPEATED,
      "sequence 0: table entry 1 repeats page 3; the pages of a history "
      "must differ");
}

TEST(HostPlan, Rule3PageRepeated) {
  expectRefused(
      {4, 6, {{5}, {3, 0, 3}}, {1, 9}, {}, {}}, RUDNN_PLAN_PAGE_REPEATED,
      "sequence 1: table entry 2 repeats page 3; the pages of a history "
      "must differ");
  // A cache too large for an array of marks.
  expectRefused(
      {1, 4294967295u, {{4294967294u, 0, 4294967294u}}, {3}, {}, {}},
      RUDNN_PLAN_PAGE_REPEATED,
      "sequence 0: table entry 2 repeats page 4294967294; the pages of a "
      "history must differ");
}

TEST(HostPlan, Rule3RepeatedSparePageIsFine) {
  EXPECT_TRUE((Input{4, 6, {{3, 0, 3, 3}}, {7}, {0}, {6}}.create().ok()));
}

TEST(HostPlan, Rule4SequenceId) {
  Input in = example();
  in.ids[1] = 2;
  expectRefused(in, RUDNN_PLAN_SEQUENCE_ID,
                "row 1: sequence id is 2; it must be below 2");
}

TEST(HostPlan, Rule4Position) {
  Input in = example();
  in.positions[2] = 2;
  expectRefused(
      in, RUDNN_PLAN_POSITION,
      "row 2: position is 2; it must be below 2, the length of sequence 1");
  // Rows in order: a bad id of a later row comes after.
  in.ids.push_back(7);
  in.positions.push_back(0);
  expectRefused(
      in, RUDNN_PLAN_POSITION,
      "row 2: position is 2; it must be below 2, the length of sequence 1");
}

TEST(HostPlan, Rule4EmptyHistoryTakesAnyPosition) {
  for (uint32_t position : {0u, 17u, 4294967295u})
    EXPECT_TRUE((Input{4, 1, {{}}, {0}, {0}, {position}}.create().ok()));
}

TEST(HostPlan, Allowed) {
  // No rows; empty tables and lengths of 0; sequences without rows.
  EXPECT_TRUE((Input{4, 6, {{}, {}}, {0, 0}, {}, {}}.create().ok()));
  // A shared prefix, also at another logical position.
  EXPECT_TRUE(
      (Input{4, 6, {{0, 1}, {0, 2}, {3, 0}}, {8, 8, 8}, {}, {}}.create().ok()));
  // Several rows of a sequence, any order, equal positions, spare capacity.
  EXPECT_TRUE((
      Input{4, 6, {{0, 1, 5}}, {8}, {0, 0, 0, 0}, {7, 0, 3, 3}}.create().ok()));
}

TEST(HostPlan, Packed) {
  Input in = example();
  // A wider row with rubbish behind the needed entries.
  U32s words = {0, 0, 1, 5, 6, 1, 7, 2, 3, 0, 99, 5, 99, kNoPage};
  auto plan = HostPlan::fromPacked(4, 6, 2, 3, 3, words);
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(*plan, *in.create());
  EXPECT_EQ(plan->tableWidth(), 2u);
}

TEST(HostPlan, PackedRules) {
  U32s words = {0, 0, 1, 5, 6, 1, 7, 2, 3, 0, 5, kNoPage};
  auto expect = [&](RudnnStatusCode code, const char *message,
                    uint64_t pageSize, uint64_t pages, uint64_t sequences,
                    uint64_t queries, uint64_t width) {
    auto plan =
        HostPlan::fromPacked(pageSize, pages, sequences, queries, width, words);
    EXPECT_EQ(plan.code(), code);
    EXPECT_EQ(plan.message(), message);
    EXPECT_EQ(slowPacked(pageSize, pages, sequences, queries, width, words),
              code);
  };
  expect(RUDNN_PLAN_WORD_COUNT,
         "12 words for 3 rows, 2 sequences and a table width of 3; there must "
         "be 2 * "
         "rows + sequences + sequences * width",
         4, 6, 2, 3, 3);
  // The product wraps to the right number.
  expect(RUDNN_PLAN_WORD_COUNT,
         "12 words for 9223372036854775814 rows, 0 sequences and a table width "
         "of 0; "
         "there must be 2 * rows + sequences + sequences * width",
         4, 6, 0, (1ull << 63) + 6, 0);
  expect(RUDNN_PLAN_NO_SEQUENCES,
         "there are no sequences; at least 1 is needed", 0, 0, 0, 6, 0);
  expect(RUDNN_PLAN_TABLE_WIDTH_ZERO, "table_width is 0; it must be at least 1",
         0, 0, 2, 5, 0);
  expect(RUDNN_PLAN_PAGE_SIZE_ZERO, "page_size is 0; it must be at least 1", 0,
         0, 2, 3, 2);
  expect(RUDNN_PLAN_TABLE_WIDTH_SHORT,
         "sequence 0: length 7 needs 4 pages of 2 tokens, table_width is 2", 2,
         6, 2, 3, 2);
  expect(RUDNN_PLAN_PAGES_ZERO, "pages is 0; it must be at least 1", 4, 0, 2, 3,
         2);
  expect(RUDNN_PLAN_PAGE_RANGE,
         "sequence 1: table entry 0 is page 5; it must be below 5", 4, 5, 2, 3,
         2);
  words[11] = 0, words[7] = 5, words[10] = kNoPage;
  expect(RUDNN_PLAN_PAGE_RANGE,
         "sequence 1: table entry 0 is page 4294967295; it must be below 6", 4,
         6, 2, 3, 2);
}

TEST(HostPlan, Equality) {
  auto plan = example().create(), same = example().create();
  EXPECT_EQ(*plan, *same);
  EXPECT_EQ(*plan, HostPlan(*plan));
  auto differs = [&](auto change) {
    Input in = example();
    change(in);
    auto other = in.create();
    ASSERT_TRUE(other) << other.message();
    EXPECT_FALSE(*plan == *other);
    EXPECT_NE(plan->fingerprint(), other->fingerprint());
    EXPECT_NE(std::hash<HostPlan>()(*plan), std::hash<HostPlan>()(*other));
  };
  differs([](Input &in) { in.pageSize = 5; });
  differs([](Input &in) { in.pages = 7; });
  differs([](Input &in) { in.tables[1][0] = 4; });
  differs([](Input &in) { in.lengths[0] = 8; });
  differs([](Input &in) { in.positions[0] = 4; });
  differs([](Input &in) {
    std::swap(in.ids[1], in.ids[2]);
    in.positions[1] = 1;
  });
  differs([](Input &in) { in.ids.pop_back(), in.positions.pop_back(); });
}

TEST(HostPlan, FingerprintIgnoresSpareCapacity) {
  Input in = example();
  in.tables[1].push_back(1);
  in.tables[0].push_back(1);
  auto plan = example().create(), spare = in.create();
  EXPECT_FALSE(*plan == *spare);
  EXPECT_EQ(plan->fingerprint(), spare->fingerprint());
  EXPECT_EQ(plan->fingerprint(), example().create()->fingerprint());
}

TEST(HostPlan, Visible) {
  auto plan = Input{4, 6, {{3, 0}, {}}, {7, 0}, {0, 0, 1}, {2, 6, 9}}.create();
  ASSERT_TRUE(plan);
  const PlanView &view = plan->view();
  EXPECT_EQ(view.visible(0, true), 3u);
  EXPECT_EQ(view.visible(0, false), 7u);
  EXPECT_EQ(view.visible(1, true), 7u);
  EXPECT_EQ(view.visible(2, true), 0u);
  EXPECT_EQ(view.visible(2, false), 0u);
  auto longest =
      Input{4294967295u, 1, {{0}}, {4294967295u}, {0}, {4294967294u}};
  EXPECT_EQ(longest.create()->view().visible(0, true), 4294967295u);
}

TEST(Writes, OutsideLength) {
  expectWrites(
      {4, 6, {{}}, {0}, {0}, {0}}, RUDNN_WRITE_OUTSIDE_LENGTH,
      "row 0: position is 0; a row that is written must be below 0, the "
      "length of sequence 0");
}

TEST(Writes, SharedPage) {
  // Two sequences on page 0, even if the slots differ.
  expectWrites(
      {4, 6, {{0}, {0}}, {3, 3}, {0, 1}, {2, 2}}, RUDNN_WRITE_SHARED_PAGE,
      "row 0: page 0 of sequence 0 stands in 2 histories; a shared prefix "
      "must be copied before it is written");
  expectWrites(
      {4, 6, {{0}, {0}}, {3, 4}, {1}, {3}}, RUDNN_WRITE_SHARED_PAGE,
      "row 0: page 0 of sequence 1 stands in 2 histories; a shared prefix "
      "must be copied before it is written");
  // By a sequence without rows in a cache of 2^32 - 1 pages.
  expectWrites(
      {4, 4294967295u, {{4294967294u}, {7, 4294967294u}}, {3, 5}, {0}, {2}},
      RUDNN_WRITE_SHARED_PAGE,
      "row 0: page 4294967294 of sequence 0 stands in 2 histories; a shared "
      "prefix must be copied before it is written");
}

TEST(Writes, SharedOnlyInSpareCapacityIsFine) {
  expectWrites({4, 6, {{0}, {1, 0}}, {3, 4}, {0, 1}, {2, 3}}, RUDNN_OK, "");
}

TEST(Writes, SharedPrefixWithOwnTailIsFine) {
  expectWrites({4, 6, {{0, 1}, {0, 2}}, {5, 5}, {0, 1}, {4, 4}}, RUDNN_OK, "");
}

TEST(Writes, DuplicateSlot) {
  expectWrites({4, 6, {{0}}, {3}, {0, 0, 0}, {2, 1, 2}},
               RUDNN_WRITE_DUPLICATE_SLOT,
               "row 2: position 2 of sequence 0 is written by an earlier row");
}

TEST(Writes, SlotsBeyond32Bits) {
  // page * page_size is 2^32 apart.
  expectWrites({1u << 31, 6, {{0, 2}}, {4294967295u}, {0, 0}, {0, 1u << 31}},
               RUDNN_OK, "");
}

TEST(Writes, NoRows) {
  expectWrites({4, 6, {{0}, {0}}, {3, 3}, {}, {}}, RUDNN_OK, "");
}

} // namespace
