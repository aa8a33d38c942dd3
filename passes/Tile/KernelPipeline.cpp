//===- KernelPipeline.cpp - From rudnn_tile kernels to binaries -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void rudnn::buildKernelPipeline(OpPassManager &pm) {
  pm.addPass(createRudnnPlanSmem());
  pm.addPass(createRudnnAssignPhases());
  pm.addPass(createRudnnInsertFences());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createRudnnConvertTileToNVVM());
  // Before canonicalization, whose patterns of structured loops and branches
  // compare all pairs of the hundreds of values that a loop carries.
  pm.addNestedPass<gpu::GPUModuleOp>(createSCFToControlFlowPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createRudnnKernelToLLVM());
  kernels.addPass(createReconcileUnrealizedCastsPass());
}

void rudnn::buildKernelBinaryPipeline(OpPassManager &pm, StringRef chip,
                                      StringRef format, StringRef toolkit) {
  GpuNVVMAttachTargetOptions target;
  target.chip = chip.str();
  // .shared::cta destinations of bulk copies need PTX 8.6; older chips may have older
  // drivers.
  target.features = chip.ends_with("a") ? "+ptx88" : "+ptx80";
  target.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(target));
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = format.str();
  binary.toolkitPath = toolkit.str();
  pm.addPass(createGpuModuleToBinaryPass(binary));
}

namespace {
struct KernelOptions : PassPipelineOptions<KernelOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("The chip"),
                           llvm::cl::init("sm_90a")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("llvm (stop at the LLVM dialect), isa or bin"),
      llvm::cl::init("llvm")};
  Option<std::string> toolkit{
      *this, "toolkit", llvm::cl::desc("CUDA toolkit with ptxas (for bin)"),
      llvm::cl::init("")};
};
} // namespace

void rudnn::registerKernelPipelines() {
  PassPipelineRegistration<KernelOptions>(
      "rudnn-kernels-to-nvvm",
      "rudnn_tile kernels in gpu.module to the LLVM dialect, PTX or cubins",
      [](OpPassManager &pm, const KernelOptions &options) {
        buildKernelPipeline(pm);
        if (options.format != "llvm")
          buildKernelBinaryPipeline(pm, options.chip, options.format,
                                    options.toolkit);
      });
}
