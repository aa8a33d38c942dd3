//===- FakeDevice.h - A device that counts and fails on demand -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TEST_RUNTIME_FAKEDEVICE_H
#define RUDNN_TEST_RUNTIME_FAKEDEVICE_H

#include "rudnn/Runtime/Device.h"

namespace rudnn::test {

/// The host device behind another identity.
class FakeDevice final : public Device {
public:
  int uploads = 0, advances = 0, copies = 0, scatters = 0;
  size_t room = SIZE_MAX;
  size_t allocated = 0;
  bool failAdvance = false, failCopy = false;
  GridLimits limits;

  DeviceKind kind() const override { return DeviceKind::Host; }
  int ordinal() const override { return 1; }
  std::string name() const override { return "fake"; }
  GridLimits gridLimits() const override { return limits; }
  Result<void *> allocate(size_t bytes) override {
    if (bytes > room)
      return {RUDNN_OUT_OF_MEMORY,
              "fake: no memory for " + std::to_string(bytes) + " bytes"};
    allocated += bytes;
    return host->allocate(bytes);
  }
  void deallocate(void *memory) override { host->deallocate(memory); }
  Status upload(void *target, const void *source, size_t bytes,
                Queue queue) override {
    ++uploads;
    return host->upload(target, source, bytes, queue);
  }
  Status download(void *target, const void *source, size_t bytes,
                  Queue queue) override {
    return host->download(target, source, bytes, queue);
  }
  Status copy(void *target, const void *source, size_t bytes,
              Queue queue) override {
    ++copies;
    if (failCopy)
      return {RUDNN_DRIVER_ERROR, "fake: copy failed"};
    return host->copy(target, source, bytes, queue);
  }
  Status synchronize(Queue queue) override { return host->synchronize(queue); }
  Status advance(uint32_t *words, const uint32_t *queried, uint32_t queries,
                 uint32_t sequences, uint32_t steps, Queue queue) override {
    ++advances;
    if (failAdvance)
      return {RUDNN_DRIVER_ERROR, "fake: launch failed"};
    return host->advance(words, queried, queries, sequences, steps, queue);
  }
  Status scatterRows(const ScatterRows &scatter, Queue queue) override {
    ++scatters;
    return host->scatterRows(scatter, queue);
  }

private:
  std::shared_ptr<Device> host = Device::host();
};

} // namespace rudnn::test

#endif // RUDNN_TEST_RUNTIME_FAKEDEVICE_H
