// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -split-input-file -verify-each | FileCheck %s

// A tile is a key head and the query heads that read it; offsets stay whole.
// CHECK-LABEL: @forward
// CHECK: scf.forall (%[[H:.*]]) in (2)
// CHECK: rudnn.ragged_attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x3x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>)
// CHECK-SAME: offsets(%arg2, %arg2 : tensor<?xi32>, tensor<?xi32>) sinks(%{{.*}} : tensor<3xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?x3x8xf32>, tensor<3x?xf32>)
func.func @forward(%q: tensor<?x6x8xf32>, %k: tensor<?x2x8xf32>, %a: tensor<?xi32>, %s: tensor<6xf32>, %l: tensor<6x?xf32>)
    -> (tensor<?x6x8xf32>, tensor<6x?xf32>) {
  %o:2 = rudnn.ragged_attention ins(%q, %k, %k : tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>)
      offsets(%a, %a : tensor<?xi32>, tensor<?xi32>) sinks(%s : tensor<6xf32>)
      outs(%q, %l : tensor<?x6x8xf32>, tensor<6x?xf32>) -> tensor<?x6x8xf32>, tensor<6x?xf32>
  return %o#0, %o#1 : tensor<?x6x8xf32>, tensor<6x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["rudnn.ragged_attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: @backward
// CHECK: scf.forall (%[[H:.*]]) in (2)
// CHECK: rudnn.ragged_attention_backward ins({{.*}} : tensor<?x3x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<3x?xf32>)
// CHECK-SAME: outs({{.*}} : tensor<?x3x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<3xf32>) {sinks_gradient}
func.func @backward(%q: tensor<?x6x8xf32>, %k: tensor<?x2x8xf32>, %a: tensor<?xi32>, %s: tensor<6xf32>, %l: tensor<6x?xf32>)
    -> tensor<6xf32> {
  %r:4 = rudnn.ragged_attention_backward ins(%q, %k, %k, %q, %q, %l : tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>,
          tensor<?x6x8xf32>, tensor<?x6x8xf32>, tensor<6x?xf32>)
      offsets(%a, %a : tensor<?xi32>, tensor<?xi32>) sinks(%s : tensor<6xf32>)
      outs(%q, %k, %k, %s : tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<6xf32>) {sinks_gradient}
      -> tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<6xf32>
  return %r#3 : tensor<6xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["rudnn.ragged_attention_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
