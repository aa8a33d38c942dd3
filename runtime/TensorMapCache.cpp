//===- TensorMapCache.cpp - Descriptors of bulk tensor copies -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/TensorMapCache.h"

#include "CudaDriver.h"
#include "DType.h"
#include "Support.h"

#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

using namespace rudnn;

namespace {

/// CUtensorMapDataType by RudnnDType.
constexpr int kDriverTypes[] = {7, 6, 9, 8, 0, 0, 1, 3, 5, 5};

Status encode(const TensorMapDesc &desc, TensorMap &map) {
  auto driver = cuda::getDriver();
  if (!driver)
    return driver.status();
  // The driver refuses without a current context, whichever it is.
  if (auto context = cuda::currentContext(**driver); !context)
    return context.status();
  const unsigned steps[5] = {1, 1, 1, 1, 1};
  if (cuda::Result result = (*driver)->tensorMapEncodeTiled(
          map.bytes, kDriverTypes[desc.dtype], unsigned(desc.rank),
          const_cast<void *>(desc.address), desc.sizes, desc.strides, desc.box,
          steps, 0, int(desc.swizzle), int(desc.l2), 0))
    return cuda::driverError(**driver, "cuTensorMapEncodeTiled",
                             text("%s tensor of rank %d, box %u x %u",
                                  dtypeName(desc.dtype), desc.rank, desc.box[0],
                                  desc.rank > 1 ? desc.box[1] : 1)
                                 .c_str(),
                             result);
  return {};
}

Status invalid(std::string what) {
  return {RUDNN_INVALID_ARGUMENT, "tensor map: " + std::move(what)};
}

Status check(const TensorMapDesc &desc) {
  if (desc.dtype < RUDNN_F32 || desc.dtype > RUDNN_INDEX)
    return invalid(text("dtype is %d; it must be 0 to 9", desc.dtype));
  if (desc.rank < 1 || desc.rank > 5)
    return invalid(text("rank is %d; it must be 1 to 5", desc.rank));
  if (!desc.address || reinterpret_cast<uintptr_t>(desc.address) % 16 != 0)
    return invalid(
        text("address is %p; it must be a multiple of 16 and not null",
             desc.address));
  for (int i = 0; i < desc.rank; ++i) {
    if (desc.sizes[i] == 0 || desc.sizes[i] > (1ull << 32))
      return invalid(text("sizes[%d] is %llu; it must be 1 to 4294967296", i,
                          ull(desc.sizes[i])));
    if (desc.box[i] == 0 || desc.box[i] > 256)
      return invalid(
          text("box[%d] is %u; it must be 1 to 256", i, desc.box[i]));
  }
  for (int i = 0; i + 1 < desc.rank; ++i)
    if (desc.strides[i] % 16 != 0 || desc.strides[i] >= (1ull << 40))
      return invalid(
          text("strides[%d] is %llu; it must be a multiple of 16 below 2^40", i,
               ull(desc.strides[i])));
  if (int(desc.swizzle) < 0 || int(desc.swizzle) > 3)
    return invalid(text("swizzle is %d; it must be 0 to 3", int(desc.swizzle)));
  if (int(desc.l2) < 0 || int(desc.l2) > 3)
    return invalid(text("l2 is %d; it must be 0 to 3", int(desc.l2)));
  uint64_t row = uint64_t(desc.box[0]) * dtypeBytes(desc.dtype);
  if (row % 16 != 0)
    return invalid(
        text("box[0] is %u elements, %llu bytes; it must be a multiple of "
             "16 bytes",
             desc.box[0], ull(row)));
  uint64_t span = 16ull << int(desc.swizzle);
  if (desc.swizzle != TensorMapSwizzle::None && row > span)
    return invalid(
        text("box[0] is %u elements, %llu bytes; a swizzle of %llu bytes "
             "allows no more than that",
             desc.box[0], ull(row), ull(span)));
  return {};
}

/// The fields that count, without padding and without unused dimensions.
struct Key {
  uint64_t fields[18] = {};
  explicit Key(const TensorMapDesc &desc) {
    fields[0] = uint64_t(desc.dtype) | uint64_t(desc.rank) << 8 |
                uint64_t(desc.swizzle) << 16 | uint64_t(desc.l2) << 24;
    fields[1] = reinterpret_cast<uintptr_t>(desc.address);
    for (int i = 0; i < desc.rank; ++i) {
      fields[2 + i] = desc.sizes[i];
      fields[7 + i] = desc.box[i];
      if (i + 1 < desc.rank)
        fields[12 + i] = desc.strides[i];
    }
  }
  std::string_view bytes() const {
    return {reinterpret_cast<const char *>(fields), sizeof(fields)};
  }
  bool operator==(const Key &other) const { return bytes() == other.bytes(); }
};

struct KeyHash {
  size_t operator()(const Key &key) const {
    return std::hash<std::string_view>()(key.bytes());
  }
};

} // namespace

struct TensorMapCache::State {
  mutable std::shared_mutex mutex;
  size_t capacity;
  Encoder encoder;
  size_t misses = 0;
  std::unordered_map<Key, TensorMap, KeyHash> maps;
};

TensorMapCache::TensorMapCache(size_t capacity, Encoder encoder)
    : state(std::make_unique<State>()) {
  state->capacity = capacity ? capacity : 1;
  state->encoder = encoder ? encoder : encode;
}

TensorMapCache::~TensorMapCache() = default;

Result<TensorMap> TensorMapCache::get(const TensorMapDesc &desc) {
  if (Status status = check(desc); !status)
    return status;
  Key key(desc);
  {
    std::shared_lock<std::shared_mutex> lock(state->mutex);
    if (auto it = state->maps.find(key); it != state->maps.end())
      return it->second;
  }
  TensorMap map{};
  if (Status status = state->encoder(desc, map); !status)
    return status;
  std::unique_lock<std::shared_mutex> lock(state->mutex);
  ++state->misses;
  if (state->maps.size() >= state->capacity)
    state->maps.clear();
  state->maps.emplace(key, map);
  return map;
}

size_t TensorMapCache::size() const {
  std::shared_lock<std::shared_mutex> lock(state->mutex);
  return state->maps.size();
}

size_t TensorMapCache::misses() const {
  std::shared_lock<std::shared_mutex> lock(state->mutex);
  return state->misses;
}

TensorMapCache &TensorMapCache::global() {
  static auto *cache = new TensorMapCache;
  return *cache;
}
