// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse | FileCheck %s

// A warp for each token; 65 logits are three for each lane.
func.func @route(%logits: memref<?x65xbf16>, %ids: memref<?x8xi32>, %weights: memref<?x8xf32>) {
  rudnn.moe.route ins(%logits : memref<?x65xbf16>) outs(%ids, %weights : memref<?x8xi32>, memref<?x8xf32>) {renormalize}
  return
}

// CHECK-LABEL: func.func @route(
// CHECK-SAME:    %[[LOGITS:[^:]*]]: {{.*}}, %[[IDS:[^:]*]]: {{.*}}, %[[WEIGHTS:[^:]*]]:
// CHECK:       gpu.launch {{.*}} in (%{{.*}} = %c128
// CHECK-COUNT-3: memref.load %[[LOGITS]]
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-3: math.exp
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-3: arith.divf
// A round over the lanes for each choice; what is taken gets -1.
// CHECK:         scf.for %{{.*}} = %c0 to %c8
// CHECK-COUNT-10:  gpu.shuffle xor
// CHECK-COUNT-3:   arith.select %{{.*}}, %cst{{.*}}, %{{.*}} : f32
// CHECK:           scf.yield
// The sum of the choices.
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         memref.store %{{.*}}, %[[IDS]]
// CHECK:         memref.store %{{.*}}, %[[WEIGHTS]]
