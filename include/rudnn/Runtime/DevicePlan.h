//===- DevicePlan.h - A plan's words on a device -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One upload per schedule. All layers, whatever their heads, use the same
// words, and a decode step that only moves on by one token needs no upload:
//
//   auto plan = rudnn::DevicePlan::upload(hostPlan, device, stream);
//   for (;;) {
//     append and attend with plan->words();
//     if (rudnn::Status s = plan->advance(1); !s)
//       break;  // s names the sequence whose table is full
//   }
//
// The host keeps a mirror of the words, so that rules are checked without
// reading device memory. const members may be called by several threads at the
// same time; advance needs the plan for itself.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_DEVICEPLAN_H
#define RUDNN_RUNTIME_DEVICEPLAN_H

#include "rudnn/Runtime/Device.h"
#include "rudnn/Runtime/HostPlan.h"

namespace rudnn {

struct DevicePlanMirror;

class DevicePlan {
public:
  /// Copies the plan's words to `device` in the order of `queue`.
  /// RUDNN_OUT_OF_MEMORY, RUDNN_DRIVER_ERROR.
  static Result<DevicePlan> upload(const HostPlan &plan,
                                   std::shared_ptr<Device> device,
                                   Queue queue = nullptr);

  DevicePlan(DevicePlan &&) noexcept;
  DevicePlan &operator=(DevicePlan &&) noexcept;
  ~DevicePlan();

  /// Moves every row on by `steps` tokens: its position and, once, the length
  /// of its sequence. Sequences without rows stay. Nothing is uploaded or
  /// downloaded.
  ///
  /// Checked on the mirror before anything changes; the first failing sequence
  /// in order is reported: its history is empty (RUDNN_ADVANCE_EMPTY_HISTORY:
  /// its rows would stand outside of it); its length would exceed 2^32 - 1
  /// (RUDNN_ADVANCE_OVERFLOW); its table has no page for the new length
  /// (RUDNN_ADVANCE_CAPACITY); the page that its table has is in the history
  /// already (RUDNN_ADVANCE_PAGE_REPEATED). What was valid before stays valid.
  Status advance(uint32_t steps = 1);

  /// The two halves of advance, for CUDA graphs: capture advanceDevice once,
  /// then per replay call advanceHost and, when it succeeds, launch the graph.
  Status advanceHost(uint32_t steps = 1);
  /// Launches in the order of `queue`; checks nothing.
  Status advanceDevice(uint32_t steps, Queue queue);

  /// The rules of HostPlan::validateWrites for the present positions.
  Status validateWrites() const { return rudnn::validateWrites(view()); }

  /// The present state, in host memory.
  const PlanView &view() const;
  /// The present state as a plan of its own, which later calls do not change.
  Result<HostPlan> snapshot() const;

  /// The words on the device, laid out as PlanView::words. The address is
  /// fixed.
  const uint32_t *words() const {
    return static_cast<uint32_t *>(buffer.data());
  }
  const std::shared_ptr<Device> &device() const { return buffer.device(); }
  Queue queue() const { return madeFor; }

private:
  DevicePlan();
  Status checkAdvance(uint32_t steps) const;
  std::unique_ptr<DevicePlanMirror> mirror;
  DeviceBuffer buffer; ///< The words, then one `queried` word per sequence.
  Queue madeFor = nullptr;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_DEVICEPLAN_H
