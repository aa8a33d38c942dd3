// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @router
// CHECK: rudnn.moe.router_weights ins(%{{.*}}, %{{.*}} : tensor<?x8xbf16>, tensor<?x2xi64>) outs(%{{.*}} : tensor<?x2xf32>) {renormalize, scale = 2.500000e+00 : f64, scoring = #rudnn.router_scoring<sigmoid>} -> tensor<?x2xf32>
// CHECK: rudnn.moe.router_backward ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xbf16>, tensor<?x2xi64>, tensor<?x2xf32>) outs(%{{.*}} : tensor<?x8xbf16>) -> tensor<?x8xbf16>
func.func @router(%l: tensor<?x8xbf16>, %ids: tensor<?x2xi64>, %i: tensor<?x2xf32>) -> tensor<?x8xbf16> {
  %w = rudnn.moe.router_weights ins(%l, %ids : tensor<?x8xbf16>, tensor<?x2xi64>) outs(%i : tensor<?x2xf32>)
      {scoring = #rudnn.router_scoring<sigmoid>, renormalize, scale = 2.5} -> tensor<?x2xf32>
  %dl = rudnn.moe.router_backward ins(%l, %ids, %w : tensor<?x8xbf16>, tensor<?x2xi64>, tensor<?x2xf32>)
      outs(%l : tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return %dl : tensor<?x8xbf16>
}

// CHECK-LABEL: @combine_backward
// CHECK: rudnn.moe.combine_backward ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x64xbf16>, tensor<32x64xbf16>, tensor<16x2xi32>, tensor<32xi32>, tensor<16x2xf32>) outs(%{{.*}}, %{{.*}} : tensor<32x64xbf16>, tensor<16x2xf32>) -> tensor<32x64xbf16>, tensor<16x2xf32>
func.func @combine_backward(%g: tensor<16x64xbf16>, %y: tensor<32x64xbf16>, %s: tensor<16x2xi32>, %r: tensor<32xi32>,
    %w: tensor<16x2xf32>) -> tensor<32x64xbf16> {
  %dy, %dw = rudnn.moe.combine_backward ins(%g, %y, %s, %r, %w
      : tensor<16x64xbf16>, tensor<32x64xbf16>, tensor<16x2xi32>, tensor<32xi32>, tensor<16x2xf32>)
      outs(%y, %w : tensor<32x64xbf16>, tensor<16x2xf32>) -> tensor<32x64xbf16>, tensor<16x2xf32>
  return %dy : tensor<32x64xbf16>
}

// CHECK-LABEL: @experts_backward
// CHECK: rudnn.moe.experts_backward ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<3xi32>) weights(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) {strategy = #rudnn.experts_strategy<per_expert>} -> tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
func.func @experts_backward(%dy: tensor<?x4xf32>, %x: tensor<?x4xf32>, %o: tensor<3xi32>, %g: tensor<2x6x4xf32>,
    %u: tensor<2x6x4xf32>, %d: tensor<2x4x6xf32>) -> tensor<?x4xf32> {
  %dx, %dg, %du, %dd = rudnn.moe.experts_backward ins(%dy, %x, %o : tensor<?x4xf32>, tensor<?x4xf32>, tensor<3xi32>)
      weights(%g, %u, %d : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      outs(%x, %g, %u, %d : tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      {strategy = #rudnn.experts_strategy<per_expert>}
      -> tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
  return %dx : tensor<?x4xf32>
}

// CHECK-LABEL: @dispatch_backward_memref
// CHECK: rudnn.moe.dispatch_backward ins(%{{.*}}, %{{.*}} : memref<32x64xf16>, memref<16x2xi32>) outs(%{{.*}} : memref<16x64xf16>)
func.func @dispatch_backward_memref(%g: memref<32x64xf16>, %s: memref<16x2xi32>, %dx: memref<16x64xf16>) {
  rudnn.moe.dispatch_backward ins(%g, %s : memref<32x64xf16>, memref<16x2xi32>) outs(%dx : memref<16x64xf16>)
  return
}
