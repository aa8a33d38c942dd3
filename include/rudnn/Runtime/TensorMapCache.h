//===- TensorMapCache.h - Descriptors of bulk tensor copies -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of sm_90 and later copy tiles between global and shared memory with a
// tensor map, 128 bytes that the driver encodes on the host and that a launch
// passes by value. Encoding takes about a microsecond and needs the same result
// for the same description, so that maps are kept. A map depends on an address
// and a shape, not on a context or on what the memory holds.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_TENSORMAPCACHE_H
#define RUDNN_RUNTIME_TENSORMAPCACHE_H

#include "rudnn/Runtime/Abi.h"
#include "rudnn/Runtime/Status.h"

#include <cstddef>
#include <memory>

namespace rudnn {

/// What a launch gets by value; aligned as the driver wants it.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

enum class TensorMapSwizzle : int32_t { None = 0, B32 = 1, B64 = 2, B128 = 3 };
enum class TensorMapL2 : int32_t { None = 0, B64 = 1, B128 = 2, B256 = 3 };

/// A tensor in global memory and the box that one copy moves; dimension 0 is
/// the innermost and contiguous. Elements outside of the tensor read as 0.
struct TensorMapDesc {
  int32_t dtype =
      RUDNN_F32;    ///< RudnnDType, not RUDNN_I1 as bits: one byte each.
  int32_t rank = 1; ///< 1 .. 5.
  const void *address = nullptr; ///< Device memory, aligned to 16.
  uint64_t sizes[5] = {};        ///< 1 .. 2^32 each.
  /// Bytes between neighbours of dimensions 1 .. rank - 1, multiples of 16
  /// below 2^40.
  uint64_t strides[4] = {};
  uint32_t box[5] = {}; ///< 1 .. 256 each; the innermost times the element size
                        ///< is a multiple of 16 and at most the swizzle span.
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  TensorMapL2 l2 = TensorMapL2::B128;
};

/// Any number of threads may use one cache.
class TensorMapCache {
public:
  /// What encodes a map: cuTensorMapEncodeTiled unless a test says otherwise.
  using Encoder = Status (*)(const TensorMapDesc &desc, TensorMap &map);

  /// Keeps up to `capacity` maps, then starts again empty.
  explicit TensorMapCache(size_t capacity = 4096, Encoder encoder = nullptr);
  ~TensorMapCache();

  /// RUDNN_INVALID_ARGUMENT names the field that is out of its range;
  /// RUDNN_UNAVAILABLE without a driver; RUDNN_DRIVER_ERROR.
  Result<TensorMap> get(const TensorMapDesc &desc);

  size_t size() const;
  /// Maps that had to be encoded so far.
  size_t misses() const;

  /// The cache of the process.
  static TensorMapCache &global();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_TENSORMAPCACHE_H
