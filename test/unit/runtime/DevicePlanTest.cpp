//===- DevicePlanTest.cpp - Upload and advance -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/DevicePlan.h"

#include "FakeDevice.h"
#include "Plans.h"

#include <gtest/gtest.h>

using namespace rudnn;
using namespace rudnn::test;

namespace {

U32s onDevice(const DevicePlan &plan) {
  U32s words(plan.view().wordCount());
  EXPECT_TRUE(
      plan.device()
          ->download(words.data(), plan.words(), 4 * words.size(), nullptr)
          .ok());
  return words;
}

U32s onHost(const PlanView &view) {
  return {view.words, view.words + view.wordCount()};
}

DevicePlan upload(const Input &in,
                  std::shared_ptr<Device> device = Device::host()) {
  auto plan = in.create();
  EXPECT_TRUE(plan) << plan.message();
  auto out = DevicePlan::upload(*plan, std::move(device));
  EXPECT_TRUE(out) << out.message();
  return *std::move(out);
}

TEST(DevicePlan, UploadsTheWordsOnce) {
  auto device = std::make_shared<FakeDevice>();
  DevicePlan plan =
      upload({4, 6, {{3, 0}, {5}}, {7, 2}, {0, 0, 1}, {5, 6, 1}}, device);
  EXPECT_EQ(onDevice(plan), (U32s{0, 0, 1, 5, 6, 1, 7, 2, 3, 0, 5, kNoPage}));
  EXPECT_EQ(device->uploads, 1);
  // Any number of layers: nothing more to upload.
  EXPECT_TRUE(plan.validateWrites().ok());
  EXPECT_TRUE(plan.advance(1).ok());
  EXPECT_EQ(device->uploads, 1);
  EXPECT_EQ(device->advances, 1);
}

TEST(DevicePlan, ReportsAllocationFailure) {
  auto device = std::make_shared<FakeDevice>();
  device->room = 16;
  auto host = Input{4, 6, {{3, 0}}, {7}, {0}, {5}}.create();
  auto plan = DevicePlan::upload(*host, device);
  EXPECT_EQ(plan.code(), RUDNN_OUT_OF_MEMORY);
  EXPECT_EQ(plan.message(), "fake: no memory for 24 bytes");
}

TEST(DevicePlan, AdvanceMovesPositionsAndLengths) {
  // Sequence 1 has no rows, sequence 2 has two.
  DevicePlan plan =
      upload({4, 9, {{3, 0}, {5}, {7, 8, 1}}, {4, 2, 8}, {0, 2, 2}, {3, 6, 7}});
  const uint32_t *address = plan.words();
  ASSERT_TRUE(plan.advance(2).ok());
  EXPECT_EQ(plan.words(), address);
  EXPECT_EQ(onDevice(plan), (U32s{0, 2, 2, 5, 8, 9, 6, 2, 10, 3, 0, kNoPage, 5,
                                  kNoPage, kNoPage, 7, 8, 1}));
  EXPECT_EQ(onHost(plan.view()), onDevice(plan));
  EXPECT_TRUE(plan.advance(0).ok());
  EXPECT_EQ(plan.view().positions()[0], 5u);
}

TEST(DevicePlan, SnapshotDoesNotChange) {
  DevicePlan plan = upload({4, 6, {{3, 0}}, {4}, {0}, {3}});
  auto before = plan.snapshot();
  ASSERT_TRUE(plan.advance().ok());
  auto after = plan.snapshot();
  EXPECT_EQ(*before, *(Input{4, 6, {{3, 0}}, {4}, {0}, {3}}.create()));
  EXPECT_EQ(*after, *(Input{4, 6, {{3, 0}}, {5}, {0}, {4}}.create()));
}

void expectStuck(DevicePlan plan, uint32_t steps, RudnnStatusCode code,
                 const char *message) {
  U32s before = onDevice(plan);
  Status status = plan.advance(steps);
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(onDevice(plan), before);
  EXPECT_EQ(onHost(plan.view()), before);
}

TEST(DevicePlan, AdvanceRefusesEmptyHistory) {
  expectStuck(
      upload({4, 6, {{3}, {5}}, {2, 0}, {0, 1}, {1, 0}}), 1,
      RUDNN_ADVANCE_EMPTY_HISTORY,
      "sequence 1: its length is 0; a row without history cannot be advanced");
}

TEST(DevicePlan, AdvanceRefusesOverflow) {
  expectStuck(upload({4294967295u, 6, {{3, 1}}, {4294967294u}, {0}, {1}}), 2,
              RUDNN_ADVANCE_OVERFLOW,
              "sequence 0: length 4294967294 plus 2 steps exceeds 4294967295");
}

TEST(DevicePlan, AdvanceRefusesFullTable) {
  expectStuck(
      upload({4, 6, {{3, 0}, {5}}, {7, 4}, {0, 1}, {6, 3}}), 1,
      RUDNN_ADVANCE_CAPACITY,
      "sequence 1: length 5 needs 2 pages of 4 tokens, the table has 1");
  DevicePlan plan = upload({4, 6, {{3, 0}, {5}}, {7, 4}, {0}, {6}});
  EXPECT_TRUE(plan.advance().ok());
  EXPECT_EQ(plan.advance().code(), RUDNN_ADVANCE_CAPACITY);
}

TEST(DevicePlan, AdvanceRefusesRepeatedPage) {
  expectStuck(
      upload({4, 6, {{3, 0, 3}}, {8}, {0}, {7}}), 1,
      RUDNN_ADVANCE_PAGE_REPEATED,
      "sequence 0: length 9 needs table entry 2, which repeats page 3 of its "
      "history");
}

TEST(DevicePlan, LaunchFailureLeavesTheMirror) {
  auto device = std::make_shared<FakeDevice>();
  DevicePlan plan = upload({4, 6, {{3, 0}}, {4}, {0}, {3}}, device);
  device->failAdvance = true;
  EXPECT_EQ(plan.advance().code(), RUDNN_DRIVER_ERROR);
  EXPECT_EQ(plan.view().lengths()[0], 4u);
  device->failAdvance = false;
  EXPECT_TRUE(plan.advance().ok());
  EXPECT_EQ(plan.view().lengths()[0], 5u);
  EXPECT_EQ(onDevice(plan), onHost(plan.view()));
}

TEST(DevicePlan, GraphHalves) {
  auto device = std::make_shared<FakeDevice>();
  DevicePlan plan = upload({4, 6, {{3, 0}}, {4}, {0}, {3}}, device);
  for (int replay = 0; replay < 4; ++replay) {
    ASSERT_TRUE(plan.advanceHost().ok());
    ASSERT_TRUE(plan.advanceDevice(1, nullptr).ok());
    EXPECT_EQ(onDevice(plan), onHost(plan.view()));
  }
  EXPECT_EQ(plan.advanceHost().code(), RUDNN_ADVANCE_CAPACITY);
}

// What advance accepts is what a fresh plan of the advanced state accepts.
TEST(DevicePlan, RandomAdvanceAgainstFreshPlans) {
  PlanMaker make(7);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Input in = make.valid(i % 2 == 0);
    DevicePlan plan = upload(in);
    for (int step = 0; step < 4; ++step) {
      uint32_t steps = uint32_t(1 + make.below(3));
      Input next = in;
      for (uint32_t &position : next.positions)
        position += steps;
      std::set<uint32_t> queried(in.ids.begin(), in.ids.end());
      bool overflow = false;
      for (uint32_t s : queried) {
        overflow |= next.lengths[s] > 4294967295u - steps;
        next.lengths[s] += steps;
      }
      bool allowed = !overflow && slowCreate(next) == RUDNN_OK;
      Status status = plan.advance(steps);
      ASSERT_EQ(status.ok(), allowed) << i << ": " << status.message();
      if (!allowed) {
        ++refused;
        break;
      }
      ++accepted;
      in = next;
      ASSERT_EQ(onDevice(plan), in.packed(in.width()));
      ASSERT_EQ(plan.validateWrites().code(), slowWrites(in));
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

} // namespace
