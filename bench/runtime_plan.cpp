//===- runtime_plan.cpp - Cost of planning on one core -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usage: bench-runtime-plan OUT.json
// 1,024 sequences of 4,096 tokens in pages of 16, one decode row each. Medians
// of 200.
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/DevicePlan.h"
#include "rudnn/Runtime/WorkList.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace rudnn;

struct Times {
  double median, worst;
};

template <typename F>
static Times measure(F body) {
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    auto start = std::chrono::steady_clock::now();
    body();
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  return {times[100], times[199]};
}

static std::string cpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(": ") + 2);
  return "unknown";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s OUT.json\n", argv[0]);
    return 2;
  }
  // The pages of all sequences in random order, as after long serving.
  constexpr uint32_t sequences = 1024, length = 4096, pageSize = 16;
  constexpr uint32_t need = length / pageSize;
  std::vector<uint32_t> pages(sequences * (need + 16));
  std::iota(pages.begin(), pages.end(), 0);
  std::shuffle(pages.begin(), pages.end(), std::mt19937(1));
  std::vector<std::span<const uint32_t>> tables, roomy;
  std::vector<uint32_t> lengths(sequences, length), ids(sequences), positions;
  std::iota(ids.begin(), ids.end(), 0);
  positions.assign(sequences, length - 1);
  for (uint32_t s = 0; s < sequences; ++s) {
    tables.push_back({pages.data() + s * (need + 16), need});
    roomy.push_back({pages.data() + s * (need + 16), need + 16});
  }

  bool good = true;
  Times validate = measure([&] {
    good &= HostPlan::create(pageSize, pages.size(), tables, lengths, ids,
                             positions)
                .ok();
  });
  auto plan =
      HostPlan::create(pageSize, pages.size(), roomy, lengths, ids, positions);
  if (!plan || !good) {
    std::fprintf(stderr, "the plan is refused: %s\n", plan.message().c_str());
    return 1;
  }
  Times writes = measure([&] { good &= plan->validateWrites().ok(); });
  Times work = measure(
      [&] { good &= WorkList::build(plan->view(), WorkListOptions()).ok(); });
  Times fixed = measure([&] {
    good &= WorkList::build(plan->view(), {132, 64, 5, 16, true}).ok();
  });
  auto onDevice = DevicePlan::upload(*plan, Device::host());
  Times advance = measure([&] { good &= onDevice->advance(1).ok(); });
  if (!good) {
    std::fprintf(stderr, "a call failed\n");
    return 1;
  }

  std::FILE *out = std::fopen(argv[1], "w");
  if (!out) {
    std::perror(argv[1]);
    return 1;
  }
  std::fprintf(
      out,
      "{\n  \"cpu\": \"%s\",\n  \"threads\": 1,\n  \"sequences\": %u,\n"
      "  \"tokens\": %u,\n  \"page_size\": %u,\n  \"table_entries\": %u,\n"
      "  \"runs\": 200,\n  \"unit\": \"microseconds\",\n",
      cpuName().c_str(), sequences, length, pageSize, sequences * need);
  auto write = [&](const char *name, Times times, double limit,
                   const char *end) {
    std::fprintf(out, "  \"%s\": {\"median\": %.2f, \"worst\": %.2f", name,
                 times.median, times.worst);
    if (limit > 0)
      std::fprintf(out, ", \"limit\": %.0f", limit);
    std::fprintf(out, "}%s\n", end);
    std::printf("%-16s %9.2f us (worst %.2f)\n", name, times.median,
                times.worst);
  };
  write("validate", validate, 2000, ",");
  write("validate_writes", writes, 0, ",");
  write("work_list", work, 100, ",");
  write("work_list_fixed", fixed, 100, ",");
  write("advance", advance, 20, "");
  std::fprintf(out, "}\n");
  std::fclose(out);
  return 0;
}
