// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @plain
// CHECK: rudnn.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x32xf32>) outs(%{{.*}} : tensor<2x4x?x32xf32>) -> tensor<2x4x?x32xf32>
func.func @plain(%q: tensor<2x4x?x64xf32>, %k: tensor<2x4x?x64xf32>, %v: tensor<2x4x?x32xf32>,
    %i: tensor<2x4x?x32xf32>) -> tensor<2x4x?x32xf32> {
  %o = rudnn.attention ins(%q, %k, %v : tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x32xf32>)
      outs(%i : tensor<2x4x?x32xf32>) -> tensor<2x4x?x32xf32>
  return %o : tensor<2x4x?x32xf32>
}

// CHECK-LABEL: @every_option
// CHECK: rudnn.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x6x8x64xbf16>, tensor<?x2x9x64xbf16>, tensor<?x2x9x64xbf16>)
// CHECK-SAME: mask(%{{.*}} : tensor<?x1x1x9xi1>) bias(%{{.*}} : tensor<1x6x8x9xf32>) sinks(%{{.*}} : tensor<6xf32>)
// CHECK-SAME: query_offset(%{{.*}}) outs(%{{.*}}, %{{.*}} : tensor<?x6x8x64xbf16>, tensor<?x6x8xf32>)
// CHECK-SAME: {causal = #rudnn.causal<top_left>, lse_base = #rudnn.log_base<two>, scale = 1.000000e+00 : f64, softcap = 3.000000e+01 : f64, window_left = 7 : i64, window_right = 3 : i64}
// CHECK-SAME: -> tensor<?x6x8x64xbf16>, tensor<?x6x8xf32>
func.func @every_option(%q: tensor<?x6x8x64xbf16>, %k: tensor<?x2x9x64xbf16>, %v: tensor<?x2x9x64xbf16>,
    %m: tensor<?x1x1x9xi1>, %b: tensor<1x6x8x9xf32>, %s: tensor<6xf32>, %off: index,
    %i: tensor<?x6x8x64xbf16>, %l: tensor<?x6x8xf32>) -> (tensor<?x6x8x64xbf16>, tensor<?x6x8xf32>) {
  %o:2 = rudnn.attention ins(%q, %k, %v : tensor<?x6x8x64xbf16>, tensor<?x2x9x64xbf16>, tensor<?x2x9x64xbf16>)
      mask(%m : tensor<?x1x1x9xi1>) bias(%b : tensor<1x6x8x9xf32>) sinks(%s : tensor<6xf32>) query_offset(%off)
      outs(%i, %l : tensor<?x6x8x64xbf16>, tensor<?x6x8xf32>)
      {causal = #rudnn.causal<top_left>, lse_base = #rudnn.log_base<two>, scale = 1.0 : f64, softcap = 30.0 : f64,
       window_left = 7, window_right = 3} -> tensor<?x6x8x64xbf16>, tensor<?x6x8xf32>
  return %o#0, %o#1 : tensor<?x6x8x64xbf16>, tensor<?x6x8xf32>
}

// CHECK-LABEL: @memref
// CHECK: rudnn.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<1x4x3x8xf16>, memref<1x4x5x8xf16>, memref<1x4x5x8xf16>) outs(%{{.*}}, %{{.*}} : memref<1x4x3x8xf16>, memref<1x4x3xf32>) {causal = #rudnn.causal<bottom_right>}
func.func @memref(%q: memref<1x4x3x8xf16>, %k: memref<1x4x5x8xf16>, %v: memref<1x4x5x8xf16>,
    %o: memref<1x4x3x8xf16>, %l: memref<1x4x3xf32>) {
  rudnn.attention ins(%q, %k, %v : memref<1x4x3x8xf16>, memref<1x4x5x8xf16>, memref<1x4x5x8xf16>)
      outs(%o, %l : memref<1x4x3x8xf16>, memref<1x4x3xf32>) {causal = #rudnn.causal<bottom_right>}
  return
}
