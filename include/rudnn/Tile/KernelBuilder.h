//===- KernelBuilder.h - What schedules are written with -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for building rudnn_tile kernels in C++: index arithmetic, loops and
// fragments as function calls, so that a schedule reads like the kernel it makes.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_KERNELBUILDER_H
#define RUDNN_TILE_KERNELBUILDER_H

#include "rudnn/Tile/TileDialect.h"

#include "mlir/IR/Builders.h"

namespace rudnn::tile {

class KernelBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  KernelBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// Starts a kernel in `module`; code is built in its body until `end`.
  KernelOp begin(mlir::gpu::GPUModuleOp module, llvm::StringRef name,
                 llvm::ArrayRef<mlir::Type> arguments, int32_t threads);
  void end();
  Value arg(unsigned i) { return kernel.getArgument(i); }

  // Scalars. Numbers beside values are constants of the value's type.
  Value index(int64_t value);
  Value f32(float value);
  Value i64(Value index); // unsigned
  Value add(Value x, Value y);
  Value add(Value x, int64_t y) { return add(x, constant(x, y)); }
  Value sub(Value x, Value y);
  Value sub(Value x, int64_t y) { return sub(x, constant(x, y)); }
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y) { return mul(x, constant(x, y)); }
  Value div(Value x, Value y);
  Value div(Value x, int64_t y) { return div(x, constant(x, y)); }
  Value rem(Value x, Value y);
  Value rem(Value x, int64_t y) { return rem(x, constant(x, y)); }
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value ceilDiv(Value x, int64_t y) { return div(add(x, y - 1), y); }
  Value compare(mlir::arith::CmpIPredicate predicate, Value x, Value y);
  Value select(Value condition, Value x, Value y);
  /// Element `at` of a buffer of i32, without sign; the same in all threads of
  /// a warp.
  Value loadIndex(Value buffer, Value at);
  Value blockId();
  Value gridSize();

  // Floats in `map` bodies (contracted: a * b + c is one fma).
  Value addf(Value x, Value y);
  Value subf(Value x, Value y);
  Value mulf(Value x, Value y);
  Value divf(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value maxf(Value x, Value y);
  Value exp2(Value x);
  Value log2(Value x);

  // Control flow.
  Values loop(Value from, Value to, Value step, mlir::ValueRange init,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  void branch(Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = {});
  /// `value`, or what `then` makes of it where the condition holds.
  Value replaceIf(Value condition, Value value,
                  llvm::function_ref<Value()> then);
  void singleThread(llvm::function_ref<void()> body);
  struct Role {
    llvm::StringRef name;
    int32_t groups, registers;
    llvm::function_ref<void(Value)> body;
  };
  void warpGroups(llvm::ArrayRef<Role> roles);

  // Shared memory and rings.
  mlir::MemRefType tileType(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                            unsigned swizzle = 128);
  Value alloc(mlir::MemRefType type, Value over = {});
  Value ring(unsigned stages, unsigned consumers);
  /// Stage `slot` of a tile (first dim dropped); `row` moves the second last dim, of
  /// which `rows` are taken.
  Value stage(Value tile, Value slot);
  Value rows(Value tile, Value row, int64_t rows);
  Value slot(Value ring, Value it);
  void acquire(Value ring, Value it);
  void commit(Value ring, Value it);
  void wait(Value ring, Value it);
  void release(Value ring, Value it);
  void tmaLoad(Value source, mlir::ValueRange coords, Value tile, Value ring, Value it);
  void tmaStore(Value tile, Value dest, mlir::ValueRange coords);

  // Copies and barriers of the whole block, and products of its warps (sm_80).
  void copyAsync(Value source, Value offset, Value leading, mlir::ValueRange bounds,
                 Value tile, int64_t columns);
  void copyAsyncCommit();
  void copyAsyncWait(int32_t pending);
  void blockBarrier();
  Value loadMatrix(Value tile, int64_t row, int64_t column, const Layout &layout,
                   bool transpose = false);
  Value mma(Value a, Value b, Value acc);

  // Products of warp groups (sm_90a).
  Value wgmma(Value a, Value bTile, Value acc = {}, bool transposeB = false);
  Values wgmmaWait(int32_t pending, mlir::ValueRange values,
                   mlir::ValueRange keep = {});

  // Fragments.
  FragmentType fragment(const Layout &layout, mlir::Type element = {});
  Value splat(FragmentType type, Value scalar);
  using Body = llvm::function_ref<Values(mlir::ValueRange)>;
  /// Result element types default to f32.
  Values map(mlir::ValueRange inputs, Body body, llvm::ArrayRef<mlir::Type> results = {});
  Value map1(mlir::ValueRange inputs, llvm::function_ref<Value(mlir::ValueRange)> body);
  Value reduce(Combine kind, Value input, unsigned dim, bool partial = false);
  Value broadcast(Value input, FragmentType type, unsigned dim);
  /// Whether an element that the warp holds is true.
  Value any(Value input);
  Value convert(Value input, mlir::Type element);
  Value columns(Value input, int64_t offset, int64_t size);

  mlir::OpBuilder &b;
  mlir::Location loc;
  KernelOp kernel;

private:
  Value constant(Value like, int64_t value);
  mlir::OpBuilder::InsertPoint resume;
};

} // namespace rudnn::tile

#endif // RUDNN_TILE_KERNELBUILDER_H
