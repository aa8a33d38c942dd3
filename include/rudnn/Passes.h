//===- Passes.h - Passes and pipelines of rudnn -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_H
#define RUDNN_PASSES_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace rudnn {

#define GEN_PASS_DECL
#include "rudnn/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "rudnn/Passes.h.inc"

/// `rudnn-to-cpu`: a module of functions on tensors with rudnn and linalg ops to
/// the LLVM dialect for the host.
void buildCpuPipeline(mlir::OpPassManager &pm);

/// Registers the named pipelines for textual pass pipelines.
void registerPipelines();

} // namespace rudnn

#endif // RUDNN_PASSES_H
