// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each -split-input-file -verify-diagnostics | FileCheck %s

// Tiles of one head and 16 rows. Keys and values are those of the head's group,
// the tile's first row keeps its key position, the broadcast dims of the mask
// are taken whole, and the elementwise producer and consumer join the loop.

// CHECK-DAG: #[[FLOOR:.*]] = affine_map<(d0) -> (d0 floordiv 3)>
// CHECK-DAG: #[[OFFSET:.*]] = affine_map<()[s0, s1] -> (s0 + s1 - 64)>
// CHECK-LABEL: @fused
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x6x64x32xf32>, %[[K:[a-z0-9]+]]: tensor<2x2x?x32xf32>, %[[V:[a-z0-9]+]]: tensor<2x2x?x32xf32>
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<2x1x1x?xi1>
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[R0:.*]]) = (0, 0, 0) to (2, 6, 64) step (1, 1, 16)
// CHECK-DAG: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x1x16x32xf32>)
// CHECK-DAG: %[[G:.*]] = affine.apply #[[FLOOR]](%[[H]])
// CHECK-DAG: tensor.extract_slice %[[K]][%[[B]], %[[G]], 0, 0] [1, 1, %{{.*}}, 32] [1, 1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[V]][%[[B]], %[[G]], 0, 0] [1, 1, %{{.*}}, 32] [1, 1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[M]][%[[B]], 0, 0, 0] [1, 1, 1, %{{.*}}] [1, 1, 1, 1]
// CHECK-DAG: %[[P:.*]] = affine.apply #[[OFFSET]]()[%[[R0]], %{{.*}}]
// CHECK: %[[O:.*]] = rudnn.attention ins(%[[SCALED]], %{{.*}}, %{{.*}} : tensor<1x1x16x32xf32>, tensor<1x1x?x32xf32>, tensor<1x1x?x32xf32>)
// CHECK-SAME: mask(%{{.*}} : tensor<1x1x1x?xi1>) sinks(%{{.*}} : tensor<1xf32>) query_offset(%[[P]])
// CHECK-SAME: {causal = #rudnn.causal<bottom_right>}
// CHECK: linalg.generic {{.*}} ins(%[[O]] : tensor<1x1x16x32xf32>)
// CHECK: tensor.parallel_insert_slice {{.*}} [1, 1, 16, 32]
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @fused(%q: tensor<2x6x64x32xf32>, %k: tensor<2x2x?x32xf32>, %v: tensor<2x2x?x32xf32>,
    %m: tensor<2x1x1x?xi1>, %s: tensor<6xf32>, %i: tensor<2x6x64x32xf32>) -> tensor<2x6x64x32xf32> {
  %e = tensor.empty() : tensor<2x6x64x32xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x6x64x32xf32>) outs(%e : tensor<2x6x64x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x6x64x32xf32>
  %o = rudnn.attention ins(%scaled, %k, %v : tensor<2x6x64x32xf32>, tensor<2x2x?x32xf32>, tensor<2x2x?x32xf32>)
      mask(%m : tensor<2x1x1x?xi1>) sinks(%s : tensor<6xf32>) outs(%e : tensor<2x6x64x32xf32>)
      {causal = #rudnn.causal<bottom_right>} -> tensor<2x6x64x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : tensor<2x6x64x32xf32>) outs(%i : tensor<2x6x64x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x6x64x32xf32>
  return %r : tensor<2x6x64x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %generics = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %first, %last = transform.split_handle %generics : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tiled, %loop = transform.structured.fuse %last tile_sizes [1, 1, 16] {use_forall}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Both results of an op in one loop; two whole groups in a tile of heads.

// CHECK-LABEL: @both_results
// CHECK: scf.for
// CHECK: scf.for %[[H:.*]] = %c0 to %c8 step %c4
// CHECK: %[[G:.*]] = affine.apply #{{.*}}(%[[H]])
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %[[G]], 0, 0] [1, 2, %{{.*}}, 16] [1, 1, 1, 1]
// CHECK: rudnn.attention ins({{.*}} : tensor<1x4x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>) outs({{.*}} : tensor<1x4x?x16xf16>, tensor<1x4x?xf32>)
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @both_results(%q: tensor<2x8x?x16xf16>, %k: tensor<2x4x?x16xf16>, %v: tensor<2x4x?x16xf16>,
    %i: tensor<2x8x?x16xf16>, %l: tensor<2x8x?xf32>) -> (tensor<2x8x?x16xf16>, tensor<2x8x?xf32>) {
  %o:2 = rudnn.attention ins(%q, %k, %v : tensor<2x8x?x16xf16>, tensor<2x4x?x16xf16>, tensor<2x4x?x16xf16>)
      outs(%i, %l : tensor<2x8x?x16xf16>, tensor<2x8x?xf32>) -> tensor<2x8x?x16xf16>, tensor<2x8x?xf32>
  return %o#0, %o#1 : tensor<2x8x?x16xf16>, tensor<2x8x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["rudnn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [1, 4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @heads_across_groups(%q: tensor<1x6x8x16xf32>, %k: tensor<1x2x8x16xf32>, %i: tensor<1x6x8x16xf32>) -> tensor<1x6x8x16xf32> {
  // expected-error @+3 {{can't be tiled into 2 query heads: a tile must lie within one group of 3 or be whole groups}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %o = rudnn.attention ins(%q, %k, %k : tensor<1x6x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>)
      outs(%i : tensor<1x6x8x16xf32>) -> tensor<1x6x8x16xf32>
  return %o : tensor<1x6x8x16xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["rudnn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// One batch and one key/value head, with the three query heads of its group.
// CHECK-DAG: #[[TRIPLE:.*]] = affine_map<()[s0] -> (s0 * 3)>
// CHECK-LABEL: @backward
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 2)
// CHECK-DAG: %[[Q:.*]] = affine.apply #[[TRIPLE]]()[%[[H]]]
// CHECK: rudnn.attention_backward ins({{.*}} : tensor<1x3x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x3x?x8xf32>, tensor<1x3x?x8xf32>, tensor<1x3x?xf32>)
// CHECK-SAME: mask({{.*}} : tensor<1x3x1x?xi1>)
// CHECK-DAG: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %{{.*}}, 0, 0] [1, 3, %{{.*}}, 8]
// CHECK-DAG: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[H]], 0, 0] [1, 1, %{{.*}}, 8]
func.func @backward(%q: tensor<2x6x?x8xf32>, %k: tensor<2x2x?x8xf32>, %l: tensor<2x6x?xf32>, %m: tensor<1x6x1x?xi1>)
    -> (tensor<2x6x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>) {
  %r:3 = rudnn.attention_backward
      ins(%q, %k, %k, %q, %q, %l : tensor<2x6x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>,
          tensor<2x6x?x8xf32>, tensor<2x6x?x8xf32>, tensor<2x6x?xf32>) mask(%m : tensor<1x6x1x?xi1>)
      outs(%q, %k, %k : tensor<2x6x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>)
      {causal = #rudnn.causal<bottom_right>} -> tensor<2x6x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>
  return %r#0, %r#1, %r#2 : tensor<2x6x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["rudnn.attention_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The gradient of the sinks is a sum over the batch: only heads are a loop.
// CHECK-LABEL: @backward_sinks
// CHECK: scf.for %[[H:.*]] = %c0 to %c2 step %c1
// CHECK: rudnn.attention_backward {{.*}} sinks(%{{.*}} : tensor<3xf32>) outs({{.*}} : tensor<2x3x4x8xf32>, tensor<2x1x4x8xf32>, tensor<2x1x4x8xf32>, tensor<3xf32>)
func.func @backward_sinks(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x4x8xf32>, %l: tensor<2x6x4xf32>, %s: tensor<6xf32>) -> tensor<6xf32> {
  %r:4 = rudnn.attention_backward
      ins(%q, %k, %k, %q, %q, %l : tensor<2x6x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>,
          tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) sinks(%s : tensor<6xf32>)
      outs(%q, %k, %k, %s : tensor<2x6x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>, tensor<6xf32>)
      {sinks_gradient} -> tensor<2x6x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>, tensor<6xf32>
  return %r#3 : tensor<6xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["rudnn.attention_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
