//===- LayoutTest.cpp - The layout algebra -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/Layout.h"

#include <gtest/gtest.h>

using namespace rudnn::tile;
using llvm::SmallVector;

namespace {

SmallVector<Layout> allLayouts() {
  SmallVector<Layout> layouts;
  for (int64_t rows : {16, 32, 64, 128})
    for (int64_t cols : {8, 16, 64, 128, 176, 192, 256})
      layouts.push_back(Layout::accumulator(rows, cols));
  layouts.push_back(Layout::operandB(16, 8));
  layouts.push_back(Layout::operandB(64, 24));
  for (auto [rows, cols] : {std::pair(4, 1), {2, 2}, {1, 4}, {2, 4}}) {
    layouts.push_back(Layout::accumulator(128, 64, rows, cols));
    layouts.push_back(Layout::operandA(128, 48, rows, cols));
    layouts.push_back(Layout::operandB(48, 64, rows, cols));
  }
  layouts.push_back(Layout::accumulator(128, 80, 4, 1));
  layouts.push_back(Layout::row(4096, 8, 4));
  layouts.push_back(Layout::row(5120, 8, 4));
  for (size_t i = 0, n = layouts.size(); i < n; ++i)
    for (unsigned dim = 0; dim < layouts[i].rank() && layouts[i].rank() > 1; ++dim)
      layouts.push_back(layouts[i].slice(dim));
  return layouts;
}

// PTX ISA, "matrix fragments for wgmma.mma_async": element i of thread t.
TEST(Layout, AccumulatorTable) {
  for (int64_t cols : {8, 64, 128, 176, 256}) {
    Layout layout = Layout::accumulator(64, cols);
    ASSERT_EQ(layout.numRegs(), cols / 2);
    for (int t = 0; t < 128; ++t)
      for (int64_t i = 0; i < cols / 2; ++i) {
        int l = t % 32, w = t / 32;
        Layout::Basis expected = {16 * w + l / 4 + 8 * ((i / 2) & 1),
                                  8 * (i / 4) + 2 * (l % 4) + (i & 1)};
        EXPECT_EQ(layout.at(i, l, w), expected);
      }
  }
}

// The register A operand of step j holds accumulator elements 8j .. 8j+7.
TEST(Layout, AccumulatorIsOperandA) {
  Layout::Bases lane = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  Layout a({{0, 1}, {8, 0}, {0, 8}}, lane, {{16, 0}, {32, 0}}, {1, 8});
  EXPECT_EQ(a, Layout::accumulator(64, 128));
  Layout a192({{0, 1}, {8, 0}, {0, 8}}, lane, {{16, 0}, {32, 0}}, {1, 12});
  EXPECT_EQ(a192, Layout::accumulator(64, 192));
  EXPECT_FALSE(a192 == a);
}

// PTX ISA, mma.m16n8k16: b0,b1 are rows 2*(l%4)+{0,1}, b2,b3 eight rows below.
TEST(Layout, OperandBTable) {
  Layout layout = Layout::operandB(16, 8);
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) {
      Layout::Basis expected = {2 * (l % 4) + (i & 1) + 8 * (i / 2), l / 4};
      EXPECT_EQ(layout.at(i, l), expected);
    }
}

// PTX ISA, mma.m16n8k16, A: a0,a1 are row l/4, columns 2*(l%4)+{0,1}; a2,a3 eight
// rows below; a4..a7 eight columns further.
TEST(Layout, OperandATable) {
  Layout layout = Layout::operandA(16, 16, 1, 1);
  ASSERT_EQ(layout.numRegs(), 8);
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 8; ++i) {
      Layout::Basis expected = {l / 4 + (i / 2 % 2 ? 8 : 0),
                                2 * (l % 4) + (i & 1) + (i >= 4 ? 8 : 0)};
      EXPECT_EQ(layout.at(i, l), expected);
    }
}

// Warps in a grid: warp w of 2 x 4 has the row blocks 16 * (w % 2) + {0, 32, ...} and
// the columns 16 * (w / 2) + {0..15} of a 64 x 64 product; its operands are those
// rows of A and those columns of B.
TEST(Layout, WarpGrid) {
  Layout acc = Layout::accumulator(64, 64, 2, 4), a = Layout::operandA(64, 32, 2, 4),
         b = Layout::operandB(32, 64, 2, 4);
  ASSERT_EQ(acc.numRegs(), 16);
  ASSERT_EQ(a.numRegs(), 32);
  ASSERT_EQ(b.numRegs(), 16);
  for (int w = 0; w < 8; ++w)
    for (int l = 0; l < 32; ++l) {
      for (int r = 0; r < 16; ++r) {
        Layout::Basis expected = {16 * (w % 2) + l / 4 + 8 * (r / 2 % 2) + 32 * (r / 8),
                                  16 * (w / 2) + 2 * (l % 4) + r % 2 + 8 * (r / 4 % 2)};
        EXPECT_EQ(acc.at(r, l, w), expected);
      }
      for (int r = 0; r < 32; ++r) {
        Layout::Basis at = a.at(r, l, w);
        EXPECT_EQ(at[0] / 16 % 2, w % 2);
        EXPECT_EQ(at, a.at(r, l, w ^ 6)); // equal in the warps of a row
      }
      for (int r = 0; r < 16; ++r) {
        EXPECT_EQ(b.at(r, l, w)[1] / 16, w / 2);
        EXPECT_EQ(b.at(r, l, w), b.at(r, l, w ^ 1)); // and of a column
      }
    }
}

// Two blocks of 16 rows for each warp: a step of 16 columns of rounded accumulators is
// the A operand of the next product.
TEST(Layout, AccumulatorOfTwoBlocksIsOperandA) {
  for (int64_t cols : {64, 80}) {
    Layout acc = Layout::accumulator(128, cols, 4, 1);
    EXPECT_EQ(acc, Layout::operandA(128, cols, 4, 1));
    EXPECT_EQ(acc.columns(16), Layout::operandA(128, 16, 4, 1));
    EXPECT_EQ(acc.slice(1), Layout::accumulator(128, 8, 4, 1).slice(1));
    EXPECT_EQ(acc.partial(1), Layout::accumulator(128, 8, 4, 1).partial(1));
  }
}

TEST(Layout, RowIsContiguousPerThread) {
  Layout layout = Layout::row(3 * 1024, 8, 4);
  EXPECT_EQ(layout.shape(), SmallVector<int64_t>({3072}));
  EXPECT_EQ(layout.numRegs(), 24);
  EXPECT_EQ(layout.at(0, 1, 0)[0], 8);
  EXPECT_EQ(layout.at(0, 0, 1)[0], 256);
  EXPECT_EQ(layout.at(8, 0, 0)[0], 1024);
}

TEST(Layout, InverseOfEveryElement) {
  for (const Layout &layout : allLayouts()) {
    ASSERT_TRUE(layout.isValid());
    for (int64_t r = 0; r < layout.numRegs(); ++r)
      for (int64_t l = 0; l < 32; ++l)
        for (int64_t w = 0; w < (1 << layout.warpBits()); ++w) {
          Layout::Basis coords = layout.at(r, l, w);
          std::optional<ElementPlace> place = layout.locate(coords);
          ASSERT_TRUE(place);
          EXPECT_EQ(layout.at(place->reg, place->lane, place->warp), coords);
          EXPECT_EQ(place->reg, r);
        }
    EXPECT_FALSE(layout.locate(layout.shape()));
  }
}

TEST(Layout, EncodeDecode) {
  for (const Layout &layout : allLayouts())
    EXPECT_EQ(Layout::decode(layout.encode()), layout);
}

TEST(Layout, SliceReplicates) {
  Layout rows = Layout::accumulator(64, 128).slice(1);
  EXPECT_EQ(rows, Layout::accumulator(64, 8).slice(1));
  EXPECT_EQ(rows.numRegs(), 2);
  for (int l = 0; l < 32; ++l) {
    EXPECT_EQ(rows.at(0, l, 3)[0], 48 + l / 4);
    EXPECT_EQ(rows.at(1, l, 3)[0], 48 + l / 4 + 8);
  }
  Layout cols = Layout::accumulator(64, 128).slice(0);
  EXPECT_EQ(cols.numRegs(), 32);
  EXPECT_EQ(cols.at(2, 1, 3)[0], 8 + 2);
}

TEST(Layout, PartialKeepsThreads) {
  Layout quads = Layout::accumulator(64, 192).partial(1);
  EXPECT_EQ(quads.shape(), SmallVector<int64_t>({64, 4}));
  EXPECT_EQ(quads.numRegs(), 2);
  for (int l = 0; l < 32; ++l) {
    Layout::Basis expected = {l / 4 + 8, l % 4};
    EXPECT_EQ(quads.at(1, l), expected);
  }
  EXPECT_EQ(quads.slice(1), Layout::accumulator(64, 8).slice(1));
}

TEST(Layout, Columns) {
  Layout layout = Layout::accumulator(64, 256);
  EXPECT_EQ(layout.columns(64), Layout::accumulator(64, 64));
  EXPECT_EQ(Layout::accumulator(64, 192).columns(64),
            Layout::accumulator(64, 64));
  EXPECT_FALSE(layout.columns(4)); // lanes hold columns 2 and 4
  EXPECT_FALSE(layout.columns(48));
}

TEST(Layout, RegisterPermutation) {
  Layout acc = Layout::accumulator(64, 64);
  auto same = Layout::registerPermutation(acc, acc);
  ASSERT_TRUE(same);
  for (int64_t r = 0; r < acc.numRegs(); ++r)
    EXPECT_EQ((*same)[r], r);
  // Columns of 8 in reverse significance: a renaming.
  Layout other({{0, 1}, {8, 0}, {0, 32}, {0, 16}, {0, 8}},
               {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {{16, 0}, {32, 0}},
               {1, 1});
  auto renaming = Layout::registerPermutation(acc, other);
  ASSERT_TRUE(renaming);
  for (int64_t r = 0; r < acc.numRegs(); ++r)
    EXPECT_EQ(acc.at((*renaming)[r]), other.at(r));
  // Other lanes: values would have to move.
  Layout moved({{0, 1}, {8, 0}, {0, 8}, {0, 16}, {0, 32}},
               {{1, 0}, {2, 0}, {4, 0}, {0, 2}, {0, 4}}, {{16, 0}, {32, 0}},
               {1, 1});
  EXPECT_FALSE(Layout::registerPermutation(acc, moved));
}

TEST(Layout, Names) {
  EXPECT_EQ(Layout::accumulator(64, 192).name(), "acc");
  EXPECT_EQ(Layout::accumulator(64, 64).slice(1).name(), "acc_rows");
  EXPECT_EQ(Layout::accumulator(64, 64).slice(0).name(), "acc_cols");
  EXPECT_EQ(Layout::accumulator(64, 64).partial(1).name(), "acc_quads");
  EXPECT_EQ(Layout::operandB(32, 8).name(), "operand_b");
  EXPECT_EQ(Layout::accumulator(128, 64, 4, 1).name(), "acc<4x1>");
  EXPECT_EQ(Layout::accumulator(128, 64, 4, 1).slice(1).name(), "acc_rows<4x1>");
  EXPECT_EQ(Layout::accumulator(128, 64, 4, 1).partial(1).name(), "acc_quads<4x1>");
  EXPECT_EQ(Layout::accumulator(128, 128, 2, 2).slice(0).name(), "acc_cols<2x2>");
  EXPECT_EQ(Layout::operandA(128, 16, 2, 2).name(), "operand_a<2x2>");
  EXPECT_EQ(Layout::operandB(16, 128, 2, 2).name(), "operand_b<2x2>");
  EXPECT_EQ(Layout::row(1024, 4, 4).name(), "");
}

TEST(Layout, InvalidForms) {
  std::string why;
  Layout twice({{0}}, {{1}, {2}, {4}, {8}, {16}}, {}, {1});
  EXPECT_FALSE(twice.isValid(&why));
  EXPECT_EQ(why, "two registers hold the same element");
  Layout hole({{64}}, {{1}, {2}, {4}, {8}, {16}}, {}, {1});
  EXPECT_FALSE(hole.isValid(&why));
  EXPECT_EQ(why, "the basis vectors don't reach every element");
}

} // namespace
