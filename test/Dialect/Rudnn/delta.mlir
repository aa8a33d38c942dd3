// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @recurrent
// CHECK: rudnn.gated_delta_rule ins(%{{.*}} : tensor<2x4x?x16xbf16>, tensor<2x4x?x16xbf16>, tensor<2x8x?x32xbf16>, tensor<2x8x?xbf16>, tensor<2x8x?xf32>, tensor<2x8x16x32xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>) {scale = 5.000000e-01 : f64} -> tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
func.func @recurrent(%q: tensor<2x4x?x16xbf16>, %v: tensor<2x8x?x32xbf16>, %beta: tensor<2x8x?xbf16>,
    %g: tensor<2x8x?xf32>, %s: tensor<2x8x16x32xf32>) -> (tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>) {
  %o, %f = rudnn.gated_delta_rule ins(%q, %q, %v, %beta, %g, %s : tensor<2x4x?x16xbf16>, tensor<2x4x?x16xbf16>,
      tensor<2x8x?x32xbf16>, tensor<2x8x?xbf16>, tensor<2x8x?xf32>, tensor<2x8x16x32xf32>)
      outs(%v, %s : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>) {scale = 0.5 : f64}
      -> tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
  return %o, %f : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
}

// CHECK-LABEL: @chunk
// CHECK: rudnn.chunk_gated_delta_rule ins(%{{.*}} : memref<1x4x130x16xf32>, memref<1x4x130x16xf32>, memref<1x4x130x32xf32>, memref<1x4x130xf32>, memref<1x4x130xf32>, memref<1x4x16x32xf32>)
// CHECK-SAME: outs(%{{.*}} : memref<1x4x130x32xf32>, memref<1x4x16x32xf32>) {chunk_size = 32 : i64}
func.func @chunk(%q: memref<1x4x130x16xf32>, %v: memref<1x4x130x32xf32>, %beta: memref<1x4x130xf32>,
    %s: memref<1x4x16x32xf32>, %o: memref<1x4x130x32xf32>, %f: memref<1x4x16x32xf32>) {
  rudnn.chunk_gated_delta_rule ins(%q, %q, %v, %beta, %beta, %s : memref<1x4x130x16xf32>, memref<1x4x130x16xf32>,
      memref<1x4x130x32xf32>, memref<1x4x130xf32>, memref<1x4x130xf32>, memref<1x4x16x32xf32>)
      outs(%o, %f : memref<1x4x130x32xf32>, memref<1x4x16x32xf32>) {chunk_size = 32 : i64}
  return
}
