//===- DeltaDecompose.cpp - The gated delta rule as linalg and scf -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/DeltaOps.h"
#include "rudnn/IR/EinBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// The operands of one head of one batch entry, without those two dims.
struct Head {
  Value q, k, v, beta, logDecay;
};
/// What a head's loop carries: its rows of the output and its state.
struct Carried {
  Value output, state;
};

class DeltaBuilder {
public:
  DeltaBuilder(OpBuilder &b, Location loc, double scale)
      : b(b), loc(loc), e(b, loc), scale(scale) {}

  using HeadBody = llvm::function_ref<Carried(const Head &, Carried)>;

  /// Runs `body` for every batch entry and value head; both outs.
  template <typename OpTy>
  SmallVector<Value> forEachHead(OpTy op, HeadBody body);

  /// A loop over [0, end) in steps that carries `init`.
  Carried loop(Value end, int64_t step, Carried init,
               llvm::function_ref<Carried(Value, Carried)> body);

  Carried token(const Head &head, Value t, Carried carried);
  Carried chunk(const Head &head, Value start, Value tokens, int64_t size,
                Carried carried);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

private:
  /// Rows [start, start + count) of a [T, ...] tensor, padded with zeros to
  /// `size`.
  Value rows(Value value, Value start, OpFoldResult count, int64_t size);
  /// Element or row `i` of the first dim, without that dim.
  Value row(Value value, OpFoldResult i);
  Value insertRow(Value part, Value whole, OpFoldResult i);
  /// log of the decay from token j to token i, -inf for j > i; [C, C].
  Value decayLogs(Value logDecay, int64_t size);
  Value exp(StringRef letters, Value logs);
  Value column(Value matrix, int64_t j);
  Value insertRows(Value part, Value whole, Value start, OpFoldResult count);
  /// `body` where i `keep` j, else 0; spec has the result ij.
  Value lowerTriangle(StringRef spec, ValueRange operands,
                      arith::CmpIPredicate keep, EinBuilder::Body body);
  Value times(StringRef spec, Value lhs, Value rhs, Value init = {});
  Value forwardSubstitution(Value a, Value x, int64_t size);

  OpBuilder &b;
  Location loc;
  EinBuilder e;
  double scale;
};

} // namespace

/// The [rest...] slice of `value` behind the leading indices.
static Value dropLeading(OpBuilder &b, Location loc, EinBuilder &e, Value value,
                         ArrayRef<OpFoldResult> leading) {
  SmallVector<OpFoldResult> offsets(shapeOf(value).size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes = e.sizes(value);
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  for (auto [dim, at] : llvm::enumerate(leading)) {
    offsets[dim] = at;
    sizes[dim] = b.getIndexAttr(1);
  }
  auto type = RankedTensorType::get(shapeOf(value).drop_front(leading.size()),
                                    elementTypeOf(value));
  return tensor::ExtractSliceOp::create(b, loc, type, value, offsets, sizes,
                                        strides);
}

template <typename OpTy>
SmallVector<Value> DeltaBuilder::forEachHead(OpTy op, HeadBody body) {
  int64_t ratio = shapeOf(op.getV())[1] / shapeOf(op.getQ())[1];
  SmallVector<OpFoldResult> bounds{e.size(op.getV(), 0), e.size(op.getV(), 1)};
  auto forall =
      scf::ForallOp::create(b, loc, bounds, op.getOuts(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  OpFoldResult batch = forall.getInductionVars()[0];
  OpFoldResult valueHead = forall.getInductionVars()[1];
  OpFoldResult keyHead = affine::makeComposedFoldedAffineApply(
      b, loc, b.getAffineSymbolExpr(0).floorDiv(ratio), {valueHead});
  auto ofHead = [&](Value value, OpFoldResult head) {
    return dropLeading(b, loc, e, value, {batch, head});
  };
  Head head{ofHead(op.getQ(), keyHead), ofHead(op.getK(), keyHead),
            ofHead(op.getV(), valueHead), ofHead(op.getBeta(), valueHead),
            ofHead(op.getLogDecay(), valueHead)};
  ValueRange outs = forall.getRegionIterArgs();
  Carried carried{ofHead(outs[0], valueHead),
                  ofHead(op.getInitialState(), valueHead)};
  carried = body(head, carried);
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  SmallVector<Value> parts{carried.output, carried.state};
  for (auto [part, whole] : llvm::zip_equal(parts, outs)) {
    // The sizes are taken outside of the terminator, where only inserts may be.
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPoint(forall.getTerminator());
    SmallVector<OpFoldResult> sizes = e.sizes(whole);
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    offsets[0] = batch;
    offsets[1] = valueHead;
    sizes[0] = sizes[1] = b.getIndexAttr(1);
    tensor::ParallelInsertSliceOp::create(b, loc, part, whole, offsets, sizes,
                                          strides);
  }
  return SmallVector<Value>(forall.getResults());
}

Carried DeltaBuilder::loop(Value end, int64_t step, Carried init,
                           llvm::function_ref<Carried(Value, Carried)> body) {
  auto loop = scf::ForOp::create(b, loc, index(0), end, index(step),
                                 ValueRange{init.output, init.state});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Carried current{loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]};
  Carried next = body(loop.getInductionVar(), current);
  scf::YieldOp::create(b, loc, ValueRange{next.output, next.state});
  return {loop.getResult(0), loop.getResult(1)};
}

Value DeltaBuilder::row(Value value, OpFoldResult i) {
  return dropLeading(b, loc, e, value, {i});
}

Value DeltaBuilder::insertRow(Value part, Value whole, OpFoldResult i) {
  SmallVector<OpFoldResult> sizes = e.sizes(whole);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  offsets[0] = i;
  sizes[0] = b.getIndexAttr(1);
  return tensor::InsertSliceOp::create(b, loc, part, whole, offsets, sizes,
                                       strides);
}

Value DeltaBuilder::exp(StringRef letters, Value logs) {
  return e.map((letters + "->" + letters).str(), logs, b.getF32Type(),
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return math::ExpOp::create(b, loc, x[0]);
               });
}

/// Elementwise product in f32.
Value DeltaBuilder::times(StringRef spec, Value lhs, Value rhs, Value init) {
  return e.map(
      spec, {lhs, rhs}, b.getF32Type(),
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return arith::MulFOp::create(b, loc, toF32(b, loc, x[0]),
                                     toF32(b, loc, x[1]));
      },
      init);
}

//===----------------------------------------------------------------------===//
// Token by token
//===----------------------------------------------------------------------===//

Carried DeltaBuilder::token(const Head &head, Value t, Carried carried) {
  Type f32 = b.getF32Type();
  Value q = row(head.q, t), k = row(head.k, t), v = row(head.v, t);
  Value beta = tensor::ExtractOp::create(b, loc, head.beta, t);
  Value logDecay = tensor::ExtractOp::create(b, loc, head.logDecay, t);
  Value decay = math::ExpOp::create(b, loc, logDecay);
  Value decayed = times("kv,->kv", carried.state, decay, carried.state);
  Value predicted = e.contract("k,kv->v", k, decayed);
  Value delta =
      e.map("v,v,->v", {v, predicted, beta}, f32,
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value error =
                  arith::SubFOp::create(b, loc, toF32(b, loc, x[0]), x[1]);
              return arith::MulFOp::create(b, loc, toF32(b, loc, x[2]), error);
            });
  Value state = e.map(
      "kv,k,v->kv", {decayed, k, delta}, f32,
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return math::FmaOp::create(b, loc, toF32(b, loc, x[1]), x[2], x[0]);
      },
      decayed);
  double factor = scale;
  Value scaled =
      e.map("k->k", q, f32,
            [factor](OpBuilder &b, Location loc, ValueRange x) -> Value {
              return arith::MulFOp::create(b, loc, toF32(b, loc, x[0]),
                                           f32Const(b, loc, factor));
            });
  Type type = elementTypeOf(carried.output);
  Value output =
      e.map("v->v", e.contract("k,kv->v", scaled, state), type,
            [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
              return fromF32(b, loc, x[0], type);
            });
  return {insertRow(output, carried.output, t), state};
}

//===----------------------------------------------------------------------===//
// Chunk by chunk
//===----------------------------------------------------------------------===//

Value DeltaBuilder::rows(Value value, Value start, OpFoldResult count,
                         int64_t size) {
  SmallVector<OpFoldResult> sizes = e.sizes(value);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  offsets[0] = start;
  sizes[0] = count;
  Value part =
      tensor::ExtractSliceOp::create(b, loc, value, offsets, sizes, strides);
  SmallVector<int64_t> shape(shapeOf(value));
  shape[0] = size;
  SmallVector<OpFoldResult> low(sizes.size(), b.getIndexAttr(0)), high = low;
  high[0] = affine::makeComposedFoldedAffineApply(
      b, loc, size - b.getAffineSymbolExpr(0), {count});
  Type type = elementTypeOf(value);
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 0.0));
  return tensor::PadOp::create(b, loc, RankedTensorType::get(shape, type), part,
                               low, high, zero);
}

Value DeltaBuilder::decayLogs(Value logDecay, int64_t size) {
  OpFoldResult extent = b.getIndexAttr(size);
  auto minusInf =
      b.getFloatAttr(b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle(),
                                                     /*Negative=*/true));
  Value logs = e.filled({extent, extent}, minusInf);
  auto loop = scf::ForOp::create(b, loc, index(0), index(size), index(1), logs);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar(), built = loop.getRegionIterArgs()[0];
  Value step = tensor::ExtractOp::create(b, loc, logDecay, i);
  OpFoldResult before = affine::makeComposedFoldedAffineMax(
      b, loc,
      AffineMap::get(0, 1,
                     {b.getAffineSymbolExpr(0) - 1, b.getAffineConstantExpr(0)},
                     b.getContext()),
      {OpFoldResult(i)});
  // Row i is row i - 1 plus the decay of token i, left of the diagonal.
  Value line = e.map(
      "c,->c", {row(built, before), step}, b.getF32Type(),
      [i, minusInf](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value j = linalg::IndexOp::create(b, loc, 0);
        Value left =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, i);
        Value self =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, j, i);
        Value sum = arith::AddFOp::create(b, loc, x[0], x[1]);
        Value none = arith::ConstantOp::create(b, loc, minusInf);
        Value rest =
            arith::SelectOp::create(b, loc, self, f32Const(b, loc, 0.0), none);
        return arith::SelectOp::create(b, loc, left, sum, rest);
      });
  scf::YieldOp::create(b, loc, insertRow(line, built, i));
  return loop.getResult(0);
}

Value DeltaBuilder::column(Value matrix, int64_t j) {
  SmallVector<OpFoldResult> sizes = e.sizes(matrix);
  sizes[1] = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), b.getIndexAttr(j)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  auto type =
      RankedTensorType::get({shapeOf(matrix)[0]}, elementTypeOf(matrix));
  return tensor::ExtractSliceOp::create(b, loc, type, matrix, offsets, sizes,
                                        strides);
}

Value DeltaBuilder::lowerTriangle(StringRef spec, ValueRange operands,
                                  arith::CmpIPredicate keep,
                                  EinBuilder::Body body) {
  return e.map(spec, operands, b.getF32Type(),
               [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value i = linalg::IndexOp::create(b, loc, 0);
                 Value j = linalg::IndexOp::create(b, loc, 1);
                 Value kept = arith::CmpIOp::create(b, loc, keep, i, j);
                 return arith::SelectOp::create(b, loc, kept, body(b, loc, x),
                                                f32Const(b, loc, 0.0));
               });
}

/// Writes the first `count` rows of `part`, rounded, from row `start` on.
Value DeltaBuilder::insertRows(Value part, Value whole, Value start,
                               OpFoldResult count) {
  SmallVector<OpFoldResult> sizes{count, e.size(whole, 1)};
  SmallVector<OpFoldResult> from(2, b.getIndexAttr(0));
  SmallVector<OpFoldResult> to{start, b.getIndexAttr(0)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  Value rows =
      tensor::ExtractSliceOp::create(b, loc, part, from, sizes, strides);
  Value target =
      tensor::ExtractSliceOp::create(b, loc, whole, to, sizes, strides);
  Type type = elementTypeOf(whole);
  Value rounded = e.map(
      "tv->tv", rows, type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, x[0], type);
      },
      target);
  return tensor::InsertSliceOp::create(b, loc, rounded, whole, to, sizes,
                                       strides);
}

/// R with R[i] = X[i] + sum over j < i of A[i, j] R[j]; A is 0 elsewhere.
Value DeltaBuilder::forwardSubstitution(Value a, Value x, int64_t size) {
  Value start =
      e.filledLike(tensor::EmptyOp::create(b, loc, e.sizes(x), b.getF32Type()),
                   b.getF32FloatAttr(0.0));
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(size), index(1), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar(), r = loop.getRegionIterArgs()[0];
  Value sum = e.contract("j,jv->v", row(a, i), r, row(x, i));
  scf::YieldOp::create(b, loc, insertRow(sum, r, i));
  return loop.getResult(0);
}

Carried DeltaBuilder::chunk(const Head &head, Value start, Value tokens,
                            int64_t size, Carried carried) {
  Type f32 = b.getF32Type();
  OpFoldResult count = affine::makeComposedFoldedAffineMin(
      b, loc,
      AffineMap::get(0, 2,
                     {b.getAffineConstantExpr(size),
                      b.getAffineSymbolExpr(1) - b.getAffineSymbolExpr(0)},
                     b.getContext()),
      {OpFoldResult(start), OpFoldResult(tokens)});
  Value q = rows(head.q, start, count, size),
        k = rows(head.k, start, count, size);
  Value v = rows(head.v, start, count, size);
  Value beta = rows(head.beta, start, count, size);
  Value logDecay = rows(head.logDecay, start, count, size);

  Value logs = decayLogs(logDecay, size);
  Value decays = exp("ij", logs);
  // From before the chunk up to token i, and from token i to the last one.
  Value first = tensor::ExtractOp::create(b, loc, logDecay, index(0));
  Value fromStart =
      e.map("i,->i", {column(logs, 0), first}, f32,
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value sum = arith::AddFOp::create(b, loc, x[0], x[1]);
              return math::ExpOp::create(b, loc, sum);
            });
  Value toEnd = exp("j", row(logs, b.getIndexAttr(size - 1)));

  // X = beta (v - decay (K S)), R = (I - A)^-1 X.
  Value x =
      e.map("cv,cv,c,c->cv",
            {v, e.contract("ck,kv->cv", k, carried.state), beta, fromStart},
            f32, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value seen = arith::MulFOp::create(b, loc, x[3], x[1]);
              Value error =
                  arith::SubFOp::create(b, loc, toF32(b, loc, x[0]), seen);
              return arith::MulFOp::create(b, loc, toF32(b, loc, x[2]), error);
            });
  Value a = lowerTriangle(
      "ij,ij,i->ij", {e.contract("ik,jk->ij", k, k), decays, beta},
      arith::CmpIPredicate::sgt,
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value product = arith::MulFOp::create(b, loc, x[0], x[1]);
        Value strength = toF32(b, loc, x[2]);
        return arith::NegFOp::create(
            b, loc, arith::MulFOp::create(b, loc, strength, product));
      });
  Value r = forwardSubstitution(a, x, size);

  // O = scale decay (Q S) + P R.
  double factor = scale;
  Value p = lowerTriangle(
      "ij,ij->ij", {e.contract("ik,jk->ij", q, k), decays},
      arith::CmpIPredicate::sge,
      [factor](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value product = arith::MulFOp::create(b, loc, x[0], x[1]);
        return arith::MulFOp::create(b, loc, product, f32Const(b, loc, factor));
      });
  Value history =
      e.map("cv,c->cv", {e.contract("ck,kv->cv", q, carried.state), fromStart},
            f32, [factor](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value scaled =
                  arith::MulFOp::create(b, loc, x[0], f32Const(b, loc, factor));
              return arith::MulFOp::create(b, loc, scaled, x[1]);
            });
  Value o = e.contract("ij,jv->iv", p, r, history);

  Value whole = tensor::ExtractOp::create(b, loc, fromStart, index(size - 1));
  Value state =
      e.contract("ck,cv->kv", k, times("cv,c->cv", r, toEnd),
                 times("kv,->kv", carried.state, whole, carried.state));
  return {insertRows(o, carried.output, start, count), state};
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

template <typename OpTy>
static double scaleOf(OpTy op) {
  if (op.getScale())
    return op.getScale()->convertToDouble();
  return 1.0 / std::sqrt(static_cast<double>(shapeOf(op.getQ())[3]));
}

/// Without tokens the state stays what it is. Upstream slices of a static 0
/// don't verify.
template <typename OpTy>
static std::optional<SmallVector<Value>> withoutTokens(OpTy op, OpBuilder &b) {
  if (shapeOf(op.getV())[2] != 0)
    return std::nullopt;
  auto copy = linalg::CopyOp::create(b, op.getLoc(), op.getInitialState(),
                                     op.getOuts()[1]);
  return SmallVector<Value>{op.getOuts()[0], copy.getResult(0)};
}

FailureOr<SmallVector<Value>>
GatedDeltaRuleOp::decomposeOperation(OpBuilder &b) {
  if (std::optional<SmallVector<Value>> results = withoutTokens(*this, b))
    return *results;
  DeltaBuilder delta(b, getLoc(), scaleOf(*this));
  return delta.forEachHead(*this, [&](const Head &head, Carried carried) {
    Value tokens = tensor::DimOp::create(b, getLoc(), head.v, 0);
    return delta.loop(tokens, 1, carried, [&](Value t, Carried carried) {
      return delta.token(head, t, carried);
    });
  });
}

FailureOr<SmallVector<Value>>
ChunkGatedDeltaRuleOp::decomposeOperation(OpBuilder &b) {
  if (std::optional<SmallVector<Value>> results = withoutTokens(*this, b))
    return *results;
  DeltaBuilder delta(b, getLoc(), scaleOf(*this));
  int64_t size = getChunkSize();
  return delta.forEachHead(*this, [&](const Head &head, Carried carried) {
    Value tokens = tensor::DimOp::create(b, getLoc(), head.v, 0);
    return delta.loop(tokens, size, carried, [&](Value start, Carried carried) {
      return delta.chunk(head, start, tokens, size, carried);
    });
  });
}
