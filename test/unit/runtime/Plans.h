//===- Plans.h - Plans for tests, and a slow validator -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TEST_RUNTIME_PLANS_H
#define RUDNN_TEST_RUNTIME_PLANS_H

#include "rudnn/Runtime/HostPlan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace rudnn::test {

using U32s = std::vector<uint32_t>;

/// What HostPlan::create gets.
struct Input {
  uint64_t pageSize = 1, pages = 1;
  std::vector<U32s> tables;
  U32s lengths, ids, positions;

  std::vector<std::span<const uint32_t>> spans() const {
    return {tables.begin(), tables.end()};
  }
  Result<HostPlan> create() const {
    auto rows = spans();
    return HostPlan::create(pageSize, pages, rows, lengths, ids, positions);
  }
  uint64_t width() const {
    size_t width = 1;
    for (const U32s &table : tables)
      width = std::max(width, table.size());
    return width;
  }
  U32s packed(uint64_t width) const {
    U32s words = ids;
    words.insert(words.end(), positions.begin(), positions.end());
    words.insert(words.end(), lengths.begin(), lengths.end());
    for (U32s row : tables) {
      row.resize(width, 0xFFFFFFFFu);
      words.insert(words.end(), row.begin(), row.end());
    }
    return words;
  }
};

/// The rules once more, written to be read: no shared code with the runtime.
inline RudnnStatusCode slowCreate(const Input &in) {
  const uint64_t max = 4294967295u;
  if (in.pageSize == 0)
    return RUDNN_PLAN_PAGE_SIZE_ZERO;
  if (in.pages == 0)
    return RUDNN_PLAN_PAGES_ZERO;
  if (in.tables.empty())
    return RUDNN_PLAN_NO_SEQUENCES;
  if (in.lengths.size() != in.tables.size())
    return RUDNN_PLAN_LENGTH_COUNT;
  if (in.positions.size() != in.ids.size())
    return RUDNN_PLAN_POSITION_COUNT;
  if (in.pageSize > max)
    return RUDNN_PLAN_PAGE_SIZE_RANGE;
  if (in.pages > max)
    return RUDNN_PLAN_PAGES_RANGE;
  using Wide = unsigned __int128;
  if (Wide(2) * in.ids.size() + in.tables.size() +
          Wide(in.tables.size()) * in.width() >
      max)
    return RUDNN_PLAN_TOO_LARGE;
  for (size_t s = 0; s < in.tables.size(); ++s) {
    uint64_t need = (in.lengths[s] + in.pageSize - 1) / in.pageSize;
    if (in.tables[s].size() < need)
      return RUDNN_PLAN_TABLE_SHORT;
    for (uint32_t page : in.tables[s])
      if (page >= in.pages)
        return RUDNN_PLAN_PAGE_RANGE;
    std::set<uint32_t> history(in.tables[s].begin(),
                               in.tables[s].begin() + need);
    if (history.size() != need)
      return RUDNN_PLAN_PAGE_REPEATED;
  }
  for (size_t r = 0; r < in.ids.size(); ++r) {
    if (in.ids[r] >= in.tables.size())
      return RUDNN_PLAN_SEQUENCE_ID;
    uint32_t length = in.lengths[in.ids[r]];
    if (length > 0 && in.positions[r] >= length)
      return RUDNN_PLAN_POSITION;
  }
  return RUDNN_OK;
}

inline RudnnStatusCode slowPacked(uint64_t pageSize, uint64_t pages,
                                  uint64_t sequences, uint64_t queries,
                                  uint64_t width, const U32s &words) {
  using Wide = unsigned __int128;
  if (Wide(2) * queries + sequences + Wide(sequences) * width != words.size())
    return RUDNN_PLAN_WORD_COUNT;
  if (sequences == 0)
    return RUDNN_PLAN_NO_SEQUENCES;
  if (width == 0)
    return RUDNN_PLAN_TABLE_WIDTH_ZERO;
  if (pageSize == 0)
    return RUDNN_PLAN_PAGE_SIZE_ZERO;
  Input in{pageSize, pages, {}, {}, {}, {}};
  auto at = words.begin();
  in.ids.assign(at, at + queries);
  in.positions.assign(at + queries, at + 2 * queries);
  in.lengths.assign(at + 2 * queries, at + 2 * queries + sequences);
  for (uint64_t s = 0; s < sequences; ++s) {
    uint64_t need = (in.lengths[s] + pageSize - 1) / pageSize;
    if (need > width)
      return RUDNN_PLAN_TABLE_WIDTH_SHORT;
    auto row = at + 2 * queries + sequences + s * width;
    in.tables.emplace_back(row, row + need);
  }
  return slowCreate(in);
}

/// Of a valid plan.
inline RudnnStatusCode slowWrites(const Input &in) {
  std::map<uint32_t, int> references;
  for (size_t s = 0; s < in.tables.size(); ++s)
    for (size_t i = 0; i * in.pageSize < in.lengths[s]; ++i)
      ++references[in.tables[s][i]];
  std::set<std::pair<uint32_t, uint32_t>> slots;
  for (size_t r = 0; r < in.ids.size(); ++r) {
    uint32_t s = in.ids[r], p = in.positions[r];
    if (p >= in.lengths[s])
      return RUDNN_WRITE_OUTSIDE_LENGTH;
    uint32_t page = in.tables[s][p / in.pageSize];
    if (references[page] > 1)
      return RUDNN_WRITE_SHARED_PAGE;
    if (!slots.insert({page, uint32_t(p % in.pageSize)}).second)
      return RUDNN_WRITE_DUPLICATE_SLOT;
  }
  return RUDNN_OK;
}

/// Random plans and ways to spoil them.
class PlanMaker {
public:
  explicit PlanMaker(uint64_t seed) : random(seed) {}

  /// 0 .. bound - 1.
  uint64_t below(uint64_t bound) { return random() % bound; }
  bool chance(int percent) { return below(100) < uint64_t(percent); }

  /// Always valid. `decode`: one row per sequence at its last token.
  Input valid(bool decode = false) {
    Input in;
    in.pageSize = chance(10) ? 1 + below(4294967295u) : 1 + below(9);
    in.pages = 1 + below(chance(50) ? 6 : 40);
    // Ids of a huge cache: the validator must not need memory for it.
    uint32_t base = 0;
    if (chance(10)) {
      base = uint32_t(4294967295u - in.pages - below(1000));
      in.pages += base;
    }
    uint64_t ids = in.pages - base, sequences = 1 + below(6);
    for (uint64_t s = 0; s < sequences; ++s) {
      U32s pages(ids);
      std::iota(pages.begin(), pages.end(), base);
      std::shuffle(pages.begin(), pages.end(), random);
      uint64_t need = below(std::min<uint64_t>(ids, 8) + 1);
      uint64_t most = std::min<uint64_t>(need * in.pageSize, 4294967295u);
      uint64_t length =
          need == 0 ? 0 : most - below(std::min(most, in.pageSize));
      need = (length + in.pageSize - 1) / in.pageSize;
      pages.resize(need);
      for (uint64_t spare = chance(30) ? below(4) : 0; spare > 0; --spare)
        pages.push_back(uint32_t(base + below(ids)));
      in.tables.push_back(pages);
      in.lengths.push_back(uint32_t(length));
    }
    uint64_t rows = decode ? sequences : below(9);
    for (uint64_t r = 0; r < rows; ++r) {
      uint32_t s = uint32_t(decode ? r : below(sequences)),
               length = in.lengths[s];
      in.ids.push_back(s);
      in.positions.push_back(length == 0 ? uint32_t(random())
                             : decode    ? length - 1
                                         : uint32_t(below(length)));
    }
    return in;
  }

  /// Changes one or two things, mostly for the worse.
  void spoil(Input &in) {
    for (int changes = chance(20) ? 2 : 1; changes > 0; --changes)
      spoilOnce(in);
  }

  std::mt19937_64 random;

private:
  /// Values at and around the limits.
  uint64_t odd() {
    static const uint64_t values[] = {0,           1,           2,
                                      3,           7,           0x7FFFFFFF,
                                      0x80000000,  4294967294u, 4294967295u,
                                      4294967296u, 1ull << 63,  ~0ull};
    return values[below(std::size(values))];
  }
  uint32_t *pick(U32s &values) {
    return values.empty() ? nullptr : &values[below(values.size())];
  }
  void spoilOnce(Input &in) {
    U32s *table =
        in.tables.empty() ? nullptr : &in.tables[below(in.tables.size())];
    switch (below(14)) {
    case 0:
      in.pageSize = odd();
      break;
    case 1:
      in.pages = odd();
      break;
    case 2:
      in.tables.clear();
      break;
    case 3:
      in.lengths.push_back(uint32_t(odd()));
      break;
    case 4:
      if (!in.lengths.empty())
        in.lengths.pop_back();
      break;
    case 5:
      in.positions.push_back(uint32_t(below(3)));
      break;
    case 6:
      in.ids.push_back(uint32_t(below(3)));
      break;
    case 7:
      if (table && !table->empty())
        table->pop_back();
      break;
    case 8:
      if (table && !table->empty())
        *pick(*table) = chance(50) ? uint32_t(in.pages) : uint32_t(odd());
      break;
    case 9:
      if (table && !table->empty())
        *pick(*table) = *pick(*table);
      break;
    case 10:
      if (uint32_t *id = pick(in.ids))
        *id = chance(50) ? uint32_t(in.tables.size()) : uint32_t(odd());
      break;
    case 11:
      if (uint32_t *position = pick(in.positions))
        *position += uint32_t(chance(50) ? 1 : odd());
      break;
    case 12:
      if (uint32_t *length = pick(in.lengths))
        *length += uint32_t(chance(50) ? 1 : odd());
      break;
    case 13:
      if (in.pages > 1)
        in.pages -= 1;
      break;
    }
  }
};

} // namespace rudnn::test

#endif // RUDNN_TEST_RUNTIME_PLANS_H
