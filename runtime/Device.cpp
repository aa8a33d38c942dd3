//===- Device.cpp - The host back end and buffers -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Device.h"

#include "Support.h"
#include "rudnn/Runtime/HostPlan.h"

#include <cstring>

using namespace rudnn;

Device::~Device() = default;

namespace {

class HostDevice final : public Device {
public:
  DeviceKind kind() const override { return DeviceKind::Host; }
  int ordinal() const override { return 0; }
  std::string name() const override { return "host"; }

  Result<void *> allocate(size_t bytes) override {
    size_t rounded = bytes <= SIZE_MAX - 255 ? (bytes + 255) / 256 * 256 : 0;
    void *memory = nullptr;
    if (bytes == 0)
      rounded = 256;
    if (rounded != 0)
      memory = std::aligned_alloc(256, rounded);
    if (!memory)
      return {RUDNN_OUT_OF_MEMORY,
              text("host: no memory for %zu bytes", bytes)};
    return memory;
  }
  void deallocate(void *memory) override { std::free(memory); }

  Status upload(void *target, const void *source, size_t bytes,
                Queue) override {
    return move(target, source, bytes);
  }
  Status download(void *target, const void *source, size_t bytes,
                  Queue) override {
    return move(target, source, bytes);
  }
  Status copy(void *target, const void *source, size_t bytes, Queue) override {
    return move(target, source, bytes);
  }
  Status synchronize(Queue) override { return {}; }

  Status advance(uint32_t *words, const uint32_t *queried, uint32_t queries,
                 uint32_t sequences, uint32_t steps, Queue) override {
    uint32_t *positions = words + queries, *lengths = positions + queries;
    for (uint32_t r = 0; r < queries; ++r)
      positions[r] += steps;
    for (uint32_t s = 0; s < sequences; ++s)
      lengths[s] += steps * queried[s];
    return {};
  }

  Status scatterRows(const ScatterRows &in, Queue) override {
    PlanView plan{in.pageSize,   0,       in.sequences, in.queries,
                  in.tableWidth, in.words};
    for (uint32_t r = 0; r < in.queries; ++r) {
      uint32_t position = plan.positions()[r];
      uint32_t page = plan.table(plan.sequenceIds()[r])[position / in.pageSize];
      uint64_t slot = uint64_t(page) * in.pageSize + position % in.pageSize;
      std::memcpy(static_cast<char *>(in.cache) + slot * in.rowBytes,
                  static_cast<const char *>(in.rows) + r * in.rowBytes,
                  in.rowBytes);
    }
    return {};
  }

private:
  static Status move(void *target, const void *source, size_t bytes) {
    if (bytes != 0)
      std::memcpy(target, source, bytes);
    return {};
  }
};

} // namespace

std::shared_ptr<Device> Device::host() {
  // Never destroyed: buffers may outlive static objects.
  static const auto *device =
      new std::shared_ptr<Device>(std::make_shared<HostDevice>());
  return *device;
}

//===----------------------------------------------------------------------===//
// DeviceBuffer
//===----------------------------------------------------------------------===//

DeviceBuffer::Block::~Block() {
  if (owned)
    device->deallocate(data);
  else if (release)
    release(context);
}

Result<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<Device> device,
                                            size_t bytes) {
  auto data = device->allocate(bytes);
  if (!data)
    return data.status();
  DeviceBuffer buffer;
  buffer.block = std::make_shared<Block>();
  buffer.block->device = std::move(device);
  buffer.block->data = *data;
  buffer.block->bytes = bytes;
  buffer.block->owned = true;
  return buffer;
}

DeviceBuffer DeviceBuffer::wrap(std::shared_ptr<Device> device, void *data,
                                size_t bytes, void (*release)(void *),
                                void *context) {
  DeviceBuffer buffer;
  buffer.block = std::make_shared<Block>();
  buffer.block->device = std::move(device);
  buffer.block->data = data;
  buffer.block->bytes = bytes;
  buffer.block->release = release;
  buffer.block->context = context;
  return buffer;
}

const std::shared_ptr<Device> &DeviceBuffer::device() const {
  static const auto *none = new std::shared_ptr<Device>();
  return block ? block->device : *none;
}
