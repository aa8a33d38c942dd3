//===- Passes.h - Passes and pipelines of rudnn -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_H
#define RUDNN_PASSES_H

#include "rudnn/Tile/TileDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace rudnn {

#define GEN_PASS_DECL
#include "rudnn/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "rudnn/Passes.h.inc"

struct CpuPipelineOptions
    : mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<unsigned> vectorBytes{
      *this, "vector-bytes",
      llvm::cl::desc("bytes of a vector register; 0: those of this machine"),
      llvm::cl::init(0)};
};

/// `rudnn-to-cpu`: a module of functions on tensors with rudnn and linalg ops to
/// the LLVM dialect for the host.
void buildCpuPipeline(mlir::OpPassManager &pm,
                      const CpuPipelineOptions &options = {});

struct NvvmPipelineOptions
    : public mlir::PassPipelineOptions<NvvmPipelineOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::init("sm_90a"),
                           llvm::cl::desc("GPU architecture: sm_80 to sm_90a")};
  Option<std::string> format{
      *this, "format", llvm::cl::init("bin"),
      llvm::cl::desc("of the kernels: bin (cubin, needs ptxas) or isa (PTX)")};
  Option<std::string> toolkit{
      *this, "toolkit", llvm::cl::init(""),
      llvm::cl::desc("folder of the CUDA toolkit (ptxas, libdevice)")};
};

/// `rudnn-to-nvvm`: functions as rudnn-emit-entries leaves them to kernels and the
/// LLVM dialect for the host, which launches them through librudnn_rt.
void buildNvvmPipeline(mlir::OpPassManager &pm,
                       const NvvmPipelineOptions &options);

/// Whether the op's `rudnn.strategy`, if it has one, is "schedule" or
/// "fallback"; an error of the op otherwise.
llvm::LogicalResult verifyStrategy(mlir::Operation *op);

/// `rudnn-kernels-to-nvvm`: the rudnn_tile kernels of gpu.modules to the LLVM dialect.
void buildKernelPipeline(mlir::OpPassManager &pm);
/// gpu.modules in the LLVM dialect to PTX (`isa`) or cubins (`bin`, with ptxas of the
/// toolkit or of PATH).
void buildKernelBinaryPipeline(mlir::OpPassManager &pm, llvm::StringRef chip,
                               llvm::StringRef format, llvm::StringRef toolkit);
void registerKernelPipelines();

/// Registers the named pipelines for textual pass pipelines.
void registerPipelines();

} // namespace rudnn

#endif // RUDNN_PASSES_H
