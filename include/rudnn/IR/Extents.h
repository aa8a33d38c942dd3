//===- Extents.h - Which extents of an op are the same -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_EXTENTS_H
#define RUDNN_IR_EXTENTS_H

#include "mlir/IR/PatternMatch.h"

namespace rudnn {

/// What visitExtents calls: the dims of an operand as letters, `.` for a dim
/// that is like no other. Dims of one letter have one extent.
class ExtentVisitor {
public:
  virtual ~ExtentVisitor();

  /// A null value has no dims.
  void add(llvm::StringRef name, mlir::Value value, llvm::StringRef letters) {
    if (value)
      visit(name, value, letters, /*isBroadcast=*/false);
  }
  /// A static 1 stands for every extent.
  void addBroadcast(llvm::StringRef name, mlir::Value value,
                    llvm::StringRef letters) {
    if (value)
      visit(name, value, letters, /*isBroadcast=*/true);
  }
  /// `add` for each of several operands, called name[0], name[1], ..
  void addAll(llvm::StringRef name, mlir::ValueRange values,
              llvm::StringRef letters);

private:
  virtual void visit(llvm::StringRef name, mlir::Value value,
                     llvm::StringRef letters, bool isBroadcast) = 0;
};

/// Names the dims of the operands of a rudnn op, inputs first.
void visitExtents(mlir::Operation *op, ExtentVisitor &visitor);

/// Gives the operands of an op on tensors every static extent that another
/// operand shows: casts before it, and behind it where a result's type changed.
/// Returns the op that takes its place, or `op` itself.
mlir::Operation *refineExtents(mlir::RewriterBase &rewriter,
                               mlir::Operation *op);

} // namespace rudnn

#endif // RUDNN_IR_EXTENTS_H
