//===- SplitWorkspace.cpp - Partial results of split attention -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/SplitWorkspace.h"

#include "Support.h"

#include <algorithm>

using namespace rudnn;

Result<uint64_t> SplitWorkspace::requiredBytes(const SplitShape &shape) {
  if (shape.splits < 2 || shape.splits > 32)
    return {RUDNN_SPLIT_COUNT,
            text("splits is %llu; it must be 2 to 32", ull(shape.splits))};
  if (shape.heads == 0)
    return {RUDNN_SPLIT_HEADS, "heads is 0; it must be at least 1"};
  if (shape.headDim == 0 || shape.headDim > 1024)
    return {RUDNN_SPLIT_HEAD_DIM,
            text("head_dim is %llu; it must be 1 to 1024", ull(shape.headDim))};
  uint64_t elements;
  bool overflow = __builtin_mul_overflow(shape.rows, shape.heads, &elements);
  overflow |= __builtin_mul_overflow(
      elements, shape.splits * (shape.headDim + 2), &elements);
  if (overflow || elements > kU32Max || shape.rows > kU32Max ||
      shape.heads > kU32Max)
    return {RUDNN_SPLIT_ELEMENTS, text("%llu rows, %llu heads, %llu splits and "
                                       "head_dim %llu have more than "
                                       "4294967295 elements",
                                       ull(shape.rows), ull(shape.heads),
                                       ull(shape.splits), ull(shape.headDim))};
  uint64_t bytes = 4 * elements;
  if (bytes > kMaxBytes)
    return {RUDNN_SPLIT_BYTES,
            text("%llu rows, %llu heads, %llu splits and head_dim %llu need "
                 "%llu bytes; "
                 "at most %llu are allowed",
                 ull(shape.rows), ull(shape.heads), ull(shape.splits),
                 ull(shape.headDim), ull(bytes), ull(kMaxBytes))};
  return bytes;
}

Result<SplitWorkspace> SplitWorkspace::create(std::shared_ptr<Device> device,
                                              Queue queue,
                                              const SplitShape &shape) {
  auto bytes = requiredBytes(shape);
  if (!bytes)
    return bytes.status();
  GridLimits grid = device->gridLimits();
  auto beyond = [&](const char *what, uint64_t value, const char *axis,
                    uint32_t limit) -> Status {
    return {RUDNN_SPLIT_GRID,
            text("%s is %llu; the %s axis of a launch on %s has at most %u",
                 what, ull(value), axis, device->name().c_str(), limit)};
  };
  if (shape.rows > grid.x)
    return beyond("rows", shape.rows, "x", grid.x);
  if (shape.heads > grid.y)
    return beyond("heads", shape.heads, "y", grid.y);
  if (shape.splits > grid.z)
    return beyond("splits", shape.splits, "z", grid.z);
  auto buffer = DeviceBuffer::allocate(std::move(device), *bytes);
  if (!buffer)
    return buffer.status();
  SplitWorkspace workspace;
  workspace.madeFor = shape;
  workspace.queue = queue;
  workspace.buffer = *std::move(buffer);
  return workspace;
}

Status SplitWorkspace::matches(const Device &device, Queue wanted,
                               const SplitShape &shape) const {
  auto differs = [](const char *what, uint64_t have, uint64_t want) -> Status {
    return {RUDNN_SPLIT_MISMATCH,
            text("the split workspace was made for %s %llu, not %llu", what,
                 ull(have), ull(want))};
  };
  if (shape.rows != madeFor.rows)
    return differs("rows", madeFor.rows, shape.rows);
  if (shape.heads != madeFor.heads)
    return differs("heads", madeFor.heads, shape.heads);
  if (shape.headDim != madeFor.headDim)
    return differs("head_dim", madeFor.headDim, shape.headDim);
  if (shape.splits != madeFor.splits)
    return differs("splits", madeFor.splits, shape.splits);
  if (&device != buffer.device().get())
    return {RUDNN_SPLIT_MISMATCH,
            text("the split workspace was made for %s, not %s",
                 buffer.device()->name().c_str(), device.name().c_str())};
  if (wanted != queue)
    return {RUDNN_SPLIT_MISMATCH,
            "the split workspace was made for another queue"};
  return {};
}

TokenRange SplitWorkspace::partition(uint32_t visible, uint32_t splits,
                                     uint32_t split) {
  uint32_t base = visible / splits, extra = visible % splits;
  uint32_t begin = split * base + std::min(split, extra);
  return {begin, begin + base + (split < extra)};
}
