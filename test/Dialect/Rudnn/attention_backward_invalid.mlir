// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @attention_backward_c1(%q: tensor<1x4x8x16xf32>, %k: tensor<2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c1: k has rank 3, expected rank 4}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c2(%q: tensor<1x4x8x16xf32>, %k: tensor<1x3x9x16xf32>, %v: tensor<1x3x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x3x9x16xf32>, %dv: tensor<1x3x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c2: q has 4 heads and k 3, expected a multiple of those of k}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x3x9x16xf32>, tensor<1x3x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x3x9x16xf32>, tensor<1x3x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x3x9x16xf32>, tensor<1x3x9x16xf32>
  return
}

// -----

func.func @attention_backward_c3(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x32xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x32xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c3: k has shape [1, 2, 9, 32], expected [1, 2, 9, 16]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x32xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x32xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x32xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c4(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x8x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x8x16xf32>) {
  // expected-error @+1 {{attention_backward_c4: v has shape [1, 2, 8, 16], expected [1, 2, 9, 16]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x8x16xf32>
  return
}

// -----

func.func @attention_backward_c5(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x7x16xf32>, %do: tensor<1x4x7x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c5: out has shape [1, 4, 7, 16], expected [1, 4, 8, 16]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x7x16xf32>, tensor<1x4x7x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c6(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xbf16>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c6: v has element type 'bf16', expected 'f32'}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xbf16>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c7(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x2x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c7: lse has shape [1, 2, 8], expected [1, 4, 8]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x2x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c8(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %mask: tensor<2x1x1x9xi1>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c8: mask has shape [2, 1, 1, 9], expected [1, 1, 1, 9]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) mask(%mask : tensor<2x1x1x9xi1>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c9(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %bias: tensor<4x8x9xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c9: bias has rank 3, expected rank 4}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) bias(%bias : tensor<4x8x9xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c10(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %sinks: tensor<2xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c10: sinks has shape [2], expected [4]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) sinks(%sinks : tensor<2xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c11(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c11: softcap is -2, expected a finite value greater than 0}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) {softcap = -2.0 : f64} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c12(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c12: window_left is -1, expected 0 to 2147483647 (leave it out for an open side)}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) {window_left = -1} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c13(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %off: index, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c13: query_offset is given with causal = none and no window, expected one of them}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) query_offset(%off)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c14(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x8xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c14: dout has shape [1, 4, 8, 8], expected [1, 4, 8, 16]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c14_type(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf16>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c14: dout has element type 'f16', expected 'f32'}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf16>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c15_bias(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>, %dbias: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{attention_backward_c15: bias_gradient is given without bias}}
  %r:4 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %dbias : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x9xf32>) {bias_gradient} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x9xf32>
  return
}

// -----

func.func @attention_backward_c15_sinks(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>, %dsinks: tensor<4xf32>) {
  // expected-error @+1 {{attention_backward_c15: sinks_gradient is given without sinks}}
  %r:4 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %dsinks : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4xf32>) {sinks_gradient} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4xf32>
  return
}

// -----

func.func @attention_backward_c16_dq(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x9x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c16: dq has shape [1, 4, 9, 16], expected [1, 4, 8, 16]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c16_dk(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x4x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c16: dk has shape [1, 4, 9, 16], expected [1, 2, 9, 16]}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x4x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c16_dv(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xbf16>) {
  // expected-error @+1 {{attention_backward_c16: dv has element type 'bf16', expected f32}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xbf16>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xbf16>
  return
}

// -----

func.func @attention_backward_c16_dbias(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %bias: tensor<1x1x8x9xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>, %dbias: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{attention_backward_c16: dbias has shape [1, 4, 8, 9], expected [1, 1, 8, 9]}}
  %r:4 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) bias(%bias : tensor<1x1x8x9xf32>)
      outs(%dq, %dk, %dv, %dbias : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x9xf32>) {bias_gradient} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x9xf32>
  return
}

// -----

func.func @attention_backward_c16_dsinks(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %sinks: tensor<4xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>, %dsinks: tensor<4xf16>) {
  // expected-error @+1 {{attention_backward_c16: dsinks has element type 'f16', expected f32}}
  %r:4 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) sinks(%sinks : tensor<4xf32>)
      outs(%dq, %dk, %dv, %dsinks : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4xf16>) {sinks_gradient} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4xf16>
  return
}

// -----

func.func @attention_backward_c17_outs(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %bias: tensor<1x1x8x9xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>, %dbias: tensor<1x1x8x9xf32>) {
  // expected-error @+1 {{attention_backward_c17: has 4 outs, expected 3}}
  %r:4 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) bias(%bias : tensor<1x1x8x9xf32>)
      outs(%dq, %dk, %dv, %dbias : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x1x8x9xf32>) -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x1x8x9xf32>
  return
}

// -----

func.func @attention_backward_c17_missing(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %bias: tensor<1x1x8x9xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c17: has 3 outs, expected 4}}
  %r:3 = rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) bias(%bias : tensor<1x1x8x9xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) {bias_gradient} -> tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>
  return
}

// -----

func.func @attention_backward_c17(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %o: tensor<1x4x8x16xf32>, %do: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %dq: tensor<1x4x8x16xf32>, %dk: tensor<1x2x9x16xf32>, %dv: tensor<1x2x9x16xf32>) {
  // expected-error @+1 {{attention_backward_c17: has 0 results, expected 3 (one per out)}}
  rudnn.attention_backward ins(%q, %k, %v, %o, %do, %l : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
  return
}
