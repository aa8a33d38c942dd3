//===- VectorizeContractions.cpp - Register-blocked products -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One contraction becomes, for its innermost loops m, n and k:
//
//   for k0 in K step kBlock
//     A' = f32(A[:, k0...])                        (when A is stored narrower)
//     for j0 in N step nBlock
//       B' = f32(B[k0..., j0...]), padded to nBlock columns
//       for i0 in M step mBlock
//         mBlock accumulators of nBlock lanes over k, added to C
//
// B' stays in the first cache level while A' passes from the second.
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"
#include "rudnn/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNVECTORIZECONTRACTIONS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

namespace {

/// Rows of accumulators, and their lanes in vector registers: 12 registers of
/// 16 hold sums, the others two vectors of B and one broadcast of A.
constexpr int64_t kRows = 6;
constexpr int64_t kRegistersPerRow = 2;

class Kernel {
public:
  Kernel(OpBuilder &b, linalg::LinalgOp op, unsigned vectorBytes)
      : b(b), op(op), loc(op.getLoc()), vectorBytes(vectorBytes) {}

  /// Finds the loops; false when another pass has to take the op.
  bool analyze();
  /// Builds the loops before the op and returns its result.
  Value build();

private:
  Value sum(Value c);
  Value packLhs(Value from, Value count);
  Value packRhs(Value empty, Value from, Value count, Value column);
  Value packRows(Value empty, Value from, Value count, Value column);
  Value packTransposed(Value empty, Value from, Value count, Value column);
  void transpose(SmallVector<Value> &lines);
  Value packScalars(Value init, Value from, Value begin, Value end,
                    Value column);
  Value block(Value c, Value row, Value column, Value from, Value count,
              Value lhsPacked, Value rhsPacked);
  Value store(Value c, Value row, Value column, ValueRange sums, bool whole);

  SmallVector<Value> indices(unsigned operand, Value m, Value n, Value k);
  Value readRow(Value tensor, ArrayRef<Value> at, int64_t width);
  Value writeRow(Value x, Value tensor, ArrayRef<Value> at);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value minOf(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  int64_t lastLoop(unsigned operand) const {
    AffineMap map = maps[operand];
    if (map.getNumResults() == 0)
      return -1;
    return cast<AffineDimExpr>(map.getResults().back()).getPosition();
  }

  OpBuilder &b;
  linalg::LinalgOp op;
  Location loc;
  unsigned vectorBytes;

  FloatType type;              // of the result and the sums
  Value lhs, rhs;              // rhs has n
  SmallVector<AffineMap> maps; // of lhs, rhs, result
  int64_t mLoop = -1, nLoop = -1, kLoop = -1;
  SmallVector<unsigned> outerParallel, outerReduction;
  SmallVector<Value> extents, ivs;
  int64_t rows = kRows, lanes = 0, depth = 256;
  int64_t mStatic = 0;
};

/// The panels are copies already: they read what a transpose reads.
static void lookThroughTranspose(Value &operand, AffineMap &map) {
  auto transpose = operand.getDefiningOp<linalg::TransposeOp>();
  if (!transpose)
    return;
  SmallVector<AffineExpr> exprs(map.getNumResults());
  for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
    exprs[from] = map.getResult(to);
  map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  operand = transpose.getInput();
}

bool Kernel::analyze() {
  if (!op.hasPureTensorSemantics() || !isFloatContraction(op))
    return false;
  type = cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  lhs = op->getOperand(0);
  rhs = op->getOperand(1);
  maps = op.getIndexingMapsArray();
  lookThroughTranspose(lhs, maps[0]);
  lookThroughTranspose(rhs, maps[1]);
  if (type.getWidth() < 32 ||
      !llvm::all_of(maps, [](AffineMap map) {
        return map.isProjectedPermutation();
      }))
    return false;
  if (maps[2].getNumResults() == 0)
    return false;
  nLoop = lastLoop(2);
  auto has = [&](unsigned operand, unsigned loop) {
    return maps[operand].isFunctionOfDim(loop);
  };
  if (has(0, nLoop) == has(1, nLoop))
    return false;
  if (has(0, nLoop)) {
    std::swap(lhs, rhs);
    std::swap(maps[0], maps[1]);
  }
  // The last suitable loops are the inner ones, except that k runs along the
  // unit stride of an operand when it can.
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!has(2, loop)) {
      if (has(0, loop) && has(1, loop) &&
          (kLoop < 0 || lastLoop(0) != kLoop))
        kLoop = loop;
    } else if (loop != nLoop && has(0, loop) && !has(1, loop)) {
      mLoop = loop;
    }
  }
  if (kLoop < 0)
    return false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (loop == mLoop || loop == nLoop || loop == kLoop)
      continue;
    (has(2, loop) ? outerParallel : outerReduction).push_back(loop);
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  mStatic = mLoop < 0 ? 1 : ranges[mLoop];
  // A single row gains nothing from a transposed copy of the matrix.
  if (mStatic == 1 && lastLoop(1) != nLoop)
    return false;
  if (!ShapedType::isDynamic(mStatic))
    rows = std::min<int64_t>(rows, mStatic);
  lanes = kRegistersPerRow * vectorBytes * 8 / type.getWidth();
  if (!ShapedType::isDynamic(ranges[nLoop]) &&
      ranges[nLoop] <= lanes / kRegistersPerRow)
    lanes /= kRegistersPerRow;
  if (rows <= 2)
    lanes *= 2;
  if (!ShapedType::isDynamic(ranges[kLoop]) && ranges[kLoop] <= 2 * depth)
    depth = ranges[kLoop];
  return mStatic != 0 && depth > 0;
}

SmallVector<Value> Kernel::indices(unsigned operand, Value m, Value n,
                                   Value k) {
  SmallVector<Value> at(ivs);
  if (mLoop >= 0)
    at[mLoop] = m;
  at[nLoop] = n;
  at[kLoop] = k;
  return operandIndices(b, loc, maps[operand], at);
}

Value Kernel::build() {
  extents = loopExtents(b, op);
  ivs.assign(extents.size(), index(0));
  SmallVector<unsigned> outer(outerParallel);
  llvm::append_range(outer, outerReduction);
  return buildNest(
      b, loc, outer, extents, ivs, op.getDpsInits()[0],
      [&](ValueRange state) { return SmallVector<Value>{sum(state[0])}; })[0];
}

/// c + the products over m, n and k at the current outer loops.
Value Kernel::sum(Value c) {
  Value zero = index(0), depthValue = index(depth);
  Value m = mLoop < 0 ? index(1) : extents[mLoop];
  Value n = extents[nLoop], k = extents[kLoop];
  Value rhsEmpty = tensor::EmptyOp::create(
      b, loc, ArrayRef<int64_t>{depth, lanes}, type);
  return buildLoop1(b, loc, zero, k, depth, c, [&](Value k0, Value c) {
    Value count = minOf(depthValue, arith::SubIOp::create(b, loc, k, k0));
    if (std::optional<int64_t> whole = constantIndex(k);
        whole && *whole % depth == 0)
      count = depthValue;
    Value lhsPacked = packLhs(k0, count);
    return buildLoop1(b, loc, zero, n, lanes, c, [&](Value j0, Value c) {
      Value rhsPacked = packRhs(rhsEmpty, k0, count, j0);
      return buildLoop1(b, loc, zero, m, rows, c, [&](Value i0, Value c) {
        return block(c, i0, j0, k0, count, lhsPacked, rhsPacked);
      });
    });
  });
}

/// The block of the left operand as rows of the sums' type; none when it is of
/// that type already.
Value Kernel::packLhs(Value from, Value count) {
  Type element = getElementTypeOrSelf(lhs.getType());
  if (element == type)
    return {};
  Value m = mLoop < 0 ? index(1) : extents[mLoop];
  SmallVector<OpFoldResult> sizes{getAsOpFoldResult(m), b.getIndexAttr(depth)};
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  auto copy = [&](Value row, Value k, Value state, int64_t width) -> Value {
    Value column = arith::AddIOp::create(b, loc, from, k);
    SmallVector<Value> at = indices(0, row, index(0), column);
    Value x = readRow(lhs, at, width);
    return writeRow(convertFloat(b, loc, x, type), state, {row, k});
  };
  // Lanes run along k when that is the operand's unit stride.
  int64_t width = lastLoop(0) == kLoop ? vectorBytes * 8 / type.getWidth() : 1;
  Value zero = index(0);
  Value body = roundDown(b, loc, count, width);
  return buildLoop1(b, loc, zero, m, 1, empty, [&](Value row, Value state) {
    if (width > 1)
      state = buildLoop1(b, loc, zero, body, width, state,
                         [&](Value k, Value state) {
                           return copy(row, k, state, width);
                         });
    return buildLoop1(b, loc, width > 1 ? body : zero, count, 1, state,
                      [&](Value k, Value state) {
                        return copy(row, k, state, 1);
                      });
  });
}

/// `count` rows of the right operand from row `from` and column `column`, as
/// rows of `lanes` sums' type, zeros beyond its last column.
Value Kernel::packRhs(Value empty, Value from, Value count, Value column) {
  Value n = extents[nLoop];
  // Panels beyond the last whole one go element by element: no rows at once.
  Value whole = count;
  if (std::optional<int64_t> extent = constantIndex(n);
      !extent || *extent % lanes != 0) {
    Value end = arith::AddIOp::create(b, loc, column, index(lanes));
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end, n);
    whole = arith::SelectOp::create(b, loc, inside, count, index(0));
  }
  if (lastLoop(1) == nLoop)
    return packScalars(packRows(empty, from, whole, column), from, whole,
                       count, column);
  // Squares of one register's lanes are transposed in registers.
  int64_t square = vectorBytes * 8 / type.getWidth();
  if (lastLoop(1) != kLoop || lanes % square != 0)
    return packScalars(empty, from, index(0), count, column);
  Value squares = roundDown(b, loc, whole, square);
  return packScalars(packTransposed(empty, from, squares, column), from,
                     squares, count, column);
}

Value Kernel::packRows(Value empty, Value from, Value count, Value column) {
  return buildLoop1(b, loc, index(0), count, 1, empty,
                    [&](Value k, Value state) {
    Value row = arith::AddIOp::create(b, loc, from, k);
    Value x = readRow(rhs, indices(1, index(0), column, row), lanes);
    return writeRow(convertFloat(b, loc, x, type), state, {k, index(0)});
  });
}

Value Kernel::packTransposed(Value empty, Value from, Value count,
                             Value column) {
  int64_t square = vectorBytes * 8 / type.getWidth();
  return buildLoop1(b, loc, index(0), count, square, empty,
                    [&](Value k, Value state) {
    Value row = arith::AddIOp::create(b, loc, from, k);
    for (int64_t j = 0; j < lanes; j += square) {
      SmallVector<Value> lines;
      for (int64_t i = 0; i < square; ++i) {
        Value at = arith::AddIOp::create(b, loc, column, index(j + i));
        Value line = readRow(rhs, indices(1, index(0), at, row), square);
        lines.push_back(convertFloat(b, loc, line, type));
      }
      transpose(lines);
      for (int64_t i = 0; i < square; ++i) {
        Value at = arith::AddIOp::create(b, loc, k, index(i));
        state = writeRow(lines[i], state, {at, index(j)});
      }
    }
    return state;
  });
}

/// Transposes a square of vectors: log2(size) perfect shuffles of its rows.
void Kernel::transpose(SmallVector<Value> &lines) {
  int64_t size = lines.size();
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < size / 2; ++i) {
    low.append({i, size + i});
    high.append({size / 2 + i, size + size / 2 + i});
  }
  for (int64_t stage = 1; stage < size; stage *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < size / 2; ++i)
      for (ArrayRef<int64_t> mask : {ArrayRef<int64_t>(low), ArrayRef<int64_t>(high)})
        next.push_back(vector::ShuffleOp::create(
            b, loc, lines[i], lines[i + size / 2], mask));
    lines = next;
  }
}

/// Element by element for k in [begin, end), zeros beyond the last column.
Value Kernel::packScalars(Value init, Value from, Value begin, Value end,
                          Value column) {
  Value last = arith::SubIOp::create(b, loc, extents[nLoop], index(1));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return buildLoop1(b, loc, begin, end, 1, init, [&](Value k, Value state) {
    Value row = arith::AddIOp::create(b, loc, from, k);
    return buildLoop1(b, loc, index(0), index(lanes), 1, state,
                      [&](Value j, Value state) -> Value {
      Value at = arith::AddIOp::create(b, loc, column, j);
      Value inside =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, at, last);
      Value x = readRow(rhs, indices(1, index(0), minOf(at, last), row), 1);
      x = arith::SelectOp::create(b, loc, inside, convertFloat(b, loc, x, type),
                                  zero);
      return writeRow(x, state, {k, j});
    });
  });
}

/// c + the products of `rows` rows and `lanes` columns over the block of k.
/// Rows beyond the last repeat it and are not stored.
Value Kernel::block(Value c, Value row, Value column, Value from, Value count,
                    Value lhsPacked, Value rhsPacked) {
  Value m = mLoop < 0 ? index(1) : extents[mLoop];
  Value last = arith::SubIOp::create(b, loc, m, index(1));
  bool wholeRows = !ShapedType::isDynamic(mStatic) && mStatic % rows == 0;
  SmallVector<Value> rowAt;
  for (int64_t i = 0; i < rows; ++i) {
    Value at = arith::AddIOp::create(b, loc, row, index(i));
    rowAt.push_back(wholeRows ? at : minOf(at, last));
  }
  auto vectorType = VectorType::get(lanes, type);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  SmallVector<Value> sums = buildLoop(
      b, loc, index(0), count, 1, SmallVector<Value>(rows, zero),
      [&](Value k, ValueRange state) {
        Value y = readRow(rhsPacked, {k, index(0)}, lanes);
        Value column = arith::AddIOp::create(b, loc, from, k);
        SmallVector<Value> next;
        for (auto [at, sum] : llvm::zip_equal(rowAt, state)) {
          Value x = lhsPacked
                        ? readRow(lhsPacked, {at, k}, 1)
                        : readRow(lhs, indices(0, at, index(0), column), 1);
          x = vector::BroadcastOp::create(b, loc, vectorType, x);
          next.push_back(vector::FMAOp::create(b, loc, x, y, sum));
        }
        return next;
      });
  std::optional<int64_t> n = constantIndex(extents[nLoop]);
  if (wholeRows && n && *n % lanes == 0)
    return store(c, row, column, sums, /*whole=*/true);

  Value rowEnd = arith::AddIOp::create(b, loc, row, index(rows));
  Value columnEnd = arith::AddIOp::create(b, loc, column, index(lanes));
  Value whole = arith::AndIOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, rowEnd, m),
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, columnEnd,
                            extents[nLoop]));
  auto branch =
      scf::IfOp::create(b, loc, c.getType(), whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, store(c, row, column, sums, true));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, store(c, row, column, sums, false));
  return branch.getResult(0);
}

/// Adds the sums to `c`: all of them, or those inside.
Value Kernel::store(Value c, Value row, Value column, ValueRange sums,
                    bool whole) {
  Value m = mLoop < 0 ? index(1) : extents[mLoop];
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value at = arith::AddIOp::create(b, loc, row, index(i));
    auto add = [&](Value c) -> Value {
      SmallVector<Value> place = indices(2, at, column, index(0));
      Value pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      Value old = vector::TransferReadOp::create(
          b, loc, cast<VectorType>(sum.getType()), c, place, pad,
          ArrayRef<bool>{whole});
      Value sums = arith::AddFOp::create(b, loc, old, sum);
      return vector::TransferWriteOp::create(b, loc, sums, c, place,
                                             ArrayRef<bool>{whole})
          .getResult();
    };
    if (whole) {
      c = add(c);
      continue;
    }
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, m);
    auto branch =
        scf::IfOp::create(b, loc, c.getType(), inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, add(c));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, c);
    c = branch.getResult(0);
  }
  return c;
}

/// `width` elements along the last dim: a scalar for one.
Value Kernel::readRow(Value tensor, ArrayRef<Value> at, int64_t width) {
  if (width == 1)
    return tensor::ExtractOp::create(b, loc, tensor, at);
  Type element = getElementTypeOrSelf(tensor.getType());
  Value pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, loc, VectorType::get(width, element),
                                        tensor, at, pad, ArrayRef<bool>{true});
}

Value Kernel::writeRow(Value x, Value tensor, ArrayRef<Value> at) {
  if (!isa<VectorType>(x.getType()))
    return tensor::InsertOp::create(b, loc, x, tensor, at);
  return vector::TransferWriteOp::create(b, loc, x, tensor, at,
                                         ArrayRef<bool>{true})
      .getResult();
}

struct VectorizeContractions
    : rudnn::impl::RudnnVectorizeContractionsBase<VectorizeContractions> {
  using RudnnVectorizeContractionsBase::RudnnVectorizeContractionsBase;

  void runOnOperation() override {
    unsigned bytes = vectorBytesOf(vectorBytes);
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isFloatContraction(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      Kernel kernel(rewriter, op, bytes);
      if (!kernel.analyze())
        continue;
      SmallVector<Value> operands = op.getDpsInputs();
      rewriter.replaceOp(op, kernel.build());
      for (Value operand : operands)
        if (auto transpose = operand.getDefiningOp<linalg::TransposeOp>();
            transpose && transpose->use_empty())
          rewriter.eraseOp(transpose);
    }
  }
};
} // namespace
