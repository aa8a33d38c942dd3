//===- OrderedBackwardWorkspace.h - Repeatable paged backward -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients of a paged history sum over rows, heads and all sequences that
// share a slot. With the index of this workspace each slot gathers its
// contributions in a fixed order (sequence, logical page, row), so that the
// bits repeat, without atomics and without clearing: a slot that nothing
// contributes to is written as 0.
//
// Memory on the device, at most 64 MiB in all:
//   statistics  3 f32 per (row, head): maximum, denominator, sum of p * dp
//   index       the words of OrderedIndex
//   compaction  one word per page, once it has been enabled
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_ORDEREDBACKWARDWORKSPACE_H
#define RUDNN_RUNTIME_ORDEREDBACKWARDWORKSPACE_H

#include "rudnn/Runtime/DevicePlan.h"

#include <optional>
#include <vector>

namespace rudnn {

/// The inverse index: for each page, who reads it. All sections are 32-bit
/// words in one array, S and Q as in the plan, E = pages of all histories of
/// sequences that have rows, a block = up to 32 rows of one sequence:
///
///   [0]              begin of `links` in the array
///   [1]              begin of `sequence offsets`
///   [2]              begin of `rows`
///   page offsets     pages + 1: the links of page p are offsets[p] ..
///   offsets[p + 1] links            2E: pairs (sequence, logical page) sorted
///   by page, then sequence,
///                    then logical page
///   sequence offsets S + 1: the rows of sequence s are offsets[s] .. offsets[s
///   + 1] rows             Q: row ids sorted by (sequence, row); not by
///   position monotonic        S: 1 when the positions of its rows never
///   decrease max position     S: the largest position of its rows, 0 without
///   rows block offsets    S + 1: the blocks of sequence s are offsets[s] ..
///   offsets[s + 1] block maxima     the largest position of each block
struct OrderedIndex {
  /// (pages + 4) + (4S + 2) + Q + 2E + blocks.
  static uint64_t wordCount(const PlanView &plan);
  /// RUDNN_ORDERED_INDEX when the index needs more than `maxWords`.
  static Result<std::vector<uint32_t>> build(const PlanView &plan,
                                             uint64_t maxWords);
};

/// Active pages are those in the history of a sequence with rows, whether or
/// not a causal row sees them, so that one map serves both kinds of attention.
struct HistoryCompaction {
  uint32_t active, inactive; ///< Their sum is the number of pages.
  /// Active pages ascending, then the others ascending.
  std::vector<uint32_t> map;
  /// RUDNN_ORDERED_COMPACTION when `pages` exceeds `maxWords`.
  static Result<HistoryCompaction> build(const PlanView &plan,
                                         uint64_t maxWords);
};

/// What a launch may do; none of it changes bits.
struct OrderedOptions {
  /// Causal only: skip rows that do not see a token. On unless turned off.
  bool queryPruning = true;
  /// Keep a row of the history in registers. Off.
  bool rowCache = false;
  /// Launch active pages only and clear the others apart. Off.
  bool compactHistory = false;
};

class OrderedBackwardWorkspace {
public:
  static constexpr uint64_t kMaxBytes = 64ull << 20;

  /// For a plan and a query tensor of shape `q` on `device` and `queue`. In
  /// this order: `q` is not [Q, H, D] (RUDNN_ORDERED_RANK); its rows are not
  /// the plan's (RUDNN_ORDERED_ROWS); no heads (RUDNN_ORDERED_HEADS); another
  /// device or queue than the plan's (RUDNN_ORDERED_DEVICE); an environment
  /// value that is neither "0" nor "1" (RUDNN_ORDERED_ENVIRONMENT); 3 * Q * H
  /// above 2^32 - 1 or statistics above kMaxBytes (RUDNN_ORDERED_STATISTICS);
  /// an index (RUDNN_ORDERED_INDEX) or, when asked for, a compaction map
  /// (RUDNN_ORDERED_COMPACTION) that does not fit beside them.
  ///
  /// The environment is read here, once, before anything is allocated:
  /// RUDNN_PAGED_ORDERED_CACHE_ROWS sets rowCache and
  /// RUDNN_PAGED_ORDERED_COMPACT_HISTORY compactHistory. Unset or exactly "0"
  /// is off, exactly "1" is on, all else is refused. Must not run while another
  /// thread changes the environment.
  static Result<OrderedBackwardWorkspace>
  create(const DevicePlan &plan, std::span<const int64_t> q,
         const std::shared_ptr<Device> &device, Queue queue);

  OrderedBackwardWorkspace(OrderedBackwardWorkspace &&) = default;
  OrderedBackwardWorkspace &operator=(OrderedBackwardWorkspace &&) = default;

  /// RUDNN_ORDERED_MISMATCH with the first difference, unless made for a plan
  /// equal to the present state of `plan`, the rows and heads of `q`, `device`
  /// and `queue`. The feature dim may differ.
  Status matches(const DevicePlan &plan, std::span<const int64_t> q,
                 const Device &device, Queue queue) const;

  const OrderedOptions &options() const { return opts; }
  void setQueryPruning(bool on) { opts.queryPruning = on; }
  void setRowCache(bool on) { opts.rowCache = on; }
  /// The map is built when it is first enabled and kept when it is disabled. On
  /// an error (RUDNN_ORDERED_COMPACTION, RUDNN_OUT_OF_MEMORY) nothing changes.
  Status setHistoryCompaction(bool on);
  /// (active, inactive), or nothing while the map has not been built.
  std::optional<std::pair<uint32_t, uint32_t>> historyCompactionPages() const;

  /// Bytes on the device: 4 * max(1, 3 * Q * H) + 4 * words, and 4 * pages from
  /// the time when a map was built.
  uint64_t bytes() const;

  /// Device addresses; the map is nullptr until built.
  float *statistics() const { return static_cast<float *>(stats.data()); }
  const uint32_t *index() const {
    return static_cast<uint32_t *>(links.data());
  }
  const uint32_t *compactionMap() const {
    return static_cast<uint32_t *>(map.data());
  }

private:
  explicit OrderedBackwardWorkspace(HostPlan plan) : plan(std::move(plan)) {}
  HostPlan plan;
  uint64_t heads = 0;
  std::shared_ptr<Device> device;
  Queue queue = nullptr;
  OrderedOptions opts;
  DeviceBuffer stats, links, map;
  uint32_t activePages = 0;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_ORDEREDBACKWARDWORKSPACE_H
