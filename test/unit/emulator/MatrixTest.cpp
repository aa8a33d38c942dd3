//===- MatrixTest.cpp - wgmma, mma.sync, ldmatrix, stmatrix -----*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cmath>

using namespace rudnn::emulator;
using namespace rudnn::emulator::test;

namespace {

//===----------------------------------------------------------------------===//
// wgmma: D[64, 64] = A[64, 64] B, operands loaded by TMA
//===----------------------------------------------------------------------===//

struct WgmmaKernel {
  unsigned span = 128; ///< Bytes of the swizzle; 64 and 32 narrow K or N.
  bool registerA = false;
  bool transposeB = false; ///< B is [K, N] in memory, not [N, K].
  bool runTimeScale = false;
  bool waitTied = true; ///< Accumulators go through the wait.
  bool wait = true;
  bool wrongDescriptor = false; ///< Swizzle 64 in the descriptor instead.

  std::string text() const;
};

std::string number(int64_t v) { return std::to_string(v); }

std::string list(const std::string &prefix, unsigned n, unsigned first = 0) {
  std::string s;
  for (unsigned i = 0; i < n; ++i)
    s += (i ? ", " : "") + prefix + number(first + i);
  return s;
}

std::string repeat(const std::string &s, unsigned n,
                   const std::string &separator = ", ") {
  std::string r;
  for (unsigned i = 0; i < n; ++i)
    r += (i ? separator : "") + s;
  return r;
}

std::string constant(const std::string &name, const std::string &value,
                     const std::string &type) {
  return "    " + name + " = arith.constant " + value + " : " + type + "\n";
}

// One k16 step per wgmma; the boxes are `span` bytes wide, so that the first
// span / 32 steps (K-major) lie in one box, and there are 128 / span boxes.
std::string WgmmaKernel::text() const {
  unsigned boxColumns = span / 2, boxes = 64 / boxColumns;
  unsigned boxBytes = 64 * span;
  uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : 3;
  if (wrongDescriptor)
    mode = 2;
  uint64_t stride = 8 * span / 16, leading = boxBytes / 16;
  auto descriptor = [&](bool mnMajor) {
    return int64_t(mode << 62 | stride << 32 | (mnMajor ? leading : 1) << 16);
  };
  std::string b;
  b += "    %bar = llvm.getelementptr %smem[16384] : (!llvm.ptr<3>) -> "
       "!llvm.ptr<3>, i8\n";
  b += constant("%bytes", "16384", "i32");
  b +=
      "    scf.if %first {\n      nvvm.mbarrier.init %bar, %c1 : "
      "!llvm.ptr<3>, i32\n      nvvm.fence.mbarrier.init\n    }\n"
      "    nvvm.barrier0\n    scf.if %first {\n"
      "      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32\n";
  for (unsigned m = 0; m < 2; ++m)
    for (unsigned i = 0; i < boxes; ++i) {
      std::string id = number(m) + "_" + number(i);
      b += "      %p" + id + " = llvm.getelementptr %smem[" +
           number(m * 8192 + i * boxBytes) +
           "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n";
      b += "      %x" + id + " = arith.constant " + number(i * boxColumns) +
           " : i32\n";
      b += "      nvvm.cp.async.bulk.tensor.shared.cluster.global %p" + id +
           ", " + (m ? "%tb" : "%ta") + ", %bar, box[%x" + id +
           ", %c0] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr\n";
    }
  b += "    }\n    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : "
       "!llvm.ptr<3>, i32, i32\n";
  b += "    %base32 = llvm.ptrtoint %smem : !llvm.ptr<3> to i32\n"
       "    %base64 = arith.extui %base32 : i32 to i64\n" +
       constant("%mask", "262143", "i64") + constant("%four", "4", "i64") +
       "    %within = arith.andi %base64, %mask : i64\n"
       "    %start = arith.shrui %within, %four : i64\n";
  b += "    nvvm.wgmma.fence.aligned\n";
  std::string floats = repeat("f32", 32), previous;
  if (runTimeScale)
    for (unsigned i = 0; i < 32; ++i)
      b += constant("%z" + number(i), "777.0", "f32");
  for (unsigned k = 0; k < 4; ++k) {
    std::string id = number(k);
    unsigned perBox = span / 32;
    uint64_t offset = k / perBox * boxBytes + k % perBox * 32;
    uint64_t da = descriptor(false) + offset / 16;
    uint64_t db = transposeB ? descriptor(true) + (8192 + k * 16 * span) / 16
                             : descriptor(false) + (8192 + offset) / 16;
    b += constant("%ka" + id, number(int64_t(da)), "i64") +
         constant("%kb" + id, number(int64_t(db)), "i64");
    b += "    %da" + id + " = arith.addi %start, %ka" + id + " : i64\n";
    b += "    %db" + id + " = arith.addi %start, %kb" + id + " : i64\n";
    // Operands: 32 results, A, B, then scale or accumulators.
    std::string in, types, constraints = repeat("=f", 32, ","), a;
    unsigned next = 32;
    if (registerA) {
      for (unsigned r = 0; r < 4; ++r) {
        std::string reg = "%a" + id + "_" + number(r);
        std::string at = "%ap" + id + "_" + number(r);
        b += constant(at + "o", number(k * 32 + (r >> 1) * 16 + (r & 1) * 1024),
                      "i32");
        b += "    " + at + "s = arith.addi %arow, " + at + "o : i32\n";
        b += "    " + at + " = llvm.getelementptr %aglobal[" + at +
             "s] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8\n";
        b += "    " + reg + " = llvm.load " + at + " : !llvm.ptr<1> -> i32\n";
        in += (in.empty() ? "" : ", ") + reg;
        types += types.empty() ? "i32" : ", i32";
        constraints += ",r";
      }
      a = "{$32, $33, $34, $35}";
      next = 36;
    } else {
      in = "%da" + id;
      types = "i64";
      constraints += ",l";
      a = "$32";
      next = 33;
    }
    in += ", %db" + id;
    types += ", i64";
    constraints += ",l";
    std::string bOperand = "$" + number(next++);
    std::string scale = k ? "1" : "0";
    if (runTimeScale) {
      b += constant("%scale" + id, k ? "1" : "0", "i32");
      in += ", %scale" + id;
      types += ", i32";
      constraints += ",r";
      scale = "$" + number(next++);
    }
    if (k || runTimeScale) {
      in += ", " + (k ? previous : list("%z", 32));
      types += ", " + floats;
      constraints += "," + list("", 32);
    }
    std::string compact;
    for (char c : constraints)
      if (c != ' ')
        compact += c;
    std::string trans =
        std::string(registerA ? "" : "0, ") + (transposeB ? "1" : "0");
    b += "    %w" + id +
         " = llvm.inline_asm has_side_effects asm_dialect = att \"{ .reg .pred "
         "p; setp.ne.b32 p, " +
         scale + ", 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" +
         list("$", 32) + "}, " + a + ", " + bOperand + ", p, 1, 1, " + trans +
         "; }\", \"" + compact + "\" " + in + " : (" + types +
         ") -> !llvm.struct<(" + floats + ")>\n";
    previous.clear();
    for (unsigned i = 0; i < 32; ++i) {
      std::string d = "%d" + id + "_" + number(i);
      b += "    " + d + " = llvm.extractvalue %w" + id + "[" + number(i) +
           "] : !llvm.struct<(" + floats + ")>\n";
      previous += (i ? ", " : "") + d;
    }
  }
  b += "    nvvm.wgmma.commit.group.sync.aligned\n";
  std::string result = "%d3_";
  if (wait && waitTied) {
    std::string tied = repeat("=f", 32, ",");
    for (unsigned i = 0; i < 32; ++i)
      tied += "," + number(i);
    b += "    %ww = llvm.inline_asm has_side_effects asm_dialect = att "
         "\"wgmma.wait_group.sync.aligned 0;\", \"" +
         tied + "\" " + previous + " : (" + floats + ") -> !llvm.struct<(" +
         floats + ")>\n";
    for (unsigned i = 0; i < 32; ++i)
      b += "    %r" + number(i) + " = llvm.extractvalue %ww[" + number(i) +
           "] : !llvm.struct<(" + floats + ")>\n";
    result = "%r";
  } else if (wait) {
    b += "    nvvm.wgmma.wait.group.sync.aligned 0\n";
  }
  for (unsigned i = 0; i < 32; ++i) {
    std::string id = number(i);
    unsigned offset = (8 * (i / 4) + i % 2) * 4 + (i / 2 % 2) * 8 * 64 * 4;
    b += constant("%oo" + id, number(offset), "i32");
    b += "    %os" + id + " = arith.addi %drow, %oo" + id + " : i32\n";
    b += "    %op" + id + " = llvm.getelementptr %out[%os" + id +
         "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8\n";
    b += "    llvm.store " + result + id + ", %op" + id +
         " : f32, !llvm.ptr<1>\n";
  }
  // Row 16 * warp + lane / 4, column 2 * (lane % 4): bytes in A (bf16) and D.
  std::string where =
      constant("%c3", "3", "i32") + constant("%c5", "5", "i32") +
      constant("%c8b", "8", "i32") + constant("%c16", "16", "i32") +
      constant("%c256", "256", "i32") +
      "    %warp = arith.shrui %tid, %c5 : i32\n"
      "    %wrow = arith.muli %warp, %c16 : i32\n"
      "    %lrow = arith.shrui %lane, %c2 : i32\n"
      "    %row = arith.addi %wrow, %lrow : i32\n"
      "    %quad = arith.andi %lane, %c3 : i32\n"
      "    %arow0 = arith.muli %row, %c128 : i32\n"
      "    %acol = arith.muli %quad, %c4 : i32\n"
      "    %arow = arith.addi %arow0, %acol : i32\n"
      "    %drow0 = arith.muli %row, %c256 : i32\n"
      "    %dcol = arith.muli %quad, %c8b : i32\n"
      "    %drow = arith.addi %drow0, %dcol : i32\n";
  std::string map = "!llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align "
                    "= 64 : i64, nvvm.grid_constant}";
  return kernelText("%ta: " + map + ", %tb: " + map +
                        ", %aglobal: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                    where + b);
}

std::string runWgmma(const WgmmaKernel &kernel, const Options &options) {
  auto program = compileText(kernel.text());
  if (!program)
    return llvm::toString(program.takeError());
  Array<uint16_t> a = randomBf16(64 * 64, 3), b = randomBf16(64 * 64, 4);
  Array<float> out(64 * 64, NAN);
  Swizzle swizzle = kernel.span == 128  ? Swizzle::B128
                    : kernel.span == 64 ? Swizzle::B64
                                        : Swizzle::B32;
  Launch launch;
  launch.block = {128};
  launch.dynamicSharedBytes = 16384 + 64;
  launch.options = options;
  launch.buffers = {a.buffer("a", false), b.buffer("b", false),
                    out.buffer("out", true)};
  std::string error = message((*program)->launch(
      "kernel", launch,
      {Argument::tensorMap(
           mapOf(a.data(), 64, 64, 64, kernel.span / 2, swizzle)),
       Argument::tensorMap(
           mapOf(b.data(), 64, 64, 64, kernel.span / 2, swizzle)),
       Argument::pointer(a.data()), Argument::pointer(out.data())}));
  if (!error.empty())
    return error;
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < 64; ++n) {
      double want = 0;
      for (int k = 0; k < 64; ++k)
        want += double(fromBf16(a[m * 64 + k])) *
                fromBf16(kernel.transposeB ? b[k * 64 + n] : b[n * 64 + k]);
      if (!(std::fabs(out[m * 64 + n] - want) < 1e-3))
        return "wrong product";
    }
  return "";
}

TEST(Wgmma, SharedOperandsWithEachSwizzle) {
  for (unsigned span : {32u, 64u, 128u})
    for (bool transposed : {false, true})
      for (const Options &options : {allModes()[0], allModes()[3]}) {
        WgmmaKernel kernel;
        kernel.span = span;
        kernel.transposeB = transposed;
        EXPECT_EQ(runWgmma(kernel, options), "") << span << " " << transposed;
      }
}

TEST(Wgmma, AllSeeds) {
  for (const Options &options : allModes())
    EXPECT_EQ(runWgmma({}, options), "");
}

TEST(Wgmma, RegisterA) {
  WgmmaKernel kernel;
  kernel.registerA = true;
  for (bool transposed : {false, true}) {
    kernel.transposeB = transposed;
    EXPECT_EQ(runWgmma(kernel, allModes()[0]), "");
    EXPECT_EQ(runWgmma(kernel, allModes()[2]), "");
  }
}

TEST(Wgmma, RunTimeScaleAndUntiedWait) {
  WgmmaKernel kernel;
  kernel.runTimeScale = true;
  EXPECT_EQ(runWgmma(kernel, {}), "");
  kernel.waitTied = false;
  EXPECT_EQ(runWgmma(kernel, {}), "");
  EXPECT_EQ(runWgmma(kernel, allModes()[5]), "");
}

TEST(WgmmaFault, DroppedWait) {
  WgmmaKernel kernel;
  kernel.wait = false;
  std::string found = runWgmma(kernel, {});
  EXPECT_NE(found.find("is read before a wgmma.wait_group has waited for it"),
            std::string::npos)
      << found;
}

TEST(WgmmaFault, BadSwizzle) {
  WgmmaKernel kernel;
  kernel.wrongDescriptor = true;
  EXPECT_EQ(runWgmma(kernel, {}), "wrong product");
}

//===----------------------------------------------------------------------===//
// mma.sync with ldmatrix, stmatrix
//===----------------------------------------------------------------------===//

/// One warp: D[16, 8] = A[16, 16] B[16, 8], with B given as [N, K] and loaded
/// with ldmatrix, or as [K, N] and loaded with ldmatrix.trans.
std::string mmaText(bool transposeB) {
  std::string body =
      constant("%c3", "3", "i32") + constant("%c5", "5", "i32") +
      constant("%c7", "7", "i32") + constant("%c8", "8", "i32") +
      constant("%c15", "15", "i32") + constant("%c16", "16", "i32") +
      constant("%c64", "64", "i32") + constant("%f0", "0.0", "f32") +
      // A: 512 bytes, B: 256 bytes, through registers.
      "    %at = arith.muli %tid, %c16 : i32\n"
      "    %g = llvm.getelementptr %a[%at] : (!llvm.ptr<1>, i32) -> "
      "!llvm.ptr<1>, i8\n"
      "    %s = llvm.getelementptr %smem[%at] : (!llvm.ptr<3>, i32) -> "
      "!llvm.ptr<3>, i8\n"
      "    %va = llvm.load %g {alignment = 16 : i64} : !llvm.ptr<1> -> "
      "vector<4xi32>\n"
      "    llvm.store %va, %s {alignment = 16 : i64} : vector<4xi32>, "
      "!llvm.ptr<3>\n"
      "    %bt = arith.muli %tid, %c8 : i32\n"
      "    %h = llvm.getelementptr %b[%bt] : (!llvm.ptr<1>, i32) -> "
      "!llvm.ptr<1>, i8\n"
      "    %bs = llvm.getelementptr %smem[512] : (!llvm.ptr<3>) -> "
      "!llvm.ptr<3>, i8\n"
      "    %t = llvm.getelementptr %bs[%bt] : (!llvm.ptr<3>, i32) -> "
      "!llvm.ptr<3>, i8\n"
      "    %vb = llvm.load %h {alignment = 8 : i64} : !llvm.ptr<1> -> "
      "vector<2xi32>\n"
      "    llvm.store %vb, %t {alignment = 8 : i64} : vector<2xi32>, "
      "!llvm.ptr<3>\n"
      "    nvvm.bar.warp.sync %all : i32\n"
      // Rows of A: lane % 16, columns 8 * (lane / 16).
      "    %ar = arith.andi %lane, %c15 : i32\n"
      "    %arb = arith.muli %ar, %c32 : i32\n"
      "    %ah = arith.shrui %lane, %c4 : i32\n"
      "    %ahb = arith.muli %ah, %c16 : i32\n"
      "    %ao = arith.addi %arb, %ahb : i32\n"
      "    %pa = llvm.getelementptr %smem[%ao] : (!llvm.ptr<3>, i32) -> "
      "!llvm.ptr<3>, i8\n"
      "    %fa = nvvm.ldmatrix %pa {num = 4 : i32, layout = "
      "#nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
      "eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> "
      "!llvm.struct<(i32, i32, i32, i32)>\n";
  if (transposeB) // [K, N]: 16 rows of 16 bytes
    body += "    %bo = arith.muli %ar, %c16 : i32\n";
  else // [N, K]: 8 rows of 32 bytes, two halves
    body += "    %br = arith.andi %lane, %c7 : i32\n"
            "    %brb = arith.muli %br, %c32 : i32\n"
            "    %b3 = arith.shrui %lane, %c3 : i32\n"
            "    %bh = arith.andi %b3, %c1 : i32\n"
            "    %bhb = arith.muli %bh, %c16 : i32\n"
            "    %bo = arith.addi %brb, %bhb : i32\n";
  body += "    %pb = llvm.getelementptr %bs[%bo] : (!llvm.ptr<3>, i32) -> "
          "!llvm.ptr<3>, i8\n"
          "    %fb = nvvm.ldmatrix %pb {num = 2 : i32, layout = "
          "#nvvm.mma_layout<" +
          std::string(transposeB ? "col" : "row") +
          ">, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
          "#nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> "
          "!llvm.struct<(i32, i32)>\n";
  for (unsigned i = 0; i < 4; ++i)
    body += "    %a" + number(i) + " = llvm.extractvalue %fa[" + number(i) +
            "] : !llvm.struct<(i32, i32, i32, i32)>\n";
  for (unsigned i = 0; i < 2; ++i)
    body += "    %b" + number(i) + " = llvm.extractvalue %fb[" + number(i) +
            "] : !llvm.struct<(i32, i32)>\n";
  body += "    %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%f0, "
          "%f0, %f0, %f0] {layoutA = #nvvm.mma_layout<row>, layoutB = "
          "#nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>, "
          "multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = "
          "#nvvm.mma_type<bf16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, "
          "f32, f32)>\n"
          "    %row = arith.shrui %lane, %c2 : i32\n"
          "    %rowb = arith.muli %row, %c32 : i32\n"
          "    %quad = arith.andi %lane, %c3 : i32\n"
          "    %colb = arith.muli %quad, %c8 : i32\n"
          "    %o0 = arith.addi %rowb, %colb : i32\n"
          "    %q = llvm.getelementptr %out[%o0] : (!llvm.ptr<1>, i32) -> "
          "!llvm.ptr<1>, i8\n";
  for (unsigned i = 0; i < 4; ++i)
    body += "    %d" + number(i) + " = llvm.extractvalue %d[" + number(i) +
            "] : !llvm.struct<(f32, f32, f32, f32)>\n    %q" + number(i) +
            " = llvm.getelementptr %q[" + number(i / 2 * 256 + i % 2 * 4) +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n    llvm.store %d" +
            number(i) + ", %q" + number(i) + " : f32, !llvm.ptr<1>\n";
  return kernelText("%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                    body);
}

TEST(MmaSync, WithLdmatrix) {
  for (bool transposed : {false, true}) {
    auto program = compileText(mmaText(transposed));
    ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
    Array<uint16_t> a = randomBf16(256, 5), b = randomBf16(128, 6);
    Array<float> out(128, NAN);
    Launch launch;
    launch.block = {32};
    launch.dynamicSharedBytes = 1024;
    launch.buffers = {a.buffer("a", false), b.buffer("b", false),
                      out.buffer("out", true)};
    ASSERT_EQ(message((*program)->launch("kernel", launch,
                                         {Argument::pointer(a.data()),
                                          Argument::pointer(b.data()),
                                          Argument::pointer(out.data())})),
              "");
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        double want = 0;
        for (int k = 0; k < 16; ++k)
          want += double(fromBf16(a[m * 16 + k])) *
                  fromBf16(transposed ? b[k * 8 + n] : b[n * 16 + k]);
        EXPECT_NEAR(out[m * 8 + n], want, 1e-4) << m << "," << n;
      }
  }
}

TEST(Stmatrix, PlacesEachMatrixAndItsTransposed) {
  for (bool transposed : {false, true}) {
    // Register j of lane l holds elements 1000 j + 2 l and the next one.
    std::string body = constant("%c16", "16", "i32") +
                       constant("%c16b", "65536", "i32") +
                       constant("%k", "65538", "i32");
    for (unsigned i = 0; i < 4; ++i)
      body += constant("%k" + number(i),
                       number(1000 * i + ((1000 * i + 1) << 16)), "i32") +
              "    %l" + number(i) + " = arith.muli %lane, %two : i32\n    %v" +
              number(i) + " = arith.addi %l" + number(i) + ", %k" + number(i) +
              " : i32\n";
    body = constant("%two", number(2 + (2 << 16)), "i32") + body +
           "    %o = arith.muli %lane, %c16 : i32\n"
           "    %p = llvm.getelementptr %smem[%o] : (!llvm.ptr<3>, i32) -> "
           "!llvm.ptr<3>, i8\n"
           "    nvvm.stmatrix %p, %v0, %v1, %v2, %v3 {layout = "
           "#nvvm.mma_layout<" +
           std::string(transposed ? "col" : "row") +
           ">, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
           "#nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, "
           "i32\n"
           "    nvvm.bar.warp.sync %all : i32\n"
           "    %x = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<3> -> "
           "vector<4xi32>\n"
           "    %q = llvm.getelementptr %out[%o] : (!llvm.ptr<1>, i32) -> "
           "!llvm.ptr<1>, i8\n"
           "    llvm.store %x, %q {alignment = 16 : i64} : vector<4xi32>, "
           "!llvm.ptr<1>\n";
    auto program = compileText(kernelText("%out: !llvm.ptr<1>", body));
    ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
    Array<uint16_t> out(256, 0);
    Launch launch;
    launch.block = {32};
    launch.dynamicSharedBytes = 1024;
    launch.buffers = {out.buffer("out", true)};
    ASSERT_EQ(message((*program)->launch("kernel", launch,
                                         {Argument::pointer(out.data())})),
              "");
    for (int j = 0; j < 4; ++j)
      for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
          int row = transposed ? c : r, column = transposed ? r : c;
          EXPECT_EQ(out[j * 64 + r * 8 + c], 1000 * j + 8 * row + column);
        }
  }
}

} // namespace
