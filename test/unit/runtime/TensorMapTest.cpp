//===- TensorMapTest.cpp - The cache of tensor maps -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/TensorMapCache.h"

#include <gtest/gtest.h>

#include <atomic>

using namespace rudnn;

namespace {

std::atomic<int> encoded;

Status fakeEncode(const TensorMapDesc &desc, TensorMap &map) {
  ++encoded;
  map.bytes[0] = static_cast<unsigned char>(desc.box[0]);
  map.bytes[1] = static_cast<unsigned char>(desc.sizes[0]);
  return {};
}

TensorMapDesc desc() {
  TensorMapDesc out;
  out.dtype = RUDNN_BF16;
  out.rank = 3;
  out.address = reinterpret_cast<void *>(uintptr_t(0x10000));
  for (int i = 0; i < 3; ++i)
    out.sizes[i] = 100, out.box[i] = 64;
  out.strides[0] = 208, out.strides[1] = 20800;
  out.swizzle = TensorMapSwizzle::B128;
  return out;
}

TEST(TensorMapCache, EncodesOnce) {
  TensorMapCache cache(16, fakeEncode);
  encoded = 0;
  for (int i = 0; i < 5; ++i) {
    auto map = cache.get(desc());
    ASSERT_TRUE(map) << map.message();
    EXPECT_EQ(map->bytes[0], 64);
    EXPECT_EQ(map->bytes[1], 100);
  }
  // Dimensions beyond the rank do not count.
  TensorMapDesc same = desc();
  same.sizes[4] = 3, same.strides[3] = 1, same.box[3] = 9;
  EXPECT_TRUE(cache.get(same).ok());
  EXPECT_EQ(encoded, 1);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.misses(), 1u);
}

TEST(TensorMapCache, EveryFieldCounts) {
  TensorMapCache cache(64, fakeEncode);
  size_t expected = 0;
  auto differs = [&](auto change) {
    TensorMapDesc other = desc();
    change(other);
    ASSERT_TRUE(cache.get(other).ok());
    EXPECT_EQ(cache.size(), ++expected);
  };
  differs([](TensorMapDesc &) {});
  differs([](TensorMapDesc &d) { d.dtype = RUDNN_F16; });
  differs([](TensorMapDesc &d) { d.rank = 2; });
  differs(
      [](TensorMapDesc &d) { d.address = reinterpret_cast<void *>(0x20000); });
  for (int i = 0; i < 3; ++i) {
    differs([=](TensorMapDesc &d) { d.sizes[i] = 200; });
    differs([=](TensorMapDesc &d) { d.box[i] = 32; });
  }
  for (int i = 0; i < 2; ++i)
    differs([=](TensorMapDesc &d) { d.strides[i] += 16; });
  differs([](TensorMapDesc &d) { d.swizzle = TensorMapSwizzle::None; });
  differs([](TensorMapDesc &d) { d.l2 = TensorMapL2::B256; });
}

TEST(TensorMapCache, Bounded) {
  TensorMapCache cache(4, fakeEncode);
  for (uint64_t i = 1; i <= 100; ++i) {
    TensorMapDesc other = desc();
    other.sizes[2] = i;
    ASSERT_TRUE(cache.get(other).ok());
    EXPECT_LE(cache.size(), 4u);
  }
  EXPECT_EQ(cache.misses(), 100u);
}

TEST(TensorMapCache, Rules) {
  TensorMapCache cache(4, fakeEncode);
  encoded = 0;
  auto expect = [&](auto change, const char *message) {
    TensorMapDesc bad = desc();
    change(bad);
    auto map = cache.get(bad);
    EXPECT_EQ(map.code(), RUDNN_INVALID_ARGUMENT);
    EXPECT_EQ(map.message(), std::string("tensor map: ") + message);
  };
  expect([](auto &d) { d.dtype = 10; }, "dtype is 10; it must be 0 to 9");
  expect([](auto &d) { d.rank = 0; }, "rank is 0; it must be 1 to 5");
  expect([](auto &d) { d.rank = 6; }, "rank is 6; it must be 1 to 5");
  expect([](auto &d) { d.address = reinterpret_cast<void *>(0x10008); },
         "address is 0x10008; it must be a multiple of 16 and not null");
  expect([](auto &d) { d.sizes[1] = 0; },
         "sizes[1] is 0; it must be 1 to 4294967296");
  expect([](auto &d) { d.box[2] = 257; }, "box[2] is 257; it must be 1 to 256");
  expect([](auto &d) { d.strides[1] = 8; },
         "strides[1] is 8; it must be a multiple of 16 below 2^40");
  expect([](auto &d) { d.swizzle = TensorMapSwizzle(4); },
         "swizzle is 4; it must be 0 to 3");
  expect([](auto &d) { d.l2 = TensorMapL2(4); }, "l2 is 4; it must be 0 to 3");
  expect([](auto &d) { d.box[0] = 4; },
         "box[0] is 4 elements, 8 bytes; it must be a multiple of 16 bytes");
  expect([](auto &d) { d.box[0] = 128; },
         "box[0] is 128 elements, 256 bytes; a swizzle of 128 bytes allows no "
         "more than "
         "that");
  EXPECT_EQ(encoded, 0);
}

} // namespace
