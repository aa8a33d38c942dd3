//===- CudaTarget.h - NVIDIA GPUs -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_COMPILER_CUDATARGET_H
#define RUDNN_COMPILER_CUDATARGET_H

#include "rudnn/Compiler/Target.h"

namespace rudnn {

/// `cuda` (sm_90a, to run here), or a chip: sm_80, sm_86, sm_89, sm_90, sm_90a. Null
/// for other names.
std::unique_ptr<Target> createCudaTarget(llvm::StringRef name);

} // namespace rudnn

#endif // RUDNN_COMPILER_CUDATARGET_H
