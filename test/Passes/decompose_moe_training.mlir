// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -cse -verify-each | FileCheck %s

// A token with a bad id becomes NaN by an addition of 0 or NaN.
// CHECK-LABEL: @router_weights
// CHECK: arith.divf
// CHECK: %[[BAD:.*]] = linalg.generic {{.*}}"parallel", "reduction"]} ins(%arg1
// CHECK: arith.cmpi ult
// CHECK: arith.addf
// CHECK: tensor.extract
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BAD]] :
// CHECK: arith.mulf
// CHECK-NOT: rudnn.
func.func @router_weights(%l: tensor<?x8xbf16>, %ids: tensor<?x2xi64>, %i: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = rudnn.moe.router_weights ins(%l, %ids : tensor<?x8xbf16>, tensor<?x2xi64>) outs(%i : tensor<?x2xf32>)
      {renormalize, scale = 2.5} -> tensor<?x2xf32>
  return %w : tensor<?x2xf32>
}

// Sums over slots by comparing ids, no scatter: repeated ids just add up.
// CHECK-LABEL: @router_backward
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins(%arg1, %arg2
// CHECK: arith.cmpi eq
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} outs(%arg0 : tensor<?x8xbf16>)
// CHECK: arith.truncf
// CHECK-NOT: rudnn.
func.func @router_backward(%l: tensor<?x8xbf16>, %ids: tensor<?x2xi32>, %g: tensor<?x2xf32>) -> tensor<?x8xbf16> {
  %dl = rudnn.moe.router_backward ins(%l, %ids, %g : tensor<?x8xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      outs(%l : tensor<?x8xbf16>) {renormalize} -> tensor<?x8xbf16>
  return %dl : tensor<?x8xbf16>
}

// Rows gather their slot's gradient; weights reduce along their row.
// CHECK-LABEL: @combine_backward
// CHECK: linalg.generic {{.*}} ins(%arg3 : tensor<8xi32>) outs(%arg5 : tensor<8x6xbf16>)
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins(%arg2, %arg0
// CHECK: tensor.extract %arg1
// CHECK-NOT: rudnn.
func.func @combine_backward(%g: tensor<4x6xbf16>, %y: tensor<8x6xbf16>, %s: tensor<4x2xi32>, %r: tensor<8xi32>, %w: tensor<4x2xf32>,
    %i: tensor<8x6xbf16>) -> (tensor<8x6xbf16>, tensor<4x2xf32>) {
  %dy, %dw = rudnn.moe.combine_backward ins(%g, %y, %s, %r, %w : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>)
      outs(%i, %w : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return %dy, %dw : tensor<8x6xbf16>, tensor<4x2xf32>
}

// CHECK-LABEL: @dispatch_backward
// CHECK: linalg.generic {{.*}}"parallel", "reduction", "parallel"]} ins(%arg1 : tensor<4x2xi32>) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK: tensor.extract %arg0
// CHECK-NOT: rudnn.
func.func @dispatch_backward(%g: tensor<8x6xf16>, %s: tensor<4x2xi32>, %i: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %dx = rudnn.moe.dispatch_backward ins(%g, %s : tensor<8x6xf16>, tensor<4x2xi32>) outs(%i : tensor<4x6xf16>) -> tensor<4x6xf16>
  return %dx : tensor<4x6xf16>
}

// Eight products an expert, on the slices of its rows and weights.
// CHECK-LABEL: @experts_backward
// CHECK: scf.for {{.*}} -> (tensor<?x4xf16>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
// CHECK-COUNT-8: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
// CHECK-COUNT-4: tensor.insert_slice
// CHECK: scf.yield
// CHECK-NOT: rudnn.
func.func @experts_backward(%dy: tensor<?x4xf16>, %x: tensor<?x4xf16>, %o: tensor<3xi32>, %g: tensor<2x6x4xf16>,
    %u: tensor<2x6x4xf16>, %d: tensor<2x4x6xf16>, %ig: tensor<2x6x4xf32>, %id: tensor<2x4x6xf32>)
    -> (tensor<?x4xf16>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) {
  %dx, %dg, %du, %dd = rudnn.moe.experts_backward ins(%dy, %x, %o : tensor<?x4xf16>, tensor<?x4xf16>, tensor<3xi32>)
      weights(%g, %u, %d : tensor<2x6x4xf16>, tensor<2x6x4xf16>, tensor<2x4x6xf16>)
      outs(%x, %ig, %ig, %id : tensor<?x4xf16>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      {strategy = #rudnn.experts_strategy<per_expert>}
      -> tensor<?x4xf16>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
  return %dx, %dg, %du, %dd : tensor<?x4xf16>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
}
