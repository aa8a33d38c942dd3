//===- AttentionCanonicalize.cpp - Simpler attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/AttentionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace rudnn;

/// The value of every element of a constant or of a filled tensor.
static Attribute splatOf(Value value) {
  if (!value)
    return {};
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat() ? elements.getSplatValue<Attribute>()
                              : Attribute();
  Attribute scalar;
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    if (matchPattern(fill.getInputs()[0], m_Constant(&scalar)))
      return scalar;
  return {};
}

static std::optional<bool> maskSplat(Value mask) {
  auto splat = dyn_cast_or_null<IntegerAttr>(splatOf(mask));
  if (!splat)
    return std::nullopt;
  return !splat.getValue().isZero();
}

static std::optional<APFloat> floatSplat(Value value) {
  auto splat = dyn_cast_or_null<FloatAttr>(splatOf(value));
  if (!splat)
    return std::nullopt;
  return splat.getValue();
}

/// `out` filled with a float.
static Value filled(PatternRewriter &rewriter, Location loc, Value out,
                    double value) {
  Value constant = arith::ConstantOp::create(
      rewriter, loc, rewriter.getFloatAttr(elementTypeOf(out), value));
  return linalg::FillOp::create(rewriter, loc, constant, out).getResult(0);
}

namespace {

/// Results that nobody reads are not computed: `keep(i)` says which outs stay.
template <typename OpTy>
LogicalResult dropOuts(OpTy op, PatternRewriter &rewriter,
                       llvm::function_ref<bool(unsigned)> keep,
                       llvm::function_ref<void(OpTy)> adjust) {
  SmallVector<Value> operands(op->getOperands().drop_back(op.getOuts().size()));
  SmallVector<Type> types;
  for (auto [index, out] : llvm::enumerate(op.getOuts()))
    if (keep(index)) {
      operands.push_back(out);
      types.push_back(out.getType());
    }
  typename OpTy::Properties properties = op.getProperties();
  properties.operandSegmentSizes.back() = types.size();
  auto smaller =
      OpTy::create(rewriter, op.getLoc(), types, operands, properties,
                   op->getDiscardableAttrDictionary().getValue());
  adjust(smaller);
  SmallVector<Value> values;
  unsigned next = 0;
  for (unsigned index = 0, e = op->getNumResults(); index < e; ++index)
    // A dropped result has no use to replace.
    values.push_back(keep(index) ? smaller->getResult(next++)
                                 : op.getOuts()[index]);
  rewriter.replaceOp(op, values);
  return success();
}

template <typename OpTy>
struct DropDeadLse : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() < 2 || !op->getResult(1).use_empty())
      return rewriter.notifyMatchFailure(op, "no lse result or one in use");
    return dropOuts<OpTy>(
        op, rewriter, [](unsigned index) { return index == 0; },
        [](OpTy smaller) {
          // Without an lse its base says nothing; a merge still reads some.
          if (!isa<MergeAttentionStatesOp>(*smaller))
            smaller.setLseBase(LogBase::E);
        });
  }
};

/// Whether a backward op has a gradient of the bias among its outs.
bool hasBiasGradient(AttentionBackwardOp op) { return op.getBiasGradient(); }
bool hasBiasGradient(RaggedAttentionBackwardOp) { return false; }

template <typename OpTy>
struct DropDeadGradients : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool bias = hasBiasGradient(op), sinks = op.getSinksGradient();
    if (op->getNumResults() == 0)
      return rewriter.notifyMatchFailure(op, "on memrefs");
    bool dropBias = bias && op->getResult(3).use_empty();
    bool dropSinks = sinks && op->getResults().back().use_empty();
    if (!dropBias && !dropSinks)
      return rewriter.notifyMatchFailure(op, "every gradient is in use");
    unsigned sinksIndex = 3 + bias;
    return dropOuts<OpTy>(
        op, rewriter,
        [&](unsigned index) {
          return !(dropBias && index == 3) &&
                 !(dropSinks && index == sinksIndex);
        },
        [&](OpTy smaller) {
          if constexpr (std::is_same_v<OpTy, AttentionBackwardOp>)
            smaller.setBiasGradient(bias && !dropBias);
          smaller.setSinksGradient(sinks && !dropSinks);
        });
  }
};

/// Options that say what holds without them.
template <typename OpTy>
struct DropDefaults : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    AttentionScores scores = getAttentionScores(op);
    int64_t rows = shapeOf(scores.q)[2], keys = shapeOf(scores.k)[2];
    bool scale = op.getScale() &&
                 scores.scale == 1.0 / std::sqrt(double(shapeOf(scores.q)[3]));
    // A causal row sees nothing right of its position anyway.
    bool window = op.getCausal() != Causal::None && op.getWindowRight();
    // The only row stands at the last key: nothing is right of it.
    bool lastRow = op.getCausal() != Causal::TopLeft && rows == 1 &&
                   !op.getQueryOffset() && scores.windowRight;
    bool offset = false;
    if (std::optional<int64_t> value =
            op.getQueryOffset() ? getConstantIntValue(op.getQueryOffset())
                                : std::nullopt) {
      bool known = !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(keys);
      offset = op.getCausal() == Causal::TopLeft
                   ? *value == 0
                   : known && *value == keys - rows;
    }
    if (!scale && !window && !lastRow && !offset)
      return rewriter.notifyMatchFailure(op, "no default is spelled out");
    rewriter.modifyOpInPlace(op, [&] {
      if (scale)
        op.removeScaleAttr();
      if (window || lastRow)
        op.removeWindowRightAttr();
      if (lastRow)
        op.setCausal(Causal::None);
      if (offset)
        op.getQueryOffsetMutable().clear();
    });
    return success();
  }
};

/// Operands that change nothing: a mask of false, a bias of 0, sinks of -inf.
template <typename OpTy>
struct DropNeutralOperands : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool keepBias = false, keepSinks = false;
    if (auto backward = dyn_cast<AttentionBackwardOp>(*op)) {
      keepBias = backward.getBiasGradient();
      keepSinks = backward.getSinksGradient();
    }
    bool mask = maskSplat(op.getMask()) == false;
    std::optional<APFloat> biasValue = floatSplat(op.getBias()),
                           sinksValue = floatSplat(op.getSinks());
    bool bias = !keepBias && biasValue && biasValue->isZero();
    bool sinks = !keepSinks && sinksValue && sinksValue->isInfinity() &&
                 sinksValue->isNegative();
    if (!mask && !bias && !sinks)
      return rewriter.notifyMatchFailure(op, "no neutral operand");
    rewriter.modifyOpInPlace(op, [&] {
      if (sinks)
        op.getSinksMutable().clear();
      if (bias)
        op.getBiasMutable().clear();
      if (mask)
        op.getMaskMutable().clear();
    });
    return success();
  }
};

/// Whether no row sees a key: a mask of true, or no keys at all.
template <typename OpTy>
bool seesNothing(OpTy op) {
  return maskSplat(op.getMask()) == true || shapeOf(op.getK())[2] == 0;
}

//===----------------------------------------------------------------------===//
// Ragged attention
//===----------------------------------------------------------------------===//

/// The default scale, a right window beside causal, sinks of -inf.
template <typename OpTy>
struct SimplifyRagged : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool keepSinks = false;
    if (auto backward = dyn_cast<RaggedAttentionBackwardOp>(*op))
      keepSinks = backward.getSinksGradient();
    double usual = 1.0 / std::sqrt(double(shapeOf(op.getQ()).back()));
    bool scale = op.getScale() && op.getScale()->convertToDouble() == usual;
    bool window = op.getCausal() != Causal::None && op.getWindowRight();
    std::optional<APFloat> value = floatSplat(op.getSinks());
    bool sinks =
        !keepSinks && value && value->isInfinity() && value->isNegative();
    if (!scale && !window && !sinks)
      return rewriter.notifyMatchFailure(op, "says nothing twice");
    rewriter.modifyOpInPlace(op, [&] {
      if (scale)
        op.removeScaleAttr();
      if (window)
        op.removeWindowRightAttr();
      if (sinks)
        op.getSinksMutable().clear();
    });
    return success();
  }
};

/// Without keys every row is blind.
struct FoldBlindRagged : OpRewritePattern<RaggedAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RaggedAttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || shapeOf(op.getK())[0] != 0)
      return rewriter.notifyMatchFailure(op, "on memrefs or with keys to see");
    if (op.getLseOut() && op.getSinks())
      return rewriter.notifyMatchFailure(op, "the lse is that of the sinks");
    SmallVector<Value> values{
        filled(rewriter, op.getLoc(), op.getOuts()[0], 0.0)};
    if (op.getLseOut())
      values.push_back(
          filled(rewriter, op.getLoc(), op.getLseOut(), -INFINITY));
    rewriter.replaceOp(op, values);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Nothing to see
//===----------------------------------------------------------------------===//

struct FoldBlindAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || !seesNothing(op))
      return rewriter.notifyMatchFailure(op, "on memrefs or with keys to see");
    if (op.getLseOut() && op.getSinks())
      return rewriter.notifyMatchFailure(op, "the lse is that of the sinks");
    Location loc = op.getLoc();
    SmallVector<Value> values{filled(rewriter, loc, op.getOuts()[0], 0.0)};
    if (op.getLseOut())
      values.push_back(filled(rewriter, loc, op.getLseOut(), -INFINITY));
    rewriter.replaceOp(op, values);
    return success();
  }
};

struct FoldBlindGradients : OpRewritePattern<AttentionBackwardOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionBackwardOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || !seesNothing(op))
      return rewriter.notifyMatchFailure(op, "on memrefs or with keys to see");
    if (op.getSinksGradient())
      return rewriter.notifyMatchFailure(op, "the sinks are still weighed");
    SmallVector<Value> values;
    for (Value out : op.getOuts())
      values.push_back(filled(rewriter, op.getLoc(), out, 0.0));
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropDeadLse<AttentionOp>, DropDefaults<AttentionOp>,
               DropNeutralOperands<AttentionOp>, FoldBlindAttention>(context);
}

void AttentionBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropDeadGradients<AttentionBackwardOp>,
               DropDefaults<AttentionBackwardOp>,
               DropNeutralOperands<AttentionBackwardOp>, FoldBlindGradients>(
      context);
}

void RaggedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *context) {
  patterns.add<DropDeadLse<RaggedAttentionOp>,
               SimplifyRagged<RaggedAttentionOp>, FoldBlindRagged>(context);
}

void RaggedAttentionBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropDeadGradients<RaggedAttentionBackwardOp>,
               SimplifyRagged<RaggedAttentionBackwardOp>>(context);
}

void MergeAttentionStatesOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropDeadLse<MergeAttentionStatesOp>>(context);
}
