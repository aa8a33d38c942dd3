// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @plain
// CHECK: rudnn.ragged_attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<?x4x32xf32>)
// CHECK-SAME: offsets(%{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xi32>) outs(%{{.*}} : tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
func.func @plain(%q: tensor<?x4x64xf32>, %k: tensor<?x4x64xf32>, %v: tensor<?x4x32xf32>, %a: tensor<?xi32>,
    %i: tensor<?x4x32xf32>) -> tensor<?x4x32xf32> {
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<?x4x32xf32>)
      offsets(%a, %a : tensor<?xi32>, tensor<?xi32>) outs(%i : tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  return %o : tensor<?x4x32xf32>
}

// CHECK-LABEL: @every_option
// CHECK: rudnn.ragged_attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x6x64xbf16>, tensor<9x2x64xbf16>, tensor<9x2x64xbf16>)
// CHECK-SAME: offsets(%{{.*}}, %{{.*}} : tensor<4xi32>, tensor<?xi32>) sinks(%{{.*}} : tensor<6xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<8x6x64xbf16>, tensor<6x8xf32>)
// CHECK-SAME: {causal = #rudnn.causal<top_left>, lse_base = #rudnn.log_base<two>, scale = 1.000000e+00 : f64, softcap = 3.000000e+01 : f64, window_left = 7 : i64, window_right = 3 : i64}
// CHECK-SAME: -> tensor<8x6x64xbf16>, tensor<6x8xf32>
func.func @every_option(%q: tensor<8x6x64xbf16>, %k: tensor<9x2x64xbf16>, %a: tensor<4xi32>, %b: tensor<?xi32>,
    %s: tensor<6xf32>, %l: tensor<6x8xf32>) -> (tensor<8x6x64xbf16>, tensor<6x8xf32>) {
  %o:2 = rudnn.ragged_attention ins(%q, %k, %k : tensor<8x6x64xbf16>, tensor<9x2x64xbf16>, tensor<9x2x64xbf16>)
      offsets(%a, %b : tensor<4xi32>, tensor<?xi32>) sinks(%s : tensor<6xf32>)
      outs(%q, %l : tensor<8x6x64xbf16>, tensor<6x8xf32>)
      {causal = #rudnn.causal<top_left>, lse_base = #rudnn.log_base<two>, scale = 1.0 : f64, softcap = 30.0 : f64,
       window_left = 7, window_right = 3} -> tensor<8x6x64xbf16>, tensor<6x8xf32>
  return %o#0, %o#1 : tensor<8x6x64xbf16>, tensor<6x8xf32>
}

// CHECK-LABEL: @memref
// CHECK: rudnn.ragged_attention ins({{.*}}) offsets(%{{.*}}, %{{.*}} : memref<3xi32>, memref<3xi32>) outs(%{{.*}}, %{{.*}} : memref<7x4x8xf16>, memref<4x7xf32>) {causal = #rudnn.causal<bottom_right>}
func.func @memref(%q: memref<7x4x8xf16>, %a: memref<3xi32>, %o: memref<7x4x8xf16>, %l: memref<4x7xf32>) {
  rudnn.ragged_attention ins(%q, %q, %q : memref<7x4x8xf16>, memref<7x4x8xf16>, memref<7x4x8xf16>)
      offsets(%a, %a : memref<3xi32>, memref<3xi32>) outs(%o, %l : memref<7x4x8xf16>, memref<4x7xf32>)
      {causal = #rudnn.causal<bottom_right>}
  return
}

// CHECK-LABEL: @backward
// CHECK: rudnn.ragged_attention_backward ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x6x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x4xbf16>, tensor<?x6x4xbf16>, tensor<?x6x4xbf16>, tensor<6x?xf32>)
// CHECK-SAME: offsets(%{{.*}}, %{{.*}} : tensor<5xi32>, tensor<5xi32>) sinks(%{{.*}} : tensor<6xf32>)
// CHECK-SAME: outs({{.*}} : tensor<?x6x8xf32>, tensor<?x2x8xbf16>, tensor<?x2x4xbf16>, tensor<6xf32>) {sinks_gradient, window_left = 3 : i64}
func.func @backward(%q: tensor<?x6x8xbf16>, %k: tensor<?x2x8xbf16>, %v: tensor<?x2x4xbf16>, %o: tensor<?x6x4xbf16>,
    %l: tensor<6x?xf32>, %a: tensor<5xi32>, %s: tensor<6xf32>, %dq: tensor<?x6x8xf32>) -> tensor<6xf32> {
  %r:4 = rudnn.ragged_attention_backward ins(%q, %k, %v, %o, %o, %l : tensor<?x6x8xbf16>, tensor<?x2x8xbf16>,
          tensor<?x2x4xbf16>, tensor<?x6x4xbf16>, tensor<?x6x4xbf16>, tensor<6x?xf32>)
      offsets(%a, %a : tensor<5xi32>, tensor<5xi32>) sinks(%s : tensor<6xf32>)
      outs(%dq, %k, %v, %s : tensor<?x6x8xf32>, tensor<?x2x8xbf16>, tensor<?x2x4xbf16>, tensor<6xf32>)
      {sinks_gradient, window_left = 3} -> tensor<?x6x8xf32>, tensor<?x2x8xbf16>, tensor<?x2x4xbf16>, tensor<6xf32>
  return %r#3 : tensor<6xf32>
}
