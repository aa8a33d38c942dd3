// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @rms_norm
// CHECK: rudnn.rms_norm ins(%{{.*}}, %{{.*}} : tensor<?x512xbf16>, tensor<512xf32>) outs(%{{.*}} : tensor<?x512xbf16>) {eps = 9.9999999999999995E-7 : f64} -> tensor<?x512xbf16>
func.func @rms_norm(%x: tensor<?x512xbf16>, %g: tensor<512xf32>, %i: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %y = rudnn.rms_norm ins(%x, %g : tensor<?x512xbf16>, tensor<512xf32>)
      outs(%i : tensor<?x512xbf16>) {eps = 1.0e-6 : f64} -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}

// CHECK-LABEL: @add_rms_norm
// CHECK: rudnn.add_rms_norm ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>) outs(%{{.*}}, %{{.*}} : tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>, tensor<?x8xbf16>
func.func @add_rms_norm(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>) {
  %0:2 = rudnn.add_rms_norm ins(%x, %x, %g : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>)
      outs(%x, %x : tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>, tensor<?x8xbf16>
  return %0#0, %0#1 : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// CHECK-LABEL: @layer_norm
// CHECK: rudnn.layer_norm ins(%{{.*}}, %{{.*}} : tensor<2x3x8xf32>, tensor<8xf32>) beta(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK: rudnn.layer_norm ins(%{{.*}}, %{{.*}} : tensor<2x3x8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
func.func @layer_norm(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0 = rudnn.layer_norm ins(%x, %g : tensor<2x3x8xf32>, tensor<8xf32>) beta(%b : tensor<8xf32>)
      outs(%x : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = rudnn.layer_norm ins(%0, %g : tensor<2x3x8xf32>, tensor<8xf32>)
      outs(%x : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// CHECK-LABEL: @softmax_memref
// CHECK: rudnn.softmax ins(%{{.*}} : memref<4x?xf16>) outs(%{{.*}} : memref<4x?xf16>)
func.func @softmax_memref(%x: memref<4x?xf16>, %y: memref<4x?xf16>) {
  rudnn.softmax ins(%x : memref<4x?xf16>) outs(%y : memref<4x?xf16>)
  return
}
