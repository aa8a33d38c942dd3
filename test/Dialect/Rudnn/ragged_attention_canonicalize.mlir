// RUN: rudnn-opt %s -canonicalize -split-input-file -verify-each | FileCheck %s

// The default scale, the window beside causal, sinks of -inf and an lse that nobody reads go.
// CHECK-LABEL: @defaults
// CHECK: %[[O:.*]] = rudnn.ragged_attention
// CHECK-SAME: offsets(%arg1, %arg1 : tensor<3xi32>, tensor<3xi32>) outs(%arg0 : tensor<8x4x16xf32>)
// CHECK-SAME: {causal = #rudnn.causal<bottom_right>} -> tensor<8x4x16xf32>
// CHECK: return %[[O]]
func.func @defaults(%q: tensor<8x4x16xf32>, %a: tensor<3xi32>, %l: tensor<4x8xf32>) -> tensor<8x4x16xf32> {
  %s = arith.constant dense<0xFF800000> : tensor<4xf32>
  %o:2 = rudnn.ragged_attention ins(%q, %q, %q : tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>)
      offsets(%a, %a : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<4xf32>) outs(%q, %l : tensor<8x4x16xf32>, tensor<4x8xf32>)
      {causal = #rudnn.causal<bottom_right>, window_right = 5, scale = 0.25 : f64, lse_base = #rudnn.log_base<two>}
      -> tensor<8x4x16xf32>, tensor<4x8xf32>
  return %o#0 : tensor<8x4x16xf32>
}

// -----

// Another scale, a window without causal and other sinks stay.
// CHECK-LABEL: @kept
// CHECK: rudnn.ragged_attention {{.*}} sinks(%{{.*}} : tensor<4xf32>) {{.*}} {scale = 1.250000e-01 : f64, window_right = 5 : i64}
func.func @kept(%q: tensor<8x4x16xf32>, %a: tensor<3xi32>) -> tensor<8x4x16xf32> {
  %s = arith.constant dense<1.0> : tensor<4xf32>
  %o = rudnn.ragged_attention ins(%q, %q, %q : tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>)
      offsets(%a, %a : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<4xf32>) outs(%q : tensor<8x4x16xf32>)
      {window_right = 5, scale = 0.125 : f64} -> tensor<8x4x16xf32>
  return %o : tensor<8x4x16xf32>
}

// -----

// Without keys: 0 and -inf.
// CHECK-LABEL: @no_keys
// CHECK-NOT: rudnn.ragged_attention
// CHECK-DAG: linalg.fill ins(%{{.*}} : f32) outs(%arg0 : tensor<8x4x16xf32>)
// CHECK-DAG: linalg.fill ins(%{{.*}} : f32) outs(%arg3 : tensor<4x8xf32>)
func.func @no_keys(%q: tensor<8x4x16xf32>, %k: tensor<0x4x16xf32>, %a: tensor<3xi32>, %l: tensor<4x8xf32>)
    -> (tensor<8x4x16xf32>, tensor<4x8xf32>) {
  %o:2 = rudnn.ragged_attention ins(%q, %k, %k : tensor<8x4x16xf32>, tensor<0x4x16xf32>, tensor<0x4x16xf32>)
      offsets(%a, %a : tensor<3xi32>, tensor<3xi32>) outs(%q, %l : tensor<8x4x16xf32>, tensor<4x8xf32>)
      -> tensor<8x4x16xf32>, tensor<4x8xf32>
  return %o#0, %o#1 : tensor<8x4x16xf32>, tensor<4x8xf32>
}

// -----

// A gradient of the sinks that nobody reads.
// CHECK-LABEL: @dead_dsinks
// CHECK: rudnn.ragged_attention_backward
// CHECK-SAME: sinks(%{{.*}} : tensor<4xf32>) outs({{.*}} : tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>) ->
func.func @dead_dsinks(%q: tensor<8x4x16xf32>, %a: tensor<3xi32>, %l: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<8x4x16xf32> {
  %r:4 = rudnn.ragged_attention_backward ins(%q, %q, %q, %q, %q, %l : tensor<8x4x16xf32>, tensor<8x4x16xf32>,
          tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %a : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<4xf32>)
      outs(%q, %q, %q, %s : tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4xf32>) {sinks_gradient}
      -> tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4xf32>
  return %r#0 : tensor<8x4x16xf32>
}
