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

#include <functional>

namespace rudnn::tile {

/// What schedules know of a chip.
struct Machine {
  llvm::StringRef chip;
  bool hasWgmma; // wgmma, TMA and register budgets of roles (sm_90a)
  int64_t multiprocessors;
  int64_t sharedBytes; // of one block
};

/// The machine of a chip name, or nothing.
std::optional<Machine> getMachine(llvm::StringRef chip);

/// A schedule: one row of the table in SelectStrategy.cpp.
struct ScheduleRow {
  llvm::StringRef op;
  bool needsWgmma; // else sm_80 and later
  /// Why it can't do an op; empty when it can.
  std::string (*whyNot)(mlir::Operation *, const Machine &);
  llvm::LogicalResult (*schedule)(mlir::Operation *, mlir::gpu::GPUModuleOp,
                                  const Machine &);
};

/// The first schedule of the table that can do an op; null with the first reason in
/// `why`.
const ScheduleRow *findSchedule(mlir::Operation *op, const Machine &machine,
                                std::string &why);
/// Whether the table has the op.
bool hasSchedule(mlir::Operation *op);

/// Why a schedule can't do an op; empty when it can.
/// Of attention and ragged_attention.
std::string whyNotAttention(mlir::Operation *op);
std::string whyNotAttentionMma(mlir::Operation *op, const Machine &machine);
std::string whyNotCombine(MoeCombineOp op);
std::string whyNotDispatch(MoeDispatchOp op);
std::string whyNotExperts(MoeExpertsOp op);
std::string whyNotGemm(GemmOp op);
std::string whyNotGemmMma(GemmOp op, const Machine &machine);
std::string whyNotRoute(MoeRouteOp op);
/// Of rms_norm, layer_norm and softmax.
std::string whyNotRow(mlir::Operation *op);

// sm_90a.
llvm::LogicalResult scheduleAttention(mlir::Operation *op,
                                      mlir::gpu::GPUModuleOp kernels,
                                      const Machine &machine);
llvm::LogicalResult scheduleExperts(MoeExpertsOp op,
                                    mlir::gpu::GPUModuleOp kernels,
                                    const Machine &machine);
llvm::LogicalResult scheduleGemm(GemmOp op, mlir::gpu::GPUModuleOp kernels,
                                 const Machine &machine);
// sm_80 and later.
llvm::LogicalResult scheduleAttentionMma(mlir::Operation *op,
                                         mlir::gpu::GPUModuleOp kernels,
                                         const Machine &machine);
llvm::LogicalResult scheduleGemmMma(GemmOp op, mlir::gpu::GPUModuleOp kernels,
                                    const Machine &machine);
llvm::LogicalResult scheduleCombine(MoeCombineOp op);
llvm::LogicalResult scheduleDispatch(MoeDispatchOp op);
llvm::LogicalResult scheduleRoute(MoeRouteOp op);
llvm::LogicalResult scheduleRow(mlir::Operation *op, mlir::gpu::GPUModuleOp kernels,
                                const Machine &machine);

/// A gemm's epilogue on f32 scalars (the sum and one element of each extra), in
/// a `map` body; and why kernels can't compute it.
mlir::Value buildEpilogue(KernelBuilder &k, GemmOp op, mlir::ValueRange scalars);
std::string whyNotEpilogue(GemmOp op);

/// The table of the row tiles of a grouped product, a memref<?xi32> that a
/// kernel writes: four fields for the table, then four for each tile. The
/// groups' rows follow each other, and a tile has rows of one group only.
struct RowTiles {
  static constexpr int64_t kFields = 4;
  static constexpr int64_t kCount = 0; // of the table: how many tiles there are
  static constexpr int64_t kFirst = 0, kEnd = 1; // first row, end of the group
  /// The number of groups stands for none: rows that become zero.
  static constexpr int64_t kGroup = 2;
};

/// What a kernel of products computes: d = epilogue(a * b, extras...), with f32
/// sums.
struct Product {
  mlir::Location loc;
  std::string name;
  /// [M, K], [K, N] or, with transposeB, [N, K], and [M, N]; all with a leading
  /// dim of batches, or none.
  mlir::Value a, b, d;
  llvm::SmallVector<mlir::Value> extras = {};
  bool transposeB = true;
  /// Takes the sum (the sums of b and of pair), then one element of each extra.
  std::function<mlir::Value(KernelBuilder &, mlir::ValueRange)> epilogue = {};

  // A grouped product: b is [groups, N, K], and a row of a is multiplied with
  // the b of its group.
  mlir::Value groups = {};       // the RowTiles table
  mlir::Value mostRowTiles = {}; // an upper bound of their number
  int64_t tileRows = 128;        // 64 or 128
  mlir::Value pair = {};         // a second right operand, like b
};

/// The width of a product's tiles and the time of a step of the depth in all
/// rounds of the device (relative: 1024 for a tile of 256 columns).
struct TileWidth {
  int64_t columns, time;
};
TileWidth tileWidth(int64_t rows, int64_t columns, int64_t batch,
                    const Machine &machine);

/// Into how many parts the depth of a product is best split (GemmSplit.cpp).
int64_t partsOfDepth(GemmOp op, const Machine &machine);
/// A batch of products of the parts, and a kernel that adds them.
void emitSplitProduct(GemmOp op, int64_t parts, mlir::OpBuilder &b,
                      mlir::gpu::GPUModuleOp kernels, const Machine &machine);

Product productOf(GemmOp op);
/// Builds the kernel of a product on memrefs for sm_90a, and launches it.
void emitProduct(const Product &product, mlir::OpBuilder &b,
                 mlir::gpu::GPUModuleOp kernels, const Machine &machine);

/// The same for sm_80 and later; tiles have 128 rows.
void emitProductMma(const Product &product, mlir::OpBuilder &b,
                    mlir::gpu::GPUModuleOp kernels, const Machine &machine);

/// A kernel of plain code on memrefs: `k` builds in its body from here on.
mlir::gpu::LaunchOp beginLaunch(KernelBuilder &k, mlir::Value blocks,
                                int64_t threads);

/// A kernel name that is free in `kernels`.
std::string uniqueKernelName(mlir::gpu::GPUModuleOp kernels, llvm::StringRef base);

} // namespace rudnn::tile

#endif // RUDNN_PASSES_SCHEDULES_SCHEDULES_H
