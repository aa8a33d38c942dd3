//===- PlanData.h - What a HostPlan points to -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_PLANDATA_H
#define RUDNN_RUNTIME_PLANDATA_H

#include "Support.h"
#include "rudnn/Runtime/HostPlan.h"

namespace rudnn {

struct HostPlanData {
  HostArray<uint32_t> words;
  PlanView view;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_PLANDATA_H
