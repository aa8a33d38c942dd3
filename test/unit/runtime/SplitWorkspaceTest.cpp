//===- SplitWorkspaceTest.cpp - Sizes, reuse and partition -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/SplitWorkspace.h"

#include "FakeDevice.h"

#include <gtest/gtest.h>

using namespace rudnn;
using namespace rudnn::test;

namespace {

void expectBytes(SplitShape shape, uint64_t bytes) {
  auto required = SplitWorkspace::requiredBytes(shape);
  ASSERT_TRUE(required) << required.message();
  EXPECT_EQ(*required, bytes);
}

void expectRefused(SplitShape shape, RudnnStatusCode code,
                   const char *message) {
  auto required = SplitWorkspace::requiredBytes(shape);
  EXPECT_EQ(required.code(), code);
  EXPECT_EQ(required.message(), message);
}

TEST(SplitWorkspace, RequiredBytes) {
  expectBytes({4, 32, 128, 32}, 2129920);
  expectBytes({4, 32, 1024, 32}, 16809984);
  expectBytes({0, 32, 128, 32}, 0);
  expectBytes({1, 1, 1, 2}, 24);
}

TEST(SplitWorkspace, SixtyFourMiBWithEquality) {
  // 4 * 65536 * 1 * 2 * (126 + 2) = 2^26.
  expectBytes({65536, 1, 126, 2}, 67108864);
  expectRefused(
      {65537, 1, 126, 2}, RUDNN_SPLIT_BYTES,
      "65537 rows, 1 heads, 2 splits and head_dim 126 need 67109888 bytes; at "
      "most 67108864 are allowed");
  expectRefused(
      {4096, 32, 1024, 32}, RUDNN_SPLIT_ELEMENTS,
      "4096 rows, 32 heads, 32 splits and head_dim 1024 have more than "
      "4294967295 elements");
}

TEST(SplitWorkspace, Rules) {
  expectRefused({4, 0, 0, 1}, RUDNN_SPLIT_COUNT,
                "splits is 1; it must be 2 to 32");
  expectRefused({4, 0, 0, 33}, RUDNN_SPLIT_COUNT,
                "splits is 33; it must be 2 to 32");
  expectRefused({4, 0, 0, 2}, RUDNN_SPLIT_HEADS,
                "heads is 0; it must be at least 1");
  expectRefused({4, 1, 0, 2}, RUDNN_SPLIT_HEAD_DIM,
                "head_dim is 0; it must be 1 to 1024");
  expectRefused({4, 1, 1025, 2}, RUDNN_SPLIT_HEAD_DIM,
                "head_dim is 1025; it must be 1 to 1024");
  // One dimension too large although another is 0, and products that wrap.
  EXPECT_EQ(SplitWorkspace::requiredBytes({0, 1ull << 32, 1, 2}).code(),
            RUDNN_SPLIT_ELEMENTS);
  EXPECT_EQ(
      SplitWorkspace::requiredBytes({1ull << 62, 1ull << 62, 1, 2}).code(),
      RUDNN_SPLIT_ELEMENTS);
  EXPECT_EQ(SplitWorkspace::requiredBytes({1ull << 61, 1, 2, 2}).code(),
            RUDNN_SPLIT_ELEMENTS);
}

TEST(SplitWorkspace, LaunchGrid) {
  auto device = std::make_shared<FakeDevice>();
  device->limits = {8, 4, 3};
  auto expect = [&](SplitShape shape, const char *message) {
    auto workspace = SplitWorkspace::create(device, nullptr, shape);
    EXPECT_EQ(workspace.code(), RUDNN_SPLIT_GRID);
    EXPECT_EQ(workspace.message(), message);
  };
  expect({9, 4, 8, 2},
         "rows is 9; the x axis of a launch on fake has at most 8");
  expect({8, 5, 8, 2},
         "heads is 5; the y axis of a launch on fake has at most 4");
  expect({8, 4, 8, 4},
         "splits is 4; the z axis of a launch on fake has at most 3");
  EXPECT_TRUE(SplitWorkspace::create(device, nullptr, {8, 4, 8, 3}).ok());
  EXPECT_EQ(
      SplitWorkspace::create(Device::host(), nullptr, {1, 65536, 1, 2}).code(),
      RUDNN_SPLIT_GRID);
  // The size is looked at before the grid.
  EXPECT_EQ(SplitWorkspace::create(device, nullptr, {65537, 1, 126, 2}).code(),
            RUDNN_SPLIT_BYTES);
}

TEST(SplitWorkspace, ReportsAllocationFailure) {
  auto device = std::make_shared<FakeDevice>();
  device->room = 10;
  EXPECT_EQ(SplitWorkspace::create(device, nullptr, {4, 32, 128, 32}).code(),
            RUDNN_OUT_OF_MEMORY);
}

TEST(SplitWorkspace, ReuseAndMismatch) {
  int queue;
  auto workspace =
      SplitWorkspace::create(Device::host(), &queue, {4, 32, 128, 8});
  ASSERT_TRUE(workspace) << workspace.message();
  EXPECT_EQ(workspace->bytes(), 532480u);
  EXPECT_NE(workspace->data(), nullptr);
  const Device &host = *Device::host();
  // Any schedule with these sizes.
  EXPECT_TRUE(workspace->matches(host, &queue, {4, 32, 128, 8}).ok());
  auto expect = [&](const Device &device, Queue other, SplitShape shape,
                    const char *message) {
    Status status = workspace->matches(device, other, shape);
    EXPECT_EQ(status.code(), RUDNN_SPLIT_MISMATCH);
    EXPECT_EQ(status.message(),
              std::string("the split workspace was made for ") + message);
  };
  expect(host, &queue, {5, 32, 128, 8}, "rows 4, not 5");
  expect(host, &queue, {4, 16, 128, 8}, "heads 32, not 16");
  expect(host, &queue, {4, 32, 64, 8}, "head_dim 128, not 64");
  expect(host, &queue, {4, 32, 128, 4}, "splits 8, not 4");
  expect(FakeDevice(), &queue, {4, 32, 128, 8}, "host, not fake");
  expect(host, nullptr, {4, 32, 128, 8}, "another queue");
}

TEST(SplitWorkspace, NoRows) {
  auto workspace =
      SplitWorkspace::create(Device::host(), nullptr, {0, 32, 128, 8});
  ASSERT_TRUE(workspace);
  EXPECT_EQ(workspace->bytes(), 0u);
}

TEST(SplitWorkspace, RecordsAreDense) {
  auto workspace =
      SplitWorkspace::create(Device::host(), nullptr, {2, 3, 5, 4});
  uint64_t expected = 0;
  for (uint64_t row = 0; row < 2; ++row)
    for (uint64_t head = 0; head < 3; ++head)
      for (uint64_t split = 0; split < 4; ++split, expected += 4 * 7)
        EXPECT_EQ(workspace->recordOffset(row, head, split), expected);
  EXPECT_EQ(workspace->bytes(), expected);
}

TEST(SplitWorkspace, PartitionSizes) {
  for (uint32_t length : {0u, 1u, 2u, 7u, 31u, 32u, 33u, 4096u, 4294967295u})
    for (uint32_t splits : {1u, 2u, 3u, 8u, 31u, 32u}) {
      uint32_t next = 0, smallest = 4294967295u, largest = 0;
      for (uint32_t split = 0; split < splits; ++split) {
        TokenRange range = SplitWorkspace::partition(length, splits, split);
        EXPECT_EQ(range.begin, next);
        ASSERT_GE(range.end, range.begin);
        uint32_t size = range.end - range.begin;
        if (split > 0)
          EXPECT_LE(size, smallest); // The larger ones first.
        smallest = std::min(smallest, size);
        largest = std::max(largest, size);
        next = range.end;
      }
      EXPECT_EQ(next, length);
      EXPECT_LE(largest - smallest, 1u);
    }
}

} // namespace
