//===- EinBuilder.cpp - Linalg code from index strings -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

namespace {
/// "ab,bc->ac" taken apart.
struct Spec {
  SmallVector<StringRef> operands;
  StringRef result;
  std::string letters; // loop order: result letters, then reductions

  Spec(StringRef text, size_t numOperands) {
    auto [left, right] = text.split("->");
    if (numOperands > 0)
      left.split(operands, ',');
    result = right;
    letters = right.str();
    for (StringRef operand : operands)
      for (char letter : operand)
        if (letters.find(letter) == std::string::npos)
          letters += letter;
  }

  AffineMap map(MLIRContext *context, StringRef dims) const {
    SmallVector<AffineExpr> exprs;
    for (char letter : dims)
      exprs.push_back(getAffineDimExpr(letters.find(letter), context));
    return AffineMap::get(letters.size(), 0, exprs, context);
  }
};
} // namespace

/// Sums may be reordered (vector lanes, tiles), nothing else may change.
static arith::FastMathFlags sumFlags() {
  return arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
}

Value rudnn::toF32(OpBuilder &b, Location loc, Value x) {
  if (x.getType().isF32())
    return x;
  return arith::ExtFOp::create(b, loc, b.getF32Type(), x);
}

Value rudnn::fromF32(OpBuilder &b, Location loc, Value x, Type type) {
  if (type.isF32())
    return x;
  return arith::TruncFOp::create(b, loc, type, x);
}

Value rudnn::f32Const(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}

OpFoldResult EinBuilder::size(Value tensor, int64_t dim) {
  return tensor::getMixedSize(b, loc, tensor, dim);
}

SmallVector<OpFoldResult> EinBuilder::sizes(Value tensor) {
  return tensor::getMixedSizes(b, loc, tensor);
}

SmallVector<OpFoldResult> EinBuilder::resultSizes(StringRef text,
                                                  ValueRange operands) {
  Spec spec(text, operands.size());
  SmallVector<OpFoldResult> result;
  for (char letter : spec.result) {
    if (auto it = extent.find(letter); it != extent.end()) {
      result.push_back(it->second);
      continue;
    }
    for (auto [operand, dims] : llvm::zip_equal(operands, spec.operands))
      if (size_t dim = dims.find(letter); dim != StringRef::npos) {
        result.push_back(size(operand, dim));
        break;
      }
  }
  return result;
}

Value EinBuilder::generic(StringRef text, ValueRange operands, Value init,
                          Body body, bool passAccumulator) {
  Spec spec(text, operands.size());
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps;
  for (StringRef dims : spec.operands)
    maps.push_back(spec.map(context, dims));
  maps.push_back(spec.map(context, spec.result));
  SmallVector<utils::IteratorType> iterators(spec.letters.size(),
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), spec.result.size(),
              utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, loc, init.getType(), operands, init, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        Value result = body(nested, nestedLoc,
                            passAccumulator ? args : args.drop_back());
        linalg::YieldOp::create(nested, nestedLoc, result);
      });
  return op.getResult(0);
}

Value EinBuilder::map(StringRef spec, ValueRange operands, Type elementType,
                      Body body, Value init) {
  if (!init)
    init = tensor::EmptyOp::create(b, loc, resultSizes(spec, operands),
                                   elementType);
  return generic(spec, operands, init, body, /*passAccumulator=*/false);
}

Value EinBuilder::update(StringRef spec, ValueRange operands, Value init,
                         Body body) {
  return generic(spec, operands, init, body, /*passAccumulator=*/true);
}

Value EinBuilder::filled(ArrayRef<OpFoldResult> sizes, TypedAttr value) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, value.getType());
  return filledLike(empty, value);
}

Value EinBuilder::filledLike(Value init, TypedAttr value) {
  Value constant = arith::ConstantOp::create(b, loc, value);
  return linalg::FillOp::create(b, loc, constant, init).getResult(0);
}

Value EinBuilder::reduce(StringRef spec, ValueRange operands,
                         TypedAttr identity, Body body, Value init) {
  if (!init)
    init = filled(resultSizes(spec, operands), identity);
  return generic(spec, operands, init, body, /*passAccumulator=*/true);
}

Value EinBuilder::contract(StringRef spec, Value lhs, Value rhs, Value init) {
  if (!init)
    init = filled(resultSizes(spec, {lhs, rhs}), b.getF32FloatAttr(0.0));
  return generic(
      spec, {lhs, rhs}, init,
      [](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value product = arith::MulFOp::create(
            b, loc, toF32(b, loc, args[0]), toF32(b, loc, args[1]), sumFlags());
        return arith::AddFOp::create(b, loc, args[2], product, sumFlags());
      },
      /*passAccumulator=*/true);
}

Value EinBuilder::reduceMax(StringRef spec, Value x, Value init) {
  auto minusInf = b.getFloatAttr(
      b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
  return reduce(spec, x, minusInf,
                [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                  return arith::MaximumFOp::create(
                      b, loc, toF32(b, loc, args[0]), args[1]);
                },
                init);
}

Value EinBuilder::reduceSum(StringRef spec, Value x, Value init) {
  return reduce(spec, x, b.getF32FloatAttr(0.0),
                [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                  return arith::AddFOp::create(b, loc, args[1],
                                               toF32(b, loc, args[0]),
                                               sumFlags());
                },
                init);
}
