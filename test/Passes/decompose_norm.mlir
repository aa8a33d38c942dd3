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

// The sum is not stored in f32: each loop adds again.
// CHECK-LABEL: @add_rms_norm
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} outs(%arg3 : tensor<4x?xf16>)
// CHECK: linalg.generic {{.*}} outs(%arg4 : tensor<4x?xf16>)
// CHECK: arith.addf
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// CHECK-NOT: rudnn.
func.func @add_rms_norm(%x: tensor<4x?xf16>, %r: tensor<4x?xf16>, %g: tensor<?xf32>, %y: tensor<4x?xf16>,
    %h: tensor<4x?xf16>) -> (tensor<4x?xf16>, tensor<4x?xf16>) {
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<4x?xf16>, tensor<4x?xf16>, tensor<?xf32>)
      outs(%y, %h : tensor<4x?xf16>, tensor<4x?xf16>) -> tensor<4x?xf16>, tensor<4x?xf16>
  return %0#0, %0#1 : tensor<4x?xf16>, tensor<4x?xf16>
}

// -----

func.func @memref(%x: memref<4x8xf16>, %y: memref<4x8xf16>) {
  // expected-error @+1 {{can't be decomposed on memrefs, expected tensors (decompose before bufferization)}}
  rudnn.softmax ins(%x : memref<4x8xf16>) outs(%y : memref<4x8xf16>)
  return
}
