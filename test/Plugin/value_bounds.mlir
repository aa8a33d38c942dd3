// REQUIRES: uninstrumented
// A result has the extents of its out: upstream's value bounds follow it through
// the ops of the dialect, whatever the op.

// RUN: mlir-opt %s --load-dialect-plugin=%rudnn_plugin \
// RUN:   --pass-pipeline='builtin.module(func.func(test-affine-reify-value-bounds))' | FileCheck %s

// CHECK-LABEL: @softmax(
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x16xf32>, %[[I:arg[0-9]+]]: tensor<?x16xf32>)
// CHECK: %[[D:.*]] = tensor.dim %[[I]], %c0
// CHECK: return %[[D]]
func.func @softmax(%x: tensor<?x16xf32>, %i: tensor<?x16xf32>) -> index {
  %y = rudnn.softmax ins(%x : tensor<?x16xf32>) outs(%i : tensor<?x16xf32>) -> tensor<?x16xf32>
  %d = "test.reify_bound"(%y) {dim = 0} : (tensor<?x16xf32>) -> (index)
  return %d : index
}

// CHECK-LABEL: @plan(
// CHECK-SAME: %[[M:arg[0-9]+]]: tensor<?x3xi32>, %{{.*}}: tensor<2xi32>)
// CHECK: %[[D:.*]] = tensor.dim %[[M]], %c0
// CHECK: return %[[D]]
func.func @plan(%l: tensor<?xi32>, %s: tensor<?xi32>, %r: tensor<8x5xi32>, %m: tensor<?x3xi32>, %c: tensor<2xi32>) -> index {
  %0:3 = rudnn.paged.plan ins(%l, %s, %s : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>) -> tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>
  %d = "test.reify_bound"(%0#1) {dim = 0} : (tensor<?x3xi32>) -> (index)
  return %d : index
}
