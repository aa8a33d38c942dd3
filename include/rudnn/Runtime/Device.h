//===- Device.h - Where metadata, workspaces and caches live -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two back ends with one interface: the host, for artifacts compiled for the
// CPU and for tests, and CUDA. The CUDA driver (libcuda.so.1, or the path in
// RUDNN_CUDA_DRIVER) is opened when a CUDA device is first asked for, so that a
// program that links the runtime starts on a machine without it.
//
// Queues. Work is ordered by queues: a CUstream on CUDA, ignored by the host,
// where every call is done when it returns. nullptr is the default stream.
// Plans and workspaces remember the queue that they were made for.
//
// A Device may be used by several threads at the same time.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_DEVICE_H
#define RUDNN_RUNTIME_DEVICE_H

#include "rudnn/Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace rudnn {

enum class DeviceKind : int32_t { Host = 0, Cuda = 1 };

/// A CUstream, or nullptr.
using Queue = void *;

/// The largest launch grid. The host reports CUDA's, so that what is refused
/// does not depend on the back end.
struct GridLimits {
  uint32_t x = 0x7FFFFFFF, y = 65535, z = 65535;
};

/// Writes rows into the slots of a paged cache, see Device::scatterRows.
/// Pointers are the device's.
struct ScatterRows {
  const uint32_t *words; ///< PlanView::words.
  uint32_t pageSize, sequences, queries, tableWidth;
  uint64_t rowBytes; ///< Of one token, all heads.
  const void *rows;  ///< [queries] rows.
  void *cache;       ///< [pages, pageSize] rows.
};

class Device {
public:
  virtual ~Device();

  /// The host. One object per process.
  static std::shared_ptr<Device> host();

  /// CUDA device `ordinal` with its primary context, which the runtime API and
  /// frameworks use as well. The same object for the same ordinal.
  /// RUDNN_UNAVAILABLE without a driver or such a device.
  static Result<std::shared_ptr<Device>> cuda(int ordinal);

  /// Number of CUDA devices; 0 without a driver.
  static int cudaCount();

  virtual DeviceKind kind() const = 0;
  virtual int ordinal() const = 0;
  /// "host" or "cuda:N".
  virtual std::string name() const = 0;
  virtual GridLimits gridLimits() const { return {}; }

  /// At least `bytes` bytes, aligned to 256. 0 bytes give a pointer that may
  /// not be read. RUDNN_OUT_OF_MEMORY when there is no room.
  virtual Result<void *> allocate(size_t bytes) = 0;
  /// Of a pointer from allocate(), nullptr is fine. Waits for the device's
  /// work.
  virtual void deallocate(void *memory) = 0;

  /// Copies host memory to the device, in the order of `queue`. `source` may be
  /// reused when the call returns.
  virtual Status upload(void *target, const void *source, size_t bytes,
                        Queue queue) = 0;
  /// Copies device memory to the host; done when the call returns.
  virtual Status download(void *target, const void *source, size_t bytes,
                          Queue queue) = 0;
  /// Copies within the device, in the order of `queue`. No overlap.
  virtual Status copy(void *target, const void *source, size_t bytes,
                      Queue queue) = 0;
  /// Waits for everything in `queue`.
  virtual Status synchronize(Queue queue) = 0;

  /// Adds `steps` to the `queries` positions and to the lengths of the
  /// sequences whose `queried` word is 1. One launch, no host memory read: may
  /// be captured in a CUDA graph.
  virtual Status advance(uint32_t *words, const uint32_t *queried,
                         uint32_t queries, uint32_t sequences, uint32_t steps,
                         Queue queue) = 0;

  /// Copies row r to slot position % pageSize of page table[position /
  /// pageSize] of its sequence, bit for bit. The plan must be validated and
  /// writable.
  virtual Status scatterRows(const ScatterRows &scatter, Queue queue) = 0;
};

/// Device memory with shared ownership: copies of a handle share it, the last
/// one frees it.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  static Result<DeviceBuffer> allocate(std::shared_ptr<Device> device,
                                       size_t bytes);
  /// Memory of someone else, for example of a framework: `release(context)` is
  /// called when the last handle goes; it may be null.
  static DeviceBuffer wrap(std::shared_ptr<Device> device, void *data,
                           size_t bytes, void (*release)(void *),
                           void *context);

  explicit operator bool() const { return block != nullptr; }
  void *data() const { return block ? block->data : nullptr; }
  size_t size() const { return block ? block->bytes : 0; }
  const std::shared_ptr<Device> &device() const;
  /// Whether this is the only handle. Handles of one buffer must not be copied
  /// by another thread meanwhile.
  bool unique() const { return block.use_count() == 1; }
  friend bool operator==(const DeviceBuffer &a, const DeviceBuffer &b) {
    return a.block == b.block;
  }

private:
  struct Block {
    std::shared_ptr<Device> device;
    void *data = nullptr;
    size_t bytes = 0;
    void (*release)(void *) = nullptr;
    void *context = nullptr;
    bool owned = false;
    ~Block();
  };
  std::shared_ptr<Block> block;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_DEVICE_H
