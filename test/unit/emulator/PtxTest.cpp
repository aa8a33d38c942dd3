//===- PtxTest.cpp - Inline PTX, memory checks, launches --------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "rudnn/EmulatorRuntime.h"
#include "rudnn/Runtime/Launch.h"

#include <cmath>
#include <thread>

using namespace rudnn::emulator;
using namespace rudnn::emulator::test;

namespace {

/// A one-thread kernel in LLVM assembly: out[0] = asm(a, b).
std::string asmKernel(const std::string &text, const std::string &constraints,
                      const std::string &operands,
                      const std::string &type = "i32") {
  return R"(target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %a, i32 %b, float %f, float %g) {
  %r = call )" +
         type + " asm sideeffect \"" + text + "\", \"" + constraints + "\"(" +
         operands + ")\n  store " + type +
         " %r, ptr addrspace(1) %out\n  ret void\n}\n";
}

struct Result {
  std::string error;
  uint32_t value = 0;
};

Result run(const std::string &ir, uint32_t a = 0, uint32_t b = 0, float f = 0,
           float g = 0) {
  Result r;
  auto program = Program::parse(ir);
  if (!program) {
    r.error = llvm::toString(program.takeError());
    return r;
  }
  alignas(16) uint32_t out[4] = {};
  Launch launch;
  launch.buffers = {{out, sizeof(out), true, "out"}};
  r.error = message((*program)->launch(
      "kernel", launch,
      {Argument::pointer(out), Argument::scalar(a), Argument::scalar(b),
       Argument::scalar(f), Argument::scalar(g)}));
  r.value = out[0];
  return r;
}

Result ints(const std::string &text, uint32_t a, uint32_t b) {
  return run(asmKernel(text, "=r,r,r", "i32 %a, i32 %b"), a, b);
}
Result floats(const std::string &text, float f, float g) {
  return run(asmKernel(text, "=r,f,f", "float %f, float %g"), 0, 0, f, g);
}
float asFloat(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

TEST(Ptx, Integers) {
  EXPECT_EQ(ints("add.s32 $0, $1, $2;", 7, -9).value, uint32_t(-2));
  EXPECT_EQ(ints("mul.hi.u32 $0, $1, $2;", 0xffffffff, 16).value, 15u);
  EXPECT_EQ(ints("shr.s32 $0, $1, $2;", -16, 2).value, uint32_t(-4));
  EXPECT_EQ(ints("shl.b32 $0, $1, $2;", 1, 40).value, 0u);
  EXPECT_EQ(ints("min.s32 $0, $1, $2;", -3, 4).value, uint32_t(-3));
  EXPECT_EQ(ints("min.u32 $0, $1, $2;", -3, 4).value, 4u);
  EXPECT_EQ(ints("prmt.b32 $0, $1, $2, 0x5410;", 0x33221100, 0x77665544).value,
            0x55441100u);
  EXPECT_EQ(ints("lop3.b32 $0, $1, $2, 0, 0xc0;", 12, 10).value, 8u);
  EXPECT_EQ(ints("bfe.u32 $0, $1, 4, 8;", 0xabcd, 0).value, 0xbcu);
  EXPECT_EQ(ints("popc.b32 $0, $1;", 0xf0f, 0).value, 8u);
  EXPECT_EQ(ints("mad.lo.s32 $0, $1, $2, 5;", 3, 4).value, 17u);
}

TEST(Ptx, Floats) {
  EXPECT_EQ(asFloat(floats("ex2.approx.ftz.f32 $0, $1;", 3, 0).value), 8);
  EXPECT_EQ(asFloat(floats("rcp.approx.ftz.f32 $0, $1;", 4, 0).value), 0.25f);
  EXPECT_NEAR(asFloat(floats("tanh.approx.f32 $0, $1;", 0.5f, 0).value),
              std::tanh(0.5f), 1e-6);
  EXPECT_EQ(asFloat(floats("max.f32 $0, $1, $2;", NAN, 2).value), 2);
  EXPECT_TRUE(
      std::isnan(asFloat(floats("max.NaN.f32 $0, $1, $2;", NAN, 2).value)));
  EXPECT_EQ(floats("cvt.rn.bf16x2.f32 $0, $1, $2;", 2, 1).value, 0x40003f80u);
  EXPECT_EQ(floats("cvt.rn.f16x2.f32 $0, $1, $2;", 2, 1).value, 0x40003c00u);
  EXPECT_EQ(floats("cvt.rni.s32.f32 $0, $1;", -2.5f, 0).value, uint32_t(-2));
  EXPECT_EQ(floats("cvt.rzi.u32.f32 $0, $1;", -7, 0).value, 0u);
  EXPECT_EQ(asFloat(floats("add.rm.f32 $0, $1, $2;", 1, 1e-10f).value), 1);
  EXPECT_EQ(asFloat(floats("add.rp.f32 $0, $1, $2;", 1, 1e-10f).value),
            1 + 0x1p-23f);
  EXPECT_EQ(
      asFloat(floats("fma.rz.f32 $0, $1, $2, 0f3F800000;", 1, -1e-10f).value),
      1 - 0x1p-24f);
  EXPECT_EQ(asFloat(floats("cvt.sat.f32.f32 $0, $1;", 3, 0).value), 1);
  EXPECT_EQ(asFloat(floats("cvt.rmi.f32.f32 $0, $1;", -2.5f, 0).value), -3);
  EXPECT_EQ(floats("{ .reg .b16 h; cvt.rn.satfinite.e4m3x2.f32 h, $1, $2; "
                   "mov.b32 $0, {h, h}; }",
                   1000, -0.5f)
                .value,
            0x7eb07eb0u);
  EXPECT_EQ(asFloat(floats("fma.rn.f32 $0, $1, $2, 0f3F800000;", 3, 4).value),
            13);
}

TEST(Ptx, PredicatesLabelsAndScopes) {
  // Sum of 1..a.
  EXPECT_EQ(ints("{ .reg .pred p; .reg .b32 i, s<2>; mov.b32 i, $1; mov.b32 "
                 "s0, 0; LOOP: add.s32 s0, s0, i; sub.s32 i, i, 1; setp.gt.s32 "
                 "p, i, 0; @p bra.uni LOOP; @!p mov.b32 $0, s0; }",
                 10, 0)
                .value,
            55u);
  EXPECT_EQ(ints("{ .reg .pred p, q; setp.lt.s32 p|q, $1, $2; selp.b32 $0, 1, "
                 "2, q; }",
                 3, 4)
                .value,
            2u);
  EXPECT_EQ(ints("mov.b32 $0, %laneid; // a comment", 3, 4).value, 0u);
}

TEST(PtxError, NamesWhatIsNotModelled) {
  auto error = [](const std::string &text) { return ints(text, 0, 0).error; };
  EXPECT_NE(error("tcgen05.alloc.b32 $0, $1;").find("tcgen05.alloc"),
            std::string::npos);
  EXPECT_NE(error("add.rna.f32 $0, $1, $2;").find("'.rna'"), std::string::npos);
  EXPECT_NE(error("add.s32 $0, $1;").find("operands"), std::string::npos);
  EXPECT_NE(error("add.s32 $0, $1, $9;").find("$9"), std::string::npos);
  EXPECT_NE(error("add.s32 $0, $1, foo;").find("foo"), std::string::npos);
  EXPECT_NE(error("bra.uni NOWHERE;").find("NOWHERE"), std::string::npos);
  EXPECT_NE(error("{ mov.b32 $0, $1 ").find("PTX"), std::string::npos);
  EXPECT_NE(error("trap;").find("traps"), std::string::npos);
  std::string ir = R"(target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.sad.i(i32, i32, i32)
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %a, i32 %b, float %f, float %g) {
  %r = call i32 @llvm.nvvm.sad.i(i32 %a, i32 %b, i32 0)
  store i32 %r, ptr addrspace(1) %out
  ret void
}
)";
  EXPECT_NE(run(ir).error.find("llvm.nvvm.sad.i"), std::string::npos);
}

TEST(Ptx, Atomics) {
  auto program = Program::parse(R"(target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %f = uitofp i32 %t to float
  call void asm sideeffect "red.global.add.f32 [$0], $1;", "l,f"(ptr addrspace(1) %out, float %f)
  %p = getelementptr i8, ptr addrspace(1) %out, i64 4
  %old = atomicrmw add ptr addrspace(1) %p, i32 %t syncscope("device") monotonic
  %q = getelementptr i8, ptr addrspace(1) %out, i64 8
  %m = call i32 asm sideeffect "atom.global.max.u32 $0, [$1], $2;", "=r,l,r"(ptr addrspace(1) %q, i32 %t)
  call void asm sideeffect "red.global.add.noftz.bf16x2 [$0+12], $1;", "l,r"(ptr addrspace(1) %out, i32 1065353216)
  ret void
}
)");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  alignas(16) uint32_t out[4] = {};
  Launch launch;
  launch.block = {64};
  launch.buffers = {{out, sizeof(out), true, "out"}};
  ASSERT_EQ(
      message((*program)->launch("kernel", launch, {Argument::pointer(out)})),
      "");
  EXPECT_EQ(asFloat(out[0]), 2016);
  EXPECT_EQ(out[1], 2016u);
  EXPECT_EQ(out[2], 63u);
  EXPECT_EQ(out[3], 0x42800000u); // 64 times bf16 1.0 in the upper half
}

//===----------------------------------------------------------------------===//
// Memory checks
//===----------------------------------------------------------------------===//

std::string memory(const std::string &body, uint32_t dynamicBytes = 256,
                   bool writable = true) {
  auto program = compileText(kernelText("%out: !llvm.ptr<1>", body));
  if (!program)
    return llvm::toString(program.takeError());
  alignas(16) uint32_t out[4] = {};
  Launch launch;
  launch.dynamicSharedBytes = dynamicBytes;
  launch.buffers = {{out, sizeof(out), writable, "out"}};
  return message(
      (*program)->launch("kernel", launch, {Argument::pointer(out)}));
}

TEST(MemoryFault, OutOfBounds) {
  std::string found = memory(
      "    %p = llvm.getelementptr %out[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, "
      "i8\n    llvm.store %c1, %p : i32, !llvm.ptr<1>\n");
  EXPECT_NE(found.find("16 bytes after the start of 'out', which has 16"),
            std::string::npos)
      << found;
  found = memory("    llvm.store %c1, %out : i32, !llvm.ptr<1>\n", 256, false);
  EXPECT_NE(found.find("read-only buffer 'out'"), std::string::npos) << found;
  found =
      memory("    %p = llvm.getelementptr %smem[254] : (!llvm.ptr<3>) -> "
             "!llvm.ptr<3>, i8\n    llvm.store %c1, %p : i32, !llvm.ptr<3>\n");
  EXPECT_NE(found.find("shared store of 4 bytes at shared+0x4fe is out of "
                       "bounds"),
            std::string::npos)
      << found;
  found = memory("    llvm.inline_asm has_side_effects \"st.shared.b32 [$0], "
                 "$1;\", \"r,r\" %c4, %c1 : (i32, i32) -> ()\n");
  EXPECT_NE(found.find("no shared address"), std::string::npos) << found;
  // A barrier that data overwrites.
  found = memory(
      "    nvvm.mbarrier.init %smem, %c1 : !llvm.ptr<3>, i32\n    llvm.store "
      "%c1, %smem : i32, !llvm.ptr<3>\n    %s = nvvm.mbarrier.arrive %smem : "
      "!llvm.ptr<3> -> i64\n");
  EXPECT_NE(found.find("overwritten by data"), std::string::npos) << found;
}

TEST(MemoryFault, InfinitePollHitsTheTimeLimit) {
  auto program = Program::parse(R"(target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  br label %loop
loop:
  %v = load volatile i32, ptr addrspace(1) %out
  %go = icmp eq i32 %v, 0
  br i1 %go, label %loop, label %end
end:
  ret void
}
)");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  alignas(16) uint32_t out[4] = {};
  Launch launch;
  launch.options.timeLimit = 0.2;
  launch.buffers = {{out, sizeof(out), true, "out"}};
  std::string found =
      message((*program)->launch("kernel", launch, {Argument::pointer(out)}));
  EXPECT_NE(found.find("time limit"), std::string::npos) << found;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST(LaunchError, NamesTheParameter) {
  auto program = compileText(
      kernelText("%out: !llvm.ptr<1>", "", ", nvvm.maxntid = array<i32: 64>"));
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_EQ((*program)->kernels(), std::vector<std::string>{"kernel"});
  auto error = [&](auto change, size_t arguments = 1,
                   const char *kernel = "kernel") {
    Launch launch;
    change(launch);
    std::vector<Argument> list(arguments, Argument::pointer(nullptr));
    return message((*program)->launch(kernel, launch, list));
  };
  auto nothing = [](Launch &) {};
  EXPECT_EQ(error(nothing), "");
  EXPECT_NE(error(nothing, 2).find("1 arguments, not 2"), std::string::npos);
  EXPECT_NE(error(nothing, 1, "other").find("no kernel 'other'"),
            std::string::npos);
  EXPECT_NE(error([](Launch &l) { l.block = {65}; }).find("maxntid"),
            std::string::npos);
  EXPECT_NE(error([](Launch &l) { l.block = {2048}; }).find("1024"),
            std::string::npos);
  EXPECT_NE(error([](Launch &l) { l.grid = {0}; }).find("empty"),
            std::string::npos);
  EXPECT_NE(error([](Launch &l) {
              l.grid = {3}, l.cluster = {2};
            }).find("not a multiple"),
            std::string::npos);
  EXPECT_NE(
      error([](Launch &l) { l.dynamicSharedBytes = 300000; }).find("300000"),
      std::string::npos);
}

TEST(ProgramError, WrongTargetAndNoKernel) {
  EXPECT_NE(message(Program::parse("define void @f() { ret void }").takeError())
                .find("nvptx64"),
            std::string::npos);
  EXPECT_NE(message(Program::parse("target triple = \"nvptx64-nvidia-cuda\"\n"
                                   "define void @f() { ret void }")
                        .takeError())
                .find("no kernel"),
            std::string::npos);
  EXPECT_NE(message(Program::parse("nonsense").takeError()), "");
}

TEST(Launch, SeveralThreadsAtOnceAndStaticShared) {
  auto program = Program::parse(R"(target triple = "nvptx64-nvidia-cuda"
@one = internal addrspace(3) global [64 x i32] undef, align 4
@two = internal addrspace(3) global [64 x i32] undef, align 256
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(3) @one, i32 %t
  %q = getelementptr i32, ptr addrspace(3) @two, i32 %t
  store i32 %t, ptr addrspace(3) %p
  store i32 7, ptr addrspace(3) %q
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = sub i32 63, %t
  %r = getelementptr i32, ptr addrspace(3) @one, i32 %o
  %v = load i32, ptr addrspace(3) %r
  %w = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %w
  ret void
}
)");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 20 && errors[i].empty(); ++repeat) {
        std::vector<int32_t> out(64);
        Launch launch;
        launch.block = {64};
        launch.buffers = {{out.data(), 256, true, "out"}};
        errors[i] = message((*program)->launch(
            "kernel", launch, {Argument::pointer(out.data())}));
        for (int t = 0; t < 64; ++t)
          if (out[t] != 63 - t)
            errors[i] = "wrong data";
      }
    });
  for (std::thread &t : threads)
    t.join();
  for (const std::string &e : errors)
    EXPECT_EQ(e, "");
}

template <typename F>
F *symbol(const char *name) {
  for (const RuntimeSymbol &s : runtimeSymbols())
    if (std::strcmp(s.name, name) == 0)
      return reinterpret_cast<F *>(s.address);
  return nullptr;
}

TEST(HostRuntime, LaunchesImagesAndReportsErrors) {
  std::string ir = asmKernel("add.s32 $0, $1, $2;", "=r,r,r", "i32 %a, i32 %b");
  RudnnKernelImage image = {ir.data(), int64_t(ir.size()), nullptr};
  auto *launch = symbol<decltype(rudnn_rt_launch)>("rudnn_rt_launch");
  auto *take = symbol<decltype(rudnn_rt_take_status)>("rudnn_rt_take_status");
  auto *text = symbol<decltype(rudnn_rt_error_text)>("rudnn_rt_error_text");
  ASSERT_TRUE(launch && take && text);
  alignas(16) uint32_t out[4] = {};
  void *to = out;
  int32_t a = 3, b = 4;
  float f = 0;
  void *params[] = {&to, &a, &b, &f, &f};
  Session session;
  session.buffers = {{out, sizeof(out), true, "out"}};
  setSession(&session);
  EXPECT_EQ(launch(&image, "kernel", 1, 1, 1, 1, 1, 1, 0, params, 5, nullptr),
            0);
  EXPECT_EQ(out[0], 7u);
  EXPECT_EQ(session.launches, 1u);
  EXPECT_EQ(launch(&image, "kernel", 0, 1, 1, 1, 1, 1, 0, params, 5, nullptr),
            0);
  session.buffers[0].writable = false;
  EXPECT_NE(launch(&image, "kernel", 1, 1, 1, 1, 1, 1, 0, params, 5, nullptr),
            0);
  EXPECT_NE(std::string(text()).find("read-only buffer 'out'"),
            std::string::npos);
  // Nothing runs until the status is taken.
  session.buffers[0].writable = true;
  EXPECT_NE(launch(&image, "kernel", 1, 1, 1, 1, 1, 1, 0, params, 5, nullptr),
            0);
  EXPECT_NE(take(), 0);
  EXPECT_EQ(take(), 0);
  EXPECT_NE(launch(&image, "kernel", 1, 1, 1, 1, 1, 1, 0, params, 4, nullptr),
            0);
  EXPECT_NE(std::string(text()).find("5 arguments, not 4"), std::string::npos);
  take();
  EXPECT_NE(launch(&image, "other", 1, 1, 1, 1, 1, 1, 0, params, 5, nullptr),
            0);
  take();
  EXPECT_NE(launch(&image, "kernel", -1, 1, 1, 1, 1, 1, 0, params, 5, nullptr),
            0);
  take();
  setSession(nullptr);
}

} // namespace
