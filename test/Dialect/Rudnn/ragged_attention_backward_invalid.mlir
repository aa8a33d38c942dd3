// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @ragged_attention_backward_c1(%q: tensor<8x4x16xf32>, %k: tensor<1x9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c1: k has rank 4, expected rank 3}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<1x9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c2(%q: tensor<8x4x16xf32>, %k: tensor<9x3x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c2: q has 4 heads and k 3, expected a multiple of those of k}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x3x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c3(%q: tensor<8x4x16xf32>, %k: tensor<9x2x32xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c3: k has shape [9, 2, 32], expected [9, 2, 16]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x32xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c4(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<8x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c4: v has shape [8, 2, 16], expected [9, 2, 16]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<8x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c5(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<7x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c5: out has shape [7, 4, 16], expected [8, 4, 16]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<7x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c6(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xbf16>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c6: v has element type 'bf16', expected 'f32'}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xbf16>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c7(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<2x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c7: lse has shape [2, 8], expected [4, 8]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<2x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c8(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<1x3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c8: key_offsets has rank 2, expected rank 1}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<1x3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c9(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<2xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c9: key_offsets has shape [2], expected [3]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<2xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c10(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %s: tensor<2xf32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c10: sinks has shape [2], expected [4]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<2xf32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c11(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c11: softcap is -2, expected a finite value greater than 0}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) {softcap = -2.0 : f64} -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c12(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c12: window_left is -1, expected 0 to 2147483647 (leave it out for an open side)}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) {window_left = -1} -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c13_shape(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x8xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c13: dout has shape [8, 4, 8], expected [8, 4, 16]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x8xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c13_type(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf16>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c13: dout has element type 'f16', expected 'f32'}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf16>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c14(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>, %i3: tensor<4xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c14: sinks_gradient is given without sinks}}
  %o:4 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2, %i3 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<4xf32>) {sinks_gradient} -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<4xf32>
  return
}

// -----

func.func @ragged_attention_backward_c15_dq(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<9x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c15: dq has shape [9, 4, 16], expected [8, 4, 16]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<9x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<9x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c15_dk(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x4x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c15: dk has shape [9, 4, 16], expected [9, 2, 16]}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x4x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>, tensor<9x4x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c15_dv(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xbf16>) {
  // expected-error @+1 {{ragged_attention_backward_c15: dv has element type 'bf16', expected f32}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xbf16>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xbf16>
  return
}

// -----

func.func @ragged_attention_backward_c15_dsinks(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %s: tensor<4xf32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>, %i3: tensor<4xf16>) {
  // expected-error @+1 {{ragged_attention_backward_c15: dsinks has element type 'f16', expected f32}}
  %o:4 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<4xf32>)
      outs(%i0, %i1, %i2, %i3 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<4xf16>) {sinks_gradient} -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<4xf16>
  return
}

// -----

func.func @ragged_attention_backward_c16_more(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>, %i3: tensor<4xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c16: has 4 outs, expected 3}}
  %o:4 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2, %i3 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<4xf32>) -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<4xf32>
  return
}

// -----

func.func @ragged_attention_backward_c16_fewer(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %s: tensor<4xf32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c16: has 3 outs, expected 4}}
  %o:3 = rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<4xf32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) {sinks_gradient} -> tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
  return
}

// -----

func.func @ragged_attention_backward_c16_results(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %out: tensor<8x4x16xf32>, %dout: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i0: tensor<8x4x16xf32>, %i1: tensor<9x2x16xf32>, %i2: tensor<9x2x16xf32>) {
  // expected-error @+1 {{ragged_attention_backward_c16: has 0 results, expected 3 (one per out)}}
  rudnn.ragged_attention_backward ins(%q, %k, %v, %out, %dout, %lse : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>)
      offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i0, %i1, %i2 : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>)
  return
}
