//===- Route.cpp - Softmax top-k routing -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp for each token: every lane holds some of its logits, the lanes
// exchange maxima and sums. Each choice is the largest probability left, in a
// round over the lanes' own largest ones; lane j keeps choice j.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

constexpr int64_t kLanes = 32, kWarps = 4;
/// Logits that a lane can hold in registers.
constexpr int64_t kMostPerLane = 32;

class Route {
public:
  Route(rudnn::MoeRouteOp op, OpBuilder &b)
      : op(op), k(b, op.getLoc()), experts(rudnn::shapeOf(op.getLogits())[1]),
        chosen(rudnn::shapeOf(op.getOuts()[0])[1]),
        perLane(llvm::divideCeil(experts, kLanes)) {}

  void run();

private:
  struct Best {
    Value key, expert;
  };
  void token(Value token);
  Values loadLogits(Value token);
  Values probabilities(Values logits);
  Best better(Best x, Best y);
  Best best(ValueRange keys);
  void storeChoices(Value token, Value key, Value expert);
  Value shuffle(Value x, int64_t distance) {
    return gpu::ShuffleOp::create(k.b, k.loc, x, int32_t(distance),
                                  int32_t(kLanes), gpu::ShuffleMode::XOR)
        .getShuffleResult();
  }
  Value acrossLanes(Value x, function_ref<Value(Value, Value)> combine) {
    for (int64_t distance = kLanes / 2; distance > 0; distance /= 2)
      x = combine(x, shuffle(x, distance));
    return x;
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(k.b, k.loc, value, 32);
  }
  /// The expert of a lane's logit number i.
  Value expertOf(int64_t i) { return k.add(lane, i32(i * kLanes)); }

  rudnn::MoeRouteOp op;
  KernelBuilder k;
  int64_t experts, chosen, perLane;
  Value lane; // i32
};

} // namespace

/// Minus infinity behind the last expert.
Values Route::loadLogits(Value token) {
  Values logits;
  Value low = k.f32(-std::numeric_limits<float>::infinity());
  Value last = k.index(experts - 1);
  for (int64_t i = 0; i < perLane; ++i) {
    Value expert = arith::IndexCastUIOp::create(k.b, k.loc, k.b.getIndexType(),
                                                expertOf(i));
    Value loaded = memref::LoadOp::create(
        k.b, k.loc, op.getLogits(), ValueRange{token, k.min(expert, last)});
    loaded = rudnn::toF32(k.b, k.loc, loaded);
    Value exists =
        k.compare(arith::CmpIPredicate::ult, expertOf(i), i32(experts));
    logits.push_back(k.select(exists, loaded, low));
  }
  return logits;
}

/// What is no expert has -1, which is never chosen. A row that holds a NaN or
/// +inf, or is all -inf, has only NaN.
Values Route::probabilities(Values logits) {
  auto max = [&](Value x, Value y) { return k.maxf(x, y); };
  auto add = [&](Value x, Value y) { return k.addf(x, y); };
  Value top = logits[0];
  for (Value x : ArrayRef(logits).drop_front())
    top = max(top, x);
  top = acrossLanes(top, max);
  Values powers;
  Value sum;
  for (Value x : logits) {
    powers.push_back(
        math::ExpOp::create(k.b, k.loc, k.subf(x, top)).getResult());
    sum = sum ? add(sum, powers.back()) : powers.back();
  }
  sum = acrossLanes(sum, add);
  for (auto [i, power] : llvm::enumerate(powers)) {
    power = arith::DivFOp::create(k.b, k.loc, power, sum);
    Value exists =
        k.compare(arith::CmpIPredicate::ult, expertOf(i), i32(experts));
    power = k.select(exists, power, k.f32(-1));
  }
  return powers;
}

/// The larger key; of equal ones the lower expert.
Route::Best Route::better(Best x, Best y) {
  Value larger = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OGT,
                                       y.key, x.key);
  Value equal = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ,
                                      y.key, x.key);
  Value lower = k.compare(arith::CmpIPredicate::ult, y.expert, x.expert);
  Value tie = arith::AndIOp::create(k.b, k.loc, equal, lower);
  Value take = arith::OrIOp::create(k.b, k.loc, larger, tie);
  return {k.select(take, y.key, x.key), k.select(take, y.expert, x.expert)};
}

Route::Best Route::best(ValueRange keys) {
  Best found{keys[0], expertOf(0)};
  for (int64_t i = 1; i < perLane; ++i)
    found = better(found, {keys[i], expertOf(i)});
  for (int64_t distance = kLanes / 2; distance > 0; distance /= 2)
    found = better(
        found, {shuffle(found.key, distance), shuffle(found.expert, distance)});
  return found;
}

void Route::storeChoices(Value token, Value weight, Value expert) {
  Value exists = k.compare(arith::CmpIPredicate::ult, lane, i32(chosen));
  if (op.getRenormalize()) {
    Value mine = k.select(exists, weight, k.f32(0));
    Value sum =
        acrossLanes(mine, [&](Value x, Value y) { return k.addf(x, y); });
    weight = arith::DivFOp::create(k.b, k.loc, weight, sum);
  }
  k.branch(exists, [&] {
    Value at =
        arith::IndexCastUIOp::create(k.b, k.loc, k.b.getIndexType(), lane);
    memref::StoreOp::create(k.b, k.loc, expert, op.getOuts()[0],
                            ValueRange{token, at});
    Type type = rudnn::elementTypeOf(op.getOuts()[1]);
    memref::StoreOp::create(k.b, k.loc,
                            rudnn::fromF32(k.b, k.loc, weight, type),
                            op.getOuts()[1], ValueRange{token, at});
  });
}

void Route::token(Value token) {
  Values p = probabilities(loadLogits(token));
  // Expert 0 is lane 0's; a row that has a NaN there has nothing else.
  Value first = gpu::ShuffleOp::create(k.b, k.loc, p[0], 0, int32_t(kLanes),
                                       gpu::ShuffleMode::IDX)
                    .getShuffleResult();
  auto isNan = [&](Value x) -> Value {
    return arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::UNO, x, x);
  };
  Values state = {k.f32(0), i32(0)};
  for (Value x : p)
    state.push_back(k.select(isNan(x), k.f32(0), x));
  state = k.loop(
      k.index(0), k.index(chosen), k.index(1), state,
      [&](Value choice, ValueRange carried) {
        ValueRange keys = carried.drop_front(2);
        Best found = best(keys);
        Value number =
            arith::IndexCastUIOp::create(k.b, k.loc, k.b.getI32Type(), choice);
        Value mine = k.compare(arith::CmpIPredicate::eq, number, lane);
        Values next = {k.select(mine, found.key, carried[0]),
                       k.select(mine, found.expert, carried[1])};
        for (auto [i, key] : llvm::enumerate(keys)) {
          Value taken =
              k.compare(arith::CmpIPredicate::eq, expertOf(i), found.expert);
          next.push_back(k.select(taken, k.f32(-1), key));
        }
        return next;
      });
  Value weight = k.select(isNan(first), first, state[0]);
  storeChoices(token, weight, state[1]);
}

void Route::run() {
  Value tokens = k.b.createOrFold<memref::DimOp>(k.loc, op.getLogits(), 0);
  OpBuilder::InsertionGuard guard(k.b);
  gpu::LaunchOp launch =
      beginLaunch(k, k.ceilDiv(tokens, kWarps), kLanes * kWarps);
  Value thread = launch.getThreadIds().x;
  lane = arith::IndexCastUIOp::create(k.b, k.loc, k.b.getI32Type(),
                                      k.rem(thread, kLanes));
  Value number =
      k.add(k.mul(launch.getBlockIds().x, kWarps), k.div(thread, kLanes));
  k.branch(k.compare(arith::CmpIPredicate::ult, number, tokens),
           [&] { token(number); });
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

std::string rudnn::tile::whyNotRoute(MoeRouteOp op) {
  if (shapeOf(op.getLogits())[1] > kLanes * kMostPerLane)
    return "there are more than 1024 experts";
  if (shapeOf(op.getOuts()[0])[1] > kLanes)
    return "a token chooses more than 32 experts";
  return "";
}

LogicalResult rudnn::tile::scheduleRoute(MoeRouteOp op) {
  OpBuilder b(op);
  Route(op, b).run();
  op.erase();
  return success();
}
