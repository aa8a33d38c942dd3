//===- MoeDecompose.cpp - Mixture-of-experts ops as linalg -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rudnn;

//===----------------------------------------------------------------------===//
// route, route_sigmoid_grouped
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> MoeRouteOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  Value p = softmaxRows(b, loc, getLogits());
  // A row of NaN has equal keys: its ids are 0, 1, ..
  Value keys = e.map("te->te", p, b.getF32Type(),
                     [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       Value isNan = arith::CmpFOp::create(
                           b, loc, arith::CmpFPredicate::UNO, x[0], x[0]);
                       return arith::SelectOp::create(
                           b, loc, isNan, f32Const(b, loc, 0.0), x[0]);
                     });
  Value ids =
      selectTop(b, loc, keys, shapeOf(getOuts()[0])[1], getOuts()[0]).second;
  Value selected = gatherColumns(b, loc, p, ids);
  Value weights =
      scaleWeights(b, loc, selected, getRenormalize(), 1.0, getOuts()[1]);
  return SmallVector<Value>{ids, weights};
}

/// NaN as -inf: a NaN key is no candidate.
static Value nanAsMinusInf(OpBuilder &b, Location loc, Value x) {
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, loc, isNan, minusInfConst(b, loc), x);
}

/// The scores of the groups [T, G] from choice [T, E].
static Value groupScores(OpBuilder &b, Location loc, Value choice,
                         int64_t groups, bool topTwo) {
  EinBuilder e(b, loc);
  int64_t tokens = shapeOf(choice)[0], perGroup = shapeOf(choice)[1] / groups;
  OpFoldResult size = e.size(choice, 0);
  auto grouped =
      RankedTensorType::get({tokens, groups, perGroup}, b.getF32Type());
  Value blocks = tensor::ExpandShapeOp::create(
      b, loc, grouped, choice, ArrayRef<ReassociationIndices>{{0}, {1, 2}},
      ArrayRef<OpFoldResult>{size, b.getIndexAttr(groups),
                             b.getIndexAttr(perGroup)});
  if (!topTwo)
    return e.reduceMax("tgp->tg", blocks);
  // Rows of one group each: the largest, then the largest of the rest.
  auto flatType = RankedTensorType::get({product(tokens, groups), perGroup},
                                        b.getF32Type());
  Value flat = tensor::CollapseShapeOp::create(
      b, loc, flatType, blocks, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  auto [first, position] = largest(b, loc, flat);
  Value second = largest(b, loc, exclude(b, loc, flat, position)).first;
  Value sum = e.map("r,r->r", {first, second}, b.getF32Type(),
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      return nanAsMinusInf(
                          b, loc, arith::AddFOp::create(b, loc, x[0], x[1]));
                    });
  auto scores = RankedTensorType::get({tokens, groups}, b.getF32Type());
  return tensor::ExpandShapeOp::create(
      b, loc, scores, sum, ArrayRef<ReassociationIndices>{{0, 1}},
      ArrayRef<OpFoldResult>{size, b.getIndexAttr(groups)});
}

/// `choice` with NaN (never chosen) at the experts of groups that are not kept.
static Value keepGroups(OpBuilder &b, Location loc, Value choice, Value scores,
                        int64_t selected) {
  EinBuilder e(b, loc);
  int64_t perGroup = shapeOf(choice)[1] / shapeOf(scores)[1];
  // Chosen groups are the NaN of what selectTop leaves.
  Value rest = selectTop(b, loc, scores, selected).first;
  return e.map(
      "te->te", choice, b.getF32Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value token = linalg::IndexOp::create(b, loc, 0);
        Value expert = linalg::IndexOp::create(b, loc, 1);
        Value size = arith::ConstantIndexOp::create(b, loc, perGroup);
        Value group = arith::DivUIOp::create(b, loc, expert, size);
        Value left =
            tensor::ExtractOp::create(b, loc, rest, ValueRange{token, group});
        Value kept = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                           left, left);
        return arith::SelectOp::create(b, loc, kept, x[0], nanConst(b, loc));
      });
}

FailureOr<SmallVector<Value>>
MoeRouteSigmoidGroupedOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  Value p = sigmoidRows(b, loc, getLogits());
  SmallVector<Value> operands{p};
  if (getBias())
    operands.push_back(getBias());
  Value choice =
      e.map(getBias() ? "te,e->te" : "te->te", operands, b.getF32Type(),
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value c = x[0];
              if (x.size() > 1)
                c = arith::AddFOp::create(b, loc, c, x[1]);
              return nanAsMinusInf(b, loc, c);
            });
  int64_t groups = getGroups(), selected = getSelectedGroups();
  if (selected != groups) {
    Value scores = groupScores(b, loc, choice, groups, getGroupTopTwo());
    choice = keepGroups(b, loc, choice, scores, selected);
  }
  Value ids =
      selectTop(b, loc, choice, shapeOf(getOuts()[0])[1], getOuts()[0]).second;
  Value weights =
      scaleWeights(b, loc, gatherColumns(b, loc, p, ids), getRenormalize(),
                   getScale().convertToDouble(), getOuts()[1]);
  return SmallVector<Value>{ids, weights};
}

//===----------------------------------------------------------------------===//
// dispatch
//===----------------------------------------------------------------------===//

namespace {
/// The counting sort of a dispatch, in scf loops over the slots.
class SlotSort {
public:
  SlotSort(OpBuilder &b, MoeDispatchOp op)
      : b(b), loc(op.getLoc()), op(op), e(b, op.getLoc()),
        experts(shapeOf(op.getOuts()[1])[0] - 1), k(shapeOf(op.getIds())[1]) {}

  /// offsets, slot_rows, row_slots and, when there, row_experts.
  SmallVector<Value> build() {
    // Bucket E is of the slots without an expert.
    Value counts =
        e.filled({b.getIndexAttr(experts + 1)}, b.getI32IntegerAttr(0));
    counts = forEachSlot(counts, [&](Slot slot, ValueRange state) {
      Value count = extract(state[0], slot.bucket);
      count = arith::AddIOp::create(b, loc, count, i32Const(b, loc, 1));
      return SmallVector<Value>{insert(count, state[0], slot.bucket)};
    })[0];
    auto [offsets, cursors] = prefixSum(counts);
    return place(offsets, cursors);
  }

private:
  struct Slot {
    Value token, choice, bucket, valid, id;
  };
  using SlotBody = function_ref<SmallVector<Value>(Slot, ValueRange)>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value extract(Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(b, loc, tensor, at);
  }
  Value insert(Value value, Value tensor, ValueRange at) {
    return tensor::InsertOp::create(b, loc, value, tensor, at);
  }

  SmallVector<Value> forEachSlot(ValueRange init, SlotBody body) {
    Value tokens =
        getValueOrCreateConstantIndexOp(b, loc, e.size(op.getIds(), 0));
    auto loops = scf::buildLoopNest(
        b, loc, {index(0), index(0)}, {tokens, index(k)}, {index(1), index(1)},
        init, [&](OpBuilder &, Location, ValueRange ivs, ValueRange state) {
          Value id = extract(op.getIds(), ivs);
          Value asIndex = toIndex(b, loc, id);
          Value valid = isBelow(b, loc, asIndex, index(experts));
          Value bucket =
              arith::SelectOp::create(b, loc, valid, asIndex, index(experts));
          return body({ivs[0], ivs[1], bucket, valid, id}, state);
        });
    return SmallVector<Value>(loops.results);
  }

  /// The first row of every bucket, into the offsets and a copy to count on.
  std::pair<Value, Value> prefixSum(Value counts) {
    auto loop = scf::ForOp::create(
        b, loc, index(0), index(experts + 1), index(1),
        ValueRange{i32Const(b, loc, 0), op.getOuts()[1], counts},
        [&](OpBuilder &, Location, Value bucket, ValueRange state) {
          Value count = extract(state[2], bucket);
          Value next = arith::AddIOp::create(b, loc, state[0], count);
          scf::YieldOp::create(b, loc,
                               ValueRange{next,
                                          insert(state[0], state[1], bucket),
                                          insert(state[0], state[2], bucket)});
        });
    return {loop.getResult(1), loop.getResult(2)};
  }

  SmallVector<Value> place(Value offsets, Value cursors) {
    SmallVector<Value> init{cursors};
    llvm::append_range(init, op.getOuts().drop_front(2));
    SmallVector<Value> placed =
        forEachSlot(init, [&](Slot slot, ValueRange state) {
          Value row = extract(state[0], slot.bucket);
          Value next = arith::AddIOp::create(b, loc, row, i32Const(b, loc, 1));
          Value at = toIndex(b, loc, row);
          Value first = arith::MulIOp::create(b, loc, slot.token, index(k));
          Value number =
              toI32(b, loc, arith::AddIOp::create(b, loc, first, slot.choice));
          Value none = i32Const(b, loc, -1);
          auto orNone = [&](Value value) -> Value {
            return arith::SelectOp::create(b, loc, slot.valid, value, none);
          };
          SmallVector<Value> result{
              insert(next, state[0], slot.bucket),
              insert(orNone(row), state[1], {slot.token, slot.choice}),
              insert(orNone(number), state[2], at)};
          if (state.size() > 3)
            result.push_back(insert(orNone(slot.id), state[3], at));
          return result;
        });
    placed[0] = offsets;
    return placed;
  }

  OpBuilder &b;
  Location loc;
  MoeDispatchOp op;
  EinBuilder e;
  int64_t experts, k;
};
} // namespace

FailureOr<SmallVector<Value>> MoeDispatchOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  EinBuilder e(b, loc);
  SmallVector<Value> sorted = SlotSort(b, *this).build();
  Type type = elementTypeOf(getX());
  Value k = arith::ConstantIndexOp::create(b, loc, shapeOf(getIds())[1]);
  e.extent['h'] = e.size(getX(), 1);
  Value values = e.map(
      "r->rh", sorted[2], type,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                            x[0], i32Const(b, loc, -1));
        Value slot =
            arith::SelectOp::create(b, loc, valid, toIndex(b, loc, x[0]), zero);
        Value token = arith::DivUIOp::create(b, loc, slot, k);
        Value column = linalg::IndexOp::create(b, loc, 1);
        Value value = tensor::ExtractOp::create(b, loc, getX(),
                                                ValueRange{token, column});
        Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
        return arith::SelectOp::create(b, loc, valid, value, none);
      },
      getOuts()[0]);
  SmallVector<Value> results{values};
  llvm::append_range(results, sorted);
  return results;
}

//===----------------------------------------------------------------------===//
// combine
//===----------------------------------------------------------------------===//

/// sum_j [weights[t, j] *] rows[slot_rows[t, j], c] in f32, rounded into
/// `init`.
Value rudnn::sumOfSlots(OpBuilder &b, Location loc, Value rows, Value slotRows,
                        Value weights, Value init) {
  EinBuilder e(b, loc);
  Value sum =
      e.filled({e.size(slotRows, 0), e.size(rows, 1)}, b.getF32FloatAttr(0.0));
  Value numRows = getValueOrCreateConstantIndexOp(b, loc, e.size(rows, 0));
  // Loops t, j, c: the innermost runs along a row.
  MLIRContext *context = b.getContext();
  AffineExpr t, j, c;
  bindDims(context, t, j, c);
  auto slotMap = AffineMap::get(3, 0, {t, j}, context);
  SmallVector<Value> operands{slotRows};
  SmallVector<AffineMap> maps{slotMap};
  if (weights) {
    operands.push_back(weights);
    maps.push_back(slotMap);
  }
  maps.push_back(AffineMap::get(3, 0, {t, c}, context));
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel,
                                             utils::IteratorType::reduction,
                                             utils::IteratorType::parallel};
  auto generic = linalg::GenericOp::create(
      b, loc, sum.getType(), operands, sum, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange x) {
        Value row = toIndex(b, loc, x[0]);
        Value valid = isBelow(b, loc, row, numRows);
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value safe = arith::SelectOp::create(b, loc, valid, row, zero);
        Value column = linalg::IndexOp::create(b, loc, 2);
        Value value = toF32(
            b, loc,
            tensor::ExtractOp::create(b, loc, rows, ValueRange{safe, column}));
        if (weights)
          value = arith::MulFOp::create(b, loc, value, toF32(b, loc, x[1]));
        value = arith::SelectOp::create(b, loc, valid, value,
                                        f32Const(b, loc, 0.0));
        Value next = arith::AddFOp::create(b, loc, x.back(), value);
        linalg::YieldOp::create(b, loc, next);
      });
  Type type = elementTypeOf(init);
  return e.map(
      "tc->tc", generic.getResult(0), type,
      [type](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return fromF32(b, loc, x[0], type);
      },
      init);
}

FailureOr<SmallVector<Value>> MoeCombineOp::decomposeOperation(OpBuilder &b) {
  return SmallVector<Value>{sumOfSlots(b, getLoc(), getY(), getSlotRows(),
                                       getWeights(), getOuts()[0])};
}
