//===- FaultTest.cpp - Faults in scheduled kernels -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One fault at a time in the LLVM IR of every schedule's kernels: the emulator
// must tell, by an error or by a wrong result, in order or with one of a few
// seeds. A fault is an edit of one line of the IR; the table at the end says
// which faults go into which kernel, and how many of the lines must show.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

#include <gtest/gtest.h>

#include <functional>

using namespace llvm;
using namespace rudnn::test;

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

/// Four tiles of keys for a ring of two.
static Kernel makeAttention(const std::string &chip, int64_t rows,
                            const std::string &options) {
  std::string mlir = formatv(R"(
!q = tensor<1x1x{0}x64xbf16>
!k = tensor<1x1x500x64xbf16>
func.func @f(%q: !q, %k: !k, %v: !k) -> !q {{
  %i = tensor.empty() : !q
  %o = rudnn.attention ins(%q, %k, %v : !q, !k, !k) outs(%i : !q)
      {{{1}rudnn.strategy = "schedule"} -> !q
  return %o : !q
})",
                             rows, options);
  return Kernel(chip, mlir,
                {{1, 1, rows, 64}, {1, 1, 500, 64}, {1, 1, 500, 64}},
                {1, 1, rows, 64});
}

/// More steps than stages, and a tail in every dim.
static Kernel makeGemm(const std::string &chip) {
  return Kernel(chip, R"(
func.func @f(%a: tensor<70x680xbf16>, %b: tensor<680x72xbf16>) -> tensor<70x72xbf16> {
  %i = tensor.empty() : tensor<70x72xbf16>
  %d = rudnn_tile.gemm ins(%a, %b : tensor<70x680xbf16>, tensor<680x72xbf16>)
      outs(%i : tensor<70x72xbf16>) epilogue {
  ^bb0(%s: f32):
    %t = arith.truncf %s : f32 to bf16
    rudnn_tile.yield %t : bf16
  } -> tensor<70x72xbf16>
  return %d : tensor<70x72xbf16>
})",
                {{70, 680}, {680, 72}}, {70, 72});
}

/// A row of several warps with a tail.
static Kernel makeRows(const std::string &op, const std::string &parameters) {
  std::string t = "tensor<3x2600xbf16>", w = "tensor<2600xbf16>";
  std::string mlir = formatv(R"(
func.func @f(%x: {0}, %g: {1}, %b: {1}) -> {0} {{
  %i = tensor.empty() : {0}
  %y = rudnn.{2} ins({3}) outs(%i : {0}) {{rudnn.strategy = "schedule"} -> {0}
  return %y : {0}
})",
                             t, w, op, formatv(parameters.c_str(), t, w).str());
  return Kernel("sm_80", mlir, {{3, 2600}, {2600}, {2600}}, {3, 2600});
}

namespace {

struct Subject {
  StringLiteral name;
  Kernel (*make)();
};

} // namespace

static const Subject kSubjects[] = {
    {"AttentionWgmma", [] { return makeAttention("sm_90a", 70, ""); }},
    // The first warp group passes over tiles of keys that the last one sees.
    {"AttentionCausal",
     [] {
       return makeAttention("sm_90a", 190,
                            "causal = #rudnn.causal<bottom_right>, ");
     }},
    {"AttentionMma", [] { return makeAttention("sm_80", 70, ""); }},
    {"GemmWgmma", [] { return makeGemm("sm_90a"); }},
    {"GemmMma", [] { return makeGemm("sm_86"); }},
    {"RmsNorm", [] { return makeRows("rms_norm", "%x, %g : {0}, {1}"); }},
    {"LayerNorm",
     [] { return makeRows("layer_norm", "%x, %g : {0}, {1}) beta(%b : {1}"); }},
    {"Softmax", [] { return makeRows("softmax", "%x : {0}"); }},
};

/// Compiled once.
static Kernel &kernelOf(StringRef name) {
  static StringMap<std::unique_ptr<Kernel>> kernels;
  std::unique_ptr<Kernel> &kernel = kernels[name];
  if (!kernel)
    for (const Subject &subject : kSubjects)
      if (subject.name == name)
        kernel = std::make_unique<Kernel>(subject.make());
  return *kernel;
}

//===----------------------------------------------------------------------===//
// The faults
//===----------------------------------------------------------------------===//

namespace {

/// An edit of the lines that match `lines`; an unchanged line isn't a fault.
struct Kind {
  StringLiteral name;
  StringLiteral lines; ///< A regular expression.
  std::function<std::string(StringRef line)> edit;
  bool inOrder = false;     ///< It shows without delays.
  StringLiteral error = ""; ///< Part of what the emulator says, if it is one.
};

} // namespace

static std::string drop(StringRef) { return ""; }

static auto replace(StringLiteral from, StringLiteral to) {
  return [=](StringRef line) {
    auto [before, after] = line.split(from);
    return line.contains(from) ? (before + to + after).str() : line.str();
  };
}

/// Changes the last number of the line that follows `mark`.
static auto number(StringLiteral mark, uint64_t (*change)(uint64_t)) {
  return [=](StringRef line) {
    size_t begin = line.rfind(mark) + mark.size();
    StringRef digits = line.substr(begin).take_while(isDigit);
    return (line.take_front(begin) +
            std::to_string(int64_t(change(std::stoull(digits.str())))) +
            line.substr(begin + digits.size()))
        .str();
  };
}

static uint64_t oneMore(uint64_t x) { return x + 1; }
static uint64_t half(uint64_t x) { return x / 2; }

static std::string afterCollective(StringRef line) {
  return "  %fault = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1)\n" +
         line.str();
}

static const Kind kKinds[] = {
    // mbarriers.
    {"DroppedWait", "mbarrier.try_wait.parity",
     replace("mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2;",
             "setp.eq.u32 P1, 0, 0;")},
    {"SwappedPhase", "mbarrier.try_wait.parity",
     replace("mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2;",
             "{ .reg .b32 q; xor.b32 q, $1, 1; "
             "mbarrier.try_wait.parity.shared.b64 P1, [$0], q, $2; }")},
    {"DroppedArrival", "mbarrier.arrive.shared",
     replace("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "")},
    {"ArrivalTooMany", "mbarrier.init.shared", number("i32 ", oneMore)},
    // Half of the consumers free the slot early.
    {"ArrivalsTooFew", "mbarrier.init.shared", number("i32 ", half)},
    {"WrongTransactionBytes", "mbarrier.arrive.expect.tx", number("i32 ", half),
     /*inOrder=*/true},
    // Fences.
    {"MissingProxyFence", "fence.proxy.async", drop, /*inOrder=*/true},
    {"MissingBarrierFence", "fence.mbarrier_init", drop, /*inOrder=*/true},
    // wgmma and what follows it.
    {"DroppedWaitForProducts", "wgmma.wait_group.sync.aligned",
     [](StringRef line) {
       return Regex("wgmma.wait_group.sync.aligned [0-9];").sub("", line);
     }},
    {"WrongGroupCountOfProducts", "wgmma.wait_group.sync.aligned 0;",
     replace("wait_group.sync.aligned 0;", "wait_group.sync.aligned 1;")},
    // Bits 62 and 63 of a matrix descriptor: 1 is 128 bytes, 2 is 64.
    {"BadSwizzle", "or disjoint i64 %[0-9]+, 4[0-9]{18}$",
     number(
         ", ", +[](uint64_t bits) -> uint64_t { return bits ^ 3ull << 62; }),
     /*inOrder=*/true},
    {"DroppedStoreWait", "cp.async.bulk.wait.group", drop},
    // One thread issues the copies.
    {"CollectiveUnderElectedBranch", "cp.async.bulk.tensor.g2s",
     afterCollective, /*inOrder=*/true, "redux.sync"},
    // Barriers of all threads or of some.
    {"DroppedBarrier", "barrier.cta.sync.aligned", drop},
    {"DroppedArrivalAtBarrier", "bar.arrive",
     replace("bar.arrive $0, $1;", "")},
    // cp.async.
    {"DroppedCopyWait", "cp.async.wait.group", drop},
    {"WrongGroupCount", "cp.async.wait.group", number("i32 ", oneMore)},
    {"DroppedCommit", "cp.async.commit.group", drop},
    {"BadSwizzleOfCopy", "xor i32 %[0-9]+, (16|32|48|64|80|96|112)$",
     replace("xor", "add"), /*inOrder=*/true},
    // Exchange within a warp.
    {"WrongShuffleMask", "shfl.sync.bfly", replace("i32 -1", "i32 65535"),
     /*inOrder=*/true},
    {"WrongShuffleDistance", "shfl.sync.bfly",
     [](StringRef line) {
       return Regex("i32 [0-9]+, i32 31").sub("i32 4, i32 31", line);
     },
     /*inOrder=*/true},
    // Rows and columns behind the end aren't stored.
    {"CollectiveUnderBranch", R"(store .* ptr addrspace\(1\))", afterCollective,
     /*inOrder=*/true, "redux.sync"},
};

static std::vector<std::string> edits(const std::string &text,
                                      const Kind &kind) {
  std::vector<std::string> all;
  Regex wanted(kind.lines);
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines) {
    if (line.starts_with("declare") || !wanted.match(line))
      continue;
    std::string changed = kind.edit(line);
    if (changed == line)
      continue;
    std::string edited(text.data(), line.data());
    edited += changed;
    edited += line.data() + line.size();
    if (StringRef(changed).contains("@llvm.nvvm.redux.sync.add"))
      edited += "\ndeclare i32 @llvm.nvvm.redux.sync.add(i32, i32)\n";
    all.push_back(std::move(edited));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// The tests
//===----------------------------------------------------------------------===//

namespace {

constexpr int kSeeds = 8;
/// A line of a kernel is like many others: so many of a kind are tried.
constexpr size_t kTried = 8;

struct Case {
  StringLiteral kernel, kind;
  /// So many of the tried lines at least. A block of so small a problem does
  /// not come to use every barrier a second time, so that some faults have no
  /// effect.
  size_t noticed;
};

[[maybe_unused]] void PrintTo(const Case &c, std::ostream *os) {
  *os << c.kind.str() << " in " << c.kernel.str();
}

class Kernels : public testing::TestWithParam<Subject> {};
class Faults : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(Kernels, AreRight) {
  Kernel &kernel = kernelOf(GetParam().name);
  EXPECT_EQ(kernel.run(kernel.getText(), 2 * kSeeds), "");
}

TEST_P(Faults, AreNoticed) {
  const Kind *kind =
      find_if(kKinds, [](const Kind &k) { return k.name == GetParam().kind; });
  Kernel &kernel = kernelOf(GetParam().kernel);
  std::vector<std::string> all = edits(kernel.getText(), *kind);
  size_t tried = std::min(all.size(), kTried), noticed = 0;
  for (size_t i = 0; i < tried; ++i) {
    std::string told =
        kernel.run(all[i * all.size() / tried], kind->inOrder ? 0 : kSeeds);
    noticed += !told.empty();
    if (!told.empty())
      EXPECT_NE(told.find(kind->error), std::string::npos) << told;
  }
  EXPECT_GE(noticed, GetParam().noticed) << "of " << tried << " tried";
}

INSTANTIATE_TEST_SUITE_P(Schedules, Kernels, testing::ValuesIn(kSubjects),
                         [](const auto &info) {
                           return info.param.name.str();
                         });

static const Case kCases[] = {
    {"AttentionWgmma", "DroppedWait", 2},
    {"AttentionWgmma", "SwappedPhase", 5},
    {"AttentionWgmma", "DroppedArrival", 3},
    {"AttentionWgmma", "ArrivalTooMany", 6},
    {"AttentionWgmma", "ArrivalsTooFew", 6},
    {"AttentionWgmma", "WrongTransactionBytes", 5},
    {"AttentionWgmma", "MissingProxyFence", 1},
    {"AttentionWgmma", "MissingBarrierFence", 1},
    {"AttentionWgmma", "DroppedWaitForProducts", 4},
    {"AttentionWgmma", "WrongGroupCountOfProducts", 3},
    {"AttentionWgmma", "BadSwizzle", 8},
    {"AttentionWgmma", "DroppedStoreWait", 1},
    {"AttentionWgmma", "CollectiveUnderElectedBranch", 5},
    {"AttentionWgmma", "DroppedBarrier", 3},
    {"AttentionWgmma", "DroppedArrivalAtBarrier", 3},
    {"AttentionWgmma", "WrongShuffleMask", 8},
    {"AttentionWgmma", "WrongShuffleDistance", 4},
    {"AttentionCausal", "DroppedWait", 2},
    {"AttentionCausal", "SwappedPhase", 5},
    {"AttentionCausal", "DroppedArrival", 3},
    {"AttentionCausal", "DroppedBarrier", 3},
    {"AttentionCausal", "DroppedArrivalAtBarrier", 3},
    {"GemmWgmma", "DroppedWait", 2},
    {"GemmWgmma", "SwappedPhase", 4},
    {"GemmWgmma", "DroppedArrival", 2},
    {"GemmWgmma", "ArrivalTooMany", 4},
    {"GemmWgmma", "ArrivalsTooFew", 4},
    {"GemmWgmma", "WrongTransactionBytes", 1},
    {"GemmWgmma", "MissingProxyFence", 1},
    {"GemmWgmma", "MissingBarrierFence", 1},
    {"GemmWgmma", "DroppedWaitForProducts", 3},
    {"GemmWgmma", "WrongGroupCountOfProducts", 1},
    {"GemmWgmma", "BadSwizzle", 6},
    {"GemmWgmma", "DroppedStoreWait", 1},
    {"GemmWgmma", "CollectiveUnderElectedBranch", 2},
    {"GemmWgmma", "DroppedBarrier", 2},
    {"GemmWgmma", "DroppedArrivalAtBarrier", 2},
    {"AttentionMma", "DroppedBarrier", 2},
    {"AttentionMma", "DroppedCopyWait", 2},
    {"AttentionMma", "WrongGroupCount", 2},
    {"AttentionMma", "DroppedCommit", 4},
    {"AttentionMma", "BadSwizzleOfCopy", 4},
    {"AttentionMma", "WrongShuffleMask", 8},
    {"AttentionMma", "WrongShuffleDistance", 4},
    {"AttentionMma", "CollectiveUnderBranch", 2},
    {"GemmMma", "DroppedBarrier", 1},
    {"GemmMma", "DroppedCopyWait", 1},
    {"GemmMma", "WrongGroupCount", 1},
    {"GemmMma", "DroppedCommit", 2},
    {"GemmMma", "BadSwizzleOfCopy", 4},
    {"GemmMma", "CollectiveUnderBranch", 2},
    {"RmsNorm", "DroppedBarrier", 1},
    {"RmsNorm", "CollectiveUnderBranch", 1},
    {"RmsNorm", "WrongShuffleMask", 5},
    {"RmsNorm", "WrongShuffleDistance", 3},
    {"LayerNorm", "DroppedBarrier", 2},
    {"LayerNorm", "CollectiveUnderBranch", 1},
    {"LayerNorm", "WrongShuffleMask", 8},
    {"LayerNorm", "WrongShuffleDistance", 4},
    {"Softmax", "DroppedBarrier", 2},
    {"Softmax", "CollectiveUnderBranch", 1},
    {"Softmax", "WrongShuffleMask", 8},
    {"Softmax", "WrongShuffleDistance", 3},
};

INSTANTIATE_TEST_SUITE_P(
    Schedules, Faults, testing::ValuesIn(kCases), [](const auto &info) {
      return (info.param.kernel + "_" + info.param.kind).str();
    });
