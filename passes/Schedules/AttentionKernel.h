//===- AttentionKernel.h - State of the attention schedule -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_SCHEDULES_ATTENTIONKERNEL_H
#define RUDNN_PASSES_SCHEDULES_ATTENTIONKERNEL_H

#include "Schedules.h"

#include "rudnn/IR/AttentionOps.h"

namespace rudnn::tile {

inline constexpr int64_t kQueryRows = 128;

/// What is decided before the kernel is built.
struct AttentionShape {
  int64_t headPanels, valuePanels; // panels of 64 columns of q/k and of v/out
  int64_t keyTile;                 // keys of a block
  bool persistent;                 // one block per multiprocessor walks over tiles
  bool outputApart;                // the output does not reuse the queries' tile
  bool boundsImplyEnd;             // the right bound never lies behind the last key
  bool firstMasked, allMasked;     // which blocks of keys need a mask
  bool rightLoop;                  // more than one block may be cut on the right
  bool mayBeEmpty;                 // a row may see no key
};

AttentionShape getAttentionShape(AttentionOp op);

class AttentionKernel {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Values = KernelBuilder::Values;

  AttentionKernel(AttentionOp op, const Machine &machine, mlir::OpBuilder &b);
  void build(mlir::gpu::GPUModuleOp kernels);
  void launch(mlir::gpu::GPUModuleOp kernels);

private:
  struct Tile {
    Value batch, head, keyHead, flatHead, row;
    Value last, blocks, cutRight, cutLeft;
  };
  struct Step {
    Value maximum, weights, sum, rescale;
  };

  Tile tileOf(Value t);
  void addBlocks(Tile &tile);
  /// The body takes the tile, the first trip of the key and value rings and the
  /// number of the tile; it returns the next trip.
  void forEachTile(llvm::function_ref<Value(Tile, Value, Value)> body);

  void producer();
  void consumer(Value group);
  Value scores(Value group, Value it);
  Value update(Value output, Value weights, Value it);
  Value transform(Value scores, const Tile &tile, Value group, Value column);
  Value mask(Value scores, const Tile &tile, Value group, Value column);
  Value loadPerScore(Value buffer, Value source, ValueRange strides, const Tile &tile,
                     Value group, Value column, const Layout &layout);
  Step softmax(Value scores, Value oldMaximum);
  Value scaleRows(Value output, Value factor);
  Values steps(Value from, Value to, Values state, const Tile &tile, Value first,
               Value group, bool masked);
  void finish(const Tile &tile, Value group, Values state, Value last, Value count);
  Values finishRow(ValueRange x);

  AttentionOp op;
  AttentionScores s;
  AttentionShape shape;
  Machine machine;
  KernelBuilder k;
  mlir::Type element;
  double headFactor; // from scores to base-2 exponents

  // Arguments of the kernel.
  Value tmaQ, tmaK, tmaV, tmaO;
  Value rowTiles, heads, tiles, queries, keys, offset;
  Value lseBuffer, maskBuffer, biasBuffer, sinkBuffer;
  Values maskStrides, biasStrides;
  // Shared memory.
  Value tileQ, tilesK, tilesV, tileO, queryRing, keyRing, valueRing;
};

} // namespace rudnn::tile

#endif // RUDNN_PASSES_SCHEDULES_ATTENTIONKERNEL_H
