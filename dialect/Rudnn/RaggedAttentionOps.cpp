//===- RaggedAttentionOps.cpp - Packed sequences: verifiers, loops -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionClauses.h"
#include "RuntimeChecks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace rudnn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Clauses 1 to 6: q, k, v and the outputs beside them.
static LogicalResult verifyOperands(Operation *op, const AttentionScores &s,
                                    Value out) {
  std::string rank = clauseOf(op, 1);
  if (failed(verifyRank(op, rank, "q", s.q, 3)) ||
      failed(verifyRank(op, rank, "k", s.k, 3)) ||
      failed(verifyRank(op, rank, "v", s.v, 3)) ||
      failed(verifyRank(op, rank, "out", out, 3)) || failed(verifyHeads(op, s)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(s.q), k = shapeOf(s.k), v = shapeOf(s.v);
  if (failed(verifyShape(op, clauseOf(op, 3), "k", s.k, {k[0], k[1], q[2]})) ||
      failed(verifyShape(op, clauseOf(op, 4), "v", s.v, {k[0], k[1], v[2]})) ||
      failed(verifyShape(op, clauseOf(op, 5), "out", out, {q[0], q[1], v[2]})))
    return failure();
  return verifyOperandTypes(op, s, out);
}

/// Clause 7.
static LogicalResult verifyLse(Operation *op, const AttentionScores &s,
                               Value lse) {
  ArrayRef<int64_t> q = shapeOf(s.q);
  std::string clause = clauseOf(op, 7);
  if (failed(verifyShape(op, clause, "lse", lse, {q[1], q[0]})))
    return failure();
  return verifyElementType(op, clause, "lse", lse,
                           Float32Type::get(op->getContext()));
}

/// Clauses 8 and 9.
static LogicalResult verifyOffsets(Operation *op, const AttentionScores &s) {
  std::string clause = clauseOf(op, 8);
  for (auto [name, offsets] : {std::pair("query_offsets", s.queryOffsets),
                               std::pair("key_offsets", s.keyOffsets)}) {
    if (failed(verifyRank(op, clause, name, offsets, 1)))
      return failure();
    if (shapeOf(offsets)[0] == 0)
      return op->emitOpError() << clause << ": " << name
                               << " has no element, expected one more than "
                                  "there are sequences";
  }
  return verifyShape(op, clauseOf(op, 9), "key_offsets", s.keyOffsets,
                     shapeOf(s.queryOffsets));
}

LogicalResult RaggedAttentionOp::verify() {
  if (failed(verifyDestination(*this, clauseOf(*this, 14), 1, 2)))
    return failure();
  // The scores can be read once ranks and static dims stand.
  AttentionScores scores;
  scores.q = getQ(), scores.k = getK(), scores.v = getV();
  if (failed(verifyOperands(*this, scores, getOuts()[0])))
    return failure();
  scores = getAttentionScores(*this);
  if (getLseOut() && failed(verifyLse(*this, scores, getLseOut())))
    return failure();
  if (failed(verifyOffsets(*this, scores)) ||
      failed(verifySharedOptions(*this, scores, getSoftcap(), getWindowLeft(),
                                 getWindowRight())))
    return failure();
  if (getLseBase() != LogBase::E && !getLseOut())
    return emitOpError() << clauseOf(*this, 13) << ": lse_base is "
                         << stringifyLogBase(getLseBase())
                         << " without an lse result, expected e";
  return success();
}

LogicalResult RaggedAttentionBackwardOp::verify() {
  unsigned numOuts = 3 + getSinksGradient();
  if (failed(verifyDestination(*this, clauseOf(*this, 16), numOuts, numOuts)))
    return failure();
  AttentionScores scores;
  scores.q = getQ(), scores.k = getK(), scores.v = getV();
  if (failed(verifyOperands(*this, scores, getOut())))
    return failure();
  scores = getAttentionScores(*this);
  std::string dout = clauseOf(*this, 13);
  if (failed(verifyLse(*this, scores, getLse())) ||
      failed(verifyOffsets(*this, scores)) ||
      failed(verifySharedOptions(*this, scores, getSoftcap(), getWindowLeft(),
                                 getWindowRight())) ||
      failed(verifyShape(*this, dout, "dout", getDout(), shapeOf(getOut()))) ||
      failed(verifyElementType(*this, dout, "dout", getDout(),
                               elementTypeOf(getOut()))))
    return failure();
  if (getSinksGradient() && !getSinks())
    return emitOpError() << clauseOf(*this, 14)
                         << ": sinks_gradient is given without sinks";
  if (failed(verifyGradient(*this, 15, "dq", getOuts()[0], getQ())) ||
      failed(verifyGradient(*this, 15, "dk", getOuts()[1], getK())) ||
      failed(verifyGradient(*this, 15, "dv", getOuts()[2], getV())))
    return failure();
  if (getSinksGradient())
    return verifyGradient(*this, 15, "dsinks", getDsinksOut(), getSinks());
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// One loop over the key/value heads; a step covers the query heads that read
/// one.
template <typename OpTy>
static TilingLoops headLoops(OpTy op) {
  int64_t group = getAttentionScores(op).group();
  TilingLoops loops;
  loops.iterators = {utils::IteratorType::parallel};
  auto add = [&](ArrayRef<int64_t> dims, int64_t factor) {
    loops.operandDims.emplace_back(dims);
    loops.factors.emplace_back(dims.size(), 1);
    for (auto [dim, f] : llvm::zip_equal(dims, loops.factors.back()))
      if (dim == 0)
        f = factor;
  };
  auto rows = [&](int64_t factor) { add({-1, 0, -1}, factor); };
  rows(group); // q
  rows(1);     // k
  rows(1);     // v
  if constexpr (requires { op.getDout(); }) {
    rows(group);         // out
    rows(group);         // dout
    add({0, -1}, group); // lse
  }
  add({-1}, 1);
  add({-1}, 1);
  if (op.getSinks())
    add({0}, group);
  rows(group); // out or dq
  if constexpr (requires { op.getDout(); }) {
    rows(1); // dk
    rows(1); // dv
    if (op.getSinksGradient())
      add({0}, group);
  } else if (op.getLseOut()) {
    add({0, -1}, group);
  }
  return loops;
}

TilingLoops RaggedAttentionOp::getTilingLoops() { return headLoops(*this); }

TilingLoops RaggedAttentionBackwardOp::getTilingLoops() {
  return headLoops(*this);
}

FailureOr<TilingResult> rudnn::tileRaggedAttention(
    OpBuilder &b, Operation *op, const TilingLoops &loops,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  if (!getConstantIntValue(sizes[0]))
    return op->emitOpError("can't be tiled into a varying number of key/value "
                           "heads: give a tile size that divides ")
           << shapeOf(op->getOperand(1))[1];
  return tileAlongDims(b, op, loops, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// Checks at run time
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct OffsetsModel
    : RuntimeVerifiableOpInterface::ExternalModel<OffsetsModel<OpTy>, OpTy> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    AttentionScores s = getAttentionScores(cast<OpTy>(op));
    RuntimeChecks c{b, loc, op, message};
    Value queries = c.extent(s.queryOffsets, 0);
    Value keys = c.extent(s.keyOffsets, 0);
    StringRef text = "query_offsets and key_offsets have different extents";
    c.require(c.compare(RuntimeChecks::Predicate::eq, queries, keys), text,
              {op->getName().getStringRef().str() + ": query_offsets has ",
               queries, " elements and key_offsets ", keys,
               ", expected as many"});
    c.requireOffsets(s.queryOffsets, "query_offsets", c.extent(s.q, 0));
    c.requireOffsets(s.keyOffsets, "key_offsets", c.extent(s.k, 0));
  }
};
} // namespace

void rudnn::registerRaggedRuntimeVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         vector::VectorDialect>();
    RaggedAttentionOp::attachInterface<OffsetsModel<RaggedAttentionOp>>(
        *context);
    RaggedAttentionBackwardOp::attachInterface<
        OffsetsModel<RaggedAttentionBackwardOp>>(*context);
  });
}
