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
// Products of few rows have narrower tiles; rows behind the end of a are not
// loaded, as their products go nowhere.
//
// A grouped product takes its row tiles from a table that an earlier kernel has
// written (RowTiles in Schedules.h), and may multiply two right operands whose
// columns stand beside each other in the tile. Tiles of 64 rows are for groups
// of few rows: both warp groups take all rows and half of the columns.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

constexpr int64_t kStep = 64, kRowTilesPerGroup = 16;
/// Columns of the epilogue at a time; buffers of such a piece per warp group.
constexpr int64_t kPiece = 64, kBuffers = 2;
/// Steps that the first warp group is ahead of the second.
constexpr int64_t kLead = 2;
/// Registers of the next piece's extras while one is computed.
constexpr int64_t kMostAhead = 32;

struct GemmKernel {
  GemmKernel(const Product &p, const Machine &machine, OpBuilder &b)
      : p(p), machine(machine), k(b, p.loc), rows(p.tileRows),
        split(rows == 64) {
    d = cast<MemRefType>(p.d.getType());
    element = cast<MemRefType>(p.a.getType()).getElementType();
    batched = d.getRank() == 3;
    int64_t n = d.getShape().back();
    cols = columnsOfTile();
    stages = (cols == 256 ? 4 : cols == 128 ? 6 : 8) + (split ? 1 : 0);
    // What a copy fills outside of the matrix is slower than what it loads.
    int64_t m = d.getShape()[d.getRank() - 2];
    loadedRows = ShapedType::isDynamic(m) || p.groups
                     ? rows
                     : std::clamp<int64_t>(llvm::alignTo(m, 8), 8, rows);
    groupCols = split ? cols / 2 : cols;
    part = p.pair ? groupCols / 2 : groupCols;
    // Bulk stores need rows of whole 16 bytes, and clip at the last row only.
    direct = outElement().isF32() || ShapedType::isDynamic(n) || n % 8 != 0 ||
             p.groups;
    vector = !ShapedType::isDynamic(n) && n % 2 == 0 ? 2 : 1;
  }

  void build(gpu::GPUModuleOp kernels);
  void launch(gpu::GPUModuleOp kernels);

private:
  struct Tile {
    Value row, rowEnd, col; // of the result; rows from rowEnd on are others'
    Value batch;            // of all operands; of b in a grouped product
    Value rowA, steps;
  };
  Tile tileOf(Value t);
  void takeRowTile(Tile &tile, Value m);
  SmallVector<Value> at(Value batch, Value x, Value y);
  Value rowOf(Tile tile, Value group);
  Value columnOf(Tile tile, Value group, int64_t c);
  void loadRight(Tile tile, Value depth, Value slot, Value it);
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

  int64_t columnsOfTile();
  TmaType tma(int64_t rows, int64_t columns, Type type, bool batched);
  Type outElement() { return d.getElementType(); }

  Product p;
  Machine machine;
  KernelBuilder k;
  MemRefType d;
  Type element;
  int64_t rows, loadedRows; // of a tile, and of those what a has
  bool split, batched;
  int64_t cols, stages, vector;
  // Columns of a warp group's sums, and of those the ones of one right operand.
  int64_t groupCols, part;
  bool direct;

  // Kernel arguments and shared memory.
  Value tmaA, tmaB, tmaPair, dest, kSteps, rowTiles, colTiles, tiles, sizeM,
      sizeN, groups;
  SmallVector<Value> extras, extraStrides;
  Value tilesA, tilesB, out, ring;
};

} // namespace

/// Wide tiles need less of the memory's bandwidth, narrow ones fill the device
/// when there are few rows.
TileWidth rudnn::tile::tileWidth(int64_t rows, int64_t columns, int64_t batch,
                                 const Machine &machine) {
  // Measured times of a step, relative.
  constexpr TileWidth kWidths[] = {{256, 1024}, {128, 550}, {64, 465}};
  TileWidth best = {0, 0};
  for (auto [width, time] : kWidths) {
    int64_t tiles = batch * llvm::divideCeil(rows, 128) *
                    llvm::divideCeil(columns, width);
    time *= llvm::divideCeil(tiles, machine.multiprocessors);
    if (best.columns == 0 || time < best.time)
      best = {width, time};
  }
  return best;
}

int64_t GemmKernel::columnsOfTile() {
  int64_t n = d.getShape().back();
  if (p.pair)
    return 256;
  if (!d.hasStaticShape() || p.groups || rows != 128)
    return !ShapedType::isDynamic(n) && n <= 128 ? 128 : 256;
  int64_t m = d.getShape()[d.getRank() - 2];
  return tileWidth(m, n, batched ? d.getShape().front() : 1, machine).columns;
}

TmaType GemmKernel::tma(int64_t rows, int64_t columns, Type type,
                        bool batched) {
  SmallVector<int64_t> box = {rows, columns};
  if (batched)
    box.insert(box.begin(), 1);
  return TmaType::get(type.getContext(), box, type, 128);
}

SmallVector<Value> GemmKernel::at(Value batch, Value x, Value y) {
  if (batch)
    return {batch, x, y};
  return {x, y};
}

/// Row tiles fastest within groups of row tiles, then columns, groups, batch.
GemmKernel::Tile GemmKernel::tileOf(Value t) {
  Tile tile;
  if (batched) {
    Value perBatch = k.mul(rowTiles, colTiles);
    tile.batch = k.div(t, perBatch);
    t = k.rem(t, perBatch);
  }
  Value perGroup = k.mul(colTiles, kRowTilesPerGroup);
  Value first = k.mul(k.div(t, perGroup), kRowTilesPerGroup);
  Value rest = k.rem(t, perGroup);
  Value height = k.min(k.sub(rowTiles, first), k.index(kRowTilesPerGroup));
  tile.col = k.mul(k.div(rest, height), p.pair ? cols / 2 : cols);
  takeRowTile(tile, k.add(first, k.rem(rest, height)));
  return tile;
}

/// Row tile m: in a grouped product as the table says. Rows of no group are
/// multiplied with what lies outside of the tensors, which is zero.
void GemmKernel::takeRowTile(Tile &tile, Value m) {
  if (!p.groups) {
    tile.row = tile.rowA = k.mul(m, rows);
    tile.rowEnd = sizeM;
    tile.steps = kSteps;
    return;
  }
  Value at = k.add(k.mul(m, RowTiles::kFields), RowTiles::kFields);
  auto field = [&](int64_t i) { return k.loadIndex(groups, k.add(at, i)); };
  tile.row = field(RowTiles::kFirst);
  tile.rowEnd = field(RowTiles::kEnd);
  tile.batch = field(RowTiles::kGroup);
  int64_t count = cast<MemRefType>(p.b.getType()).getShape()[0];
  Value none = k.compare(arith::CmpIPredicate::eq, tile.batch, k.index(count));
  tile.rowA = k.select(none, sizeM, tile.row);
  tile.steps = k.select(none, k.index(1), kSteps);
}

/// The first row and column of a warp group's sums; `c` columns further.
Value GemmKernel::rowOf(Tile tile, Value group) {
  return split ? tile.row : k.add(tile.row, k.mul(group, 64));
}
Value GemmKernel::columnOf(Tile tile, Value group, int64_t c) {
  Value col = split ? k.add(tile.col, k.mul(group, part)) : tile.col;
  return k.add(col, c);
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
      k.loop(k.index(0), tile.steps, k.index(1), {},
             [&](Value step, ValueRange) {
               Value it = k.add(first, step), depth = k.mul(step, kStep);
               k.acquire(ring, it);
               Value slot = k.slot(ring, it);
               Value batch = batched ? tile.batch : Value();
               Value a = k.stage(tilesA, slot);
               if (loadedRows != rows)
                 a = k.rows(a, k.index(0), loadedRows);
               k.tmaLoad(tmaA, at(batch, tile.rowA, depth), a, ring, it);
               loadRight(tile, depth, slot, it);
               k.commit(ring, it);
               return Values{};
             });
      return k.add(first, tile.steps);
    });
  });
}

/// A step of b; of two operands, the columns that one warp group multiplies
/// stand together.
void GemmKernel::loadRight(Tile tile, Value depth, Value slot, Value it) {
  Value stage = k.stage(tilesB, slot);
  if (!p.pair) {
    k.tmaLoad(tmaB,
              p.transposeB ? at(tile.batch, tile.col, depth)
                           : at(tile.batch, depth, tile.col),
              stage, ring, it);
    return;
  }
  for (int64_t row = 0; row < cols; row += part) {
    Value col = k.add(tile.col, row / groupCols * part);
    k.tmaLoad(row % groupCols == 0 ? tmaB : tmaPair, at(tile.batch, col, depth),
              k.rows(stage, k.index(row), part), ring, it);
  }
}

Value GemmKernel::product(Value it, Value group, Value acc) {
  k.wait(ring, it);
  Value slot = k.slot(ring, it);
  Value a = k.stage(tilesA, slot), b = k.stage(tilesB, slot);
  if (split)
    b = k.rows(b, k.mul(group, groupCols), groupCols);
  else
    a = k.rows(a, k.mul(group, 64), 64);
  return k.wgmma(a, b, acc, !p.transposeB);
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
    Value lead = k.min(k.index(kLead), tile.steps);
    acc = products(k.index(1), lead, first, group, acc);
    TurnPassOp::create(k.b, k.loc, group, 2);
    acc = products(lead, tile.steps, first, group, acc);
    Values ahead;
    if (loadsAhead())
      ahead = loadExtras(tile, group, 0);
    acc = k.wgmmaWait(0, acc)[0];
    Value end = k.add(first, tile.steps);
    k.release(ring, k.sub(end, 1));
    epilogue(tile, group, acc, ahead);
    return end;
  });
  TurnEdgeOp::create(k.b, k.loc, group, 2, /*first=*/false);
  if (!direct)
    TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/false);
}

void GemmKernel::epilogue(Tile tile, Value group, Value acc, Values ahead) {
  for (int64_t c = 0; c < part; c += kPiece) {
    Values inputs = {k.columns(acc, c, kPiece)};
    if (p.pair)
      inputs.push_back(k.columns(acc, part + c, kPiece));
    auto type = cast<FragmentType>(inputs[0].getType());
    Values raw = loadsAhead() ? ahead : loadExtras(tile, group, c);
    if (loadsAhead() && c + kPiece < part)
      ahead = loadExtras(tile, group, c + kPiece);
    for (Value extra : raw) {
      extra = k.convert(extra, k.b.getF32Type());
      bool row = cast<FragmentType>(extra.getType()).getShape().size() == 1;
      inputs.push_back(row ? k.broadcast(extra, type, 0) : extra);
    }
    Value result = k.map1(
        inputs, [&](ValueRange scalars) { return p.epilogue(k, scalars); });
    store(tile, group, k.convert(result, outElement()), c);
  }
}

void GemmKernel::store(Tile tile, Value group, Value result, int64_t c) {
  Value row = rowOf(tile, group), col = columnOf(tile, group, c);
  if (direct) {
    Value leading = k.i64(sizeN);
    StoreOp::create(
        k.b, k.loc, result, dest, offsetOf(tile, row, col, leading), leading,
        ValueRange{k.sub(tile.rowEnd, row), k.sub(sizeN, col)},
        k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, 1}), vector);
    return;
  }
  Value number = k.add(k.mul(group, kBuffers), c / kPiece % kBuffers);
  Value buffer = k.stage(out, number);
  // The copy before the last one has read this buffer.
  TmaStoreWaitOp::create(k.b, k.loc, kBuffers - 1, /*read=*/true);
  GroupBarrierOp::create(k.b, k.loc, group);
  StoreSharedOp::create(k.b, k.loc, result, buffer);
  GroupBarrierOp::create(k.b, k.loc, group);
  k.tmaStore(buffer, dest, at(batched ? tile.batch : Value(), row, col));
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
  for (Value extra : p.extras) {
    auto memref = cast<MemRefType>(extra.getType());
    bool narrow = memref.getElementTypeBitWidth() == 16;
    registers += kPiece / (memref.getRank() == 1 ? 4 : 2) / (narrow ? 2 : 1);
  }
  return registers <= kMostAhead;
}

Values GemmKernel::loadExtras(Tile tile, Value group, int64_t c) {
  Value row = rowOf(tile, group), col = columnOf(tile, group, c);
  Values loaded;
  for (unsigned i = 0; i < p.extras.size(); ++i)
    loaded.push_back(loadExtra(i, tile, row, col));
  return loaded;
}

/// An extra in the layout of a piece, as it is stored.
Value GemmKernel::loadExtra(unsigned i, Tile tile, Value row, Value col) {
  auto memref = cast<MemRefType>(p.extras[i].getType());
  Type from = memref.getElementType();
  Layout layout = Layout::accumulator(64, kPiece);
  Value rowsLeft = k.sub(tile.rowEnd, row), colsLeft = k.sub(sizeN, col);
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

void GemmKernel::build(gpu::GPUModuleOp kernels) {
  Type index = k.b.getIndexType();
  auto buffer = [](Type type) {
    return MemRefType::get({ShapedType::kDynamic}, type);
  };
  SmallVector<Type> types;
  SmallVector<Value *> names;
  auto take = [&](Value &name, Type type) {
    names.push_back(&name);
    types.push_back(type);
  };
  bool bBatched = batched || p.groups;
  TmaType right = p.transposeB
                      ? tma(p.pair ? part : cols, kStep, element, bBatched)
                      : tma(kStep, 64, element, bBatched);
  take(tmaA, tma(loadedRows, kStep, element, batched));
  take(tmaB, right);
  if (p.pair)
    take(tmaPair, right);
  if (direct)
    take(dest, buffer(outElement()));
  else
    take(dest, tma(64, kPiece, outElement(), batched));
  if (p.groups)
    take(groups, buffer(k.b.getI32Type()));
  for (Value *name : {&kSteps, &rowTiles, &colTiles, &tiles, &sizeM, &sizeN})
    take(*name, index);
  extras.resize(p.extras.size());
  extraStrides.resize(p.extras.size());
  for (auto [i, extra] : llvm::enumerate(p.extras)) {
    take(extras[i], buffer(cast<MemRefType>(extra.getType()).getElementType()));
    take(extraStrides[i], k.b.getI64Type());
  }
  k.begin(kernels, uniqueKernelName(kernels, p.name), types, 3 * kGroupThreads);
  k.kernel.setMinBlocks(1);
  for (auto [i, name] : llvm::enumerate(names))
    *name = k.arg(i);
  if (p.groups) {
    rowTiles = k.loadIndex(groups, k.index(RowTiles::kCount));
    tiles = k.mul(rowTiles, colTiles);
  }
  tilesA = k.alloc(k.tileType({stages, rows, kStep}, element));
  // [N, K]: one panel of K; [K, N]: panels of 64 columns of N.
  tilesB = k.alloc(p.transposeB
                       ? k.tileType({stages, cols, kStep}, element)
                       : k.tileType({stages, cols / 64, kStep, 64}, element));
  if (!direct)
    out = k.alloc(k.tileType({2 * kBuffers, 64, kPiece}, outElement()));
  ring = k.ring(stages, 2);
  k.warpGroups({{"producer", 1, 40, [&](Value) { producer(); }},
                {"consumer", 2, 232, [&](Value group) { consumer(group); }}});
  k.end();
}

void GemmKernel::launch(gpu::GPUModuleOp kernels) {
  KernelOp kernel = k.kernel;
  OpBuilder &b = k.b;
  Location loc = k.loc;
  unsigned rank = d.getRank();
  auto dim = [&](Value memref, unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(loc, memref, i);
  };
  Value m = dim(p.d, rank - 2), n = dim(p.d, rank - 1);
  Value depth = dim(p.a, rank - 1);
  Value mTiles = p.groups ? p.mostRowTiles : k.ceilDiv(m, rows);
  Value nTiles = k.ceilDiv(n, p.pair ? cols / 2 : cols);
  Value count = k.mul(mTiles, nTiles);
  if (batched)
    count = k.mul(count, dim(p.d, 0));
  SmallVector<Value> args, operands = {p.a, p.b};
  if (p.pair)
    operands.push_back(p.pair);
  operands.push_back(p.d);
  if (p.groups)
    operands.push_back(p.groups);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type type = kernel.getArgumentTypes()[i];
    bool bulk = isa<TmaType>(type);
    args.push_back(bulk ? TmaDescriptorOp::create(b, loc, type, operand)
                        : operand);
  }
  args.append({k.ceilDiv(depth, kStep), mTiles, nTiles, count, m, n});
  for (Value extra : p.extras) {
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

void rudnn::tile::emitProduct(const Product &product, OpBuilder &b,
                              gpu::GPUModuleOp kernels,
                              const Machine &machine) {
  GemmKernel kernel(product, machine, b);
  kernel.build(kernels);
  kernel.launch(kernels);
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
  if (int64_t parts = partsOfDepth(op, machine); parts > 1)
    emitSplitProduct(op, parts, b, kernels, machine);
  else
    emitProduct(productOf(op), b, kernels, machine);
  op.erase();
  return success();
}
