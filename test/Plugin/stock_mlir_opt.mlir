// REQUIRES: uninstrumented
// The plugin gives an unmodified mlir-opt the dialect and the passes.
// RUN: mlir-opt %s --load-dialect-plugin=%rudnn_plugin | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%rudnn_plugin \
// RUN:   --pass-pipeline='builtin.module(func.func(rudnn-decompose))' | FileCheck %s --check-prefix=DECOMPOSE
// Without it the dialect is unknown.
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-LABEL: @softmax
// CHECK: rudnn.softmax
// DECOMPOSE-LABEL: @softmax
// DECOMPOSE-NOT: rudnn.
// DECOMPOSE: linalg.generic
// DECOMPOSE-NOT: rudnn.
// DECOMPOSE: return
// UNKNOWN: Dialect `rudnn' not found
func.func @softmax(%x: tensor<4x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
