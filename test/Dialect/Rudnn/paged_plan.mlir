// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: @greedy
// CHECK: %{{.*}}:3 = rudnn.paged.plan ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {causal}
// CHECK-SAME: -> tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
// BUFFER-LABEL: @greedy
// BUFFER-NOT: memref.alloc
// BUFFER: rudnn.paged.plan ins({{.*}}) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<132x5xi32, {{.*}}>, memref<?x3xi32, {{.*}}>, memref<2xi32, {{.*}}>) {causal}
func.func @greedy(%l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>, %r: tensor<132x5xi32>, %m: tensor<?x3xi32>, %c: tensor<2xi32>)
    -> (tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%r, %m, %c : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>)
      {causal, tile_tokens = 64, fixed_cost = 5, fixed_split = 0} -> tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
  return %0#0, %0#1, %0#2 : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
}

// CHECK-LABEL: @fixed
// CHECK: rudnn.paged.plan {{.*}} {fixed_cost = 0 : i64, fixed_split = 8 : i64, tile_tokens = 128 : i64}
// BUFFER-LABEL: @fixed
func.func @fixed(%l: memref<4xi32>, %s: memref<9xi32>, %p: memref<9xi32>, %r: memref<2x5xi32>, %m: memref<4x3xi32>, %c: memref<2xi32>) {
  rudnn.paged.plan ins(%l, %s, %p : memref<4xi32>, memref<9xi32>, memref<9xi32>)
      outs(%r, %m, %c : memref<2x5xi32>, memref<4x3xi32>, memref<2xi32>)
      {tile_tokens = 128, fixed_cost = 0, fixed_split = 8}
  return
}
