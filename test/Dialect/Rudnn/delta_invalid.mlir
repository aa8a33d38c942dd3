// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @gated_delta_rule_c1(%q: memref<2x4x5xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c1: q has rank 3, expected rank 4}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c1_zero(%q: memref<2x4x5x0xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c1: K is 0, expected at least 1}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x0xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c2(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x15xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c2: k has shape [2, 4, 5, 15], expected [2, 4, 5, 16]}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x15xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c3(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x6x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c3: v has 6 heads, expected a multiple of the 4 heads of q and k}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x6x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c3_tokens(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x6x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c3: v has shape [2, 8, 6, 32], expected [2, 8, 5, 32]}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x6x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c3_dynamic(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x?x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c3: Hv is dynamic, expected a static extent}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x?x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c4(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x4xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c4: beta has shape [2, 8, 4], expected [2, 8, 5]}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x4xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c5(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x4x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c5: log_decay has shape [2, 4, 5], expected [2, 8, 5]}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x4x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c6(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x32x16xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c6: initial_state has shape [2, 8, 32, 16], expected [2, 8, 16, 32]}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x32x16xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c7(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xbf16>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c7: beta has element type 'bf16', expected 'f32'}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xbf16>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c8(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x4x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c8: the final state has shape [2, 4, 16, 32], expected [2, 8, 16, 32]}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x4x16x32xf32>)
  return
}

// -----

func.func @gated_delta_rule_c8_type(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xbf16>) {
  // expected-error @+1 {{gated_delta_rule_c8: the final state has element type 'bf16', expected 'f32'}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xbf16>)
  return
}

// -----

func.func @gated_delta_rule_c9(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c9: scale is +Inf, expected a finite value}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>) {scale = 0x7FF0000000000000 : f64}
  return
}

// -----

func.func @gated_delta_rule_c10(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{gated_delta_rule_c10: has 1 outs, expected 2}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o : memref<2x8x5x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c1(%q: memref<2x4x5xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c1: q has rank 3, expected rank 4}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c1_zero(%q: memref<2x4x5x0xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c1: K is 0, expected at least 1}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x0xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c2(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x15xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c2: k has shape [2, 4, 5, 15], expected [2, 4, 5, 16]}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x15xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c3(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x6x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c3: v has 6 heads, expected a multiple of the 4 heads of q and k}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x6x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c3_tokens(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x6x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c3: v has shape [2, 8, 6, 32], expected [2, 8, 5, 32]}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x6x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c3_dynamic(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x?x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c3: Hv is dynamic, expected a static extent}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x?x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c4(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x4xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c4: beta has shape [2, 8, 4], expected [2, 8, 5]}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x4xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c5(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x4x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c5: log_decay has shape [2, 4, 5], expected [2, 8, 5]}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x4x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c6(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x32x16xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c6: initial_state has shape [2, 8, 32, 16], expected [2, 8, 16, 32]}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x32x16xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c7(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xbf16>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c7: beta has element type 'bf16', expected 'f32'}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xbf16>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c8(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x4x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c8: the final state has shape [2, 4, 16, 32], expected [2, 8, 16, 32]}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x4x16x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c8_type(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xbf16>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c8: the final state has element type 'bf16', expected 'f32'}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xbf16>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c9(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c9: scale is +Inf, expected a finite value}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>) {scale = 0x7FF0000000000000 : f64}
  return
}

// -----

func.func @chunk_gated_delta_rule_c10(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c10: has 1 outs, expected 2}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o : memref<2x8x5x32xf32>)
  return
}

// -----

func.func @chunk_gated_delta_rule_c11(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c11: chunk_size is 0, expected 1 to 4096}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>) {chunk_size = 0 : i64}
  return
}

// -----

func.func @chunk_gated_delta_rule_c11_large(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{chunk_gated_delta_rule_c11: chunk_size is 4097, expected 1 to 4096}}
  rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>) {chunk_size = 4097 : i64}
  return
}

// -----

func.func @log_decay_type(%q: memref<2x4x5x16xf32>, %k: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %g: memref<2x8x5xf16>, %s: memref<2x8x16x32xf32>, %o: memref<2x8x5x32xf32>, %f: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{operand #4 must be ranked tensor or memref of f32, but got 'memref<2x8x5xf16>'}}
  rudnn.gated_delta_rule ins(%q, %k, %v, %b, %g, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf16>, memref<2x8x16x32xf32>) outs(%o, %f : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>)
  return
}

// -----

// T25b: an option that the op doesn't have is refused, not dropped.
func.func @chunk_l2norm(%q: memref<2x4x5x16xf32>, %v: memref<2x8x5x32xf32>, %b: memref<2x8x5xf32>, %s: memref<2x8x16x32xf32>) {
  // expected-error @+1 {{has no attribute 'use_qk_l2norm_in_kernel': it would be ignored}}
  rudnn.chunk_gated_delta_rule ins(%q, %q, %v, %b, %b, %s : memref<2x4x5x16xf32>, memref<2x4x5x16xf32>, memref<2x8x5x32xf32>, memref<2x8x5xf32>, memref<2x8x5xf32>, memref<2x8x16x32xf32>) outs(%v, %s : memref<2x8x5x32xf32>, memref<2x8x16x32xf32>) {use_qk_l2norm_in_kernel}
  return
}
