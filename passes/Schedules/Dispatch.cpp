//===- Dispatch.cpp - Token rows packed by expert and back -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block sorts the slots by counting: each warp has a run of slots and a
// counter for each expert in shared memory. Lanes of equal expert find each
// other (match), so that a warp counts 32 slots at a time, in order. After sums
// over the warps and experts the warps go over their slots again and hand out
// the rows. Then one thread for each 16 bytes copies the rows; the sum of a
// token's rows is such a kernel, too.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "rudnn/IR/EinBuilder.h"
#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

/// Shared memory that a kernel has without asking.
static constexpr int64_t kStaticSharedBytes = 48 << 10;
static constexpr int64_t kMostWarps = 32;

/// Warps of the sort: each has a counter per bucket, beside one total each.
static int64_t sortWarps(int64_t buckets) {
  for (int64_t warps = kMostWarps; warps > 0; warps /= 2)
    if ((warps + 1) * buckets * 4 <= kStaticSharedBytes)
      return warps;
  return 0;
}

/// Elements of rows of `width` that move at once, 16 bytes at most.
static int64_t pieceOf(Type element, int64_t width) {
  int64_t piece = 128 / element.getIntOrFloatBitWidth();
  while (width % piece != 0)
    piece /= 2;
  return piece;
}

static Value collapse(OpBuilder &b, Location loc, Value matrix) {
  return memref::CollapseShapeOp::create(
      b, loc, matrix, ArrayRef<ReassociationIndices>{{0, 1}});
}

namespace {

class SlotSort {
public:
  SlotSort(rudnn::MoeDispatchOp op, OpBuilder &b)
      : op(op), k(b, op.getLoc()),
        experts(rudnn::shapeOf(op.getOuts()[1])[0] - 1), buckets(experts + 1),
        warps(sortWarps(buckets)) {}

  void run();

private:
  /// 32 slots of a warp: the lane's slot, whether there is one, its id, bucket
  /// and place among the lanes of the bucket, and how many these are.
  struct Slots {
    Value slot, exists, id, bucket, before, count;
  };
  void forEachSlots(function_ref<void(Slots)> body);
  void clear();
  void count();
  void sum();
  void place();
  void forEachThread(int64_t count, function_ref<void(Value)> body);
  Value counter(Value warp, Value bucket) {
    return k.add(k.mul(warp, buckets), bucket);
  }
  Value load(Value buffer, Value at) {
    return memref::LoadOp::create(k.b, k.loc, buffer, at);
  }
  void store(Value value, Value buffer, Value at) {
    memref::StoreOp::create(k.b, k.loc, value, buffer, at);
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(k.b, k.loc, value, 32);
  }
  Value ones(Value mask) { return LLVM::CtPopOp::create(k.b, k.loc, mask.getType(), mask); }
  Value toIndex(Value value) {
    return arith::IndexCastUIOp::create(k.b, k.loc, k.b.getIndexType(), value);
  }
  Value toI32(Value value) {
    return arith::IndexCastUIOp::create(k.b, k.loc, k.b.getI32Type(), value);
  }
  void blockBarrier() { gpu::BarrierOp::create(k.b, k.loc); }
  void warpBarrier() { NVVM::SyncWarpOp::create(k.b, k.loc, i32(-1)); }

  rudnn::MoeDispatchOp op;
  KernelBuilder k;
  int64_t experts, buckets, warps; // the last bucket: slots of no expert
  Value ids, slotRows, size;       // slots in one dim, and their number
  Value thread, lane, warp;
  Value counters, totals; // shared
};

} // namespace

void SlotSort::forEachThread(int64_t count, function_ref<void(Value)> body) {
  k.loop(thread, k.index(count), k.index(32 * warps), {},
         [&](Value i, ValueRange) {
           body(i);
           return Values{};
         });
}

/// The warp's slots in order: whole groups of 32, the last warps have fewer.
void SlotSort::forEachSlots(function_ref<void(Slots)> body) {
  Value groups = k.ceilDiv(size, 32 * warps);
  Value first = k.mul(k.mul(warp, groups), 32);
  Value last = k.min(size, k.add(first, k.mul(groups, 32)));
  k.loop(first, last, k.index(32), {}, [&](Value at, ValueRange) {
    Slots s;
    s.slot = k.add(at, lane);
    s.exists = k.compare(arith::CmpIPredicate::ult, s.slot, size);
    s.id = load(ids, k.min(s.slot, k.sub(size, 1)));
    Value valid = k.compare(arith::CmpIPredicate::ult, s.id, i32(experts));
    Value bucket = k.select(valid, s.id, i32(experts));
    // Lanes behind the last slot stay among themselves.
    bucket = k.select(s.exists, bucket, i32(buckets));
    Value same =
        NVVM::MatchSyncOp::create(k.b, k.loc, k.b.getI32Type(), i32(-1), bucket,
                                  NVVM::MatchSyncKind::any);
    Value below =
        k.sub(arith::ShLIOp::create(k.b, k.loc, i32(1), toI32(lane)), 1);
    s.before = ones(arith::AndIOp::create(k.b, k.loc, same, below));
    s.count = ones(same);
    s.bucket = toIndex(k.select(s.exists, bucket, i32(0)));
    body(s);
    return Values{};
  });
}

void SlotSort::clear() {
  forEachThread(warps * buckets, [&](Value i) { store(i32(0), counters, i); });
  blockBarrier();
}

/// One lane of each bucket adds to the warp's counter.
static Value isFirst(KernelBuilder &k, Value exists, Value before) {
  Value zero = arith::ConstantIntOp::create(k.b, k.loc, 0, 32);
  Value first = k.compare(arith::CmpIPredicate::eq, before, zero);
  return arith::AndIOp::create(k.b, k.loc, exists, first);
}

void SlotSort::count() {
  forEachSlots([&](Slots s) {
    k.branch(isFirst(k, s.exists, s.before), [&] {
      Value at = counter(warp, s.bucket);
      store(k.add(load(counters, at), s.count), counters, at);
    });
    warpBarrier();
  });
  blockBarrier();
}

/// Counters become the first row of the warp's slots of the bucket.
void SlotSort::sum() {
  forEachThread(buckets, [&](Value bucket) {
    Value total = i32(0);
    for (int64_t w = 0; w < warps; ++w)
      total = k.add(total, load(counters, counter(k.index(w), bucket)));
    store(total, totals, bucket);
  });
  blockBarrier();
  forEachThread(buckets, [&](Value bucket) {
    Value row = k.loop(k.index(0), bucket, k.index(1), {i32(0)},
                       [&](Value before, ValueRange carried) {
                         return Values{k.add(carried[0], load(totals, before))};
                       })[0];
    store(row, op.getOuts()[1], bucket);
    for (int64_t w = 0; w < warps; ++w) {
      Value at = counter(k.index(w), bucket);
      Value rows = load(counters, at);
      store(row, counters, at);
      row = k.add(row, rows);
    }
  });
  blockBarrier();
}

void SlotSort::place() {
  forEachSlots([&](Slots s) {
    Value at = counter(warp, s.bucket);
    Value row = k.add(load(counters, at), s.before);
    warpBarrier();
    k.branch(isFirst(k, s.exists, s.before),
             [&] { store(k.add(row, s.count), counters, at); });
    warpBarrier();
    k.branch(s.exists, [&] {
      Value valid = k.compare(arith::CmpIPredicate::ult, s.id, i32(experts));
      auto orNone = [&](Value value) {
        return k.select(valid, value, i32(-1));
      };
      store(orNone(row), slotRows, s.slot);
      store(orNone(toI32(s.slot)), op.getOuts()[3], toIndex(row));
      if (op.getOuts().size() > 4)
        store(orNone(s.id), op.getOuts()[4], toIndex(row));
    });
  });
}

void SlotSort::run() {
  ids = collapse(k.b, k.loc, op.getIds());
  slotRows = collapse(k.b, k.loc, op.getOuts()[2]);
  size = k.b.createOrFold<memref::DimOp>(k.loc, ids, 0);
  OpBuilder::InsertionGuard guard(k.b);
  gpu::LaunchOp launch = beginLaunch(k, k.index(1), 32 * warps);
  auto shared = [&](int64_t count) -> Value {
    auto space = gpu::AddressSpaceAttr::get(k.b.getContext(),
                                            gpu::AddressSpace::Workgroup);
    auto type = MemRefType::get({count}, k.b.getI32Type(), AffineMap(), space);
    return launch.addWorkgroupAttribution(type, k.loc);
  };
  counters = shared(warps * buckets);
  totals = shared(buckets);
  thread = launch.getThreadIds().x;
  lane = k.rem(thread, 32);
  warp = k.div(thread, 32);
  clear();
  count();
  sum();
  place();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// A thread for each piece of each row of `like`.
static void forEachPiece(KernelBuilder &k, Value like, int64_t piece,
                         function_ref<void(Value row, Value column)> body) {
  auto dim = [&](int64_t d) {
    return k.b.createOrFold<memref::DimOp>(k.loc, like, d);
  };
  Value zero = k.index(0);
  scf::ParallelOp::create(k.b, k.loc, ValueRange{zero, zero},
                          ValueRange{dim(0), dim(1)},
                          ValueRange{k.index(1), k.index(piece)},
                          [&](OpBuilder &, Location, ValueRange at) {
                            OpBuilder::InsertionGuard guard(k.b);
                            k.b.setInsertionPointToEnd(at[0].getParentBlock());
                            body(at[0], at[1]);
                          });
}

static Value loadPiece(KernelBuilder &k, Value rows, Value row, Value column,
                       int64_t piece) {
  Type element = rudnn::elementTypeOf(rows);
  int64_t bytes = piece * element.getIntOrFloatBitWidth() / 8;
  return vector::LoadOp::create(k.b, k.loc, VectorType::get({piece}, element),
                                rows, ValueRange{row, column},
                                /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

static void storePiece(KernelBuilder &k, Value value, Value rows, Value row,
                       Value column) {
  auto type = cast<VectorType>(value.getType());
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  vector::StoreOp::create(k.b, k.loc, value, rows, ValueRange{row, column},
                          /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

/// The value of `then` where the condition holds, else `otherwise`.
static Value choose(KernelBuilder &k, Value condition,
                    function_ref<Value()> then, Value otherwise) {
  auto branch = scf::IfOp::create(k.b, k.loc, otherwise.getType(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(k.b, k.loc, then());
  k.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(k.b, k.loc, otherwise);
  return branch.getResult(0);
}

static void copyRows(rudnn::MoeDispatchOp op, OpBuilder &b) {
  KernelBuilder k(b, op.getLoc());
  Value values = op.getOuts()[0];
  int64_t chosen = rudnn::shapeOf(op.getIds())[1];
  Type element = rudnn::elementTypeOf(values);
  int64_t piece = pieceOf(element, rudnn::shapeOf(values)[1]);
  forEachPiece(k, values, piece, [&](Value row, Value column) {
    Value slot = memref::LoadOp::create(b, k.loc, op.getOuts()[3], row);
    Value none = arith::ConstantIntOp::create(b, k.loc, -1, 32);
    Value valid = k.compare(arith::CmpIPredicate::ne, slot, none);
    auto type = VectorType::get({piece}, element);
    Value zero = arith::ConstantOp::create(b, k.loc, b.getZeroAttr(type));
    auto token = [&]() -> Value {
      Value at = arith::IndexCastUIOp::create(b, k.loc, b.getIndexType(), slot);
      return loadPiece(k, op.getX(), k.div(at, chosen), column, piece);
    };
    storePiece(k, choose(k, valid, token, zero), values, row, column);
  });
}

static void sumRows(rudnn::MoeCombineOp op, OpBuilder &b) {
  KernelBuilder k(b, op.getLoc());
  Value out = op.getOuts()[0], y = op.getY();
  Type element = rudnn::elementTypeOf(out);
  int64_t piece = pieceOf(element, rudnn::shapeOf(out)[1]);
  auto wide = VectorType::get({piece}, b.getF32Type());
  Value count = b.createOrFold<memref::DimOp>(k.loc, y, 0);
  int64_t chosen = rudnn::shapeOf(op.getSlotRows())[1];
  forEachPiece(k, out, piece, [&](Value token, Value column) {
    Value zero = arith::ConstantOp::create(b, k.loc, b.getZeroAttr(wide));
    auto step = [&](Value choice, ValueRange sum) {
      Value at[] = {token, choice};
      Value number = memref::LoadOp::create(b, k.loc, op.getSlotRows(), at);
      Value row =
          arith::IndexCastUIOp::create(b, k.loc, b.getIndexType(), number);
      Value weight = rudnn::toF32(
          b, k.loc, memref::LoadOp::create(b, k.loc, op.getWeights(), at));
      auto add = [&]() -> Value {
        Value values = loadPiece(k, y, row, column, piece);
        if (values.getType() != wide)
          values = arith::ExtFOp::create(b, k.loc, wide, values);
        Value factor = vector::BroadcastOp::create(b, k.loc, wide, weight);
        return arith::AddFOp::create(
            b, k.loc, sum[0], arith::MulFOp::create(b, k.loc, factor, values));
      };
      Value valid = k.compare(arith::CmpIPredicate::ult, row, count);
      return Values{choose(k, valid, add, sum[0])};
    };
    Value sum =
        k.loop(k.index(0), k.index(chosen), k.index(1), {zero}, step)[0];
    if (!element.isF32())
      sum = arith::TruncFOp::create(b, k.loc, VectorType::get({piece}, element),
                                    sum);
    storePiece(k, sum, out, token, column);
  });
}

//===----------------------------------------------------------------------===//
// What they take
//===----------------------------------------------------------------------===//

static bool isRowType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16();
}

std::string rudnn::tile::whyNotDispatch(MoeDispatchOp op) {
  if (!isRowType(elementTypeOf(op.getX())) ||
      ShapedType::isDynamic(shapeOf(op.getX())[1]))
    return "the rows are not of f32, f16 or bf16, or their length is dynamic";
  if (sortWarps(shapeOf(op.getOuts()[1])[0]) == 0)
    return "there are more experts than counters in shared memory";
  return "";
}

std::string rudnn::tile::whyNotCombine(MoeCombineOp op) {
  if (!isRowType(elementTypeOf(op.getY())) ||
      ShapedType::isDynamic(shapeOf(op.getY())[1]))
    return "the rows are not of f32, f16 or bf16, or their length is dynamic";
  return "";
}

LogicalResult rudnn::tile::scheduleDispatch(MoeDispatchOp op) {
  OpBuilder b(op);
  SlotSort(op, b).run();
  copyRows(op, b);
  op.erase();
  return success();
}

LogicalResult rudnn::tile::scheduleCombine(MoeCombineOp op) {
  OpBuilder b(op);
  sumRows(op, b);
  op.erase();
  return success();
}
