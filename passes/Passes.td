//===- Passes.td - Passes of rudnn -------------------------*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_TD
#define RUDNN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Graph/: on rudnn ops, any target
//===----------------------------------------------------------------------===//

def RudnnDecompose : Pass<"rudnn-decompose"> {
  let summary = "Replace every rudnn op on tensors by linalg, scf and tensor code";
  let description = [{
    Uses each op's `decomposeOperation`, the reference meaning of the op and the
    path of the CPU target. An op that can't be decomposed (operands on memrefs)
    is an error.

    ```mlir
    %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    becomes a maximum, an exponential, a sum and a quotient, each a `linalg.generic`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def RudnnLowerAssertions : Pass<"rudnn-lower-assertions"> {
  let summary = "Turn cf.assert into a message on the standard error and an abort";
  let description = [{
    Runs where control flow is branches (after `convert-scf-to-cf`), before the
    conversion of `cf` to LLVM. A failing `cf.assert`, such as those of
    `generate-runtime-verification`, writes its message with `write(2, ..)` and
    calls `abort()`; the message reaches pipes and files too.

    ```mlir
    cf.assert %good, "an expert id in ids is out of range"
    ```

    becomes a branch to a block that writes, aborts and doesn't return.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// Host/: the host side of a compiled module
//===----------------------------------------------------------------------===//

def RudnnEmitEntries : Pass<"rudnn-emit-entries"> {
  let summary = "Give public functions the calling convention of an artifact";
  let description = [{
    Every public function `@f` on tensors and scalars gets its arguments and its
    results in buffers of the caller (`include/rudnn/Runtime/Abi.h`). Beside it
    `@f__result_shapes` writes the extents of the results, computed from the
    extents and scalars of the arguments alone; a function whose result extents
    depend on tensor data is refused. Functions that other functions call keep
    their signature in a private copy. Runs first, on any target.

    ```mlir
    func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
    ```

    becomes

    ```mlir
    func.func @f(%x: memref<?x4xf32>, %result: memref<?x4xf32>)
    func.func @f__result_shapes(%x: memref<?x4xf32>, %extents: !llvm.ptr)
    ```

    where `%result` is written by `bufferization.materialize_in_destination`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif // RUDNN_PASSES_TD
