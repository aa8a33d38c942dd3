//===- ThreadTest.cpp - What is documented as thread-safe -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Also built with the thread sanitizer.
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Module.h"
#include "rudnn/Runtime/TensorMapCache.h"
#include "rudnn/Runtime/WorkList.h"

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

TEST(Threads, WorkListsOfOnePlan) {
  auto plan = Input{4, 6, {{3, 0}, {5}}, {7, 2}, {0, 0, 1}, {5, 6, 1}}.create();
  auto expected = WorkList::build(plan->view(), WorkListOptions());
  std::atomic<int> wrong = 0;
  inThreads([&](int) {
    for (int i = 0; i < 100; ++i)
      wrong +=
          !(*WorkList::build(plan->view(), WorkListOptions()) == *expected);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, OneTensorMapCache) {
  TensorMapCache cache(8, [](const TensorMapDesc &desc, TensorMap &map) {
    map.bytes[0] = static_cast<unsigned char>(desc.sizes[0]);
    return Status();
  });
  std::atomic<int> wrong = 0;
  inThreads([&](int) {
    for (uint64_t i = 0; i < 400; ++i) {
      TensorMapDesc desc;
      desc.address = reinterpret_cast<void *>(uintptr_t(0x1000));
      desc.sizes[0] = 1 + i % 20;
      desc.box[0] = 4;
      auto map = cache.get(desc);
      wrong += !map || map->bytes[0] != 1 + i % 20;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, OneFunctionManyCallers) {
  auto module = Module::load(RUDNN_TEST_ARTIFACTS "/artifact.so");
  ASSERT_TRUE(module) << module.message();
  const Function *function = module->find("scale");
  std::atomic<int> wrong = 0;
  inThreads([&](int t) {
    alignas(256) char workspace[256];
    float x[4] = {1, 2, 3, 4}, y[4] = {}, scale = float(t + 1);
    int32_t count[1];
    int64_t shape[2] = {1, 4}, length[1] = {1};
    DLDevice cpu = {kDLCPU, 0};
    DLTensor tx = {x, cpu, 2, {kDLFloat, 32, 1}, shape, nullptr, 0}, ty = tx;
    ty.data = y;
    DLTensor ts = {&scale, cpu, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
    DLTensor tc = {count, cpu, 1, {kDLInt, 32, 1}, length, nullptr, 0};
    const DLTensor *args[] = {&tx, &ts}, *results[] = {&ty, &tc};
    for (int i = 0; i < 100; ++i) {
      y[3] = 0;
      wrong +=
          !function->run(args, results, workspace, 256) || y[3] != 4 * scale;
    }
  });
  EXPECT_EQ(wrong, 0);
}

} // namespace
