//===- PagedClauses.h - PagedClauses that paged ops share -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_PAGEDCLAUSES_H
#define RUDNN_DIALECT_PAGEDCLAUSES_H

#include "rudnn/IR/PagedOps.h"

namespace rudnn {

/// Reports the violation of clauses `<prefix>_c<n>` of one op.
class PagedClauses {
public:
  PagedClauses(mlir::Operation *op, llvm::StringRef prefix)
      : op(op), prefix(prefix) {}

  mlir::Operation *op;
  llvm::StringRef prefix;

  std::string label(int number) const {
    return (prefix + "_c" + llvm::Twine(number)).str();
  }
  mlir::InFlightDiagnostic error(int number) const {
    return op->emitOpError() << label(number) << ": ";
  }
  llvm::LogicalResult rank(int number, llvm::StringRef name, mlir::Value value,
                           int64_t rank) const {
    return verifyRank(op, label(number), name, value, rank);
  }
  llvm::LogicalResult shape(int number, llvm::StringRef name, mlir::Value value,
                            llvm::ArrayRef<int64_t> expected) const {
    return verifyShape(op, label(number), name, value, expected);
  }
  llvm::LogicalResult type(int number, llvm::StringRef name, mlir::Value value,
                           mlir::Type expected) const {
    return verifyElementType(op, label(number), name, value, expected);
  }

  /// A static extent of at least 1 and at most `max` (0: no limit).
  llvm::LogicalResult extent(int number, llvm::StringRef name, int64_t value,
                             int64_t max = 0) const {
    if (mlir::ShapedType::isDynamic(value))
      return error(number) << name << " is dynamic, expected a static extent";
    if (value < 1 || (max && value > max)) {
      mlir::InFlightDiagnostic diagnostic =
          error(number) << name << " is " << value << ", expected at least 1";
      if (max)
        diagnostic << " and at most " << max;
      return diagnostic;
    }
    return llvm::success();
  }

  llvm::LogicalResult pageRanks(int number, const PageOperands &pages) const {
    return llvm::success(
        llvm::succeeded(rank(number, "tables", pages.tables, 2)) &&
        llvm::succeeded(rank(number, "lengths", pages.lengths, 1)) &&
        llvm::succeeded(rank(number, "sequence_ids", pages.sequenceIds, 1)) &&
        llvm::succeeded(rank(number, "positions", pages.positions, 1)));
  }

  /// S of tables and lengths agree; the row operands have `rows` rows.
  llvm::LogicalResult pageShapes(int number, const PageOperands &pages,
                                 int64_t rows) const {
    return llvm::success(
        llvm::succeeded(shape(number, "lengths", pages.lengths,
                              {shapeOf(pages.tables)[0]})) &&
        llvm::succeeded(
            shape(number, "sequence_ids", pages.sequenceIds, {rows})) &&
        llvm::succeeded(shape(number, "positions", pages.positions, {rows})));
  }

  llvm::LogicalResult pageSize(int number, llvm::StringRef name,
                               mlir::Value cache) const {
    if (shapeOf(cache)[1] == 0)
      return error(number) << "the page size of " << name
                           << " is 0, expected at least 1";
    return llvm::success();
  }

  llvm::LogicalResult
  positive(int number, llvm::StringRef name,
           const std::optional<llvm::APFloat> &value) const {
    if (!value)
      return llvm::success();
    return verifyPositiveFinite(op, label(number), name, *value);
  }

  llvm::LogicalResult window(int number, llvm::StringRef name,
                             std::optional<int64_t> value) const {
    if (value && *value < 0)
      return error(number) << name << " is " << *value
                           << ", expected 0 or more";
    return llvm::success();
  }

  llvm::LogicalResult splits(int number, int64_t splits) const {
    if (splits < 1 || splits > 32)
      return error(number) << "num_splits is " << splits
                           << ", expected 1 to 32";
    return llvm::success();
  }

  llvm::LogicalResult lseBase(int number, LogBase base, mlir::Value lse) const {
    if (base != LogBase::E && !lse)
      return error(number) << "lse_base is " << stringifyLogBase(base)
                           << " but there is no lse out, expected e";
    return llvm::success();
  }

  /// `Hq` heads read `Hkv` cache heads in groups of equal size.
  llvm::LogicalResult groups(int number, int64_t hq, int64_t hkv) const {
    if (hq % hkv == 0)
      return llvm::success();
    return error(number) << "q has " << hq << " heads, expected a multiple of "
                         << "the " << hkv << " heads of k";
  }

  /// Ranks (clause `first`), extents, one cache head and shapes (the three
  /// clauses after it) of the operands of latent attention.
  llvm::LogicalResult latent(int first, mlir::Value q, mlir::Value qp,
                             mlir::Value latent, mlir::Value kp,
                             const PageOperands &pages) const {
    if (failed(rank(first, "q", q, 3)) || failed(rank(first, "qp", qp, 3)) ||
        failed(rank(first, "latent", latent, 4)) ||
        failed(rank(first, "kp", kp, 4)) || failed(pageRanks(first, pages)))
      return llvm::failure();
    llvm::ArrayRef<int64_t> rows = shapeOf(q), part = shapeOf(qp),
                            cache = shapeOf(latent), keys = shapeOf(kp);
    if (failed(extent(first + 1, "H (dim 1 of q)", rows[1])) ||
        failed(extent(first + 1, "R (dim 2 of q)", rows[2], 1024)) ||
        failed(extent(first + 1, "P (dim 2 of qp)", part[2], 256)) ||
        failed(oneHead(first + 2, "latent", cache[2])) ||
        failed(oneHead(first + 2, "kp", keys[2])))
      return llvm::failure();
    return llvm::success(
        succeeded(shape(first + 3, "latent", latent,
                        {cache[0], cache[1], 1, rows[2]})) &&
        succeeded(
            shape(first + 3, "kp", kp, {cache[0], cache[1], 1, part[2]})) &&
        succeeded(shape(first + 3, "qp", qp, {rows[0], rows[1], part[2]})) &&
        succeeded(pageSize(first + 3, "latent", latent)));
  }

  llvm::LogicalResult latentTypes(int number, mlir::Value q, mlir::Value qp,
                                  mlir::Value latent, mlir::Value kp) const {
    mlir::Type expected = elementTypeOf(q);
    return llvm::success(succeeded(type(number, "qp", qp, expected)) &&
                         succeeded(type(number, "latent", latent, expected)) &&
                         succeeded(type(number, "kp", kp, expected)));
  }

private:
  llvm::LogicalResult oneHead(int number, llvm::StringRef name,
                              int64_t heads) const {
    if (heads == 1)
      return llvm::success();
    mlir::InFlightDiagnostic diagnostic = error(number) << name << " has ";
    if (mlir::ShapedType::isDynamic(heads))
      diagnostic << "a dynamic number of";
    else
      diagnostic << heads;
    return diagnostic << " heads, expected 1";
  }
};

} // namespace rudnn

#endif // RUDNN_DIALECT_PAGEDCLAUSES_H
