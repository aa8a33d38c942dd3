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
// memory with TMA, which clips at the edges. Tiles are walked in columns of 16
// row tiles, so that the blocks that run together share operands in L2.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

constexpr int64_t kRows = 128, kStep = 64, kRowTilesPerGroup = 16;

struct GemmKernel {
  GemmKernel(GemmOp op, const Machine &machine, OpBuilder &b)
      : op(op), machine(machine), k(b, op.getLoc()) {
    d = cast<MemRefType>(op.getOuts()[0].getType());
    element = cast<MemRefType>(op.getA().getType()).getElementType();
    batched = d.getRank() == 3;
    int64_t n = d.getShape().back();
    cols = !ShapedType::isDynamic(n) && n <= 128 ? 128 : 256;
    stages = cols == 256 ? 4 : 6;
    // The epilogue works on pieces of columns: each extra needs registers.
    piece = op.getExtras().empty() ? 128 : 64;
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
  void epilogue(Tile tile, Value group, Value acc);
  Value loadExtra(unsigned i, Tile tile, Value row, Value col,
                  FragmentType type);

  TmaType tma(int64_t rows, int64_t columns, Type type);
  Type outElement() { return d.getElementType(); }

  GemmOp op;
  Machine machine;
  KernelBuilder k;
  MemRefType d;
  Type element;
  bool batched;
  int64_t cols, stages, piece;

  // Kernel arguments and shared memory.
  Value tmaA, tmaB, tmaD, kSteps, rowTiles, colTiles, tiles, sizeM, sizeN;
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

void GemmKernel::consumer(Value group) {
  forEachTile([&](Tile tile, Value first) {
    Value acc = product(first, group, {});
    acc = k.loop(k.index(1), kSteps, k.index(1), {acc},
                 [&](Value step, ValueRange carried) {
                   Value it = k.add(first, step);
                   Value next = product(it, group, carried[0]);
                   // The product before has read its stage.
                   k.wgmmaWait(1, {});
                   k.release(ring, k.sub(it, 1));
                   return Values{next};
                 })[0];
    acc = k.wgmmaWait(0, acc)[0];
    Value end = k.add(first, kSteps);
    k.release(ring, k.sub(end, 1));
    epilogue(tile, group, acc);
    return end;
  });
  TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/false);
}

void GemmKernel::epilogue(Tile tile, Value group, Value acc) {
  Value row = k.add(k.mul(tile.m, kRows), k.mul(group, 64));
  Value mine = k.stage(out, group);
  for (int64_t c = 0; c < cols; c += piece) {
    Value col = k.add(k.mul(tile.n, cols), c);
    Value part = k.columns(acc, c, piece);
    auto type = cast<FragmentType>(part.getType());
    SmallVector<Value> inputs = {part};
    for (unsigned i = 0; i < op.getExtras().size(); ++i)
      inputs.push_back(loadExtra(i, tile, row, col, type));
    Value result = k.map1(inputs, [&](ValueRange scalars) {
      return buildEpilogue(k, op, scalars);
    });
    result = k.convert(result, outElement());
    // The copy before has read the buffer.
    TmaStoreWaitOp::create(k.b, k.loc, 0, /*read=*/true);
    GroupBarrierOp::create(k.b, k.loc, group);
    StoreSharedOp::create(k.b, k.loc, result, mine);
    GroupBarrierOp::create(k.b, k.loc, group);
    k.tmaStore(mine, tmaD, at(tile.batch, row, col));
  }
}

/// An extra as f32 in the layout of the piece.
Value GemmKernel::loadExtra(unsigned i, Tile tile, Value row, Value col,
                            FragmentType type) {
  auto memref = cast<MemRefType>(op.getExtras()[i].getType());
  Type from = memref.getElementType();
  Value rowsLeft = k.sub(sizeM, row), colsLeft = k.sub(sizeN, col);
  if (memref.getRank() == 1) {
    FragmentType slice = k.fragment(type.getLayout().slice(0), from);
    Value loaded =
        LoadOp::create(k.b, k.loc, slice, extras[i], k.i64(col), Value(),
                       ValueRange{colsLeft}, k.b.getDenseI64ArrayAttr({1}), 2);
    return k.broadcast(k.convert(loaded, k.b.getF32Type()), type, 0);
  }
  // Offsets are 64 bits wide: the matrix may have more than 2^31 elements.
  Value leading = extraStrides[i];
  Value wideRow = k.i64(row);
  if (batched)
    wideRow = k.add(wideRow, k.mul(k.i64(tile.batch), k.i64(sizeM)));
  Value offset = k.add(k.mul(wideRow, leading), k.i64(col));
  Value loaded =
      LoadOp::create(k.b, k.loc, k.fragment(type.getLayout(), from), extras[i],
                     offset, leading, ValueRange{rowsLeft, colsLeft},
                     k.b.getDenseI64ArrayAttr({ShapedType::kDynamic, 1}), 2);
  return k.convert(loaded, k.b.getF32Type());
}

LogicalResult GemmKernel::build(gpu::GPUModuleOp kernels) {
  bool transposed = op.getTransposeB();
  Type index = k.b.getIndexType();
  SmallVector<Type> types = {tma(kRows, kStep, element),
                             transposed ? tma(cols, kStep, element)
                                        : tma(kStep, 64, element),
                             tma(64, 64, outElement())};
  types.append(6, index);
  for (Value extra : op.getExtras()) {
    auto memref = cast<MemRefType>(extra.getType());
    types.push_back(
        MemRefType::get({ShapedType::kDynamic}, memref.getElementType()));
    types.push_back(k.b.getI64Type());
  }
  k.begin(kernels, uniqueKernelName(kernels, "gemm"), types, 3 * kGroupThreads);
  k.kernel.setMinBlocks(1);
  Value *names[] = {&tmaA,     &tmaB,  &tmaD,  &kSteps, &rowTiles,
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
  out =
      k.alloc(piece == 64 ? k.tileType({2, 64, 64}, outElement())
                          : k.tileType({2, piece / 64, 64, 64}, outElement()));
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
  Value dest = op.getOuts()[0];
  Value m = dim(dest, rank - 2), n = dim(dest, rank - 1);
  Value depth = dim(op.getA(), rank - 1);
  Value mTiles = k.ceilDiv(m, kRows), nTiles = k.ceilDiv(n, cols);
  Value count = k.mul(mTiles, nTiles);
  if (batched)
    count = k.mul(count, dim(dest, 0));
  SmallVector<Value> args;
  Value operands[] = {op.getA(), op.getB(), dest};
  for (auto [i, operand] : llvm::enumerate(operands))
    args.push_back(
        TmaDescriptorOp::create(b, loc, kernel.getArgumentTypes()[i], operand));
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

/// The op's region on f32: extensions of its arguments and the last rounding
/// are what `convert` does to whole fragments.
Value rudnn::tile::buildEpilogue(KernelBuilder &k, GemmOp op,
                                 ValueRange scalars) {
  Block &block = op.getEpilogue().front();
  IRMapping mapping;
  mapping.map(block.getArguments(), scalars);
  for (Operation &inner : block.without_terminator()) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(inner))
      mapping.map(inner.getResult(0), mapping.lookup(inner.getOperand(0)));
    else
      k.b.clone(inner, mapping);
  }
  Value result = mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
  return result;
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

std::string rudnn::tile::whyNotGemm(GemmOp op) {
  auto d = cast<ShapedType>(op.getOuts()[0].getType());
  if (!d.getElementType().isF16() && !d.getElementType().isBF16())
    return "the result is not f16 or bf16";
  for (Value operand : op->getOperands()) {
    auto type = cast<ShapedType>(operand.getType());
    int64_t last = type.getShape().back();
    // Rows of bulk copies start at multiples of 16 bytes.
    if (ShapedType::isDynamic(last) || last % 8 != 0)
      return "the last extent of an operand is not a static multiple of 8";
  }
  return whyNotEpilogue(op);
}

std::string rudnn::tile::whyNotEpilogue(GemmOp op) {
  for (Operation &inner : op.getEpilogue().front().without_terminator()) {
    if (isa<arith::ExtFOp>(inner) && isa<BlockArgument>(inner.getOperand(0)))
      continue;
    if (isa<arith::TruncFOp>(inner) && inner.getResult(0).hasOneUse() &&
        isa<YieldOp>(*inner.getResult(0).user_begin()))
      continue;
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
            arith::MaximumFOp, arith::MinimumFOp, arith::NegFOp,
            arith::ConstantOp, math::ExpOp, math::Exp2Op, math::RsqrtOp>(
            inner) &&
        inner.getResult(0).getType().isF32())
      continue;
    return "the epilogue has a '" + inner.getName().getStringRef().str() + "'";
  }
  return "";
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
