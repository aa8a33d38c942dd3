//===- OpUtils.cpp - What all rudnn ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

void rudnn::getDestinationStyleEffects(
    Operation *op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto dps = cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
    if (dps.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

LogicalResult
rudnn::reifyDestinationShapes(OpBuilder &b, Operation *op,
                              ReifiedRankedShapedTypeDims &shapes) {
  auto dps = cast<DestinationStyleOpInterface>(op);
  for (OpResult result : op->getResults())
    shapes.push_back(tensor::getMixedSizes(b, op->getLoc(),
                                           dps.getTiedOpOperand(result)->get()));
  return success();
}

//===----------------------------------------------------------------------===//
// Verifier helpers
//===----------------------------------------------------------------------===//

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(shape, os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << "?";
    else
      os << extent;
  });
  os << "]";
  return text;
}

LogicalResult rudnn::verifyRank(Operation *op, StringRef clause, StringRef name,
                                Value value, int64_t rank) {
  int64_t actual = shapeOf(value).size();
  if (actual == rank)
    return success();
  return op->emitOpError() << clause << ": " << name << " has rank " << actual
                           << ", expected rank " << rank;
}

LogicalResult rudnn::verifyShape(Operation *op, StringRef clause,
                                 StringRef name, Value value,
                                 ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.size() == expected.size() &&
      llvm::all_of(llvm::zip_equal(shape, expected), [](auto pair) {
        return extentsAgree(std::get<0>(pair), std::get<1>(pair));
      }))
    return success();
  return op->emitOpError() << clause << ": " << name << " has shape "
                           << shapeText(shape) << ", expected "
                           << shapeText(expected);
}

LogicalResult rudnn::verifyElementType(Operation *op, StringRef clause,
                                       StringRef name, Value value,
                                       Type expected) {
  Type type = elementTypeOf(value);
  if (type == expected)
    return success();
  return op->emitOpError() << clause << ": " << name << " has element type "
                           << type << ", expected " << expected;
}

LogicalResult rudnn::verifyF32Or(Operation *op, StringRef clause,
                                 StringRef name, Value value, Type expected) {
  Type type = elementTypeOf(value);
  if (type.isF32() || type == expected)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << clause << ": " << name << " has element type "
                             << type << ", expected f32";
  if (!expected.isF32())
    error << " or " << expected;
  return error;
}

LogicalResult rudnn::verifyPositiveFinite(Operation *op, StringRef clause,
                                          StringRef name,
                                          const APFloat &value) {
  if (value.isFinite() && !value.isNegative() && !value.isZero())
    return success();
  SmallString<16> text;
  value.toString(text);
  return op->emitOpError() << clause << ": " << name << " is " << text
                           << ", expected a finite value greater than 0";
}

/// Attributes that are not the op's own belong to a dialect: what an op doesn't
/// know by name it would ignore.
static LogicalResult verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getName().getValue().contains('.'))
      return op->emitOpError()
             << "has no attribute '" << attribute.getName().getValue()
             << "': it would be ignored (attributes for passes have the prefix "
                "of a dialect)";
  return success();
}

/// Every operand's bytes are countable in 63 bits.
static LogicalResult verifySizes(Operation *op) {
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() ||
        llvm::is_contained(shaped.getShape(), 0))
      continue;
    int64_t bytes = llvm::divideCeil(shaped.getElementTypeBitWidth(), 8);
    for (int64_t extent : shaped.getShape())
      if (!ShapedType::isDynamic(extent) &&
          llvm::MulOverflow(bytes, extent, bytes))
        return op->emitOpError() << "operand " << index << " has type " << type
                                 << ", which is larger than 2^63 - 1 bytes";
  }
  return success();
}

LogicalResult rudnn::verifyDestination(Operation *op, StringRef clause,
                                       unsigned min, unsigned max) {
  if (failed(verifyKnownAttributes(op)) || failed(verifySizes(op)))
    return failure();
  auto dps = cast<DestinationStyleOpInterface>(op);
  MutableOperandRange outs = dps.getDpsInitsMutable();
  if (outs.size() < min || outs.size() > max) {
    InFlightDiagnostic error = op->emitOpError()
                               << clause << ": has " << outs.size()
                               << " outs, expected " << min;
    if (max != min)
      error << " to " << max;
    return error;
  }
  bool anyTensor = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  bool anyMemref = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
  if (anyTensor && anyMemref)
    return op->emitOpError()
           << clause << ": mixes tensor and memref operands, expected one kind";
  unsigned numResults = anyTensor ? outs.size() : 0;
  if (op->getNumResults() != numResults)
    return op->emitOpError()
           << clause << ": has " << op->getNumResults() << " results, expected "
           << numResults
           << (anyTensor ? " (one per out)" : " (outs are memrefs)");
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Type type = outs[index].get().getType();
    if (result.getType() != type)
      return op->emitOpError()
             << clause << ": result " << index << " has type "
             << result.getType() << ", expected the type of outs operand "
             << index << ", " << type;
  }
  return success();
}
