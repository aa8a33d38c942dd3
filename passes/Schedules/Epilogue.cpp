//===- Epilogue.cpp - The scalar code of a gemm in a kernel -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions without an instruction are written with those that have one.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace rudnn::tile;

/// c[0] + c[1] x + c[2] x^2 + ...
static Value polynomial(KernelBuilder &k, Value x, ArrayRef<float> c) {
  Value sum = k.f32(c.back());
  for (float coefficient : llvm::reverse(c.drop_back()))
    sum = k.fma(sum, x, k.f32(coefficient));
  return sum;
}

/// Without `fabs`, for which the conversion of generic kernels has no place.
static Value magnitude(KernelBuilder &k, Value x) {
  return k.maxf(x, k.subf(k.f32(0), x));
}

static Value lessThan(KernelBuilder &k, Value x, float limit) {
  return arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OLT, x,
                               k.f32(limit));
}

/// 1 - 2 / (1 + e^2x); near zero, where that cancels, the Taylor series up to
/// x^7 (relative error 4e-7 at 1/4).
static Value tanh(KernelBuilder &k, Value x) {
  Value power = k.exp2(k.mulf(x, k.f32(2.885390082f)));
  Value far = k.subf(k.f32(1), k.divf(k.f32(2), k.addf(power, k.f32(1))));
  Value square = k.mulf(x, x);
  Value near = k.mulf(
      x, polynomial(k, square, {1.0f, -1.0f / 3, 2.0f / 15, -17.0f / 315}));
  return k.select(lessThan(k, magnitude(k, x), 0.25f), near, far);
}

/// Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.26
/// (absolute error 1.5e-7); below 1/2 the Taylor series up to x^11.
static Value erf(KernelBuilder &k, Value x) {
  Value size = magnitude(k, x), square = k.mulf(x, x);
  Value t = k.divf(k.f32(1), k.fma(size, k.f32(0.3275911f), k.f32(1)));
  Value sum = k.mulf(t, polynomial(k, t,
                                   {0.254829592f, -0.284496736f, 1.421413741f,
                                    -1.453152027f, 1.061405429f}));
  Value power = k.exp2(k.mulf(square, k.f32(-1.44269504f)));
  Value far = k.subf(k.f32(1), k.mulf(sum, power));
  Value negative = k.subf(k.f32(0), far);
  far = k.select(lessThan(k, x, 0), negative, far);
  Value near = k.mulf(k.mulf(x, k.f32(1.128379167f)),
                      polynomial(k, square,
                                 {1.0f, -1.0f / 3, 1.0f / 10, -1.0f / 42,
                                  1.0f / 216, -1.0f / 1320}));
  return k.select(lessThan(k, size, 0.5f), near, far);
}

/// Whether x is 1 + e^u. Then y / x = y * (1 / x) also where x is large: both
/// quotient and reciprocal are flushed to 0. The reciprocal is one instruction,
/// a quotient also scales large divisors.
static bool isOnePlusExp(Value x) {
  auto sum = x.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  auto both = [](Value one, Value power) {
    return matchPattern(one, m_OneFloat()) &&
           isa_and_nonnull<math::ExpOp, math::Exp2Op>(power.getDefiningOp());
  };
  return both(sum.getLhs(), sum.getRhs()) || both(sum.getRhs(), sum.getLhs());
}

Value rudnn::tile::buildEpilogue(KernelBuilder &k, GemmOp op,
                                 ValueRange scalars) {
  Block &block = op.getEpilogue().front();
  IRMapping mapping;
  mapping.map(block.getArguments(), scalars);
  // Constants may have been moved out of the region.
  auto bring = [&](Value operand) {
    if (!mapping.contains(operand))
      k.b.clone(*operand.getDefiningOp(), mapping);
  };
  for (Operation &inner : block) {
    llvm::for_each(inner.getOperands(), bring);
    if (isa<YieldOp>(inner))
      break;
    auto set = [&](Value value) { mapping.map(inner.getResult(0), value); };
    auto x = [&] { return mapping.lookup(inner.getOperand(0)); };
    // Extensions of the arguments and the last rounding are what `convert`
    // does to whole fragments.
    if (isa<arith::ExtFOp, arith::TruncFOp>(inner))
      set(x());
    else if (isa<math::TanhOp>(inner))
      set(tanh(k, x()));
    else if (isa<math::ErfOp>(inner))
      set(erf(k, x()));
    else if (isa<math::AbsFOp>(inner))
      set(magnitude(k, x()));
    else if (isa<math::LogOp>(inner))
      set(k.mulf(k.log2(x()), k.f32(0.69314718f)));
    else if (isa<arith::DivFOp>(inner) && isOnePlusExp(inner.getOperand(1)))
      set(k.mulf(x(),
                 k.divf(k.f32(1), mapping.lookup(inner.getOperand(1)))));
    else
      k.b.clone(inner, mapping);
  }
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

Product rudnn::tile::productOf(GemmOp op) {
  Product product{op.getLoc(), "gemm", op.getA(), op.getB(), op.getOuts()[0]};
  product.extras.assign(op.getExtras().begin(), op.getExtras().end());
  product.transposeB = op.getTransposeB();
  product.epilogue = [op](KernelBuilder &k, ValueRange scalars) {
    return buildEpilogue(k, op, scalars);
  };
  return product;
}

std::string rudnn::tile::whyNotEpilogue(GemmOp op) {
  Value result = op.getEpilogue().front().getTerminator()->getOperand(0);
  if (result.getParentRegion() != &op.getEpilogue() &&
      !matchPattern(result, m_Constant()))
    return "the epilogue yields a value from outside";
  for (Operation &inner : op.getEpilogue().front().without_terminator()) {
    auto name = [&] { return inner.getName().getStringRef().str(); };
    if (!isEpilogueOp(&inner))
      return "the epilogue has a '" + name() + "'";
    for (Value operand : inner.getOperands())
      if (operand.getParentRegion() != &op.getEpilogue() &&
          !matchPattern(operand, m_Constant()))
        return "the epilogue uses a value from outside";
    if (isa<arith::ExtFOp>(inner) && isa<BlockArgument>(inner.getOperand(0)))
      continue;
    if (isa<arith::TruncFOp>(inner) && inner.getResult(0).hasOneUse() &&
        isa<YieldOp>(*inner.getResult(0).user_begin()))
      continue;
    Type type = inner.getResult(0).getType();
    if (isa<arith::ExtFOp, arith::TruncFOp>(inner) ||
        !(type.isF32() || type.isInteger(1)))
      return "the epilogue has a '" + name() + "' that is not computed in f32";
  }
  return "";
}
