// RUN: rudnn-opt %s -canonicalize -verify-each | FileCheck %s

// An lse that nobody reads is dropped, and its base with it.
// CHECK-LABEL: @dead_lse
// CHECK: %[[O:.*]] = rudnn.paged.attention {{.*}} sinks(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<3x4x8xf32>) {causal} -> tensor<3x4x8xf32>
// CHECK: return %[[O]]
func.func @dead_lse(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>,
    %sinks: tensor<4xf32>, %lse: tensor<3x4xf32>) -> tensor<3x4x8xf32> {
  %0:2 = rudnn.paged.attention ins(%q, %k, %k : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>) sinks(%sinks : tensor<4xf32>)
      outs(%q, %lse : tensor<3x4x8xf32>, tensor<3x4xf32>) {causal, lse_base = #rudnn.log_base<two>} -> tensor<3x4x8xf32>, tensor<3x4xf32>
  return %0#0 : tensor<3x4x8xf32>
}

// CHECK-LABEL: @live_lse
// CHECK: rudnn.paged.attention {{.*}} outs(%{{.*}}, %{{.*}} : tensor<3x4x8xf32>, tensor<3x4xf32>)
func.func @live_lse(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>,
    %lse: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0:2 = rudnn.paged.attention ins(%q, %k, %k : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q, %lse : tensor<3x4x8xf32>, tensor<3x4xf32>) -> tensor<3x4x8xf32>, tensor<3x4xf32>
  return %0#1 : tensor<3x4xf32>
}

// CHECK-LABEL: @dead_lse_mla
// CHECK: rudnn.paged.mla {{.*}} outs(%{{.*}} : tensor<3x4x8xf32>) {scale = 5.000000e-01 : f64} -> tensor<3x4x8xf32>
func.func @dead_lse_mla(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<5x2x1x8xf32>, %kp: tensor<5x2x1x5xf32>,
    %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %lse: tensor<3x4xf32>) -> tensor<3x4x8xf32> {
  %0:2 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<5x2x1x8xf32>, tensor<5x2x1x5xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q, %lse : tensor<3x4x8xf32>, tensor<3x4xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>, tensor<3x4xf32>
  return %0#0 : tensor<3x4x8xf32>
}

// Appending no rows gives the caches back.
// CHECK-LABEL: @append_nothing
// CHECK-SAME: %[[KC:arg[0-9]+]]: tensor<?x4x2x8xf32>, %[[VC:arg[0-9]+]]: tensor<?x4x2x6xf32>)
// CHECK-NOT: rudnn
// CHECK: return %[[KC]], %[[VC]]
func.func @append_nothing(%k: tensor<0x2x8xf32>, %v: tensor<0x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<0xi32>,
    %kc: tensor<?x4x2x8xf32>, %vc: tensor<?x4x2x6xf32>) -> (tensor<?x4x2x8xf32>, tensor<?x4x2x6xf32>) {
  %0:2 = rudnn.paged.append ins(%k, %v : tensor<0x2x8xf32>, tensor<0x2x6xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<0xi32>, tensor<0xi32>)
      outs(%kc, %vc : tensor<?x4x2x8xf32>, tensor<?x4x2x6xf32>) -> tensor<?x4x2x8xf32>, tensor<?x4x2x6xf32>
  return %0#0, %0#1 : tensor<?x4x2x8xf32>, tensor<?x4x2x6xf32>
}

// On memrefs the op goes away.
// CHECK-LABEL: @append_nothing_memref
// CHECK-NEXT: return
func.func @append_nothing_memref(%k: memref<0x2x8xf32>, %t: memref<2x3xi32>, %l: memref<2xi32>, %s: memref<0xi32>, %kc: memref<?x4x2x8xf32>) {
  rudnn.paged.append ins(%k, %k : memref<0x2x8xf32>, memref<0x2x8xf32>)
      pages(%t, %l, %s, %s : memref<2x3xi32>, memref<2xi32>, memref<0xi32>, memref<0xi32>)
      outs(%kc, %kc : memref<?x4x2x8xf32>, memref<?x4x2x8xf32>)
  return
}

// An append on memrefs writes its outs: it stays although it has no results,
// and a load of the cache before it can't move behind it.
// CHECK-LABEL: @append_effects
// CHECK: memref.load
// CHECK: rudnn.paged.append
// CHECK: memref.load
func.func @append_effects(%k: memref<1x2x8xf32>, %t: memref<2x3xi32>, %l: memref<2xi32>, %s: memref<1xi32>, %kc: memref<?x4x2x8xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %kc[%c0, %c0, %c0, %c0] : memref<?x4x2x8xf32>
  rudnn.paged.append ins(%k, %k : memref<1x2x8xf32>, memref<1x2x8xf32>)
      pages(%t, %l, %s, %s : memref<2x3xi32>, memref<2xi32>, memref<1xi32>, memref<1xi32>)
      outs(%kc, %kc : memref<?x4x2x8xf32>, memref<?x4x2x8xf32>)
  %1 = memref.load %kc[%c0, %c0, %c0, %c0] : memref<?x4x2x8xf32>
  return %0, %1 : f32, f32
}

// Gradients that nobody reads are not computed.
// CHECK-LABEL: @dead_gradients
// CHECK: %[[DK:.*]] = rudnn.paged.attention_backward {{.*}} outs(%{{.*}} : tensor<5x2x2x8xf32>) {gradients = #rudnn.paged_gradients<dk>} -> tensor<5x2x2x8xf32>
// CHECK: return %[[DK]]
func.func @dead_gradients(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) -> tensor<5x2x2x8xf32> {
  %0:3 = rudnn.paged.attention_backward ins(%q, %k, %k, %q : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>, tensor<3x4x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q, %k, %k : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>) -> tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>
  return %0#1 : tensor<5x2x2x8xf32>
}

// CHECK-LABEL: @dead_gradients_mla
// CHECK: rudnn.paged.mla_backward {{.*}} outs(%{{.*}}, %{{.*}} : tensor<3x4x8xf32>, tensor<6x2x1x5xf32>) {gradients = #rudnn.paged_gradients<dq|dkp>, scale = 5.000000e-01 : f64}
func.func @dead_gradients_mla(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>,
    %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<6x2x1x5xf32>) {
  %0:4 = rudnn.paged.mla_backward ins(%q, %qp, %c, %kp, %q : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>, tensor<3x4x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>) {scale = 0.5 : f64}
      -> tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>
  return %0#0, %0#3 : tensor<3x4x8xf32>, tensor<6x2x1x5xf32>
}

// CHECK-LABEL: @no_gradient_is_read
// CHECK-NEXT: return
func.func @no_gradient_is_read(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) {
  %0 = rudnn.paged.attention_backward ins(%q, %k, %k, %q : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>, tensor<3x4x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q : tensor<3x4x8xf32>) {gradients = #rudnn.paged_gradients<dq>} -> tensor<3x4x8xf32>
  return
}

// The default scale, 1/sqrt(16), says nothing; another one stays. Causal ends at
// the row: a right window beside it says nothing either.
// CHECK-LABEL: @spelled_out
// CHECK: rudnn.paged.attention {{.*}} {causal} -> tensor<3x4x16xf32>
// CHECK: rudnn.paged.attention {{.*}} {scale = 1.250000e-01 : f64, window_right = 3 : i64} -> tensor<3x4x16xf32>
// CHECK: rudnn.paged.attention_backward {{.*}} {causal, window_left = 2 : i64} ->
func.func @spelled_out(%q: tensor<3x4x16xf32>, %k: tensor<5x2x2x16xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>)
    -> (tensor<3x4x16xf32>, tensor<3x4x16xf32>, tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>) {
  %0 = rudnn.paged.attention ins(%q, %k, %k : tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q : tensor<3x4x16xf32>) {causal, scale = 0.25 : f64, window_right = 3} -> tensor<3x4x16xf32>
  %1 = rudnn.paged.attention ins(%q, %k, %k : tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q : tensor<3x4x16xf32>) {scale = 0.125 : f64, window_right = 3} -> tensor<3x4x16xf32>
  %2:3 = rudnn.paged.attention_backward ins(%q, %k, %k, %q : tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>, tensor<3x4x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q, %k, %k : tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>)
      {causal, scale = 0.25 : f64, window_left = 2, window_right = 0} -> tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>
  return %0, %1, %2#0, %2#1, %2#2 : tensor<3x4x16xf32>, tensor<3x4x16xf32>, tensor<3x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>
}

// The scale of latent attention has no default: it stays.
// CHECK-LABEL: @spelled_out_mla
// CHECK: rudnn.paged.mla {{.*}} {causal, scale = 2.500000e-01 : f64} -> tensor<3x4x16xf32>
func.func @spelled_out_mla(%q: tensor<3x4x16xf32>, %c: tensor<5x2x1x16xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) -> tensor<3x4x16xf32> {
  %0 = rudnn.paged.mla ins(%q, %q, %c, %c : tensor<3x4x16xf32>, tensor<3x4x16xf32>, tensor<5x2x1x16xf32>, tensor<5x2x1x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q : tensor<3x4x16xf32>) {causal, scale = 0.25 : f64, window_right = 7} -> tensor<3x4x16xf32>
  return %0 : tensor<3x4x16xf32>
}
