//===- LoopUtils.cpp - Loops of linalg ops built by hand -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

std::optional<int64_t> rudnn::constantIndex(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

SmallVector<Value> rudnn::buildLoop(OpBuilder &b, Location loc, Value from,
                                    Value to, int64_t step, ValueRange init,
                                    LoopBody body) {
  std::optional<int64_t> lo = constantIndex(from), hi = constantIndex(to);
  if (lo && hi && *lo < *hi && *hi - *lo <= step)
    return body(from, init);
  if (lo && hi && *lo >= *hi)
    return SmallVector<Value>(init);
  Value stepValue = arith::ConstantIndexOp::create(b, loc, step);
  auto loop = scf::ForOp::create(b, loc, from, to, stepValue, init);
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> state =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, state);
  return SmallVector<Value>(loop.getResults());
}

Value rudnn::buildLoop1(OpBuilder &b, Location loc, Value from, Value to,
                        int64_t step, Value init,
                        function_ref<Value(Value, Value)> body) {
  return buildLoop(b, loc, from, to, step, init,
                   [&](Value iv, ValueRange state) {
                     return SmallVector<Value>{body(iv, state[0])};
                   })[0];
}

SmallVector<Value> rudnn::buildNest(
    OpBuilder &b, Location loc, ArrayRef<unsigned> dims,
    ArrayRef<Value> extents, MutableArrayRef<Value> ivs, ValueRange init,
    function_ref<SmallVector<Value>(ValueRange)> body) {
  if (dims.empty())
    return body(init);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return buildLoop(b, loc, zero, extents[dims.front()], 1, init,
                   [&](Value iv, ValueRange state) {
                     ivs[dims.front()] = iv;
                     return buildNest(b, loc, dims.drop_front(), extents, ivs,
                                      state, body);
                   });
}

SmallVector<Value> rudnn::loopExtents(OpBuilder &b, linalg::LinalgOp op) {
  SmallVector<Value> extents(op.getNumLoops());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || extents[loop.getPosition()])
        continue;
      int64_t range = ranges[loop.getPosition()];
      extents[loop.getPosition()] =
          ShapedType::isDynamic(range)
              ? tensor::DimOp::create(b, op.getLoc(), operand.get(), dim)
                    .getResult()
              : arith::ConstantIndexOp::create(b, op.getLoc(), range)
                    .getResult();
    }
  }
  return extents;
}

Value rudnn::roundDown(OpBuilder &b, Location loc, Value x, int64_t multiple) {
  if (multiple == 1)
    return x;
  if (std::optional<int64_t> constant = constantIndex(x))
    return arith::ConstantIndexOp::create(b, loc,
                                          *constant / multiple * multiple);
  Value by = arith::ConstantIndexOp::create(b, loc, multiple);
  Value count = arith::DivUIOp::create(b, loc, x, by);
  return arith::MulIOp::create(b, loc, count, by);
}

SmallVector<Value> rudnn::operandIndices(OpBuilder &b, Location loc,
                                         AffineMap map, ArrayRef<Value> ivs) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      indices.push_back(ivs[dim.getPosition()]);
    else
      indices.push_back(arith::ConstantIndexOp::create(
          b, loc, cast<AffineConstantExpr>(expr).getValue()));
  }
  return indices;
}

Value rudnn::convertFloat(OpBuilder &b, Location loc, Value x, Type type) {
  Type from = getElementTypeOrSelf(x.getType());
  if (from == type)
    return x;
  Type to = type;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    to = vector.clone(type);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, to, x);
  return arith::TruncFOp::create(b, loc, to, x);
}

bool rudnn::isInParallelLoop(Operation *op) {
  return op->getParentOfType<scf::ForallOp>() ||
         op->getParentOfType<scf::ParallelOp>();
}

bool rudnn::isFloatContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumDpsInputs() == 2 &&
         linalgOp.getNumDpsInits() == 1 &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) {
                        return isa<FloatType>(getElementTypeOrSelf(type));
                      }) &&
         linalg::isaContractionOpInterface(linalgOp);
}

unsigned rudnn::vectorBytesOf(unsigned option) {
  if (option)
    return option;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 64;
  if (features.lookup("avx2"))
    return 32;
  return 16;
}
