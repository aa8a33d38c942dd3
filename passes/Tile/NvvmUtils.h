//===- NvvmUtils.h - What the conversion to NVVM is written with -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_TILE_NVVMUTILS_H
#define RUDNN_PASSES_TILE_NVVMUTILS_H

#include "rudnn/Tile/TileDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace rudnn::tile {

/// Short names for what the patterns emit, at one location.
class Nvvm {
public:
  Nvvm(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(float value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value andi(mlir::Value x, int64_t y);
  mlir::Value shr(mlir::Value x, int64_t y);
  mlir::Value shl(mlir::Value x, int64_t y);
  mlir::Value equal(mlir::Value x, int64_t y);
  /// index (32 bits in kernels) to i32; i32 to i64 without sign.
  mlir::Value toI32(mlir::Value index);
  mlir::Value zext64(mlir::Value x);
  mlir::Value bitcast(mlir::Value x, mlir::Type type);

  // The thread.
  mlir::Value tid();
  mlir::Value lane();
  mlir::Value warpInGroup();
  mlir::Value firstOfGroup();
  /// Tells ptxas that a value is the same in all lanes.
  mlir::Value uniform(mlir::Value x);
  /// Coordinate `dim` of the thread's first element.
  mlir::Value threadCoord(const Layout &layout, unsigned dim);
  /// What the thread's warp adds to coordinate `dim`; null when nothing.
  mlir::Value warpCoord(const Layout &layout, unsigned dim);

  // Memory.
  mlir::Value offset(mlir::Value pointer, int64_t bytes);
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value barrier(mlir::Value ring, RingType type, Barrier which,
                      mlir::Value slot);
  void namedBarrier(mlir::Value id, int64_t threads);
  void namedArrive(mlir::Value id, int64_t threads);

  /// The one place that writes inline assembly. Results have the given types.
  llvm::SmallVector<mlir::Value> assembly(llvm::StringRef text,
                                          llvm::StringRef constraints,
                                          mlir::ValueRange operands,
                                          mlir::TypeRange results,
                                          bool sideEffects = true);
  mlir::Value intrinsic(llvm::StringRef name, mlir::ValueRange operands,
                        mlir::Type result);
  mlir::Value shuffleXor(mlir::Value x, int64_t mask);
  mlir::Value combine(Combine kind, mlir::Value x, mlir::Value y);
  /// In four chains, so that they overlap.
  mlir::Value combine(Combine kind, llvm::ArrayRef<mlir::Value> values);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Fragments to one value per register, tiles, rings and descriptors to pointers.
class TileTypeConverter : public mlir::TypeConverter {
public:
  explicit TileTypeConverter(mlir::MLIRContext *context);
};

/// The value per register of a fragment.
mlir::Type registerType(FragmentType type);
/// Splits packed registers into elements, and back.
llvm::SmallVector<mlir::Value> unpack(Nvvm &nvvm, mlir::ValueRange registers,
                                      FragmentType type);
llvm::SmallVector<mlir::Value> pack(Nvvm &nvvm, mlir::ValueRange elements,
                                    FragmentType type);

void populateKernelPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateMemoryPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateMmaPatterns(const mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns);
void populateMatrixPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateFragmentPatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);

} // namespace rudnn::tile

#endif // RUDNN_PASSES_TILE_NVVMUTILS_H
