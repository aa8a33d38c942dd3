//===- ConvDecompose.cpp - Convolutions as linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/ConvOps.h"
#include "rudnn/IR/EinBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// Builds the one product that all three ops are made of,
///
///   y[b, g, co, o] (+)= x[b, g, ci, o * stride + t * dilation] * w[g, co, ci,
///   t]
///
/// as a linalg.generic in which any of the three is the result. Channels of
/// grouped convolutions are split into (group, channel) first.
class ConvBuilder {
public:
  ConvBuilder(OpBuilder &b, Location loc, const ConvGeometry &geometry)
      : b(b), loc(loc), e(b, loc), geometry(geometry) {}

  enum class Side { X, Y, Weight };

  /// Sums into `init` (f32, in the shape of the `result` side).
  Value product(Value x, Value weight, Value y, Side result);

  /// `x` with the zero padding of the geometry.
  Value padded(Value x);
  /// dy spread out to `stride`, and moved and cut so that dx is its plain
  /// convolution with the mirrored weight.
  Value spread(Value dy, Value dx, Value weight);
  /// The weight with mirrored taps and its two channel axes swapped per group.
  Value mirrored(Value weight);
  /// Rounds f32 to the type of `init`, into it.
  Value rounded(Value sums, Value init);
  /// f32 zeros in the shape of `like`; `like` itself is the buffer when f32.
  Value zeros(Value like);

private:
  Value split(Value value, unsigned dim);
  Value merge(Value value, Value like, unsigned dim);
  AffineMap mapOf(Side side) const;
  AffineExpr dim(unsigned position) const {
    return getAffineDimExpr(position, b.getContext());
  }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(
        b, loc, AffineMap::get(0, operands.size(), expr), operands);
  }
  unsigned rank() const { return geometry.spatialRank(); }

  OpBuilder &b;
  Location loc;
  EinBuilder e;
  const ConvGeometry &geometry;
};

} // namespace

Value ConvBuilder::zeros(Value like) {
  TypedAttr zero = b.getF32FloatAttr(0.0);
  if (elementTypeOf(like).isF32())
    return e.filledLike(like, zero);
  return e.filled(e.sizes(like), zero);
}

Value ConvBuilder::rounded(Value sums, Value init) {
  Type type = elementTypeOf(init);
  if (type.isF32())
    return sums;
  std::string letters =
      StringRef("abcdef").take_front(shapeOf(init).size()).str();
  return e.map(
      letters + "->" + letters, sums, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, x[0], type);
      },
      init);
}

Value ConvBuilder::padded(Value x) {
  if (!geometry.isPadded())
    return x;
  SmallVector<OpFoldResult> low(shapeOf(x).size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> high = low;
  SmallVector<int64_t> shape(shapeOf(x));
  for (unsigned axis = 0; axis < rank(); ++axis) {
    unsigned dim = geometry.spatialDim(axis);
    low[dim] = b.getIndexAttr(geometry.low[axis]);
    high[dim] = b.getIndexAttr(geometry.high[axis]);
    if (!ShapedType::isDynamic(shape[dim]))
      shape[dim] += geometry.low[axis] + geometry.high[axis];
  }
  Type type = elementTypeOf(x);
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 0.0));
  return tensor::PadOp::create(b, loc, RankedTensorType::get(shape, type), x,
                               low, high, zero);
}

/// Splits the (static) channels of dim `dim` into groups and channels.
Value ConvBuilder::split(Value value, unsigned dim) {
  if (geometry.groups == 1)
    return value;
  SmallVector<OpFoldResult> sizes = e.sizes(value);
  SmallVector<int64_t> shape(shapeOf(value));
  int64_t perGroup = shape[dim] / geometry.groups;
  shape[dim] = perGroup;
  shape.insert(shape.begin() + dim, geometry.groups);
  sizes[dim] = b.getIndexAttr(perGroup);
  sizes.insert(sizes.begin() + dim, b.getIndexAttr(geometry.groups));
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0, next = 0; i + 1 < shape.size(); ++i) {
    groups.push_back({int64_t(next++)});
    if (i == dim)
      groups.back().push_back(next++);
  }
  auto type = RankedTensorType::get(shape, elementTypeOf(value));
  return tensor::ExpandShapeOp::create(b, loc, type, value, groups, sizes);
}

/// The inverse of split; the result has the type of `like`.
Value ConvBuilder::merge(Value value, Value like, unsigned dim) {
  if (geometry.groups == 1)
    return value;
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0, next = 0; i < shapeOf(like).size(); ++i) {
    groups.push_back({int64_t(next++)});
    if (i == dim)
      groups.back().push_back(next++);
  }
  auto type = RankedTensorType::get(shapeOf(like), elementTypeOf(value));
  return tensor::CollapseShapeOp::create(b, loc, type, value, groups);
}

/// Loops, before their order is fixed: b, g, co, o.., ci, t...
AffineMap ConvBuilder::mapOf(Side side) const {
  bool grouped = geometry.groups != 1;
  unsigned next = 0;
  AffineExpr batch = dim(next++);
  AffineExpr group = grouped ? dim(next++) : AffineExpr();
  AffineExpr co = dim(next++);
  SmallVector<AffineExpr> outer, window, taps;
  for (unsigned axis = 0; axis < rank(); ++axis)
    outer.push_back(dim(next++));
  AffineExpr ci = dim(next++);
  for (unsigned axis = 0; axis < rank(); ++axis) {
    AffineExpr tap = dim(next++);
    taps.push_back(tap);
    window.push_back(outer[axis] * geometry.stride[axis] +
                     tap * geometry.dilation[axis]);
  }
  SmallVector<AffineExpr> exprs;
  if (side != Side::Weight)
    exprs.push_back(batch);
  if (side == Side::Weight) {
    if (grouped)
      exprs.push_back(group);
    exprs.push_back(co);
  }
  SmallVector<AffineExpr> channels;
  if (grouped && side != Side::Weight)
    channels.push_back(group);
  channels.push_back(side == Side::Y ? co : ci);
  ArrayRef<AffineExpr> space = side == Side::X   ? window
                               : side == Side::Y ? outer
                                                 : taps;
  bool first = geometry.layout == ConvLayout::ChannelsFirst;
  if (first)
    llvm::append_range(exprs, channels);
  llvm::append_range(exprs, space);
  if (!first)
    llvm::append_range(exprs, channels);
  return AffineMap::get(next, 0, exprs, b.getContext());
}

Value ConvBuilder::product(Value x, Value weight, Value y, Side result) {
  unsigned channel = geometry.channelDim();
  Value init = result == Side::Weight ? weight : y;
  Value splitX = split(x, channel), splitY = split(y, channel),
        splitWeight = split(weight, 0);
  SmallVector<Value> operands{splitX};
  SmallVector<AffineMap> maps{mapOf(Side::X)};
  operands.push_back(result == Side::Weight ? splitY : splitWeight);
  maps.push_back(mapOf(result == Side::Weight ? Side::Y : Side::Weight));
  maps.push_back(mapOf(result));
  Value out = result == Side::Weight ? splitWeight : splitY;

  // The loops of the result are parallel, all others are summed.
  SmallVector<utils::IteratorType> iterators(maps[0].getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : maps.back().getResults())
    iterators[cast<AffineDimExpr>(expr).getPosition()] =
        utils::IteratorType::parallel;
  auto flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  Value sums =
      linalg::GenericOp::create(
          b, loc, out.getType(), operands, out, maps, iterators,
          [&](OpBuilder &b, Location loc, ValueRange args) {
            Value term = arith::MulFOp::create(b, loc, toF32(b, loc, args[0]),
                                               toF32(b, loc, args[1]), flags);
            Value sum = arith::AddFOp::create(b, loc, args[2], term, flags);
            linalg::YieldOp::create(b, loc, sum);
          })
          .getResult(0);
  return merge(sums, init, result == Side::Weight ? 0 : channel);
}

Value ConvBuilder::spread(Value dy, Value dx, Value weight) {
  unsigned dims = shapeOf(dy).size();
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> extents = e.sizes(dy), taken = e.sizes(dy);
  SmallVector<OpFoldResult> from(dims, zero), to(dims, zero), steps(dims, one);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  for (unsigned axis = 0; axis < rank(); ++axis) {
    unsigned dim = geometry.spatialDim(axis);
    int64_t stride = geometry.stride[axis];
    int64_t reach = geometry.dilation[axis] * (shapeOf(weight)[dim] - 1);
    OpFoldResult input = e.size(dx, dim);
    extents[dim] = apply(s0 + reach, {input});
    // dy[o] stands at o * stride + shift; outputs that only saw padding before
    // or after x fall outside and are cut off.
    int64_t shift = reach - geometry.low[axis];
    int64_t skipped = shift < 0 ? llvm::divideCeil(-shift, stride) : 0;
    OpFoldResult end = affine::makeComposedFoldedAffineMin(
        b, loc,
        AffineMap::get(0, 2, {s0, (s1 + geometry.low[axis]).ceilDiv(stride)},
                       b.getContext()),
        {taken[dim], input});
    OpFoldResult count = affine::makeComposedFoldedAffineMax(
        b, loc,
        AffineMap::get(0, 1, {s0 - skipped, b.getAffineConstantExpr(0)},
                       b.getContext()),
        {end});
    from[dim] = affine::makeComposedFoldedAffineMin(
        b, loc,
        AffineMap::get(0, 1, {s0, b.getAffineConstantExpr(skipped)},
                       b.getContext()),
        {taken[dim]});
    taken[dim] = count;
    to[dim] = affine::makeComposedFoldedAffineMin(
        b, loc,
        AffineMap::get(0, 1,
                       {s0, b.getAffineConstantExpr(shift + skipped * stride)},
                       b.getContext()),
        {extents[dim]});
    steps[dim] = b.getIndexAttr(stride);
  }
  SmallVector<OpFoldResult> ones(dims, one);
  Value part = tensor::ExtractSliceOp::create(b, loc, dy, from, taken, ones);
  Type type = elementTypeOf(dy);
  Value blank = e.filled(extents, b.getFloatAttr(type, 0.0));
  return tensor::InsertSliceOp::create(b, loc, part, blank, to, taken, steps);
}

Value ConvBuilder::mirrored(Value weight) {
  // As a weight from Co to Ci channels: [groups * Ci/groups, .., Co/groups,
  // ..].
  unsigned channel = geometry.channelDim();
  SmallVector<int64_t> shape(shapeOf(weight));
  int64_t co = shape[0] / geometry.groups, ci = shape[channel];
  shape[0] = ci * geometry.groups;
  shape[channel] = co;
  Type type = elementTypeOf(weight);
  Value init = tensor::EmptyOp::create(b, loc, shape, type);
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange(), init, identity, iterators,
             [&](OpBuilder &b, Location loc, ValueRange) {
               SmallVector<Value> at;
               for (unsigned dim = 0; dim < shape.size(); ++dim)
                 at.push_back(linalg::IndexOp::create(b, loc, dim));
               auto index = [&](AffineExpr expr, ArrayRef<Value> operands) {
                 return Value(affine::AffineApplyOp::create(
                     b, loc, AffineMap::get(2, 0, expr), operands));
               };
               Value row = at[0], column = at[channel];
               at[0] = index(d0.floorDiv(ci) * co + d1, {row, column});
               at[channel] = index(d0 % ci, {row, column});
               for (unsigned axis = 0; axis < rank(); ++axis) {
                 unsigned dim = geometry.spatialDim(axis);
                 at[dim] = index(shape[dim] - 1 - d0, {at[dim], at[dim]});
               }
               Value value = tensor::ExtractOp::create(b, loc, weight, at);
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> ConvOp::decomposeOperation(OpBuilder &b) {
  ConvGeometry geometry = getGeometry();
  ConvBuilder conv(b, getLoc(), geometry);
  Value y = getOuts()[0];
  Value init;
  if (getBias()) {
    // The sums start from the bias.
    std::string letters =
        StringRef("abcdef").take_front(shapeOf(y).size()).str();
    std::string channel = letters.substr(geometry.channelDim(), 1);
    EinBuilder e(b, getLoc());
    SmallVector<OpFoldResult> sizes = e.sizes(y);
    for (auto [letter, size] : llvm::zip_equal(letters, sizes))
      e.extent[letter] = size;
    init = e.map(
        channel + "->" + letters, getBias(), b.getF32Type(),
        [](OpBuilder &b, Location loc, ValueRange x) -> Value {
          return toF32(b, loc, x[0]);
        },
        elementTypeOf(y).isF32() ? y : Value());
  } else {
    init = conv.zeros(y);
  }
  Value sums = conv.product(conv.padded(getX()), getWeight(), init,
                            ConvBuilder::Side::Y);
  return SmallVector<Value>{conv.rounded(sums, y)};
}

FailureOr<SmallVector<Value>>
ConvDataBackwardOp::decomposeOperation(OpBuilder &b) {
  ConvGeometry geometry = getGeometry();
  Value dx = getOuts()[0];
  Value spread =
      ConvBuilder(b, getLoc(), geometry).spread(getDy(), dx, getWeight());
  Value mirrored = ConvBuilder(b, getLoc(), geometry).mirrored(getWeight());
  // dx is the plain convolution, of stride 1, of the two.
  ConvGeometry plain = geometry;
  plain.stride.assign(geometry.spatialRank(), 1);
  ConvBuilder conv(b, getLoc(), plain);
  Value sums =
      conv.product(spread, mirrored, conv.zeros(dx), ConvBuilder::Side::Y);
  return SmallVector<Value>{conv.rounded(sums, dx)};
}

FailureOr<SmallVector<Value>>
ConvWeightBackwardOp::decomposeOperation(OpBuilder &b) {
  ConvGeometry geometry = getGeometry();
  ConvBuilder conv(b, getLoc(), geometry);
  Value dw = getOuts()[0];
  Value sums = conv.product(conv.padded(getX()), conv.zeros(dw), getDy(),
                            ConvBuilder::Side::Weight);
  return SmallVector<Value>{conv.rounded(sums, dw)};
}
