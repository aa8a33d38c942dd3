//===- FlattenExperts.cpp - Expert products over all packed rows -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many rows an expert has is known on the device only, so a loop over the
// experts is nothing that a host can launch. Here every row looks up its expert
// and reads that expert's weights: two products with one thread per element.
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/MoeOps.h"
#include "rudnn/IR/OpUtils.h"
#include "rudnn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNFLATTENEXPERTS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

namespace {

class Flattener {
public:
  Flattener(MoeExpertsOp op, OpBuilder &b)
      : op(op), e(b, op.getLoc()), experts(shapeOf(op.getGate())[0]) {}
  Value run(OpBuilder &b);

private:
  Value expertOfRow(OpBuilder &b);
  Value product(StringRef spec, char column, Value x, Value weights);

  MoeExpertsOp op;
  EinBuilder e;
  int64_t experts;
  Value expert; // of each row; `experts` where there is none
};

} // namespace

static Value i32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static Value rowNumber(OpBuilder &b, Location loc) {
  Value row = linalg::IndexOp::create(b, loc, 0);
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), row);
}

/// The number of experts that end at or before a row.
Value Flattener::expertOfRow(OpBuilder &b) {
  Location loc = op.getLoc();
  auto type = RankedTensorType::get({experts}, b.getI32Type());
  Value ends = tensor::ExtractSliceOp::create(
      b, loc, type, op.getOffsets(), ArrayRef<OpFoldResult>{b.getIndexAttr(1)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(experts)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  e.extent['n'] = e.size(op.getX(), 0);
  Value ended = e.reduce(
      "e->n", ends, b.getI32IntegerAttr(0),
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value past = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                                           x[0], rowNumber(b, loc));
        Value one = arith::ExtUIOp::create(b, loc, b.getI32Type(), past);
        return arith::AddIOp::create(b, loc, x[1], one);
      });
  return e.map("n->n", ended, b.getI32Type(),
               [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 Value zero = arith::ConstantIndexOp::create(b, loc, 0);
                 Value start =
                     tensor::ExtractOp::create(b, loc, op.getOffsets(), zero);
                 Value before =
                     arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           rowNumber(b, loc), start);
                 return arith::SelectOp::create(b, loc, before,
                                                i32(b, loc, experts), x[0]);
               });
}

/// sum over the last letter of x[n, k] * weights[expert of n, column, k].
Value Flattener::product(StringRef spec, char column, Value x, Value weights) {
  OpBuilder b(op);
  e.extent[column] = b.getIndexAttr(shapeOf(weights)[1]);
  return e.reduce(
      spec, {x, expert}, b.getF32FloatAttr(0),
      [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
        // Rows without an expert are cleared at the end.
        Value which =
            arith::MinUIOp::create(b, loc, v[1], i32(b, loc, experts - 1));
        Value indices[] = {
            arith::IndexCastUIOp::create(b, loc, b.getIndexType(), which),
            linalg::IndexOp::create(b, loc, 1),
            linalg::IndexOp::create(b, loc, 2)};
        Value weight = tensor::ExtractOp::create(b, loc, weights, indices);
        Value term = arith::MulFOp::create(b, loc, toF32(b, loc, v[0]),
                                           toF32(b, loc, weight));
        return arith::AddFOp::create(b, loc, v[2], term);
      });
}

Value Flattener::run(OpBuilder &b) {
  expert = expertOfRow(b);
  Value gate = product("nh,n->ni", 'i', op.getX(), op.getGate());
  Value up = product("nh,n->ni", 'i', op.getX(), op.getUp());
  Value activated =
      e.map("ni,ni->ni", {gate, up}, b.getF32Type(),
            [](OpBuilder &b, Location loc, ValueRange x) -> Value {
              Value one = f32Const(b, loc, 1);
              Value negative = arith::NegFOp::create(b, loc, x[0]);
              Value power = math::ExpOp::create(b, loc, negative);
              Value sum = arith::AddFOp::create(b, loc, power, one);
              Value silu = arith::DivFOp::create(b, loc, x[0], sum);
              return arith::MulFOp::create(b, loc, silu, x[1]);
            });
  Value down = product("ni,n->nh", 'h', activated, op.getDown());
  Type type = elementTypeOf(op.getOuts()[0]);
  return e.map(
      "nh,n->nh", {down, expert}, type,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value has = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          x[1], i32(b, loc, experts));
        Value value =
            arith::SelectOp::create(b, loc, has, x[0], f32Const(b, loc, 0));
        return fromF32(b, loc, value, type);
      },
      op.getOuts()[0]);
}

namespace {
struct FlattenExperts : rudnn::impl::RudnnFlattenExpertsBase<FlattenExperts> {
  void runOnOperation() override {
    SmallVector<MoeExpertsOp> ops;
    getOperation()->walk([&](MoeExpertsOp op) {
      auto strategy = op->getAttrOfType<StringAttr>("rudnn.strategy");
      bool scheduled = strategy && strategy.getValue() == "schedule";
      if (!scheduled && isa<RankedTensorType>(op.getOuts()[0].getType()))
        ops.push_back(op);
    });
    for (MoeExpertsOp op : ops) {
      OpBuilder b(op);
      Value result = Flattener(op, b).run(b);
      op.getResults()[0].replaceAllUsesWith(result);
      op.erase();
    }
  }
};
} // namespace
