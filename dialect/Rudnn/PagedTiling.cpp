//===- PagedTiling.cpp - Loops of the paged attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kinds of parallel loops: query rows, which page tables and caches don't
// follow, and heads. A step of a cache head covers the query heads that read
// it.
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/PagedOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// Adds loops to an op whose operands are whole.
class LoopBuilder {
public:
  explicit LoopBuilder(Operation *op) : op(op) {
    for (Value operand : op->getOperands()) {
      int64_t rank = shapeOf(operand).size();
      loops.operandDims.emplace_back(rank, -1);
      loops.factors.emplace_back(rank, 1);
    }
  }
  /// A new parallel loop; it runs where along() says.
  int64_t add() {
    loops.iterators.push_back(utils::IteratorType::parallel);
    return loops.iterators.size() - 1;
  }
  /// `loop` runs along `dim` of the operand, by `factor` elements a step.
  void along(int64_t loop, OpOperand &operand, int64_t dim,
             int64_t factor = 1) {
    loops.operandDims[operand.getOperandNumber()][dim] = loop;
    loops.factors[operand.getOperandNumber()][dim] = factor;
  }
  void along(int64_t loop, MutableOperandRange operands, int64_t dim,
             int64_t factor = 1) {
    for (OpOperand &operand : operands)
      along(loop, operand, dim, factor);
  }
  /// A loop over query rows: of the page operands and of dim 0 of `operands`.
  template <typename OpTy>
  int64_t addRows(OpTy paged, ArrayRef<OpOperand *> operands) {
    int64_t loop = add();
    along(loop, paged.getSequenceIdsMutable(), 0);
    along(loop, paged.getPositionsMutable(), 0);
    for (OpOperand *operand : operands)
      along(loop, *operand, 0);
    return loop;
  }

  Operation *op;
  TilingLoops loops;
};

} // namespace

FailureOr<TilingResult> rudnn::tilePaged(OpBuilder &b, Operation *op,
                                         const TilingLoops &loops,
                                         ArrayRef<OpFoldResult> offsets,
                                         ArrayRef<OpFoldResult> sizes) {
  int64_t rows = loops.operandDims[0][0];
  SmallVector<Range> domain = tilingDomain(b, op, loops);
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    if (static_cast<int64_t>(loop) == rows || getConstantIntValue(size))
      continue;
    return op->emitOpError(
               "can't be tiled into a varying number of heads: give "
               "a tile size that divides ")
           << getConstantIntValue(domain[loop].size).value_or(0);
  }
  return tileAlongDims(b, op, loops, offsets, sizes);
}

TilingLoops PagedAttentionOp::getTilingLoops() {
  LoopBuilder b(*this);
  int64_t group = shapeOf(getQ())[1] / shapeOf(getK())[2];
  int64_t rows = b.addRows(*this, {&getQMutable()}), heads = b.add();
  b.along(rows, getOutsMutable(), 0);
  b.along(heads, getQMutable(), 1, group);
  b.along(heads, getKMutable(), 2);
  b.along(heads, getVMutable(), 2);
  b.along(heads, getSinksMutable(), 0, group);
  b.along(heads, getOutsMutable(), 1, group);
  return b.loops;
}

TilingLoops PagedMlaOp::getTilingLoops() {
  LoopBuilder b(*this);
  int64_t rows = b.addRows(*this, {&getQMutable(), &getQpMutable()});
  int64_t heads = b.add();
  b.along(rows, getOutsMutable(), 0);
  for (OpOperand *operand : {&getQMutable(), &getQpMutable()})
    b.along(heads, *operand, 1);
  b.along(heads, getOutsMutable(), 1);
  return b.loops;
}

TilingLoops PagedAppendOp::getTilingLoops() {
  LoopBuilder b(*this);
  int64_t heads = b.add();
  for (OpOperand *operand : {&getNewKMutable(), &getNewVMutable()})
    b.along(heads, *operand, 1);
  b.along(heads, getOutsMutable(), 2);
  return b.loops;
}

/// The gradients of caches sum over rows: rows are a loop without them only.
TilingLoops PagedAttentionBackwardOp::getTilingLoops() {
  LoopBuilder b(*this);
  int64_t group = shapeOf(getQ())[1] / shapeOf(getK())[2];
  MutableOperandRange outs = getOutsMutable();
  if (getGradients() == PagedGradients::Dq)
    b.addRows(*this, {&getQMutable(), &getGradOutMutable(), &outs[0]});
  int64_t heads = b.add();
  b.along(heads, getQMutable(), 1, group);
  b.along(heads, getKMutable(), 2);
  b.along(heads, getVMutable(), 2);
  b.along(heads, getGradOutMutable(), 1, group);
  b.along(heads, getSinksMutable(), 0, group);
  for (auto [index, gradient] : llvm::enumerate(getGradientList())) {
    if (gradient == PagedGradients::Dq)
      b.along(heads, outs[index], 1, group);
    else if (gradient == PagedGradients::Dsinks)
      b.along(heads, outs[index], 0, group);
    else
      b.along(heads, outs[index], 2);
  }
  return b.loops;
}

/// The gradients of the latent cache sum over rows and heads: no loops with
/// them.
TilingLoops PagedMlaBackwardOp::getTilingLoops() {
  LoopBuilder b(*this);
  if (bitEnumContainsAny(getGradients(),
                         PagedGradients::Dlatent | PagedGradients::Dkp))
    return b.loops;
  SmallVector<OpOperand *> operands{&getQMutable(), &getQpMutable(),
                                    &getGradOutMutable()};
  for (OpOperand &out : getOutsMutable())
    operands.push_back(&out);
  b.addRows(*this, operands);
  int64_t heads = b.add();
  for (OpOperand *operand : operands)
    b.along(heads, *operand, 1);
  return b.loops;
}
