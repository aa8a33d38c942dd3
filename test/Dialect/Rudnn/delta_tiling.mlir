// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each -split-input-file -verify-diagnostics | FileCheck %s

// A batch and a key head with the three value heads that use it.
// CHECK-LABEL: @heads
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (%{{.*}}, 2)
// CHECK-DAG: %[[V:.*]] = affine.apply #{{.*}}()[%[[H]]]
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[B]], %[[H]], 0, 0] [1, 1, %{{.*}}, 8] [1, 1, 1, 1]
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[B]], %[[V]], 0, 0] [1, 3, %{{.*}}, 4] [1, 1, 1, 1]
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[B]], %[[V]], 0] [1, 3, %{{.*}}] [1, 1, 1]
// CHECK: rudnn.chunk_gated_delta_rule ins({{.*}} : tensor<1x1x?x8xf16>, tensor<1x1x?x8xf16>, tensor<1x3x?x4xf16>, tensor<1x3x?xf16>, tensor<1x3x?xf32>, tensor<1x3x8x4xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}}[%[[B]], %[[V]], 0, 0] [1, 3, 8, 4]
func.func @heads(%q: tensor<?x2x?x8xf16>, %k: tensor<?x2x?x8xf16>, %v: tensor<?x6x?x4xf16>, %beta: tensor<?x6x?xf16>,
    %g: tensor<?x6x?xf32>, %s: tensor<?x6x8x4xf32>, %o: tensor<?x6x?x4xf16>) -> (tensor<?x6x?x4xf16>, tensor<?x6x8x4xf32>) {
  %r:2 = rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %beta, %g, %s
      : tensor<?x2x?x8xf16>, tensor<?x2x?x8xf16>, tensor<?x6x?x4xf16>, tensor<?x6x?xf16>, tensor<?x6x?xf32>, tensor<?x6x8x4xf32>)
      outs(%o, %s : tensor<?x6x?x4xf16>, tensor<?x6x8x4xf32>) -> tensor<?x6x?x4xf16>, tensor<?x6x8x4xf32>
  return %r#0, %r#1 : tensor<?x6x?x4xf16>, tensor<?x6x8x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.chunk_gated_delta_rule"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Heads are static: a tile size that doesn't divide them is refused.
func.func @varying(%q: tensor<2x3x5x8xf32>, %v: tensor<2x3x5x4xf32>, %beta: tensor<2x3x5xf32>, %s: tensor<2x3x8x4xf32>)
    -> (tensor<2x3x5x4xf32>, tensor<2x3x8x4xf32>) {
  // expected-error @below {{can't be tiled into a varying number of heads: give a tile size that divides 3}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r:2 = rudnn.gated_delta_rule ins(%q, %q, %v, %beta, %beta, %s
      : tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x8x4xf32>)
      outs(%v, %s : tensor<2x3x5x4xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x5x4xf32>, tensor<2x3x8x4xf32>
  return %r#0, %r#1 : tensor<2x3x5x4xf32>, tensor<2x3x8x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.gated_delta_rule"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
