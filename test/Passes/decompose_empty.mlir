// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -verify-each -split-input-file | FileCheck %s

// Static extents of 0: an op without results to compute is its outs.

// CHECK-LABEL: @route
// CHECK-SAME: %[[L:[a-z0-9]+]]: tensor<0x8xf32>, %[[I:[a-z0-9]+]]: tensor<0x2xi32>, %[[W:[a-z0-9]+]]: tensor<0x2xf32>
// CHECK-NEXT: return %[[I]], %[[W]]
func.func @route(%logits: tensor<0x8xf32>, %i: tensor<0x2xi32>, %w: tensor<0x2xf32>) -> (tensor<0x2xi32>, tensor<0x2xf32>) {
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<0x8xf32>) outs(%i, %w : tensor<0x2xi32>, tensor<0x2xf32>)
      -> tensor<0x2xi32>, tensor<0x2xf32>
  return %ids, %weights : tensor<0x2xi32>, tensor<0x2xf32>
}

// CHECK-LABEL: @experts
// CHECK-SAME: %[[Y:[a-z0-9]+]]: tensor<0x4xf32>) -> tensor<0x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @experts(%x: tensor<0x4xf32>, %o: tensor<3xi32>, %g: tensor<2x6x4xf32>, %d: tensor<2x4x6xf32>, %i: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %y = rudnn.moe.experts ins(%x, %o : tensor<0x4xf32>, tensor<3xi32>)
      weights(%g, %g, %d : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) outs(%i : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %y : tensor<0x4xf32>
}

// Some of the results have elements: the gradients of the weights are zeros.
// CHECK-LABEL: @experts_backward
// CHECK-COUNT-3: linalg.fill
// CHECK: return
func.func @experts_backward(%x: tensor<0x4xf32>, %o: tensor<3xi32>, %g: tensor<2x6x4xf32>, %d: tensor<2x4x6xf32>)
    -> (tensor<0x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) {
  %r:4 = rudnn.moe.experts_backward ins(%x, %x, %o : tensor<0x4xf32>, tensor<0x4xf32>, tensor<3xi32>)
      weights(%g, %g, %d : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      outs(%x, %g, %g, %d : tensor<0x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      -> tensor<0x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<0x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
}
