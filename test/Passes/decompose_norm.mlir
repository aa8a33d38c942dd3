// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -verify-each -split-input-file -verify-diagnostics | FileCheck %s

// A softmax is a maximum, an exponential, a sum and a quotient.
// CHECK-LABEL: @softmax
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} outs(%arg1 : tensor<4x?xf16>)
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK-NOT: rudnn.
func.func @softmax(%x: tensor<4x?xf16>, %i: tensor<4x?xf16>) -> tensor<4x?xf16> {
  %y = rudnn.softmax ins(%x : tensor<4x?xf16>) outs(%i : tensor<4x?xf16>) -> tensor<4x?xf16>
  return %y : tensor<4x?xf16>
}

// -----

func.func @memref(%x: memref<4x8xf16>, %y: memref<4x8xf16>) {
  // expected-error @+1 {{can't be decomposed on memrefs, expected tensors (decompose before bufferization)}}
  rudnn.softmax ins(%x : memref<4x8xf16>) outs(%y : memref<4x8xf16>)
  return
}
