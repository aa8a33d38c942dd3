//===- WarpTest.cpp - Warp exchange, barriers, clusters ---------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace rudnn::emulator;
using namespace rudnn::emulator::test;

namespace {

/// Compiles a body that computes %v (i32) and stores it to out[thread of the
/// grid]; returns the error, or fills `out`.
std::string runBody(const std::string &body, std::vector<int32_t> &out,
                    uint32_t threads, const Options &options = {},
                    uint32_t ctas = 1, const std::string &attributes = "") {
  auto program = compileText(kernelText("%out: !llvm.ptr<1>", body + R"(
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %ntid = nvvm.read.ptx.sreg.ntid.x : i32
    %before = arith.muli %cta, %ntid : i32
    %index = arith.addi %before, %tid : i32
    %to = llvm.getelementptr %out[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %v, %to : i32, !llvm.ptr<1>
)",
                                        attributes));
  if (!program)
    return llvm::toString(program.takeError());
  out.assign(threads * ctas, -12345);
  Launch launch;
  launch.grid = {ctas};
  launch.block = {threads};
  launch.dynamicSharedBytes = 4096;
  launch.options = options;
  launch.buffers = {{out.data(), out.size() * 4, true, "out"}};
  return message(
      (*program)->launch("kernel", launch, {Argument::pointer(out.data())}));
}

TEST(Warp, Shuffles) {
  struct Case {
    const char *mode;
    int b, c;
    int (*source)(int);
  };
  const Case cases[] = {
      {"bfly", 5, 31, [](int l) { return l ^ 5; }},
      {"down", 3, 31, [](int l) { return l + 3 < 32 ? l + 3 : l; }},
      {"up", 2, 0, [](int l) { return l >= 2 ? l - 2 : l; }},
      {"idx", 7, 31, [](int) { return 7; }},
      // Segments of eight lanes.
      {"idx", 1, 24 << 8 | 31, [](int l) { return (l & ~7) + 1; }},
      {"down", 1, 24 << 8 | 31, [](int l) { return l % 8 < 7 ? l + 1 : l; }},
  };
  for (const Case &c : cases)
    for (const Options &options : {allModes()[0], allModes()[4]}) {
      std::vector<int32_t> out;
      ASSERT_EQ(runBody("    %b = arith.constant " + std::to_string(c.b) +
                            " : i32\n    %c = arith.constant " +
                            std::to_string(c.c) +
                            " : i32\n    %x = arith.muli %tid, %c4 : i32\n"
                            "    %v = nvvm.shfl.sync " +
                            c.mode + " %all, %x, %b, %c : i32 -> i32\n",
                        out, 64, options),
                "");
      for (int i = 0; i < 64; ++i)
        EXPECT_EQ(out[i], 4 * (i / 32 * 32 + c.source(i % 32))) << c.mode;
    }
}

TEST(Warp, VotesReductionsAndElection) {
  std::vector<int32_t> out;
  ASSERT_EQ(runBody(R"(
    %odd = arith.andi %lane, %c1 : i32
    %is = arith.cmpi eq, %odd, %c1 : i32
    %ballot = nvvm.vote.sync ballot %all, %is -> i32
    %sum = nvvm.redux.sync add %lane, %all : i32 -> i32
    %max = nvvm.redux.sync umax %lane, %all : i32 -> i32
    %leader = nvvm.elect.sync -> i1
    %one = arith.extui %leader : i1 to i32
    %count = nvvm.redux.sync add %one, %all : i32 -> i32
    %s1 = arith.addi %ballot, %sum : i32
    %s2 = arith.addi %s1, %max : i32
    %v = arith.addi %s2, %count : i32
)",
                    out, 32, allModes()[2]),
            "");
  for (int32_t v : out)
    EXPECT_EQ(v, int32_t(0xaaaaaaaa) + 496 + 31 + 1);
}

TEST(Warp, Match) {
  std::vector<int32_t> out;
  ASSERT_EQ(runBody(R"(
    %k = arith.andi %lane, %c1 : i32
    %v = llvm.inline_asm has_side_effects "{ .reg .pred p; .reg .b32 m, n; match.any.sync.b32 m, $1, $2; match.all.sync.b32 n|p, $1, $2; @p add.s32 m, m, 1; mov.b32 $0, m; }", "=r,r,r" %k, %all : (i32, i32) -> i32
)",
                    out, 32),
            "");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(uint32_t(out[i]), i % 2 ? 0xaaaaaaaau : 0x55555555u);
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

TEST(WarpFault, CollectiveUnderAnElectedBranch) {
  for (const Options &options : allModes()) {
    std::vector<int32_t> out;
    std::string found = runBody(R"(
    %leader = nvvm.elect.sync -> i1
    scf.if %leader {
      %r = nvvm.redux.sync or %lane, %all : i32 -> i32
      %p = llvm.getelementptr %smem[%r] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      llvm.store %c0, %p : i32, !llvm.ptr<3>
    }
    nvvm.barrier0
    %v = arith.constant 1 : i32
)",
                                out, 32, options);
    EXPECT_NE(found.find("divergent warp"), std::string::npos) << found;
    EXPECT_NE(found.find("redux.sync"), std::string::npos) << found;
  }
}

TEST(WarpFault, AlignedInstructionUnderABranch) {
  std::vector<int32_t> out;
  std::string found = runBody(R"(
    scf.if %first {
      nvvm.wgmma.fence.aligned
    }
    %v = arith.constant 1 : i32
)",
                              out, 128);
  EXPECT_NE(found.find("exits while other lanes of its warp execute "
                       "'wgmma.fence.sync.aligned"),
            std::string::npos)
      << found;
}

TEST(WarpFault, LaneThatHasExited) {
  std::vector<int32_t> out;
  std::string found = runBody(R"(
    %high = arith.cmpi uge, %lane, %c4 : i32
    %v = scf.if %high -> i32 {
      %x = nvvm.shfl.sync bfly %all, %lane, %c1, %c31 : i32 -> i32
      scf.yield %x : i32
    } else {
      scf.yield %c0 : i32
    }
)",
                              out, 32);
  EXPECT_NE(found.find("exit"), std::string::npos) << found;
}

//===----------------------------------------------------------------------===//
// Barriers of the CTA
//===----------------------------------------------------------------------===//

// Two warp groups take turns: the second must see what the first has stored.
static const char *kTurns = R"(
    %group = arith.divui %tid, %c128 : i32
    %isFirst = arith.cmpi eq, %group, %c0 : i32
    %c256 = arith.constant 256 : i32
    %in = arith.remui %tid, %c128 : i32
    %p = llvm.getelementptr %smem[%in] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = scf.if %isFirst -> i32 {
      llvm.store %tid, %p : i32, !llvm.ptr<3>
      nvvm.barrier.arrive id = %c1 number_of_threads = %c256
      nvvm.barrier id = %c2 number_of_threads = %c256
      %x = llvm.load %p : !llvm.ptr<3> -> i32
      scf.yield %x : i32
    } else {
      nvvm.barrier id = %c1 number_of_threads = %c256
      %y = llvm.load %p : !llvm.ptr<3> -> i32
      %z = arith.addi %y, %c1 : i32
      llvm.store %z, %p : i32, !llvm.ptr<3>
      nvvm.barrier.arrive id = %c2 number_of_threads = %c256
      scf.yield %z : i32
    }
)";

TEST(NamedBarrier, Turns) {
  for (const Options &options : allModes()) {
    std::vector<int32_t> out;
    ASSERT_EQ(runBody(kTurns, out, 256, options), "");
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(out[i], i % 128 + 1);
  }
}

TEST(NamedBarrierFault, WrongCount) {
  std::string body = kTurns;
  size_t at = body.rfind("%c256");
  body.replace(at, 5, "%c128");
  std::vector<int32_t> out;
  std::string found = runBody(body, out, 256);
  EXPECT_NE(found.find("thread counts"), std::string::npos) << found;
}

TEST(NamedBarrierFault, MissingArrivalDeadlocks) {
  std::string body = kTurns;
  std::string arrive = "nvvm.barrier.arrive id = %c2 number_of_threads = %c256";
  body.erase(body.find(arrive), arrive.size());
  std::vector<int32_t> out;
  std::string found = runBody(body, out, 256);
  EXPECT_NE(found.find("deadlock"), std::string::npos) << found;
  EXPECT_NE(found.find("barrier 2: 128 of 256 threads have arrived"),
            std::string::npos)
      << found;
}

TEST(NamedBarrier, ReducesPredicates) {
  for (const Options &options : {allModes()[0], allModes()[6]}) {
    std::vector<int32_t> out;
    ASSERT_EQ(runBody(R"(
    %c3 = arith.constant 3 : i32
    %r = arith.remui %tid, %c3 : i32
    %z = arith.cmpi eq, %r, %c0 : i32
    %v = llvm.inline_asm has_side_effects "{ .reg .pred p, q; .reg .b32 a, b; bar.red.popc.u32 $0, 1, $1; bar.red.and.pred p, 1, $1; bar.red.or.pred q, 1, $1; selp.b32 a, 1000, 0, p; selp.b32 b, 2000, 0, q; add.s32 $0, $0, a; add.s32 $0, $0, b; }", "=r,b" %z : (i1) -> i32
)",
                      out, 96, options),
              "");
    for (int32_t v : out)
      EXPECT_EQ(v, 32 + 2000);
  }
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

// Each CTA stores into the shared memory of the other and signals the other's
// mbarrier; then it reads what it has got.
static const char *kExchange = R"(
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %other = arith.xori %rank, %c1 : i32
    %bar = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    scf.if %first {
      nvvm.mbarrier.init %bar, %c32 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    %p = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %remote = nvvm.mapa %p, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    %h = arith.constant 100 : i32
    %mine = arith.muli %rank, %h : i32
    %value = arith.addi %mine, %tid : i32
    llvm.store %value, %remote : i32, !llvm.ptr<7>
    %b32 = llvm.ptrtoint %bar : !llvm.ptr<3> to i32
    llvm.inline_asm has_side_effects asm_dialect = att "{ .reg .b32 r; mapa.shared::cluster.u32 r, $0, $1; @$2 mbarrier.arrive.shared::cluster.b64 _, [r]; }", "r,r,b" %b32, %other, %true : (i32, i32, i1) -> ()
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32
)";
static const char *kExchangeEnd = R"(
    nvvm.cluster.arrive {aligned} // END
    nvvm.cluster.wait {aligned}
)";
static const char *kClusterOf2 =
    ", nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.reqntid = array<i32: 32, "
    "1, 1>";

TEST(Cluster, ExchangesThroughSharedMemory) {
  for (const Options &options : allModes()) {
    std::vector<int32_t> out;
    ASSERT_EQ(runBody(std::string(kExchange) + kExchangeEnd, out, 32, options,
                      4, kClusterOf2),
              "");
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(out[i], 100 * (i / 32 % 2 ^ 1) + i % 32);
  }
}

TEST(ClusterFault, NoFenceAfterInitialization) {
  std::string body = kExchange;
  std::string fence = "nvvm.fence.mbarrier.init";
  body.erase(body.find(fence), fence.size());
  std::vector<int32_t> out;
  std::string found = runBody(body + kExchangeEnd, out, 32, {}, 2, kClusterOf2);
  EXPECT_NE(found.find("fence.mbarrier_init"), std::string::npos) << found;
}

TEST(ClusterFault, NoBarrierBeforeTheFirstArrival) {
  std::string body = kExchange;
  for (std::string s :
       {"nvvm.cluster.arrive {aligned}", "nvvm.cluster.wait {aligned}"})
    body.replace(body.find(s), s.size(), "");
  std::string found;
  for (const Options &options : allModes()) {
    std::vector<int32_t> out;
    if (found.empty())
      found = runBody(body + kExchangeEnd, out, 32, options, 2, kClusterOf2);
  }
  EXPECT_NE(found.find("no mbarrier has been initialized"), std::string::npos)
      << found;
}

TEST(ClusterFault, PeerHasExited) {
  // Rank 1 does not wait for rank 0 at the end.
  std::string body = R"(
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %isZero = arith.cmpi eq, %rank, %c0 : i32
    %s = nvvm.mapa %smem, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>
    %v = scf.if %isZero -> i32 {
      llvm.inline_asm has_side_effects "nanosleep.u32 100; nanosleep.u32 100;", "" : () -> ()
      %x = llvm.load %s : !llvm.ptr<7> -> i32
      scf.yield %x : i32
    } else {
      scf.yield %c0 : i32
    }
)";
  std::vector<int32_t> out;
  std::string found = runBody(body, out, 32, {}, 2, kClusterOf2);
  EXPECT_NE(found.find("have exited"), std::string::npos) << found;
}

} // namespace
