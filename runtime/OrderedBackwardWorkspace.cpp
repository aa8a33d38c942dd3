//===- OrderedBackwardWorkspace.cpp - Repeatable paged backward -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/OrderedBackwardWorkspace.h"

#include "Support.h"

#include <algorithm>
#include <cstring>

using namespace rudnn;

static constexpr uint32_t kBlockRows = 32;

//===----------------------------------------------------------------------===//
// Index
//===----------------------------------------------------------------------===//

/// Rows per sequence.
static std::vector<uint32_t> countRows(const PlanView &plan) {
  std::vector<uint32_t> rows(plan.sequences, 0);
  for (uint32_t s : plan.sequenceIds())
    ++rows[s];
  return rows;
}

uint64_t OrderedIndex::wordCount(const PlanView &plan) {
  uint64_t links = 0, blocks = 0;
  std::vector<uint32_t> rows = countRows(plan);
  for (uint32_t s = 0; s < plan.sequences; ++s) {
    links += rows[s] ? plan.neededPages(s) : 0;
    blocks += ceilDiv(rows[s], kBlockRows);
  }
  return (uint64_t(plan.pages) + 4) + (4 * uint64_t(plan.sequences) + 2) +
         plan.queries + 2 * links + blocks;
}

/// Page offsets and links, by counting: the order of the visits is kept per
/// page.
static void fillLinks(const PlanView &plan, const std::vector<uint32_t> &rows,
                      uint32_t *offsets, uint32_t *links) {
  std::fill_n(offsets, uint64_t(plan.pages) + 1, 0);
  for (uint32_t s = 0; s < plan.sequences; ++s)
    if (rows[s])
      for (uint32_t page : plan.history(s))
        ++offsets[page + 1];
  for (uint64_t page = 0; page < plan.pages; ++page)
    offsets[page + 1] += offsets[page];
  std::vector<uint32_t> next(offsets, offsets + plan.pages);
  for (uint32_t s = 0; s < plan.sequences; ++s) {
    if (!rows[s])
      continue;
    uint32_t logical = 0;
    for (uint32_t page : plan.history(s)) {
      uint32_t at = next[page]++;
      links[2 * uint64_t(at)] = s;
      links[2 * uint64_t(at) + 1] = logical++;
    }
  }
}

Result<std::vector<uint32_t>> OrderedIndex::build(const PlanView &plan,
                                                  uint64_t maxWords) {
  uint64_t count = wordCount(plan);
  if (count > maxWords)
    return {
        RUDNN_ORDERED_INDEX,
        text(
            "the index of %u pages, %u sequences and %u rows needs %llu words; "
            "%llu are left",
            plan.pages, plan.sequences, plan.queries, ull(count),
            ull(maxWords))};
  std::vector<uint32_t> words(count);
  std::vector<uint32_t> rows = countRows(plan);
  uint64_t linkCount = 0;
  for (uint32_t s = 0; s < plan.sequences; ++s)
    linkCount += rows[s] ? plan.neededPages(s) : 0;

  uint32_t *pageOffsets = words.data() + 3;
  uint32_t *links = pageOffsets + plan.pages + 1;
  uint32_t *sequenceOffsets = links + 2 * linkCount;
  uint32_t *rowIds = sequenceOffsets + plan.sequences + 1;
  uint32_t *monotonic = rowIds + plan.queries;
  uint32_t *maxPosition = monotonic + plan.sequences;
  uint32_t *blockOffsets = maxPosition + plan.sequences;
  uint32_t *blockMaxima = blockOffsets + plan.sequences + 1;
  words[0] = uint32_t(links - words.data());
  words[1] = uint32_t(sequenceOffsets - words.data());
  words[2] = uint32_t(rowIds - words.data());

  fillLinks(plan, rows, pageOffsets, links);

  for (uint32_t s = 0; s < plan.sequences; ++s) {
    sequenceOffsets[s + 1] = sequenceOffsets[s] + rows[s];
    blockOffsets[s + 1] =
        blockOffsets[s] + uint32_t(ceilDiv(rows[s], kBlockRows));
    monotonic[s] = 1;
  }
  std::vector<uint32_t> filled(plan.sequences, 0), last(plan.sequences, 0);
  for (uint32_t r = 0; r < plan.queries; ++r) {
    uint32_t s = plan.sequenceIds()[r], position = plan.positions()[r];
    uint32_t i = filled[s]++;
    rowIds[sequenceOffsets[s] + i] = r;
    if (i > 0 && position < last[s])
      monotonic[s] = 0;
    last[s] = position;
    maxPosition[s] = std::max(maxPosition[s], position);
    uint32_t &block = blockMaxima[blockOffsets[s] + i / kBlockRows];
    block = std::max(block, position);
  }
  return words;
}

Result<HistoryCompaction> HistoryCompaction::build(const PlanView &plan,
                                                   uint64_t maxWords) {
  if (plan.pages > maxWords)
    return {RUDNN_ORDERED_COMPACTION,
            text("the compaction map of %u pages needs %u words; %llu are left",
                 plan.pages, plan.pages, ull(maxWords))};
  std::vector<bool> reached(plan.pages, false);
  std::vector<uint32_t> rows = countRows(plan);
  for (uint32_t s = 0; s < plan.sequences; ++s)
    if (rows[s])
      for (uint32_t page : plan.history(s))
        reached[page] = true;
  HistoryCompaction out;
  out.map.reserve(plan.pages);
  for (bool wanted : {true, false}) {
    for (uint32_t page = 0; page < plan.pages; ++page)
      if (reached[page] == wanted)
        out.map.push_back(page);
    if (wanted)
      out.active = uint32_t(out.map.size());
  }
  out.inactive = plan.pages - out.active;
  return out;
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

static Status readSwitch(const char *name, bool &value) {
  const char *setting = std::getenv(name);
  if (!setting || std::strcmp(setting, "0") == 0) {
    value = false;
    return {};
  }
  if (std::strcmp(setting, "1") == 0) {
    value = true;
    return {};
  }
  return {
      RUDNN_ORDERED_ENVIRONMENT,
      text("the environment variable %s is \"%s\"; it must be unset, 0 or 1",
           name, setting)};
}

static Result<DeviceBuffer> uploaded(const std::shared_ptr<Device> &device,
                                     const std::vector<uint32_t> &words,
                                     Queue queue) {
  auto buffer = DeviceBuffer::allocate(device, words.size() * sizeof(uint32_t));
  if (!buffer)
    return buffer.status();
  if (Status status = device->upload(buffer->data(), words.data(),
                                     words.size() * sizeof(uint32_t), queue);
      !status)
    return status;
  return buffer;
}

/// The checks that a shape and a place must pass.
static Status checkQuery(const PlanView &plan, std::span<const int64_t> q) {
  if (q.size() != 3)
    return {
        RUDNN_ORDERED_RANK,
        text("q has rank %zu; it must be [rows, heads, head_dim]", q.size())};
  if (q[0] != int64_t(plan.queries))
    return {RUDNN_ORDERED_ROWS,
            text("q has %lld rows, the plan has %u",
                 static_cast<long long>(q[0]), plan.queries)};
  if (q[1] <= 0)
    return {RUDNN_ORDERED_HEADS,
            text("q has %lld heads; it must have at least 1",
                 static_cast<long long>(q[1]))};
  return {};
}

/// Number of f32 statistics.
static Result<uint64_t> countStatistics(uint64_t rows, uint64_t heads) {
  uint64_t count;
  bool overflow = __builtin_mul_overflow(rows, heads, &count);
  overflow |= __builtin_mul_overflow(count, 3, &count);
  if (overflow || count > kU32Max || heads > kU32Max ||
      4 * count > OrderedBackwardWorkspace::kMaxBytes)
    return {RUDNN_ORDERED_STATISTICS,
            text("the statistics of %llu rows and %llu heads exceed %llu bytes",
                 ull(rows), ull(heads),
                 ull(OrderedBackwardWorkspace::kMaxBytes))};
  return std::max<uint64_t>(1, count);
}

Result<OrderedBackwardWorkspace> OrderedBackwardWorkspace::create(
    const DevicePlan &plan, std::span<const int64_t> q,
    const std::shared_ptr<Device> &device, Queue queue) {
  if (Status status = checkQuery(plan.view(), q); !status)
    return status;
  if (plan.device() != device)
    return {RUDNN_ORDERED_DEVICE,
            text("q is on %s, the plan on %s", device->name().c_str(),
                 plan.device()->name().c_str())};
  if (plan.queue() != queue)
    return {RUDNN_ORDERED_DEVICE, "q and the plan are on different queues"};
  OrderedOptions options;
  if (Status status =
          readSwitch("RUDNN_PAGED_ORDERED_CACHE_ROWS", options.rowCache);
      !status)
    return status;
  if (Status status = readSwitch("RUDNN_PAGED_ORDERED_COMPACT_HISTORY",
                                 options.compactHistory);
      !status)
    return status;

  auto statistics = countStatistics(plan.view().queries, uint64_t(q[1]));
  if (!statistics)
    return statistics.status();
  auto index = OrderedIndex::build(plan.view(), kMaxBytes / 4 - *statistics);
  if (!index)
    return index.status();
  uint64_t left = kMaxBytes / 4 - *statistics - index->size();
  if (options.compactHistory && plan.view().pages > left)
    return HistoryCompaction::build(plan.view(), left).status();

  auto snapshot = plan.snapshot();
  if (!snapshot)
    return snapshot.status();
  OrderedBackwardWorkspace out(*std::move(snapshot));
  out.heads = uint64_t(q[1]);
  out.device = device;
  out.queue = queue;
  out.opts = options;
  out.opts.compactHistory = false;
  auto stats = DeviceBuffer::allocate(device, *statistics * sizeof(float));
  if (!stats)
    return stats.status();
  out.stats = *std::move(stats);
  auto links = uploaded(device, *index, queue);
  if (!links)
    return links.status();
  out.links = *std::move(links);
  if (Status status = out.setHistoryCompaction(options.compactHistory); !status)
    return status;
  return out;
}

Status OrderedBackwardWorkspace::matches(const DevicePlan &other,
                                         std::span<const int64_t> q,
                                         const Device &onDevice,
                                         Queue onQueue) const {
  auto mismatch = [](std::string what) -> Status {
    return {RUDNN_ORDERED_MISMATCH,
            "the ordered backward workspace was made for " + std::move(what)};
  };
  if (q.size() != 3)
    return mismatch(text("q of rank 3, not %zu", q.size()));
  if (q[0] != int64_t(plan.queryCount()))
    return mismatch(text("%u rows, not %lld", plan.queryCount(),
                         static_cast<long long>(q[0])));
  if (q[1] != int64_t(heads))
    return mismatch(
        text("%llu heads, not %lld", ull(heads), static_cast<long long>(q[1])));
  if (!(plan.view() == other.view()))
    return mismatch("another plan");
  if (&onDevice != device.get() || other.device() != device)
    return mismatch(
        device->name() + ", not " +
        (&onDevice != device.get() ? onDevice.name() : other.device()->name()));
  if (onQueue != queue || other.queue() != queue)
    return mismatch("another queue");
  return {};
}

Status OrderedBackwardWorkspace::setHistoryCompaction(bool on) {
  if (on && !map) {
    auto built = HistoryCompaction::build(plan.view(), (kMaxBytes - bytes()) /
                                                           sizeof(uint32_t));
    if (!built)
      return built.status();
    auto buffer = uploaded(device, built->map, queue);
    if (!buffer)
      return buffer.status();
    map = *std::move(buffer);
    activePages = built->active;
  }
  opts.compactHistory = on;
  return {};
}

std::optional<std::pair<uint32_t, uint32_t>>
OrderedBackwardWorkspace::historyCompactionPages() const {
  if (!map)
    return std::nullopt;
  return std::pair(activePages, plan.pages() - activePages);
}

uint64_t OrderedBackwardWorkspace::bytes() const {
  return stats.size() + links.size() + map.size();
}
