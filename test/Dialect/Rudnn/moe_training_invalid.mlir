// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @moe_router_weights_c1(%a0: tensor<8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c1: logits has rank 1, expected rank 2}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_weights_c1_dynamic(%a0: tensor<4x?xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c1: E, the second extent of logits, is dynamic, expected a static extent of at least 1}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x?xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_weights_c2(%a0: tensor<4x8xf16>, %a1: tensor<5x2xi32>, %a2: tensor<5x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c2: ids has shape [5, 2], expected [4, ?]}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<5x2xi32>) outs(%a2 : tensor<5x2xf32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @moe_router_weights_c2_zero(%a0: tensor<4x8xf16>, %a1: tensor<4x0xi64>, %a2: tensor<4x0xf32>) {
  // expected-error @+1 {{moe_router_weights_c2: K, the second extent of ids, is 0, expected a static extent of at least 1 and at most 8}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x0xi64>) outs(%a2 : tensor<4x0xf32>) -> tensor<4x0xf32>
  return
}

// -----

func.func @moe_router_weights_c2_experts(%a0: tensor<4x8xf16>, %a1: tensor<4x9xi32>, %a2: tensor<4x9xf32>) {
  // expected-error @+1 {{moe_router_weights_c2: K, the second extent of ids, is 9, expected a static extent of at least 1 and at most 8}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x9xi32>) outs(%a2 : tensor<4x9xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @moe_router_weights_c2_limit(%a0: tensor<4x128xf16>, %a1: tensor<4x65xi32>, %a2: tensor<4x65xf32>) {
  // expected-error @+1 {{moe_router_weights_c2: K, the second extent of ids, is 65, expected a static extent of at least 1 and at most 64}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x128xf16>, tensor<4x65xi32>) outs(%a2 : tensor<4x65xf32>) -> tensor<4x65xf32>
  return
}

// -----

func.func @moe_router_weights_c3(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf16>) {
  // expected-error @+1 {{moe_router_weights_c3: the output has element type 'f16', expected 'f32'}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf16>) -> tensor<4x2xf16>
  return
}

// -----

func.func @moe_router_weights_c3_shape(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x3xf32>) {
  // expected-error @+1 {{moe_router_weights_c3: the output has shape [4, 3], expected [4, 2]}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @moe_router_weights_c4(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c4: scale is 0, expected a finite value greater than 0}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>) {scale = 0.0} -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_weights_c4_negative(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c4: scale is -1, expected a finite value greater than 0}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>) {scale = -1.0} -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_weights_c4_nan(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c4: scale is NaN, expected a finite value greater than 0}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>) {scale = 0x7FF8000000000000 : f64} -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_weights_c4_inf(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c4: scale is +Inf, expected a finite value greater than 0}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>) {scale = 0x7FF0000000000000 : f64} -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_weights_c5(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_router_weights_c5: has 0 results, expected 1 (one per out)}}
  rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x2xf32>)
  return
}

// -----

func.func @moe_router_weights_ids(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi16>, %a2: tensor<4x2xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor or memref of i32 or i64}}
  %r:1 = rudnn.moe.router_weights ins(%a0, %a1 : tensor<4x8xf16>, tensor<4x2xi16>) outs(%a2 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @moe_router_backward_c1(%a0: tensor<4x0xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>, %a3: tensor<4x0xf16>) {
  // expected-error @+1 {{moe_router_backward_c1: E, the second extent of logits, is 0, expected a static extent of at least 1}}
  %r:1 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x0xf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%a3 : tensor<4x0xf16>) -> tensor<4x0xf16>
  return
}

// -----

func.func @moe_router_backward_c2(%a0: tensor<4x8xf16>, %a1: tensor<4x9xi32>, %a2: tensor<4x9xf32>, %a3: tensor<4x8xf16>) {
  // expected-error @+1 {{moe_router_backward_c2: K, the second extent of ids, is 9, expected a static extent of at least 1 and at most 8}}
  %r:1 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x8xf16>, tensor<4x9xi32>, tensor<4x9xf32>) outs(%a3 : tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @moe_router_backward_c3(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x3xf32>, %a3: tensor<4x8xf16>) {
  // expected-error @+1 {{moe_router_backward_c3: grad has shape [4, 3], expected [4, 2]}}
  %r:1 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x8xf16>, tensor<4x2xi32>, tensor<4x3xf32>) outs(%a3 : tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @moe_router_backward_c3_type(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf16>, %a3: tensor<4x8xf16>) {
  // expected-error @+1 {{moe_router_backward_c3: grad has element type 'f16', expected 'f32'}}
  %r:1 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x8xf16>, tensor<4x2xi32>, tensor<4x2xf16>) outs(%a3 : tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @moe_router_backward_c4(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>, %a3: tensor<4x8xf32>) {
  // expected-error @+1 {{moe_router_backward_c4: the output has element type 'f32', expected 'f16'}}
  %r:1 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x8xf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%a3 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @moe_router_backward_c5(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>, %a3: tensor<4x8xf16>) {
  // expected-error @+1 {{moe_router_backward_c5: scale is -1, expected a finite value greater than 0}}
  %r:1 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x8xf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%a3 : tensor<4x8xf16>) {scale = -1.0} -> tensor<4x8xf16>
  return
}

// -----

func.func @moe_router_backward_c6(%a0: tensor<4x8xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x2xf32>, %a3: tensor<4x8xf16>, %a4: tensor<4x8xf16>) {
  // expected-error @+1 {{moe_router_backward_c6: has 2 outs, expected 1}}
  %r:2 = rudnn.moe.router_backward ins(%a0, %a1, %a2 : tensor<4x8xf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%a3, %a4 : tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>, tensor<4x8xf16>
  return
}

// -----

func.func @moe_combine_backward_c1(%a0: tensor<4x0xbf16>, %a1: tensor<8x0xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x0xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c1: W, the second extent of y, is 0, expected at least 1}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x0xbf16>, tensor<8x0xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x0xbf16>, tensor<4x2xf32>) -> tensor<8x0xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c2(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<8xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c2: slot_rows has rank 1, expected rank 2}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<8xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c2_k(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x?xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c2: K, the second extent of slot_rows, is dynamic, expected a static extent of at least 1}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x?xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c3(%a0: tensor<4x7xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c3: grad has shape [4, 7], expected [4, 6]}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x7xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c3_type(%a0: tensor<4x6xf32>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c3: grad has element type 'f32', expected 'bf16'}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xf32>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c4(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<4xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c4: row_slots has shape [4], expected [8]}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<4xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c5(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x3xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c5: weights has shape [4, 3], expected [4, 2]}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x3xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xf32>) -> tensor<8x6xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c6(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xf32>, %a6: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_combine_backward_c6: dy has element type 'f32', expected 'bf16'}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xf32>, tensor<4x2xf32>) -> tensor<8x6xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_combine_backward_c7(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>, %a6: tensor<4x2xbf16>) {
  // expected-error @+1 {{moe_combine_backward_c7: dweights has element type 'bf16', expected 'f32'}}
  %r:2 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5, %a6 : tensor<8x6xbf16>, tensor<4x2xbf16>) -> tensor<8x6xbf16>, tensor<4x2xbf16>
  return
}

// -----

func.func @moe_combine_backward_c8(%a0: tensor<4x6xbf16>, %a1: tensor<8x6xbf16>, %a2: tensor<4x2xi32>, %a3: tensor<8xi32>, %a4: tensor<4x2xf32>, %a5: tensor<8x6xbf16>) {
  // expected-error @+1 {{moe_combine_backward_c8: has 1 outs, expected 2}}
  %r:1 = rudnn.moe.combine_backward ins(%a0, %a1, %a2, %a3, %a4 : tensor<4x6xbf16>, tensor<8x6xbf16>, tensor<4x2xi32>, tensor<8xi32>, tensor<4x2xf32>) outs(%a5 : tensor<8x6xbf16>) -> tensor<8x6xbf16>
  return
}

// -----

func.func @moe_experts_backward_c1(%a0: tensor<5x4xf16>, %a1: tensor<5x?xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c1: H, the second extent of x, is dynamic, expected a static extent of at least 1}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x?xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c2(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x5xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c2: gate has shape [3, 7, 5], expected [3, 7, 4]}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x5xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c3(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x4x7xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c3: up has shape [3, 4, 7], expected [3, 7, 4]}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x4x7xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c4(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf32>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c4: down has element type 'f32', expected 'f16'}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf32>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c5(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<3xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c5: offsets has shape [3], expected [4]}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<3xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c6(%a0: tensor<6x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c6: dy has shape [6, 4], expected [5, 4]}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<6x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c7(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf32>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c7: dx has element type 'f32', expected 'f16'}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf32>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf32>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c8(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf16>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c8: dgate has element type 'f16', expected 'f32'}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf16>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf16>, tensor<3x7x4xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c8_up(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x4x7xf32>, %a9: tensor<3x4x7xf32>) {
  // expected-error @+1 {{moe_experts_backward_c8: dup has shape [3, 4, 7], expected [3, 7, 4]}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x4x7xf32>, tensor<3x4x7xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x4x7xf32>, tensor<3x4x7xf32>
  return
}

// -----

func.func @moe_experts_backward_c8_down(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>, %a9: tensor<3x7x4xf32>) {
  // expected-error @+1 {{moe_experts_backward_c8: ddown has shape [3, 7, 4], expected [3, 4, 7]}}
  %r:4 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8, %a9 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x7x4xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x7x4xf32>
  return
}

// -----

func.func @moe_experts_backward_c9(%a0: tensor<5x4xf16>, %a1: tensor<5x4xf16>, %a2: tensor<4xi32>, %a3: tensor<3x7x4xf16>, %a4: tensor<3x7x4xf16>, %a5: tensor<3x4x7xf16>, %a6: tensor<5x4xf16>, %a7: tensor<3x7x4xf32>, %a8: tensor<3x7x4xf32>) {
  // expected-error @+1 {{moe_experts_backward_c9: has 3 outs, expected 4}}
  %r:3 = rudnn.moe.experts_backward ins(%a0, %a1, %a2 : tensor<5x4xf16>, tensor<5x4xf16>, tensor<4xi32>) weights(%a3, %a4, %a5 : tensor<3x7x4xf16>, tensor<3x7x4xf16>, tensor<3x4x7xf16>) outs(%a6, %a7, %a8 : tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>) -> tensor<5x4xf16>, tensor<3x7x4xf32>, tensor<3x7x4xf32>
  return
}

// -----

func.func @moe_dispatch_backward_c1(%a0: tensor<1x8x6xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x6xf16>) {
  // expected-error @+1 {{moe_dispatch_backward_c1: grad has rank 3, expected rank 2}}
  %r:1 = rudnn.moe.dispatch_backward ins(%a0, %a1 : tensor<1x8x6xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x6xf16>) -> tensor<4x6xf16>
  return
}

// -----

func.func @moe_dispatch_backward_c2(%a0: tensor<8x6xf16>, %a1: tensor<4x0xi32>, %a2: tensor<4x6xf16>) {
  // expected-error @+1 {{moe_dispatch_backward_c2: K, the second extent of slot_rows, is 0, expected a static extent of at least 1}}
  %r:1 = rudnn.moe.dispatch_backward ins(%a0, %a1 : tensor<8x6xf16>, tensor<4x0xi32>) outs(%a2 : tensor<4x6xf16>) -> tensor<4x6xf16>
  return
}

// -----

func.func @moe_dispatch_backward_c3(%a0: tensor<8x6xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x7xf16>) {
  // expected-error @+1 {{moe_dispatch_backward_c3: dx has shape [4, 7], expected [4, 6]}}
  %r:1 = rudnn.moe.dispatch_backward ins(%a0, %a1 : tensor<8x6xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x7xf16>) -> tensor<4x7xf16>
  return
}

// -----

func.func @moe_dispatch_backward_c3_type(%a0: tensor<8x6xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x6xf32>) {
  // expected-error @+1 {{moe_dispatch_backward_c3: dx has element type 'f32', expected 'f16'}}
  %r:1 = rudnn.moe.dispatch_backward ins(%a0, %a1 : tensor<8x6xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @moe_dispatch_backward_c4(%a0: tensor<8x6xf16>, %a1: tensor<4x2xi32>, %a2: tensor<4x6xf16>) {
  // expected-error @+1 {{moe_dispatch_backward_c4: has 0 results, expected 1 (one per out)}}
  rudnn.moe.dispatch_backward ins(%a0, %a1 : tensor<8x6xf16>, tensor<4x2xi32>) outs(%a2 : tensor<4x6xf16>)
  return
}
