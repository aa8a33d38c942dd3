//===- ConvOps.cpp - Verifiers and loops of the convolution ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/ConvOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/ConvOps.cpp.inc"

void RudnnDialect::registerConvOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/ConvOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

template <typename OpTy>
static ConvGeometry geometryOf(OpTy op, unsigned spatialRank) {
  auto orAll = [&](ArrayRef<int64_t> values, int64_t other) {
    return values.empty() ? SmallVector<int64_t>(spatialRank, other)
                          : SmallVector<int64_t>(values);
  };
  ConvGeometry geometry;
  geometry.stride = orAll(op.getStride(), 1);
  geometry.dilation = orAll(op.getDilation(), 1);
  SmallVector<int64_t> padding = orAll(op.getPadding(), 0);
  geometry.low.assign(padding.begin(), padding.begin() + spatialRank);
  geometry.high.assign(padding.end() - spatialRank, padding.end());
  geometry.groups = op.getGroups();
  geometry.layout = op.getLayout();
  return geometry;
}

ConvGeometry ConvOp::getGeometry() {
  return geometryOf(*this, shapeOf(getX()).size() - 2);
}
ConvGeometry ConvDataBackwardOp::getGeometry() {
  return geometryOf(*this, shapeOf(getDy()).size() - 2);
}
ConvGeometry ConvWeightBackwardOp::getGeometry() {
  return geometryOf(*this, shapeOf(getX()).size() - 2);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

namespace {
/// The checks that the three ops share; `prefix` is the op's name.
class ConvVerifier {
public:
  ConvVerifier(Operation *op, StringRef prefix, Value x, Value weight, Value y)
      : op(op), prefix(prefix), x(x), weight(weight), y(y) {}

  template <typename OpTy>
  LogicalResult verify(OpTy typed);

private:
  std::string clause(unsigned number) const {
    return (prefix + "_c" + Twine(number)).str();
  }
  LogicalResult verifyRanks();
  LogicalResult verifyEntries(unsigned number, StringRef name,
                              ArrayRef<int64_t> values, int64_t least,
                              ArrayRef<unsigned> counts);
  LogicalResult verifyChannels();
  LogicalResult verifyExtents();

  Operation *op;
  StringRef prefix;
  Value x, weight, y;
  ConvGeometry geometry;
};
} // namespace

LogicalResult ConvVerifier::verifyRanks() {
  size_t rank = shapeOf(x).size();
  if (rank < 3 || rank > 5)
    return op->emitOpError() << clause(1) << ": x has rank " << rank
                             << ", expected rank 3, 4 or 5";
  return verifyRank(op, clause(2), "the weight", weight, rank);
}

LogicalResult ConvVerifier::verifyEntries(unsigned number, StringRef name,
                                          ArrayRef<int64_t> values,
                                          int64_t least,
                                          ArrayRef<unsigned> counts) {
  if (!values.empty() && !llvm::is_contained(counts, values.size())) {
    InFlightDiagnostic error = op->emitOpError()
                               << clause(number) << ": " << name << " has "
                               << values.size() << " entries, expected ";
    llvm::interleave(
        counts, [&](unsigned count) { error << count; },
        [&] { error << " or "; });
    return error;
  }
  for (int64_t value : values)
    if (value < least)
      return op->emitOpError()
             << clause(number) << ": " << name << " has entry " << value
             << ", expected at least " << least;
  return success();
}

LogicalResult ConvVerifier::verifyChannels() {
  unsigned channel = geometry.channelDim();
  int64_t ci = shapeOf(x)[channel], co = shapeOf(weight)[0];
  SmallVector<int64_t> fixed(shapeOf(weight));
  fixed.push_back(ci);
  for (int64_t extent : fixed)
    if (ShapedType::isDynamic(extent) || extent < 1)
      return op->emitOpError()
             << clause(2) << ": a channel count or kernel extent is "
             << (ShapedType::isDynamic(extent) ? "dynamic" : "0")
             << ", expected a static extent of at least 1";
  int64_t groups = geometry.groups;
  if (groups < 1 || ci % groups != 0 || co % groups != 0)
    return op->emitOpError() << clause(5) << ": groups is " << groups
                             << ", expected at least 1 and a divisor of the "
                             << ci << " input and " << co << " output channels";
  if (shapeOf(weight)[channel] != ci / groups)
    return op->emitOpError()
           << clause(6) << ": the weight has " << shapeOf(weight)[channel]
           << " input channels, expected " << ci / groups << " (" << ci
           << " channels in " << groups << " groups)";
  return success();
}

LogicalResult ConvVerifier::verifyExtents() {
  SmallVector<int64_t> expected(shapeOf(x));
  expected[geometry.channelDim()] = shapeOf(weight)[0];
  for (unsigned axis = 0; axis < geometry.spatialRank(); ++axis) {
    int64_t &extent = expected[geometry.spatialDim(axis)];
    if (ShapedType::isDynamic(extent))
      continue;
    int64_t padded = extent + geometry.low[axis] + geometry.high[axis];
    int64_t kernel = geometry.dilation[axis] *
                         (shapeOf(weight)[geometry.spatialDim(axis)] - 1) +
                     1;
    if (kernel > padded)
      return op->emitOpError()
             << clause(8) << ": the dilated kernel covers " << kernel
             << " elements of spatial axis " << axis
             << ", expected at most the padded input extent " << padded;
    extent = (padded - kernel) / geometry.stride[axis] + 1;
  }
  return verifyShape(op, clause(8), "y", y, expected);
}

template <typename OpTy>
LogicalResult ConvVerifier::verify(OpTy typed) {
  if (failed(verifyDestination(op, clause(10))))
    return failure();
  // x, weight and y may be outs, which exist only from here on.
  unsigned spatial = shapeOf(x).size() - 2;
  if (failed(verifyRanks()) ||
      failed(verifyEntries(3, "stride", typed.getStride(), 1, {spatial})) ||
      failed(verifyEntries(3, "dilation", typed.getDilation(), 1, {spatial})) ||
      failed(verifyEntries(4, "padding", typed.getPadding(), 0,
                           {spatial, 2 * spatial})))
    return failure();
  geometry = geometryOf(typed, spatial);
  if (failed(verifyRank(op, clause(8), "y", y, shapeOf(x).size())) ||
      failed(verifyChannels()) || failed(verifyExtents()) ||
      failed(verifyElementType(op, clause(9), "the weight", weight,
                               elementTypeOf(x))))
    return failure();
  return verifyElementType(op, clause(9), "y", y, elementTypeOf(x));
}

/// The single out, or nothing when the count is wrong (reported by clause 10).
template <typename OpTy>
static Value onlyOut(OpTy op) {
  return op.getOuts().size() == 1 ? op.getOuts()[0] : Value();
}

LogicalResult ConvOp::verify() {
  Value y = onlyOut(*this);
  if (!y)
    return verifyDestination(*this, "conv_c10");
  if (failed(ConvVerifier(*this, "conv", getX(), getWeight(), y).verify(*this)))
    return failure();
  if (!getBias())
    return success();
  if (failed(verifyShape(*this, "conv_c7", "bias", getBias(),
                         {shapeOf(getWeight())[0]})))
    return failure();
  return verifyF32Or(*this, "conv_c7", "bias", getBias(),
                     elementTypeOf(getX()));
}

LogicalResult ConvDataBackwardOp::verify() {
  Value dx = onlyOut(*this);
  if (!dx)
    return verifyDestination(*this, "conv_data_backward_c10");
  return ConvVerifier(*this, "conv_data_backward", dx, getWeight(), getDy())
      .verify(*this);
}

LogicalResult ConvWeightBackwardOp::verify() {
  Value dw = onlyOut(*this);
  if (!dw)
    return verifyDestination(*this, "conv_weight_backward_c10");
  return ConvVerifier(*this, "conv_weight_backward", getX(), dw, getDy())
      .verify(*this);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Loop 0 of conv and of its data gradient is the batch. With one group, the
/// channels of the result are a second loop.
TilingLoops ConvOp::getTilingLoops() {
  TilingLoops loops;
  ConvGeometry geometry = getGeometry();
  SmallVector<int64_t> whole(shapeOf(getX()).size(), -1);
  SmallVector<int64_t> x = whole, weight = whole, y = whole;
  x[0] = y[0] = 0;
  bool perChannel = geometry.groups == 1;
  loops.iterators.assign(perChannel ? 2 : 1, utils::IteratorType::parallel);
  if (perChannel) {
    weight[0] = y[geometry.channelDim()] = 1;
    loops.staticLoops = {"", "output channels"};
  }
  loops.operandDims = {x, weight};
  if (getBias())
    loops.operandDims.push_back({perChannel ? 1 : -1});
  loops.operandDims.push_back(y);
  return loops;
}

TilingLoops ConvDataBackwardOp::getTilingLoops() {
  TilingLoops loops;
  ConvGeometry geometry = getGeometry();
  SmallVector<int64_t> whole(shapeOf(getDy()).size(), -1);
  SmallVector<int64_t> dy = whole, weight = whole, dx = whole;
  dy[0] = dx[0] = 0;
  bool perChannel = geometry.groups == 1;
  loops.iterators.assign(perChannel ? 2 : 1, utils::IteratorType::parallel);
  if (perChannel) {
    weight[geometry.channelDim()] = dx[geometry.channelDim()] = 1;
    loops.staticLoops = {"", "input channels"};
  }
  loops.operandDims = {dy, weight, dx};
  return loops;
}

/// With one group the channels of both sides are loops; with more, a tile of
/// either would cut through the groups of the other operand.
TilingLoops ConvWeightBackwardOp::getTilingLoops() {
  TilingLoops loops;
  ConvGeometry geometry = getGeometry();
  SmallVector<int64_t> whole(shapeOf(getX()).size(), -1);
  SmallVector<int64_t> x = whole, dy = whole, dw = whole;
  if (geometry.groups == 1) {
    loops.iterators.assign(2, utils::IteratorType::parallel);
    dy[geometry.channelDim()] = dw[0] = 0;
    x[geometry.channelDim()] = dw[geometry.channelDim()] = 1;
    loops.staticLoops = {"output channels", "input channels"};
  }
  loops.operandDims = {x, dy, dw};
  return loops;
}
