//===- AttentionBlocks.cpp - Attention over blocks of keys -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionBlocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

/// An f32 copy of a float tensor; the tensor itself when it is f32.
static Value tensorToF32(EinBuilder &e, OpBuilder &b, Value x) {
  if (elementTypeOf(x).isF32())
    return x;
  std::string letters;
  for (size_t dim = 0, rank = shapeOf(x).size(); dim < rank; ++dim)
    letters += static_cast<char>('a' + dim);
  return e.map(letters + "->" + letters, x, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return toF32(b, loc, x[0]);
               });
}

AttentionBlocks::AttentionBlocks(OpBuilder &b, Location loc,
                                 const AttentionScores &scores)
    : b(b), loc(loc), scores(scores), e(b, loc),
      rowLetters(scores.group() == 1 ? "bhq" : "bhgq") {
  query = tensorToF32(e, b, split(scores.q));
  if (scores.usesPosition())
    offset = getQueryOffset(b, loc, scores);
  std::string letters = rowLetters + "d";
  for (auto [letter, size] : llvm::zip_equal(letters, e.sizes(query)))
    e.extent[letter] = size;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// {0}, .., {dim, dim + 1}, .., for a tensor of `rank` dims before the split.
static SmallVector<ReassociationIndices> splitIndices(int64_t rank,
                                                      int64_t dim) {
  SmallVector<ReassociationIndices> indices;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t first = i > dim ? i + 1 : i;
    indices.push_back({first});
    if (i == dim)
      indices.back().push_back(first + 1);
  }
  return indices;
}

Value AttentionBlocks::split(Value x, int64_t dim) {
  if (scores.group() == 1)
    return x;
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t rank = shape.size();
  shape[dim] = scores.keyHeads();
  shape.insert(shape.begin() + dim + 1, scores.group());
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, elementTypeOf(x)), x,
      splitIndices(rank, dim));
}

Value AttentionBlocks::join(Value x, Type type, int64_t dim) {
  if (scores.group() == 1)
    return x;
  int64_t rank = cast<RankedTensorType>(type).getRank();
  return tensor::CollapseShapeOp::create(b, loc, cast<RankedTensorType>(type),
                                         x, splitIndices(rank, dim));
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionBlocks::forEach(ValueRange state, Body body,
                                            bool every) {
  OpFoldResult keys = e.size(scores.k, 2);
  std::optional<int64_t> count = getConstantIntValue(keys);
  OpFoldResult zero = b.getIndexAttr(0), step = b.getIndexAttr(kKeys);
  if (count && *count == 0)
    return SmallVector<Value>(state);
  if (count && *count <= kKeys)
    return body({zero, keys}, state);

  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1),
             s2 = b.getAffineSymbolExpr(2);
  auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
  };
  auto minimum = [&](ArrayRef<AffineExpr> exprs,
                     ArrayRef<OpFoldResult> operands) {
    AffineMap map = AffineMap::get(0, operands.size(), exprs, b.getContext());
    return affine::makeComposedFoldedAffineMin(b, loc, map, operands);
  };
  // Blocks start at multiples of kKeys, whatever the rows see, so that all but
  // the last have the same static size.
  OpFoldResult low = zero, high = keys;
  if (scores.windowLeft && !every) {
    AffineMap map = AffineMap::get(
        0, 1, {b.getAffineConstantExpr(0), s0 - *scores.windowLeft},
        b.getContext());
    low = affine::makeComposedFoldedAffineMax(b, loc, map, {offset});
    low = apply(s0.floorDiv(kKeys) * kKeys, {low});
  }
  if (scores.windowRight && !every) {
    AffineExpr seen = s1 + s2 + *scores.windowRight;
    high = minimum({s0, seen.ceilDiv(kKeys) * kKeys},
                   {keys, offset, e.size(scores.q, 2)});
  }
  OpFoldResult whole = apply(s0.floorDiv(kKeys) * kKeys, {keys});
  OpFoldResult rest = apply(s0 - s1, {keys, whole});
  OpFoldResult end = minimum({s0, s1}, {high, whole});
  auto loop = [&](OpFoldResult from, OpFoldResult to, OpFoldResult size,
                  ValueRange init) -> SmallVector<Value> {
    auto asValue = [&](OpFoldResult x) {
      return getValueOrCreateConstantIndexOp(b, loc, x);
    };
    auto op = scf::ForOp::create(b, loc, asValue(from), asValue(to),
                                 asValue(step), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    SmallVector<Value> next =
        body({op.getInductionVar(), size}, op.getRegionIterArgs());
    b.setInsertionPointToEnd(op.getBody());
    scf::YieldOp::create(b, loc, next);
    return SmallVector<Value>(op.getResults());
  };
  SmallVector<Value> result = loop(low, end, step, state);
  if (isConstantIntValue(rest, 0))
    return result;
  // The tail runs once, when some row sees it.
  return loop(whole, high, rest, result);
}

//===----------------------------------------------------------------------===//
// Blocks of the operands
//===----------------------------------------------------------------------===//

Value AttentionBlocks::slice(Value keysOrValues, const Block &block) {
  SmallVector<OpFoldResult> sizes = e.sizes(keysOrValues);
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
  offsets[2] = block.start, sizes[2] = block.size;
  Value part = tensor::ExtractSliceOp::create(b, loc, keysOrValues, offsets,
                                              sizes, strides);
  return tensorToF32(e, b, part);
}

Value AttentionBlocks::sliceTransposed(Value keysOrValues, const Block &block) {
  Value part = slice(keysOrValues, block);
  SmallVector<OpFoldResult> sizes = e.sizes(part);
  std::swap(sizes[2], sizes[3]);
  Value init = tensor::EmptyOp::create(b, loc, sizes, b.getF32Type());
  return linalg::TransposeOp::create(b, loc, part, init,
                                     ArrayRef<int64_t>{0, 1, 3, 2})
      ->getResult(0);
}

std::pair<std::string, Value>
AttentionBlocks::sliceBroadcast(Value x, const Block &block) {
  ArrayRef<int64_t> before = shapeOf(x);
  std::string letters;
  if (before[0] != 1)
    letters += 'b';
  int64_t keyDim = 3;
  if (before[1] != 1) {
    letters += heads();
    x = split(x);
    keyDim = shapeOf(x).size() - 1;
  }
  SmallVector<OpFoldResult> sizes = e.sizes(x);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  if (before[2] != 1)
    letters += 'q';
  if (before[3] != 1) {
    letters += 'k';
    offsets[keyDim] = block.start, sizes[keyDim] = block.size;
  }
  // Dims that are broadcast go; a head split into 1 x G stays.
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim <= keyDim; ++dim) {
    bool isHead = dim >= 1 && dim <= keyDim - 2;
    int64_t original = isHead ? 1 : dim == 0 ? 0 : dim - keyDim + 3;
    if (before[original] == 1)
      continue;
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    shape.push_back(size ? *size : ShapedType::kDynamic);
  }
  auto type = RankedTensorType::get(shape, elementTypeOf(x));
  return {letters, tensor::ExtractSliceOp::create(b, loc, type, x, offsets,
                                                  sizes, strides)};
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionBlocks::products(const Block &block) {
  std::string left = rowLetters + "d", out = rowLetters + "k";
  // A single row is a memory-bound dot product per key; more rows are a matrix
  // product, which wants the keys along the columns.
  if (getConstantIntValue(e.extent['q']) == 1 && scores.group() == 1)
    return e.contract(left + ",bhkd->" + out, query, slice(scores.k, block));
  return e.contract(left + ",bhdk->" + out, query,
                    sliceTransposed(scores.k, block));
}

Value AttentionBlocks::makeScore(OpBuilder &nested, Value product, Value bias) {
  Value score = arith::MulFOp::create(nested, loc, product,
                                      f32Const(nested, loc, scores.scale));
  if (scores.softcap) {
    Value cap = f32Const(nested, loc, *scores.softcap);
    Value inner = arith::DivFOp::create(nested, loc, score, cap);
    Value tanh = math::TanhOp::create(nested, loc, inner);
    score = arith::MulFOp::create(nested, loc, cap, tanh);
  }
  if (bias)
    score = arith::AddFOp::create(nested, loc, score, toF32(nested, loc, bias));
  return score;
}

/// Whether the key of this element is excluded for its row; null when no key
/// is. `left` and `right` bound key - row within the block.
Value AttentionBlocks::makeExcluded(OpBuilder &nested, Value masked, Value left,
                                    Value right) {
  Value excluded = masked;
  auto add = [&](Value more) {
    excluded =
        excluded ? arith::OrIOp::create(nested, loc, excluded, more).getResult()
                 : more;
  };
  if (!left && !right)
    return excluded;
  int64_t row = rowLetters.size() - 1;
  Value distance = arith::SubIOp::create(
      nested, loc, linalg::IndexOp::create(nested, loc, row + 1),
      linalg::IndexOp::create(nested, loc, row));
  if (left)
    add(arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::slt, distance,
                              left));
  if (right)
    add(arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::sgt, distance,
                              right));
  return excluded;
}

Value AttentionBlocks::mapScores(const Block &block, Value products,
                                 ArrayRef<std::pair<std::string, Value>> others,
                                 EinBuilder::Body body, Value init) {
  // Row i sees keys start + j with left <= j - i <= right.
  auto bound = [&](int64_t window) {
    AffineExpr expr = b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1);
    return getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(b, loc, expr + window,
                                              {offset, block.start}));
  };
  Value left, right;
  if (scores.windowLeft)
    left = bound(-*scores.windowLeft);
  if (scores.windowRight)
    right = bound(*scores.windowRight);

  std::string out = rowLetters + "k", text = out;
  SmallVector<Value> operands{products};
  auto addOperand = [&](const std::pair<std::string, Value> &operand) {
    text += "," + operand.first;
    operands.push_back(operand.second);
  };
  if (scores.mask)
    addOperand(sliceBroadcast(scores.mask, block));
  if (scores.bias)
    addOperand(sliceBroadcast(scores.bias, block));
  for (const auto &other : others)
    addOperand(other);
  return e.map(
      text + "->" + out, operands, b.getF32Type(),
      [&](OpBuilder &nested, Location nestedLoc, ValueRange x) -> Value {
        unsigned next = 1;
        Value masked = scores.mask ? x[next++] : Value();
        Value bias = scores.bias ? x[next++] : Value();
        Value score = makeScore(nested, x[0], bias);
        if (Value excluded = makeExcluded(nested, masked, left, right)) {
          Value none = f32Const(nested, loc, -INFINITY);
          score =
              arith::SelectOp::create(nested, nestedLoc, excluded, none, score);
        }
        SmallVector<Value> args{score};
        llvm::append_range(args, x.drop_front(next));
        args.push_back(x[0]);
        return body(nested, nestedLoc, args);
      },
      init);
}
