//===- OrderedBackwardTest.cpp - Index, compaction, budget, options -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/OrderedBackwardWorkspace.h"

#include "FakeDevice.h"
#include "Plans.h"

#include <gtest/gtest.h>

using namespace rudnn;
using namespace rudnn::test;

namespace {

constexpr const char *kCacheRows = "RUDNN_PAGED_ORDERED_CACHE_ROWS";
constexpr const char *kCompact = "RUDNN_PAGED_ORDERED_COMPACT_HISTORY";

class OrderedBackward : public testing::Test {
protected:
  void SetUp() override { unset(); }
  void TearDown() override { unset(); }
  static void unset() {
    unsetenv(kCacheRows);
    unsetenv(kCompact);
  }
};

DevicePlan upload(const Input &in,
                  std::shared_ptr<Device> device = Device::host(),
                  Queue queue = nullptr) {
  auto plan = in.create();
  EXPECT_TRUE(plan) << plan.message();
  return *DevicePlan::upload(*plan, std::move(device), queue);
}

Result<OrderedBackwardWorkspace> make(const DevicePlan &plan,
                                      std::vector<int64_t> q) {
  return OrderedBackwardWorkspace::create(plan, q, plan.device(), plan.queue());
}

Input example() {
  return {2, 4, {{2, 0}, {2, 3}}, {3, 4}, {1, 0, 1}, {3, 2, 1}};
}

TEST_F(OrderedBackward, ContractIndex) {
  auto plan = example().create();
  auto index = OrderedIndex::build(plan->view(), 1000);
  ASSERT_TRUE(index) << index.message();
  EXPECT_EQ(index->size(), (4u + 4) + (4 * 2 + 2) + 3 + 2 * 4 + 2);
  EXPECT_EQ(OrderedIndex::wordCount(plan->view()), index->size());
  U32s expected = {8, 16, 19,                // header
                   0, 1,  1,  3, 4,          // page offsets
                   0, 1,  0,  0, 1, 0, 1, 1, // links
                   0, 1,  3,                 // sequence offsets
                   1, 0,  2,                 // rows
                   1, 0,                     // monotonic
                   2, 3,                     // max position
                   0, 1,  2,                 // block offsets
                   2, 3};                    // block maxima
  EXPECT_EQ(*index, expected);
}

/// The sections of an index as sets and lists, made the slow way.
void checkIndex(const Input &in) {
  auto plan = in.create();
  ASSERT_TRUE(plan);
  auto built = OrderedIndex::build(plan->view(), 1u << 24);
  ASSERT_TRUE(built) << built.message();
  const U32s &index = *built;
  uint32_t sequences = uint32_t(in.tables.size()),
           queries = uint32_t(in.ids.size());
  std::set<uint32_t> queried(in.ids.begin(), in.ids.end());

  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> links;
  for (uint32_t s : queried)
    for (uint32_t i = 0; uint64_t(i) * in.pageSize < in.lengths[s]; ++i)
      links.push_back({in.tables[s][i], s, i});
  std::sort(links.begin(), links.end());

  U32s expected = {uint32_t(in.pages) + 4,
                   uint32_t(in.pages + 4 + 2 * links.size()),
                   uint32_t(in.pages + 4 + 2 * links.size() + sequences + 1)};
  for (uint32_t page = 0; page <= in.pages; ++page)
    expected.push_back(uint32_t(
        std::count_if(links.begin(), links.end(), [&](const auto &link) {
          return std::get<0>(link) < page;
        })));
  for (auto [page, s, i] : links)
    expected.insert(expected.end(), {s, i});

  std::vector<std::pair<uint32_t, uint32_t>> rows;
  for (uint32_t r = 0; r < queries; ++r)
    rows.push_back({in.ids[r], r});
  std::sort(rows.begin(), rows.end());
  for (uint32_t s = 0; s <= sequences; ++s)
    expected.push_back(uint32_t(std::count_if(
        in.ids.begin(), in.ids.end(), [&](uint32_t id) { return id < s; })));
  for (auto [s, r] : rows)
    expected.push_back(r);

  std::vector<U32s> positions(sequences);
  for (uint32_t r = 0; r < queries; ++r)
    positions[in.ids[r]].push_back(in.positions[r]);
  for (const U32s &list : positions)
    expected.push_back(std::is_sorted(list.begin(), list.end()));
  for (const U32s &list : positions)
    expected.push_back(
        list.empty() ? 0 : *std::max_element(list.begin(), list.end()));
  U32s maxima;
  for (const U32s &list : positions) {
    expected.push_back(uint32_t(maxima.size()));
    for (size_t at = 0; at < list.size(); at += 32)
      maxima.push_back(*std::max_element(
          list.begin() + at, list.begin() + std::min(at + 32, list.size())));
  }
  expected.push_back(uint32_t(maxima.size()));
  expected.insert(expected.end(), maxima.begin(), maxima.end());
  ASSERT_EQ(index, expected);
  ASSERT_EQ(OrderedIndex::wordCount(plan->view()), expected.size());
}

Input smallCache(PlanMaker &maker) {
  Input in = maker.valid();
  while (in.pages > 1000)
    in = maker.valid();
  return in;
}

TEST_F(OrderedBackward, IndexAgainstBruteForce) {
  PlanMaker maker(21);
  for (int i = 0; i < 5000; ++i) {
    Input in = smallCache(maker);
    // Enough rows for several blocks.
    for (uint64_t extra = i % 3 ? 0 : maker.below(150); extra > 0; --extra) {
      uint32_t s = uint32_t(maker.below(in.tables.size()));
      in.ids.push_back(s);
      in.positions.push_back(in.lengths[s]
                                 ? uint32_t(maker.below(in.lengths[s]))
                                 : uint32_t(maker.below(50)));
    }
    ASSERT_NO_FATAL_FAILURE(checkIndex(in)) << i;
  }
}

TEST_F(OrderedBackward, IndexBudget) {
  auto plan = example().create();
  EXPECT_TRUE(OrderedIndex::build(plan->view(), 31).ok());
  auto index = OrderedIndex::build(plan->view(), 30);
  EXPECT_EQ(index.code(), RUDNN_ORDERED_INDEX);
  EXPECT_EQ(index.message(),
            "the index of 4 pages, 2 sequences and 3 rows needs 31 "
            "words; 30 are left");
}

U32s activePages(const Input &in) {
  auto plan = in.create();
  auto built = HistoryCompaction::build(plan->view(), in.pages);
  EXPECT_TRUE(built) << built.message();
  EXPECT_EQ(built->map.size(), in.pages);
  EXPECT_EQ(built->active + built->inactive, in.pages);
  return {built->map.begin(), built->map.begin() + built->active};
}

TEST_F(OrderedBackward, ContractCompaction) {
  Input in{4, 8, {{6, 2}}, {5}, {0}, {0}};
  auto plan = in.create();
  auto built = HistoryCompaction::build(plan->view(), 8);
  ASSERT_TRUE(built) << built.message();
  EXPECT_EQ(built->map, (U32s{2, 6, 0, 1, 3, 4, 5, 7}));
  EXPECT_EQ(built->active, 2u);
  // Capacity is not history; shared pages count once; rows make a sequence
  // count.
  EXPECT_EQ(activePages({4, 8, {{6, 2, 7}}, {4}, {0}, {0}}), (U32s{6}));
  EXPECT_EQ(activePages({4, 8, {{6, 2}, {6, 4}}, {8, 8}, {0, 1}, {0, 0}}),
            (U32s{2, 4, 6}));
  EXPECT_EQ(activePages({4, 8, {{6, 2}, {5}}, {8, 4}, {0}, {0}}), (U32s{2, 6}));
  EXPECT_EQ(activePages({4, 8, {{6, 2}}, {8}, {}, {}}), U32s{});
  EXPECT_EQ(activePages({4, 8, {{6, 2}}, {8}, {0, 0}, {7, 1}}),
            activePages({4, 8, {{6, 2}}, {8}, {0, 0}, {1, 7}}));
}

TEST_F(OrderedBackward, CompactionBudget) {
  auto plan = Input{4, 8, {{6, 2}}, {5}, {0}, {0}}.create();
  EXPECT_TRUE(HistoryCompaction::build(plan->view(), 8).ok());
  auto built = HistoryCompaction::build(plan->view(), 7);
  EXPECT_EQ(built.code(), RUDNN_ORDERED_COMPACTION);
  EXPECT_EQ(built.message(),
            "the compaction map of 8 pages needs 8 words; 7 are left");
}

TEST_F(OrderedBackward, CompactionAgainstReachability) {
  PlanMaker maker(22);
  for (int i = 0; i < 2000; ++i) {
    Input in = smallCache(maker);
    std::set<uint32_t> active;
    for (uint32_t s : in.ids)
      for (uint64_t t = 0; t < in.lengths[s]; ++t) {
        active.insert(in.tables[s][t / in.pageSize]);
        t = std::max(t, (t / in.pageSize + 1) * in.pageSize - 1);
      }
    auto plan = in.create();
    auto built = HistoryCompaction::build(plan->view(), in.pages);
    ASSERT_EQ(built->active, active.size());
    U32s map(active.begin(), active.end());
    for (uint32_t page = 0; page < in.pages; ++page)
      if (!active.count(page))
        map.push_back(page);
    ASSERT_EQ(built->map, map);
  }
}

TEST_F(OrderedBackward, Bytes) {
  DevicePlan plan = upload(example());
  auto workspace = make(plan, {3, 4, 64});
  ASSERT_TRUE(workspace) << workspace.message();
  EXPECT_EQ(workspace->bytes(), 4u * 36 + 4 * 31);
  EXPECT_EQ(workspace->historyCompactionPages(), std::nullopt);
  EXPECT_EQ(workspace->compactionMap(), nullptr);
  auto index = OrderedIndex::build(plan.view(), 31);
  EXPECT_EQ(U32s(workspace->index(), workspace->index() + 31), *index);

  ASSERT_TRUE(workspace->setHistoryCompaction(true).ok());
  EXPECT_EQ(workspace->bytes(), 4u * 36 + 4 * 31 + 4 * 4);
  EXPECT_EQ(workspace->historyCompactionPages(),
            (std::pair<uint32_t, uint32_t>(3, 1)));
  EXPECT_EQ(U32s(workspace->compactionMap(), workspace->compactionMap() + 4),
            (U32s{0, 2, 3, 1}));
  // Disabling keeps the map, enabling again uses it.
  const uint32_t *map = workspace->compactionMap();
  ASSERT_TRUE(workspace->setHistoryCompaction(false).ok());
  EXPECT_FALSE(workspace->options().compactHistory);
  EXPECT_EQ(workspace->bytes(), 4u * 36 + 4 * 31 + 4 * 4);
  EXPECT_EQ(workspace->historyCompactionPages(),
            (std::pair<uint32_t, uint32_t>(3, 1)));
  ASSERT_TRUE(workspace->setHistoryCompaction(true).ok());
  EXPECT_EQ(workspace->compactionMap(), map);
}

TEST_F(OrderedBackward, NoRowsTakeOneStatistic) {
  DevicePlan plan = upload({2, 4, {{2, 0}}, {3}, {}, {}});
  auto workspace = make(plan, {0, 4, 64});
  ASSERT_TRUE(workspace) << workspace.message();
  EXPECT_EQ(workspace->bytes(), 4u + 4 * ((4 + 4) + 6 + 0 + 0 + 0));
}

void expectRefused(const DevicePlan &plan, std::vector<int64_t> q,
                   RudnnStatusCode code, const char *message) {
  auto workspace = make(plan, q);
  EXPECT_EQ(workspace.code(), code);
  EXPECT_EQ(workspace.message(), message);
}

TEST_F(OrderedBackward, ShapeRules) {
  DevicePlan plan = upload(example());
  setenv(kCompact, "no", 1); // Shape first, then the environment.
  expectRefused(plan, {3, 4}, RUDNN_ORDERED_RANK,
                "q has rank 2; it must be [rows, heads, head_dim]");
  expectRefused(plan, {4, 0, 64}, RUDNN_ORDERED_ROWS,
                "q has 4 rows, the plan has 3");
  expectRefused(plan, {3, 0, 64}, RUDNN_ORDERED_HEADS,
                "q has 0 heads; it must have at least 1");
  std::vector<int64_t> q = {3, 4, 64};
  auto device = std::make_shared<FakeDevice>();
  auto other = OrderedBackwardWorkspace::create(plan, q, device, nullptr);
  EXPECT_EQ(other.code(), RUDNN_ORDERED_DEVICE);
  EXPECT_EQ(other.message(), "q is on fake, the plan on host");
  int queue;
  other = OrderedBackwardWorkspace::create(plan, q, plan.device(), &queue);
  EXPECT_EQ(other.code(), RUDNN_ORDERED_DEVICE);
  EXPECT_EQ(other.message(), "q and the plan are on different queues");
}

TEST_F(OrderedBackward, EnvironmentGrammar) {
  DevicePlan plan = upload(example());
  for (const char *name : {kCacheRows, kCompact}) {
    bool cache = name == kCacheRows;
    for (const char *bad :
         {"", "true", "yes", "01", " 1", "1 ", "-1", "2", "\xff"}) {
      setenv(name, bad, 1);
      // Before anything else that can fail afterwards.
      auto workspace = make(plan, {3, 1ll << 40, 64});
      EXPECT_EQ(workspace.code(), RUDNN_ORDERED_ENVIRONMENT) << bad;
      EXPECT_EQ(workspace.message(), std::string("the environment variable ") +
                                         name + " is \"" + bad +
                                         "\"; it must be unset, 0 or 1");
    }
    setenv(name, "1", 1);
    auto on = make(plan, {3, 4, 64});
    ASSERT_TRUE(on) << on.message();
    EXPECT_EQ(on->options().rowCache, cache);
    EXPECT_EQ(on->options().compactHistory, !cache);
    EXPECT_EQ(on->historyCompactionPages().has_value(), !cache);
    EXPECT_TRUE(on->options().queryPruning);
    setenv(name, "0", 1);
    // Read once: an existing workspace keeps what it has.
    EXPECT_EQ(on->options().rowCache, cache);
    EXPECT_EQ(on->options().compactHistory, !cache);
    auto off = make(plan, {3, 4, 64});
    ASSERT_TRUE(off);
    EXPECT_FALSE(off->options().rowCache || off->options().compactHistory);
    unset();
  }
}

TEST_F(OrderedBackward, EnvironmentIsReadBeforeAllocation) {
  auto device = std::make_shared<FakeDevice>();
  DevicePlan plan = upload(example(), device);
  size_t before = device->allocated;
  setenv(kCacheRows, "x", 1);
  EXPECT_FALSE(make(plan, {3, 4, 64}).ok());
  EXPECT_EQ(device->allocated, before);
}

TEST_F(OrderedBackward, StatisticsBudget) {
  DevicePlan plan = upload(example());
  // 3 * 3 * heads words beside 31 of the index and 4 of the map, 2^24 in all.
  EXPECT_TRUE(make(plan, {3, 1864131, 64}).ok()); // 16777179 + 31 of 16777216.
  expectRefused(
      plan, {3, 1864132, 64}, RUDNN_ORDERED_INDEX,
      "the index of 4 pages, 2 sequences and 3 rows needs 31 words; 28 are "
      "left");
  expectRefused(
      plan, {3, 1864136, 64}, RUDNN_ORDERED_STATISTICS,
      "the statistics of 3 rows and 1864136 heads exceed 67108864 bytes");
  for (int64_t heads : {int64_t(1) << 31, int64_t(1) << 33, int64_t(1) << 62})
    EXPECT_EQ(make(plan, {3, heads, 64}).code(), RUDNN_ORDERED_STATISTICS)
        << heads;
}

TEST_F(OrderedBackward, ExactBudget) {
  // One sequence, page size 1: statistics 3, index pages + 4 + 6 + 1 + 2 + 1.
  uint64_t words = 1u << 24;
  Input in{1, words - 3 - 14, {{0}}, {1}, {0}, {0}};
  DevicePlan plan = upload(in);
  auto workspace = make(plan, {1, 1, 8});
  ASSERT_TRUE(workspace) << workspace.message();
  EXPECT_EQ(workspace->bytes(), OrderedBackwardWorkspace::kMaxBytes);
  // No room for the map: mode and bytes stay.
  Status status = workspace->setHistoryCompaction(true);
  EXPECT_EQ(status.code(), RUDNN_ORDERED_COMPACTION);
  EXPECT_FALSE(workspace->options().compactHistory);
  EXPECT_EQ(workspace->bytes(), OrderedBackwardWorkspace::kMaxBytes);
  EXPECT_EQ(workspace->historyCompactionPages(), std::nullopt);
  setenv(kCompact, "1", 1);
  EXPECT_EQ(make(plan, {1, 1, 8}).code(), RUDNN_ORDERED_COMPACTION);
  unset();
  in.pages += 1;
  EXPECT_EQ(make(upload(in), {1, 1, 8}).code(), RUDNN_ORDERED_INDEX);
}

TEST_F(OrderedBackward, FailedMapLeavesTheMode) {
  auto device = std::make_shared<FakeDevice>();
  DevicePlan plan = upload(example(), device);
  auto workspace = make(plan, {3, 4, 64});
  ASSERT_TRUE(workspace);
  uint64_t bytes = workspace->bytes();
  device->room = 0;
  EXPECT_EQ(workspace->setHistoryCompaction(true).code(), RUDNN_OUT_OF_MEMORY);
  EXPECT_FALSE(workspace->options().compactHistory);
  EXPECT_EQ(workspace->bytes(), bytes);
}

TEST_F(OrderedBackward, Matches) {
  DevicePlan plan = upload(example());
  auto workspace = make(plan, {3, 4, 64});
  ASSERT_TRUE(workspace);
  const Device &host = *Device::host();
  auto matches = [&](const DevicePlan &other, std::vector<int64_t> q,
                     const Device &device, Queue queue) {
    return workspace->matches(other, q, device, queue);
  };
  EXPECT_TRUE(matches(plan, {3, 4, 64}, host, nullptr).ok());
  EXPECT_TRUE(matches(plan, {3, 4, 512}, host, nullptr).ok());
  EXPECT_TRUE(matches(upload(example()), {3, 4, 64}, host, nullptr).ok());
  auto expect = [&](const Status &status, const char *message) {
    EXPECT_EQ(status.code(), RUDNN_ORDERED_MISMATCH);
    EXPECT_EQ(status.message(),
              std::string("the ordered backward workspace was made for ") +
                  message);
  };
  expect(matches(plan, {3, 4}, host, nullptr), "q of rank 3, not 2");
  expect(matches(plan, {2, 4, 64}, host, nullptr), "3 rows, not 2");
  expect(matches(plan, {3, 8, 64}, host, nullptr), "4 heads, not 8");
  Input other = example();
  other.positions[1] = 1;
  expect(matches(upload(other), {3, 4, 64}, host, nullptr), "another plan");
  expect(matches(plan, {3, 4, 64}, FakeDevice(), nullptr), "host, not fake");
  expect(matches(upload(example(), std::make_shared<FakeDevice>()), {3, 4, 64},
                 host, nullptr),
         "host, not fake");
  int queue;
  expect(matches(plan, {3, 4, 64}, host, &queue), "another queue");
  expect(matches(upload(example(), Device::host(), &queue), {3, 4, 64}, host,
                 nullptr),
         "another queue");
  // A plan that has moved on is another plan.
  Input spare = example();
  spare.tables = {{2, 0}, {2, 3, 1}};
  DevicePlan moving = upload(spare);
  auto made = make(moving, {3, 4, 64});
  std::vector<int64_t> q = {3, 4, 64};
  EXPECT_TRUE(made->matches(moving, q, host, nullptr).ok());
  ASSERT_TRUE(moving.advance().ok());
  EXPECT_EQ(made->matches(moving, q, host, nullptr).code(),
            RUDNN_ORDERED_MISMATCH);
}

} // namespace
