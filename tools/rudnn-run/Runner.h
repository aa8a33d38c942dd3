//===- Runner.h - Calls of compiled functions -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TOOLS_RUN_RUNNER_H
#define RUDNN_TOOLS_RUN_RUNNER_H

#include "rudnn/Compiler/Compiler.h"
#include "rudnn/Support/HostTensor.h"

#include <memory>
#include <optional>
#include <vector>

namespace rudnn {

/// The values of an argument; a scalar is an array of rank 0.
llvm::Expected<HostTensor> makeArgument(const ArgSignature &arg,
                                        llvm::StringRef spec);

/// One call of a function: buffers on the device, and what is in them.
class Call {
public:
  /// Copies the arguments to the device and asks the function for the shapes of
  /// its results and its workspace.
  static llvm::Expected<std::unique_ptr<Call>>
  create(const RudnnFunctionInfo &function, TargetDevice &device,
         const std::vector<HostTensor> &args);
  ~Call();

  /// Runs the function and waits for it.
  llvm::Error run();
  /// Starts the function.
  llvm::Error launch();
  /// The results after run().
  llvm::Expected<std::vector<HostTensor>> getResults();
  /// Bytes of all arguments and results.
  int64_t getNumBytes() const { return numBytes; }

private:
  Call(const RudnnFunctionInfo &function, TargetDevice &device)
      : function(function), device(device) {}
  llvm::Error addArguments(const std::vector<HostTensor> &args);
  llvm::Error addResults();
  /// A buffer with the contents of `host`, and its descriptor.
  llvm::Error addBuffer(const HostTensor &host, bool isScalar);

  const RudnnFunctionInfo &function;
  TargetDevice &device;
  std::vector<void *> buffers;
  std::vector<std::unique_ptr<int64_t[]>> descriptors;
  std::vector<void *> pointers;
  std::vector<HostTensor> results;
  void *workspace = nullptr;
  int64_t numBytes = 0;
};

} // namespace rudnn

#endif // RUDNN_TOOLS_RUN_RUNNER_H
