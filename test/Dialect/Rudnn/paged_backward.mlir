// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -cse -verify-each | FileCheck %s --check-prefix=DECOMPOSE

// All gradients of a row and of its history, one out each.
// CHECK-LABEL: @all
// CHECK: rudnn.paged.attention_backward ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>, tensor<?x4x6xbf16>)
// CHECK-SAME: pages(
// CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>) {causal} -> tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>

// The first pass, by row, leaves statistics; the second, by page, walks the table
// entries that name the page and the rows of their sequence.
// DECOMPOSE-LABEL: @all
// DECOMPOSE: %[[ROWS:.*]]:4 = scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 2) {{.*}} -> (tensor<?x4x8xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
// DECOMPOSE: tensor<?xindex>
// DECOMPOSE: scf.forall (%[[PAGE:.*]], %[[HEAD:.*]]) in (%{{.*}}, 2) {{.*}} -> (tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>)
// DECOMPOSE:   scf.for {{.*}} -> (tensor<16x8xf32>, tensor<16x6xf32>)
// DECOMPOSE:     scf.for {{.*}} -> (tensor<16x8xf32>, tensor<16x6xf32>)
// DECOMPOSE:       scf.for %{{.*}} = %c0 to %c2 step %c1 {{.*}} -> (tensor<16x8xf32>, tensor<16x6xf32>)
// DECOMPOSE-COUNT-2: math.fma
// DECOMPOSE-COUNT-2: arith.truncf
// DECOMPOSE-COUNT-2: tensor.parallel_insert_slice
func.func @all(%q: tensor<?x4x8xbf16>, %k: tensor<?x16x2x8xbf16>, %v: tensor<?x16x2x6xbf16>, %g: tensor<?x4x6xbf16>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>)
    -> (tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>) {
  %0:3 = rudnn.paged.attention_backward ins(%q, %k, %v, %g : tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>, tensor<?x4x6xbf16>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%q, %k, %v : tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>) {causal}
      -> tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>
  return %0#0, %0#1, %0#2 : tensor<?x4x8xbf16>, tensor<?x16x2x8xbf16>, tensor<?x16x2x6xbf16>
}

// Without history gradients there is one pass and no inverse index.
// CHECK-LABEL: @row_only
// CHECK: {gradients = #rudnn.paged_gradients<dq|dsinks>, history = #rudnn.history_gradient<ordered>, scale = 5.000000e-01 : f64}
// DECOMPOSE-LABEL: @row_only
// DECOMPOSE-NOT: xindex>
// DECOMPOSE: scf.forall
// DECOMPOSE-NOT: xindex>
// DECOMPOSE: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// DECOMPOSE-NOT: scf.forall (
func.func @row_only(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %sinks: tensor<4xf32>,
    %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<4xf32>) {
  %0:2 = rudnn.paged.attention_backward ins(%q, %k, %k, %q : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>, tensor<3x4x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      sinks(%sinks : tensor<4xf32>)
      outs(%q, %sinks : tensor<3x4x8xf32>, tensor<4xf32>)
      {scale = 0.5 : f64, gradients = #rudnn.paged_gradients<dq|dsinks>, history = #rudnn.history_gradient<ordered>}
      -> tensor<3x4x8xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<3x4x8xf32>, tensor<4xf32>
}

// The latent's gradient has the key term and the value term, in that order.
// CHECK-LABEL: @mla
// CHECK: rudnn.paged.mla_backward {{.*}} {gradients = #rudnn.paged_gradients<dlatent>, scale = 5.000000e-01 : f64} -> tensor<6x2x1x8xf32>
// DECOMPOSE-LABEL: @mla
// DECOMPOSE: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>, tensor<8xf32>, tensor<?xf32>, tensor<8xf32>)
// DECOMPOSE-NEXT: ^bb0(%[[DS:.*]]: f32, %[[Q:.*]]: f32, %[[P:.*]]: f32, %[[G:.*]]: f32, %[[SUM:.*]]: f32):
// DECOMPOSE-NEXT: %[[KEY:.*]] = math.fma %[[DS]], %[[Q]], %[[SUM]]
// DECOMPOSE-NEXT: math.fma %[[P]], %[[G]], %[[KEY]]
func.func @mla(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>,
    %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) -> tensor<6x2x1x8xf32> {
  %0 = rudnn.paged.mla_backward ins(%q, %qp, %c, %kp, %q : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>, tensor<3x4x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%c : tensor<6x2x1x8xf32>) {scale = 0.5 : f64, gradients = #rudnn.paged_gradients<dlatent>} -> tensor<6x2x1x8xf32>
  return %0 : tensor<6x2x1x8xf32>
}
