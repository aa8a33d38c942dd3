// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @attention
// CHECK: rudnn.paged.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>)
// CHECK-SAME: pages(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x8x32xbf16>) {causal} -> tensor<?x8x32xbf16>
func.func @attention(%q: tensor<?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>, %v: tensor<?x16x2x32xbf16>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>,
    %o: tensor<?x8x32xbf16>) -> tensor<?x8x32xbf16> {
  %0 = rudnn.paged.attention ins(%q, %k, %v : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%o : tensor<?x8x32xbf16>) {causal} -> tensor<?x8x32xbf16>
  return %0 : tensor<?x8x32xbf16>
}

// CHECK-LABEL: @attention_all
// CHECK: rudnn.paged.attention
// CHECK-SAME: sinks(%{{.*}} : tensor<4xf32>) outs(%{{.*}}, %{{.*}} : tensor<3x4x17xf16>, tensor<3x4xf32>)
// CHECK-SAME: {causal, lse_base = #rudnn.log_base<two>, num_splits = 8 : i64, scale = 2.500000e-01 : f64, softcap = 5.000000e+01 : f64, window_left = 127 : i64, window_right = 0 : i64}
// CHECK-SAME: -> tensor<3x4x17xf16>, tensor<3x4xf32>
func.func @attention_all(%q: tensor<3x4x33xf16>, %k: tensor<6x4x2x33xf16>, %v: tensor<6x4x2x17xf16>,
    %t: tensor<2x2xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %sinks: tensor<4xf32>,
    %o: tensor<3x4x17xf16>, %lse: tensor<3x4xf32>) -> (tensor<3x4x17xf16>, tensor<3x4xf32>) {
  %0:2 = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x33xf16>, tensor<6x4x2x33xf16>, tensor<6x4x2x17xf16>)
      pages(%t, %l, %s, %p : tensor<2x2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      sinks(%sinks : tensor<4xf32>)
      outs(%o, %lse : tensor<3x4x17xf16>, tensor<3x4xf32>)
      {causal, scale = 0.25 : f64, softcap = 50.0 : f64, window_left = 127, window_right = 0,
       num_splits = 8, lse_base = #rudnn.log_base<two>} -> tensor<3x4x17xf16>, tensor<3x4xf32>
  return %0#0, %0#1 : tensor<3x4x17xf16>, tensor<3x4xf32>
}

// CHECK-LABEL: @attention_memref
// CHECK: rudnn.paged.attention {{.*}} outs(%{{.*}}, %{{.*}} : memref<?x4x8xf32>, memref<?x4xf32>){{$}}
func.func @attention_memref(%q: memref<?x4x8xf32>, %k: memref<?x?x4x8xf32>, %t: memref<?x?xi32>, %l: memref<?xi32>,
    %o: memref<?x4x8xf32>, %lse: memref<?x4xf32>) {
  rudnn.paged.attention ins(%q, %k, %k : memref<?x4x8xf32>, memref<?x?x4x8xf32>, memref<?x?x4x8xf32>)
      pages(%t, %l, %l, %l : memref<?x?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>)
      outs(%o, %lse : memref<?x4x8xf32>, memref<?x4xf32>)
  return
}

// CHECK-LABEL: @mla
// CHECK: rudnn.paged.mla ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x16x512xbf16>, tensor<?x16x64xbf16>, tensor<?x64x1x512xbf16>, tensor<?x64x1x64xbf16>)
// CHECK-SAME: pages(
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?x16x512xbf16>, tensor<?x16xf32>) {causal, num_splits = 4 : i64, scale = 1.000000e-01 : f64} -> tensor<?x16x512xbf16>, tensor<?x16xf32>
func.func @mla(%q: tensor<?x16x512xbf16>, %qp: tensor<?x16x64xbf16>, %c: tensor<?x64x1x512xbf16>, %kp: tensor<?x64x1x64xbf16>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>, %lse: tensor<?x16xf32>)
    -> (tensor<?x16x512xbf16>, tensor<?x16xf32>) {
  %0:2 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<?x16x512xbf16>, tensor<?x16x64xbf16>, tensor<?x64x1x512xbf16>, tensor<?x64x1x64xbf16>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%q, %lse : tensor<?x16x512xbf16>, tensor<?x16xf32>)
      {causal, scale = 0.1 : f64, num_splits = 4} -> tensor<?x16x512xbf16>, tensor<?x16xf32>
  return %0#0, %0#1 : tensor<?x16x512xbf16>, tensor<?x16xf32>
}

// CHECK-LABEL: @append
// CHECK: rudnn.paged.append ins(%{{.*}}, %{{.*}} : tensor<?x2x64xbf16>, tensor<?x2x32xbf16>) pages(
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>) -> tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>
func.func @append(%k: tensor<?x2x64xbf16>, %v: tensor<?x2x32xbf16>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>,
    %kc: tensor<?x16x2x64xbf16>, %vc: tensor<?x16x2x32xbf16>) -> (tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>) {
  %0:2 = rudnn.paged.append ins(%k, %v : tensor<?x2x64xbf16>, tensor<?x2x32xbf16>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%kc, %vc : tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>) -> tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>
  return %0#0, %0#1 : tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>
}
