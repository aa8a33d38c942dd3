//===- Append.h - Write new keys and values into a paged cache -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cache that nobody else holds is written in place. A cache with other
// holders is a snapshot for them: it is copied as a whole first and the copy is
// written, so that they keep what they saw.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_APPEND_H
#define RUDNN_RUNTIME_APPEND_H

#include "rudnn/Runtime/Abi.h"
#include "rudnn/Runtime/DevicePlan.h"

#include <vector>

namespace rudnn {

/// A tensor in shared device memory.
struct Tensor {
  DeviceBuffer buffer;
  int32_t dtype = RUDNN_F32; ///< RudnnDType.
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< In elements; empty: dense, row-major.
  uint64_t byteOffset = 0;      ///< Of the first element in the buffer.

  void *data() const { return static_cast<char *>(buffer.data()) + byteOffset; }
};

struct AppendReport {
  bool keyCopied = false, valueCopied = false;
  uint64_t copiedBytes = 0; ///< Of both caches.
  friend bool operator==(const AppendReport &, const AppendReport &) = default;
};

/// Copies row r of `newKeys` [Q, Hkv, D] and `newValues` [Q, Hkv, Dv], all
/// heads, bit for bit, to slot position % page_size of page table[position /
/// page_size] of its sequence in `keyCache` [pages, page_size, Hkv, D] and
/// `valueCache` [.., Dv]. Other slots keep what they hold. In the order of the
/// plan's queue.
///
/// On success the caches are the written ones: the same memory when
/// `cache.buffer` was the only handle of it, else a copy. Both decisions are
/// made before anything is written, so that key and value caches in one buffer
/// are both copied. On an error they are as before. No rows: nothing is written
/// or copied, whoever holds the caches.
///
/// In this order: every rule of HostPlan::validateWrites for the plan's present
/// state (RUDNN_WRITE_...); each tensor is dense (RUDNN_APPEND_LAYOUT), of the
/// element type of newKeys (RUDNN_APPEND_DTYPE), on the plan's device
/// (RUDNN_APPEND_DEVICE) and inside of its buffer (RUDNN_APPEND_LAYOUT); ranks
/// 3, 3, 4, 4 (RUDNN_APPEND_RANK); heads and head dims at least 1 and equal,
/// pages and page size those of the plan, as many rows as the plan has
/// (RUDNN_APPEND_SHAPE). Then RUDNN_OUT_OF_MEMORY and RUDNN_DRIVER_ERROR. The
/// text names the tensor.
Status append(const DevicePlan &plan, const Tensor &newKeys,
              const Tensor &newValues, Tensor &keyCache, Tensor &valueCache,
              AppendReport *report = nullptr);

} // namespace rudnn

#endif // RUDNN_RUNTIME_APPEND_H
