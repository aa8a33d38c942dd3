// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -cse -verify-each | FileCheck %s

// Softmax, then K times: the largest key, the first expert that has it, out.
// CHECK-LABEL: @route
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: arith.divf
// CHECK: arith.cmpf uno
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[KEYS:.*]] = %{{.*}}, %[[IDS:.*]] = %arg1)
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins(%[[KEYS]]
// CHECK: arith.maxnumf
// CHECK: %[[POS:.*]] = linalg.generic {{.*}}"parallel", "reduction"]} ins(%[[KEYS]]
// CHECK: arith.minsi
// CHECK: linalg.generic {{.*}} ins(%[[POS]] : tensor<?xi32>) outs(%[[KEYS]]
// CHECK: tensor.insert_slice %[[POS]] into %[[IDS]][0, %[[J]]]
// CHECK: tensor.extract %[[P]]
// CHECK: outs(%arg2 : tensor<?x2xbf16>)
// CHECK: arith.truncf
// CHECK-NOT: rudnn.
func.func @route(%logits: tensor<?x8xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xbf16>) -> (tensor<?x2xi32>, tensor<?x2xbf16>) {
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<?x8xbf16>) outs(%i, %w : tensor<?x2xi32>, tensor<?x2xbf16>) {renormalize}
      -> tensor<?x2xi32>, tensor<?x2xbf16>
  return %ids, %weights : tensor<?x2xi32>, tensor<?x2xbf16>
}

// The two largest of each group, two groups kept, then the experts.
// CHECK-LABEL: @route_sigmoid_grouped
// CHECK: math.absf
// CHECK: tensor.expand_shape
// CHECK: tensor.collapse_shape
// CHECK: scf.for {{.*}} -> (tensor<?x4xf32>)
// CHECK: arith.divui
// CHECK: scf.for {{.*}} -> (tensor<?x16xf32>, tensor<?x3xi32>)
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: rudnn.
func.func @route_sigmoid_grouped(%logits: tensor<?x16xf32>, %bias: tensor<16xf32>, %i: tensor<?x3xi32>, %w: tensor<?x3xf32>)
    -> (tensor<?x3xi32>, tensor<?x3xf32>) {
  %ids, %weights = rudnn.moe.route_sigmoid_grouped ins(%logits : tensor<?x16xf32>) bias(%bias : tensor<16xf32>)
      outs(%i, %w : tensor<?x3xi32>, tensor<?x3xf32>) {groups = 4, selected_groups = 2, group_top_two, scale = 2.5}
      -> tensor<?x3xi32>, tensor<?x3xf32>
  return %ids, %weights : tensor<?x3xi32>, tensor<?x3xf32>
}

// A counting sort of the slots (count, prefix sum, place), then a gather.
// CHECK-LABEL: @dispatch
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpi ult
// CHECK: scf.for {{.*}} -> (i32, tensor<9xi32>, tensor<9xi32>)
// CHECK: scf.for {{.*}} -> (tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>)
// CHECK: linalg.generic {{.*}} outs(%arg2 : tensor<?x64xf16>)
// CHECK: tensor.extract %arg0
// CHECK-NOT: rudnn.
func.func @dispatch(%x: tensor<?x64xf16>, %ids: tensor<?x2xi32>, %v: tensor<?x64xf16>, %o: tensor<9xi32>,
    %s: tensor<?x2xi32>, %r: tensor<?xi32>) -> (tensor<?x64xf16>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>) {
  %v1, %o1, %s1, %r1 = rudnn.moe.dispatch ins(%x, %ids : tensor<?x64xf16>, tensor<?x2xi32>)
      outs(%v, %o, %s, %r : tensor<?x64xf16>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>)
      -> tensor<?x64xf16>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>
  return %v1, %o1, %s1, %r1 : tensor<?x64xf16>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>
}

// One expert after the other: three products on the slice of its rows.
// CHECK-LABEL: @experts_per_expert
// CHECK-COUNT-2: linalg.fill
// CHECK: scf.for %[[E:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[Y:.*]] = %{{.*}}) -> (tensor<?x64xf32>)
// CHECK-DAG: %[[X:.*]] = tensor.extract_slice %arg0[%{{.*}}, 0] [%{{.*}}, 64] [1, 1]
// CHECK-DAG: tensor.extract_slice %arg2[%[[E]], 0, 0] [1, 128, 64]
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins(%[[X]], %{{.*}} : tensor<?x64xf32>, tensor<128x64xf32>)
// CHECK: tensor.extract_slice %arg3[%[[E]], 0, 0] [1, 128, 64]
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins(%[[X]], %{{.*}} : tensor<?x64xf32>, tensor<128x64xf32>)
// CHECK: math.exp
// CHECK: tensor.extract_slice %arg4[%[[E]], 0, 0] [1, 64, 128]
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]}
// CHECK: tensor.insert_slice %{{.*}} into %[[Y]]
// CHECK-NOT: rudnn.
func.func @experts_per_expert(%x: tensor<?x64xf32>, %o: tensor<9xi32>, %g: tensor<8x128x64xf32>,
    %u: tensor<8x128x64xf32>, %d: tensor<8x64x128xf32>, %i: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rudnn.moe.experts ins(%x, %o : tensor<?x64xf32>, tensor<9xi32>)
      weights(%g, %u, %d : tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x64x128xf32>)
      outs(%i : tensor<?x64xf32>) {strategy = #rudnn.experts_strategy<per_expert>} -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The experts in parallel.
// CHECK-LABEL: @experts_grouped
// CHECK: scf.forall (%{{.*}}) in (8) shared_outs(%{{.*}} = %{{.*}}) -> (tensor<?x64xbf16>)
// CHECK: arith.truncf
// CHECK: tensor.parallel_insert_slice
// CHECK-NOT: rudnn.
func.func @experts_grouped(%x: tensor<?x64xbf16>, %o: tensor<9xi32>, %g: tensor<8x128x64xbf16>,
    %u: tensor<8x128x64xbf16>, %d: tensor<8x64x128xbf16>, %i: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = rudnn.moe.experts ins(%x, %o : tensor<?x64xbf16>, tensor<9xi32>)
      weights(%g, %u, %d : tensor<8x128x64xbf16>, tensor<8x128x64xbf16>, tensor<8x64x128xbf16>)
      outs(%i : tensor<?x64xbf16>) {strategy = #rudnn.experts_strategy<grouped>} -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: @combine
// CHECK: linalg.generic {{.*}}"parallel", "reduction", "parallel"]} {{.*}} outs(%{{.*}} : tensor<16x64xf32>)
// CHECK: arith.cmpi ult
// CHECK: tensor.extract %arg0
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} outs(%arg3 : tensor<16x64xbf16>)
// CHECK: arith.truncf
// CHECK-NOT: rudnn.
func.func @combine(%y: tensor<32x64xbf16>, %s: tensor<16x2xi32>, %w: tensor<16x2xf32>, %i: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
  %out = rudnn.moe.combine ins(%y, %s, %w : tensor<32x64xbf16>, tensor<16x2xi32>, tensor<16x2xf32>)
      outs(%i : tensor<16x64xbf16>) -> tensor<16x64xbf16>
  return %out : tensor<16x64xbf16>
}
