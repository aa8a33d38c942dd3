//===- MoeOps.cpp - Verifiers and loops of the mixture-of-experts ops -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/MoeOps.cpp.inc"

void RudnnDialect::registerMoeOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/MoeOps.cpp.inc"
      >();
}

static constexpr int64_t kDynamic = ShapedType::kDynamic;

//===----------------------------------------------------------------------===//
// route, route_sigmoid_grouped
//===----------------------------------------------------------------------===//

/// The outs of a routing op: ids [T, K] of i32 with 1 <= K <= maxK, weights
/// [T, K] of f32 or the type of the logits.
static LogicalResult verifyRouting(Operation *op, StringRef idsClause,
                                   StringRef weightsClause, Value logits,
                                   OperandRange outs, int64_t maxK) {
  int64_t tokens = shapeOf(logits)[0];
  Value ids = outs[0], weights = outs[1];
  if (failed(verifyIndices(op, idsClause, "ids", ids, {tokens, kDynamic})) ||
      failed(verifyExtent(op, idsClause, "K, the second extent of ids,",
                          shapeOf(ids)[1], 1, maxK)) ||
      failed(verifyShape(op, weightsClause, "weights", weights,
                         {tokens, shapeOf(ids)[1]})))
    return failure();
  return verifyF32Or(op, weightsClause, "weights", weights,
                     elementTypeOf(logits));
}

LogicalResult MoeRouteOp::verify() {
  if (failed(verifyDestination(*this, "moe_route_c4", 2, 2)) ||
      failed(verifyRank(*this, "moe_route_c1", "logits", getLogits(), 2)) ||
      failed(verifyExtent(*this, "moe_route_c1",
                          "E, the second extent of logits,",
                          shapeOf(getLogits())[1], 1)))
    return failure();
  return verifyRouting(*this, "moe_route_c2", "moe_route_c3", getLogits(),
                       getOuts(), shapeOf(getLogits())[1]);
}

TilingLoops MoeRouteOp::getTilingLoops() { return getRowLoops(*this); }

LogicalResult MoeRouteSigmoidGroupedOp::verify() {
  const std::string c = "moe_route_sigmoid_grouped_c";
  if (failed(verifyDestination(*this, c + "9", 2, 2)) ||
      failed(verifyRank(*this, c + "1", "logits", getLogits(), 2)))
    return failure();
  int64_t experts = shapeOf(getLogits())[1];
  int64_t groups = getGroups(), selected = getSelectedGroups();
  if (failed(verifyExtent(*this, c + "1", "E, the second extent of logits,",
                          experts, 1, 1024)) ||
      failed(verifyCount(*this, c + "2", "groups", groups, 1, 128)))
    return failure();
  if (experts % groups)
    return emitOpError() << c << "2: groups is " << groups
                         << ", expected a divisor of the " << experts
                         << " experts";
  if (failed(
          verifyCount(*this, c + "3", "selected_groups", selected, 1, groups)))
    return failure();
  int64_t perGroup = experts / groups;
  if (getGroupTopTwo() && perGroup < 2)
    return emitOpError() << c << "4: group_top_two with " << perGroup
                         << " expert in a group, expected at least 2";
  if (failed(verifyRouting(*this, c + "5", c + "6", getLogits(), getOuts(),
                           std::min<int64_t>(64, selected * perGroup))))
    return failure();
  if (getBias() &&
      failed(verifyShape(*this, c + "7", "bias", getBias(), {experts})))
    return failure();
  return verifyPositiveFinite(*this, c + "8", "scale", getScale());
}

TilingLoops MoeRouteSigmoidGroupedOp::getTilingLoops() {
  return getRowLoops(*this);
}

//===----------------------------------------------------------------------===//
// dispatch
//===----------------------------------------------------------------------===//

LogicalResult MoeDispatchOp::verify() {
  const std::string c = "moe_dispatch_c";
  if (failed(verifyDestination(*this, c + "8", 4, 5)) ||
      failed(verifyMatrix(*this, c + "1", "x", "H", getX())) ||
      failed(verifyShape(*this, c + "2", "ids", getIds(),
                         {shapeOf(getX())[0], kDynamic})) ||
      failed(verifyExtent(*this, c + "2", "K, the second extent of ids,",
                          shapeOf(getIds())[1], 1)))
    return failure();
  int64_t tokens = shapeOf(getIds())[0], k = shapeOf(getIds())[1];
  if (!ShapedType::isDynamic(tokens) && tokens > UINT32_MAX / k)
    return emitOpError() << c << "2: ids has " << tokens << " * " << k
                         << " slots, expected fewer than 2^32";
  int64_t rows = product(tokens, k);
  OperandRange outs = getOuts();
  if (failed(verifyShape(*this, c + "3", "values", outs[0],
                         {rows, shapeOf(getX())[1]})) ||
      failed(verifyElementType(*this, c + "3", "values", outs[0],
                               elementTypeOf(getX()))) ||
      failed(verifyIndices(*this, c + "4", "offsets", outs[1], {kDynamic})) ||
      failed(verifyExtent(*this, c + "4", "E + 1, the extent of offsets,",
                          shapeOf(outs[1])[0], 2)) ||
      failed(
          verifyIndices(*this, c + "5", "slot_rows", outs[2], {tokens, k})) ||
      failed(verifyIndices(*this, c + "6", "row_slots", outs[3], {rows})))
    return failure();
  if (outs.size() == 5)
    return verifyIndices(*this, c + "7", "row_experts", outs[4], {rows});
  return success();
}

//===----------------------------------------------------------------------===//
// experts
//===----------------------------------------------------------------------===//

LogicalResult MoeExpertsOp::verify() {
  const std::string c = "moe_experts_c";
  if (failed(verifyDestination(*this, c + "7")) ||
      failed(verifyExpertOperands(*this, c, getX(), getOffsets(), getGate(),
                                  getUp(), getDown())) ||
      failed(verifyShape(*this, c + "6", "y", getOuts()[0], shapeOf(getX()))))
    return failure();
  return verifyElementType(*this, c + "6", "y", getOuts()[0],
                           elementTypeOf(getX()));
}

TilingLoops MoeExpertsOp::getTilingLoops() { return getRowLoops(*this); }

//===----------------------------------------------------------------------===//
// combine
//===----------------------------------------------------------------------===//

LogicalResult MoeCombineOp::verify() {
  if (failed(verifyDestination(*this, "moe_combine_c5")) ||
      failed(verifyMatrix(*this, "moe_combine_c1", "y", "W", getY())) ||
      failed(
          verifyRank(*this, "moe_combine_c2", "slot_rows", getSlotRows(), 2)) ||
      failed(verifyExtent(*this, "moe_combine_c2",
                          "K, the second extent of slot_rows,",
                          shapeOf(getSlotRows())[1], 1)) ||
      failed(verifyShape(*this, "moe_combine_c3", "weights", getWeights(),
                         shapeOf(getSlotRows()))) ||
      failed(verifyShape(*this, "moe_combine_c4", "out", getOuts()[0],
                         {shapeOf(getSlotRows())[0], shapeOf(getY())[1]})))
    return failure();
  return verifyElementType(*this, "moe_combine_c4", "out", getOuts()[0],
                           elementTypeOf(getY()));
}

TilingLoops MoeCombineOp::getTilingLoops() {
  TilingLoops loops;
  loops.iterators.assign(2, utils::IteratorType::parallel);
  // y, slot_rows, weights, out.
  loops.operandDims = {{-1, 1}, {0, -1}, {0, -1}, {0, 1}};
  return loops;
}

//===----------------------------------------------------------------------===//
// Canonicalizations
//===----------------------------------------------------------------------===//

namespace {

/// An op whose results are all statically empty is its outs.
template <typename OpTy>
struct ReplaceEmptyResults : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 ||
        !llvm::all_of(op->getResultTypes(), [](Type type) {
          return llvm::is_contained(cast<ShapedType>(type).getShape(), 0);
        }))
      return failure();
    rewriter.replaceOp(op, op.getOuts());
    return success();
  }
};

/// A dispatch whose fifth result has no use is one without it.
struct DropRowExperts : OpRewritePattern<MoeDispatchOp> {
  using OpRewritePattern<MoeDispatchOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MoeDispatchOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 5 || !op->getResult(4).use_empty())
      return failure();
    SmallVector<Type> types(op->getResultTypes());
    types.pop_back();
    auto smaller =
        MoeDispatchOp::create(rewriter, op.getLoc(), types, op.getX(),
                              op.getIds(), op.getOuts().drop_back());
    smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    SmallVector<Value> values(smaller->getResults());
    values.push_back(op.getOuts()[4]);
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void MoeRouteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeRouteOp>>(context);
}

void MoeRouteSigmoidGroupedOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeRouteSigmoidGroupedOp>>(context);
}

void MoeDispatchOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<DropRowExperts>(context);
}

void MoeExpertsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeExpertsOp>>(context);
}

void MoeCombineOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeCombineOp>>(context);
}

void MoeRouterWeightsOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeRouterWeightsOp>>(context);
}

void MoeRouterBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeRouterBackwardOp>>(context);
}

void MoeCombineBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeCombineBackwardOp>>(context);
}

void MoeDispatchBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReplaceEmptyResults<MoeDispatchBackwardOp>>(context);
}
