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

/// Up to so many query rows causal tiles are dealt in pairs.
static constexpr int64_t kPairedRows = 4096;

static int64_t panels(int64_t extent) { return llvm::divideCeil(extent, 64); }

/// Keys of a block: registers for the scores, the packed weights and the output
/// stay below about 200 a thread, two stages of keys and values fit in shared
/// memory. What is loaded for each score (mask, bias) needs registers too.
static int64_t keyTileOf(int64_t headPanels, int64_t valuePanels,
                         bool perScore) {
  if (perScore)
    return 64;
  if (valuePanels <= 2 && headPanels <= 2)
    return 128;
  if (headPanels <= 3 && valuePanels <= 3)
    return 96;
  return 80;
}

/// Warp groups of 64 query rows each. With head dims up to 64 the exponentials
/// cost as much as the products: three groups keep both units busier than two,
/// and their registers (scores, weights and output: 128 a thread) fit into a
/// third of the register file.
static int64_t groupsOf(int64_t headPanels, int64_t valuePanels) {
  return headPanels > 1 || valuePanels > 1 ? 2 : 3;
}

int64_t AttentionShape::sharedBytes(bool withOutput) const {
  int64_t columns = (headPanels + (withOutput ? valuePanels : 0)) * queryRows +
                    2 * (headPanels + valuePanels) * keyTile;
  return columns * 128 + 1024; // and the barriers
}

AttentionShape rudnn::tile::getAttentionShape(const AttentionScores &s) {
  int64_t headPanels = panels(shapeOf(s.q).back()),
          valuePanels = panels(shapeOf(s.v).back());
  // Lengths of sequences are known on the device only.
  int64_t rows = s.isRagged() ? ShapedType::kDynamic : shapeOf(s.q)[2];
  int64_t keyTile = keyTileOf(headPanels, valuePanels, s.mask || s.bias);
  AttentionShape shape;
  int64_t groups = groupsOf(headPanels, valuePanels), tileRows = 64 * groups;
  static_cast<ScoreShape &>(shape) = getScoreShape(s, tileRows, keyTile, 64);
  shape.headPanels = headPanels;
  shape.valuePanels = valuePanels;
  shape.groups = groups;
  shape.idleGroups =
      ShapedType::isDynamic(rows) || llvm::alignTo(rows, 64) % tileRows != 0;
  // 16 registers for each panel: two groups have them as long as the scores and
  // the output take no more than 64 each.
  shape.queriesInRegisters = groups == 2 && headPanels <= 2 && valuePanels <= 2;

  // A persistent block loads the next tile's keys beside the end of this one.
  // Rows of unequal length are dealt in pairs where the start and end of a tile
  // weigh much, and balanced by the hardware's block scheduler elsewhere.
  bool isStatic =
      !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(shapeOf(s.k)[2]);
  bool room = shape.sharedBytes(/*withOutput=*/true) <= kMaxSharedBytes;
  shape.paired = room && s.windowRight && isStatic && rows <= kPairedRows &&
                 s.queryHeads() % 2 == 0;
  shape.persistent = room && !s.isRagged() && (!s.windowRight || shape.paired);
  shape.outputApart = shape.persistent || valuePanels > headPanels;
  return shape;
}

std::string rudnn::tile::whyNotAttention(Operation *op) {
  AttentionScores s = AttentionCall(op).scores;
  if (std::string why = whyNotAttentionOperands(s); !why.empty())
    return why;
  AttentionShape shape = getAttentionShape(s);
  if (shape.sharedBytes(shape.outputApart) > kMaxSharedBytes)
    return "the tiles of these head dims need more shared memory than a block "
           "has";
  return "";
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

// A bulk copy compares each coordinate with the extent of its dim, and adds up
// coordinates times strides modulo 2^64. For packed rows the descriptor has two
// dims more: with R the stride of a row in bytes, the coordinates
//   a = 2^30, stride 2^34 - R:  together -2^30 R
//   b = first row + rows of the sequence, stride R
//   r = 2^30 - rows of the sequence + row, stride R, extent 2^30
// address row `first row + row`, and r ends where the sequence does: what lies
// behind it reads as zero and is not written. (The same trick is known from the
// ragged descriptors of Triton's kernels.)
static constexpr int64_t kEnd = int64_t(1) << 30;

static KernelBuilder::Values raggedAt(KernelBuilder &k, Value first,
                                      Value count, Value head, Value row) {
  return {k.index(kEnd), k.add(first, count), head,
          k.add(k.sub(k.index(kEnd), count), row), k.index(0)};
}

AttentionKernel::Values AttentionKernel::rowsAt(const Tile &tile, Value row) {
  if (s.isRagged())
    return raggedAt(k, tile.firstRow, tile.queries, tile.head, row);
  return {tile.batch, tile.head, row, k.index(0)};
}

AttentionKernel::Values AttentionKernel::keysAt(const Tile &tile, Value row) {
  if (s.isRagged())
    return raggedAt(k, tile.firstKey, tile.keys, tile.keyHead, row);
  return {tile.batch, tile.keyHead, row, k.index(0)};
}

/// The descriptor of an operand; of a packed one with the dims above.
Value AttentionKernel::describe(unsigned argument, Value operand) {
  auto type = cast<TmaType>(k.kernel.getArgumentTypes()[argument]);
  if (s.isRagged()) {
    OpBuilder &b = k.b;
    ArrayRef<int64_t> shape = shapeOf(operand);
    int64_t row = shape[1] * shape[2];
    int64_t back = (int64_t(1) << 34) / (element.getIntOrFloatBitWidth() / 8);
    SmallVector<int64_t> extents = {INT32_MAX, INT32_MAX, shape[1], kEnd,
                                    shape[2]};
    SmallVector<int64_t> strides = {back - row, row, shape[2], row, 1};
    auto view = MemRefType::get(
        extents, element, StridedLayoutAttr::get(b.getContext(), 0, strides));
    operand = memref::ReinterpretCastOp::create(b, k.loc, view, operand,
                                                /*offset=*/0, extents, strides);
  }
  return TmaDescriptorOp::create(k.b, k.loc, type, operand);
}

//===----------------------------------------------------------------------===//
// The kernel's frame
//===----------------------------------------------------------------------===//

void AttentionKernel::forEachTile(
    function_ref<Value(Tile, Value, Value)> body) {
  if (s.isRagged()) {
    // A slot without rows is no trip.
    Tile tile = tileOf(k.blockId());
    Value trips = k.select(tile.valid, k.index(1), k.index(0));
    k.loop(k.index(0), trips, k.index(1), k.index(0),
           [&](Value trip, ValueRange carried) -> Values {
             return {body(tile, carried[0], trip)};
           });
    return;
  }
  if (!shape.persistent) {
    body(tileOf(k.blockId()), k.index(0), k.index(0));
    return;
  }
  Values start = {k.index(0), k.index(0)};
  auto run = [&](Tile tile, ValueRange carried) {
    Value next = body(tile, carried[0], carried[1]);
    return Values{next, k.add(carried[1], 1)};
  };
  if (!shape.paired) {
    k.loop(
        k.blockId(), tiles, k.gridSize(), start,
        [&](Value t, ValueRange carried) { return run(tileOf(t), carried); });
    return;
  }
  k.loop(k.blockId(), k.div(tiles, 2), k.gridSize(), start,
         [&](Value pair, ValueRange carried) {
           return k.loop(k.index(0), k.index(2), k.index(1), carried,
                         [&](Value second, ValueRange inner) {
                           return run(tileOfPair(pair, second), inner);
                         });
         });
}

void AttentionKernel::build(gpu::GPUModuleOp kernels) {
  MLIRContext *context = k.b.getContext();
  auto tma = [&](int64_t rows) -> Type {
    SmallVector<int64_t> box = {1, 1, rows, 64};
    if (s.isRagged())
      box.insert(box.begin(), 1);
    return TmaType::get(context, box, element, 128);
  };
  SmallVector<Type> types = {tma(shape.queryRows), tma(shape.keyTile),
                             tma(shape.keyTile), tma(64)};
  appendTypes(types);

  k.begin(kernels, uniqueKernelName(kernels, kernelName()), types,
          (1 + shape.groups) * kGroupThreads);
  k.kernel.setMinBlocks(1);
  Value *names[] = {&tmaQ, &tmaK, &tmaV, &tmaO};
  for (auto [i, name] : llvm::enumerate(names))
    *name = k.arg(i);
  takeArguments(4);

  tileQ = k.alloc(k.tileType({shape.headPanels, shape.queryRows, 64}, element));
  tilesK =
      k.alloc(k.tileType({2, shape.headPanels, shape.keyTile, 64}, element));
  tilesV =
      k.alloc(k.tileType({2, shape.valuePanels, shape.keyTile, 64}, element));
  tileO = k.alloc(k.tileType({shape.valuePanels, shape.queryRows, 64}, element),
                  shape.outputApart ? Value() : tileQ);
  queryRing = k.ring(1, shape.groups);
  keyRing = k.ring(2, shape.groups);
  valueRing = k.ring(2, shape.groups);
  // 512 registers for each of 128 threads.
  bool three = shape.groups == 3;
  k.warpGroups({{"producer", 1, three ? 32 : 24, [&](Value) { producer(); }},
                {"consumer", int32_t(shape.groups), three ? 160 : 240,
                 [&](Value group) { consumer(group); }}});
  k.end();
}

void AttentionKernel::launch(gpu::GPUModuleOp kernels) {
  KernelOp kernel = k.kernel;
  OpBuilder &b = k.b;
  Location loc = k.loc;
  SmallVector<Value> args;
  Value operands[] = {s.q, s.k, s.v, call.out};
  for (auto [i, operand] : llvm::enumerate(operands))
    args.push_back(describe(i, operand));
  Value count = appendArguments(args);
  Value one = k.index(1);
  Value blocks = shape.paired ? k.div(count, 2) : count;
  if (shape.persistent)
    blocks = k.min(blocks, k.index(machine.multiprocessors));
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
  LaunchOp::create(b, loc, symbol, blocks, one, one, args);
}

LogicalResult rudnn::tile::scheduleAttention(Operation *op,
                                             gpu::GPUModuleOp kernels,
                                             const Machine &machine) {
  AttentionCall call(op);
  if (!isa<MemRefType>(call.out.getType()))
    return op->emitOpError("must be on memrefs (bufferize first)");
  if (std::string why = whyNotAttention(op); !why.empty())
    return op->emitOpError("the sm_90a schedule does not apply: ") << why;
  OpBuilder b(op);
  AttentionKernel kernel(call, machine, b);
  kernel.build(kernels);
  kernel.launch(kernels);
  op->erase();
  return success();
}
