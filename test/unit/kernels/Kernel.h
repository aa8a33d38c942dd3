//===- Kernel.h - A compiled function with edited kernels -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TEST_UNIT_KERNELS_KERNEL_H
#define RUDNN_TEST_UNIT_KERNELS_KERNEL_H

#include "rudnn/Compiler/Compiler.h"

#include <string>
#include <vector>

namespace rudnn::test {

using Shape = std::vector<int64_t>;
using Values = std::vector<uint16_t>; ///< bf16

/// A function whose kernels run in the emulator, as they are or changed.
class Kernel {
public:
  /// Compiles the only function of `mlir`, whose arguments and result are bf16
  /// tensors of these shapes, for the chip.
  Kernel(const std::string &chip, const std::string &mlir,
         std::vector<Shape> arguments, Shape result);

  /// The LLVM IR of the kernels.
  const std::string &getText() const { return text; }

  /// Runs the function on fixed normal values with `text` as its kernels, once
  /// in order and once for each seed. Returns the first error, or how the
  /// result differs from the first run of all; empty: nothing is wrong.
  std::string run(const std::string &text, int numSeeds);

private:
  llvm::Expected<std::unique_ptr<LoadedModule>> load(const std::string &text);
  llvm::Expected<Values> call(const RudnnFunctionInfo &function,
                              const std::string &target);

  std::string target;
  std::vector<Shape> shapes; ///< Of the arguments, then of the result.
  std::vector<Values> arguments;
  CompiledModule compiled;
  std::string host; ///< The compiled module as bitcode.
  std::string text;
  Values expected;
};

} // namespace rudnn::test

#endif // RUDNN_TEST_UNIT_KERNELS_KERNEL_H
