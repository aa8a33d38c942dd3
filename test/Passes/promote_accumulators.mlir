// RUN: rudnn-opt %s -rudnn-promote-accumulators -verify-each | FileCheck %s

// Sums in f32 from a filled f32 tensor, one rounding at the end.
// CHECK-LABEL: @matmul
// CHECK: %[[ZERO:.*]] = arith.extf
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<?x16xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]
// CHECK-SAME: outs(%[[INIT]] : tensor<?x16xf32>)
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<?x16xf32>) outs(%{{.*}} : tensor<?x16xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @matmul(%a: tensor<?x8xbf16>, %b: tensor<8x16xbf16>, %e: tensor<?x16xbf16>) -> tensor<?x16xbf16> {
  %zero = arith.constant 0.0 : bf16
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x16xbf16>) -> tensor<?x16xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<?x8xbf16>, tensor<8x16xbf16>) outs(%c : tensor<?x16xbf16>) -> tensor<?x16xbf16>
  return %r : tensor<?x16xbf16>
}

// An f32 result needs nothing.
// CHECK-LABEL: @already
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: return
func.func @already(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x16xf16>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
