// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @paged_attention_c1(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>, %o1: tensor<3x4xf32>, %o2: tensor<3x4xf32>) {
  // expected-error @+1 {{paged_attention_c1: has 3 outs, expected 1 to 2}}
  %r:3 = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1, %o2 : tensor<3x4x6xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4x6xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @paged_attention_c1_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c1: has 0 results, expected 1 (one per out)}}
  rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>)
  return
}

// -----

func.func @paged_attention_c2(%q: tensor<1x3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: q has rank 4, expected rank 3}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<1x3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c2_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: k has rank 3, expected rank 4}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c2_3(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: v has rank 3, expected rank 4}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c2_4(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<6xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: tables has rank 1, expected rank 2}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<6xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c2_5(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2x1xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: lengths has rank 2, expected rank 1}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2x1xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c2_6(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3x1xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: sequence_ids has rank 2, expected rank 1}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3x1xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c2_7(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3x1xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c2: positions has rank 2, expected rank 1}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3x1xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c3(%q: tensor<3x?x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c3: Hq (dim 1 of q) is dynamic, expected a static extent}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x?x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c3_2(%q: tensor<3x4x1025xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c3: D (dim 2 of q) is 1025, expected at least 1 and at most 1024}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x1025xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c3_3(%q: tensor<3x4x8xf32>, %k: tensor<5x2x0x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c3: Hkv (dim 2 of k) is 0, expected at least 1}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x0x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c3_4(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x0xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c3: Dv (dim 3 of v) is 0, expected at least 1 and at most 1024}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x0xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c4(%q: tensor<3x4x8xf32>, %k: tensor<5x2x3x8xf32>, %v: tensor<5x2x3x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c4: q has 4 heads, expected a multiple of the 3 heads of k}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x3x8xf32>, tensor<5x2x3x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c5(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x7xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c5: k has shape [5, 2, 2, 7], expected [5, 2, 2, 8]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x7xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c5_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x4x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c5: v has shape [5, 4, 2, 6], expected [5, 2, 2, 6]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x4x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c5_3(%q: tensor<3x4x8xf32>, %k: tensor<5x0x2x8xf32>, %v: tensor<5x0x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c5: the page size of k is 0, expected at least 1}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x0x2x8xf32>, tensor<5x0x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c6(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xbf16>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c6: k has element type 'bf16', expected 'f32'}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xbf16>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c6_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf16>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c6: v has element type 'f16', expected 'f32'}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf16>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c6_3(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf16>) {
  // expected-error @+1 {{paged_attention_c6: out has element type 'f16', expected 'f32'}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf16>) -> tensor<3x4x6xf16>
  return
}

// -----

func.func @paged_attention_c7(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<3xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c7: lengths has shape [3], expected [2]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c7_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<4xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c7: sequence_ids has shape [4], expected [3]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<4xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c7_3(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<2xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c7: positions has shape [2], expected [3]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c8(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_attention_c8: out has shape [3, 4, 8], expected [3, 4, 6]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_attention_c9(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>, %o1: tensor<4x3xf32>) {
  // expected-error @+1 {{paged_attention_c9: lse has shape [4, 3], expected [3, 4]}}
  %r:2 = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<3x4x6xf32>, tensor<4x3xf32>) -> tensor<3x4x6xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @paged_attention_c9_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>, %o1: tensor<3x4xbf16>) {
  // expected-error @+1 {{paged_attention_c9: lse has element type 'bf16', expected 'f32'}}
  %r:2 = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<3x4x6xf32>, tensor<3x4xbf16>) -> tensor<3x4x6xf32>, tensor<3x4xbf16>
  return
}

// -----

func.func @paged_attention_c10(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c10: scale is 0, expected a finite value greater than 0}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {scale = 0.0 : f64} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c11(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c11: softcap is -1, expected a finite value greater than 0}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {softcap = -1.0 : f64} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c12(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c12: window_left is -1, expected 0 or more}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {window_left = -1} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c12_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c12: window_right is -2, expected 0 or more}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {window_right = -2} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c13(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %sinks: tensor<2xf32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c13: sinks has shape [2], expected [4]}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      sinks(%sinks : tensor<2xf32>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c13_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %sinks: tensor<4xbf16>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c13: sinks has element type 'bf16', expected f32}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      sinks(%sinks : tensor<4xbf16>)
      outs(%o0 : tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c14(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c14: num_splits is 0, expected 1 to 32}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {num_splits = 0} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c14_2(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c14: num_splits is 33, expected 1 to 32}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {num_splits = 33} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_attention_c15(%q: tensor<3x4x8xf32>, %k: tensor<5x2x2x8xf32>, %v: tensor<5x2x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x6xf32>) {
  // expected-error @+1 {{paged_attention_c15: lse_base is two but there is no lse out, expected e}}
  %r = rudnn.paged.attention ins(%q, %k, %v : tensor<3x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x6xf32>) {lse_base = #rudnn.log_base<two>} -> tensor<3x4x6xf32>
  return
}

// -----

func.func @paged_mla_c1(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>, %o1: tensor<3x4xf32>, %o2: tensor<3x4xf32>) {
  // expected-error @+1 {{paged_mla_c1: has 3 outs, expected 1 to 2}}
  %r:3 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1, %o2 : tensor<3x4x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @paged_mla_c2(%q: tensor<3x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: q has rank 2, expected rank 3}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_2(%q: tensor<3x4x8xf32>, %qp: tensor<3x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: qp has rank 2, expected rank 3}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_3(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: latent has rank 3, expected rank 4}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_4(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: kp has rank 3, expected rank 4}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_5(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<6xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: tables has rank 1, expected rank 2}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<6xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_6(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2x1xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: lengths has rank 2, expected rank 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2x1xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_7(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3x1xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: sequence_ids has rank 2, expected rank 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3x1xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c2_8(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3x1xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c2: positions has rank 2, expected rank 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3x1xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c3(%q: tensor<3x0x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c3: H (dim 1 of q) is 0, expected at least 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x0x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c3_2(%q: tensor<3x4x1040xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c3: R (dim 2 of q) is 1040, expected at least 1 and at most 1024}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x1040xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c3_3(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x257xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c3: P (dim 2 of qp) is 257, expected at least 1 and at most 256}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x257xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c4(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x2x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c4: latent has 2 heads, expected 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x2x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c4_2(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x?x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c4: kp has a dynamic number of heads, expected 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x?x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c5(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x7xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c5: latent has shape [6, 2, 1, 7], expected [6, 2, 1, 8]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x7xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c5_2(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<5x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c5: kp has shape [5, 2, 1, 5], expected [6, 2, 1, 5]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<5x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c5_3(%q: tensor<3x4x8xf32>, %qp: tensor<3x2x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c5: qp has shape [3, 2, 5], expected [3, 4, 5]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x2x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c5_4(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x0x1x8xf32>, %kp: tensor<6x0x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c5: the page size of latent is 0, expected at least 1}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x0x1x8xf32>, tensor<6x0x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c6(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf16>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c6: qp has element type 'f16', expected 'f32'}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf16>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c6_2(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf16>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c6: latent has element type 'f16', expected 'f32'}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf16>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c6_3(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf16>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c6: kp has element type 'f16', expected 'f32'}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf16>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c6_4(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf16>) {
  // expected-error @+1 {{paged_mla_c6: out has element type 'f16', expected 'f32'}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf16>) {scale = 0.5 : f64} -> tensor<3x4x8xf16>
  return
}

// -----

func.func @paged_mla_c7(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<3xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c7: lengths has shape [3], expected [2]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c7_2(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<4xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c7: sequence_ids has shape [4], expected [3]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<4xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c7_3(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<2xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c7: positions has shape [2], expected [3]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c8(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x5xf32>) {
  // expected-error @+1 {{paged_mla_c8: out has shape [3, 4, 5], expected [3, 4, 8]}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x5xf32>) {scale = 0.5 : f64} -> tensor<3x4x5xf32>
  return
}

// -----

func.func @paged_mla_c9(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>, %o1: tensor<3xf32>) {
  // expected-error @+1 {{paged_mla_c9: lse has shape [3], expected [3, 4]}}
  %r:2 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<3x4x8xf32>, tensor<3xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>, tensor<3xf32>
  return
}

// -----

func.func @paged_mla_c9_2(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>, %o1: tensor<3x4xf16>) {
  // expected-error @+1 {{paged_mla_c9: lse has element type 'f16', expected 'f32'}}
  %r:2 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<3x4x8xf32>, tensor<3x4xf16>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>, tensor<3x4xf16>
  return
}

// -----

func.func @paged_mla_c10(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c10: scale is -0.5, expected a finite value greater than 0}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = -0.5 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c11(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c11: softcap is 0, expected a finite value greater than 0}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64, softcap = 0.0 : f64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c12(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c12: window_left is -1, expected 0 or more}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64, window_left = -1} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c13(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c13: num_splits is 64, expected 1 to 32}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64, num_splits = 64} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_mla_c14(%q: tensor<3x4x8xf32>, %qp: tensor<3x4x5xf32>, %c: tensor<6x2x1x8xf32>, %kp: tensor<6x2x1x5xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<3x4x8xf32>) {
  // expected-error @+1 {{paged_mla_c14: lse_base is two but there is no lse out, expected e}}
  %r = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<3x4x8xf32>, tensor<3x4x5xf32>, tensor<6x2x1x8xf32>, tensor<6x2x1x5xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<3x4x8xf32>) {scale = 0.5 : f64, lse_base = #rudnn.log_base<two>} -> tensor<3x4x8xf32>
  return
}

// -----

func.func @paged_append_c1(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>) {
  // expected-error @+1 {{paged_append_c1: has 1 outs, expected 2}}
  %r = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0 : tensor<5x4x2x8xf32>) -> tensor<5x4x2x8xf32>
  return
}

// -----

func.func @paged_append_c2(%k: tensor<3x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: new_k has rank 2, expected rank 3}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c2_2(%k: tensor<3x2x8xf32>, %v: tensor<3x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: new_v has rank 2, expected rank 3}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c2_3(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: the key cache has rank 3, expected rank 4}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c2_4(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x6xf32>) {
  // expected-error @+1 {{paged_append_c2: the value cache has rank 3, expected rank 4}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x6xf32>
  return
}

// -----

func.func @paged_append_c2_5(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<6xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: tables has rank 1, expected rank 2}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<6xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c2_6(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2x1xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: lengths has rank 2, expected rank 1}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2x1xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c2_7(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3x1xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: sequence_ids has rank 2, expected rank 1}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3x1xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c2_8(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3x1xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c2: positions has rank 2, expected rank 1}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3x1xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c3(%k: tensor<3x?x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c3: Hkv (dim 1 of new_k) is dynamic, expected a static extent}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x?x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c3_2(%k: tensor<3x2x?xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c3: D (dim 2 of new_k) is dynamic, expected a static extent}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x?xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c3_3(%k: tensor<3x2x8xf32>, %v: tensor<3x2x?xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c3: Dv (dim 2 of new_v) is dynamic, expected a static extent}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x?xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c4(%k: tensor<3x2x8xf32>, %v: tensor<4x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c4: new_v has shape [4, 2, 6], expected [3, 2, 6]}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<4x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c5(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x6xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c5: the key cache has shape [5, 4, 2, 6], expected [5, 4, 2, 8]}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x6xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x6xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c5_2(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x2x2x6xf32>) {
  // expected-error @+1 {{paged_append_c5: the value cache has shape [5, 2, 2, 6], expected [5, 4, 2, 6]}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x2x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x2x2x6xf32>
  return
}

// -----

func.func @paged_append_c5_3(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x0x2x8xf32>, %o1: tensor<5x0x2x6xf32>) {
  // expected-error @+1 {{paged_append_c5: the page size of the key cache is 0, expected at least 1}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x0x2x8xf32>, tensor<5x0x2x6xf32>) -> tensor<5x0x2x8xf32>, tensor<5x0x2x6xf32>
  return
}

// -----

func.func @paged_append_c6(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf16>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c6: new_v has element type 'f16', expected 'f32'}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf16>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c6_2(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf16>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c6: the key cache has element type 'f16', expected 'f32'}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf16>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf16>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c6_3(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf16>) {
  // expected-error @+1 {{paged_append_c6: the value cache has element type 'f16', expected 'f32'}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf16>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf16>
  return
}

// -----

func.func @paged_append_c7(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<3xi32>, %s: tensor<3xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c7: lengths has shape [3], expected [2]}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c7_2(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<4xi32>, %p: tensor<3xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c7: sequence_ids has shape [4], expected [3]}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<4xi32>, tensor<3xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

func.func @paged_append_c7_3(%k: tensor<3x2x8xf32>, %v: tensor<3x2x6xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>, %p: tensor<2xi32>, %o0: tensor<5x4x2x8xf32>, %o1: tensor<5x4x2x6xf32>) {
  // expected-error @+1 {{paged_append_c7: positions has shape [2], expected [3]}}
  %r:2 = rudnn.paged.append ins(%k, %v : tensor<3x2x8xf32>, tensor<3x2x6xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>)
      outs(%o0, %o1 : tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>) -> tensor<5x4x2x8xf32>, tensor<5x4x2x6xf32>
  return
}

// -----

// T16: 8-bit caches have scales that no operand gives: refused, never read unscaled.
func.func @paged_attention_f8(%q: tensor<3x4x8xbf16>, %k: tensor<5x2x2x8xf8E4M3FN>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor or memref of f32, f16 or bf16, but got 'tensor<5x2x2x8xf8E4M3FN>'}}
  %r = rudnn.paged.attention ins(%q, %k, %k : tensor<3x4x8xbf16>, tensor<5x2x2x8xf8E4M3FN>, tensor<5x2x2x8xf8E4M3FN>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q : tensor<3x4x8xbf16>) -> tensor<3x4x8xbf16>
  return
}
