//===- Pipelines.cpp - The named pipelines -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace rudnn;

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Tensors: fused, tiled, decomposed, in parallel loops.
static void buildTiling(OpPassManager &pm) {
  pm.addPass(createRudnnIgnoreStrategy());
  pm.addPass(createInlinerPass());
  cleanUp(pm);
  pm.addPass(createRudnnSplitSequences());
  pm.addPass(createRudnnPromoteAccumulators());
  pm.addPass(createRudnnFuseElementwise());
  cleanUp(pm);
  RudnnTileParallelOptions onlyRudnn;
  onlyRudnn.onlyRudnn = true;
  pm.addPass(createRudnnTileParallel(onlyRudnn));
  pm.addPass(createRudnnDecompose());
  pm.addPass(createRudnnPromoteAccumulators());
  pm.addPass(createRudnnFuseElementwise());
  cleanUp(pm);
  pm.addPass(createRudnnTileParallel());
  cleanUp(pm);
  pm.addPass(createRudnnKeepCarriedValues());
}

/// Tensors: the inner loops on vectors.
static void buildVectorization(OpPassManager &pm,
                               const rudnn::CpuPipelineOptions &options) {
  RudnnVectorizeContractionsOptions contractions;
  contractions.vectorBytes = options.vectorBytes;
  pm.addPass(createRudnnVectorizeContractions(contractions));
  RudnnVectorizeOptions loops;
  loops.vectorBytes = options.vectorBytes;
  pm.addPass(createRudnnVectorize(loops));
  cleanUp(pm);
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createRudnnExpandMath());
}

/// Tensors to buffers; results to buffers of the caller.
static void buildBufferization(OpPassManager &pm) {
  pm.addPass(createRudnnProtectArguments());
  pm.addPass(createRudnnWidenWrites());
  pm.addPass(createRudnnSeparateInsertions());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // Loops may carry buffers that each iteration replaces.
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::BufferResultsToOutParamsPassOptions outParams;
  outParams.hoistStaticAllocs = true;
  outParams.hoistDynamicAllocs = true;
  outParams.modifyPublicFunctions = true;
  pm.addPass(bufferization::createBufferResultsToOutParamsPass(outParams));
  bufferization::buildBufferDeallocationPipeline(pm, {});
  pm.addPass(createConvertBufferizationToMemRefPass());
  cleanUp(pm);
}

/// Buffers and loops to OpenMP and the LLVM dialect.
static void buildLowering(OpPassManager &pm) {
  pm.addPass(createRudnnExpandCopies());
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createForallToParallelLoopPass());
  // Conversions of bf16 as integer code: C libraries lack them.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertVectorToSCFPass(
      VectorTransferToSCFOptions().enableFullUnroll()));
  cleanUp(pm);
  pm.addPass(createConvertSCFToOpenMPPass());
  pm.addPass(createRudnnScheduleThreads());
  // Also inlines the alloca scopes that the conversion leaves.
  cleanUp(pm);
  pm.addPass(createRudnnExpandShapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createRudnnLowerAssertions());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.x86Vector = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  cleanUp(pm);
}

void rudnn::buildCpuPipeline(OpPassManager &pm,
                             const CpuPipelineOptions &options) {
  buildTiling(pm);
  buildVectorization(pm, options);
  buildBufferization(pm);
  buildLowering(pm);
}

void rudnn::registerPipelines() {
  PassPipelineRegistration<CpuPipelineOptions>(
      "rudnn-to-cpu",
      "rudnn and linalg ops on tensors to the LLVM dialect for the host",
      buildCpuPipeline);
  PassPipelineRegistration<NvvmPipelineOptions>(
      "rudnn-to-nvvm",
      "functions with buffers of the caller to NVIDIA kernels and host code",
      buildNvvmPipeline);
}
