//===- Target.h - What the tools compile for -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_COMPILER_TARGET_H
#define RUDNN_COMPILER_TARGET_H

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace rudnn {

/// Memory and time of the machine that runs a function. The default is the host.
class TargetDevice {
public:
  virtual ~TargetDevice();
  /// `bytes` bytes aligned to 256.
  virtual llvm::Expected<void *> allocate(int64_t bytes);
  virtual void release(void *pointer);
  virtual llvm::Error copyToDevice(void *device, const void *host, int64_t bytes);
  virtual llvm::Error copyToHost(void *host, const void *device, int64_t bytes);
  /// The stream that functions run on (NULL on the host).
  virtual void *getStream() { return nullptr; }
  /// What went wrong when a function has failed, "" when there is no text.
  virtual std::string getErrorText() { return ""; }
  /// Waits for everything on the stream.
  virtual llvm::Error synchronize();
};

/// A target of rudnn-run and rudnn-compile. A new one is a class and a line in
/// Targets.cpp.
class Target {
public:
  virtual ~Target();

  /// As in --target.
  virtual std::string getName() const = 0;

  /// From the output of rudnn-emit-entries to the LLVM dialect of the host
  /// (kernels embedded). The entry functions keep their names; each may take two
  /// pointers more (workspace, stream), return an i32 status, and have a function
  /// `@f__workspace_bytes(arguments...) -> i64` beside it.
  virtual void buildPipeline(mlir::OpPassManager &pm) const = 0;

  /// Opens what runs a compiled function here; an error says what is missing.
  virtual llvm::Expected<std::unique_ptr<TargetDevice>> openDevice() const = 0;

  /// File extensions that rudnn-compile can write, without the dot.
  virtual std::vector<std::string> getOutputKinds() const = 0;

  /// A table of the compiled kernels for --report; an error where the target has
  /// none.
  virtual llvm::Expected<std::string> getReport(mlir::Operation *module) const;
};

/// Finds a target; an error lists the known ones.
llvm::Expected<std::unique_ptr<Target>> createTarget(llvm::StringRef name);

} // namespace rudnn

#endif // RUDNN_COMPILER_TARGET_H
