// REQUIRES: uninstrumented
// Tiling and fusion from outside: an unmodified mlir-opt with the plugin runs its
// own transform interpreter on norms and attention between elementwise ops.

// RUN: mlir-opt %S/../Dialect/Rudnn/norm_tiling.mlir --load-dialect-plugin=%rudnn_plugin -split-input-file \
// RUN:   --pass-pipeline='builtin.module(transform-interpreter,canonicalize,cse)' | FileCheck %S/../Dialect/Rudnn/norm_tiling.mlir
// RUN: mlir-opt %s --load-dialect-plugin=%rudnn_plugin \
// RUN:   --pass-pipeline='builtin.module(transform-interpreter,canonicalize,cse)' | FileCheck %s

// CHECK-LABEL: @attention
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[R:.*]]) = (0, 0, 0) to (2, 4, 64) step (1, 1, 16)
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x1x16x32xf32>)
// CHECK: %[[O:.*]] = rudnn.attention ins(%[[Q]],
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[O]] : tensor<1x1x16x32xf32>)
// CHECK: tensor.parallel_insert_slice %[[Y]]
// CHECK-NOT: rudnn.attention
// CHECK: transform.named_sequence
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @attention(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x?x32xf32>, %v: tensor<2x4x?x32xf32>, %i: tensor<2x4x64x32xf32>) -> tensor<2x4x64x32xf32> {
  %e = tensor.empty() : tensor<2x4x64x32xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x4x64x32xf32>) outs(%e : tensor<2x4x64x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x64x32xf32>
  %o = rudnn.attention ins(%scaled, %k, %v : tensor<2x4x64x32xf32>, tensor<2x4x?x32xf32>, tensor<2x4x?x32xf32>)
      outs(%e : tensor<2x4x64x32xf32>) -> tensor<2x4x64x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : tensor<2x4x64x32xf32>) outs(%i : tensor<2x4x64x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x64x32xf32>
  return %r : tensor<2x4x64x32xf32>
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
