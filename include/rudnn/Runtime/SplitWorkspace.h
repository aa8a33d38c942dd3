//===- SplitWorkspace.h - Partial results of split attention -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Paged attention may cut the visible tokens of every row into 2 to 32 parts
// and merge them. One record per (row, head, part), all f32: Dv accumulators
// that are not normalized, the maximum, the denominator. An empty part stores
// zeros. Every record is written by each launch, so that the memory needs no
// clearing.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_SPLITWORKSPACE_H
#define RUDNN_RUNTIME_SPLITWORKSPACE_H

#include "rudnn/Runtime/Device.h"

namespace rudnn {

/// Tokens begin .. end - 1.
struct TokenRange {
  uint32_t begin, end;
  friend bool operator==(const TokenRange &, const TokenRange &) = default;
};

/// Q rows, H query heads, value head dim Dv, parts per row.
struct SplitShape {
  uint64_t rows, heads, headDim, splits;
  friend bool operator==(const SplitShape &, const SplitShape &) = default;
};

/// Not copyable; two launches at a time need two workspaces.
class SplitWorkspace {
public:
  static constexpr uint64_t kMaxBytes = 64ull << 20;

  /// 4 * Q * H * splits * (Dv + 2). In this order: splits outside of 2..32
  /// (RUDNN_SPLIT_COUNT); no heads (RUDNN_SPLIT_HEADS); Dv outside of 1..1024
  /// (RUDNN_SPLIT_HEAD_DIM); a dimension or the number of elements above 2^32 -
  /// 1 (RUDNN_SPLIT_ELEMENTS); more than kMaxBytes (RUDNN_SPLIT_BYTES). Exactly
  /// kMaxBytes is fine, and so are 0 rows.
  static Result<uint64_t> requiredBytes(const SplitShape &shape);

  /// Checks requiredBytes, then the launch grid of the device, Q <= x, H <= y,
  /// splits <= z (RUDNN_SPLIT_GRID), and allocates.
  static Result<SplitWorkspace> create(std::shared_ptr<Device> device,
                                       Queue queue, const SplitShape &shape);

  SplitWorkspace(SplitWorkspace &&) = default;
  SplitWorkspace &operator=(SplitWorkspace &&) = default;

  /// RUDNN_SPLIT_MISMATCH with the first difference, unless made for this
  /// shape, device and queue. Any plan with that many rows may use the
  /// workspace.
  Status matches(const Device &device, Queue queue,
                 const SplitShape &shape) const;

  void *data() const { return buffer.data(); }
  uint64_t bytes() const { return buffer.size(); }
  const SplitShape &shape() const { return madeFor; }

  /// Byte offset of the record of (row, head, split).
  uint64_t recordOffset(uint64_t row, uint64_t head, uint64_t split) const {
    return 4 * ((row * madeFor.heads + head) * madeFor.splits + split) *
           (madeFor.headDim + 2);
  }

  /// Part `split` of a row that sees `visible` tokens: sizes differ by at most
  /// one, the larger ones first. Not aligned to pages. `split` < `splits`, both
  /// at least 1.
  static TokenRange partition(uint32_t visible, uint32_t splits,
                              uint32_t split);

private:
  SplitWorkspace() = default;
  SplitShape madeFor{};
  Queue queue = nullptr;
  DeviceBuffer buffer;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_SPLITWORKSPACE_H
