// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each -split-input-file | FileCheck %s

// Rows of a norm are parallel loops. The upstream driver pulls the elementwise
// producer (a residual) and the consumer (a scaled output) into one loop; gamma
// is whole in every tile.
// CHECK-LABEL: @rms_norm_fused
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x64xf32>, %[[R:arg[0-9]+]]: tensor<?x64xf32>, %[[GAMMA:arg[0-9]+]]: tensor<64xf32>, %[[INIT:arg[0-9]+]]
// CHECK: scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step (8) shared_outs(%[[OUT:.*]] = %[[INIT]])
// CHECK-DAG: %[[XT:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [%{{.*}}, 64] [1, 1]
// CHECK-DAG: %[[RT:.*]] = tensor.extract_slice %[[R]][%[[I]], 0] [%{{.*}}, 64] [1, 1]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[XT]], %[[RT]] : tensor<?x64xf32>, tensor<?x64xf32>)
// CHECK: %[[NORM:.*]] = rudnn.rms_norm ins(%[[SUM]], %[[GAMMA]] : tensor<?x64xf32>, tensor<64xf32>)
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[NORM]] : tensor<?x64xf32>)
// CHECK: tensor.parallel_insert_slice %[[SCALED]] into %[[OUT]][%[[I]], 0]
// CHECK-NOT: linalg.generic
// CHECK: return
#id = affine_map<(a, b) -> (a, b)>
func.func @rms_norm_fused(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %g: tensor<64xf32>, %i: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.addf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x64xf32>
  %norm = rudnn.rms_norm ins(%sum, %g : tensor<?x64xf32>, tensor<64xf32>) outs(%e : tensor<?x64xf32>) {eps = 1.0e-6 : f64} -> tensor<?x64xf32>
  %out = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%norm : tensor<?x64xf32>) outs(%i : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.mulf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<?x64xf32>
  return %out : tensor<?x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %generics = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %first, %last = transform.split_handle %generics : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tiled, %loop = transform.structured.fuse %last tile_sizes [8] {use_forall}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Every dim but the last is a loop: tiles of a batch and 8 rows.
// CHECK-LABEL: @layer_norm_batches
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (4, 32) step (2, 8)
// CHECK: %[[NORM:.*]] = rudnn.layer_norm ins(%{{.*}}, %{{.*}} : tensor<2x8x16xf16>, tensor<16xf16>) beta(%{{.*}} : tensor<16xf16>)
// CHECK: linalg.generic {{.*}} ins(%[[NORM]] : tensor<2x8x16xf16>)
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg.generic
// CHECK: return
#id3 = affine_map<(a, b, c) -> (a, b, c)>
func.func @layer_norm_batches(%x: tensor<4x32x16xf16>, %g: tensor<16xf16>, %b: tensor<16xf16>, %i: tensor<4x32x16xf16>, %j: tensor<4x32x16xf16>) -> tensor<4x32x16xf16> {
  %norm = rudnn.layer_norm ins(%x, %g : tensor<4x32x16xf16>, tensor<16xf16>) beta(%b : tensor<16xf16>)
      outs(%i : tensor<4x32x16xf16>) -> tensor<4x32x16xf16>
  %out = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%norm : tensor<4x32x16xf16>) outs(%j : tensor<4x32x16xf16>) {
  ^bb0(%a: f16, %o: f16):
    %y = arith.negf %a : f16
    linalg.yield %y : f16
  } -> tensor<4x32x16xf16>
  return %out : tensor<4x32x16xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %last = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.fuse %last tile_sizes [2, 8] {use_forall}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A softmax is pulled into the loop of the product that reads it: its rows
// follow, its last dim is whole.
// CHECK-LABEL: @softmax_producer
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (4, 2)
// CHECK: %[[P:.*]] = rudnn.softmax ins(%{{.*}} : tensor<4x24xf32>)
// CHECK: linalg.matmul ins(%[[P]], %{{.*}} : tensor<4x24xf32>, tensor<24x4xf32>)
func.func @softmax_producer(%x: tensor<16x24xf32>, %v: tensor<24x8xf32>, %i: tensor<16x24xf32>, %o: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %p = rudnn.softmax ins(%x : tensor<16x24xf32>) outs(%i : tensor<16x24xf32>) -> tensor<16x24xf32>
  %y = linalg.matmul ins(%p, %v : tensor<16x24xf32>, tensor<24x8xf32>) outs(%o : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %softmax = transform.structured.match ops{["rudnn.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %product tile_sizes [4, 4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused, %in = transform.structured.fuse_into_containing_op %softmax into %loop
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
