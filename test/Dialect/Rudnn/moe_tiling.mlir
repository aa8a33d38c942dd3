// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each -split-input-file | FileCheck %s

// Routing: a tile of tokens.
// CHECK-LABEL: @route
// CHECK: scf.for
// CHECK: tensor.extract_slice %arg0[%{{.*}}, 0] [%{{.*}}, 8] [1, 1]
// CHECK: rudnn.moe.route ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x2xi32>, tensor<?x2xf32>)
func.func @route(%logits: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<?x8xf32>) outs(%i, %w : tensor<?x2xi32>, tensor<?x2xf32>)
      -> tensor<?x2xi32>, tensor<?x2xf32>
  return %ids, %weights : tensor<?x2xi32>, tensor<?x2xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.moe.route"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Experts: a tile of packed rows has the offsets of its rows.
// CHECK-LABEL: @experts
// CHECK: scf.forall (%[[I:.*]]) in
// CHECK: %[[O:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<5xi32>)
// CHECK: arith.maxui
// CHECK: arith.subi
// CHECK: arith.minui
// CHECK: rudnn.moe.experts ins(%{{.*}}, %[[O]] : tensor<?x16xf32>, tensor<5xi32>) weights(%arg2, %arg3, %arg4 :
func.func @experts(%x: tensor<?x16xf32>, %o: tensor<5xi32>, %g: tensor<4x8x16xf32>, %u: tensor<4x8x16xf32>,
    %d: tensor<4x16x8xf32>, %i: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = rudnn.moe.experts ins(%x, %o : tensor<?x16xf32>, tensor<5xi32>)
      weights(%g, %u, %d : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x16x8xf32>)
      outs(%i : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["rudnn.moe.experts"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Combine: tokens and columns; an elementwise consumer's tile pulls it in.
// CHECK-LABEL: @combine
// CHECK: scf.forall
// CHECK: %[[T:.*]] = rudnn.moe.combine ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<32x16xf32>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%{{.*}} : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK: linalg.generic {{.*}} ins(%[[T]]
func.func @combine(%y: tensor<32x64xf32>, %s: tensor<16x2xi32>, %w: tensor<16x2xf32>, %i: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %out = rudnn.moe.combine ins(%y, %s, %w : tensor<32x64xf32>, tensor<16x2xi32>, tensor<16x2xf32>)
      outs(%i : tensor<16x64xf32>) -> tensor<16x64xf32>
  %gen = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%out : tensor<16x64xf32>) outs(%i : tensor<16x64xf32>) attrs = {consumer} {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<16x64xf32>
  return %gen : tensor<16x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [4, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %combine = transform.structured.match ops{["rudnn.moe.combine"]} in %root : (!transform.any_op) -> !transform.any_op
    %fused, %in = transform.structured.fuse_into_containing_op %combine into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
