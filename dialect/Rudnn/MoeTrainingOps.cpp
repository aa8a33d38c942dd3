//===- MoeTrainingOps.cpp - Verifiers of the MoE gradients -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

using namespace mlir;
using namespace rudnn;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

/// `value` has this shape and element type.
static LogicalResult verifyLike(Operation *op, StringRef clause, StringRef name,
                                Value value, ArrayRef<int64_t> shape,
                                Type type) {
  if (failed(verifyShape(op, clause, name, value, shape)))
    return failure();
  return verifyElementType(op, clause, name, value, type);
}

//===----------------------------------------------------------------------===//
// router_weights, router_backward
//===----------------------------------------------------------------------===//

/// logits [T, E] and ids [T, K]: clauses `prefix`1 and `prefix`2.
static LogicalResult verifyChosen(Operation *op, const std::string &prefix,
                                  Value logits, Value ids) {
  if (failed(verifyRank(op, prefix + "1", "logits", logits, 2)) ||
      failed(verifyExtent(op, prefix + "1", "E, the second extent of logits,",
                          shapeOf(logits)[1], 1)) ||
      failed(verifyShape(op, prefix + "2", "ids", ids,
                         {shapeOf(logits)[0], kDynamic})))
    return failure();
  return verifyExtent(op, prefix + "2", "K, the second extent of ids,",
                      shapeOf(ids)[1], 1,
                      std::min<int64_t>(64, shapeOf(logits)[1]));
}

LogicalResult MoeRouterWeightsOp::verify() {
  const std::string c = "moe_router_weights_c";
  if (failed(verifyDestination(*this, c + "5")) ||
      failed(verifyChosen(*this, c, getLogits(), getIds())) ||
      failed(verifyLike(*this, c + "3", "the output", getOuts()[0],
                        shapeOf(getIds()), Float32Type::get(getContext()))))
    return failure();
  return verifyPositiveFinite(*this, c + "4", "scale", getScale());
}

TilingLoops MoeRouterWeightsOp::getTilingLoops() { return getRowLoops(*this); }

LogicalResult MoeRouterBackwardOp::verify() {
  const std::string c = "moe_router_backward_c";
  if (failed(verifyDestination(*this, c + "6")) ||
      failed(verifyChosen(*this, c, getLogits(), getIds())) ||
      failed(verifyLike(*this, c + "3", "grad", getGrad(), shapeOf(getIds()),
                        Float32Type::get(getContext()))) ||
      failed(verifyLike(*this, c + "4", "the output", getOuts()[0],
                        shapeOf(getLogits()), elementTypeOf(getLogits()))))
    return failure();
  return verifyPositiveFinite(*this, c + "5", "scale", getScale());
}

TilingLoops MoeRouterBackwardOp::getTilingLoops() { return getRowLoops(*this); }

//===----------------------------------------------------------------------===//
// combine_backward, dispatch_backward
//===----------------------------------------------------------------------===//

LogicalResult MoeCombineBackwardOp::verify() {
  const std::string c = "moe_combine_backward_c";
  if (failed(verifyDestination(*this, c + "8", 2, 2)) ||
      failed(verifyMatrix(*this, c + "1", "y", "W", getY())) ||
      failed(verifyRank(*this, c + "2", "slot_rows", getSlotRows(), 2)))
    return failure();
  ArrayRef<int64_t> slots = shapeOf(getSlotRows()), rows = shapeOf(getY());
  Type type = elementTypeOf(getY());
  if (failed(verifyExtent(*this, c + "2", "K, the second extent of slot_rows,",
                          slots[1], 1)) ||
      failed(verifyLike(*this, c + "3", "grad", getGrad(), {slots[0], rows[1]},
                        type)) ||
      failed(
          verifyShape(*this, c + "4", "row_slots", getRowSlots(), {rows[0]})) ||
      failed(verifyShape(*this, c + "5", "weights", getWeights(), slots)) ||
      failed(verifyLike(*this, c + "6", "dy", getOuts()[0], rows, type)))
    return failure();
  return verifyLike(*this, c + "7", "dweights", getOuts()[1], slots,
                    Float32Type::get(getContext()));
}

LogicalResult MoeDispatchBackwardOp::verify() {
  const std::string c = "moe_dispatch_backward_c";
  if (failed(verifyDestination(*this, c + "4")) ||
      failed(verifyMatrix(*this, c + "1", "grad", "H", getGrad())) ||
      failed(verifyRank(*this, c + "2", "slot_rows", getSlotRows(), 2)) ||
      failed(verifyExtent(*this, c + "2", "K, the second extent of slot_rows,",
                          shapeOf(getSlotRows())[1], 1)))
    return failure();
  return verifyLike(*this, c + "3", "dx", getOuts()[0],
                    {shapeOf(getSlotRows())[0], shapeOf(getGrad())[1]},
                    elementTypeOf(getGrad()));
}

TilingLoops MoeDispatchBackwardOp::getTilingLoops() {
  TilingLoops loops;
  loops.iterators.assign(2, utils::IteratorType::parallel);
  // grad, slot_rows, dx.
  loops.operandDims = {{-1, 1}, {0, -1}, {0, 1}};
  return loops;
}

//===----------------------------------------------------------------------===//
// experts_backward
//===----------------------------------------------------------------------===//

LogicalResult MoeExpertsBackwardOp::verify() {
  const std::string c = "moe_experts_backward_c";
  if (failed(verifyDestination(*this, c + "9", 4, 4)) ||
      failed(verifyExpertOperands(*this, c, getX(), getOffsets(), getGate(),
                                  getUp(), getDown())))
    return failure();
  Type type = elementTypeOf(getX()), f32 = Float32Type::get(getContext());
  OperandRange outs = getOuts();
  if (failed(
          verifyLike(*this, c + "6", "dy", getDy(), shapeOf(getX()), type)) ||
      failed(
          verifyLike(*this, c + "7", "dx", outs[0], shapeOf(getX()), type)) ||
      failed(verifyLike(*this, c + "8", "dgate", outs[1], shapeOf(getGate()),
                        f32)) ||
      failed(verifyLike(*this, c + "8", "dup", outs[2], shapeOf(getUp()), f32)))
    return failure();
  return verifyLike(*this, c + "8", "ddown", outs[3], shapeOf(getDown()), f32);
}
