//===- AppendTest.cpp - In place, copied, refused -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Append.h"

#include "FakeDevice.h"
#include "Plans.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace rudnn;
using namespace rudnn::test;

namespace {

Tensor tensor(std::vector<int64_t> shape, float first,
              std::shared_ptr<Device> device = Device::host()) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  Tensor out;
  out.shape = std::move(shape);
  out.buffer = *DeviceBuffer::allocate(std::move(device), size_t(count) * 4);
  auto *values = static_cast<float *>(out.buffer.data());
  for (int64_t i = 0; i < count; ++i)
    values[i] = first + float(i);
  return out;
}

std::vector<float> values(const Tensor &tensor) {
  std::vector<float> out(tensor.buffer.size() / 4);
  std::memcpy(out.data(), tensor.buffer.data(), tensor.buffer.size());
  return out;
}

/// Two pages of four tokens, two heads, D = 1 and Dv = 2: K has 16 floats.
struct Caches {
  std::shared_ptr<Device> device = Device::host();
  Input in{4, 2, {{1}, {0}}, {3, 1}, {0, 1}, {2, 0}};
  Tensor newK, newV, k, v;
  AppendReport report;

  explicit Caches(std::shared_ptr<Device> on = Device::host()) : device(on) {
    newK = tensor({2, 2, 1}, 100, on);
    newV = tensor({2, 2, 2}, 200, on);
    k = tensor({2, 4, 2, 1}, 0, on);
    v = tensor({2, 4, 2, 2}, 0, on);
  }
  Status append() {
    auto plan = DevicePlan::upload(*in.create(), device);
    return rudnn::append(*plan, newK, newV, k, v, &report);
  }
  void expectWritten() {
    std::vector<float> key(16), value(32);
    std::iota(key.begin(), key.end(), 0.f);
    std::iota(value.begin(), value.end(), 0.f);
    // Row 0: page 1, slot 2. Row 1: page 0, slot 0.
    key[(4 + 2) * 2] = 100, key[(4 + 2) * 2 + 1] = 101;
    key[0] = 102, key[1] = 103;
    for (int i = 0; i < 4; ++i)
      value[(4 + 2) * 4 + i] = 200 + float(i), value[i] = 204 + float(i);
    EXPECT_EQ(values(k), key);
    EXPECT_EQ(values(v), value);
  }
};

TEST(Append, InPlaceWhenUnique) {
  Caches setup;
  void *k = setup.k.data(), *v = setup.v.data();
  Status status = setup.append();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(setup.report, AppendReport());
  EXPECT_EQ(setup.k.data(), k);
  EXPECT_EQ(setup.v.data(), v);
  setup.expectWritten();
}

TEST(Append, CopyWhenShared) {
  Caches setup;
  Tensor snapshot = setup.k;
  std::vector<float> before = values(snapshot);
  void *v = setup.v.data();
  ASSERT_TRUE(setup.append().ok());
  EXPECT_EQ(setup.report, (AppendReport{true, false, 64}));
  EXPECT_NE(setup.k.data(), snapshot.data());
  EXPECT_EQ(setup.v.data(), v);
  EXPECT_EQ(values(snapshot), before);
  EXPECT_TRUE(snapshot.buffer.unique());
  setup.expectWritten();
  // The copy is unique: the next step writes in place.
  ASSERT_TRUE(setup.append().ok());
  EXPECT_EQ(setup.report, AppendReport());
}

TEST(Append, AliasedCachesAreBothCopied) {
  Caches setup;
  setup.newV = tensor({2, 2, 1}, 200);
  setup.v = setup.k;
  void *before = setup.k.data();
  ASSERT_TRUE(setup.append().ok());
  EXPECT_EQ(setup.report, (AppendReport{true, true, 128}));
  EXPECT_NE(setup.k.data(), before);
  EXPECT_NE(setup.v.data(), before);
  EXPECT_NE(setup.k.data(), setup.v.data());
  EXPECT_EQ(values(setup.k)[0], 102);
  EXPECT_EQ(values(setup.v)[0], 202);
}

TEST(Append, OneBufferAtTwoOffsetsIsShared) {
  Caches setup;
  Tensor both = tensor({2, 2, 4, 2, 1}, 0);
  setup.newV = tensor({2, 2, 1}, 200);
  setup.k.buffer = setup.v.buffer = both.buffer;
  both = {};
  setup.v.shape = setup.k.shape;
  setup.v.byteOffset = 64;
  ASSERT_TRUE(setup.append().ok());
  EXPECT_EQ(setup.report, (AppendReport{true, true, 128}));
  EXPECT_EQ(values(setup.v)[2], 18);
}

TEST(Append, NoRowsNoCopy) {
  Caches setup;
  setup.in.ids = setup.in.positions = {};
  setup.newK = tensor({0, 2, 1}, 0);
  setup.newV = tensor({0, 2, 1}, 0);
  setup.v = setup.k;
  void *before = setup.k.data();
  ASSERT_TRUE(setup.append().ok());
  EXPECT_EQ(setup.report, AppendReport());
  EXPECT_EQ(setup.k.data(), before);
  EXPECT_EQ(setup.v.data(), before);
}

TEST(Append, FailureLeavesTheCaches) {
  auto device = std::make_shared<FakeDevice>();
  Caches setup(device);
  Tensor snapshot = setup.v;
  std::vector<float> k = values(setup.k), v = values(setup.v);
  device->failCopy = true;
  EXPECT_EQ(setup.append().code(), RUDNN_DRIVER_ERROR);
  EXPECT_EQ(values(setup.k), k);
  EXPECT_EQ(values(setup.v), v);
  EXPECT_EQ(setup.v.buffer, snapshot.buffer);
  EXPECT_EQ(device->scatters, 0);
}

void expectRefused(Caches &setup, RudnnStatusCode code, const char *message) {
  std::vector<float> before = values(setup.k);
  Status status = setup.append();
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(values(setup.k), before);
}

TEST(Append, WriteRulesComeFirst) {
  Caches setup;
  setup.newK.shape = {};
  setup.in.tables = {{1}, {1}};
  expectRefused(
      setup, RUDNN_WRITE_SHARED_PAGE,
      "row 0: page 1 of sequence 0 stands in 2 histories; a shared prefix must "
      "be copied before it is written");
  setup.in = {4, 2, {{1}, {0}}, {3, 1}, {0, 0}, {2, 2}};
  expectRefused(setup, RUDNN_WRITE_DUPLICATE_SLOT,
                "row 1: position 2 of sequence 0 is written by an earlier row");
  setup.in = {4, 2, {{1}, {}}, {3, 0}, {0, 1}, {2, 0}};
  expectRefused(
      setup, RUDNN_WRITE_OUTSIDE_LENGTH,
      "row 1: position is 0; a row that is written must be below 0, the length "
      "of sequence 1");
}

TEST(Append, OperandRules) {
  {
    Caches setup;
    setup.newV.strides = {4, 1, 2};
    expectRefused(setup, RUDNN_APPEND_LAYOUT,
                  "new_v has stride 2 in dimension 2; it must be dense, 1");
    setup.newV.strides = {4, 2, 1};
    EXPECT_TRUE(setup.append().ok());
  }
  {
    Caches setup;
    setup.v.dtype = RUDNN_I32;
    expectRefused(setup, RUDNN_APPEND_DTYPE, "v_cache is i32, new_k is f32");
  }
  {
    Caches setup;
    setup.k = tensor({2, 4, 2, 1}, 0, std::make_shared<FakeDevice>());
    expectRefused(setup, RUDNN_APPEND_DEVICE,
                  "k_cache is on fake, the plan on host");
  }
  {
    Caches setup;
    setup.k.byteOffset = 4;
    expectRefused(
        setup, RUDNN_APPEND_LAYOUT,
        "k_cache does not fit into its buffer of 64 bytes at offset 4");
    setup.k.byteOffset = 0;
    setup.k.shape = {1ll << 40, 1ll << 40, 1ll << 40, 1};
    EXPECT_EQ(setup.append().code(), RUDNN_APPEND_LAYOUT);
  }
  {
    Caches setup;
    setup.k.shape = {2, 4, 2};
    expectRefused(setup, RUDNN_APPEND_RANK, "k_cache has rank 3; it must be 4");
  }
}

TEST(Append, ShapeRules) {
  struct Case {
    std::vector<int64_t> newK, newV, k, v;
    const char *message;
  } cases[] = {
      {{2, 0, 1},
       {2, 2, 2},
       {2, 4, 2, 1},
       {2, 4, 2, 2},
       "new_k has 0 heads; it must have at least 1"},
      {{2, 2, 1},
       {2, 2, 0},
       {2, 4, 2, 1},
       {2, 4, 2, 2},
       "new_v has 0 elements per head; it must have at least 1"},
      {{2, 2, 1},
       {2, 1, 2},
       {2, 4, 2, 1},
       {2, 4, 2, 2},
       "new_v has 1 heads; 2 are expected"},
      {{2, 2, 1},
       {2, 2, 2},
       {1, 4, 2, 1},
       {2, 4, 2, 2},
       "k_cache has 1 pages; 2 are expected"},
      {{2, 2, 1},
       {2, 2, 2},
       {2, 2, 2, 1},
       {2, 4, 2, 2},
       "k_cache has 2 tokens per page; 4 are expected"},
      {{2, 2, 1},
       {2, 2, 2},
       {2, 4, 2, 1},
       {2, 4, 1, 2},
       "v_cache has 1 heads; 2 are expected"},
      {{2, 2, 1},
       {2, 2, 2},
       {2, 4, 2, 1},
       {2, 4, 2, 1},
       "v_cache has 1 elements per head; 2 are expected"},
      {{1, 2, 1},
       {2, 2, 2},
       {2, 4, 2, 1},
       {2, 4, 2, 2},
       "new_k has 1 rows; 2 are expected"},
  };
  for (Case &c : cases) {
    Caches setup;
    setup.newK.shape = c.newK, setup.newV.shape = c.newV;
    setup.k.shape = c.k, setup.v.shape = c.v;
    expectRefused(setup, RUDNN_APPEND_SHAPE, c.message);
  }
}

// Random writable plans against a model of the cache.
TEST(Append, RandomAgainstModel) {
  PlanMaker make(31);
  int written = 0;
  for (int i = 0; i < 200000 && written < 2000; ++i) {
    Input in = make.valid(i % 2);
    if (in.pages > 100 || in.pageSize > 100 || slowWrites(in) != RUDNN_OK)
      continue;
    ++written;
    int64_t rows = int64_t(in.ids.size()), pages = int64_t(in.pages);
    int64_t size = int64_t(in.pageSize), heads = int64_t(1 + make.below(3));
    int64_t d = int64_t(1 + make.below(9)), dv = int64_t(1 + make.below(9));
    Tensor newK = tensor({rows, heads, d}, 1000),
           newV = tensor({rows, heads, dv}, 2000);
    Tensor k = tensor({pages, size, heads, d}, 0),
           v = tensor({pages, size, heads, dv}, 0);
    std::vector<float> expectedK = values(k), expectedV = values(v);
    for (int64_t r = 0; r < rows; ++r) {
      uint32_t p = in.positions[r];
      int64_t slot = int64_t(in.tables[in.ids[r]][p / size]) * size + p % size;
      for (int64_t e = 0; e < heads * d; ++e)
        expectedK[slot * heads * d + e] = float(1000 + r * heads * d + e);
      for (int64_t e = 0; e < heads * dv; ++e)
        expectedV[slot * heads * dv + e] = float(2000 + r * heads * dv + e);
    }
    auto plan = DevicePlan::upload(*in.create(), Device::host());
    Status status = append(*plan, newK, newV, k, v);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(values(k), expectedK);
    ASSERT_EQ(values(v), expectedV);
  }
  EXPECT_EQ(written, 2000);
}

} // namespace
