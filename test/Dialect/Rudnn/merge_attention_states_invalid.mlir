// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @merge_attention_states_c1_none(%o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c1: has 0 states and 0 lses, expected at least one and as many lses}}
  %r = "rudnn.merge_attention_states"(%o) <{operandSegmentSizes = array<i32: 0, 0, 1>}>
      : (tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @merge_attention_states_c1(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf32>, %l0: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c1: has 2 states and 1 lses, expected at least one and as many lses}}
  %r = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) lses(%l0 : tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @merge_attention_states_c2_rank(%s0: tensor<1x2x3x8xf32>, %s1: tensor<2x3x8xf32>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c2: state 1 has rank 3, expected rank 4}}
  %r = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<2x3x8xf32>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @merge_attention_states_c2(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x4xf32>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c2: state 1 has shape [1, 2, 3, 4], expected [1, 2, 3, 8]}}
  %r = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x4xf32>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @merge_attention_states_c2_type(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf16>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c2: state 1 has element type 'f16', expected 'f32'}}
  %r = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf16>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @merge_attention_states_c3(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf32>, %l0: tensor<1x2x4xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c3: lse 0 has shape [1, 2, 4], expected [1, 2, 3]}}
  %r = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) lses(%l0, %l1 : tensor<1x2x4xf32>, tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @merge_attention_states_c3_out(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf32>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>, %l: tensor<1x2x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c3: lse out has shape [1, 2, 8], expected [1, 2, 3]}}
  %r:2 = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o, %l : tensor<1x2x3x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x3x8xf32>, tensor<1x2x8xf32>
  return
}

// -----

func.func @merge_attention_states_c3_type(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf32>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>, %l: tensor<1x2x3xf16>) {
  // expected-error @+1 {{merge_attention_states_c3: lse out has element type 'f16', expected 'f32'}}
  %r:2 = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o, %l : tensor<1x2x3x8xf32>, tensor<1x2x3xf16>) -> tensor<1x2x3x8xf32>, tensor<1x2x3xf16>
  return
}

// -----

func.func @merge_attention_states_c4(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf32>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xbf16>) {
  // expected-error @+1 {{merge_attention_states_c4: out has element type 'bf16', expected f32}}
  %r = rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xbf16>) -> tensor<1x2x3x8xbf16>
  return
}

// -----

// T14: a log-sum-exp in base 2 and one in base e never meet.
func.func @merge_attention_states_c5(%q: tensor<1x2x3x8xf32>, %l: tensor<1x2x3xf32>) -> tensor<1x2x3x8xf32> {
  %a:2 = rudnn.attention ins(%q, %q, %q : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>)
      outs(%q, %l : tensor<1x2x3x8xf32>, tensor<1x2x3xf32>) {lse_base = #rudnn.log_base<two>}
      -> tensor<1x2x3x8xf32>, tensor<1x2x3xf32>
  // expected-error @+1 {{merge_attention_states_c5: lse 1 is in base two, expected the lse_base of the op, e}}
  %r = rudnn.merge_attention_states states(%q, %a#0 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>)
      lses(%l, %a#1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%q : tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %r : tensor<1x2x3x8xf32>
}

// -----

func.func @merge_attention_states_c6(%s0: tensor<1x2x3x8xf32>, %s1: tensor<1x2x3x8xf32>, %l0: tensor<1x2x3xf32>, %l1: tensor<1x2x3xf32>, %o: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{merge_attention_states_c6: has 0 results, expected 1 (one per out)}}
  rudnn.merge_attention_states states(%s0, %s1 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) lses(%l0, %l1 : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
      outs(%o : tensor<1x2x3x8xf32>)
  return
}

// -----

func.func @merge_attention_states_c6_outs(%q: memref<1x2x3x8xf32>, %l: memref<1x2x3xf32>) {
  // expected-error @+1 {{merge_attention_states_c6: has 3 outs, expected 1 to 2}}
  rudnn.merge_attention_states states(%q : memref<1x2x3x8xf32>) lses(%l : memref<1x2x3xf32>)
      outs(%q, %l, %l : memref<1x2x3x8xf32>, memref<1x2x3xf32>, memref<1x2x3xf32>)
  return
}
