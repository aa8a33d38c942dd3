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

// CHECK-LABEL: @backward
// CHECK: rudnn.attention_backward ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x6x?x8xbf16>, tensor<2x2x?x8xbf16>, tensor<2x2x?x4xbf16>, tensor<2x6x?x4xbf16>, tensor<2x6x?x4xbf16>, tensor<2x6x?xf32>)
// CHECK-SAME: bias(%{{.*}} : tensor<1x6x1x?xf32>) sinks(%{{.*}} : tensor<6xf32>) query_offset(%{{[a-z0-9]+}})
// CHECK-SAME: outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<2x6x?x8xbf16>, tensor<2x2x?x8xf32>, tensor<2x2x?x4xbf16>, tensor<1x6x1x?xf32>, tensor<6xf32>)
// CHECK-SAME: {bias_gradient, causal = #rudnn.causal<bottom_right>, sinks_gradient}
func.func @backward(%q: tensor<2x6x?x8xbf16>, %k: tensor<2x2x?x8xbf16>, %v: tensor<2x2x?x4xbf16>,
    %o: tensor<2x6x?x4xbf16>, %l: tensor<2x6x?xf32>, %b: tensor<1x6x1x?xf32>, %s: tensor<6xf32>, %off: index,
    %dk: tensor<2x2x?x8xf32>) -> tensor<2x2x?x8xf32> {
  %r:5 = rudnn.attention_backward
      ins(%q, %k, %v, %o, %o, %l : tensor<2x6x?x8xbf16>, tensor<2x2x?x8xbf16>, tensor<2x2x?x4xbf16>,
          tensor<2x6x?x4xbf16>, tensor<2x6x?x4xbf16>, tensor<2x6x?xf32>)
      bias(%b : tensor<1x6x1x?xf32>) sinks(%s : tensor<6xf32>) query_offset(%off)
      outs(%q, %dk, %v, %b, %s : tensor<2x6x?x8xbf16>, tensor<2x2x?x8xf32>, tensor<2x2x?x4xbf16>,
          tensor<1x6x1x?xf32>, tensor<6xf32>)
      {bias_gradient, causal = #rudnn.causal<bottom_right>, sinks_gradient}
      -> tensor<2x6x?x8xbf16>, tensor<2x2x?x8xf32>, tensor<2x2x?x4xbf16>, tensor<1x6x1x?xf32>, tensor<6xf32>
  return %r#1 : tensor<2x2x?x8xf32>
}

// CHECK-LABEL: @merge
// CHECK: rudnn.merge_attention_states states(%{{.*}}, %{{.*}} : tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>) lses(%{{.*}}, %{{.*}} : tensor<1x2x?xf32>, tensor<1x2x?xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<1x2x?x8xf32>, tensor<1x2x?xf32>) {lse_base = #rudnn.log_base<two>} -> tensor<1x2x?x8xf32>, tensor<1x2x?xf32>
func.func @merge(%s: tensor<1x2x?x8xf16>, %l: tensor<1x2x?xf32>, %i: tensor<1x2x?x8xf32>) -> (tensor<1x2x?x8xf32>, tensor<1x2x?xf32>) {
  %r:2 = rudnn.merge_attention_states states(%s, %s : tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>)
      lses(%l, %l : tensor<1x2x?xf32>, tensor<1x2x?xf32>) outs(%i, %l : tensor<1x2x?x8xf32>, tensor<1x2x?xf32>)
      {lse_base = #rudnn.log_base<two>} -> tensor<1x2x?x8xf32>, tensor<1x2x?xf32>
  return %r#0, %r#1 : tensor<1x2x?x8xf32>, tensor<1x2x?xf32>
}
