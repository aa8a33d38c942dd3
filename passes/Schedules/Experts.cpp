//===- Experts.cpp - SwiGLU of every expert over its rows -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three kernels. One thread for each row tile finds out which expert's rows the
// tile has (the host knows how many rows there are, not whose). Then two
// grouped products: with gate and up side by side, silu(g) * u in the epilogue,
// rounded into a buffer; and with down. Row tiles have 64 rows where an expert
// has few rows on average, which is all that the time of reading the weights
// leaves, and 128 where it has many (on sm_90a; the portable kernels have 128).
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

/// Rows per expert up to which tiles have 64 rows.
constexpr int64_t kFewRows = 64;

class Experts {
public:
  Experts(rudnn::MoeExpertsOp op, gpu::GPUModuleOp kernels,
          const Machine &machine, OpBuilder &b)
      : op(op), kernels(kernels), machine(machine), k(b, op.getLoc()),
        experts(rudnn::shapeOf(op.getGate())[0]) {}

  void run();

private:
  Value mostRowTiles();
  Value rowTiles();
  void fillTile(Value table, Value tile);
  void products(int64_t tileRows);
  Value bound(Value expert);
  Value shr(Value x, Value by) {
    return arith::ShRUIOp::create(k.b, k.loc, x, by);
  }
  Value shl(Value x, Value by) {
    return arith::ShLIOp::create(k.b, k.loc, x, by);
  }
  Value toI32(Value index) {
    return arith::IndexCastUIOp::create(k.b, k.loc, k.b.getI32Type(), index);
  }

  rudnn::MoeExpertsOp op;
  gpu::GPUModuleOp kernels;
  const Machine &machine;
  KernelBuilder k; // host code
  int64_t experts;
  Value size, most, table, activated;
  Value tileRows, tileShift; // 2 to the power of tileShift
};

} // namespace

/// Every expert, and the rows before and behind those of the experts, may have
/// one tile that is not full; a tile has at least one row.
Value Experts::mostRowTiles() {
  Value full = shr(size, tileShift);
  return k.min(size, k.add(full, experts + 2));
}

/// Where the rows of an expert start (`experts`: where the last ones end).
Value Experts::bound(Value expert) {
  Value offset = memref::LoadOp::create(k.b, k.loc, op.getOffsets(), expert);
  Value row =
      arith::IndexCastUIOp::create(k.b, k.loc, k.b.getIndexType(), offset);
  return arith::MinUIOp::create(k.b, k.loc, row, size);
}

/// Walks over the groups of rows (those before the first expert, each expert's,
/// those behind the last) and keeps what the tile needs of its own.
void Experts::fillTile(Value table, Value tile) {
  Value none = k.index(experts), zero = k.index(0);
  // State: start of the group, tiles before it; the tile's first row, the end
  // of its group and the group.
  auto visit = [&](ValueRange state, Value stop, Value group) {
    stop = k.max(stop, state[0]);
    Value rows = k.sub(stop, state[0]);
    Value count = shr(k.sub(k.add(rows, tileRows), 1), tileShift);
    Value number = k.sub(tile, state[1]);
    Value mine = k.compare(arith::CmpIPredicate::ult, number, count);
    Value first = k.add(state[0], shl(number, tileShift));
    return Values{stop, k.add(state[1], count), k.select(mine, first, state[2]),
                  k.select(mine, stop, state[3]),
                  k.select(mine, group, state[4])};
  };
  Values state = k.loop(
      zero, k.index(experts + 1), k.index(1), {zero, zero, zero, zero, none},
      [&](Value expert, ValueRange state) {
        Value before = k.compare(arith::CmpIPredicate::eq, expert, zero);
        Value group = k.select(before, none, k.sub(expert, 1));
        return visit(state, bound(expert), group);
      });
  state = visit(state, size, none);
  auto store = [&](Value value, Value at) {
    memref::StoreOp::create(k.b, k.loc, toI32(value), table, at);
  };
  Value at = k.add(k.mul(tile, RowTiles::kFields), RowTiles::kFields);
  store(state[2], k.add(at, RowTiles::kFirst));
  store(state[3], k.add(at, RowTiles::kEnd));
  store(state[4], k.add(at, RowTiles::kGroup));
  k.branch(k.compare(arith::CmpIPredicate::eq, tile, zero),
           [&] { store(state[1], k.index(RowTiles::kCount)); });
}

/// The table of row tiles, filled by one thread for each that there may be.
Value Experts::rowTiles() {
  auto type = MemRefType::get({ShapedType::kDynamic}, k.b.getI32Type());
  Value fields = k.mul(k.add(most, 1), RowTiles::kFields);
  Value table = memref::AllocOp::create(k.b, k.loc, type, fields);
  scf::ParallelOp::create(
      k.b, k.loc, ValueRange{k.index(0)}, ValueRange{most},
      ValueRange{k.index(1)}, [&](OpBuilder &, Location, ValueRange tile) {
        OpBuilder::InsertionGuard guard(k.b);
        k.b.setInsertionPointToEnd(tile[0].getParentBlock());
        fillTile(table, tile[0]);
      });
  return table;
}

/// silu(g) * u.
static Value swiGlu(KernelBuilder &k, ValueRange sums) {
  Value power = k.exp2(k.mulf(sums[0], k.f32(-1.44269504f)));
  Value silu = k.divf(sums[0], k.addf(power, k.f32(1)));
  return k.mulf(silu, sums[1]);
}

void Experts::products(int64_t tileRows) {
  std::string suffix = tileRows == 64 ? "_few" : "";
  Product up{k.loc, "experts_up" + suffix, op.getX(), op.getGate(), activated};
  up.pair = op.getUp();
  up.epilogue = swiGlu;
  Product down{k.loc, "experts_down" + suffix, activated, op.getDown(),
               op.getOuts()[0]};
  down.epilogue = [](KernelBuilder &, ValueRange sums) { return sums[0]; };
  for (Product *product : {&up, &down}) {
    product->groups = table;
    product->mostRowTiles = most;
    product->tileRows = tileRows;
    auto emit = machine.hasWgmma ? emitProduct : emitProductMma;
    emit(*product, k.b, kernels, machine);
  }
}

void Experts::run() {
  size = k.b.createOrFold<memref::DimOp>(k.loc, op.getX(), 0);
  int64_t known = rudnn::shapeOf(op.getX())[0];
  bool dynamic = ShapedType::isDynamic(known);
  int64_t few = machine.hasWgmma ? kFewRows * experts : -1;
  bool decided = !dynamic || !machine.hasWgmma;
  int64_t height = !dynamic && known <= few ? 64 : 128;
  Value isFew = k.compare(arith::CmpIPredicate::sle, size, k.index(few));
  auto either = [&](int64_t few, int64_t many) {
    return decided ? k.index(height == 64 ? few : many)
                   : k.select(isFew, k.index(few), k.index(many));
  };
  tileRows = either(64, 128);
  tileShift = either(6, 7);
  most = mostRowTiles();
  table = rowTiles();
  auto x = cast<MemRefType>(op.getX().getType());
  int64_t inner = rudnn::shapeOf(op.getGate())[1];
  SmallVector<Value> sizes;
  if (dynamic)
    sizes.push_back(size);
  activated = memref::AllocOp::create(
      k.b, k.loc, MemRefType::get({known, inner}, x.getElementType()), sizes);
  if (decided)
    return products(height);
  auto branch = scf::IfOp::create(k.b, k.loc, isFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(branch.thenBlock());
  products(64);
  k.b.setInsertionPointToStart(branch.elseBlock());
  products(128);
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

std::string rudnn::tile::whyNotExperts(MoeExpertsOp op) {
  auto gate = cast<ShapedType>(op.getGate().getType());
  if (!gate.getElementType().isF16() && !gate.getElementType().isBF16())
    return "the weights are neither f16 nor bf16";
  // Rows of bulk copies start at multiples of 16 bytes.
  if (gate.getShape()[1] % 8 != 0 || gate.getShape()[2] % 8 != 0)
    return "a width of the experts is not a multiple of 8";
  return "";
}

LogicalResult rudnn::tile::scheduleExperts(MoeExpertsOp op,
                                           gpu::GPUModuleOp kernels,
                                           const Machine &machine) {
  OpBuilder b(op);
  Experts(op, kernels, machine, b).run();
  op.erase();
  return success();
}
