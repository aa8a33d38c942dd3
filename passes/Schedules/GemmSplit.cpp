//===- GemmSplit.cpp - Products of few tiles in parts of the depth -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of few rows has fewer tiles than the device has multiprocessors.
// It becomes a batch of products, each of a part of the depth, with f32
// results in a workspace; a second kernel adds them in order and applies the
// epilogue. Parts of the depth are views of the operands.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

constexpr int64_t kStep = 64;
/// Of the kernel that adds: a row of this many columns for each block.
constexpr int64_t kWarps = 4, kVector = 4, kColumns = kWarps * 32 * kVector;
/// Cycles that the second kernel costs, and bytes of parts in a cycle.
constexpr int64_t kSecondKernel = 5000, kBytesPerCycle = 1800;

struct SumKernel {
  SumKernel(GemmOp op, Value parts, OpBuilder &b)
      : op(op), parts(parts), k(b, op.getLoc()) {}

  void build(gpu::GPUModuleOp kernels);
  void launch(gpu::GPUModuleOp kernels);

private:
  MemRefType dest() { return cast<MemRefType>(op.getOuts()[0].getType()); }
  Value load(Value buffer, Value offset, Value columnsLeft);

  GemmOp op;
  Value parts;
  KernelBuilder k;
};

} // namespace

Value SumKernel::load(Value buffer, Value offset, Value columnsLeft) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  Layout layout = Layout::row(kColumns, kVector, kWarps);
  Value loaded = LoadOp::create(k.b, k.loc, k.fragment(layout, type), buffer,
                                k.i64(offset), Value(), ValueRange{columnsLeft},
                                k.b.getDenseI64ArrayAttr({1}), kVector);
  return k.convert(loaded, k.b.getF32Type());
}

void SumKernel::build(gpu::GPUModuleOp kernels) {
  auto buffer = [](Value memref) -> Type {
    return MemRefType::get({ShapedType::kDynamic},
                           cast<MemRefType>(memref.getType()).getElementType());
  };
  SmallVector<Type> types = {buffer(parts), buffer(op.getOuts()[0])};
  for (Value extra : op.getExtras())
    types.push_back(buffer(extra));
  k.begin(kernels, uniqueKernelName(kernels, "gemm_sum"), types, 32 * kWarps);
  int64_t rows = dest().getShape()[0], columns = dest().getShape()[1];
  int64_t blocks = llvm::divideCeil(columns, kColumns);
  Value row = k.div(k.blockId(), blocks);
  Value column = k.mul(k.rem(k.blockId(), blocks), kColumns);
  Value left = k.sub(k.index(columns), column);
  Value place = k.add(k.mul(row, columns), column);
  Value sum;
  int64_t count = cast<MemRefType>(parts.getType()).getShape()[0];
  for (int64_t part = 0; part < count; ++part) {
    Value next = load(k.arg(0), k.add(place, part * rows * columns), left);
    sum = sum ? k.map1({sum, next},
                       [&](ValueRange x) { return k.addf(x[0], x[1]); })
              : next;
  }
  Values inputs = {sum};
  for (auto [i, extra] : llvm::enumerate(op.getExtras())) {
    bool full = cast<MemRefType>(extra.getType()).getRank() == 2;
    inputs.push_back(load(k.arg(2 + i), full ? place : column, left));
  }
  Value result = k.map1(inputs, [&](ValueRange scalars) {
    return buildEpilogue(k, op, scalars);
  });
  StoreOp::create(k.b, k.loc, k.convert(result, dest().getElementType()),
                  k.arg(1), k.i64(place), Value(), ValueRange{left},
                  k.b.getDenseI64ArrayAttr({1}), kVector);
  k.end();
}

void SumKernel::launch(gpu::GPUModuleOp kernels) {
  KernelOp kernel = k.kernel;
  SmallVector<Value> args = {parts, op.getOuts()[0]};
  llvm::append_range(args, op.getExtras());
  int64_t blocks =
      dest().getShape()[0] * llvm::divideCeil(dest().getShape()[1], kColumns);
  Value one = k.index(1);
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
  LaunchOp::create(k.b, k.loc, symbol, k.index(blocks), one, one, args);
}

int64_t rudnn::tile::partsOfDepth(GemmOp op, const Machine &machine) {
  auto a = cast<MemRefType>(op.getA().getType());
  auto b = cast<MemRefType>(op.getB().getType());
  auto d = cast<MemRefType>(op.getOuts()[0].getType());
  if (d.getRank() != 2 || !a.hasStaticShape() || !b.hasStaticShape() ||
      !a.getLayout().isIdentity() || !b.getLayout().isIdentity())
    return 1;
  int64_t rows = d.getShape()[0], columns = d.getShape()[1];
  int64_t depth = a.getShape()[1];
  // Vectors of the second kernel; its offsets have 32 bits.
  if (columns % 8 != 0 || 8 * rows * columns > (int64_t(1) << 31))
    return 1;
  int64_t best = 1, least = 0;
  for (int64_t parts : {1, 2, 3, 4, 6, 8}) {
    if (depth % (parts * kStep) != 0)
      continue;
    int64_t time =
        tileWidth(rows, columns, parts, machine).time * (depth / parts / kStep);
    if (parts > 1)
      time += kSecondKernel + rows * columns * parts * 8 / kBytesPerCycle;
    if (least == 0 || time < least)
      best = parts, least = time;
  }
  return best;
}

void rudnn::tile::emitSplitProduct(GemmOp op, int64_t parts, OpBuilder &b,
                                   gpu::GPUModuleOp kernels,
                                   const Machine &machine) {
  Location loc = op.getLoc();
  auto d = cast<MemRefType>(op.getOuts()[0].getType());
  int64_t rows = d.getShape()[0], columns = d.getShape()[1];
  int64_t depth = cast<MemRefType>(op.getA().getType()).getShape()[1] / parts;
  auto view = [&](Value whole, ArrayRef<int64_t> sizes,
                  ArrayRef<int64_t> strides) -> Value {
    auto type = cast<MemRefType>(whole.getType());
    auto part =
        MemRefType::get(sizes, type.getElementType(),
                        StridedLayoutAttr::get(b.getContext(), 0, strides));
    return memref::ReinterpretCastOp::create(b, loc, part, whole, 0, sizes,
                                             strides);
  };
  int64_t all = depth * parts;
  Value left = view(op.getA(), {parts, rows, depth}, {depth, all, 1});
  Value right = op.getTransposeB()
                    ? view(op.getB(), {parts, columns, depth}, {depth, all, 1})
                    : view(op.getB(), {parts, depth, columns},
                           {depth * columns, columns, 1});
  Value sums = memref::AllocOp::create(
      b, loc, MemRefType::get({parts, rows, columns}, b.getF32Type()));
  Product batch{loc, "gemm_parts", left, right, sums};
  batch.transposeB = op.getTransposeB();
  batch.epilogue = [](KernelBuilder &, ValueRange scalars) {
    return scalars[0];
  };
  emitProduct(batch, b, kernels, machine);
  SumKernel sum(op, sums, b);
  sum.build(kernels);
  sum.launch(kernels);
}
