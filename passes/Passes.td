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

#endif // RUDNN_PASSES_TD
