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
static constexpr int64_t kPairedRows = 2048;

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
/// third of the register file. Rows beyond the last query cost as much as
/// others, so a short sequence that 192 rows do not divide well takes two.
static int64_t groupsOf(int64_t headPanels, int64_t valuePanels,
                        int64_t queries) {
  if (headPanels > 1 || valuePanels > 1)
    return 2;
  auto padded = [&](int64_t rows) {
    return llvm::divideCeil(queries, rows) * rows;
  };
  bool wasteful =
      !ShapedType::isDynamic(queries) && 5 * padded(192) > 6 * padded(128);
  return wasteful ? 2 : 3;
}

int64_t AttentionShape::sharedBytes(bool withOutput) const {
  int64_t columns = (headPanels + (withOutput ? valuePanels : 0)) * queryRows +
                    2 * (headPanels + valuePanels) * keyTile;
  return columns * 128 + 1024; // and the barriers
}

AttentionShape rudnn::tile::getAttentionShape(AttentionOp op) {
  AttentionScores s = getAttentionScores(op);
  ArrayRef<int64_t> q = shapeOf(s.q);
  int64_t headPanels = panels(q[3]), valuePanels = panels(shapeOf(s.v)[3]);
  int64_t keyTile = keyTileOf(headPanels, valuePanels, s.mask || s.bias);
  AttentionShape shape;
  int64_t groups = groupsOf(headPanels, valuePanels, q[2]);
  static_cast<ScoreShape &>(shape) = getScoreShape(s, 64 * groups, keyTile);
  shape.headPanels = headPanels;
  shape.valuePanels = valuePanels;
  shape.groups = groups;

  // A persistent block loads the next tile's keys beside the end of this one.
  // Rows of unequal length are dealt in pairs where the start and end of a tile
  // weigh much, and balanced by the hardware's block scheduler elsewhere.
  bool isStatic = !ShapedType::isDynamic(q[2]) &&
                  !ShapedType::isDynamic(shapeOf(s.k)[2]);
  bool room = shape.sharedBytes(/*withOutput=*/true) <= kMaxSharedBytes;
  shape.paired = room && s.windowRight && isStatic && q[2] <= kPairedRows &&
                 s.queryHeads() % 2 == 0;
  shape.persistent = room && (!s.windowRight || shape.paired);
  shape.outputApart = shape.persistent || valuePanels > headPanels;
  return shape;
}

std::string rudnn::tile::whyNotAttention(AttentionOp op) {
  if (std::string why = whyNotAttentionOperands(op); !why.empty())
    return why;
  AttentionShape shape = getAttentionShape(op);
  if (shape.sharedBytes(shape.outputApart) > kMaxSharedBytes)
    return "the tiles of these head dims need more shared memory than a block "
           "has";
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
    return TmaType::get(context, {1, 1, rows, 64}, element, 128);
  };
  SmallVector<Type> types = {tma(shape.queryRows), tma(shape.keyTile),
                             tma(shape.keyTile), tma(64)};
  appendTypes(types);

  k.begin(kernels, uniqueKernelName(kernels, "attention"), types,
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
  Value out = op.getOuts()[0];
  SmallVector<Value> args;
  Value operands[] = {s.q, s.k, s.v, out};
  for (auto [i, operand] : llvm::enumerate(operands))
    args.push_back(
        TmaDescriptorOp::create(b, loc, kernel.getArgumentTypes()[i], operand));
  Value count = appendArguments(args);
  Value one = k.index(1);
  Value blocks = shape.paired ? k.div(count, 2) : count;
  if (shape.persistent)
    blocks = k.min(blocks, k.index(machine.multiprocessors));
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
