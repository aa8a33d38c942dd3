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

/// NVIDIA's tuning guides: multiprocessors of A100, A10/RTX 3090 (86), L40S,
/// H100/H200 (SXM), and 1 KiB less than the shared memory of a multiprocessor.
static constexpr Machine kMachines[] = {
    {"sm_80", /*hasWgmma=*/false, 108, 163 << 10},
    {"sm_86", /*hasWgmma=*/false, 84, 99 << 10},
    {"sm_89", /*hasWgmma=*/false, 142, 99 << 10},
    {"sm_90", /*hasWgmma=*/false, 132, kMaxSharedBytes},
    {"sm_90a", /*hasWgmma=*/true, 132, kMaxSharedBytes},
};

std::optional<Machine> rudnn::tile::getMachine(StringRef chip) {
  for (const Machine &machine : kMachines)
    if (machine.chip == chip)
      return machine;
  return std::nullopt;
}

std::string rudnn::tile::uniqueKernelName(gpu::GPUModuleOp kernels,
                                          StringRef base) {
  std::string name = base.str();
  for (unsigned i = 1; SymbolTable::lookupSymbolIn(kernels, name); ++i)
    name = base.str() + "_" + std::to_string(i);
  return name;
}

gpu::LaunchOp rudnn::tile::beginLaunch(KernelBuilder &k, Value blocks,
                                       int64_t threads) {
  Value one = k.index(1);
  auto launch = gpu::LaunchOp::create(k.b, k.loc, blocks, one, one,
                                      k.index(threads), one, one);
  k.b.setInsertionPointToEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(k.b, k.loc);
  k.b.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

/// Rows of a bulk copy may lie apart, at multiples of 16 bytes.
static bool isBulkOperand(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return false;
  auto aligned = [&](int64_t elements) {
    return !ShapedType::isDynamic(elements) &&
           elements * type.getElementTypeBitWidth() % 128 == 0;
  };
  strides.pop_back();
  return aligned(offset) && llvm::all_of(strides, aligned);
}

/// Kernels of rows and products go through dense buffers: an operand that is a
/// part of a larger one is copied before, a result after.
static void makeDense(DestinationStyleOpInterface op) {
  auto gemm = dyn_cast<GemmOp>(*op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    bool bulk = gemm && (operand.get() == gemm.getA() || operand.get() == gemm.getB());
    if (!type || type.getLayout().isIdentity() || (bulk && isBulkOperand(type)))
      continue;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value part = operand.get();
    SmallVector<Value> sizes;
    for (auto [d, extent] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(extent))
        sizes.push_back(memref::DimOp::create(b, loc, part, d));
    auto denseType = MemRefType::get(type.getShape(), type.getElementType());
    Value dense = memref::AllocOp::create(b, loc, denseType, sizes);
    operand.set(dense);
    if (op.isDpsInit(&operand)) {
      b.setInsertionPointAfter(op);
      memref::CopyOp::create(b, loc, dense, part);
    } else {
      memref::CopyOp::create(b, loc, part, dense);
    }
  }
}

namespace {
struct Schedule : rudnn::impl::RudnnScheduleBase<Schedule> {
  using RudnnScheduleBase::RudnnScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (hasSchedule(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    std::optional<Machine> machine = getMachine(chip);
    if (!machine) {
      InFlightDiagnostic error = module.emitError("rudnn-schedule: chip is '")
                                 << chip << "', supported: ";
      llvm::interleaveComma(kMachines, error,
                            [&](const Machine &m) { error << m.chip; });
      return signalPassFailure();
    }
    gpu::GPUModuleOp kernels = makeKernelModule(module);
    for (Operation *op : ops)
      if (failed(schedule(op, kernels, *machine)))
        return signalPassFailure();
  }

  static LogicalResult schedule(Operation *op, gpu::GPUModuleOp kernels,
                                const Machine &machine) {
    if (op->getNumResults() != 0)
      return op->emitOpError("must be on memrefs (bufferize first)");
    std::string why;
    const ScheduleRow *row = findSchedule(op, machine, why);
    if (!row)
      return op->emitOpError("the ")
             << machine.chip << " schedule does not apply: " << why;
    // The others go by the strides of their operands.
    if (isa<GemmOp>(op) ? row->needsWgmma : !isa<rudnn::AttentionOp>(op))
      makeDense(cast<DestinationStyleOpInterface>(op));
    return row->schedule(op, kernels, machine);
  }

  gpu::GPUModuleOp makeKernelModule(ModuleOp module) {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    return gpu::GPUModuleOp::create(b, module.getLoc(), "rudnn_kernels");
  }
};
} // namespace
