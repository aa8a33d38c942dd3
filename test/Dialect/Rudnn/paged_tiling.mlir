// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each -split-input-file -verify-diagnostics | FileCheck %s

// Query rows: the row operands and the outs are sliced, caches and tables whole.
// CHECK-LABEL: @attention_rows
// CHECK-SAME: %[[Q:arg[0-9]+]]: tensor<?x4x8xf32>, %[[K:arg[0-9]+]]: tensor<5x2x2x8xf32>
// CHECK: scf.for %[[R:.*]] = %c0 to %{{.*}} step %c16 iter_args(%[[O:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}})
// CHECK-DAG: %[[QT:.*]] = tensor.extract_slice %[[Q]][%[[R]], 0, 0]
// CHECK-DAG: %[[S:.*]] = tensor.extract_slice %{{.*}}[%[[R]]] [%{{.*}}] [1] : tensor<?xi32>
// CHECK-DAG: tensor.extract_slice %[[L]][%[[R]], 0] [%{{.*}}, 4]
// CHECK: rudnn.paged.attention ins(%[[QT]], %[[K]], %[[K]] :
func.func @attention_rows(%q: tensor<?x4x8xf32>, %k: tensor<5x2x2x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<?xi32>,
    %o: tensor<?x4x8xf32>, %lse: tensor<?x4xf32>) -> (tensor<?x4x8xf32>, tensor<?x4xf32>) {
  %0:2 = rudnn.paged.attention ins(%q, %k, %k : tensor<?x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%o, %lse : tensor<?x4x8xf32>, tensor<?x4xf32>) {causal} -> tensor<?x4x8xf32>, tensor<?x4xf32>
  return %0#0, %0#1 : tensor<?x4x8xf32>, tensor<?x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Latent attention: rows and heads.
// CHECK-LABEL: @mla
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (3, 2)
// CHECK-DAG: %[[R:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK-DAG: %[[H:.*]] = affine.apply #{{.*}}(%[[J]])
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[R]], %[[H]], 0] [2, 4, 16]
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[R]], %[[H]], 0] [2, 4, 3]
// CHECK: rudnn.paged.mla {{.*}} -> tensor<2x4x16xf32>
func.func @mla(%q: tensor<6x8x16xf32>, %qp: tensor<6x8x3xf32>, %c: tensor<5x2x1x16xf32>, %kp: tensor<5x2x1x3xf32>,
    %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<6xi32>, %o: tensor<6x8x16xf32>) -> tensor<6x8x16xf32> {
  %0 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<6x8x16xf32>, tensor<6x8x3xf32>, tensor<5x2x1x16xf32>, tensor<5x2x1x3xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<6xi32>, tensor<6xi32>)
      outs(%o : tensor<6x8x16xf32>) {scale = 0.5 : f64} -> tensor<6x8x16xf32>
  return %0 : tensor<6x8x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.mla"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [2, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Append: heads.
// CHECK-LABEL: @append
// CHECK: scf.for %[[H:.*]] = %c0 to %c2 step %c1
// CHECK: tensor.extract_slice %{{.*}}[0, %[[H]], 0] [3, 1, 8]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, %[[H]], 0] [5, 4, 1, 8]
// CHECK: rudnn.paged.append {{.*}} -> tensor<5x4x1x8xf32>, tensor<5x4x1x6xf32>
func.func @append(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>,
    %kc: tensor<5x4x2x8xf32>, %vc: tensor<5x4x2x6xf32>) -> (tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) {
  %0:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%kc, %vc : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return %0#0, %0#1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.append"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Cache heads: a tile of one has its group of query heads and sinks.
// CHECK-LABEL: @attention_heads
// CHECK-SAME: %[[Q:arg[0-9]+]]: tensor<6x8x16xf32>, %[[K:arg[0-9]+]]: tensor<5x2x2x16xf32>
// CHECK: scf.forall (%[[R:.*]], %[[H:.*]]) in (2, 2)
// CHECK-DAG: %[[ROW:.*]] = affine.apply #{{.*}}(%[[R]])
// CHECK-DAG: %[[HEAD:.*]] = affine.apply #{{.*}}()[%[[H]]]
// CHECK-DAG: tensor.extract_slice %[[Q]][%[[ROW]], %[[HEAD]], 0] [3, 4, 16]
// CHECK-DAG: tensor.extract_slice %[[K]][0, 0, %[[H]], 0] [5, 2, 1, 16]
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[ROW]]] [3] [1] : tensor<6xi32> to tensor<3xi32>
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[HEAD]]] [4] [1] : tensor<8xf32> to tensor<4xf32>
// CHECK: rudnn.paged.attention ins({{.*}} : tensor<3x4x16xf32>, tensor<5x2x1x16xf32>, tensor<5x2x1x16xf32>)
// CHECK-SAME: sinks(%{{.*}} : tensor<4xf32>) outs({{.*}} : tensor<3x4x16xf32>, tensor<3x4xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}}[%[[ROW]], %[[HEAD]], 0] [3, 4, 16]
// CHECK: tensor.parallel_insert_slice %{{.*}}[%[[ROW]], %[[HEAD]]] [3, 4]
func.func @attention_heads(%q: tensor<6x8x16xf32>, %k: tensor<5x2x2x16xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<6xi32>,
    %sinks: tensor<8xf32>, %o: tensor<6x8x16xf32>, %lse: tensor<6x8xf32>) -> (tensor<6x8x16xf32>, tensor<6x8xf32>) {
  %0:2 = rudnn.paged.attention ins(%q, %k, %k : tensor<6x8x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<6xi32>, tensor<6xi32>) sinks(%sinks : tensor<8xf32>)
      outs(%o, %lse : tensor<6x8x16xf32>, tensor<6x8xf32>) {causal} -> tensor<6x8x16xf32>, tensor<6x8xf32>
  return %0#0, %0#1 : tensor<6x8x16xf32>, tensor<6x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [3, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Gradients of caches sum over rows: cache heads are the only loop.
// CHECK-LABEL: @backward_heads
// CHECK-SAME: %[[Q:arg[0-9]+]]: tensor<?x8x16xf32>, %[[K:arg[0-9]+]]: tensor<5x2x4x16xf32>
// CHECK: scf.forall (%[[H:.*]]) in (2)
// CHECK-DAG: tensor.extract_slice %[[Q]][0, %{{.*}}, 0] [%{{.*}}, 4, 16]
// CHECK-DAG: tensor.extract_slice %[[K]][0, 0, %{{.*}}, 0] [5, 2, 2, 16]
// CHECK: rudnn.paged.attention_backward ins({{.*}} : tensor<?x4x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>, tensor<?x4x16xf32>)
// CHECK-SAME: outs({{.*}} : tensor<?x4x16xf32>, tensor<5x2x2x16xf32>, tensor<4xf32>)
// CHECK-COUNT-3: tensor.parallel_insert_slice
func.func @backward_heads(%q: tensor<?x8x16xf32>, %k: tensor<5x2x4x16xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<?xi32>,
    %sinks: tensor<8xf32>) -> (tensor<?x8x16xf32>, tensor<5x2x4x16xf32>, tensor<8xf32>) {
  %0:3 = rudnn.paged.attention_backward ins(%q, %k, %k, %q : tensor<?x8x16xf32>, tensor<5x2x4x16xf32>, tensor<5x2x4x16xf32>, tensor<?x8x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<?xi32>, tensor<?xi32>) sinks(%sinks : tensor<8xf32>)
      outs(%q, %k, %sinks : tensor<?x8x16xf32>, tensor<5x2x4x16xf32>, tensor<8xf32>)
      {causal, gradients = #rudnn.paged_gradients<dq|dk|dsinks>} -> tensor<?x8x16xf32>, tensor<5x2x4x16xf32>, tensor<8xf32>
  return %0#0, %0#1, %0#2 : tensor<?x8x16xf32>, tensor<5x2x4x16xf32>, tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.attention_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// With dq alone, query rows are a loop too.
// CHECK-LABEL: @backward_rows
// CHECK: scf.for %[[R:.*]] = %c0 to %{{.*}} step %c16
// CHECK:   scf.for %[[H:.*]] = %c0 to %c2 step %c1
// CHECK:     rudnn.paged.attention_backward ins({{.*}} : tensor<?x4x16xf32>, tensor<5x2x1x16xf32>, tensor<5x2x1x16xf32>, tensor<?x4x16xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x4x16xf32>) {gradients = #rudnn.paged_gradients<dq>}
func.func @backward_rows(%q: tensor<?x8x16xf32>, %k: tensor<5x2x2x16xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<?xi32>) -> tensor<?x8x16xf32> {
  %0 = rudnn.paged.attention_backward ins(%q, %k, %k, %q : tensor<?x8x16xf32>, tensor<5x2x2x16xf32>, tensor<5x2x2x16xf32>, tensor<?x8x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%q : tensor<?x8x16xf32>) {gradients = #rudnn.paged_gradients<dq>} -> tensor<?x8x16xf32>
  return %0 : tensor<?x8x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.attention_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Row gradients of latent attention: rows and heads.
// CHECK-LABEL: @mla_backward
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 4)
// CHECK: rudnn.paged.mla_backward ins({{.*}} : tensor<3x2x16xf32>, tensor<3x2x4xf32>, tensor<5x2x1x16xf32>, tensor<5x2x1x4xf32>, tensor<3x2x16xf32>)
// CHECK-SAME: outs({{.*}} : tensor<3x2x16xf32>, tensor<3x2x4xf32>)
func.func @mla_backward(%q: tensor<6x8x16xf32>, %qp: tensor<6x8x4xf32>, %c: tensor<5x2x1x16xf32>, %kp: tensor<5x2x1x4xf32>,
    %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<6xi32>) -> (tensor<6x8x16xf32>, tensor<6x8x4xf32>) {
  %0:2 = rudnn.paged.mla_backward ins(%q, %qp, %c, %kp, %q : tensor<6x8x16xf32>, tensor<6x8x4xf32>, tensor<5x2x1x16xf32>, tensor<5x2x1x4xf32>, tensor<6x8x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<6xi32>, tensor<6xi32>)
      outs(%q, %qp : tensor<6x8x16xf32>, tensor<6x8x4xf32>)
      {scale = 0.1 : f64, gradients = #rudnn.paged_gradients<dq|dqp>} -> tensor<6x8x16xf32>, tensor<6x8x4xf32>
  return %0#0, %0#1 : tensor<6x8x16xf32>, tensor<6x8x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.mla_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [3, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Heads stay a static number.
func.func @varying_heads(%q: tensor<6x8x16xf32>, %k: tensor<5x2x8x16xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<6xi32>) -> tensor<6x8x16xf32> {
  // expected-error @+3 {{can't be tiled into a varying number of heads: give a tile size that divides 8}}
  // expected-error @+2 {{op faild to tile operation}}
  // expected-error @+1 {{op failed to generate tiling loops}}
  %0 = rudnn.paged.attention ins(%q, %k, %k : tensor<6x8x16xf32>, tensor<5x2x8x16xf32>, tensor<5x2x8x16xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<6xi32>, tensor<6xi32>)
      outs(%q : tensor<6x8x16xf32>) -> tensor<6x8x16xf32>
  return %0 : tensor<6x8x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.paged.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [0, 3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
