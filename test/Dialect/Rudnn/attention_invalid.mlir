// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @attention_c1_q(%q: tensor<4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c1: q has rank 3, expected rank 4}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c1_k(%q: tensor<1x4x8x16xf32>, %k: tensor<2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c1: k has rank 3, expected rank 4}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c1_v(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c1: v has rank 5, expected rank 4}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c1_out(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<4x8x16xf32>) {
  // expected-error @+1 {{attention_c1: out has rank 3, expected rank 4}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @attention_c2_dynamic(%q: tensor<1x?x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c2: Hq, an extent of q, is dynamic, expected a static extent of at least 1}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x?x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c2_zero(%q: tensor<1x4x8x16xf32>, %k: tensor<1x0x9x16xf32>, %v: tensor<1x0x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c2: Hkv, an extent of k, is 0, expected a static extent of at least 1}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x0x9x16xf32>, tensor<1x0x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c2_head_dim(%q: tensor<1x4x8x0xf32>, %k: tensor<1x2x9x0xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c2: D, an extent of q, is 0, expected a static extent of at least 1}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x0xf32>, tensor<1x2x9x0xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c2_value_dim(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x?xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c2: Dv, an extent of v, is dynamic, expected a static extent of at least 1}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x?xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c2_group(%q: tensor<1x4x8x16xf32>, %k: tensor<1x3x9x16xf32>, %v: tensor<1x3x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c2: q has 4 heads and k 3, expected a multiple of those of k}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x3x9x16xf32>, tensor<1x3x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c3_batch(%q: tensor<1x4x8x16xf32>, %k: tensor<2x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c3: k has shape [2, 2, 9, 16], expected [1, 2, 9, 16]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<2x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c3_head_dim(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x32xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c3: k has shape [1, 2, 9, 32], expected [1, 2, 9, 16]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x32xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c4_keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x8x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c4: v has shape [1, 2, 8, 16], expected [1, 2, 9, 16]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x8x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c4_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x4x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c4: v has shape [1, 4, 9, 16], expected [1, 2, 9, 16]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c4_batch(%q: tensor<1x4x8x16xf32>, %k: tensor<?x2x9x16xf32>, %v: tensor<2x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c4: v has shape [2, 2, 9, 16], expected [1, 2, 9, 16]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<?x2x9x16xf32>, tensor<2x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c5_rows(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x9x16xf32>) {
  // expected-error @+1 {{attention_c5: out has shape [1, 4, 9, 16], expected [1, 4, 8, 16]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x9x16xf32>) -> tensor<1x4x9x16xf32>
  return
}

// -----

func.func @attention_c5_value_dim(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x32xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c5: out has shape [1, 4, 8, 16], expected [1, 4, 8, 32]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x32xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c6_k(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf16>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c6: k has element type 'f16', expected 'f32'}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf16>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c6_v(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xbf16>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c6: v has element type 'bf16', expected 'f32'}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xbf16>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c6_out(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf16>) {
  // expected-error @+1 {{attention_c6: out has element type 'f16', expected 'f32'}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf16>) -> tensor<1x4x8x16xf16>
  return
}

// -----

func.func @attention_c7(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>, %l: tensor<1x4x9xf32>) {
  // expected-error @+1 {{attention_c7: lse has shape [1, 4, 9], expected [1, 4, 8]}}
  %o:2 = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i, %l : tensor<1x4x8x16xf32>, tensor<1x4x9xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x9xf32>
  return
}

// -----

func.func @attention_c7_type(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf16>) {
  // expected-error @+1 {{attention_c7: lse has element type 'f16', expected 'f32'}}
  %o:2 = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i, %l : tensor<1x4x8x16xf32>, tensor<1x4x8xf16>) -> tensor<1x4x8x16xf32>, tensor<1x4x8xf16>
  return
}

// -----

func.func @attention_c8_rank(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %m: tensor<8x9xi1>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c8: mask has rank 2, expected rank 4}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) mask(%m : tensor<8x9xi1>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c8(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %m: tensor<1x3x8x9xi1>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c8: mask has shape [1, 3, 8, 9], expected [1, 4, 8, 9]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) mask(%m : tensor<1x3x8x9xi1>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c9_rank(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %b: tensor<4x8x9xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c9: bias has rank 3, expected rank 4}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) bias(%b : tensor<4x8x9xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c9(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %b: tensor<1x1x2x9xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c9: bias has shape [1, 1, 2, 9], expected [1, 1, 8, 9]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) bias(%b : tensor<1x1x2x9xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c9_keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %b: tensor<1x1x1x3xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c9: bias has shape [1, 1, 1, 3], expected [1, 1, 1, 9]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) bias(%b : tensor<1x1x1x3xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c9_type(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %b: tensor<1x4x8x9xf16>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c9: bias has element type 'f16', expected f32}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) bias(%b : tensor<1x4x8x9xf16>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c10(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %s: tensor<2xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c10: sinks has shape [2], expected [4]}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) sinks(%s : tensor<2xf32>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c10_type(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %s: tensor<4xbf16>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c10: sinks has element type 'bf16', expected f32}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) sinks(%s : tensor<4xbf16>)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c11(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c11: softcap is 0, expected a finite value greater than 0}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {softcap = 0.0 : f64} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c11_negative(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c11: softcap is -1, expected a finite value greater than 0}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {softcap = -1.0 : f64} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c11_nan(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c11: softcap is NaN, expected a finite value greater than 0}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {softcap = 0x7FF8000000000000 : f64} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c12_left(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c12: window_left is -1, expected 0 to 2147483647 (leave it out for an open side)}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {window_left = -1} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c12_right(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c12: window_right is -3, expected 0 to 2147483647 (leave it out for an open side)}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {window_right = -3} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c12_large(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c12: window_left is 4294967296, expected 0 to 2147483647 (leave it out for an open side)}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {window_left = 4294967296} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c12_causal(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c12: window_right is -3, expected 0 to 2147483647 (leave it out for an open side)}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {window_right = -3, causal = #rudnn.causal<top_left>} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c13(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %off: index, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c13: query_offset is given with causal = none and no window, expected one of them}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) query_offset(%off)
      outs(%i : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c14(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c14: lse_base is two without an lse result, expected e}}
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>) {lse_base = #rudnn.log_base<two>} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c15(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c15: has 0 results, expected 1 (one per out)}}
  rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i : tensor<1x4x8x16xf32>)
  return
}

// -----

func.func @attention_c15_outs(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %i: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>) {
  // expected-error @+1 {{attention_c15: has 3 outs, expected 1 to 2}}
  %o:3 = rudnn.attention ins(%q, %k, %v : tensor<1x4x8x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>)
      outs(%i, %l, %i : tensor<1x4x8x16xf32>, tensor<1x4x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x8xf32>, tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c15_mixed(%q: tensor<1x4x8x16xf32>, %o: memref<1x4x8x16xf32>) {
  // expected-error @+1 {{attention_c15: mixes tensor and memref operands, expected one kind}}
  rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      outs(%o : memref<1x4x8x16xf32>)
  return
}

// -----

func.func @mask_type(%q: tensor<1x4x8x16xf32>, %m: tensor<1x4x8x8xi32>) {
  // expected-error @+1 {{operand #3 must be ranked tensor or memref of i1}}
  %o = rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
      mask(%m : tensor<1x4x8x8xi32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

// T16: 8-bit floats have scales that no operand gives: refused, never read unscaled.
func.func @attention_f8(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x9x16xf8E4M3FN>, %i: tensor<1x4x8x16xf16>) {
  // expected-error @+1 {{operand #1 must be ranked tensor or memref of f32, f16 or bf16, but got 'tensor<1x2x9x16xf8E4M3FN>'}}
  %o = rudnn.attention ins(%q, %k, %k : tensor<1x4x8x16xf16>, tensor<1x2x9x16xf8E4M3FN>, tensor<1x2x9x16xf8E4M3FN>)
      outs(%i : tensor<1x4x8x16xf16>) -> tensor<1x4x8x16xf16>
  return
}

// -----

// An attribute that the op doesn't have would be ignored.
func.func @attention_unknown_attribute(%q: tensor<1x4x8x16xf16>, %i: tensor<1x4x8x16xf16>) {
  // expected-error @+1 {{has no attribute 'k_scale': it would be ignored (attributes for passes have the prefix of a dialect)}}
  %o = rudnn.attention ins(%q, %q, %q : tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>)
      outs(%i : tensor<1x4x8x16xf16>) {k_scale = 0.25 : f64} -> tensor<1x4x8x16xf16>
  return
}
