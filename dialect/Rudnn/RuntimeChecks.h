//===- RuntimeChecks.h - Checks of index operands at run time -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DIALECT_RUNTIMECHECKS_H
#define RUDNN_DIALECT_RUNTIMECHECKS_H

#include "rudnn/IR/Extents.h"
#include "rudnn/IR/OpUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>
#include <variant>

namespace rudnn {

/// Emits what an op requires of the values of its index operands, on tensors or
/// memrefs, as code in front of the op. A check that fails prints a line with
/// the element, its value and what is allowed (`vector.print`), then the
/// assertion ends the program:
///
///   rudnn.paged.attention: tables[1, 0] is 7, expected a page id below 5
///   ERROR: Runtime op verification failed ...
class RuntimeChecks {
public:
  using Message =
      llvm::function_ref<std::string(mlir::Operation *, llvm::StringRef)>;
  using Predicate = mlir::arith::CmpIPredicate;
  /// A line is text and index values.
  using Line = llvm::SmallVector<std::variant<std::string, mlir::Value>>;

  RuntimeChecks(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
                Message message)
      : b(b), loc(loc), op(op), message(message) {}

  mlir::Value index(int64_t value);
  mlir::Value extent(mlir::Value shaped, int64_t dim);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// An i32 element, read as unsigned.
  mlir::Value load(mlir::Value shaped, mlir::ValueRange at);
  mlir::Value compare(Predicate predicate, mlir::Value x, mlir::Value y);

  /// Loops from `begin` to `end` around `body`.
  void forEach(mlir::Value begin, mlir::Value end,
               llvm::function_ref<void(mlir::Value)> body);
  void forEach(mlir::Value end, llvm::function_ref<void(mlir::Value)> body) {
    forEach(index(0), end, body);
  }

  /// `good` holds; else `line` is printed and `text` is the assertion's
  /// message.
  void require(mlir::Value good, llvm::StringRef text, const Line &line);
  /// `good` holds of `value`, the element `at` of operand `name`.
  void requireElement(mlir::Value good, llvm::StringRef text,
                      llvm::StringRef name, mlir::ValueRange at,
                      mlir::Value value, const Line &expected);
  /// `offsets` [N+1], operand `name`, start at 0, ascend and end at most at
  /// `rows`.
  void requireOffsets(mlir::Value offsets, llvm::StringRef name,
                      mlir::Value rows);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Operation *op;

private:
  Message message;
};

/// Checks that dims of one letter have one extent, where a dynamic one keeps
/// the verifier from knowing. A line reads
///
///   rudnn.rms_norm: gamma[dim 0] is 5, expected 8, the extent of x[dim 1]
class ExtentChecks : public ExtentVisitor {
public:
  explicit ExtentChecks(RuntimeChecks &checks) : checks(checks) {}

  /// `good` holds, else a line that starts with the op is printed.
  void require(mlir::Value good, llvm::StringRef text,
               const RuntimeChecks::Line &line);

private:
  struct Dim {
    std::string name;
    mlir::Value value;
    int64_t dim;
  };
  void visit(llvm::StringRef name, mlir::Value value, llvm::StringRef letters,
             bool isBroadcast) override;

  RuntimeChecks &checks;
  /// The first dim of each letter, a static one when there is any so far.
  std::map<char, Dim> dims;
};

} // namespace rudnn

#endif // RUDNN_DIALECT_RUNTIMECHECKS_H
