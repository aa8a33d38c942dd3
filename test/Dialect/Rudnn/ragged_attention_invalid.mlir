// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @ragged_attention_c1_q(%q: tensor<1x8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c1: q has rank 4, expected rank 3}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<1x8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c1_k(%q: tensor<8x4x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c1: k has rank 2, expected rank 3}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c1_v(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<1x9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c1: v has rank 4, expected rank 3}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<1x9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c1_out(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x64xf32>) {
  // expected-error @+1 {{ragged_attention_c1: out has rank 2, expected rank 3}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @ragged_attention_c2_dynamic(%q: tensor<8x?x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c2: Hq, an extent of q, is dynamic, expected a static extent of at least 1}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x?x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c2_zero(%q: tensor<8x4x16xf32>, %k: tensor<9x0x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c2: Hkv, an extent of k, is 0, expected a static extent of at least 1}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x0x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c2_value_dim(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x?xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c2: Dv, an extent of v, is dynamic, expected a static extent of at least 1}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x?xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c2_groups(%q: tensor<8x4x16xf32>, %k: tensor<9x3x16xf32>, %v: tensor<9x3x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c2: q has 4 heads and k 3, expected a multiple of those of k}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x3x16xf32>, tensor<9x3x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c3(%q: tensor<8x4x16xf32>, %k: tensor<9x2x32xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c3: k has shape [9, 2, 32], expected [9, 2, 16]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x32xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c4_rows(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<8x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c4: v has shape [8, 2, 16], expected [9, 2, 16]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<8x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c4_heads(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x4x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c4: v has shape [9, 4, 16], expected [9, 2, 16]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x4x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c5_rows(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<9x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c5: out has shape [9, 4, 16], expected [8, 4, 16]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<9x4x16xf32>) -> tensor<9x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c5_dim(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x32xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c5: out has shape [8, 4, 16], expected [8, 4, 32]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c6_k(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf16>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c6: k has element type 'f16', expected 'f32'}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf16>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c6_out(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xbf16>) {
  // expected-error @+1 {{ragged_attention_c6: out has element type 'bf16', expected 'f32'}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
  return
}

// -----

func.func @ragged_attention_c7_shape(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>, %l: tensor<8x4xf32>) {
  // expected-error @+1 {{ragged_attention_c7: lse has shape [8, 4], expected [4, 8]}}
  %o:2 = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i, %l : tensor<8x4x16xf32>, tensor<8x4xf32>) -> tensor<8x4x16xf32>, tensor<8x4xf32>
  return
}

// -----

func.func @ragged_attention_c7_type(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>, %l: tensor<4x8xf16>) {
  // expected-error @+1 {{ragged_attention_c7: lse has element type 'f16', expected 'f32'}}
  %o:2 = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i, %l : tensor<8x4x16xf32>, tensor<4x8xf16>) -> tensor<8x4x16xf32>, tensor<4x8xf16>
  return
}

// -----

func.func @ragged_attention_c8_rank(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3x1xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c8: query_offsets has rank 2, expected rank 1}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3x1xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c8_empty(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<0xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c8: key_offsets has no element, expected one more than there are sequences}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<0xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c9(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<4xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c9: key_offsets has shape [4], expected [3]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<4xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c10_shape(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %s: tensor<2xf32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c10: sinks has shape [2], expected [4]}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<2xf32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c10_type(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %s: tensor<4xbf16>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c10: sinks has element type 'bf16', expected f32}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>) sinks(%s : tensor<4xbf16>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c11(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c11: softcap is 0, expected a finite value greater than 0}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) {softcap = 0.0 : f64} -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c12_left(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c12: window_left is -1, expected 0 to 2147483647 (leave it out for an open side)}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) {window_left = -1} -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c12_right(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c12: window_right is 4294967296, expected 0 to 2147483647 (leave it out for an open side)}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) {window_right = 4294967296} -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c13(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c13: lse_base is two without an lse result, expected e}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) {lse_base = #rudnn.log_base<two>} -> tensor<8x4x16xf32>
  return
}

// -----

func.func @ragged_attention_c14_results(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c14: has 0 results, expected 1 (one per out)}}
  rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>)
  return
}

// -----

func.func @ragged_attention_c14_outs(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>, %l: tensor<4x8xf32>, %m: tensor<4x8xf32>) {
  // expected-error @+1 {{ragged_attention_c14: has 3 outs, expected 1 to 2}}
  %o:3 = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i, %l, %m : tensor<8x4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @ragged_attention_c14_mixed(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: memref<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{ragged_attention_c14: mixes tensor and memref operands, expected one kind}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : memref<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @offset_type(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi64>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{operand #3 must be ranked tensor or memref of i32, but got 'tensor<3xi64>'}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi64>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

func.func @unknown_attribute(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<8x4x16xf32>) {
  // expected-error @+1 {{has no attribute 'max_seqlen_q': it would be ignored (attributes for passes have the prefix of a dialect)}}
  %o = rudnn.ragged_attention ins(%q, %k, %v : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %b : tensor<3xi32>, tensor<3xi32>)
      outs(%i : tensor<8x4x16xf32>) {max_seqlen_q = 8} -> tensor<8x4x16xf32>
  return
}

// -----

// A mask or a bias has no packed form.
func.func @mask(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %a: tensor<3xi32>, %m: tensor<1x1x8x9xi1>) {
  %o = rudnn.ragged_attention ins(%q, %k, %k : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) offsets(%a, %a : tensor<3xi32>, tensor<3xi32>)
      // expected-error @+1 {{expected 'outs'}}
      mask(%m : tensor<1x1x8x9xi1>) outs(%q : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}
