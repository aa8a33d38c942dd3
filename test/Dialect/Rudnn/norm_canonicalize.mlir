// RUN: rudnn-opt %s -canonicalize -split-input-file -verify-each | FileCheck %s

// A row of one element is 1; NaN and infinities still give NaN.
// CHECK-LABEL: @softmax_of_one
// CHECK-NOT: rudnn.softmax
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<?x1xf16>) outs(%arg1 : tensor<?x1xf16>)
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[ZERO:.*]] = arith.subf %[[X]], %[[X]] : f32
// CHECK: arith.addf %[[ZERO]], %{{.*}} : f32
func.func @softmax_of_one(%x: tensor<?x1xf16>, %i: tensor<?x1xf16>) -> tensor<?x1xf16> {
  %y = rudnn.softmax ins(%x : tensor<?x1xf16>) outs(%i : tensor<?x1xf16>) -> tensor<?x1xf16>
  return %y : tensor<?x1xf16>
}

// -----

// CHECK-LABEL: @softmax_of_some
// CHECK: rudnn.softmax
func.func @softmax_of_some(%x: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %y = rudnn.softmax ins(%x : tensor<1x?xf32>) outs(%x : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}
