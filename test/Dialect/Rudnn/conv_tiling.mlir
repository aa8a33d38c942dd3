// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each -split-input-file -verify-diagnostics | FileCheck %s

// Batch and output channels; the tile of an elementwise consumer pulls the convolution in.
// CHECK-LABEL: @channels
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<4x3x?x?xf32>, %[[W:arg[0-9]+]]: tensor<8x3x3x3xf32>, %[[B:arg[0-9]+]]: tensor<8xf32>
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (4, 2)
// CHECK: %[[C:.*]] = affine.apply #{{.*}}(%[[J]])
// CHECK-DAG: tensor.extract_slice %[[X]][%[[I]], 0, 0, 0] [1, 3, %{{.*}}, %{{.*}}] [1, 1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[W]][%[[C]], 0, 0, 0] [4, 3, 3, 3] [1, 1, 1, 1]
// CHECK-DAG: tensor.extract_slice %[[B]][%[[C]]] [4] [1]
// CHECK: %[[T:.*]] = rudnn.conv ins({{.*}} : tensor<1x3x?x?xf32>, tensor<4x3x3x3xf32>) bias(%{{.*}} : tensor<4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[T]] : tensor<1x4x?x?xf32>)
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @channels(%x: tensor<4x3x?x?xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>, %i: tensor<4x8x?x?xf32>) -> tensor<4x8x?x?xf32> {
  %y = rudnn.conv ins(%x, %w : tensor<4x3x?x?xf32>, tensor<8x3x3x3xf32>) bias(%b : tensor<8xf32>)
      outs(%i : tensor<4x8x?x?xf32>) {padding = array<i64: 1, 1, 1, 1>} -> tensor<4x8x?x?xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<4x8x?x?xf32>) outs(%i : tensor<4x8x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4x8x?x?xf32>
  return %z : tensor<4x8x?x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %consumer = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %consumer tile_sizes [1, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %conv = transform.structured.match ops{["rudnn.conv"]} in %root : (!transform.any_op) -> !transform.any_op
    %fused, %in = transform.structured.fuse_into_containing_op %conv into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The gradient of the weight: output and input channels, the last axis of x in this layout.
// CHECK-LABEL: @weight
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (2, 3)
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, 0, %[[J]]] [5, 9, 1] [1, 1, 1]
// CHECK: rudnn.conv_weight_backward ins({{.*}} : tensor<5x9x1xf32>, tensor<5x7x2xf32>) outs({{.*}} : tensor<2x3x1xf32>)
func.func @weight(%x: tensor<5x9x3xf32>, %dy: tensor<5x7x4xf32>, %i: tensor<4x3x3xf32>) -> tensor<4x3x3xf32> {
  %dw = rudnn.conv_weight_backward ins(%x, %dy : tensor<5x9x3xf32>, tensor<5x7x4xf32>) outs(%i : tensor<4x3x3xf32>)
      {layout = #rudnn.conv_layout<nhwc>} -> tensor<4x3x3xf32>
  return %dw : tensor<4x3x3xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.conv_weight_backward"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Channels are static: a tile size that doesn't divide them is refused.
func.func @varying(%x: tensor<2x3x9xf32>, %w: tensor<5x3x3xf32>, %i: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  // expected-error @below {{can't be tiled into a varying number of output channels: give a tile size that divides 5}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %y = rudnn.conv ins(%x, %w : tensor<2x3x9xf32>, tensor<5x3x3xf32>) outs(%i : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return %y : tensor<2x5x7xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.conv"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
