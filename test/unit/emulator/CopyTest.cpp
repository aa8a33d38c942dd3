//===- CopyTest.cpp - mbarriers, TMA, cp.async ------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace rudnn::emulator;
using namespace rudnn::emulator::test;

namespace {

/// Runs Inputs/tma.mlir on a 100 x 80 matrix with a box of `rows` x `columns`
/// at (x, y) and checks both outputs. Returns the error or "wrong data".
std::string roundTrip(const Program &program, const Options &options,
                      Swizzle swizzle, uint32_t rows, uint32_t columns, int x,
                      int y) {
  constexpr int height = 100, width = 80;
  Array<uint16_t> in = randomBf16(height * width, 1);
  Array<uint16_t> out(height * width, 0x1234);
  uint32_t bytes = rows * columns * 2;
  Array<uint16_t> raw(bytes / 2, 0x4321);
  Launch launch;
  launch.block = {128};
  launch.dynamicSharedBytes = 32768 + 64;
  launch.options = options;
  launch.buffers = {in.buffer("in", false), out.buffer("out", true),
                    raw.buffer("raw", true)};
  llvm::Error e =
      program.launch("kernel", launch,
                     {Argument::tensorMap(mapOf(in.data(), height, width, rows,
                                                columns, swizzle)),
                      Argument::tensorMap(mapOf(out.data(), height, width, rows,
                                                columns, swizzle)),
                      Argument::pointer(raw.data()), Argument::scalar(bytes),
                      Argument::scalar(x), Argument::scalar(y)});
  if (e)
    return llvm::toString(std::move(e));
  // The swizzle as the hardware's manual words it: 16-byte chunk index XOR the
  // number of the 128-byte line, modulo the chunks that are permuted.
  unsigned chunks = swizzle == Swizzle::None  ? 1
                    : swizzle == Swizzle::B32 ? 2
                    : swizzle == Swizzle::B64 ? 4
                                              : 8;
  for (int r = 0; r < int(rows); ++r)
    for (int c = 0; c < int(columns); ++c) {
      int gy = y + r, gx = x + c;
      bool inside = gy >= 0 && gy < height && gx >= 0 && gx < width;
      uint16_t want = inside ? in[gy * width + gx] : 0;
      size_t byte = (size_t(r) * columns + c) * 2;
      size_t line = byte / 128, chunk = byte / 16 % 8;
      size_t moved = line * 128 + (chunk ^ (line % chunks)) * 16 + byte % 16;
      if (raw[moved / 2] != want)
        return "wrong data in shared memory";
    }
  for (int gy = 0; gy < height; ++gy)
    for (int gx = 0; gx < width; ++gx) {
      bool inBox =
          gy >= y && gy < y + int(rows) && gx >= x && gx < x + int(columns);
      if (out[gy * width + gx] != (inBox ? in[gy * width + gx] : 0x1234))
        return "wrong data in global memory";
    }
  return "";
}

std::string roundTrip(const Program &program, const Options &options) {
  return roundTrip(program, options, Swizzle::B128, 64, 64, 8, 16);
}

TEST(Tma, RoundTripWithEachSwizzle) {
  auto program = compileFile("tma.mlir");
  ASSERT_TRUE(program);
  struct Case {
    Swizzle swizzle;
    uint32_t columns;
  };
  for (Case c :
       {Case{Swizzle::None, 64}, Case{Swizzle::None, 8}, Case{Swizzle::B32, 16},
        Case{Swizzle::B64, 32}, Case{Swizzle::B128, 64}})
    for (const Options &options : allModes())
      EXPECT_EQ(roundTrip(*program, options, c.swizzle, 64, c.columns, 8, 16),
                "");
}

TEST(Tma, OutsideReadsZeroAndIsNotWritten) {
  auto program = compileFile("tma.mlir");
  ASSERT_TRUE(program);
  for (auto [x, y] : {std::pair(-8, -3), std::pair(40, 70), std::pair(100, 0),
                      std::pair(0, 200), std::pair(-64, 0)})
    EXPECT_EQ(roundTrip(*program, {}, Swizzle::B128, 64, 64, x, y), "")
        << x << "," << y;
}

/// At least one seed of the delayed mode notices; returns the first finding.
std::string firstFinding(const Program &program) {
  for (const Options &options : allModes())
    if (std::string found = roundTrip(program, options); !found.empty())
      return found;
  return "";
}

TEST(TmaFault, DroppedWait) {
  auto program = compileFile(
      "tma.mlir", {{"nvvm.mbarrier.try_wait.parity %bar, %parity, %ticks : "
                    "!llvm.ptr<3>, i32, i32 // WAIT",
                    ""}});
  ASSERT_TRUE(program);
  EXPECT_NE(firstFinding(*program), "");
}

TEST(TmaFault, SwappedPhase) {
  auto program = compileFile("tma.mlir", {{"0 : i32 // PARITY", "1 : i32"}});
  ASSERT_TRUE(program);
  EXPECT_NE(firstFinding(*program), "");
}

TEST(TmaFault, ArrivalCountTooHighDeadlocksWithDump) {
  auto program = compileFile("tma.mlir", {{"1 : i32 // ARRIVALS", "2 : i32"}});
  ASSERT_TRUE(program);
  std::string found = roundTrip(*program, {});
  EXPECT_NE(found.find("deadlock"), std::string::npos) << found;
  EXPECT_NE(found.find("mbarrier at shared+0x8400: 1 of 2 arrivals pending, 0 "
                       "bytes pending, phase 0"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("warp 3: waits for mbarrier at shared+0x8400, parity 0"),
            std::string::npos)
      << found;
}

TEST(TmaFault, ArrivalCountTooLow) {
  auto program = compileFile(
      "tma.mlir",
      {{"scf.if %first {\n      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : "
        "!llvm.ptr<3>, i32",
        "scf.if %first {\n      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : "
        "!llvm.ptr<3>, i32\n      nvvm.mbarrier.arrive.expect_tx %bar, %c0 : "
        "!llvm.ptr<3>, i32"}});
  ASSERT_TRUE(program);
  std::string found = roundTrip(*program, {});
  EXPECT_NE(found.find("too many arrivals"), std::string::npos) << found;
}

TEST(TmaFault, MissingFences) {
  auto noProxy = compileFile(
      "tma.mlir",
      {{"nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = "
        "#nvvm.shared_space<cta>} // PROXY_FENCE",
        ""}});
  auto noInit =
      compileFile("tma.mlir", {{"nvvm.fence.mbarrier.init // INIT_FENCE", ""}});
  auto noWait = compileFile(
      "tma.mlir",
      {{"nvvm.cp.async.bulk.wait_group 0 {read} // BULK_WAIT", ""}});
  ASSERT_TRUE(noProxy && noInit && noWait);
  std::string found = roundTrip(*noProxy, {});
  EXPECT_NE(found.find("fence.proxy.async"), std::string::npos) << found;
  found = roundTrip(*noInit, {});
  EXPECT_NE(found.find("fence.mbarrier_init"), std::string::npos) << found;
  found = roundTrip(*noWait, {});
  EXPECT_NE(found.find("wait_group"), std::string::npos) << found;
}

TEST(TensorMapEncode, RefusesWhatTheDriverRefuses) {
  Array<uint16_t> data(64 * 64);
  TiledMap good;
  good.globalAddress = data.data();
  good.globalDim = {64, 64};
  good.globalStrides = {128};
  good.boxDim = {64, 64};
  good.swizzle = Swizzle::B128;
  ASSERT_EQ(message(encodeTiled(good).takeError()), "");
  auto refused = [&](auto change, const char *name) {
    TiledMap p = good;
    change(p);
    std::string text = message(encodeTiled(p).takeError());
    EXPECT_NE(text.find(name), std::string::npos) << text;
  };
  refused([](TiledMap &p) { p.globalDim.clear(); }, "rank 0");
  refused([](TiledMap &p) { p.boxDim[1] = 257; }, "boxDim[1] = 257");
  refused([](TiledMap &p) { p.boxDim[0] = 7; }, "boxDim[0] = 7");
  refused([](TiledMap &p) { p.boxDim[0] = 128; }, "boxDim[0] = 128");
  refused([](TiledMap &p) { p.globalStrides[0] = 130; },
          "globalStrides[0] = 130");
  refused([](TiledMap &p) { p.globalStrides[0] = 64; },
          "globalStrides[0] = 64");
  refused([](TiledMap &p) { p.globalDim[1] = 0; }, "globalDim[1] = 0");
  refused([&](TiledMap &p) { p.globalAddress = data.data() + 1; },
          "globalAddress");
  refused([](TiledMap &p) { p.elementStrides = {1, 9}; },
          "elementStrides[1] = 9");
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// 128 threads copy 16 bytes each, the last `zeros` of them with source size 0.
std::string asyncCopy(const Edits &edits, const Options &options,
                      uint32_t zeros = 0) {
  auto program = compileFile("cp_async.mlir", edits);
  if (!program)
    return "does not compile";
  Array<uint32_t> in(512), out(512, 7);
  for (size_t i = 0; i < 512; ++i)
    in[i] = i + 1;
  Launch launch;
  launch.block = {128};
  launch.dynamicSharedBytes = 2048 + 16;
  launch.options = options;
  launch.buffers = {in.buffer("in", false), out.buffer("out", true)};
  std::string error = message(program->launch("kernel", launch,
                                              {Argument::pointer(in.data()),
                                               Argument::pointer(out.data()),
                                               Argument::scalar(128 - zeros)}));
  if (!error.empty())
    return error;
  for (size_t i = 0; i < 512; ++i)
    if (out[i] != (i / 4 < 128 - zeros ? i + 1 : 0))
      return "wrong data";
  return "";
}

TEST(CpAsync, GroupsAndZeroFill) {
  for (const Options &options : allModes()) {
    EXPECT_EQ(asyncCopy({}, options), "");
    EXPECT_EQ(asyncCopy({}, options, 5), "");
    // The mbarrier counts the copies instead of the threads.
    EXPECT_EQ(asyncCopy({{"nvvm.cp.async.commit.group", ""},
                         {"nvvm.cp.async.wait.group 0", ""},
                         {"%s = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> "
                          "i64 // ARRIVE",
                          "nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : "
                          "!llvm.ptr<3>"}},
                        options),
              "");
  }
}

TEST(CpAsyncFault, DroppedWait) {
  std::string found;
  for (const Options &options : allModes())
    if (found.empty())
      found = asyncCopy({{"nvvm.cp.async.wait.group 0", ""}}, options);
  EXPECT_NE(found, "");
}

} // namespace
