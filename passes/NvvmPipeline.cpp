//===- NvvmPipeline.cpp - The pipeline for NVIDIA GPUs -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace rudnn;

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Tensors: ops without a schedule become linalg and loops.
static void buildDecomposition(OpPassManager &pm,
                               const NvvmPipelineOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  cleanUp(pm);
  pm.addPass(createRudnnFormGemm());
  RudnnSelectStrategyOptions strategy;
  strategy.chip = options.chip;
  pm.addPass(createRudnnSelectStrategy(strategy));
  pm.addPass(createRudnnFlattenExperts());
  pm.addPass(createRudnnDecompose());
  pm.addPass(createLinalgElementwiseOpFusionPass());
  cleanUp(pm);
}

static void buildBufferization(OpPassManager &pm) {
  pm.addPass(createRudnnKeepCarriedValues());
  pm.addPass(createRudnnSeparateInsertions());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  cleanUp(pm);
}

/// Buffers: kernels, launches and the workspace.
static void buildKernels(OpPassManager &pm,
                         const NvvmPipelineOptions &options) {
  RudnnScheduleOptions schedule;
  schedule.chip = options.chip;
  pm.addPass(createRudnnSchedule(schedule));
  buildKernelPipeline(pm);
  pm.addPass(createConvertLinalgToParallelLoopsPass());
  pm.addPass(createForallToParallelLoopPass());
  cleanUp(pm);
  pm.addPass(createRudnnCarryInPlace());
  cleanUp(pm);
  pm.addPass(createRudnnCarrySums());
  pm.addPass(createRudnnOutlineKernels());
  cleanUp(pm);
  pm.addPass(createRudnnPlanWorkspace());
  cleanUp(pm);
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
}

static void buildDeviceCode(OpPassManager &pm,
                            const NvvmPipelineOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createRudnnExpandShapes());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  kernels.addPass(createConvertNVVMToLLVMPass());
  cleanUp(kernels);
  kernels.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createRudnnMergeKernels());
  pm.addPass(createRudnnDescribeKernels());
  pm.addPass(createRudnnLaunchToRuntime());
  buildKernelBinaryPipeline(pm, options.chip, options.format, options.toolkit);
  pm.addPass(createRudnnEmbedKernels());
}

static void buildHostCode(OpPassManager &pm) {
  pm.addPass(createRudnnExpandShapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  cleanUp(pm);
}

void rudnn::buildNvvmPipeline(OpPassManager &pm,
                              const NvvmPipelineOptions &options) {
  buildDecomposition(pm, options);
  buildBufferization(pm);
  buildKernels(pm, options);
  buildDeviceCode(pm, options);
  buildHostCode(pm);
}
