// RUN: rudnn-opt %s -rudnn-keep-carried-values -verify-each | FileCheck %s

// Two states that start equal start from two tensors.
// CHECK-LABEL: @equal_starts
// CHECK: %[[COPY:.*]] = linalg.copy ins(%arg0 : tensor<4xf32>)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg0, %{{.*}} = %[[COPY]])
func.func @equal_starts(%a: tensor<4xf32>, %x: f32, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = arith.addf %x, %x : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %a) -> (tensor<4xf32>, tensor<4xf32>) {
    %s1 = tensor.insert %x into %s[%i] : tensor<4xf32>
    %t1 = tensor.insert %y into %t[%i] : tensor<4xf32>
    scf.yield %s1, %t1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// Two insertions into one tensor give two tensors.
// CHECK-LABEL: @two_insertions
// CHECK: %[[COPY:.*]] = linalg.copy ins(%arg0 : tensor<4xf32>)
// CHECK: tensor.insert_slice %arg1 into %arg0
// CHECK: tensor.insert_slice %arg2 into %[[COPY]]
func.func @two_insertions(%a: tensor<4xf32>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = tensor.insert_slice %x into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %t = tensor.insert_slice %y into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}
