//===- BulkTest.cpp - Multicast, linear and reducing bulk copies *- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace rudnn::emulator;
using namespace rudnn::emulator::test;

namespace {

const char *kMap = "%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, "
                   "llvm.align = 64 : i64, nvvm.grid_constant}";

// Each CTA of a pair loads half of a 64 x 64 box and sends it to both; then it
// writes out all of its shared memory.
const char *kMulticast = R"(
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %bar = llvm.getelementptr %smem[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %bytes = arith.constant 8192 : i32
    scf.if %first {
      nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    scf.if %first {
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      %half = arith.constant 4096 : i32
      %y = arith.muli %rank, %c32 : i32
      %at = arith.muli %rank, %half : i32
      %to = llvm.getelementptr %smem[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %cluster = llvm.addrspacecast %to : !llvm.ptr<3> to !llvm.ptr<7>
      %mask = arith.constant 3 : i16
      nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %bar, box[%c0, %y] multicast_mask = %mask : !llvm.ptr<7>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %before = arith.muli %rank, %bytes : i32
    %own = llvm.getelementptr %out[%before] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %first4 = arith.muli %tid, %c4 : i32
    scf.for %i = %first4 to %bytes step %c128 : i32 {
      %p = llvm.getelementptr %smem[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %q = llvm.getelementptr %own[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %v = llvm.load %p : !llvm.ptr<3> -> i32
      llvm.store %v, %q : i32, !llvm.ptr<1>
    }
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
)";

TEST(Bulk, MulticastInACluster) {
  auto program = compileText(
      kernelText(std::string(kMap) + ", %out: !llvm.ptr<1>", kMulticast,
                 ", nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.reqntid = "
                 "array<i32: 32, 1, 1>"));
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  for (const Options &options : allModes()) {
    Array<uint16_t> in = randomBf16(64 * 64, 9), out(2 * 64 * 64, 0x5555);
    Launch launch;
    launch.grid = {2};
    launch.block = {32};
    launch.dynamicSharedBytes = 8192 + 16;
    launch.options = options;
    launch.buffers = {in.buffer("in", false), out.buffer("out", true)};
    ASSERT_EQ(message((*program)->launch(
                  "kernel", launch,
                  {Argument::tensorMap(
                       mapOf(in.data(), 64, 64, 32, 64, Swizzle::None)),
                   Argument::pointer(out.data())})),
              "");
    for (int cta = 0; cta < 2; ++cta)
      for (int i = 0; i < 64 * 64; ++i)
        ASSERT_EQ(out[cta * 64 * 64 + i], in[i]);
  }
}

// Linear copy in, doubled by a reducing tensor store and by a reducing linear
// store of f32.
const char *kLinear = R"(
    %bar = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %bytes = arith.constant 512 : i32
    %s = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    %b = llvm.ptrtoint %bar : !llvm.ptr<3> to i32
    scf.if %first {
      nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      llvm.inline_asm has_side_effects asm_dialect = att "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r" %s, %in, %bytes, %b : (i32, !llvm.ptr<1>, i32, i32) -> ()
    }
    nvvm.barrier0
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    scf.if %first {
      nvvm.cp.async.bulk.tensor.reduce %map, %smem, box[%c0, %c0] {redKind = #nvvm.tma_redux_kind<add>} : !llvm.ptr, !llvm.ptr<3>
      llvm.inline_asm has_side_effects asm_dialect = att "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], $2;", "l,r,r" %out, %s, %bytes : (!llvm.ptr<1>, i32, i32) -> ()
      llvm.inline_asm has_side_effects asm_dialect = att "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r" %copy, %s, %bytes : (!llvm.ptr<1>, i32, i32) -> ()
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
)";

TEST(Bulk, LinearCopiesAndReductions) {
  auto program =
      compileText(kernelText(std::string(kMap) + ", %in: !llvm.ptr<1>, %out: "
                                                 "!llvm.ptr<1>, %copy: "
                                                 "!llvm.ptr<1>",
                             kLinear));
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  for (const Options &options : allModes()) {
    Array<float> in(128), out(128, 1.0f), tensor(128, 10.0f), copy(128);
    for (int i = 0; i < 128; ++i)
      in[i] = i;
    TiledMap p;
    p.type = ElementType::F32;
    p.globalAddress = tensor.data();
    p.globalDim = {32, 4};
    p.globalStrides = {128};
    p.boxDim = {32, 4};
    Launch launch;
    launch.block = {32};
    launch.dynamicSharedBytes = 1024 + 16;
    launch.options = options;
    launch.buffers = {in.buffer("in", false), out.buffer("out", true),
                      tensor.buffer("tensor", true), copy.buffer("copy", true)};
    ASSERT_EQ(message((*program)->launch(
                  "kernel", launch,
                  {Argument::tensorMap(llvm::cantFail(encodeTiled(p))),
                   Argument::pointer(in.data()), Argument::pointer(out.data()),
                   Argument::pointer(copy.data())})),
              "");
    for (int i = 0; i < 128; ++i) {
      EXPECT_EQ(out[i], 1.0f + i);
      EXPECT_EQ(tensor[i], 10.0f + i);
      EXPECT_EQ(copy[i], float(i));
    }
  }
}

// A ring of one slot: the producer may overwrite it only after the consumer
// has read it.
const char *kRing = R"(
    %full = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty = llvm.getelementptr %smem[1032] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %bytes = arith.constant 512 : i32
    %s = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    %f = llvm.ptrtoint %full : !llvm.ptr<3> to i32
    scf.if %first {
      nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    nvvm.barrier0
    %producer = arith.cmpi eq, %tid, %c32 : i32
    scf.if %producer {
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %odd = arith.andi %i, %c1 : i32
        %parity = arith.xori %odd, %c1 : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32 // EMPTY
        nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32
        %at = arith.muli %i, %bytes : i32
        %from = llvm.getelementptr %in[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
        llvm.inline_asm has_side_effects asm_dialect = att "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r" %s, %from, %bytes, %f : (i32, !llvm.ptr<1>, i32, i32) -> ()
      }
    }
    %consumer = arith.cmpi ult, %tid, %c32 : i32
    scf.if %consumer {
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %parity = arith.andi %i, %c1 : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %q = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %v = llvm.load %q : !llvm.ptr<3> -> i32
        %row = arith.muli %i, %c32 : i32
        %index = arith.addi %row, %tid : i32
        %to = llvm.getelementptr %out[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
        llvm.store %v, %to : i32, !llvm.ptr<1>
        nvvm.bar.warp.sync %all : i32
        scf.if %first {
          %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
        }
      }
    }
)";

std::string ring(const std::string &body, const Options &options) {
  auto program =
      compileText(kernelText("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", body));
  if (!program)
    return llvm::toString(program.takeError());
  Array<int32_t> in(512), out(128, -1);
  for (int i = 0; i < 512; ++i)
    in[i] = i;
  Launch launch;
  launch.block = {64};
  launch.dynamicSharedBytes = 1040;
  launch.options = options;
  launch.buffers = {in.buffer("in", false), out.buffer("out", true)};
  std::string error = message((*program)->launch(
      "kernel", launch,
      {Argument::pointer(in.data()), Argument::pointer(out.data())}));
  if (!error.empty())
    return error;
  for (int i = 0; i < 128; ++i)
    if (out[i] != i / 32 * 128 + i % 32)
      return "wrong data";
  return "";
}

TEST(Ring, OneSlot) {
  for (const Options &options : allModes())
    EXPECT_EQ(ring(kRing, options), "");
}

TEST(RingFault, SlotOverwrittenBeforeItIsRead) {
  std::string body = kRing;
  std::string wait = "nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : "
                     "!llvm.ptr<3>, i32, i32 // EMPTY";
  body.erase(body.find(wait), wait.size());
  std::string found;
  for (const Options &options : allModes())
    if (found.empty())
      found = ring(body, options);
  EXPECT_NE(found, "");
}

TEST(RingFault, SwappedPhaseDeadlocks) {
  std::string body = kRing;
  std::string parity = "%parity = arith.andi %i, %c1 : i32";
  body.replace(body.find(parity), parity.size(),
               "%odd = arith.andi %i, %c1 : i32\n        %parity = arith.xori "
               "%odd, %c1 : i32");
  std::string found;
  for (const Options &options : allModes())
    if (found.empty())
      found = ring(body, options);
  EXPECT_NE(found, "");
}

} // namespace
