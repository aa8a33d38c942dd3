//===- TileHostOps.cpp - Verifiers of the host-side ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/TileDialect.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace rudnn::tile;

#define GET_OP_CLASSES
#include "rudnn/TileHostOps.cpp.inc"

LogicalResult TmaDescriptorOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto tma = cast<TmaType>(getResult().getType());
  if (source.getElementType() != tma.getElementType() ||
      source.getRank() != int64_t(tma.getBox().size()))
    return emitOpError("describes ")
           << source << " with boxes of another rank or element type: " << tma;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(source.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return emitOpError("the last dim of ") << source << " is not contiguous";
  return success();
}

LogicalResult LaunchOp::verify() {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) // lowered already, or checked by symbol users
    return success();
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (types.size() != getArgs().size())
    return emitOpError("passes ") << getArgs().size() << " arguments, "
                                  << getKernel() << " takes " << types.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(types, getArgs()))) {
    Type expected = std::get<0>(pair), given = std::get<1>(pair).getType();
    auto memref = dyn_cast<MemRefType>(given);
    bool fits = isGlobalBuffer(expected)
                    ? memref && memref.getElementType() ==
                                    cast<MemRefType>(expected).getElementType()
                    : given == expected;
    if (!fits)
      return emitOpError("argument ")
             << i << " has type " << given << ", the kernel takes " << expected;
  }
  return success();
}

bool rudnn::tile::isEpilogueOp(Operation *op) {
  auto scalar = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(1);
  };
  if (!llvm::all_of(op->getOperandTypes(), scalar) ||
      !llvm::all_of(op->getResultTypes(), scalar))
    return false;
  return isa<arith::AddFOp, arith::CmpFOp, arith::ConstantOp, arith::DivFOp,
             arith::ExtFOp, arith::MaximumFOp, arith::MaxNumFOp,
             arith::MinimumFOp, arith::MinNumFOp, arith::MulFOp, arith::NegFOp,
             arith::SelectOp, arith::SubFOp, arith::TruncFOp, math::AbsFOp,
             math::ErfOp, math::Exp2Op, math::ExpOp, math::FmaOp, math::LogOp,
             math::Log2Op, math::RsqrtOp, math::TanhOp>(op);
}

LogicalResult GemmOp::verify() {
  auto a = cast<ShapedType>(getA().getType()),
       b = cast<ShapedType>(getB().getType());
  if (getOuts().size() != 1)
    return emitOpError("has ") << getOuts().size() << " outs, expected 1";
  auto d = cast<ShapedType>(getOuts()[0].getType());
  bool tensors = isa<RankedTensorType>(d);
  if (getResults().size() != (tensors ? 1u : 0u) ||
      (tensors && getResults()[0].getType() != d))
    return emitOpError("must have the type of the tensor it writes as its only "
                       "result, and none for memrefs");
  if (!a.hasRank() || !b.hasRank() || a.getRank() < 2 || a.getRank() > 3 ||
      b.getRank() != a.getRank() || d.getRank() != a.getRank())
    return emitOpError("a, b and d must all have rank 2 or all rank 3, got ")
           << a << ", " << b << " and " << d;
  Type element = a.getElementType();
  if ((!element.isF16() && !element.isBF16()) || b.getElementType() != element)
    return emitOpError("a and b must both be f16 or both bf16, got ")
           << element << " and " << b.getElementType();
  unsigned rank = a.getRank();
  auto agree = [](int64_t x, int64_t y) {
    return x == y || ShapedType::isDynamic(x) || ShapedType::isDynamic(y);
  };
  int64_t bK = b.getDimSize(rank - (getTransposeB() ? 1 : 2));
  int64_t bN = b.getDimSize(rank - (getTransposeB() ? 2 : 1));
  if (!agree(a.getDimSize(rank - 1), bK) ||
      !agree(bN, d.getDimSize(rank - 1)) ||
      !agree(a.getDimSize(rank - 2), d.getDimSize(rank - 2)))
    return emitOpError("shapes don't form a product: ")
           << a << " times " << b << " into " << d;
  for (auto [i, extra] : llvm::enumerate(getExtras())) {
    auto type = cast<ShapedType>(extra.getType());
    bool row = type.getRank() == 1 &&
               agree(type.getDimSize(0), d.getDimSize(rank - 1));
    bool full =
        type.getRank() == rank &&
        llvm::all_of(llvm::zip(type.getShape(), d.getShape()), [&](auto pair) {
          return agree(std::get<0>(pair), std::get<1>(pair));
        });
    if (!row && !full)
      return emitOpError("extra ")
             << i << " is " << type << ", expected the shape of " << d
             << " or of its last dim";
  }
  Block &block = getEpilogue().front();
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getValues().size() != 1 ||
      yield.getValues()[0].getType() != d.getElementType())
    return emitOpError("the epilogue must yield one ") << d.getElementType();
  if (block.getNumArguments() != getExtras().size() + 1 ||
      !block.getArgument(0).getType().isF32())
    return emitOpError(
        "the epilogue must take an f32 and one element of each extra");
  return success();
}

void GemmOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!isa<MemRefType>(getOuts()[0].getType()))
    return;
  auto read = [&](OpOperand &operand) {
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  };
  read(getAMutable());
  read(getBMutable());
  for (OpOperand &extra : getExtrasMutable())
    read(extra);
  for (OpOperand &out : getOutsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &out);
}
