//===- HostPlan.h - Validated page tables and rows of a batch -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan says where the tokens of S sequences lie in a paged cache and which
// token each of Q query rows stands at. It is checked once, on the host;
// kernels that get a plan's words need no checks of their own.
//
//   auto plan = rudnn::HostPlan::create(/*pageSize=*/16, /*pages=*/1024,
//   tables,
//                                       lengths, sequenceIds, positions);
//   if (!plan)
//     return report(plan.message());
//
// All numbers are unsigned 32-bit. Positions count from the start of the
// request, not of a chunk. A length is the number of valid tokens of a sequence
// and counts the tokens that this batch appends.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_HOSTPLAN_H
#define RUDNN_RUNTIME_HOSTPLAN_H

#include "rudnn/Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace rudnn {

struct HostPlanData;

/// Marks a table entry that does not exist.
inline constexpr uint32_t kNoPage = 0xFFFFFFFFu;

/// Read-only view of a plan: its scalars and its words. Valid as long as what
/// it was taken from.
struct PlanView {
  uint32_t pageSize;   ///< Tokens per page, at least 1.
  uint32_t pages;      ///< Pages of the cache, at least 1.
  uint32_t sequences;  ///< S, at least 1.
  uint32_t queries;    ///< Q.
  uint32_t tableWidth; ///< Entries per table row, at least 1.
  /// sequence ids (Q), positions (Q), lengths (S), tables (S x width) with
  /// kNoPage where a table is shorter.
  const uint32_t *words;

  uint64_t wordCount() const {
    return 2 * uint64_t(queries) + sequences + uint64_t(sequences) * tableWidth;
  }
  std::span<const uint32_t> sequenceIds() const { return {words, queries}; }
  std::span<const uint32_t> positions() const {
    return {words + queries, queries};
  }
  std::span<const uint32_t> lengths() const {
    return {words + 2 * size_t(queries), sequences};
  }
  /// Row `sequence` of the tables, `tableWidth` entries.
  std::span<const uint32_t> table(uint32_t sequence) const {
    return {words + 2 * size_t(queries) + sequences +
                size_t(sequence) * tableWidth,
            tableWidth};
  }
  /// Pages that hold tokens of `sequence`: ceil(length / pageSize).
  uint32_t neededPages(uint32_t sequence) const {
    return uint32_t((uint64_t(lengths()[sequence]) + pageSize - 1) / pageSize);
  }
  /// The entries of `sequence` that hold tokens; the rest is spare capacity.
  std::span<const uint32_t> history(uint32_t sequence) const {
    return table(sequence).first(neededPages(sequence));
  }
  /// The tokens that row `row` sees: 0 .. visible - 1.
  uint32_t visible(uint32_t row, bool causal) const;

  /// Structural: same scalars and words.
  friend bool operator==(const PlanView &a, const PlanView &b);
};

/// A validated plan. Immutable: copies share one allocation, and any number of
/// threads may use one plan at the same time.
class HostPlan {
public:
  /// Validates and packs. The first failure in this order is reported, with the
  /// sequence or row and the value:
  ///
  /// 1. `pageSize` is 0 (RUDNN_PLAN_PAGE_SIZE_ZERO), `pages` is 0
  ///    (RUDNN_PLAN_PAGES_ZERO), there are no tables (RUDNN_PLAN_NO_SEQUENCES),
  ///    not one length per table (RUDNN_PLAN_LENGTH_COUNT), not one position
  ///    per sequence id (RUDNN_PLAN_POSITION_COUNT), `pageSize` or `pages`
  ///    above 2^32 - 1 (RUDNN_PLAN_PAGE_SIZE_RANGE, RUDNN_PLAN_PAGES_RANGE).
  /// 2. With width = max(1, longest table), 2Q + S + S * width exceeds 2^32 - 1
  ///    (RUDNN_PLAN_TOO_LARGE).
  /// 3. For each sequence, with need = ceil(length / pageSize): the table has
  /// fewer
  ///    than need entries (RUDNN_PLAN_TABLE_SHORT); any entry, also past need,
  ///    is not below `pages` (RUDNN_PLAN_PAGE_RANGE); two of the first need
  ///    entries are equal (RUDNN_PLAN_PAGE_REPEATED).
  /// 4. For each row: the sequence id is not below S (RUDNN_PLAN_SEQUENCE_ID);
  /// the
  ///    length is not 0 and the position is not below it (RUDNN_PLAN_POSITION).
  ///
  /// Allowed: no rows at all, empty tables and lengths of 0 (then any
  /// position), pages shared by sequences, sequences without rows, several rows
  /// of a sequence in any order with equal positions, tables longer than
  /// needed.
  ///
  /// RUDNN_OUT_OF_MEMORY when the words do not fit into memory.
  static Result<HostPlan>
  create(uint64_t pageSize, uint64_t pages,
         std::span<const std::span<const uint32_t>> tables,
         std::span<const uint32_t> lengths,
         std::span<const uint32_t> sequenceIds,
         std::span<const uint32_t> positions);

  /// The same from packed words, PlanView::words. First, in this order: the
  /// number of words is 2Q + S + S * tableWidth (RUDNN_PLAN_WORD_COUNT);
  /// `sequences`, `tableWidth` and `pageSize` are not 0
  /// (RUDNN_PLAN_NO_SEQUENCES, RUDNN_PLAN_TABLE_WIDTH_ZERO,
  /// RUDNN_PLAN_PAGE_SIZE_ZERO); no length needs more than `tableWidth` pages
  /// (RUDNN_PLAN_TABLE_WIDTH_SHORT). Only the needed entries of a row are kept,
  /// what follows is not looked at, and the width becomes that of the longest
  /// history. Then every rule of create() holds.
  static Result<HostPlan> fromPacked(uint64_t pageSize, uint64_t pages,
                                     uint64_t sequences, uint64_t queries,
                                     uint64_t tableWidth,
                                     std::span<const uint32_t> words);

  /// Whether every row may be written to (appended) at its position. The first
  /// failing row in order is reported: its position is not below the length, so
  /// an empty history cannot be appended to before the length is set
  /// (RUDNN_WRITE_OUTSIDE_LENGTH); its page stands in more than one history,
  /// those of sequences without rows included (RUDNN_WRITE_SHARED_PAGE: the
  /// scheduler copies a shared page first); an earlier row writes the same slot
  /// (RUDNN_WRITE_DUPLICATE_SLOT).
  Status validateWrites() const;

  uint32_t pageSize() const { return view().pageSize; }
  uint32_t pages() const { return view().pages; }
  uint32_t sequenceCount() const { return view().sequences; }
  uint32_t queryCount() const { return view().queries; }
  uint32_t tableWidth() const { return view().tableWidth; }
  std::span<const uint32_t> words() const {
    return {view().words, size_t(view().wordCount())};
  }
  const PlanView &view() const;

  /// A hash of what kernels read: page size, pages, S, Q, the rows, the lengths
  /// and the histories, but no spare capacity. Equal plans have equal
  /// fingerprints, and so have plans that differ in spare table entries only.
  /// The same on every machine and in every process.
  uint64_t fingerprint() const;

  /// Structural: same scalars, rows, lengths and tables, spare entries
  /// included.
  friend bool operator==(const HostPlan &a, const HostPlan &b) {
    return a.data == b.data || a.view() == b.view();
  }

private:
  friend class DevicePlan;
  explicit HostPlan(std::shared_ptr<const HostPlanData> data)
      : data(std::move(data)) {}
  std::shared_ptr<const HostPlanData> data;
};

/// The rules of HostPlan::validateWrites for any view that obeys those of
/// HostPlan::create.
Status validateWrites(const PlanView &plan);

} // namespace rudnn

template <>
struct std::hash<rudnn::HostPlan> {
  size_t operator()(const rudnn::HostPlan &plan) const {
    return size_t(plan.fingerprint());
  }
};

#endif // RUDNN_RUNTIME_HOSTPLAN_H
