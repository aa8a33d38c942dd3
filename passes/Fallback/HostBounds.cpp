//===- HostBounds.cpp - Bounds of extents that only kernels know -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBounds.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rudnn;

Value HostBounds::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// Integers as an index; a true i1 is 1.
Value HostBounds::toIndex(Value value) {
  if (!value || value.getType().isIndex())
    return value;
  if (!value.getType().isInteger())
    return {};
  if (value.getType().isInteger(1))
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

template <typename OpTy>
Value HostBounds::make(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  return b.createOrFold<OpTy>(loc, lhs, rhs);
}

template <typename OpTy>
Value HostBounds::either(Value lhs, Value rhs) {
  return lhs && rhs ? make<OpTy>(lhs, rhs) : lhs ? lhs : rhs;
}

Value HostBounds::eval(OpFoldResult value, Mode mode) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(*constant);
  return eval(dyn_cast<Value>(value), mode);
}

/// Exact values keep their type; bounds are indices.
Value HostBounds::eval(Value value, Mode mode) {
  auto found = cache.find({value, mode});
  if (found != cache.end())
    return found->second;
  Value result = evalUncached(value, mode);
  cache[{value, mode}] = result;
  return result;
}

Value HostBounds::evalUncached(Value value, Mode mode) {
  IntegerAttr constant;
  if (mode != Exact && matchPattern(value, m_Constant(&constant)) &&
      !value.getType().isInteger(1))
    return index(constant.getInt());
  if (known(value))
    return mode == Exact ? value : toIndex(value);
  Operation *op = value.getDefiningOp();
  if (mode == Exact)
    return op && !isa<BaseMemRefType>(value.getType()) ? exact(op) : Value();
  if (Value same = eval(value, Exact))
    return toIndex(same);
  if (Value bound = op ? arithmetic(op, mode)
                       : inductionVariable(cast<BlockArgument>(value), mode))
    return bound;
  if (mode == Lower && isNonNegative(value))
    return index(0);
  if (mode == Upper && value.getType().isInteger(1))
    return index(1);
  return {};
}

/// The op on known values. What runs here may have been guarded there: a
/// divisor of 0 becomes 1.
Value HostBounds::exact(Operation *op) {
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> at = dim.getConstantIndex())
      return extent(dim.getSource(), *at, Exact);
  bool divides = isa<arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp,
                     arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemUIOp,
                     arith::RemSIOp>(op);
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op) || (!divides && !isSpeculatable(op)))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value same = eval(operand, Exact);
    if (!same)
      return {};
    mapping.map(operand, same);
  }
  if (divides) {
    Value divisor = mapping.lookup(op->getOperand(1));
    Value one = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(divisor.getType(), 1));
    Value valid = b.createOrFold<arith::MaxSIOp>(loc, divisor, one);
    Operation *copy = b.clone(*op, mapping);
    copy->setOperand(1, valid);
    return copy->getResult(0);
  }
  return b.clone(*op, mapping)->getResult(0);
}

Value HostBounds::extent(Value buffer, int64_t dim, Mode mode) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return {};
  if (!type.isDynamicDim(dim))
    return index(type.getDimSize(dim));
  if (known(buffer))
    return b.createOrFold<memref::DimOp>(loc, buffer, dim);
  // The extents of what a loop carries are those that it starts with.
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? extent(init->get(), dim, mode) : Value();
  }
  Operation *op = buffer.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return extent(loop.getInitArgs()[cast<OpResult>(buffer).getResultNumber()],
                  dim, mode);
  return extentOfView(op, dim, mode);
}

Value HostBounds::extentOfView(Operation *op, int64_t dim, Mode mode) {
  auto dynamic = [&](MemRefType type, ValueRange sizes) {
    return eval(sizes[type.getDynamicDimIndex(dim)], mode);
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto alloc) {
        return dynamic(alloc.getType(), alloc.getDynamicSizes());
      })
      .Case([&](memref::ViewOp view) {
        return dynamic(view.getType(), view.getSizes());
      })
      .Case([&](memref::CastOp cast) {
        return extent(cast.getSource(), dim, mode);
      })
      .Case([&](memref::ReinterpretCastOp cast) {
        return eval(cast.getMixedSizes()[dim], mode);
      })
      .Case([&](memref::SubViewOp view) {
        llvm::SmallBitVector dropped = view.getDroppedDims();
        SmallVector<OpFoldResult> kept;
        for (auto [i, size] : llvm::enumerate(view.getMixedSizes()))
          if (!dropped.test(i))
            kept.push_back(size);
        return eval(kept[dim], mode);
      })
      .Case([&](memref::ExpandShapeOp reshape) {
        return eval(reshape.getMixedOutputShape()[dim], mode);
      })
      .Case([&](memref::CollapseShapeOp reshape) {
        Value size = index(1);
        // Named: the loop would outlive a temporary.
        SmallVector<ReassociationIndices> groups =
            reshape.getReassociationIndices();
        for (int64_t source : groups[dim])
          size =
              make<arith::MulIOp>(size, extent(reshape.getSrc(), source, mode));
        return size;
      })
      .Default([](Operation *) { return Value(); });
}

/// Of index arithmetic whose results are not negative where they are used.
Value HostBounds::arithmetic(Operation *op, Mode mode) {
  bool up = mode == Upper;
  Mode opposite = up ? Lower : Upper;
  auto at = [&](unsigned i, Mode mode) {
    return eval(op->getOperand(i), mode);
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::MinUIOp, arith::MinSIOp>([&](auto) {
        Value lhs = at(0, mode), rhs = at(1, mode);
        return up ? either<arith::MinSIOp>(lhs, rhs)
                  : make<arith::MinSIOp>(lhs, rhs);
      })
      .Case<arith::MaxUIOp, arith::MaxSIOp>([&](auto) {
        Value lhs = at(0, mode), rhs = at(1, mode);
        return up ? make<arith::MaxSIOp>(lhs, rhs)
                  : either<arith::MaxSIOp>(lhs, rhs);
      })
      .Case([&](arith::AddIOp) {
        return make<arith::AddIOp>(at(0, mode), at(1, mode));
      })
      .Case([&](arith::SubIOp) {
        return make<arith::SubIOp>(at(0, mode), at(1, opposite));
      })
      .Case([&](arith::MulIOp mul) {
        bool positive =
            isNonNegative(mul.getLhs()) && isNonNegative(mul.getRhs());
        return positive ? make<arith::MulIOp>(at(0, mode), at(1, mode))
                        : Value();
      })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
            arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) -> Value {
        if (!up)
          return {};
        Value divisor = at(1, Lower);
        if (!divisor)
          return at(0, mode);
        divisor = make<arith::MaxSIOp>(divisor, index(1));
        return make<arith::CeilDivSIOp>(at(0, mode), divisor);
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) {
        return up ? either<arith::MinSIOp>(at(0, mode), at(1, mode)) : Value();
      })
      .Case([&](arith::SelectOp) {
        return up ? make<arith::MaxSIOp>(at(1, mode), at(2, mode))
                  : make<arith::MinSIOp>(at(1, mode), at(2, mode));
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
            arith::ExtSIOp>([&](auto) { return at(0, mode); })
      .Case([&](scf::IfOp branch) -> Value {
        if (branch.getNumResults() != 1 || branch.getElseRegion().empty())
          return {};
        Value lhs = eval(branch.thenYield().getOperand(0), mode);
        Value rhs = eval(branch.elseYield().getOperand(0), mode);
        return up ? make<arith::MaxSIOp>(lhs, rhs)
                  : make<arith::MinSIOp>(lhs, rhs);
      })
      .Case([&](memref::DimOp dim) -> Value {
        std::optional<int64_t> at = dim.getConstantIndex();
        return at ? extent(dim.getSource(), *at, mode) : Value();
      })
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto affineOp) {
            return affineValue(affineOp.getAffineMap(), affineOp->getOperands(),
                               !isa<affine::AffineMaxOp>(op), mode);
          })
      .Default([](Operation *) { return Value(); });
}

/// Loops count up.
Value HostBounds::inductionVariable(BlockArgument argument, Mode mode) {
  auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  if (!loop)
    return {};
  auto ivs = loop.getLoopInductionVars();
  auto lows = loop.getLoopLowerBounds(), highs = loop.getLoopUpperBounds();
  if (!ivs || !lows || !highs)
    return {};
  for (auto [iv, low, high] : llvm::zip_equal(*ivs, *lows, *highs))
    if (iv == argument)
      return mode == Lower ? eval(low, Lower)
                           : make<arith::SubIOp>(eval(high, Upper), index(1));
  return {};
}

/// The least (or greatest) of the results of an affine map.
Value HostBounds::affineValue(AffineMap map, ValueRange operands, bool minimum,
                              Mode mode) {
  Value result;
  bool any = minimum == (mode == Upper);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    Value value = affineExpr(expr, operands, map.getNumDims(), mode);
    if (i == 0 || (any && !result))
      result = value;
    else if (value)
      result = minimum ? make<arith::MinSIOp>(result, value)
                       : make<arith::MaxSIOp>(result, value);
    else if (!any)
      return {};
  }
  return result;
}

Value HostBounds::affineExpr(AffineExpr expr, ValueRange operands,
                             unsigned dims, Mode mode) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return eval(operands[dim.getPosition()], mode);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return eval(operands[dims + symbol.getPosition()], mode);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto of = [&](AffineExpr part, Mode mode) {
    return affineExpr(part, operands, dims, mode);
  };
  if (expr.getKind() == AffineExprKind::Add)
    return make<arith::AddIOp>(of(binary.getLHS(), mode),
                               of(binary.getRHS(), mode));
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!factor)
    return {};
  Value number = index(factor.getValue());
  switch (expr.getKind()) {
  case AffineExprKind::Mul: {
    Mode side = factor.getValue() >= 0 ? mode : mode == Upper ? Lower : Upper;
    return make<arith::MulIOp>(of(binary.getLHS(), side), number);
  }
  case AffineExprKind::FloorDiv:
    return make<arith::FloorDivSIOp>(of(binary.getLHS(), mode), number);
  case AffineExprKind::CeilDiv:
    return make<arith::CeilDivSIOp>(of(binary.getLHS(), mode), number);
  case AffineExprKind::Mod:
    return index(mode == Upper ? factor.getValue() - 1 : 0);
  default:
    return {};
  }
}

bool HostBounds::isNonNegative(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return !constant.getValue().isNegative();
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    auto ivs = loop ? loop.getLoopInductionVars() : std::nullopt;
    auto lows = loop ? loop.getLoopLowerBounds() : std::nullopt;
    if (!ivs || !lows)
      return false;
    for (auto [iv, low] : llvm::zip_equal(*ivs, *lows))
      if (iv == argument) {
        std::optional<int64_t> at = getConstantIntValue(low);
        return at ? *at >= 0 : isNonNegative(cast<Value>(low));
      }
    return false;
  }
  auto all = [&] {
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isNonNegative(operand); });
  };
  auto any = [&] {
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isNonNegative(operand); });
  };
  return TypeSwitch<Operation *, bool>(op)
      .Case<memref::DimOp>([](auto) { return true; })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>([&](auto cast) {
        return cast.getIn().getType().isInteger() ||
               isNonNegative(cast.getIn());
      })
      .Case<arith::MinUIOp, arith::MaxSIOp, arith::AndIOp, arith::RemUIOp>(
          [&](auto) { return any(); })
      .Case<arith::MaxUIOp, arith::MinSIOp, arith::AddIOp, arith::MulIOp,
            arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp,
            arith::CeilDivSIOp, arith::FloorDivSIOp, arith::IndexCastOp>(
          [&](auto) { return all(); })
      .Case([&](arith::SelectOp select) {
        return isNonNegative(select.getTrueValue()) &&
               isNonNegative(select.getFalseValue());
      })
      .Case([&](scf::IfOp branch) {
        return branch.getNumResults() == 1 && !branch.getElseRegion().empty() &&
               isNonNegative(branch.thenYield().getOperand(0)) &&
               isNonNegative(branch.elseYield().getOperand(0));
      })
      .Case([&](arith::SubIOp sub) {
        // a - min(a, x), or max(a, x) - a.
        auto has = [](Operation *op, Value operand) {
          return op && llvm::is_contained(op->getOperands(), operand);
        };
        Operation *lhs = sub.getLhs().getDefiningOp();
        Operation *rhs = sub.getRhs().getDefiningOp();
        return (isa_and_nonnull<arith::MinUIOp, arith::MinSIOp>(rhs) &&
                has(rhs, sub.getLhs())) ||
               (isa_and_nonnull<arith::MaxUIOp, arith::MaxSIOp>(lhs) &&
                has(lhs, sub.getRhs()));
      })
      .Default([](Operation *) { return false; });
}
