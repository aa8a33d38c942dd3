//===- EmulatorRuntime.h - Compiled host code on the emulator ---*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of rudnn/Runtime/Launch.h with the emulator as the device, for
// a program that compiles host code itself: it gives runtimeSymbols() to its
// JIT and so keeps librudnn_rt's functions of the same names for the GPU. The
// data of an image is LLVM assembly or bitcode of an NVPTX module (a gpu.binary
// of the format "offload"). Device memory is host memory; launches are over
// when they return.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_EMULATORRUNTIME_H
#define RUDNN_EMULATORRUNTIME_H

#include "rudnn/Emulator.h"

namespace rudnn::emulator {

/// How launches of the calling thread run, and what they counted.
struct Session {
  Options options;
  /// What kernels may access: arguments, results, workspace. Empty: unchecked.
  std::vector<Buffer> buffers;
  uint64_t launches = 0;
  Statistics totals;
};

/// Makes `session` the calling thread's; null: synchronous and unchecked.
void setSession(Session *session);

/// Text of the calling thread's last failure (rudnn_rt_error_text).
std::string lastError();

struct RuntimeSymbol {
  const char *name; ///< e.g. "rudnn_rt_launch"
  void *address;
};
llvm::ArrayRef<RuntimeSymbol> runtimeSymbols();

} // namespace rudnn::emulator

#endif // RUDNN_EMULATORRUNTIME_H
