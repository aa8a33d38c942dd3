//===- DeltaOps.cpp - Verifiers and loops of the gated delta rule -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/DeltaOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/DeltaOps.cpp.inc"

void RudnnDialect::registerDeltaOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/DeltaOps.cpp.inc"
      >();
}

/// Clauses 1 to 3: ranks and extents of q, k and v.
template <typename OpTy>
static LogicalResult verifyHeads(OpTy op,
                                 function_ref<std::string(int)> clause) {
  if (failed(verifyRank(op, clause(1), "q", op.getQ(), 4)) ||
      failed(verifyRank(op, clause(1), "v", op.getV(), 4)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(op.getQ()), v = shapeOf(op.getV());
  for (auto [name, extent] : {std::pair("B", q[0]),
                              {"Hk", q[1]},
                              {"K", q[3]},
                              {"Hv", v[1]},
                              {"V", v[3]}})
    if (extent == 0)
      return op.emitOpError()
             << clause(1) << ": " << name << " is 0, expected at least 1";
  if (failed(verifyShape(op, clause(2), "k", op.getK(), q)) ||
      failed(
          verifyShape(op, clause(3), "v", op.getV(), {q[0], v[1], q[2], v[3]})))
    return failure();
  for (auto [name, extent] :
       {std::pair("Hk", q[1]), {"K", q[3]}, {"Hv", v[1]}, {"V", v[3]}})
    if (ShapedType::isDynamic(extent))
      return op.emitOpError() << clause(3) << ": " << name
                              << " is dynamic, expected a static extent";
  if (v[1] % q[1] != 0)
    return op.emitOpError() << clause(3) << ": v has " << v[1]
                            << " heads, expected a multiple of the " << q[1]
                            << " heads of q and k";
  return success();
}

template <typename OpTy>
static LogicalResult verifyDelta(OpTy op) {
  auto clause = [&](int number) {
    return (op->getName().stripDialect() + "_c" + Twine(number)).str();
  };
  if (failed(verifyDestination(op, clause(10), 2, 2)) ||
      failed(verifyHeads(op, clause)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(op.getQ()), v = shapeOf(op.getV());
  SmallVector<int64_t> state{q[0], v[1], q[3], v[3]};
  if (failed(verifyShape(op, clause(4), "beta", op.getBeta(), v.drop_back())) ||
      failed(verifyShape(op, clause(5), "log_decay", op.getLogDecay(),
                         v.drop_back())) ||
      failed(verifyShape(op, clause(6), "initial_state", op.getInitialState(),
                         state)))
    return failure();
  Type type = elementTypeOf(op.getQ());
  for (auto [name, value] : {std::pair("k", op.getK()),
                             {"v", op.getV()},
                             {"beta", op.getBeta()},
                             {"the output", op.getOuts()[0]}})
    if (failed(verifyElementType(op, clause(7), name, value, type)))
      return failure();
  Value output = op.getOuts()[0], finalState = op.getOuts()[1];
  if (failed(verifyShape(op, clause(8), "the output", output, v)) ||
      failed(
          verifyShape(op, clause(8), "the final state", finalState, state)) ||
      failed(verifyElementType(op, clause(8), "the final state", finalState,
                               Float32Type::get(op.getContext()))))
    return failure();
  if (op.getScale() && !op.getScale()->isFinite()) {
    SmallString<16> text;
    op.getScale()->toString(text);
    return op.emitOpError()
           << clause(9) << ": scale is " << text << ", expected a finite value";
  }
  return success();
}

LogicalResult GatedDeltaRuleOp::verify() { return verifyDelta(*this); }

LogicalResult ChunkGatedDeltaRuleOp::verify() {
  if (failed(verifyDelta(*this)))
    return failure();
  int64_t chunk = getChunkSize();
  if (chunk < 1 || chunk > 4096)
    return emitOpError() << "chunk_gated_delta_rule_c11: chunk_size is "
                         << chunk << ", expected 1 to 4096";
  return success();
}

/// Batch and key heads, each with its value heads.
template <typename OpTy>
static TilingLoops deltaLoops(OpTy op) {
  int64_t ratio = shapeOf(op.getV())[1] / shapeOf(op.getQ())[1];
  TilingLoops loops;
  loops.iterators.assign(2, utils::IteratorType::parallel);
  loops.staticLoops = {"", "heads"};
  for (Value operand : op->getOperands()) {
    size_t rank = shapeOf(operand).size();
    bool ofKeys = operand == op.getQ() || operand == op.getK();
    SmallVector<int64_t> dims(rank, -1), factors(rank, 1);
    dims[0] = 0;
    dims[1] = 1;
    factors[1] = ofKeys ? 1 : ratio;
    loops.operandDims.push_back(dims);
    loops.factors.push_back(factors);
  }
  return loops;
}

TilingLoops GatedDeltaRuleOp::getTilingLoops() { return deltaLoops(*this); }
TilingLoops ChunkGatedDeltaRuleOp::getTilingLoops() {
  return deltaLoops(*this);
}
