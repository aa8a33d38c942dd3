//===- HostPlanFuzzTest.cpp - Random plans against a slow validator -*- C++
//-*-===//
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

std::string describe(const Input &in) {
  std::string out = "page_size " + std::to_string(in.pageSize) + " pages " +
                    std::to_string(in.pages);
  auto list = [&](const char *name, const U32s &values) {
    out += std::string(" ") + name + " [";
    for (uint32_t value : values)
      out += std::to_string(value) + ",";
    out += "]";
  };
  for (const U32s &table : in.tables)
    list("table", table);
  list("lengths", in.lengths);
  list("ids", in.ids);
  list("positions", in.positions);
  return out;
}

/// Copies into blocks of exactly the right size, so that the address sanitizer
/// sees every read past an end.
struct Exact {
  explicit Exact(const U32s &values)
      : memory(new uint32_t[values.size()]), count(values.size()) {
    std::copy(values.begin(), values.end(), memory.get());
  }
  std::span<const uint32_t> span() const { return {memory.get(), count}; }
  std::unique_ptr<uint32_t[]> memory;
  size_t count;
};

Result<HostPlan> createExact(const Input &in) {
  std::vector<Exact> rows;
  std::vector<std::span<const uint32_t>> spans;
  for (const U32s &table : in.tables)
    spans.push_back(rows.emplace_back(table).span());
  Exact lengths(in.lengths), ids(in.ids), positions(in.positions);
  return HostPlan::create(in.pageSize, in.pages, spans, lengths.span(),
                          ids.span(), positions.span());
}

void checkNested(const Input &in, uint64_t &refused) {
  RudnnStatusCode expected = slowCreate(in);
  auto plan = createExact(in);
  ASSERT_EQ(plan.code(), expected) << describe(in) << "\n" << plan.message();
  ASSERT_EQ(plan.message().empty(), plan.ok());
  if (!plan) {
    ++refused;
    return;
  }
  ASSERT_EQ(U32s(plan->words().begin(), plan->words().end()),
            in.packed(in.width()));
  Status writes = plan->validateWrites();
  ASSERT_EQ(writes.code(), slowWrites(in)) << describe(in) << "\n"
                                           << writes.message();
}

TEST(HostPlanFuzz, NestedValid) {
  PlanMaker make(1);
  uint64_t refused = 0;
  for (int i = 0; i < 100000; ++i)
    ASSERT_NO_FATAL_FAILURE(checkNested(make.valid(i % 4 == 0), refused)) << i;
  EXPECT_EQ(refused, 0u);
}

TEST(HostPlanFuzz, NestedCorrupted) {
  PlanMaker make(2);
  uint64_t refused = 0;
  for (int i = 0; i < 100000; ++i) {
    Input in = make.valid();
    make.spoil(in);
    ASSERT_NO_FATAL_FAILURE(checkNested(in, refused)) << i;
  }
  EXPECT_GT(refused, 50000u);
}

TEST(HostPlanFuzz, Packed) {
  PlanMaker make(3);
  uint64_t refused = 0, accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    Input in = make.valid();
    uint64_t sequences = in.tables.size(), queries = in.ids.size();
    uint64_t width = in.width() + make.below(3), pageSize = in.pageSize;
    uint64_t pages = in.pages;
    U32s words = in.packed(width);
    if (i % 2) {
      switch (make.below(8)) {
      case 0:
        sequences += make.below(3) - 1;
        break;
      case 1:
        queries += make.below(3) - 1;
        break;
      case 2:
        width += make.below(3) - 1;
        break;
      case 3:
        pageSize = make.below(4);
        break;
      case 4:
        pages = make.below(8);
        break;
      case 5:
        words.pop_back();
        break;
      default:
        words[make.below(words.size())] = uint32_t(make.below(12) - 4);
        break;
      }
    }
    RudnnStatusCode expected =
        slowPacked(pageSize, pages, sequences, queries, width, words);
    Exact exact(words);
    auto plan = HostPlan::fromPacked(pageSize, pages, sequences, queries, width,
                                     exact.span());
    ASSERT_EQ(plan.code(), expected) << i << " " << plan.message();
    ASSERT_EQ(plan.message().empty(), plan.ok());
    ++(plan ? accepted : refused);
  }
  EXPECT_GT(accepted, 50000u);
  EXPECT_GT(refused, 10000u);
}

} // namespace
