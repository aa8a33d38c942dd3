//===- FaultTest.cpp - Faults in scheduled kernels -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One fault at a time in the LLVM IR of the schedules' kernels: the emulator
// must tell, by an error or by a wrong result, in order or with one of a few
// seeds.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace rudnn::test;

namespace {

constexpr int kSeeds = 8;

/// Four tiles of keys for a ring of two.
Kernel &attention() {
  static Kernel kernel(R"(
func.func @f(%q: tensor<1x1x70x64xbf16>, %k: tensor<1x1x500x64xbf16>, %v: tensor<1x1x500x64xbf16>)
    -> tensor<1x1x70x64xbf16> {
  %i = tensor.empty() : tensor<1x1x70x64xbf16>
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x1x70x64xbf16>, tensor<1x1x500x64xbf16>, tensor<1x1x500x64xbf16>)
      outs(%i : tensor<1x1x70x64xbf16>) {rudnn.strategy = "schedule"} -> tensor<1x1x70x64xbf16>
  return %o : tensor<1x1x70x64xbf16>
})",
                       {{1, 1, 70, 64}, {1, 1, 500, 64}, {1, 1, 500, 64}},
                       {1, 1, 70, 64});
  return kernel;
}

/// Places of `mark` in the kernels.
std::vector<size_t> find(const std::string &text, StringRef mark) {
  std::vector<size_t> places;
  for (size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + 1))
    places.push_back(at);
  return places;
}

/// How many of the faults show that put `replacement` for a place of `mark`,
/// one at a time. A block of so small a problem does not come to use every
/// barrier a second time, so that some faults have no effect.
unsigned countNoticed(Kernel &kernel, StringRef mark, StringRef replacement) {
  unsigned noticed = 0;
  for (size_t at : find(kernel.getText(), mark)) {
    std::string text = kernel.getText();
    text.replace(at, mark.size(), replacement);
    noticed += !kernel.run(text, kSeeds).empty();
  }
  return noticed;
}

class Fault : public testing::TestWithParam<Kernel &(*)()> {
protected:
  Kernel &kernel = GetParam()();
};

/// Each wait for an mbarrier, as MLIR writes it.
constexpr StringLiteral kWait =
    "mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2;";

} // namespace

TEST_P(Fault, NoneInTheKernelItself) {
  EXPECT_EQ(kernel.run(kernel.getText(), 3 * kSeeds), "");
}

TEST_P(Fault, DroppedWait) {
  // At least those for the queries, and for both operands in either direction.
  EXPECT_GE(countNoticed(kernel, kWait, "setp.eq.u32 P1, 0, 0;"), 5u);
}

TEST_P(Fault, SwappedPhase) {
  EXPECT_GE(
      countNoticed(kernel, kWait,
                   "{ .reg .b32 q; xor.b32 q, $1, 1; "
                   "mbarrier.try_wait.parity.shared.b64 P1, [$0], q, $2; }"),
      5u);
}

TEST_P(Fault, DroppedWaitForProducts) {
  StringRef mark = "wgmma.wait_group.sync.aligned 0;";
  EXPECT_EQ(countNoticed(kernel, mark, ""),
            find(kernel.getText(), mark).size());
  EXPECT_NE(countNoticed(kernel, mark, ""), 0u);
}

TEST_P(Fault, WrongArrivalCount) {
  StringRef mark = "call void @llvm.nvvm.mbarrier.init.shared(";
  std::vector<size_t> places = find(kernel.getText(), mark);
  EXPECT_GE(places.size(), 4u);
  unsigned noticed = 0;
  for (size_t at : places) {
    std::string text = kernel.getText();
    size_t end = text.find(")\n", at), comma = text.rfind("i32 ", end) + 4;
    int count = std::stoi(text.substr(comma, end - comma));
    // One too many never completes; half of the consumers free the slot early.
    for (int wrong : {count + 1, count / 2}) {
      std::string edited = text;
      edited.replace(comma, end - comma, std::to_string(wrong));
      noticed += !kernel.run(edited, kSeeds).empty();
    }
  }
  // Both kinds of barriers of both operands, and more.
  EXPECT_GE(noticed, places.size());
}

TEST_P(Fault, BadSwizzle) {
  // Bits 62 and 63 of a matrix descriptor: 1 is 128 bytes, 2 is 64.
  StringRef mark = "or disjoint i64 %";
  unsigned changed = 0;
  for (size_t at : find(kernel.getText(), mark)) {
    std::string text = kernel.getText();
    size_t number = text.find(", ", at) + 2, end = text.find('\n', at);
    uint64_t bits;
    if (StringRef(text).slice(number, end).getAsInteger(10, bits) ||
        bits >> 62 != 1)
      continue;
    ++changed;
    text.replace(number, end - number,
                 std::to_string(int64_t(bits ^ 3ull << 62)));
    EXPECT_NE(kernel.run(text, 0), "") << "descriptor " << changed;
  }
  EXPECT_GE(changed, 2u);
}

TEST_P(Fault, CollectiveUnderElectedBranch) {
  // One thread issues the copies.
  StringRef mark = "call void @llvm.nvvm.cp.async.bulk.tensor.g2s";
  std::string text = kernel.getText();
  size_t at = text.find(mark);
  ASSERT_NE(at, std::string::npos);
  text.insert(at,
              "%fault = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1)\n  ");
  text += "\ndeclare i32 @llvm.nvvm.redux.sync.add(i32, i32)\n";
  std::string error = kernel.run(text, 0);
  EXPECT_NE(error.find("redux.sync"), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Fault, testing::Values(&attention),
                         [](const auto &) { return "Attention"; });
