//===- PagedPlan.cpp - The work list of a paged batch -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decomposition follows runtime/WorkList.cpp step by step: tiles per
// sequence, one range per part (greedy or fixed split), the pieces of each
// sequence, slots and merges. A place is a pair (sequence, tile); all numbers
// are index values, so that sums of 32-bit words don't wrap.
//
//===----------------------------------------------------------------------===//

#include "PagedClauses.h"

#include "rudnn/IR/EinBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rudnn;

LogicalResult PagedPlanOp::verify() {
  PagedClauses c{*this, "paged_plan"};
  if (failed(verifyDestination(*this, c.label(1), 3, 3)) ||
      failed(c.rank(2, "lengths", getLengths(), 1)) ||
      failed(c.rank(2, "sequence_ids", getSequenceIds(), 1)) ||
      failed(c.rank(2, "positions", getPositions(), 1)) ||
      failed(
          c.shape(2, "positions", getPositions(), shapeOf(getSequenceIds()))))
    return failure();
  Value ranges = getOuts()[0], merges = getOuts()[1], counts = getOuts()[2];
  if (failed(c.rank(3, "ranges", ranges, 2)))
    return failure();
  int64_t parts = shapeOf(ranges)[0];
  if (failed(c.extent(3, "P (dim 0 of ranges)", parts, 65535)) ||
      failed(c.shape(3, "ranges", ranges, {parts, 5})) ||
      failed(c.shape(4, "merges", merges, {shapeOf(getLengths())[0], 3})) ||
      failed(c.shape(5, "counts", counts, {2})))
    return failure();
  auto between = [&](int number, StringRef name, int64_t value, int64_t min,
                     int64_t max) -> LogicalResult {
    if (value >= min && value <= max)
      return success();
    return c.error(number) << name << " is " << value << ", expected " << min
                           << " to " << max;
  };
  if (failed(between(6, "tile_tokens", getTileTokens(), 1, UINT32_MAX)) ||
      failed(between(7, "fixed_cost", getFixedCost(), 0, UINT16_MAX)))
    return failure();
  return between(8, "fixed_split", getFixedSplit(), 0, UINT32_MAX);
}

namespace {

/// The tiles before (sequence, tile); both are index values.
struct Place {
  Value sequence, tile;
};

/// Emits the steps of one plan.
class PlanBuilder {
public:
  PlanBuilder(OpBuilder &b, PagedPlanOp op) : b(b), loc(op.getLoc()), op(op) {}

  /// ranges, merges and counts.
  SmallVector<Value> build();

private:
  using Predicate = arith::CmpIPredicate;
  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;

  Value index(int64_t x) { return arith::ConstantIndexOp::create(b, loc, x); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value ceilDiv(Value x, Value y) {
    return arith::CeilDivUIOp::create(b, loc, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value compare(Predicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value extract(Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(b, loc, tensor, at);
  }
  Value insert(Value value, Value tensor, ValueRange at) {
    return tensor::InsertOp::create(b, loc, value, tensor, at);
  }
  Value load(Value tensor, ValueRange at) {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                        extract(tensor, at));
  }
  Value store(Value value, Value tensor, ValueRange at) {
    Value word = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), value);
    return insert(word, tensor, at);
  }
  Value filled(Value like, Type type, int64_t value) {
    EinBuilder e(b, loc);
    return e.filled(e.sizes(like), b.getIntegerAttr(type, value));
  }

  SmallVector<Value> forEach(Value begin, Value end, ValueRange init,
                             Body body);
  /// Repeats while `before` holds of the values.
  SmallVector<Value> repeat(ValueRange init,
                            function_ref<Value(ValueRange)> before,
                            function_ref<SmallVector<Value>(ValueRange)> body);
  /// Values of `then` where `condition` holds, else `init`.
  SmallVector<Value> when(Value condition, ValueRange init,
                          function_ref<SmallVector<Value>()> then);

  void countTiles();
  Value greedyBudget();
  Place takeGreedy(Place at, Value budget);
  Value greedyRanges(Value ranges);
  Value chunks(Value count) { return ceilDiv(count, index(split)); }
  Value chunkedCost(Value count) {
    return add(count, mul(chunks(count), index(cost)));
  }
  Value fixedRanges(Value ranges);
  Value storeRange(Value ranges, Value part, Place begin, Place end);
  /// Calls `body` with each sequence that a range touches and the number of its
  /// tiles that are in the range (at least 1).
  SmallVector<Value>
  forPieces(Value ranges, Value part, ValueRange init,
            function_ref<SmallVector<Value>(Value, Value, ValueRange)> body);
  void countPieces(Value ranges);
  SmallVector<Value> buildMerges();
  Value assignSlots(Value ranges);

  OpBuilder &b;
  Location loc;
  PagedPlanOp op;
  int64_t cost = op.getFixedCost(), split = op.getFixedSplit();
  Value zero, one, sequences, parts;
  Value tiles;   // [S] index: tiles that the rows of a sequence see
  Value queried; // [S] i1: has rows
  Value pieces;  // [S] index
};

} // namespace

SmallVector<Value> PlanBuilder::forEach(Value begin, Value end, ValueRange init,
                                        Body body) {
  auto loop = scf::ForOp::create(
      b, loc, begin, end, one, init,
      [&](OpBuilder &nested, Location, Value i, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        scf::YieldOp::create(b, loc, body(i, args));
      });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value>
PlanBuilder::repeat(ValueRange init, function_ref<Value(ValueRange)> before,
                    function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::WhileOp::create(
      b, loc, init.getTypes(), init,
      [&](OpBuilder &nested, Location, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        scf::ConditionOp::create(b, loc, before(args), args);
      },
      [&](OpBuilder &nested, Location, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        scf::YieldOp::create(b, loc, body(args));
      });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> PlanBuilder::when(Value condition, ValueRange init,
                                     function_ref<SmallVector<Value>()> then) {
  auto branch = scf::IfOp::create(
      b, loc, condition,
      [&](OpBuilder &nested, Location) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        scf::YieldOp::create(b, loc, then());
      },
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(nested, loc, init);
      });
  return SmallVector<Value>(branch.getResults());
}

/// Tiles of each sequence that its rows see, and whether it has rows.
void PlanBuilder::countTiles() {
  Value visible = filled(op.getLengths(), b.getIndexType(), 0);
  Value none = filled(op.getLengths(), b.getI1Type(), 0);
  Value rows = tensor::DimOp::create(b, loc, op.getSequenceIds(), 0);
  SmallVector<Value> seen =
      forEach(zero, rows, {visible, none}, [&](Value row, ValueRange args) {
        Value sequence = load(op.getSequenceIds(), row);
        Value exists = compare(Predicate::ult, sequence, sequences);
        return when(exists, args, [&]() -> SmallVector<Value> {
          Value count = load(op.getLengths(), sequence);
          if (op.getCausal()) {
            Value position = load(op.getPositions(), row);
            count = arith::MinUIOp::create(b, loc, count, add(position, one));
          }
          count =
              arith::MaxUIOp::create(b, loc, count, extract(args[0], sequence));
          Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
          return {insert(count, args[0], sequence),
                  insert(yes, args[1], sequence)};
        });
      });
  queried = seen[1];
  tiles = forEach(zero, sequences, seen[0],
                  [&](Value s, ValueRange args) -> SmallVector<Value> {
                    Value count =
                        ceilDiv(extract(args[0], s), index(op.getTileTokens()));
                    return {insert(count, args[0], s)};
                  })[0];
}

Value PlanBuilder::storeRange(Value ranges, Value part, Place begin,
                              Place end) {
  Value words[] = {begin.sequence, begin.tile, end.sequence, end.tile};
  for (auto [i, word] : llvm::enumerate(words))
    ranges = store(word, ranges, {part, index(i)});
  return ranges;
}

//===----------------------------------------------------------------------===//
// Greedy rule
//===----------------------------------------------------------------------===//

/// What every part may cost: the mean and one start of a piece.
Value PlanBuilder::greedyBudget() {
  Value total = forEach(zero, sequences, zero,
                        [&](Value s, ValueRange args) -> SmallVector<Value> {
                          Value count = extract(tiles, s);
                          Value isEmpty = compare(Predicate::eq, count, zero);
                          Value piece =
                              select(isEmpty, zero, add(count, index(cost)));
                          return {add(args[0], piece)};
                        })[0];
  return add(ceilDiv(total, parts), index(cost));
}

/// The place where a part that begins at `at` ends: whole sequences while they
/// fit, then as many tiles as fit. It is at a tile, or at the end: with a
/// budget of 0 this only skips what has no tiles.
Place PlanBuilder::takeGreedy(Place at, Value budget) {
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  SmallVector<Value> end = repeat(
      {at.sequence, at.tile, budget, no},
      [&](ValueRange x) -> Value {
        Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
        Value goesOn = arith::XOrIOp::create(b, loc, x[3], yes);
        return both(goesOn, compare(Predicate::ult, x[0], sequences));
      },
      [&](ValueRange x) -> SmallVector<Value> {
        Value start = index(cost);
        Value left = sub(extract(tiles, x[0]), x[1]);
        Value isEmpty = compare(Predicate::eq, left, zero);
        Value price = select(isEmpty, zero, add(left, start));
        Value fits = compare(Predicate::ule, price, x[2]);
        Value some = compare(Predicate::ugt, x[2], start);
        Value taken = select(some, sub(x[2], start), zero);
        Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
        return {select(fits, add(x[0], one), x[0]),
                select(fits, zero, add(x[1], taken)),
                select(fits, sub(x[2], price), x[2]),
                arith::XOrIOp::create(b, loc, fits, yes)};
      });
  return {end[0], end[1]};
}

Value PlanBuilder::greedyRanges(Value ranges) {
  Value budget = greedyBudget();
  Place first = takeGreedy({zero, zero}, zero);
  return forEach(zero, parts, {ranges, first.sequence, first.tile},
                 [&](Value part, ValueRange args) -> SmallVector<Value> {
                   Place at{args[1], args[2]};
                   Place end = takeGreedy(at, budget);
                   return {storeRange(args[0], part, at, end), end.sequence,
                           end.tile};
                 })[0];
}

//===----------------------------------------------------------------------===//
// Fixed split
//===----------------------------------------------------------------------===//

/// A part begins at the first chunk whose cost starts at or after its share of
/// the sum. The search goes on where that of the part before ended.
Value PlanBuilder::fixedRanges(Value ranges) {
  Value total = forEach(zero, sequences, zero,
                        [&](Value s, ValueRange args) -> SmallVector<Value> {
                          return {add(args[0], chunkedCost(extract(tiles, s)))};
                        })[0];
  // ceil(total * part / parts) without a product of the size of the sum.
  Value quotient = arith::DivUIOp::create(b, loc, total, parts);
  Value remainder = arith::RemUIOp::create(b, loc, total, parts);
  // sequence, cost of those before it, first chunk of the part
  auto search = [&](Value part, Value sequence, Value before) {
    Value share =
        add(mul(quotient, part), ceilDiv(mul(remainder, part), parts));
    Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
    return repeat(
        {sequence, before, zero, no},
        [&](ValueRange x) -> Value {
          Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
          Value goesOn = arith::XOrIOp::create(b, loc, x[3], yes);
          return both(goesOn, compare(Predicate::ult, x[0], sequences));
        },
        [&](ValueRange x) -> SmallVector<Value> {
          Value count = extract(tiles, x[0]);
          Value behind = compare(Predicate::ugt, share, x[1]);
          Value first = ceilDiv(sub(share, x[1]), index(split + cost));
          first = select(behind, first, zero);
          Value found = compare(Predicate::ult, first, chunks(count));
          return {select(found, x[0], add(x[0], one)),
                  select(found, x[1], add(x[1], chunkedCost(count))),
                  select(found, mul(first, index(split)), zero), found};
        });
  };
  SmallVector<Value> first = search(zero, zero, zero);
  return forEach(zero, parts, {ranges, first[0], first[1], first[2]},
                 [&](Value part, ValueRange args) -> SmallVector<Value> {
                   Value next = add(part, one);
                   SmallVector<Value> end = search(next, args[1], args[2]);
                   Value isLast = compare(Predicate::eq, next, parts);
                   Place to{select(isLast, sequences, end[0]),
                            select(isLast, zero, end[2])};
                   return {storeRange(args[0], part, {args[1], args[3]}, to),
                           to.sequence, end[1], to.tile};
                 })[0];
}

//===----------------------------------------------------------------------===//
// Pieces, slots and merges
//===----------------------------------------------------------------------===//

SmallVector<Value> PlanBuilder::forPieces(
    Value ranges, Value part, ValueRange init,
    function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  Value word[4];
  for (int i = 0; i < 4; ++i)
    word[i] = load(ranges, {part, index(i)});
  Value end = arith::MinUIOp::create(b, loc, add(word[2], one), sequences);
  return forEach(word[0], end, init, [&](Value s, ValueRange args) {
    Value isFirst = compare(Predicate::eq, s, word[0]);
    Value isLast = compare(Predicate::eq, s, word[2]);
    Value from = select(isFirst, word[1], zero);
    Value to = select(isLast, word[3], extract(tiles, s));
    Value any = compare(Predicate::ult, from, to);
    return when(any, args, [&] { return body(s, sub(to, from), args); });
  });
}

/// Pieces of each sequence: its chunks, or the ranges that touch it.
void PlanBuilder::countPieces(Value ranges) {
  Value none = filled(op.getLengths(), b.getIndexType(), 0);
  if (split) {
    pieces = forEach(zero, sequences, none,
                     [&](Value s, ValueRange args) -> SmallVector<Value> {
                       return {insert(chunks(extract(tiles, s)), args[0], s)};
                     })[0];
    return;
  }
  pieces = forEach(zero, parts, none, [&](Value part, ValueRange args) {
    return forPieces(
        ranges, part, args,
        [&](Value s, Value, ValueRange counts) -> SmallVector<Value> {
          Value more = add(extract(counts[0], s), one);
          return {insert(more, counts[0], s)};
        });
  })[0];
}

/// One merge per sequence with rows that is not in one piece, and the counts.
SmallVector<Value> PlanBuilder::buildMerges() {
  EinBuilder e(b, loc);
  Value merges = e.filledLike(op.getOuts()[1], b.getI32IntegerAttr(-1));
  SmallVector<Value> made = forEach(
      zero, sequences, {merges, zero, zero}, [&](Value s, ValueRange args) {
        Value count = extract(pieces, s);
        Value cut =
            both(extract(queried, s), compare(Predicate::ne, count, one));
        return when(cut, args, [&]() -> SmallVector<Value> {
          Value merges = store(s, args[0], {args[1], zero});
          merges = store(args[2], merges, {args[1], one});
          merges = store(count, merges, {args[1], index(2)});
          return {merges, add(args[1], one), add(args[2], count)};
        });
      });
  Value counts = store(made[1], op.getOuts()[2], zero);
  return {made[0], store(made[2], counts, one)};
}

/// The slot of each range's first piece of a cut sequence.
Value PlanBuilder::assignSlots(Value ranges) {
  return forEach(
      zero, parts, {ranges, zero},
      [&](Value part, ValueRange args) -> SmallVector<Value> {
        Value stored = store(args[1], args[0], {part, index(4)});
        Value next = forPieces(
            stored, part, args[1],
            [&](Value s, Value count, ValueRange slot) -> SmallVector<Value> {
              Value cut = compare(Predicate::ugt, extract(pieces, s), one);
              Value used = split ? chunks(count) : one;
              return {add(slot[0], select(cut, used, zero))};
            })[0];
        return {stored, next};
      })[0];
}

SmallVector<Value> PlanBuilder::build() {
  zero = index(0);
  one = index(1);
  sequences = tensor::DimOp::create(b, loc, op.getLengths(), 0);
  Value ranges = op.getOuts()[0];
  parts = index(shapeOf(ranges)[0]);
  countTiles();
  ranges = split ? fixedRanges(ranges) : greedyRanges(ranges);
  countPieces(ranges);
  SmallVector<Value> merges = buildMerges();
  return {assignSlots(ranges), merges[0], merges[1]};
}

FailureOr<SmallVector<Value>> PagedPlanOp::decomposeOperation(OpBuilder &b) {
  return PlanBuilder(b, *this).build();
}
