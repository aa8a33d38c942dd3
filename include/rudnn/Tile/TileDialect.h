//===- TileDialect.h - The kernel dialect -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_TILEDIALECT_H
#define RUDNN_TILE_TILEDIALECT_H

#include "rudnn/Tile/Layout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace rudnn::tile {

/// Marks ops that all threads of a warp must run together.
template <typename ConcreteType>
struct WarpCollective
    : mlir::OpTrait::TraitBase<ConcreteType, WarpCollective> {};

/// Threads of a warp group.
inline constexpr int64_t kGroupThreads = 128;
/// Shared memory of one block on sm_90 (227 KiB), and registers of one SM.
inline constexpr int64_t kMaxSharedBytes = 232448;
inline constexpr int64_t kRegisterFile = 65536;

/// A memref in `#rudnn_tile.shared`; one in global memory.
bool isSharedTile(mlir::Type type);
bool isGlobalBuffer(mlir::Type type);

/// What may stand in the epilogue of a gemm: scalar float code that every
/// schedule of a product can compute in f32.
bool isEpilogueOp(mlir::Operation *op);

} // namespace rudnn::tile

#include "rudnn/TileDialect.h.inc"
#include "rudnn/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "rudnn/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "rudnn/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "rudnn/TileOps.h.inc"
#define GET_OP_CLASSES
#include "rudnn/TileHostOps.h.inc"
#define GET_OP_CLASSES
#include "rudnn/TileMmaOps.h.inc"

namespace rudnn::tile {
/// The swizzle of a shared tile in bytes, 0 for none.
unsigned getSwizzle(mlir::MemRefType type);
/// Bytes of a static memref or box.
int64_t getBytes(mlir::ShapedType type);
} // namespace rudnn::tile

#endif // RUDNN_TILE_TILEDIALECT_H
