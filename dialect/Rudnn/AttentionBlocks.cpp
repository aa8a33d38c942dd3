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

AttentionBlocks::AttentionBlocks(OpBuilder &b, Location loc,
                                 const AttentionScores &scores)
    : b(b), loc(loc), scores(scores), e(b, loc),
      rowLetters(scores.group() == 1 ? "bhq" : "bhgq") {
  query = toF32Tensor(split(scores.q));
  if (scores.usesPosition())
    offset = getQueryOffset(b, loc, scores);
  std::string letters = rowLetters + "d";
  for (auto [letter, size] : llvm::zip_equal(letters, e.sizes(query)))
    e.extent[letter] = size;
}

Value AttentionBlocks::toF32Tensor(Value x) {
  if (elementTypeOf(x).isF32())
    return x;
  // Capitals: the small letters have extents of their own.
  std::string letters;
  for (size_t dim = 0, rank = shapeOf(x).size(); dim < rank; ++dim)
    letters += static_cast<char>('A' + dim);
  return e.map(letters + "->" + letters, x, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return toF32(b, loc, x[0]);
               });
}

Value AttentionBlocks::fillZero(Value init) {
  return e.filledLike(init, b.getFloatAttr(elementTypeOf(init), 0.0));
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

SmallVector<Value> AttentionBlocks::forEach(ValueRange state, Body body) {
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
  if (scores.windowLeft) {
    AffineMap map = AffineMap::get(
        0, 1, {b.getAffineConstantExpr(0), s0 - *scores.windowLeft},
        b.getContext());
    low = affine::makeComposedFoldedAffineMax(b, loc, map, {offset});
    low = apply(s0.floorDiv(kKeys) * kKeys, {low});
  }
  if (scores.windowRight) {
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
  return toF32Tensor(part);
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

AttentionBlocks::Slice AttentionBlocks::broadcastSlice(Value x,
                                                       const Block &block) {
  Slice slice;
  slice.sizes = e.sizes(x);
  int64_t rank = slice.sizes.size();
  slice.offsets.assign(rank, b.getIndexAttr(0));
  slice.strides.assign(rank, b.getIndexAttr(1));
  if (!isConstantIntValue(slice.sizes.back(), 1))
    slice.offsets.back() = block.start, slice.sizes.back() = block.size;
  std::string letters = rank == 4 ? "bhqk" : rowLetters + "k";
  // Every static 1 goes, also those that are not broadcast: which of two dims
  // of extent 1 a rank-reduced slice has lost is ambiguous.
  for (auto [letter, size] : llvm::zip_equal(letters, slice.sizes)) {
    if (isConstantIntValue(size, 1))
      continue;
    slice.letters += letter;
    std::optional<int64_t> extent = getConstantIntValue(size);
    slice.kept.push_back(extent ? *extent : ShapedType::kDynamic);
  }
  return slice;
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

AttentionBlocks::ScoreInputs AttentionBlocks::scoreInputs(const Block &block) {
  ScoreInputs inputs;
  auto addOperand = [&](Value x) {
    Value whole = splitBroadcast(x);
    Slice slice = broadcastSlice(whole, block);
    inputs.letters += slice.letters + ",";
    inputs.operands.push_back(tensor::ExtractSliceOp::create(
        b, loc, RankedTensorType::get(slice.kept, elementTypeOf(x)), whole,
        slice.offsets, slice.sizes, slice.strides));
  };
  if (scores.mask)
    addOperand(scores.mask);
  if (scores.bias)
    addOperand(scores.bias);
  // Row i sees keys start + j with left <= j - i <= right.
  auto bound = [&](int64_t window) {
    AffineExpr expr = b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1);
    return getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(b, loc, expr + window,
                                              {offset, block.start}));
  };
  if (scores.windowLeft)
    inputs.left = bound(-*scores.windowLeft);
  if (scores.windowRight)
    inputs.right = bound(*scores.windowRight);
  return inputs;
}

/// Whether the key of this element is excluded for its row; null when no key
/// is.
Value AttentionBlocks::makeExcluded(OpBuilder &nested, Value masked,
                                    const ScoreInputs &inputs) {
  Value excluded = masked;
  auto add = [&](arith::CmpIPredicate predicate, Value distance, Value bound) {
    Value more = arith::CmpIOp::create(nested, loc, predicate, distance, bound);
    excluded =
        excluded ? arith::OrIOp::create(nested, loc, excluded, more).getResult()
                 : more;
  };
  if (!inputs.left && !inputs.right)
    return excluded;
  int64_t row = rowLetters.size() - 1;
  Value distance = arith::SubIOp::create(
      nested, loc, linalg::IndexOp::create(nested, loc, row + 1),
      linalg::IndexOp::create(nested, loc, row));
  if (inputs.left)
    add(arith::CmpIPredicate::slt, distance, inputs.left);
  if (inputs.right)
    add(arith::CmpIPredicate::sgt, distance, inputs.right);
  return excluded;
}

Value AttentionBlocks::makeScore(OpBuilder &nested, const ScoreInputs &inputs,
                                 Value product, ValueRange values) {
  Value masked = scores.mask ? values[0] : Value();
  Value bias = scores.bias ? values[scores.mask ? 1 : 0] : Value();
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
  Value excluded = makeExcluded(nested, masked, inputs);
  if (!excluded)
    return score;
  return arith::SelectOp::create(nested, loc, excluded,
                                 f32Const(nested, loc, -INFINITY), score);
}

Value AttentionBlocks::updateScores(const Block &block, Value products) {
  ScoreInputs inputs = scoreInputs(block);
  std::string letters = inputs.letters;
  if (!letters.empty())
    letters.pop_back();
  return e.update(letters + "->" + rowLetters + "k", inputs.operands, products,
                  [&](OpBuilder &nested, Location, ValueRange x) {
                    return makeScore(nested, inputs, x.back(), x.drop_back());
                  });
}

Value AttentionBlocks::probabilities(const Block &block, Value products,
                                     Value lse) {
  ScoreInputs inputs = scoreInputs(block);
  SmallVector<Value> operands = inputs.operands;
  operands.append({lse, products});
  std::string all = rowLetters + "k";
  return e.map(
      inputs.letters + rowLetters + "," + all + "->" + all, operands,
      b.getF32Type(), [&](OpBuilder &nested, Location, ValueRange x) -> Value {
        Value score = makeScore(nested, inputs, x.back(), x.drop_back(2));
        Value shifted =
            arith::SubFOp::create(nested, loc, score, x[x.size() - 2]);
        return math::ExpOp::create(nested, loc, shifted);
      });
}
