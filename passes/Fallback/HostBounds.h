//===- HostBounds.h - Bounds of extents that only kernels know --*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host allocates what kernels use, and never reads buffers. An extent that
// comes from a buffer, or from a loop, is bounded by interval arithmetic on the
// ops that compute it: a minimum with something the host knows is enough.
//
//===----------------------------------------------------------------------===//

#ifndef RUDNN_PASSES_FALLBACK_HOSTBOUNDS_H
#define RUDNN_PASSES_FALLBACK_HOSTBOUNDS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace rudnn {

class HostBounds {
public:
  /// `b` inserts where the bounds are needed; `known` tells which values are
  /// there.
  HostBounds(mlir::OpBuilder &b, mlir::Location loc,
             std::function<bool(mlir::Value)> known)
      : b(b), loc(loc), known(std::move(known)) {}

  /// An index that `value`, an extent or an index of an element, never
  /// exceeds: the value itself where it can be computed. Null if there is none.
  mlir::Value upper(mlir::Value value) { return eval(value, Upper); }

private:
  enum Mode { Exact, Upper, Lower };

  mlir::Value eval(mlir::Value value, Mode mode);
  mlir::Value evalUncached(mlir::Value value, Mode mode);
  mlir::Value eval(mlir::OpFoldResult value, Mode mode);
  mlir::Value exact(mlir::Operation *op);
  mlir::Value extent(mlir::Value buffer, int64_t dim, Mode mode);
  mlir::Value extentOfView(mlir::Operation *op, int64_t dim, Mode mode);
  mlir::Value arithmetic(mlir::Operation *op, Mode mode);
  mlir::Value inductionVariable(mlir::BlockArgument argument, Mode mode);
  mlir::Value affineValue(mlir::AffineMap map, mlir::ValueRange operands,
                          bool minimum, Mode mode);
  mlir::Value affineExpr(mlir::AffineExpr expr, mlir::ValueRange operands,
                         unsigned dims, Mode mode);
  bool isNonNegative(mlir::Value value);

  /// Null if an operand is null.
  template <typename OpTy>
  mlir::Value make(mlir::Value lhs, mlir::Value rhs);
  /// Where one of two bounds is enough.
  template <typename OpTy>
  mlir::Value either(mlir::Value lhs, mlir::Value rhs);
  mlir::Value index(int64_t value);
  mlir::Value toIndex(mlir::Value value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  std::function<bool(mlir::Value)> known;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> cache;
};

} // namespace rudnn

#endif // RUDNN_PASSES_FALLBACK_HOSTBOUNDS_H
