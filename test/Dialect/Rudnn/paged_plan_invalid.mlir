// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c1: has 2 outs, expected 3}}
  %0:2 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m : tensor<8x5xi32>, tensor<4x3xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c1: has 0 results, expected 3 (one per out)}}
  rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
  return
}

// -----

func.func @f(%l: memref<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c1: mixes tensor and memref operands, expected one kind}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : memref<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4x1xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c2: lengths has rank 2, expected rank 1}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4x1xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9x1xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c2: sequence_ids has rank 2, expected rank 1}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9x1xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<i32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c2: positions has rank 0, expected rank 1}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<i32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<8xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c2: positions has shape [8], expected [9]}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<8xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c3: ranges has rank 1, expected rank 2}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<?x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c3: P (dim 0 of ranges) is dynamic, expected a static extent}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<?x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<?x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<65536x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c3: P (dim 0 of ranges) is 65536, expected at least 1 and at most 65535}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<65536x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<65536x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<0x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c3: P (dim 0 of ranges) is 0, expected at least 1 and at most 65535}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<0x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<0x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x4xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c3: ranges has shape [8, 4], expected [8, 5]}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x4xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x4xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<3x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c4: merges has shape [3, 3], expected [4, 3]}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<3x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<3x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{paged_plan_c5: counts has shape [3], expected [2]}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<3xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<3xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c6: tile_tokens is 0, expected 1 to 4294967295}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {tile_tokens = 0}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c6: tile_tokens is 4294967296, expected 1 to 4294967295}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {tile_tokens = 4294967296}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c7: fixed_cost is -1, expected 0 to 65535}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {fixed_cost = -1}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c7: fixed_cost is 65536, expected 0 to 65535}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {fixed_cost = 65536}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi32>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{paged_plan_c8: fixed_split is -1, expected 0 to 4294967295}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {fixed_split = -1}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<4xi64>, %s: tensor<9xi32>, %p: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or memref of i32}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<4xi64>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>)
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

// T19: a plan knows nothing of softcap and windows, so that none can differ from
// that of the attention; T20: nor of heads, so that layers share it.
func.func @softcap(%l: tensor<4xi32>, %s: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{has no attribute 'softcap': it would be ignored}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %s : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {softcap = 50.0 : f64}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}

// -----

func.func @heads(%l: tensor<4xi32>, %s: tensor<9xi32>, %r: tensor<8x5xi32>, %m: tensor<4x3xi32>, %c: tensor<2xi32>) {
  // expected-error @+1 {{has no attribute 'num_heads': it would be ignored}}
  %0:3 = rudnn.paged.plan ins(%l, %s, %s : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>) {num_heads = 48}
      -> tensor<8x5xi32>, tensor<4x3xi32>, tensor<2xi32>
  return
}
