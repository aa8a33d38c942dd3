//===- DescribeKernels.cpp - What the host code launches -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"
#include "rudnn/Tile/TileDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNDESCRIBEKERNELS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

/// Extents as an array attribute, -1 where the extent is known at run time only.
DenseI64ArrayAttr extents(MLIRContext *context, ArrayRef<Value> values) {
  SmallVector<int64_t> known;
  for (Value value : values)
    known.push_back(getConstantIntValue(value).value_or(-1));
  return DenseI64ArrayAttr::get(context, known);
}

struct DescribeKernels
    : public rudnn::impl::RudnnDescribeKernelsBase<DescribeKernels> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Attribute> launches;
    getOperation().walk([&](Operation *op) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        launches.push_back(describe(launch));
      else if (auto launch = dyn_cast<rudnn::tile::LaunchOp>(op))
        launches.push_back(describe(launch));
    });
    getOperation()->setAttr("rudnn.kernels",
                            ArrayAttr::get(&getContext(), launches));
  }

private:
  Attribute describe(gpu::LaunchFuncOp op) {
    gpu::KernelDim3 grid = op.getGridSizeOperandValues();
    gpu::KernelDim3 block = op.getBlockSizeOperandValues();
    Builder b(&getContext());
    int64_t shared = 0;
    if (Value bytes = op.getDynamicSharedMemorySize())
      shared = getConstantIntValue(bytes).value_or(-1);
    return row(op.getKernel(), "fallback",
               extents(&getContext(), {grid.x, grid.y, grid.z}),
               extents(&getContext(), {block.x, block.y, block.z}),
               b.getDenseI64ArrayAttr({1, 1, 1}), shared, op.getLoc());
  }

  Attribute describe(rudnn::tile::LaunchOp op) {
    Builder b(&getContext());
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(op, op.getKernel());
    auto dims = [&](StringRef name) {
      SmallVector<int64_t> result(3, 1);
      auto values =
          kernel ? kernel->getAttrOfType<DenseI32ArrayAttr>(name) : nullptr;
      if (values)
        llvm::copy(values.asArrayRef(), result.begin());
      return b.getDenseI64ArrayAttr(result);
    };
    bool required = kernel && kernel->hasAttr(NVVM::NVVMDialect::getReqntidAttrName());
    auto shared = kernel ? kernel->getAttrOfType<IntegerAttr>("rudnn.shared_bytes")
                         : nullptr;
    return row(op.getKernel(), "schedule",
               extents(&getContext(), {op.getX(), op.getY(), op.getZ()}),
               dims(required ? NVVM::NVVMDialect::getReqntidAttrName()
                             : NVVM::NVVMDialect::getMaxntidAttrName()),
               dims(NVVM::NVVMDialect::getClusterDimAttrName()),
               shared ? shared.getInt() : 0, op.getLoc());
  }

  Attribute row(SymbolRefAttr kernel, StringRef strategy, DenseI64ArrayAttr grid,
                DenseI64ArrayAttr block, DenseI64ArrayAttr cluster, int64_t shared,
                Location loc) {
    Builder b(&getContext());
    NamedAttribute fields[] = {
        b.getNamedAttr("block", block),
        b.getNamedAttr("cluster", cluster),
        b.getNamedAttr("grid", grid),
        b.getNamedAttr("kernel", kernel),
        b.getNamedAttr("location", LocationAttr(loc)),
        b.getNamedAttr("shared", b.getI64IntegerAttr(shared)),
        b.getNamedAttr("strategy", b.getStringAttr(strategy))};
    return b.getDictionaryAttr(fields);
  }
};

} // namespace
