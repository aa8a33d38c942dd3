// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @route
// CHECK: rudnn.moe.route ins(%{{.*}} : tensor<?x8xbf16>) outs(%{{.*}}, %{{.*}} : tensor<?x2xi32>, tensor<?x2xbf16>) {renormalize} -> tensor<?x2xi32>, tensor<?x2xbf16>
// CHECK: rudnn.moe.route ins(%{{.*}} : tensor<?x8xbf16>) outs(%{{.*}}, %{{.*}} : tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x2xi32>, tensor<?x2xf32>
func.func @route(%logits: tensor<?x8xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xbf16>, %f: tensor<?x2xf32>)
    -> (tensor<?x2xbf16>, tensor<?x2xf32>) {
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<?x8xbf16>)
      outs(%i, %w : tensor<?x2xi32>, tensor<?x2xbf16>) {renormalize}
      -> tensor<?x2xi32>, tensor<?x2xbf16>
  %ids2, %weights2 = rudnn.moe.route ins(%logits : tensor<?x8xbf16>)
      outs(%i, %f : tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x2xi32>, tensor<?x2xf32>
  return %weights, %weights2 : tensor<?x2xbf16>, tensor<?x2xf32>
}

// CHECK-LABEL: @route_sigmoid_grouped
// CHECK: rudnn.moe.route_sigmoid_grouped ins(%{{.*}} : tensor<?x64xf32>) bias(%{{.*}} : tensor<64xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x6xi32>, tensor<?x6xf32>) {group_top_two, groups = 8 : i64, renormalize, scale = 2.500000e+00 : f64, selected_groups = 4 : i64} -> tensor<?x6xi32>, tensor<?x6xf32>
// CHECK: rudnn.moe.route_sigmoid_grouped ins(%{{.*}} : tensor<?x64xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x6xi32>, tensor<?x6xf32>) {groups = 1 : i64, selected_groups = 1 : i64} -> tensor<?x6xi32>, tensor<?x6xf32>
func.func @route_sigmoid_grouped(%logits: tensor<?x64xf32>, %bias: tensor<64xf32>, %i: tensor<?x6xi32>, %w: tensor<?x6xf32>)
    -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %ids, %weights = rudnn.moe.route_sigmoid_grouped ins(%logits : tensor<?x64xf32>) bias(%bias : tensor<64xf32>)
      outs(%i, %w : tensor<?x6xi32>, tensor<?x6xf32>)
      {groups = 8, selected_groups = 4, group_top_two, renormalize, scale = 2.5}
      -> tensor<?x6xi32>, tensor<?x6xf32>
  %ids2, %weights2 = rudnn.moe.route_sigmoid_grouped ins(%logits : tensor<?x64xf32>)
      outs(%i, %w : tensor<?x6xi32>, tensor<?x6xf32>) {groups = 1, selected_groups = 1}
      -> tensor<?x6xi32>, tensor<?x6xf32>
  return %weights, %weights2 : tensor<?x6xf32>, tensor<?x6xf32>
}

// CHECK-LABEL: @dispatch
// CHECK: rudnn.moe.dispatch ins(%{{.*}}, %{{.*}} : tensor<16x64xf16>, tensor<16x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>) -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>
func.func @dispatch(%x: tensor<16x64xf16>, %ids: tensor<16x2xi32>, %v: tensor<32x64xf16>, %o: tensor<9xi32>,
    %s: tensor<16x2xi32>, %r: tensor<32xi32>) -> (tensor<32x64xf16>, tensor<32xi32>) {
  %values, %offsets, %slot_rows, %row_slots, %row_experts = rudnn.moe.dispatch
      ins(%x, %ids : tensor<16x64xf16>, tensor<16x2xi32>)
      outs(%v, %o, %s, %r, %r : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>)
      -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>
  return %values, %row_experts : tensor<32x64xf16>, tensor<32xi32>
}

// CHECK-LABEL: @experts
// CHECK: rudnn.moe.experts ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<9xi32>) weights(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x64x128xf32>) outs(%{{.*}} : tensor<?x64xf32>) {strategy = #rudnn.experts_strategy<grouped>} -> tensor<?x64xf32>
// CHECK: rudnn.moe.experts {{.*}} outs(%{{.*}} : tensor<?x64xf32>) -> tensor<?x64xf32>
func.func @experts(%x: tensor<?x64xf32>, %o: tensor<9xi32>, %g: tensor<8x128x64xf32>,
    %u: tensor<8x128x64xf32>, %d: tensor<8x64x128xf32>, %i: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rudnn.moe.experts ins(%x, %o : tensor<?x64xf32>, tensor<9xi32>)
      weights(%g, %u, %d : tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x64x128xf32>)
      outs(%i : tensor<?x64xf32>) {strategy = #rudnn.experts_strategy<grouped>} -> tensor<?x64xf32>
  %z = rudnn.moe.experts ins(%y, %o : tensor<?x64xf32>, tensor<9xi32>)
      weights(%g, %u, %d : tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x64x128xf32>)
      outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// CHECK-LABEL: @combine_memref
// CHECK: rudnn.moe.combine ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<32x64xbf16>, memref<16x2xi32>, memref<16x2xf32>) outs(%{{.*}} : memref<16x64xbf16>)
func.func @combine_memref(%y: memref<32x64xbf16>, %s: memref<16x2xi32>, %w: memref<16x2xf32>, %out: memref<16x64xbf16>) {
  rudnn.moe.combine ins(%y, %s, %w : memref<32x64xbf16>, memref<16x2xi32>, memref<16x2xf32>)
      outs(%out : memref<16x64xbf16>)
  return
}
