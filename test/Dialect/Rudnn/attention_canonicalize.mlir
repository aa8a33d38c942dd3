// RUN: rudnn-opt %s -canonicalize -split-input-file -verify-each | FileCheck %s

// An lse that nobody reads is not computed, and its base goes with it.
// CHECK-LABEL: @dead_lse
// CHECK: %[[O:.*]] = rudnn.attention ins
// CHECK-SAME: outs(%arg1 : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
// CHECK: return %[[O]]
func.func @dead_lse(%q: tensor<1x4x8x16xf32>, %i: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>) -> tensor<1x4x8x16xf32> {
  %o:2 = rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      outs(%i, %l : tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) {lse_base = #rudnn.log_base<two>}
      -> tensor<1x4x8x16xf32>, tensor<1x4x8xf32>
  return %o#0 : tensor<1x4x8x16xf32>
}

// -----

// The default scale, 1/sqrt(16), is left out; another one stays.
// CHECK-LABEL: @default_scale
// CHECK: rudnn.attention ins
// CHECK-NOT: scale
// CHECK: rudnn.attention ins{{.*}} {scale = 1.250000e-01 : f64}
func.func @default_scale(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %o = rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      outs(%q : tensor<1x4x8x16xf32>) {scale = 0.25 : f64} -> tensor<1x4x8x16xf32>
  %p = rudnn.attention ins(%o, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      outs(%q : tensor<1x4x8x16xf32>) {scale = 0.125 : f64} -> tensor<1x4x8x16xf32>
  return %p : tensor<1x4x8x16xf32>
}

// -----

// A mask of false, a bias of 0 and sinks of -inf change nothing.
// CHECK-LABEL: @neutral_operands
// CHECK: rudnn.attention ins(%arg0, %arg0, %arg0 : {{.*}}) outs
func.func @neutral_operands(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %m = arith.constant dense<false> : tensor<1x1x8x8xi1>
  %b = arith.constant dense<0.0> : tensor<1x4x8x8xf32>
  %minus = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.fill ins(%minus : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %o = rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      mask(%m : tensor<1x1x8x8xi1>) bias(%b : tensor<1x4x8x8xf32>) sinks(%s : tensor<4xf32>)
      outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %o : tensor<1x4x8x16xf32>
}

// -----

// A mask of true: nothing is seen.
// CHECK-LABEL: @mask_of_true
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[O:.*]] = linalg.fill ins(%[[ZERO]] : f16) outs(%arg1 : tensor<1x4x?x16xf16>)
// CHECK-DAG: %[[L:.*]] = linalg.fill ins(%[[INF]] : f32) outs(%arg2 : tensor<1x4x?xf32>)
// CHECK: return %[[O]], %[[L]]
func.func @mask_of_true(%q: tensor<1x4x?x16xf16>, %i: tensor<1x4x?x16xf16>, %l: tensor<1x4x?xf32>) -> (tensor<1x4x?x16xf16>, tensor<1x4x?xf32>) {
  %m = arith.constant dense<true> : tensor<1x1x1x1xi1>
  %o:2 = rudnn.attention ins(%q, %q, %q : tensor<1x4x?x16xf16>, tensor<1x4x?x16xf16>, tensor<1x4x?x16xf16>)
      mask(%m : tensor<1x1x1x1xi1>) outs(%i, %l : tensor<1x4x?x16xf16>, tensor<1x4x?xf32>) -> tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
  return %o#0, %o#1 : tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
}

// -----

// With sinks the lse is theirs: the op stays.
// CHECK-LABEL: @mask_of_true_sinks
// CHECK: rudnn.attention
func.func @mask_of_true_sinks(%q: tensor<1x4x8x16xf32>, %s: tensor<4xf32>, %l: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %m = arith.constant dense<true> : tensor<1x1x1x1xi1>
  %o:2 = rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      mask(%m : tensor<1x1x1x1xi1>) sinks(%s : tensor<4xf32>) outs(%q, %l : tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x8xf32>
  return %o#1 : tensor<1x4x8xf32>
}

// -----

// No keys.
// CHECK-LABEL: @no_keys
// CHECK-NOT: rudnn.attention
// CHECK: linalg.fill
func.func @no_keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x4x0x16xf32>) -> tensor<1x4x8x16xf32> {
  %o = rudnn.attention ins(%q, %k, %k : tensor<1x4x8x16xf32>, tensor<1x4x0x16xf32>, tensor<1x4x0x16xf32>)
      outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %o : tensor<1x4x8x16xf32>
}

// -----

// The only row stands at the last key: causal says nothing, the left window stays.
// CHECK-LABEL: @causal_row
// CHECK: rudnn.attention {{.*}} {window_left = 7 : i64}
func.func @causal_row(%q: tensor<1x4x1x16xf32>, %k: tensor<1x4x?x16xf32>) -> tensor<1x4x1x16xf32> {
  %o = rudnn.attention ins(%q, %k, %k : tensor<1x4x1x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>)
      outs(%q : tensor<1x4x1x16xf32>) {causal = #rudnn.causal<bottom_right>, window_left = 7} -> tensor<1x4x1x16xf32>
  return %o : tensor<1x4x1x16xf32>
}

// -----

// From the top left, or from a given offset, the row need not see every key.
// CHECK-LABEL: @causal_row_elsewhere
// CHECK: rudnn.attention {{.*}} {causal = #rudnn.causal<top_left>}
// CHECK: rudnn.attention {{.*}} query_offset(%{{.*}}) {{.*}} {causal = #rudnn.causal<bottom_right>}
func.func @causal_row_elsewhere(%q: tensor<1x4x1x16xf32>, %k: tensor<1x4x?x16xf32>, %p: index) -> tensor<1x4x1x16xf32> {
  %o = rudnn.attention ins(%q, %k, %k : tensor<1x4x1x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>)
      outs(%q : tensor<1x4x1x16xf32>) {causal = #rudnn.causal<top_left>} -> tensor<1x4x1x16xf32>
  %r = rudnn.attention ins(%o, %k, %k : tensor<1x4x1x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>) query_offset(%p)
      outs(%q : tensor<1x4x1x16xf32>) {causal = #rudnn.causal<bottom_right>} -> tensor<1x4x1x16xf32>
  return %r : tensor<1x4x1x16xf32>
}

// -----

// Causal bounds the right side already; an offset of Sk - Sq is the default.
// CHECK-LABEL: @spelled_out
// CHECK: rudnn.attention ins({{.*}}) outs({{.*}}) {causal = #rudnn.causal<bottom_right>}
func.func @spelled_out(%q: tensor<1x4x8x16xf32>, %k: tensor<1x4x12x16xf32>) -> tensor<1x4x8x16xf32> {
  %four = arith.constant 4 : index
  %o = rudnn.attention ins(%q, %k, %k : tensor<1x4x8x16xf32>, tensor<1x4x12x16xf32>, tensor<1x4x12x16xf32>) query_offset(%four)
      outs(%q : tensor<1x4x8x16xf32>) {causal = #rudnn.causal<bottom_right>, window_right = 3} -> tensor<1x4x8x16xf32>
  return %o : tensor<1x4x8x16xf32>
}

// -----

// Gradients that nobody reads are not computed.
// CHECK-LABEL: @dead_gradients
// CHECK: %[[R:.*]]:3 = rudnn.attention_backward
// CHECK-NOT: _gradient
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @dead_gradients(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %b: tensor<1x4x8x8xf32>, %s: tensor<4xf32>)
    -> (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) {
  %r:5 = rudnn.attention_backward ins(%q, %q, %q, %q, %q, %l : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>,
      tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      bias(%b : tensor<1x4x8x8xf32>) sinks(%s : tensor<4xf32>)
      outs(%q, %q, %q, %b, %s : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>, tensor<4xf32>)
      {bias_gradient, sinks_gradient}
      -> tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>, tensor<4xf32>
  return %r#0, %r#1, %r#2 : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
}

// -----

// One of the two stays: dsinks moves up.
// CHECK-LABEL: @dead_bias_gradient
// CHECK: %[[R:.*]]:4 = rudnn.attention_backward
// CHECK-SAME: {sinks_gradient}
// CHECK: return %[[R]]#3
func.func @dead_bias_gradient(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %b: tensor<1x4x8x8xf32>, %s: tensor<4xf32>)
    -> tensor<4xf32> {
  %r:5 = rudnn.attention_backward ins(%q, %q, %q, %q, %q, %l : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>,
      tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      bias(%b : tensor<1x4x8x8xf32>) sinks(%s : tensor<4xf32>)
      outs(%q, %q, %q, %b, %s : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>, tensor<4xf32>)
      {bias_gradient, sinks_gradient}
      -> tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>, tensor<4xf32>
  return %r#4 : tensor<4xf32>
}

// -----

// Nothing seen, no gradients.
// CHECK-LABEL: @blind_gradients
// CHECK-NOT: rudnn.attention_backward
// CHECK-COUNT-3: linalg.fill
func.func @blind_gradients(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %i0: tensor<1x4x8x16xf32>, %i1: tensor<1x4x8x16xf32>, %i2: tensor<1x4x8x16xf32>)
    -> (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) {
  %m = arith.constant dense<true> : tensor<1x1x8x8xi1>
  %r:3 = rudnn.attention_backward ins(%q, %q, %q, %q, %q, %l : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>,
      tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) mask(%m : tensor<1x1x8x8xi1>)
      outs(%i0, %i1, %i2 : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      -> tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
  return %r#0, %r#1, %r#2 : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
}

// -----

// CHECK-LABEL: @merge_dead_lse
// CHECK: rudnn.merge_attention_states
// CHECK-SAME: {lse_base = #rudnn.log_base<two>} -> tensor<1x2x3x8xf32>
func.func @merge_dead_lse(%s: tensor<1x2x3x8xf32>, %l: tensor<1x2x3xf32>) -> tensor<1x2x3x8xf32> {
  %r:2 = rudnn.merge_attention_states states(%s, %s : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>)
      lses(%l, %l : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%s, %l : tensor<1x2x3x8xf32>, tensor<1x2x3xf32>)
      {lse_base = #rudnn.log_base<two>} -> tensor<1x2x3x8xf32>, tensor<1x2x3xf32>
  return %r#0 : tensor<1x2x3x8xf32>
}
