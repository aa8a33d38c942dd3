//===- ThreadTest.cpp - What is documented as thread-safe -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Also built with the thread sanitizer.
//===----------------------------------------------------------------------===//

#include "Plans.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

using namespace rudnn;
using namespace rudnn::test;

namespace {

constexpr int kThreads = 4;

template <typename F>
void inThreads(F body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([=] { body(t); });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Threads, OnePlanManyReaders) {
  auto plan = Input{4, 6, {{3, 0}, {5}}, {7, 2}, {0, 0, 1}, {5, 6, 1}}.create();
  ASSERT_TRUE(plan);
  uint64_t fingerprint = plan->fingerprint();
  std::atomic<int> wrong = 0;
  inThreads([&](int) {
    for (int i = 0; i < 200; ++i) {
      HostPlan copy = *plan;
      wrong += !copy.validateWrites() || copy.fingerprint() != fingerprint ||
               !(copy == *plan);
    }
  });
  EXPECT_EQ(wrong, 0);
}

} // namespace
