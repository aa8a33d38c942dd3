//===- Gemm.cpp - Matrix product with epilogue on sm_90a -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block per multiprocessor walks over tiles of 128 x 256 (or 128 x 128).
// One warp group loads steps of 64 columns of a and b into a ring with TMA; two
// warp groups each multiply 64 rows (wgmma), keep one product in flight over
// the ring's stages, apply the epilogue in registers and store through shared
// memory with TMA, which clips at the edges (f32 results, and rows that bulk
// copies can't write, go straight to memory). The second warp group starts each
// tile a few steps behind the first, so that one multiplies while the other is
// in its epilogue. Tiles are walked in columns of 16 row tiles, so that the
// blocks that run together share operands in L2.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

constexpr int64_t kRows = 128, kStep = 64, kRowTilesPerGroup = 16;
/// Columns of the epilogue at a time; buffers of such a piece per warp group.
constexpr int64_t kPiece = 64, kBuffers = 2;
/// Steps that the first warp group is ahead of the second.
constexpr int64_t kLead = 2;
/// Registers of the next piece's extras while one is computed.
constexpr int64_t kMostAhead = 32;

struct GemmKernel {
  GemmKernel(GemmOp op, const Machine &machine, OpBuilder &b)
      : op(op), machine(machine), k(b, op.getLoc()) {
    d = cast<MemRefType>(op.getOuts()[0].getType());
    element = cast<MemRefType>(op.getA().getType()).getElementType();
    batched = d.getRank() == 3;
    int64_t n = d.getShape().back();
    cols = !ShapedType::isDynamic(n) && n <= 128 ? 128 : 256;
    stages = cols == 256 ? 4 : 6;
    // Bulk stores need rows of whole 16 bytes.
    direct = outElement().isF32() || ShapedType::isDynamic(n) || n % 8 != 0;
    vector = !ShapedType::isDynamic(n) && n % 2 == 0 ? 2 : 1;
  }

  LogicalResult build(gpu::GPUModuleOp kernels);
  void launch(gpu::GPUModuleOp kernels);

private:
  struct Tile {
    Value m, n, batch;
  };
  Tile tileOf(Value t);
  SmallVector<Value> at(Value batch, Value x, Value y);
  Values forEachTile(function_ref<Value(Tile, Value it)> body);
  void producer();
  void consumer(Value group);
  Value product(Value it, Value group, Value acc);
  Value products(Value from, Value to, Value first, Value group, Value acc);
  void epilogue(Tile tile, Value group, Value acc, Values extras);
  void store(Tile tile, Value group, Value result, int64_t c);
  Values loadExtras(Tile tile, Value group, int64_t c);
  Value loadExtra(unsigned i, Tile tile, Value row, Value col);
  Value offsetOf(Tile tile, Value row, Value col, Value leading);
  bool loadsAhead();

  TmaType tma(int64_t rows, int64_t columns, Type type);
  Type outElement() { return d.getElementType(); }

  GemmOp op;
  Machine machine;
  KernelBuilder k;
  MemRefType d;
  Type element;
  bool batched;
  int64_t cols, stages, vector;
  bool direct;

  // Kernel arguments and shared memory.
  Value tmaA, tmaB, dest, kSteps, rowTiles, colTiles, tiles, sizeM, sizeN;
  SmallVector<Value> extras, extraStrides;
  Value tilesA, tilesB, out, ring;
};

} // namespace

TmaType GemmKernel::tma(int64_t rows, int64_t columns, Type type) {
  SmallVector<int64_t> box = {rows, columns};
  if (batched)
    box.insert(box.begin(), 1);
  return TmaType::get(type.getContext(), box, type, 128);
}

SmallVector<Value> GemmKernel::at(Value batch, Value x, Value y) {
  if (batched)
    return {batch, x, y};
  return {x, y};
}

/// Row tiles fastest within groups of row tiles, then columns, groups, batch.
GemmKernel::Tile GemmKernel::tileOf(Value t) {
  Value batch;
  if (batched) {
    Value perBatch = k.mul(rowTiles, colTiles);
    batch = k.div(t, perBatch);
    t = k.rem(t, perBatch);
  }
  Value perGroup = k.mul(colTiles, kRowTilesPerGroup);
  Value first = k.mul(k.div(t, perGroup), kRowTilesPerGroup);
  Value rest = k.rem(t, perGroup);
  Value rows = k.min(k.sub(rowTiles, first), k.index(kRowTilesPerGroup));
  return {k.add(first, k.rem(rest, rows)), k.div(rest, rows), batch};
}

/// This block's tiles; the body returns the ring's next trip.
Values GemmKernel::forEachTile(function_ref<Value(Tile, Value)> body) {
  return k.loop(k.blockId(), tiles, k.gridSize(), {k.index(0)},
                [&](Value t, ValueRange carried) {
                  return Values{body(tileOf(t), carried[0])};
                });
}

void GemmKernel::producer() {
  k.singleThread([&] {
    forEachTile([&](Tile tile, Value first) {
      Value row = k.mul(tile.m, kRows), col = k.mul(tile.n, cols);
      k.loop(k.index(0), kSteps, k.index(1), {}, [&](Value step, ValueRange) {
        Value it = k.add(first, step), depth = k.mul(step, kStep);
        k.acquire(ring, it);
        Value slot = k.slot(ring, it);
        k.tmaLoad(tmaA, at(tile.batch, row, depth), k.stage(tilesA, slot), ring,
                  it);
        k.tmaLoad(tmaB,
                  op.getTransposeB() ? at(tile.batch, col, depth)
                                     : at(tile.batch, depth, col),
                  k.stage(tilesB, slot), ring, it);
        k.commit(ring, it);
        return Values{};
      });
      return k.add(first, kSteps);
    });
  });
}

Value GemmKernel::product(Value it, Value group, Value acc) {
  k.wait(ring, it);
  Value slot = k.slot(ring, it);
  Value a = k.rows(k.stage(tilesA, slot), k.mul(group, 64), 64);
  return k.wgmma(a, k.stage(tilesB, slot), acc, !op.getTransposeB());
}

/// Adds the steps' products; one stays in flight.
Value GemmKernel::products(Value from, Value to, Value first, Value group,
                           Value acc) {
  return k.loop(from, to, k.index(1), {acc},
                [&](Value step, ValueRange carried) {
                  Value it = k.add(first, step);
                  Value next = product(it, group, carried[0]);
                  // The product before has read its stage.
                  k.wgmmaWait(1, {});
                  k.release(ring, k.sub(it, 1));
                  return Values{next};
                })[0];
}

void GemmKernel::consumer(Value group) {
  TurnEdgeOp::create(k.b, k.loc, group, 2, /*first=*/true);
  forEachTile([&](Tile tile, Value first) {
    TurnTakeOp::create(k.b, k.loc, group, 2);
    Value acc = product(first, group, {});
    Value lead = k.min(k.index(kLead), kSteps);
    acc = products(k.index(1), lead, first, group, acc);
    TurnPassOp::create(k.b, k.loc, group, 2);
    acc = products(lead, kSteps, first, group, acc);
    Values ahead;
    if (loadsAhead())
      ahead = loadExtras(tile, group, 0);
    acc = k.wgmmaWait(0, acc)[0];
    Value end = k.add(first, kSteps);
    k.release(ring, k.sub(end, 1));
    epilogue(tile, group, acc, ahead);
    return end;
  });
  TurnEdgeOp::create(k.b, k.loc, group, 2, /*first=*/false);
  if (!direct)
    TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/false);
}

void GemmKernel::epilogue(Tile tile, Value group, Value acc, Values ahead) {
  for (int64_t c = 0; c < cols; c += kPiece) {
    Value part = k.columns(acc, c, kPiece);
    auto type = cast<FragmentType>(part.getType());
    Values raw = loadsAhead() ? ahead : loadExtras(tile, group, c);
    if (loadsAhead() && c + kPiece < cols)
      ahead = loadExtras(tile, group, c + kPiece);
    Values inputs = {part};
    for (Value extra : raw) {
      extra = k.convert(extra, k.b.getF32Type());
      bool row = cast<FragmentType>(extra.getType()).getShape().size() == 1;
      inputs.push_back(row ? k.broadcast(extra, type, 0) : extra);
    }
    Value result = k.map1(inputs, [&](ValueRange scalars) {
      return buildEpilogue(k, op, scalars);
    });
    store(tile, group, k.convert(result, outElement()), c);
  }
}

void GemmKernel::store(Tile tile, Value group, Value result, int64_t c) {
  Value row = k.add(k.mul(tile.m, kRows), k.mul(group, 64));
  Value col = k.add(k.mul(tile.n, cols), c);
  if (direct) {
    Value leading = k.i64(sizeN);
    StoreOp::create(k.b, k.loc, result, dest, offsetOf(tile, row, col, leading),
                    leading, ValueRange{k.sub(sizeM, row), k.sub(sizeN, col)},
                    k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, 1}),
                    vector);
    return;
  }
  Value number = k.add(k.mul(group, kBuffers), c / kPiece % kBuffers);
  Value buffer = k.stage(out, number);
  // The copy before the last one has read this buffer.
  TmaStoreWaitOp::create(k.b, k.loc, kBuffers - 1, /*read=*/true);
  GroupBarrierOp::create(k.b, k.loc, group);
  StoreSharedOp::create(k.b, k.loc, result, buffer);
  GroupBarrierOp::create(k.b, k.loc, group);
  k.tmaStore(buffer, dest, at(tile.batch, row, col));
}

/// Where a piece starts in a dense matrix: 64 bits, as there may be more than
/// 2^31 elements.
Value GemmKernel::offsetOf(Tile tile, Value row, Value col, Value leading) {
  Value wideRow = k.i64(row);
  if (batched)
    wideRow = k.add(wideRow, k.mul(k.i64(tile.batch), k.i64(sizeM)));
  return k.add(k.mul(wideRow, leading), k.i64(col));
}

/// What the extras of a piece take in registers is little enough to load them
/// while the piece before is computed.
bool GemmKernel::loadsAhead() {
  int64_t registers = 0;
  for (Value extra : op.getExtras()) {
    auto memref = cast<MemRefType>(extra.getType());
    bool narrow = memref.getElementTypeBitWidth() == 16;
    registers += kPiece / (memref.getRank() == 1 ? 4 : 2) / (narrow ? 2 : 1);
  }
  return registers <= kMostAhead;
}

Values GemmKernel::loadExtras(Tile tile, Value group, int64_t c) {
  Value row = k.add(k.mul(tile.m, kRows), k.mul(group, 64));
  Value col = k.add(k.mul(tile.n, cols), c);
  Values loaded;
  for (unsigned i = 0; i < op.getExtras().size(); ++i)
    loaded.push_back(loadExtra(i, tile, row, col));
  return loaded;
}

/// An extra in the layout of a piece, as it is stored.
Value GemmKernel::loadExtra(unsigned i, Tile tile, Value row, Value col) {
  auto memref = cast<MemRefType>(op.getExtras()[i].getType());
  Type from = memref.getElementType();
  Layout layout = Layout::accumulator(64, kPiece);
  Value rowsLeft = k.sub(sizeM, row), colsLeft = k.sub(sizeN, col);
  if (memref.getRank() == 1)
    return LoadOp::create(k.b, k.loc, k.fragment(layout.slice(0), from),
                          extras[i], k.i64(col), Value(), ValueRange{colsLeft},
                          k.b.getDenseI64ArrayAttr({1}), vector);
  Value leading = extraStrides[i];
  return LoadOp::create(k.b, k.loc, k.fragment(layout, from), extras[i],
                        offsetOf(tile, row, col, leading), leading,
                        ValueRange{rowsLeft, colsLeft},
                        k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, 1}),
                        vector);
}

LogicalResult GemmKernel::build(gpu::GPUModuleOp kernels) {
  bool transposed = op.getTransposeB();
  Type index = k.b.getIndexType();
  SmallVector<Type> types = {tma(kRows, kStep, element),
                             transposed ? tma(cols, kStep, element)
                                        : tma(kStep, 64, element),
                             tma(64, kPiece, outElement())};
  if (direct)
    types.back() = MemRefType::get({ShapedType::kDynamic}, outElement());
  types.append(6, index);
  for (Value extra : op.getExtras()) {
    auto memref = cast<MemRefType>(extra.getType());
    types.push_back(
        MemRefType::get({ShapedType::kDynamic}, memref.getElementType()));
    types.push_back(k.b.getI64Type());
  }
  k.begin(kernels, uniqueKernelName(kernels, "gemm"), types, 3 * kGroupThreads);
  k.kernel.setMinBlocks(1);
  Value *names[] = {&tmaA,     &tmaB,  &dest,  &kSteps, &rowTiles,
                    &colTiles, &tiles, &sizeM, &sizeN};
  for (auto [i, name] : llvm::enumerate(names))
    *name = k.arg(i);
  for (unsigned i = 0; i < op.getExtras().size(); ++i) {
    extras.push_back(k.arg(9 + 2 * i));
    extraStrides.push_back(k.arg(10 + 2 * i));
  }
  tilesA = k.alloc(k.tileType({stages, kRows, kStep}, element));
  // [N, K]: one panel of K; [K, N]: panels of 64 columns of N.
  tilesB =
      k.alloc(transposed ? k.tileType({stages, cols, kStep}, element)
                         : k.tileType({stages, cols / 64, kStep, 64}, element));
  if (!direct)
    out = k.alloc(k.tileType({2 * kBuffers, 64, kPiece}, outElement()));
  ring = k.ring(stages, 2);
  k.warpGroups({{"producer", 1, 40, [&](Value) { producer(); }},
                {"consumer", 2, 232, [&](Value group) { consumer(group); }}});
  k.end();
  return success();
}

void GemmKernel::launch(gpu::GPUModuleOp kernels) {
  KernelOp kernel = k.kernel;
  OpBuilder &b = k.b;
  Location loc = k.loc;
  unsigned rank = d.getRank();
  auto dim = [&](Value memref, unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(loc, memref, i);
  };
  Value result = op.getOuts()[0];
  Value m = dim(result, rank - 2), n = dim(result, rank - 1);
  Value depth = dim(op.getA(), rank - 1);
  Value mTiles = k.ceilDiv(m, kRows), nTiles = k.ceilDiv(n, cols);
  Value count = k.mul(mTiles, nTiles);
  if (batched)
    count = k.mul(count, dim(result, 0));
  SmallVector<Value> args;
  Value operands[] = {op.getA(), op.getB(), result};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type type = kernel.getArgumentTypes()[i];
    bool bulk = isa<TmaType>(type);
    args.push_back(bulk ? TmaDescriptorOp::create(b, loc, type, operand)
                        : operand);
  }
  args.append({k.ceilDiv(depth, kStep), mTiles, nTiles, count, m, n});
  for (Value extra : op.getExtras()) {
    args.push_back(extra);
    args.push_back(k.i64(n));
  }
  Value one = k.index(1);
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
  LaunchOp::create(b, loc, symbol,
                   k.min(count, k.index(machine.multiprocessors)), one, one,
                   args);
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

std::string rudnn::tile::whyNotGemm(GemmOp op) {
  auto a = cast<ShapedType>(op.getA().getType());
  auto d = cast<ShapedType>(op.getOuts()[0].getType());
  Type element = d.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return "the result is neither f16, bf16 nor f32";
  // Rows of bulk copies start at multiples of 16 bytes.
  auto fits = [](int64_t extent) {
    return !ShapedType::isDynamic(extent) && extent % 8 == 0;
  };
  int64_t depth = a.getShape().back();
  if (!fits(depth) || depth == 0)
    return "the depth of the product is not a static multiple of 8";
  if (!op.getTransposeB() && !fits(d.getShape().back()))
    return "the rows of b are not a static multiple of 8 long";
  return whyNotEpilogue(op);
}

LogicalResult rudnn::tile::scheduleGemm(GemmOp op, gpu::GPUModuleOp kernels,
                                        const Machine &machine) {
  if (!isa<MemRefType>(op.getOuts()[0].getType()))
    return op.emitOpError("must be on memrefs (bufferize first)");
  if (std::string why = whyNotGemm(op); !why.empty())
    return op.emitOpError("the sm_90a schedule does not apply: ") << why;
  OpBuilder b(op);
  GemmKernel kernel(op, machine, b);
  if (failed(kernel.build(kernels)))
    return failure();
  kernel.launch(kernels);
  op.erase();
  return success();
}
