//===- HostPlan.cpp - Validated page tables and rows of a batch -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/HostPlan.h"

#include "PlanData.h"

#include <algorithm>
#include <cstring>

using namespace rudnn;

using Words = std::span<const uint32_t>;

uint32_t PlanView::visible(uint32_t row, bool causal) const {
  uint32_t length = lengths()[sequenceIds()[row]];
  uint32_t position = positions()[row];
  return causal && position < length ? position + 1 : length;
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

namespace {

/// The table rows of either kind of input.
struct NestedTables {
  std::span<const Words> rows;
  Words operator[](size_t s) const { return rows[s]; }
};
struct PackedTables {
  Words words;
  uint64_t width;
  uint64_t pageSize;
  Words lengths;
  Words operator[](size_t s) const {
    return words.subspan(s * width, ceilDiv(lengths[s], pageSize));
  }
};

Status checkScalars(uint64_t pageSize, uint64_t pages, size_t tables,
                    size_t lengths, size_t ids, size_t positions) {
  if (pageSize == 0)
    return {RUDNN_PLAN_PAGE_SIZE_ZERO, "page_size is 0; it must be at least 1"};
  if (pages == 0)
    return {RUDNN_PLAN_PAGES_ZERO, "pages is 0; it must be at least 1"};
  if (tables == 0)
    return {RUDNN_PLAN_NO_SEQUENCES,
            "there are no sequences; at least 1 is needed"};
  if (tables != lengths)
    return {RUDNN_PLAN_LENGTH_COUNT,
            text("%zu lengths for %zu tables; there must be one per table",
                 lengths, tables)};
  if (ids != positions)
    return {
        RUDNN_PLAN_POSITION_COUNT,
        text("%zu positions for %zu sequence ids; there must be one per row",
             positions, ids)};
  if (pageSize > kU32Max)
    return {RUDNN_PLAN_PAGE_SIZE_RANGE,
            text("page_size is %llu; it must be at most 4294967295",
                 ull(pageSize))};
  if (pages > kU32Max)
    return {RUDNN_PLAN_PAGES_RANGE,
            text("pages is %llu; it must be at most 4294967295", ull(pages))};
  return {};
}

Status checkSize(uint64_t queries, uint64_t sequences, uint64_t width) {
  uint64_t rows, table, total;
  bool overflow = __builtin_mul_overflow(queries, 2, &rows);
  overflow |= __builtin_mul_overflow(sequences, width, &table);
  overflow |= __builtin_add_overflow(rows, sequences, &total);
  overflow |= __builtin_add_overflow(total, table, &total);
  if (!overflow && total <= kU32Max)
    return {};
  return {
      RUDNN_PLAN_TOO_LARGE,
      text("%llu rows, %llu sequences and a table width of %llu need more than "
           "4294967295 words",
           ull(queries), ull(sequences), ull(width))};
}

/// The largest entry, 0 for none; a loop that the compiler vectorizes.
uint32_t largest(Words entries) {
  uint32_t max = 0;
  for (uint32_t entry : entries)
    max = std::max(max, entry);
  return max;
}

/// Rule 3 for one sequence. `seen[page] == s + 1` once page is in its history.
Status checkSequence(size_t s, uint32_t length, Words table, uint64_t pageSize,
                     uint64_t pages, PageMap &seen) {
  uint64_t need = ceilDiv(length, pageSize);
  if (table.size() < need)
    return {RUDNN_PLAN_TABLE_SHORT,
            text("sequence %zu: length %u needs %llu pages of %llu tokens, the "
                 "table "
                 "has %zu",
                 s, length, ull(need), ull(pageSize), table.size())};
  if (!table.empty() && largest(table) >= pages) {
    size_t i =
        size_t(std::find_if(table.begin(), table.end(),
                            [&](uint32_t page) { return page >= pages; }) -
               table.begin());
    return {
        RUDNN_PLAN_PAGE_RANGE,
        text("sequence %zu: table entry %zu is page %u; it must be below %llu",
             s, i, table[i], ull(pages))};
  }
  for (size_t i = 0; i < need; ++i) {
    uint32_t &mark = seen[table[i]];
    if (mark == s + 1)
      return {
          RUDNN_PLAN_PAGE_REPEATED,
          text("sequence %zu: table entry %zu repeats page %u; the pages of a "
               "history must differ",
               s, i, table[i])};
    mark = uint32_t(s) + 1;
  }
  return {};
}

/// Rule 4.
Status checkRows(Words ids, Words positions, Words lengths) {
  for (size_t r = 0; r < ids.size(); ++r) {
    if (ids[r] >= lengths.size())
      return {RUDNN_PLAN_SEQUENCE_ID,
              text("row %zu: sequence id is %u; it must be below %zu", r,
                   ids[r], lengths.size())};
    uint32_t length = lengths[ids[r]];
    if (length != 0 && positions[r] >= length)
      return {
          RUDNN_PLAN_POSITION,
          text("row %zu: position is %u; it must be below %u, the length of "
               "sequence %u",
               r, positions[r], length, ids[r])};
  }
  return {};
}

Status outOfMemory(uint64_t words) {
  return {RUDNN_OUT_OF_MEMORY,
          text("no host memory for a plan of %llu words", ull(words))};
}

/// Rules 2 to 4, and packing.
template <typename Tables>
Result<std::shared_ptr<const HostPlanData>>
build(uint64_t pageSize, uint64_t pages, const Tables &tables, Words lengths,
      Words ids, Words positions) {
  size_t width = 1;
  uint64_t needed = 0;
  for (size_t s = 0; s < lengths.size(); ++s) {
    width = std::max(width, tables[s].size());
    needed +=
        std::min<uint64_t>(ceilDiv(lengths[s], pageSize), tables[s].size());
  }
  if (Status status = checkSize(ids.size(), lengths.size(), width); !status)
    return status;

  PageMap seen;
  if (!seen.init(pages, needed))
    return outOfMemory(needed);
  for (size_t s = 0; s < lengths.size(); ++s)
    if (Status status =
            checkSequence(s, lengths[s], tables[s], pageSize, pages, seen);
        !status)
      return status;
  if (Status status = checkRows(ids, positions, lengths); !status)
    return status;

  auto data = std::make_shared<HostPlanData>();
  uint64_t words = 2 * ids.size() + lengths.size() + lengths.size() * width;
  if (!data->words.allocate(words))
    return outOfMemory(words);
  uint32_t *out = data->words.data();
  out = std::copy(ids.begin(), ids.end(), out);
  out = std::copy(positions.begin(), positions.end(), out);
  out = std::copy(lengths.begin(), lengths.end(), out);
  for (size_t s = 0; s < lengths.size(); ++s) {
    Words row = tables[s];
    std::fill(std::copy(row.begin(), row.end(), out), out + width, kNoPage);
    out += width;
  }
  data->view = {uint32_t(pageSize),   uint32_t(pages), uint32_t(lengths.size()),
                uint32_t(ids.size()), uint32_t(width), data->words.data()};
  return std::shared_ptr<const HostPlanData>(std::move(data));
}

} // namespace

//===----------------------------------------------------------------------===//
// HostPlan
//===----------------------------------------------------------------------===//

Result<HostPlan> HostPlan::create(uint64_t pageSize, uint64_t pages,
                                  std::span<const Words> tables, Words lengths,
                                  Words sequenceIds, Words positions) {
  if (Status status =
          checkScalars(pageSize, pages, tables.size(), lengths.size(),
                       sequenceIds.size(), positions.size());
      !status)
    return status;
  auto data = build(pageSize, pages, NestedTables{tables}, lengths, sequenceIds,
                    positions);
  if (!data)
    return data.status();
  return HostPlan(*std::move(data));
}

Result<HostPlan> HostPlan::fromPacked(uint64_t pageSize, uint64_t pages,
                                      uint64_t sequences, uint64_t queries,
                                      uint64_t tableWidth, Words words) {
  uint64_t rows, table, total;
  bool overflow = __builtin_mul_overflow(queries, 2, &rows);
  overflow |= __builtin_mul_overflow(sequences, tableWidth, &table);
  overflow |= __builtin_add_overflow(rows, sequences, &total);
  overflow |= __builtin_add_overflow(total, table, &total);
  if (overflow || total != words.size())
    return {RUDNN_PLAN_WORD_COUNT,
            text("%zu words for %llu rows, %llu sequences and a table width of "
                 "%llu; "
                 "there must be 2 * rows + sequences + sequences * width",
                 words.size(), ull(queries), ull(sequences), ull(tableWidth))};
  if (sequences == 0)
    return {RUDNN_PLAN_NO_SEQUENCES,
            "there are no sequences; at least 1 is needed"};
  if (tableWidth == 0)
    return {RUDNN_PLAN_TABLE_WIDTH_ZERO,
            "table_width is 0; it must be at least 1"};
  if (pageSize == 0)
    return {RUDNN_PLAN_PAGE_SIZE_ZERO, "page_size is 0; it must be at least 1"};

  Words ids = words.first(queries);
  Words positions = words.subspan(queries, queries);
  Words lengths = words.subspan(2 * queries, sequences);
  for (size_t s = 0; s < sequences; ++s)
    if (uint64_t need = ceilDiv(lengths[s], pageSize); need > tableWidth)
      return {RUDNN_PLAN_TABLE_WIDTH_SHORT,
              text("sequence %zu: length %u needs %llu pages of %llu tokens, "
                   "table_width is %llu",
                   s, lengths[s], ull(need), ull(pageSize), ull(tableWidth))};
  if (Status status =
          checkScalars(pageSize, pages, sequences, sequences, queries, queries);
      !status)
    return status;
  PackedTables tables{words.subspan(2 * queries + sequences), tableWidth,
                      pageSize, lengths};
  auto data = build(pageSize, pages, tables, lengths, ids, positions);
  if (!data)
    return data.status();
  return HostPlan(*std::move(data));
}

const PlanView &HostPlan::view() const { return data->view; }

Status HostPlan::validateWrites() const {
  return rudnn::validateWrites(view());
}

uint64_t HostPlan::fingerprint() const {
  const PlanView &plan = view();
  uint64_t hash = 0x243F6A8885A308D3ull;
  auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  };
  auto mixAll = [&mix](Words values) {
    size_t i = 0;
    for (; i + 1 < values.size(); i += 2)
      mix(values[i] | uint64_t(values[i + 1]) << 32);
    if (i < values.size())
      mix(values[i]);
  };
  mix(plan.pageSize | uint64_t(plan.pages) << 32);
  mix(plan.sequences | uint64_t(plan.queries) << 32);
  mixAll(plan.sequenceIds());
  mixAll(plan.positions());
  mixAll(plan.lengths());
  for (uint32_t s = 0; s < plan.sequences; ++s)
    mixAll(plan.history(s));
  return hash;
}

bool rudnn::operator==(const PlanView &a, const PlanView &b) {
  return a.pageSize == b.pageSize && a.pages == b.pages &&
         a.sequences == b.sequences && a.queries == b.queries &&
         a.tableWidth == b.tableWidth &&
         std::memcmp(a.words, b.words, a.wordCount() * sizeof(uint32_t)) == 0;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

namespace {

/// The slots of the cache that rows write. 64-bit: pages * page_size may exceed
/// 2^32.
class SlotSet {
public:
  bool init(uint64_t keys) {
    while ((uint64_t(1) << bits) < 2 * keys + 2)
      ++bits;
    return slots.allocateZeroed(uint64_t(1) << bits);
  }
  /// False when `slot` is there already.
  bool insert(uint64_t slot) {
    uint64_t i = (slot * 0x9E3779B97F4A7C15ull) >> (64 - bits);
    for (; slots[i] != 0; i = (i + 1) & (slots.size() - 1))
      if (slots[i] == slot + 1)
        return false;
    slots[i] = slot + 1;
    return true;
  }

private:
  unsigned bits = 1;
  HostArray<uint64_t> slots;
};

} // namespace

Status rudnn::validateWrites(const PlanView &plan) {
  if (plan.queries == 0)
    return {};
  uint64_t needed = 0;
  for (uint32_t s = 0; s < plan.sequences; ++s)
    needed += plan.neededPages(s);
  PageMap references;
  SlotSet written;
  if (!references.init(plan.pages, needed) || !written.init(plan.queries))
    return outOfMemory(needed + plan.queries);
  for (uint32_t s = 0; s < plan.sequences; ++s)
    for (uint32_t page : plan.history(s))
      ++references[page];

  for (uint32_t r = 0; r < plan.queries; ++r) {
    uint32_t s = plan.sequenceIds()[r], position = plan.positions()[r];
    uint32_t length = plan.lengths()[s];
    if (position >= length)
      return {
          RUDNN_WRITE_OUTSIDE_LENGTH,
          text(
              "row %u: position is %u; a row that is written must be below %u, "
              "the length of sequence %u",
              r, position, length, s)};
    uint32_t page = plan.table(s)[position / plan.pageSize];
    if (references[page] != 1)
      return {
          RUDNN_WRITE_SHARED_PAGE,
          text(
              "row %u: page %u of sequence %u stands in %u histories; a shared "
              "prefix must be copied before it is written",
              r, page, s, references[page])};
    if (!written.insert(uint64_t(page) * plan.pageSize +
                        position % plan.pageSize))
      return {
          RUDNN_WRITE_DUPLICATE_SLOT,
          text(
              "row %u: position %u of sequence %u is written by an earlier row",
              r, position, s)};
  }
  return {};
}
