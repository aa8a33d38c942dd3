//===- AttentionKernel.h - State of the attention schedule -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_SCHEDULES_ATTENTIONKERNEL_H
#define RUDNN_PASSES_SCHEDULES_ATTENTIONKERNEL_H

#include "AttentionOptions.h"

namespace rudnn::tile {

/// What is decided before the kernel is built.
struct AttentionShape : ScoreShape {
  int64_t headPanels, valuePanels; // panels of 64 columns of q/k and of v/out
  int64_t groups;                  // warp groups that take 64 query rows each
  bool idleGroups;                 // a warp group may have no rows
  bool queriesInRegisters;         // the products take them from there
  bool persistent;                 // one block per multiprocessor walks over tiles
  bool paired;                     // a persistent block walks over pairs of equal cost
  bool outputApart;                // the output does not reuse the queries' tile

  /// Shared memory of queries, keys and values and, when it is apart, the output.
  int64_t sharedBytes(bool withOutput) const;
};

AttentionShape getAttentionShape(const AttentionScores &s);

class AttentionKernel : AttentionOptions {
public:
  AttentionKernel(const AttentionCall &call, const Machine &machine,
                  mlir::OpBuilder &b)
      : AttentionKernel(call, getAttentionShape(call.scores), machine, b) {}
  void build(mlir::gpu::GPUModuleOp kernels);
  void launch(mlir::gpu::GPUModuleOp kernels);

private:
  AttentionKernel(const AttentionCall &call, const AttentionShape &shape,
                  const Machine &machine, mlir::OpBuilder &b)
      : AttentionOptions(call, shape, b), shape(shape), machine(machine) {}

  /// The body takes the tile, the first trip of the key and value rings and the
  /// number of the tile; it returns the next trip.
  void forEachTile(llvm::function_ref<Value(Tile, Value, Value)> body);
  /// First row of a warp group.
  Value rowOf(const Tile &tile, Value group) {
    return k.add(tile.row, k.mul(group, 64));
  }

  /// Coordinates of a tile's rows or keys from `row` on.
  Values rowsAt(const Tile &tile, Value row);
  Values keysAt(const Tile &tile, Value row);
  Value describe(unsigned argument, Value operand);

  void producer();
  void consumer(Value group);
  void compute(const Tile &tile, Value group, Value first, Value count);
  /// Steps [from, to) of a tile without a product.
  void pass(Value from, Value to, Value first, Value group);
  Value scores(Value group, Value it);
  Value update(Value output, Value weights, Value it);
  Values steps(Value from, Value to, Values state, const Tile &tile, Value first,
               Value group, bool masked);
  Values allSteps(Values state, const Tile &tile, const Right &right,
                  Value first, Value group);
  void finish(const Tile &tile, Value group, Values state, Value last, Value count);

  AttentionShape shape;
  Machine machine;

  // Arguments of the kernel.
  Value tmaQ, tmaK, tmaV, tmaO;
  // Shared memory.
  Value queryOperand; // registers of a warp group's queries
  Value tileQ, tilesK, tilesV, tileO, queryRing, keyRing, valueRing;
};

} // namespace rudnn::tile

#endif // RUDNN_PASSES_SCHEDULES_ATTENTIONKERNEL_H
