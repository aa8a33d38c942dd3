//===- PagedRuntimeVerification.cpp - Checks of page operands -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op requires of the values of its index operands, as code in front of
// the op: loops over rows and table entries with an assertion for each rule.
//
//===----------------------------------------------------------------------===//

#include "RuntimeChecks.h"

#include "rudnn/IR/PagedOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// The checks of one op.
struct PageChecks : RuntimeChecks {
  using RuntimeChecks::RuntimeChecks;

  void checkTables(const PageOperands &pages, Value cache);
  void checkRow(Value lengths, Value sequenceIds, Value positions, Value row,
                bool isAppend);
  void checkRows(Value lengths, Value sequenceIds, Value positions,
                 bool isAppend) {
    forEach(extent(sequenceIds, 0), [&](Value row) {
      checkRow(lengths, sequenceIds, positions, row, isAppend);
    });
  }
  void checkWrittenOnce(const PageOperands &pages, Value cache);
};

} // namespace

/// Every length fits its table; the entries that it needs name pages.
void PageChecks::checkTables(const PageOperands &pages, Value cache) {
  Value size = extent(cache, 1), width = extent(pages.tables, 1);
  Value count = extent(cache, 0);
  forEach(extent(pages.lengths, 0), [&](Value sequence) {
    Value length = load(pages.lengths, sequence);
    Value need = arith::CeilDivUIOp::create(b, loc, length, size);
    requireElement(compare(Predicate::ule, need, width),
                   "lengths: a length needs more pages than its table has",
                   "lengths", sequence, length,
                   {"at most ", mul(width, size), " (", width, " pages of ",
                    size, " tokens)"});
    Value entries = arith::MinUIOp::create(b, loc, need, width);
    forEach(entries, [&](Value j) {
      Value page = load(pages.tables, {sequence, j});
      requireElement(compare(Predicate::ult, page, count),
                     "tables: a page id is not below the number of pages",
                     "tables", {sequence, j}, page,
                     {"a page id below ", count});
    });
  });
}

/// Row `row` belongs to a sequence and stands inside it.
void PageChecks::checkRow(Value lengths, Value sequenceIds, Value positions,
                          Value row, bool isAppend) {
  Value sequence = load(sequenceIds, row), count = extent(lengths, 0);
  requireElement(compare(Predicate::ult, sequence, count),
                 "sequence_ids: an id is not below the number of sequences",
                 "sequence_ids", row, sequence, {"an id below ", count});
  Value length = load(lengths, sequence), position = load(positions, row);
  Value inside = compare(Predicate::ult, position, length);
  if (!isAppend) {
    // With an empty history the position says nothing.
    Value empty = compare(Predicate::eq, length, index(0));
    inside = arith::OrIOp::create(b, loc, inside, empty);
  }
  requireElement(
      inside, "positions: a position is not below the length of its sequence",
      "positions", row, position,
      {"a position below ", length, ", the length of sequence ", sequence});
}

/// No two rows of an append go to one slot.
void PageChecks::checkWrittenOnce(const PageOperands &pages, Value cache) {
  Value size = extent(cache, 1);
  auto slotOf = [&](Value row) -> std::pair<Value, Value> {
    Value sequence = load(pages.sequenceIds, row);
    Value position = load(pages.positions, row);
    Value logical = arith::DivUIOp::create(b, loc, position, size);
    Value page = load(pages.tables, {sequence, logical});
    Value slot = arith::RemUIOp::create(b, loc, position, size);
    return {position, add(mul(page, size), slot)};
  };
  forEach(extent(pages.sequenceIds, 0), [&](Value row) {
    auto [position, slot] = slotOf(row);
    forEach(row, [&, position = position, slot = slot](Value other) {
      requireElement(compare(Predicate::ne, slot, slotOf(other).second),
                     "positions: two rows write the same slot of a page",
                     "positions", row, position,
                     {"a slot of its own, but row ", other, " writes it"});
    });
  });
}

static void checkPages(Operation *op, const PageOperands &pages, Value cache,
                       bool isAppend, OpBuilder &b, Location loc,
                       RuntimeChecks::Message message) {
  PageChecks checks{b, loc, op, message};
  ExtentChecks extents(checks);
  visitExtents(op, extents);
  checks.checkTables(pages, cache);
  checks.checkRows(pages.lengths, pages.sequenceIds, pages.positions, isAppend);
  if (isAppend)
    checks.checkWrittenOnce(pages, cache);
}

namespace {
/// Forward and backward attention ops.
template <typename OpTy>
struct ScoresModel
    : RuntimeVerifiableOpInterface::ExternalModel<ScoresModel<OpTy>, OpTy> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    PagedScores scores = getPagedScores(cast<OpTy>(op));
    checkPages(op, scores.pages, scores.values, /*isAppend=*/false, b, loc,
               message);
  }
};

struct AppendModel
    : RuntimeVerifiableOpInterface::ExternalModel<AppendModel, PagedAppendOp> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    auto append = cast<PagedAppendOp>(op);
    checkPages(append, getPageOperands(append), append.getOuts()[0],
               /*isAppend=*/true, b, loc, message);
  }
};

struct PlanModel
    : RuntimeVerifiableOpInterface::ExternalModel<PlanModel, PagedPlanOp> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    auto plan = cast<PagedPlanOp>(op);
    PageChecks checks{b, loc, op, message};
    ExtentChecks extents(checks);
    visitExtents(op, extents);
    checks.checkRows(plan.getLengths(), plan.getSequenceIds(),
                     plan.getPositions(), /*isAppend=*/false);
  }
};
} // namespace

void rudnn::registerPagedRuntimeVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         vector::VectorDialect>();
    PagedAppendOp::attachInterface<AppendModel>(*context);
    PagedAttentionOp::attachInterface<ScoresModel<PagedAttentionOp>>(*context);
    PagedAttentionBackwardOp::attachInterface<
        ScoresModel<PagedAttentionBackwardOp>>(*context);
    PagedMlaOp::attachInterface<ScoresModel<PagedMlaOp>>(*context);
    PagedMlaBackwardOp::attachInterface<ScoresModel<PagedMlaBackwardOp>>(
        *context);
    PagedPlanOp::attachInterface<PlanModel>(*context);
  });
}
