//===- Schedules.h - From operators on memrefs to kernels -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per kernel family: it builds the kernel in `kernels`, replaces the
// op by its launch, and refuses with an error what it does not do. A schedule looks
// only at its own op.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_SCHEDULES_SCHEDULES_H
#define RUDNN_PASSES_SCHEDULES_SCHEDULES_H

#include "rudnn/Rudnn.h"
#include "rudnn/Tile/KernelBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace rudnn::tile {

/// What schedules know of a chip.
struct Machine {
  llvm::StringRef chip;
  int64_t multiprocessors;
};

/// The machine of a chip name (sm_90a), or nothing.
std::optional<Machine> getMachine(llvm::StringRef chip);

/// Why a schedule can't do an op; empty when it can.
std::string whyNotAttention(AttentionOp op);
std::string whyNotGemm(GemmOp op);
/// Of rms_norm, layer_norm and softmax.
std::string whyNotRow(mlir::Operation *op);

llvm::LogicalResult scheduleAttention(AttentionOp op, mlir::gpu::GPUModuleOp kernels,
                                      const Machine &machine);
llvm::LogicalResult scheduleGemm(GemmOp op, mlir::gpu::GPUModuleOp kernels,
                                 const Machine &machine);

llvm::LogicalResult scheduleRow(mlir::Operation *op, mlir::gpu::GPUModuleOp kernels,
                                const Machine &machine);

/// A kernel name that is free in `kernels`.
std::string uniqueKernelName(mlir::gpu::GPUModuleOp kernels, llvm::StringRef base);

} // namespace rudnn::tile

#endif // RUDNN_PASSES_SCHEDULES_SCHEDULES_H
