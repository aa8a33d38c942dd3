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

AttentionShape rudnn::tile::getAttentionShape(AttentionOp op) {
  AttentionScores s = getAttentionScores(op);
  ArrayRef<int64_t> q = shapeOf(s.q);
  int64_t headPanels = panels(q[3]), valuePanels = panels(shapeOf(s.v)[3]);
  int64_t keyTile = keyTileOf(headPanels, valuePanels, s.mask || s.bias);
  AttentionShape shape;
  static_cast<ScoreShape &>(shape) = getScoreShape(s, kQueryRows, keyTile);
  shape.headPanels = headPanels;
  shape.valuePanels = valuePanels;

  int64_t bytesQ = shape.headPanels * kQueryRows * 128;
  int64_t bytesO = shape.valuePanels * kQueryRows * 128;
  int64_t bytesKV =
      2 * (shape.headPanels + shape.valuePanels) * shape.keyTile * 128;
  bool room = bytesQ + bytesO + bytesKV + 1024 <= kMaxSharedBytes;
  // Rows of unequal length are balanced by the hardware's block scheduler.
  shape.persistent = room && !s.windowRight;
  shape.outputApart = shape.persistent || bytesO > bytesQ;
  return shape;
}

std::string rudnn::tile::whyNotAttention(AttentionOp op) {
  if (std::string why = whyNotAttentionOperands(op); !why.empty())
    return why;
  AttentionShape shape = getAttentionShape(op);
  int64_t bytes =
      shape.headPanels * kQueryRows * 128 +
      (shape.outputApart ? shape.valuePanels * kQueryRows * 128 : 0) +
      2 * (shape.headPanels + shape.valuePanels) * shape.keyTile * 128;
  if (bytes + 1024 > kMaxSharedBytes)
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
  k.loop(k.blockId(), tiles, k.gridSize(), {k.index(0), k.index(0)},
         [&](Value t, ValueRange carried) {
           Value next = body(tileOf(t), carried[0], carried[1]);
           return Values{next, k.add(carried[1], 1)};
         });
}

void AttentionKernel::build(gpu::GPUModuleOp kernels) {
  MLIRContext *context = k.b.getContext();
  auto tma = [&](int64_t rows) -> Type {
    return TmaType::get(context, {1, 1, rows, 64}, element, 128);
  };
  SmallVector<Type> types = {tma(kQueryRows), tma(shape.keyTile),
                             tma(shape.keyTile), tma(64)};
  appendTypes(types);

  k.begin(kernels, uniqueKernelName(kernels, "attention"), types,
          3 * kGroupThreads);
  k.kernel.setMinBlocks(1);
  Value *names[] = {&tmaQ, &tmaK, &tmaV, &tmaO};
  for (auto [i, name] : llvm::enumerate(names))
    *name = k.arg(i);
  takeArguments(4);

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
  Value out = op.getOuts()[0];
  SmallVector<Value> args;
  Value operands[] = {s.q, s.k, s.v, out};
  for (auto [i, operand] : llvm::enumerate(operands))
    args.push_back(
        TmaDescriptorOp::create(b, loc, kernel.getArgumentTypes()[i], operand));
  Value count = appendArguments(args);
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
