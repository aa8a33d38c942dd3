//===- GemmMma.cpp - Matrix product on sm_80 and later -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of four warps computes a tile of 128 x 128. Steps of 32 columns of a
// and b come through a few stages of shared memory: each step waits for its
// stage, starts the copies of the stage that the step before has read, and
// multiplies (each warp has 32 rows). The epilogue works on the accumulators in
// pieces of columns and stores them from registers. Tiles are taken in columns
// of eight row tiles, so that the blocks that run together share operands in
// L2. A grouped product takes its row tiles from a table (RowTiles in
// Schedules.h); of two right operands a tile has 64 columns each.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

constexpr int64_t kWarps = 4, kTile = 128, kStep = 32, kPiece = 32;
constexpr int64_t kRowTilesPerGroup = 8;
constexpr int64_t kStageBytes = 2 * kTile * kStep * 2;

struct GemmMma {
  GemmMma(const Product &p, const Machine &machine, OpBuilder &b)
      : p(p), k(b, p.loc), tileCols(p.pair ? kTile / 2 : kTile) {
    d = cast<MemRefType>(p.d.getType());
    element = cast<MemRefType>(p.a.getType()).getElementType();
    batched = d.getRank() == 3;
    // Two blocks on a multiprocessor.
    stages = machine.sharedBytes >= 8 * kStageBytes ? 4 : 3;
  }

  void build(gpu::GPUModuleOp kernels);
  void launch(gpu::GPUModuleOp kernels);

private:
  struct Tile {
    Value row, rowEnd, col, batch;
    Value rowsA, colsB, steps; // what there is of the operands
  };
  /// An operand: its address, and the strides of its rows and batches.
  struct Matrix {
    Value memref, buffer, rowStride, batchStride;
    bool isRow() const { return !rowStride; }
  };

  /// Operands in the order of the kernel's arguments.
  SmallVector<Value> operands() {
    SmallVector<Value> all = {p.a, p.b, p.d};
    if (p.pair)
      all.push_back(p.pair);
    llvm::append_range(all, p.extras);
    return all;
  }
  unsigned firstExtra() { return p.pair ? 4 : 3; }
  Tile tileOf(Value t);
  void takeRowTile(Tile &tile, Value m);
  Value offsetOf(const Matrix &m, Value batch, Value row, Value col);
  void copyStep(const Tile &tile, Value step);
  Value products(const Tile &tile);
  Value product(Value slot, Value acc);
  void epilogue(const Tile &tile, Value acc);
  Value loadExtra(const Matrix &m, const Tile &tile, Value col,
                  FragmentType type);

  Product p;
  KernelBuilder k;
  MemRefType d;
  Type element;
  bool batched;
  int64_t tileCols, stages; // columns of the result in a tile

  Value kSteps, rowTiles, colTiles, sizeM, sizeN, sizeK, groups;
  SmallVector<Matrix> matrices; // as in operands()
  Value tilesA, tilesB;
};

} // namespace

/// Row tiles fastest within groups of row tiles, then columns, groups, batch.
GemmMma::Tile GemmMma::tileOf(Value t) {
  Tile tile;
  if (batched) {
    Value perBatch = k.mul(rowTiles, colTiles);
    tile.batch = k.div(t, perBatch);
    t = k.rem(t, perBatch);
  }
  Value perGroup = k.mul(colTiles, kRowTilesPerGroup);
  Value first = k.mul(k.div(t, perGroup), kRowTilesPerGroup);
  Value rest = k.rem(t, perGroup);
  Value rows = k.min(k.sub(rowTiles, first), k.index(kRowTilesPerGroup));
  tile.col = k.mul(k.div(rest, rows), tileCols);
  takeRowTile(tile, k.add(first, k.rem(rest, rows)));
  return tile;
}

/// Row tile m: in a grouped product as the table says. Of the operands of rows
/// that have no group there is nothing, so that the sums are zero.
void GemmMma::takeRowTile(Tile &tile, Value m) {
  tile.colsB = sizeN;
  tile.steps = kSteps;
  if (!p.groups) {
    tile.row = k.mul(m, kTile);
    tile.rowEnd = tile.rowsA = sizeM;
    return;
  }
  Value at = k.add(k.mul(m, RowTiles::kFields), RowTiles::kFields);
  auto field = [&](int64_t i) { return k.loadIndex(groups, k.add(at, i)); };
  tile.row = field(RowTiles::kFirst);
  tile.rowEnd = tile.rowsA = field(RowTiles::kEnd);
  Value group = field(RowTiles::kGroup), zero = k.index(0);
  int64_t count = cast<MemRefType>(p.b.getType()).getShape()[0];
  Value none = k.compare(arith::CmpIPredicate::eq, group, k.index(count));
  tile.batch = k.select(none, zero, group);
  tile.rowsA = k.select(none, zero, tile.rowEnd);
  tile.colsB = k.select(none, zero, sizeN);
  tile.steps = k.select(none, zero, kSteps);
}

/// i64: a matrix may have more than 2^31 elements.
Value GemmMma::offsetOf(const Matrix &m, Value batch, Value row, Value col) {
  Value offset = k.add(k.mul(k.i64(row), m.rowStride), k.i64(col));
  if (m.batchStride)
    offset = k.add(offset, k.mul(k.i64(batch), m.batchStride));
  return offset;
}

void GemmMma::copyStep(const Tile &tile, Value step) {
  Value slot = k.rem(step, stages), depth = k.mul(step, kStep);
  auto copy = [&](const Matrix &m, Value row, Value col, Value rows, Value cols,
                  Value tiles, int64_t columns) {
    k.copyAsync(m.buffer, offsetOf(m, tile.batch, row, col), m.rowStride,
                {k.sub(rows, row), k.sub(cols, col)}, tiles, columns);
  };
  copy(matrices[0], tile.row, depth, tile.rowsA, sizeK, k.stage(tilesA, slot),
       kStep);
  Value stageB = k.stage(tilesB, slot);
  if (p.pair)
    for (int64_t half = 0; half < 2; ++half)
      copy(matrices[half ? 3 : 1], tile.col, depth, tile.colsB, sizeK,
           k.rows(stageB, k.index(half * tileCols), tileCols), kStep);
  else if (p.transposeB)
    copy(matrices[1], tile.col, depth, tile.colsB, sizeK, stageB, kStep);
  else
    copy(matrices[1], depth, tile.col, sizeK, tile.colsB, stageB, kTile);
}

Value GemmMma::product(Value slot, Value acc) {
  Value a = k.stage(tilesA, slot), b = k.stage(tilesB, slot);
  bool transposed = p.transposeB;
  for (int64_t depth = 0; depth < kStep; depth += 16) {
    Value left =
        k.loadMatrix(a, 0, depth, Layout::operandA(kTile, 16, kWarps, 1));
    Value right =
        k.loadMatrix(b, transposed ? 0 : depth, transposed ? depth : 0,
                     Layout::operandB(16, kTile), transposed);
    acc = k.mma(left, right, acc);
  }
  return acc;
}

Value GemmMma::products(const Tile &tile) {
  auto start = [&](Value step) {
    k.branch(k.compare(arith::CmpIPredicate::slt, step, tile.steps),
             [&] { copyStep(tile, step); });
    k.copyAsyncCommit();
  };
  for (int64_t step = 0; step < stages - 1; ++step)
    start(k.index(step));
  Value zero = k.splat(k.fragment(Layout::accumulator(kTile, kTile, kWarps, 1)),
                       k.f32(0));
  return k.loop(k.index(0), tile.steps, k.index(1), {zero},
                [&](Value step, ValueRange carried) {
                  // The stage has landed, and the step before has read its own.
                  k.copyAsyncWait(stages - 2);
                  k.blockBarrier();
                  start(k.add(step, stages - 1));
                  return Values{product(k.rem(step, stages), carried[0])};
                })[0];
}

/// 2 when pairs of a row's elements are aligned and in or out of bounds
/// together.
static int64_t pairsOf(MemRefType type) {
  int64_t n = type.getShape().back();
  return type.getLayout().isIdentity() && !ShapedType::isDynamic(n) &&
                 n % 2 == 0
             ? 2
             : 1;
}

/// An extra as f32 in the layout of the piece.
Value GemmMma::loadExtra(const Matrix &m, const Tile &tile, Value col,
                         FragmentType type) {
  auto memref = cast<MemRefType>(m.memref.getType());
  Type from = memref.getElementType();
  int64_t vector = pairsOf(memref);
  Value colsLeft = k.sub(sizeN, col);
  if (m.isRow()) {
    FragmentType slice = k.fragment(type.getLayout().slice(0), from);
    Value loaded = LoadOp::create(k.b, k.loc, slice, m.buffer, k.i64(col),
                                  Value(), ValueRange{colsLeft},
                                  k.b.getDenseI64ArrayAttr({1}), vector);
    return k.broadcast(k.convert(loaded, k.b.getF32Type()), type, 0);
  }
  Value loaded = LoadOp::create(
      k.b, k.loc, k.fragment(type.getLayout(), from), m.buffer,
      offsetOf(m, tile.batch, tile.row, col), m.rowStride,
      ValueRange{k.sub(tile.rowEnd, tile.row), colsLeft},
      k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, 1}), vector);
  return k.convert(loaded, k.b.getF32Type());
}

void GemmMma::epilogue(const Tile &tile, Value acc) {
  const Matrix &dest = matrices[2];
  int64_t vector = pairsOf(d);
  for (int64_t c = 0; c < tileCols; c += kPiece) {
    Value col = k.add(tile.col, c);
    SmallVector<Value> inputs = {k.columns(acc, c, kPiece)};
    if (p.pair)
      inputs.push_back(k.columns(acc, tileCols + c, kPiece));
    auto type = cast<FragmentType>(inputs[0].getType());
    for (const Matrix &extra : ArrayRef(matrices).drop_front(firstExtra()))
      inputs.push_back(loadExtra(extra, tile, col, type));
    Value result = k.map1(
        inputs, [&](ValueRange scalars) { return p.epilogue(k, scalars); });
    StoreOp::create(
        k.b, k.loc, k.convert(result, d.getElementType()), dest.buffer,
        offsetOf(dest, tile.batch, tile.row, col), dest.rowStride,
        ValueRange{k.sub(tile.rowEnd, tile.row), k.sub(sizeN, col)},
        k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, 1}), vector);
  }
}

void GemmMma::build(gpu::GPUModuleOp kernels) {
  SmallVector<Type> types(6, k.b.getIndexType());
  auto rankOf = [](Value operand) {
    return cast<MemRefType>(operand.getType()).getRank();
  };
  for (Value operand : operands()) {
    types.push_back(
        MemRefType::get({ShapedType::kDynamic},
                        cast<MemRefType>(operand.getType()).getElementType()));
    types.append(rankOf(operand) - 1, k.b.getI64Type());
  }
  if (p.groups)
    types.push_back(MemRefType::get({ShapedType::kDynamic}, k.b.getI32Type()));
  k.begin(kernels, uniqueKernelName(kernels, p.name), types, 32 * kWarps);
  unsigned next = 0;
  for (Value *name : {&kSteps, &rowTiles, &colTiles, &sizeM, &sizeN, &sizeK})
    *name = k.arg(next++);
  for (Value operand : operands()) {
    Matrix m;
    m.memref = operand;
    m.buffer = k.arg(next++);
    if (rankOf(operand) > 1)
      m.rowStride = k.arg(next++);
    if (rankOf(operand) > 2)
      m.batchStride = k.arg(next++);
    matrices.push_back(m);
  }
  // Rows of 64 bytes; b given as [k, n] is two panels of 64 columns.
  tilesA = k.alloc(k.tileType({stages, kTile, kStep}, element, 64));
  tilesB =
      k.alloc(p.transposeB ? k.tileType({stages, kTile, kStep}, element, 64)
                           : k.tileType({stages, 2, kStep, 64}, element));
  auto compute = [&] {
    Tile tile = tileOf(k.blockId());
    epilogue(tile, products(tile));
  };
  if (p.groups) {
    // There may be more blocks than tiles.
    groups = k.arg(next++);
    rowTiles = k.loadIndex(groups, k.index(RowTiles::kCount));
    k.branch(k.compare(arith::CmpIPredicate::slt, k.blockId(),
                       k.mul(rowTiles, colTiles)),
             compute);
  } else {
    compute();
  }
  k.end();
}

void GemmMma::launch(gpu::GPUModuleOp kernels) {
  OpBuilder &b = k.b;
  Location loc = k.loc;
  unsigned rank = d.getRank();
  auto dim = [&](Value memref, unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(loc, memref, i);
  };
  Value m = dim(p.d, rank - 2), n = dim(p.d, rank - 1);
  Value depth = dim(p.a, rank - 1);
  Value mTiles = p.groups ? p.mostRowTiles : k.ceilDiv(m, kTile);
  Value nTiles = k.ceilDiv(n, tileCols);
  Value count = k.mul(mTiles, nTiles);
  if (batched)
    count = k.mul(count, dim(p.d, 0));
  SmallVector<Value> args = {
      k.ceilDiv(depth, kStep), mTiles, nTiles, m, n, depth};
  for (const Matrix &matrix : matrices) {
    args.push_back(matrix.memref);
    if (matrix.isRow())
      continue;
    auto [strides, offset] =
        cast<MemRefType>(matrix.memref.getType()).getStridesAndOffset();
    auto metadata =
        memref::ExtractStridedMetadataOp::create(b, loc, matrix.memref);
    for (unsigned i = strides.size() - 1; i-- > 0;)
      args.push_back(ShapedType::isDynamic(strides[i])
                         ? k.i64(metadata.getStrides()[i])
                         : arith::ConstantIntOp::create(b, loc, strides[i], 64)
                               .getResult());
  }
  if (p.groups)
    args.push_back(p.groups);
  Value one = k.index(1);
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(k.kernel.getNameAttr())});
  LaunchOp::create(b, loc, symbol, count, one, one, args);
}

void rudnn::tile::emitProductMma(const Product &product, OpBuilder &b,
                                 gpu::GPUModuleOp kernels,
                                 const Machine &machine) {
  GemmMma kernel(product, machine, b);
  kernel.build(kernels);
  kernel.launch(kernels);
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

std::string rudnn::tile::whyNotGemmMma(GemmOp op, const Machine &machine) {
  Type result = cast<ShapedType>(op.getOuts()[0].getType()).getElementType();
  if (!result.isF32() && !result.isF16() && !result.isBF16())
    return "the result is not f32, f16 or bf16";
  for (Value operand : {op.getA(), op.getB()}) {
    int64_t last = cast<ShapedType>(operand.getType()).getShape().back();
    // Rows start at multiples of 16 bytes.
    if (ShapedType::isDynamic(last) || last % 8 != 0)
      return "the last extent of an operand is not a static multiple of 8";
  }
  for (Value operand : op->getOperands()) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (memref && (failed(memref.getStridesAndOffset(strides, offset)) ||
                   strides.back() != 1))
      return "the last dim of an operand is not contiguous";
  }
  return whyNotEpilogue(op);
}

LogicalResult rudnn::tile::scheduleGemmMma(GemmOp op, gpu::GPUModuleOp kernels,
                                           const Machine &machine) {
  OpBuilder b(op);
  emitProductMma(productOf(op), b, kernels, machine);
  op.erase();
  return success();
}
