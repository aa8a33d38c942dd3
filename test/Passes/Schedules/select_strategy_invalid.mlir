// RUN: rudnn-opt %s -rudnn-select-strategy=chip=sm_80 -split-input-file -verify-diagnostics

!f = tensor<1x4x?x128xf32>
func.func @element(%f: !f) -> !f {
  // expected-error @+1 {{rudnn.strategy is "schedule", which is not possible: the elements are neither f16 nor bf16}}
  %b = rudnn.attention ins(%f, %f, %f : !f, !f, !f) outs(%f : !f) {rudnn.strategy = "schedule"} -> !f
  return %b : !f
}

// -----

!f = tensor<1x4x?x128xbf16>
func.func @word(%f: !f) -> !f {
  // expected-error @+1 {{rudnn.strategy is "fast", expected "schedule" or "fallback"}}
  %b = rudnn.attention ins(%f, %f, %f : !f, !f, !f) outs(%f : !f) {rudnn.strategy = "fast"} -> !f
  return %b : !f
}

// -----

func.func @none(%x: tensor<4x8xbf16>) -> (tensor<4x2xi32>, tensor<4x2xf32>) {
  %i = tensor.empty() : tensor<4x2xi32>
  %p = tensor.empty() : tensor<4x2xf32>
  // expected-error @+1 {{rudnn.strategy is "schedule", which is not possible: no schedule makes kernels of this op}}
  %a, %b = rudnn.moe.route_sigmoid_grouped ins(%x : tensor<4x8xbf16>) outs(%i, %p : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 2 : i64, selected_groups = 1 : i64, rudnn.strategy = "schedule"} -> tensor<4x2xi32>, tensor<4x2xf32>
  return %a, %b : tensor<4x2xi32>, tensor<4x2xf32>
}
