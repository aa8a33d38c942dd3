//===- AttentionOps.cpp - Verifiers of the dense attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionClauses.h"

#include <cmath>

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/AttentionOps.cpp.inc"

void RudnnDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/AttentionOps.cpp.inc"
      >();
}

template <typename OpTy>
static AttentionScores scoresOf(OpTy op) {
  AttentionScores s;
  s.q = op.getQ();
  s.k = op.getK();
  s.v = op.getV();
  if constexpr (requires { op.getQueryOffsets(); }) {
    s.queryOffsets = op.getQueryOffsets();
    s.keyOffsets = op.getKeyOffsets();
  } else {
    s.mask = op.getMask();
    s.bias = op.getBias();
    s.queryOffset = op.getQueryOffset();
  }
  s.sinks = op.getSinks();
  s.causal = op.getCausal();
  s.lseBase = op.getLseBase();
  s.scale = op.getScale() ? op.getScale()->convertToDouble()
                          : 1.0 / std::sqrt(double(shapeOf(s.q).back()));
  if (std::optional<APFloat> cap = op.getSoftcap())
    s.softcap = cap->convertToDouble();
  s.windowLeft = op.getWindowLeft();
  s.windowRight = op.getWindowRight();
  if (s.causal != Causal::None)
    s.windowRight = 0;
  return s;
}

AttentionScores rudnn::getAttentionScores(AttentionOp op) {
  return scoresOf(op);
}

AttentionScores rudnn::getAttentionScores(AttentionBackwardOp op) {
  return scoresOf(op);
}

AttentionScores rudnn::getAttentionScores(RaggedAttentionOp op) {
  return scoresOf(op);
}

AttentionScores rudnn::getAttentionScores(RaggedAttentionBackwardOp op) {
  return scoresOf(op);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

std::string rudnn::clauseOf(Operation *op, unsigned index) {
  return (op->getName().stripDialect() + "_c" + Twine(index)).str();
}

static LogicalResult verifyStaticDim(Operation *op, StringRef clause,
                                     StringRef name, StringRef operand,
                                     int64_t extent) {
  if (extent >= 1)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << clause << ": " << name << ", an extent of "
                             << operand << ", is ";
  if (ShapedType::isDynamic(extent))
    error << "dynamic";
  else
    error << extent;
  return error << ", expected a static extent of at least 1";
}

LogicalResult rudnn::verifyHeads(Operation *op, const AttentionScores &s) {
  std::string clause = clauseOf(op, 2);
  ArrayRef<int64_t> q = shapeOf(s.q), k = shapeOf(s.k), v = shapeOf(s.v);
  if (failed(verifyStaticDim(op, clause, "Hq", "q", q[1])) ||
      failed(verifyStaticDim(op, clause, "D", "q", q.back())) ||
      failed(verifyStaticDim(op, clause, "Hkv", "k", k[1])) ||
      failed(verifyStaticDim(op, clause, "Dv", "v", v.back())))
    return failure();
  if (q[1] % k[1] != 0)
    return op->emitOpError() << clause << ": q has " << q[1] << " heads and k "
                             << k[1] << ", expected a multiple of those of k";
  return success();
}

LogicalResult rudnn::verifyOperandTypes(Operation *op, const AttentionScores &s,
                                        Value out) {
  std::string clause = clauseOf(op, 6);
  Type type = elementTypeOf(s.q);
  if (failed(verifyElementType(op, clause, "k", s.k, type)) ||
      failed(verifyElementType(op, clause, "v", s.v, type)))
    return failure();
  return verifyElementType(op, clause, "out", out, type);
}

/// Clauses 1 to 6: q, k, v and the outputs beside them.
static LogicalResult verifyOperands(Operation *op, const AttentionScores &s,
                                    Value out) {
  std::string rank = clauseOf(op, 1);
  if (failed(verifyRank(op, rank, "q", s.q, 4)) ||
      failed(verifyRank(op, rank, "k", s.k, 4)) ||
      failed(verifyRank(op, rank, "v", s.v, 4)) ||
      failed(verifyRank(op, rank, "out", out, 4)) || failed(verifyHeads(op, s)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(s.q), k = shapeOf(s.k), v = shapeOf(s.v);
  if (failed(verifyShape(op, clauseOf(op, 3), "k", s.k,
                         {q[0], k[1], k[2], q[3]})) ||
      failed(verifyShape(op, clauseOf(op, 4), "v", s.v,
                         {k[0], k[1], k[2], v[3]})) ||
      failed(verifyShape(op, clauseOf(op, 4), "v", s.v,
                         {q[0], k[1], k[2], v[3]})) ||
      failed(verifyShape(op, clauseOf(op, 5), "out", out,
                         {q[0], q[1], q[2], v[3]})))
    return failure();
  return verifyOperandTypes(op, s, out);
}

static LogicalResult verifyLse(Operation *op, const AttentionScores &s,
                               Value lse) {
  ArrayRef<int64_t> q = shapeOf(s.q);
  std::string clause = clauseOf(op, 7);
  if (failed(verifyShape(op, clause, "lse", lse, q.take_front(3))))
    return failure();
  return verifyElementType(op, clause, "lse", lse,
                           Float32Type::get(op->getContext()));
}

/// Every extent of `value` is that of [B,Hq,Sq,Sk] or a static 1.
static LogicalResult verifyBroadcast(Operation *op, StringRef clause,
                                     StringRef name, Value value,
                                     const AttentionScores &s) {
  if (failed(verifyRank(op, clause, name, value, 4)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(s.q);
  SmallVector<int64_t> expected{q[0], q[1], q[2], shapeOf(s.k)[2]};
  for (auto [extent, actual] : llvm::zip_equal(expected, shapeOf(value)))
    if (actual == 1)
      extent = 1;
  return verifyShape(op, clause, name, value, expected);
}

LogicalResult rudnn::verifySharedOptions(Operation *op,
                                         const AttentionScores &s,
                                         std::optional<APFloat> softcap,
                                         std::optional<int64_t> windowLeft,
                                         std::optional<int64_t> windowRight) {
  Type type = elementTypeOf(s.q);
  if (s.sinks &&
      (failed(verifyShape(op, clauseOf(op, 10), "sinks", s.sinks,
                          {s.queryHeads()})) ||
       failed(verifyF32Or(op, clauseOf(op, 10), "sinks", s.sinks, type))))
    return failure();
  if (softcap &&
      failed(verifyPositiveFinite(op, clauseOf(op, 11), "softcap", *softcap)))
    return failure();
  for (auto [name, window] : {std::pair("window_left", windowLeft),
                              std::pair("window_right", windowRight)})
    if (window && (*window < 0 || *window > INT32_MAX))
      return op->emitOpError()
             << clauseOf(op, 12) << ": " << name << " is " << *window
             << ", expected 0 to 2147483647 (leave it out for an open side)";
  return success();
}

/// Clauses 8 to 13: the optional operands and the options.
static LogicalResult verifyOptions(Operation *op, const AttentionScores &s,
                                   std::optional<APFloat> softcap,
                                   std::optional<int64_t> windowLeft,
                                   std::optional<int64_t> windowRight) {
  if (s.mask && failed(verifyBroadcast(op, clauseOf(op, 8), "mask", s.mask, s)))
    return failure();
  if (s.bias &&
      (failed(verifyBroadcast(op, clauseOf(op, 9), "bias", s.bias, s)) ||
       failed(verifyF32Or(op, clauseOf(op, 9), "bias", s.bias,
                          elementTypeOf(s.q)))))
    return failure();
  if (failed(verifySharedOptions(op, s, softcap, windowLeft, windowRight)))
    return failure();
  if (s.queryOffset && !s.usesPosition())
    return op->emitOpError()
           << clauseOf(op, 13) << ": query_offset is given with causal = none "
           << "and no window, expected one of them";
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyDestination(*this, "attention_c15", 1, 2)))
    return failure();
  // The scores can be read once ranks and static dims stand.
  AttentionScores scores;
  scores.q = getQ(), scores.k = getK(), scores.v = getV();
  if (failed(verifyOperands(*this, scores, getOuts()[0])))
    return failure();
  scores = getAttentionScores(*this);
  if (getLseOut() && failed(verifyLse(*this, scores, getLseOut())))
    return failure();
  if (failed(verifyOptions(*this, scores, getSoftcap(), getWindowLeft(),
                           getWindowRight())))
    return failure();
  if (getLseBase() != LogBase::E && !getLseOut())
    return emitOpError() << "attention_c14: lse_base is "
                         << stringifyLogBase(getLseBase())
                         << " without an lse result, expected e";
  return success();
}

//===----------------------------------------------------------------------===//
// attention_backward
//===----------------------------------------------------------------------===//

LogicalResult rudnn::verifyGradient(Operation *op, unsigned index,
                                    StringRef name, Value gradient,
                                    Value operand) {
  std::string clause = clauseOf(op, index);
  if (failed(verifyShape(op, clause, name, gradient, shapeOf(operand))))
    return failure();
  return verifyF32Or(op, clause, name, gradient, elementTypeOf(operand));
}

LogicalResult AttentionBackwardOp::verify() {
  unsigned numOuts = 3 + getBiasGradient() + getSinksGradient();
  if (failed(verifyDestination(*this, clauseOf(*this, 17), numOuts, numOuts)))
    return failure();
  AttentionScores scores;
  scores.q = getQ(), scores.k = getK(), scores.v = getV();
  if (failed(verifyOperands(*this, scores, getOut())))
    return failure();
  scores = getAttentionScores(*this);
  if (failed(verifyLse(*this, scores, getLse())) ||
      failed(verifyOptions(*this, scores, getSoftcap(), getWindowLeft(),
                           getWindowRight())) ||
      failed(verifyShape(*this, clauseOf(*this, 14), "dout", getDout(),
                         shapeOf(getOut()))) ||
      failed(verifyElementType(*this, clauseOf(*this, 14), "dout", getDout(),
                               elementTypeOf(getOut()))))
    return failure();
  if (getBiasGradient() && !getBias())
    return emitOpError() << clauseOf(*this, 15)
                         << ": bias_gradient is given without bias";
  if (getSinksGradient() && !getSinks())
    return emitOpError() << clauseOf(*this, 15)
                         << ": sinks_gradient is given without sinks";
  if (failed(verifyGradient(*this, 16, "dq", getOuts()[0], getQ())) ||
      failed(verifyGradient(*this, 16, "dk", getOuts()[1], getK())) ||
      failed(verifyGradient(*this, 16, "dv", getOuts()[2], getV())))
    return failure();
  if (getBiasGradient() &&
      failed(verifyGradient(*this, 16, "dbias", getDbiasOut(), getBias())))
    return failure();
  if (getSinksGradient() &&
      failed(verifyGradient(*this, 16, "dsinks", getDsinksOut(), getSinks())))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// merge_attention_states
//===----------------------------------------------------------------------===//

/// The base of an lse made by a rudnn op, when `value` is one.
static std::optional<LogBase> baseOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || result.getResultNumber() != 1)
    return std::nullopt;
  if (auto attention = dyn_cast<AttentionOp>(result.getOwner()))
    return attention.getLseBase();
  if (auto merge = dyn_cast<MergeAttentionStatesOp>(result.getOwner()))
    return merge.getLseBase();
  return std::nullopt;
}

static LogicalResult verifyStates(MergeAttentionStatesOp op) {
  Value out = op.getOuts()[0];
  Type type = elementTypeOf(op.getStates()[0]);
  for (auto [index, state] : llvm::enumerate(op.getStates())) {
    std::string name = ("state " + Twine(index)).str();
    if (failed(verifyRank(op, clauseOf(op, 2), name, state, 4)) ||
        failed(verifyShape(op, clauseOf(op, 2), name, state, shapeOf(out))) ||
        failed(verifyElementType(op, clauseOf(op, 2), name, state, type)))
      return failure();
  }
  return verifyF32Or(op, clauseOf(op, 4), "out", out, type);
}

LogicalResult MergeAttentionStatesOp::verify() {
  if (failed(verifyDestination(*this, clauseOf(*this, 6), 1, 2)))
    return failure();
  if (getStates().empty() || getStates().size() != getLses().size())
    return emitOpError() << clauseOf(*this, 1) << ": has " << getStates().size()
                         << " states and " << getLses().size()
                         << " lses, expected at least one and as many lses";
  if (failed(verifyStates(*this)))
    return failure();
  ArrayRef<int64_t> rows = shapeOf(getOuts()[0]).take_front(3);
  for (auto [index, lse] : llvm::enumerate(getLses())) {
    std::string name = ("lse " + Twine(index)).str();
    if (failed(verifyShape(*this, clauseOf(*this, 3), name, lse, rows)))
      return failure();
    std::optional<LogBase> base = baseOf(lse);
    if (base && *base != getLseBase())
      return emitOpError() << clauseOf(*this, 5) << ": lse " << index
                           << " is in base " << stringifyLogBase(*base)
                           << ", expected the lse_base of the op, "
                           << stringifyLogBase(getLseBase());
  }
  if (Value lse = getLseOut()) {
    if (failed(verifyShape(*this, clauseOf(*this, 3), "lse out", lse, rows)) ||
        failed(verifyElementType(*this, clauseOf(*this, 3), "lse out", lse,
                                 Float32Type::get(getContext()))))
      return failure();
  }
  return success();
}
