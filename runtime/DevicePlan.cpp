//===- DevicePlan.cpp - A plan's words on a device -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/DevicePlan.h"

#include "PlanData.h"

#include <algorithm>
#include <cstring>

using namespace rudnn;

/// The words, then per sequence: whether it has rows, how many table entries it
/// has, and how many of these from the first on are different pages, i.e. how
/// many pages its history can grow to.
struct rudnn::DevicePlanMirror {
  HostArray<uint32_t> words;
  PlanView view;
  uint32_t *positions() { return words.data() + view.queries; }
  uint32_t *lengths() { return positions() + view.queries; }
  const uint32_t *queried() const { return words.data() + view.wordCount(); }
  uint32_t *queried() { return words.data() + view.wordCount(); }
  const uint32_t *entries() const { return queried() + view.sequences; }
  uint32_t *entries() { return queried() + view.sequences; }
  const uint32_t *growth() const { return entries() + view.sequences; }
  uint32_t *growth() { return entries() + view.sequences; }
};

DevicePlan::DevicePlan() = default;
DevicePlan::DevicePlan(DevicePlan &&) noexcept = default;
DevicePlan &DevicePlan::operator=(DevicePlan &&) noexcept = default;
DevicePlan::~DevicePlan() = default;

const PlanView &DevicePlan::view() const { return mirror->view; }

/// Fills `entries` and `growth`. False when there is no memory.
static bool findGrowth(DevicePlanMirror &mirror) {
  const PlanView &view = mirror.view;
  uint64_t looked = 0;
  for (uint32_t s = 0; s < view.sequences; ++s) {
    std::span<const uint32_t> table = view.table(s);
    uint32_t entries = view.neededPages(s);
    while (entries < view.tableWidth && table[entries] != kNoPage)
      ++entries;
    mirror.entries()[s] = mirror.growth()[s] = entries;
    if (entries > view.neededPages(s))
      looked += entries;
  }
  PageMap seen;
  if (!seen.init(looked ? view.pages : 0, looked))
    return false;
  for (uint32_t s = 0; s < view.sequences; ++s) {
    if (mirror.entries()[s] == view.neededPages(s))
      continue;
    std::span<const uint32_t> table = view.table(s);
    for (uint32_t i = 0; i < mirror.entries()[s]; ++i) {
      uint32_t &mark = seen[table[i]];
      if (mark == s + 1) {
        mirror.growth()[s] = i;
        break;
      }
      mark = s + 1;
    }
  }
  return true;
}

Result<DevicePlan> DevicePlan::upload(const HostPlan &plan,
                                      std::shared_ptr<Device> device,
                                      Queue queue) {
  DevicePlan out;
  out.mirror = std::make_unique<DevicePlanMirror>();
  DevicePlanMirror &mirror = *out.mirror;
  const PlanView &view = plan.view();
  uint64_t uploaded = view.wordCount() + view.sequences;
  if (!mirror.words.allocate(uploaded + 2 * uint64_t(view.sequences)))
    return {RUDNN_OUT_OF_MEMORY,
            text("no host memory for a plan of %llu words", ull(uploaded))};
  std::memcpy(mirror.words.data(), view.words, plan.words().size_bytes());
  mirror.view = view;
  mirror.view.words = mirror.words.data();
  std::fill_n(mirror.queried(), view.sequences, 0);
  for (uint32_t s : view.sequenceIds())
    mirror.queried()[s] = 1;
  if (!findGrowth(mirror))
    return {RUDNN_OUT_OF_MEMORY,
            "no host memory to check the spare table entries"};

  auto buffer = DeviceBuffer::allocate(device, uploaded * sizeof(uint32_t));
  if (!buffer)
    return buffer.status();
  if (Status status = device->upload(buffer->data(), mirror.words.data(),
                                     uploaded * sizeof(uint32_t), queue);
      !status)
    return status;
  out.buffer = *std::move(buffer);
  out.madeFor = queue;
  return out;
}

Status DevicePlan::checkAdvance(uint32_t steps) const {
  const PlanView &view = mirror->view;
  std::span<const uint32_t> lengths = view.lengths();
  for (uint32_t s = 0; s < view.sequences; ++s) {
    if (!mirror->queried()[s])
      continue;
    uint64_t length = uint64_t(lengths[s]) + steps;
    if (lengths[s] != 0 && length <= kU32Max &&
        length <= uint64_t(mirror->growth()[s]) * view.pageSize)
      continue;
    if (lengths[s] == 0)
      return {
          RUDNN_ADVANCE_EMPTY_HISTORY,
          text("sequence %u: its length is 0; a row without history cannot be "
               "advanced",
               s)};
    if (length > kU32Max)
      return {RUDNN_ADVANCE_OVERFLOW,
              text("sequence %u: length %u plus %u steps exceeds 4294967295", s,
                   lengths[s], steps)};
    uint64_t need = ceilDiv(length, view.pageSize);
    if (need > mirror->entries()[s])
      return {RUDNN_ADVANCE_CAPACITY,
              text("sequence %u: length %llu needs %llu pages of %u tokens, "
                   "the table "
                   "has %u",
                   s, ull(length), ull(need), view.pageSize,
                   mirror->entries()[s])};
    uint32_t entry = mirror->growth()[s];
    return {RUDNN_ADVANCE_PAGE_REPEATED,
            text("sequence %u: length %llu needs table entry %u, which repeats "
                 "page %u "
                 "of its history",
                 s, ull(length), entry, view.table(s)[entry])};
  }
  return {};
}

Status DevicePlan::advanceHost(uint32_t steps) {
  if (steps == 0)
    return {};
  if (Status status = checkAdvance(steps); !status)
    return status;
  const PlanView &view = mirror->view;
  for (uint32_t r = 0; r < view.queries; ++r)
    mirror->positions()[r] += steps;
  for (uint32_t s = 0; s < view.sequences; ++s)
    mirror->lengths()[s] += steps * mirror->queried()[s];
  return {};
}

Status DevicePlan::advanceDevice(uint32_t steps, Queue queue) {
  const PlanView &view = mirror->view;
  if (steps == 0 || view.queries == 0)
    return {};
  auto *words = static_cast<uint32_t *>(buffer.data());
  return device()->advance(words, words + view.wordCount(), view.queries,
                           view.sequences, steps, queue);
}

Status DevicePlan::advance(uint32_t steps) {
  if (steps == 0)
    return {};
  if (Status status = checkAdvance(steps); !status)
    return status;
  if (Status status = advanceDevice(steps, madeFor); !status)
    return status;
  return advanceHost(steps);
}

Result<HostPlan> DevicePlan::snapshot() const {
  auto data = std::make_shared<HostPlanData>();
  const PlanView &view = mirror->view;
  if (!data->words.allocate(view.wordCount()))
    return {RUDNN_OUT_OF_MEMORY, text("no host memory for a plan of %llu words",
                                      ull(view.wordCount()))};
  std::memcpy(data->words.data(), view.words,
              view.wordCount() * sizeof(uint32_t));
  data->view = view;
  data->view.words = data->words.data();
  return HostPlan(std::shared_ptr<const HostPlanData>(std::move(data)));
}
