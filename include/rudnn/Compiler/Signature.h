//===- Signature.h - Arguments and results of entries -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_COMPILER_SIGNATURE_H
#define RUDNN_COMPILER_SIGNATURE_H

#include "rudnn/Runtime/Abi.h"
#include "rudnn/Support/HostTensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace rudnn {

/// An argument or result of an entry function.
struct ArgSignature {
  std::string name;
  RudnnDType dtype;
  bool isScalar = false;
  /// Extents of a tensor, RUDNN_DYNAMIC where unknown.
  std::vector<int64_t> shape;

  /// As in the source: `tensor<?x512xbf16>`, `f32`.
  std::string str() const;
};

/// A public function of a module.
struct EntrySignature {
  std::string name;
  std::vector<ArgSignature> args;
  std::vector<ArgSignature> results;

  /// `@f(arg0: tensor<4xf32>) -> (result0: tensor<4xf32>)`.
  std::string str() const;
};

/// The element type of the ABI for an MLIR element type; none when the ABI has
/// no such type.
std::optional<RudnnDType> getDType(mlir::Type type);

/// The signatures of all public functions with a body, in order. An argument may
/// have a name in the argument attribute `rudnn.name`.
/// Fails on a type that the ABI does not have.
llvm::Expected<std::vector<EntrySignature>> getSignatures(mlir::ModuleOp module);

} // namespace rudnn

#endif // RUDNN_COMPILER_SIGNATURE_H
