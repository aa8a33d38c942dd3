//===- AttentionLaunch.cpp - Shapes, arguments and launch of attention -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

using namespace mlir;
using namespace rudnn;
using namespace rudnn::tile;

static int64_t panels(int64_t extent) { return llvm::divideCeil(extent, 64); }

/// Keys of a block: registers for the scores, the packed weights and the output stay
/// below about 200 a thread, two stages of keys and values fit in shared memory. What
/// is loaded for each score (mask, bias) needs registers too.
static int64_t keyTileOf(int64_t headPanels, int64_t valuePanels, bool perScore) {
  if (perScore)
    return 64;
  if (valuePanels <= 2 && headPanels <= 2)
    return 128;
  if (headPanels <= 3 && valuePanels <= 3)
    return 96;
  return 80;
}

AttentionShape rudnn::tile::getAttentionShape(AttentionOp op) {
  AttentionScores s = getAttentionScores(op);
  ArrayRef<int64_t> q = shapeOf(s.q), keys = shapeOf(s.k);
  AttentionShape shape;
  shape.headPanels = panels(q[3]);
  shape.valuePanels = panels(shapeOf(s.v)[3]);
  shape.keyTile = keyTileOf(shape.headPanels, shape.valuePanels, s.mask || s.bias);

  int64_t bytesQ = shape.headPanels * kQueryRows * 128;
  int64_t bytesO = shape.valuePanels * kQueryRows * 128;
  int64_t bytesKV =
      2 * (shape.headPanels + shape.valuePanels) * shape.keyTile * 128;
  bool room = bytesQ + bytesO + bytesKV + 1024 <= kMaxSharedBytes;
  // Rows of unequal length are balanced by the hardware's block scheduler.
  shape.persistent = room && !s.windowRight;
  shape.outputApart = shape.persistent || bytesO > bytesQ;

  int64_t sq = q[2], sk = keys[2];
  bool isStatic = !ShapedType::isDynamic(sq) && !ShapedType::isDynamic(sk);
  bool aligned =
      !ShapedType::isDynamic(sk) && sk % shape.keyTile == 0 && sk > 0;
  bool bottomRight = !s.queryOffset && s.causal != Causal::TopLeft;
  shape.boundsImplyEnd =
      aligned || (bottomRight && s.windowRight && *s.windowRight == 0);
  shape.allMasked = !!s.mask;
  shape.firstMasked = s.usesPosition() || s.mask || !aligned;
  // The diagonal of a tile of rows stays within one block of keys.
  bool oneBlock = isStatic && bottomRight && s.windowRight == 0 &&
                  shape.keyTile == kQueryRows && sk % kQueryRows == 0 &&
                  sq % kQueryRows == 0;
  shape.rightLoop = s.windowRight && !oneBlock;
  // Unless the diagonal stays within one block, rows of a tile may see no key of the
  // block that comes first.
  shape.mayBeEmpty = s.mask || s.bias || s.windowLeft ||
                     (s.windowRight && !(oneBlock && sk >= sq)) ||
                     ShapedType::isDynamic(sk) || sk == 0;
  return shape;
}

std::string rudnn::tile::whyNotAttention(AttentionOp op) {
  AttentionScores s = getAttentionScores(op);
  Type element = elementTypeOf(s.q);
  if (!element.isF16() && !element.isBF16())
    return "the elements are neither f16 nor bf16";
  int64_t d = shapeOf(s.q)[3], dv = shapeOf(s.v)[3];
  if (d % 8 != 0 || dv % 8 != 0)
    return "a head dim is not a multiple of 8";
  if (d > 256 || dv > 256)
    return "a head dim is more than 256";
  AttentionShape shape = getAttentionShape(op);
  int64_t bytes =
      shape.headPanels * kQueryRows * 128 +
      (shape.outputApart ? shape.valuePanels * kQueryRows * 128 : 0) +
      2 * (shape.headPanels + shape.valuePanels) * shape.keyTile * 128;
  if (bytes + 1024 > kMaxSharedBytes)
    return "the tiles of these head dims need more shared memory than a block "
           "has";
  for (Value extent : {s.q, s.k})
    if (shapeOf(extent)[2] == 0)
      return "there are no rows or no keys";
  return "";
}

//===----------------------------------------------------------------------===//
// The kernel's frame
//===----------------------------------------------------------------------===//

void AttentionKernel::forEachTile(
    function_ref<Value(Tile, Value, Value)> body) {
  if (!shape.persistent) {
    body(tileOf(k.blockId()), k.index(0), k.index(0));
    return;
  }
  k.loop(k.blockId(), tiles, k.gridSize(), {k.index(0), k.index(0)},
         [&](Value t, ValueRange carried) {
           Value next = body(tileOf(t), carried[0], carried[1]);
           return Values{next, k.add(carried[1], 1)};
         });
}

void AttentionKernel::build(gpu::GPUModuleOp kernels) {
  MLIRContext *context = k.b.getContext();
  Type index = k.b.getIndexType(), i64 = k.b.getI64Type(),
       f32 = k.b.getF32Type();
  auto tma = [&](int64_t rows) -> Type {
    return TmaType::get(context, {1, 1, rows, 64}, element, 128);
  };
  auto buffer = [](Type type) -> Type {
    return MemRefType::get({ShapedType::kDynamic}, type);
  };
  SmallVector<Type> types = {tma(kQueryRows), tma(shape.keyTile),
                             tma(shape.keyTile), tma(64)};
  types.append(6, index);
  unsigned next = types.size();
  if (op.getLseOut())
    types.push_back(buffer(f32));
  for (Value source : {s.mask, s.bias})
    if (source) {
      types.push_back(buffer(elementTypeOf(source)));
      types.append(3, i64);
    }
  if (s.sinks)
    types.push_back(buffer(elementTypeOf(s.sinks)));

  k.begin(kernels, uniqueKernelName(kernels, "attention"), types,
          3 * kGroupThreads);
  k.kernel.setMinBlocks(1);
  Value *names[] = {&tmaQ,  &tmaK,  &tmaV,    &tmaO, &rowTiles,
                    &heads, &tiles, &queries, &keys, &offset};
  for (auto [i, name] : llvm::enumerate(names))
    *name = k.arg(i);
  auto take = [&] { return k.arg(next++); };
  if (op.getLseOut())
    lseBuffer = take();
  auto takeScores = [&](Value &buffer, Values &strides) {
    buffer = take();
    for (int i = 0; i < 3; ++i)
      strides.push_back(take());
  };
  if (s.mask)
    takeScores(maskBuffer, maskStrides);
  if (s.bias)
    takeScores(biasBuffer, biasStrides);
  if (s.sinks)
    sinkBuffer = take();

  tileQ = k.alloc(k.tileType({shape.headPanels, kQueryRows, 64}, element));
  tilesK =
      k.alloc(k.tileType({2, shape.headPanels, shape.keyTile, 64}, element));
  tilesV =
      k.alloc(k.tileType({2, shape.valuePanels, shape.keyTile, 64}, element));
  tileO = k.alloc(k.tileType({shape.valuePanels, kQueryRows, 64}, element),
                  shape.outputApart ? Value() : tileQ);
  queryRing = k.ring(1, 2);
  keyRing = k.ring(2, 2);
  valueRing = k.ring(2, 2);
  k.warpGroups({{"producer", 1, 24, [&](Value) { producer(); }},
                {"consumer", 2, 240, [&](Value group) { consumer(group); }}});
  k.end();
}

void AttentionKernel::launch(gpu::GPUModuleOp kernels) {
  KernelOp kernel = k.kernel;
  OpBuilder &b = k.b;
  Location loc = k.loc;
  auto dim = [&](Value memref, unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(loc, memref, i);
  };
  Value out = op.getOuts()[0];
  Value batch = dim(s.q, 0), sq = dim(s.q, 2), sk = dim(s.k, 2);
  Value mTiles = k.ceilDiv(sq, kQueryRows);
  Value headCount = k.mul(batch, s.queryHeads());
  Value count = k.mul(headCount, mTiles);
  SmallVector<Value> args;
  Value operands[] = {s.q, s.k, s.v, out};
  for (auto [i, operand] : llvm::enumerate(operands))
    args.push_back(
        TmaDescriptorOp::create(b, loc, kernel.getArgumentTypes()[i], operand));
  Value first = s.queryOffset;
  if (!first)
    first = s.causal == Causal::TopLeft ? k.index(0) : k.sub(sk, sq);
  args.append({mTiles, headCount, count, sq, sk, first});
  if (op.getLseOut())
    args.push_back(op.getLseOut());
  for (Value source : {s.mask, s.bias}) {
    if (!source)
      continue;
    args.push_back(source);
    // Strides of a dense tensor; 0 where an extent of 1 is broadcast.
    ArrayRef<int64_t> extents = shapeOf(source);
    Value stride = k.i64(dim(source, 3));
    SmallVector<Value> strides(3);
    for (int d = 2; d >= 0; --d) {
      Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
      strides[d] = extents[d] == 1 ? zero : stride;
      stride = k.mul(stride, k.i64(dim(source, d)));
    }
    args.append(strides);
  }
  if (s.sinks)
    args.push_back(s.sinks);
  Value one = k.index(1);
  Value blocks =
      shape.persistent ? k.min(count, k.index(machine.multiprocessors)) : count;
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
  LaunchOp::create(b, loc, symbol, blocks, one, one, args);
}

LogicalResult rudnn::tile::scheduleAttention(AttentionOp op,
                                             gpu::GPUModuleOp kernels,
                                             const Machine &machine) {
  if (!isa<MemRefType>(op.getOuts()[0].getType()))
    return op.emitOpError("must be on memrefs (bufferize first)");
  if (std::string why = whyNotAttention(op); !why.empty())
    return op.emitOpError("the sm_90a schedule does not apply: ") << why;
  OpBuilder b(op);
  AttentionKernel kernel(op, machine, b);
  kernel.build(kernels);
  kernel.launch(kernels);
  op.erase();
  return success();
}
