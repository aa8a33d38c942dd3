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

#include "rudnn/IR/PagedOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace rudnn;

namespace {

using Predicate = arith::CmpIPredicate;
using MessageFn = function_ref<std::string(Operation *, StringRef)>;

/// Emits the checks of one op, on tensors or memrefs.
struct PageChecks {
  Operation *op;
  PageOperands pages;
  Value cache; // gives the number of pages and the page size
  MessageFn message;
  bool isAppend;

  static Value index(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  static Value dim(OpBuilder &b, Location loc, Value shaped, int64_t dim) {
    if (isa<MemRefType>(shaped.getType()))
      return memref::DimOp::create(b, loc, shaped, dim);
    return tensor::DimOp::create(b, loc, shaped, dim);
  }
  static Value load(OpBuilder &b, Location loc, Value shaped, ValueRange at) {
    Value word;
    if (isa<MemRefType>(shaped.getType()))
      word = memref::LoadOp::create(b, loc, shaped, at);
    else
      word = tensor::ExtractOp::create(b, loc, shaped, at);
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), word);
  }
  static Value compare(OpBuilder &b, Location loc, Predicate predicate, Value x,
                       Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  void require(OpBuilder &b, Location loc, Value holds, StringRef text) const {
    cf::AssertOp::create(b, loc, holds, b.getStringAttr(message(op, text)));
  }

  void checkTables(OpBuilder &b, Location loc) const;
  void checkRows(OpBuilder &b, Location loc) const;
  void checkRow(OpBuilder &b, Location loc, Value row) const;
  void checkWrittenOnce(OpBuilder &b, Location loc) const;
};

} // namespace

/// Loops from 0 to `end` around `body`.
static void forEach(OpBuilder &b, Location loc, Value end,
                    function_ref<void(OpBuilder &, Location, Value)> body) {
  scf::ForOp::create(b, loc, PageChecks::index(b, loc, 0), end,
                     PageChecks::index(b, loc, 1), ValueRange{},
                     [&](OpBuilder &nested, Location l, Value i, ValueRange) {
                       body(nested, l, i);
                       scf::YieldOp::create(nested, l);
                     });
}

/// Every length fits its table; the entries that it needs name pages.
void PageChecks::checkTables(OpBuilder &b, Location loc) const {
  Value size = dim(b, loc, cache, 1), width = dim(b, loc, pages.tables, 1);
  Value count = dim(b, loc, cache, 0);
  forEach(b, loc, dim(b, loc, pages.lengths, 0),
          [&](OpBuilder &b, Location loc, Value sequence) {
            Value length = load(b, loc, pages.lengths, sequence);
            Value need = arith::CeilDivUIOp::create(b, loc, length, size);
            require(b, loc, compare(b, loc, Predicate::ule, need, width),
                    "lengths: a length needs more pages than its table has");
            Value entries = arith::MinUIOp::create(b, loc, need, width);
            forEach(b, loc, entries, [&](OpBuilder &b, Location loc, Value j) {
              Value page = load(b, loc, pages.tables, {sequence, j});
              require(b, loc, compare(b, loc, Predicate::ult, page, count),
                      "tables: a page id is not below the number of pages");
            });
          });
}

/// Row `row` belongs to a sequence and stands inside it.
void PageChecks::checkRow(OpBuilder &b, Location loc, Value row) const {
  Value sequence = load(b, loc, pages.sequenceIds, row);
  Value exists =
      compare(b, loc, Predicate::ult, sequence, dim(b, loc, pages.lengths, 0));
  require(b, loc, exists,
          "sequence_ids: an id is not below the number of sequences");
  Value length = load(b, loc, pages.lengths, sequence);
  Value inside = compare(b, loc, Predicate::ult,
                         load(b, loc, pages.positions, row), length);
  if (!isAppend) {
    // With an empty history the position says nothing.
    Value empty = compare(b, loc, Predicate::eq, length, index(b, loc, 0));
    inside = arith::OrIOp::create(b, loc, inside, empty);
  }
  require(b, loc, inside,
          "positions: a position is not below the length of its sequence");
}

void PageChecks::checkRows(OpBuilder &b, Location loc) const {
  forEach(
      b, loc, dim(b, loc, pages.sequenceIds, 0),
      [&](OpBuilder &b, Location loc, Value row) { checkRow(b, loc, row); });
}

/// No two rows of an append go to one slot.
void PageChecks::checkWrittenOnce(OpBuilder &b, Location loc) const {
  Value size = dim(b, loc, cache, 1);
  auto slotOf = [&](OpBuilder &b, Location loc, Value row) -> Value {
    Value sequence = load(b, loc, pages.sequenceIds, row);
    Value position = load(b, loc, pages.positions, row);
    Value logical = arith::DivUIOp::create(b, loc, position, size);
    Value page = load(b, loc, pages.tables, {sequence, logical});
    Value slot = arith::RemUIOp::create(b, loc, position, size);
    return arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, page, size), slot);
  };
  forEach(b, loc, dim(b, loc, pages.sequenceIds, 0),
          [&](OpBuilder &b, Location loc, Value row) {
            Value slot = slotOf(b, loc, row);
            forEach(b, loc, row, [&](OpBuilder &b, Location loc, Value other) {
              require(
                  b, loc,
                  compare(b, loc, Predicate::ne, slot, slotOf(b, loc, other)),
                  "positions: two rows write the same slot of a page");
            });
          });
}

static void checkPages(Operation *op, const PageOperands &pages, Value cache,
                       bool isAppend, OpBuilder &b, Location loc,
                       MessageFn message) {
  PageChecks checks{op, pages, cache, message, isAppend};
  checks.checkTables(b, loc);
  checks.checkRows(b, loc);
  if (isAppend)
    checks.checkWrittenOnce(b, loc);
}

namespace {
/// Forward and backward attention ops.
template <typename OpTy>
struct ScoresModel
    : RuntimeVerifiableOpInterface::ExternalModel<ScoresModel<OpTy>, OpTy> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   MessageFn message) const {
    PagedScores scores = getPagedScores(cast<OpTy>(op));
    checkPages(op, scores.pages, scores.values, /*isAppend=*/false, b, loc,
               message);
  }
};

struct AppendModel
    : RuntimeVerifiableOpInterface::ExternalModel<AppendModel, PagedAppendOp> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   MessageFn message) const {
    auto append = cast<PagedAppendOp>(op);
    checkPages(op, getPageOperands(append), append.getOuts()[0],
               /*isAppend=*/true, b, loc, message);
  }
};
} // namespace

void rudnn::registerPagedRuntimeVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect>();
    PagedAppendOp::attachInterface<AppendModel>(*context);
    PagedAttentionOp::attachInterface<ScoresModel<PagedAttentionOp>>(*context);
    PagedAttentionBackwardOp::attachInterface<
        ScoresModel<PagedAttentionBackwardOp>>(*context);
    PagedMlaOp::attachInterface<ScoresModel<PagedMlaOp>>(*context);
    PagedMlaBackwardOp::attachInterface<ScoresModel<PagedMlaBackwardOp>>(
        *context);
  });
}
