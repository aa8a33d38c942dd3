//===- Schedule.cpp - Operators on memrefs to kernels and launches -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "rudnn/Passes.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNSCHEDULE
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn::tile;

std::optional<Machine> rudnn::tile::getMachine(StringRef chip) {
  // H100 and H200 (SXM): 132 multiprocessors.
  if (chip == "sm_90a")
    return Machine{"sm_90a", 132};
  return std::nullopt;
}

std::string rudnn::tile::uniqueKernelName(gpu::GPUModuleOp kernels,
                                          StringRef base) {
  std::string name = base.str();
  for (unsigned i = 1; SymbolTable::lookupSymbolIn(kernels, name); ++i)
    name = base.str() + "_" + std::to_string(i);
  return name;
}

namespace {
struct Schedule : rudnn::impl::RudnnScheduleBase<Schedule> {
  using RudnnScheduleBase::RudnnScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<GemmOp, rudnn::AttentionOp, rudnn::LayerNormOp, rudnn::RmsNormOp,
              rudnn::SoftmaxOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    std::optional<Machine> machine = getMachine(chip);
    if (!machine) {
      module.emitError("rudnn-schedule: chip is '") << chip << "', supported: sm_90a";
      return signalPassFailure();
    }
    gpu::GPUModuleOp kernels = makeKernelModule(module);
    for (Operation *op : ops)
      if (failed(schedule(op, kernels, *machine)))
        return signalPassFailure();
  }

  static LogicalResult schedule(Operation *op, gpu::GPUModuleOp kernels,
                                const Machine &machine) {
    if (auto attention = dyn_cast<rudnn::AttentionOp>(op))
      return scheduleAttention(attention, kernels, machine);
    if (auto gemm = dyn_cast<GemmOp>(op))
      return scheduleGemm(gemm, kernels, machine);
    return scheduleRow(op, kernels, machine);
  }

  gpu::GPUModuleOp makeKernelModule(ModuleOp module) {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    return gpu::GPUModuleOp::create(b, module.getLoc(), "rudnn_kernels");
  }
};
} // namespace
