// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @rms_norm_c1(%x: tensor<f32>, %g: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{rms_norm_c1: x has rank 0, expected at least rank 1}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<f32>, tensor<4xf32>) outs(%x : tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @rms_norm_c1_empty(%x: tensor<3x0xf32>, %g: tensor<0xf32>) -> tensor<3x0xf32> {
  // expected-error @+1 {{rms_norm_c1: the last axis of x has extent 0, expected at least 1}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<3x0xf32>, tensor<0xf32>) outs(%x : tensor<3x0xf32>) -> tensor<3x0xf32>
  return %y : tensor<3x0xf32>
}

// -----

func.func @rms_norm_c2(%x: tensor<3x4xf32>, %g: tensor<4xf32>, %i: tensor<3x4xbf16>) -> tensor<3x4xbf16> {
  // expected-error @+1 {{rms_norm_c2: the output has element type 'bf16', expected 'f32'}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%i : tensor<3x4xbf16>) -> tensor<3x4xbf16>
  return %y : tensor<3x4xbf16>
}

// -----

func.func @rms_norm_c2_shape(%x: tensor<?x4xf32>, %g: tensor<4xf32>, %i: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{rms_norm_c2: the output has shape [3, 5], expected [?, 4]}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%i : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @rms_norm_c3(%x: tensor<3x4xf32>, %g: tensor<5xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{rms_norm_c3: gamma has shape [5], expected [4]}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<5xf32>) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @rms_norm_c3_type(%x: tensor<3x4xf16>, %g: tensor<4xbf16>) -> tensor<3x4xf16> {
  // expected-error @+1 {{rms_norm_c3: gamma has element type 'bf16', expected f32 or 'f16'}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<3x4xf16>, tensor<4xbf16>) outs(%x : tensor<3x4xf16>) -> tensor<3x4xf16>
  return %y : tensor<3x4xf16>
}

// -----

func.func @rms_norm_c4(%x: tensor<3x4xf32>, %g: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{rms_norm_c4: eps is 0, expected a finite value greater than 0}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%x : tensor<3x4xf32>) {eps = 0.0 : f64} -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @rms_norm_c4_nan(%x: tensor<3x4xf32>, %g: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{rms_norm_c4: eps is NaN, expected a finite value greater than 0}}
  %y = rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%x : tensor<3x4xf32>) {eps = 0x7FF8000000000000 : f64} -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @rms_norm_c5(%x: tensor<3x4xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{rms_norm_c5: has 0 results, expected 1 (one per out)}}
  rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%x : tensor<3x4xf32>)
  return
}

// -----

func.func @rms_norm_c5_outs(%x: tensor<3x4xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{rms_norm_c5: has 2 outs, expected 1}}
  %y:2 = rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @rms_norm_c5_mixed(%x: tensor<3x4xf32>, %g: tensor<4xf32>, %m: memref<3x4xf32>) {
  // expected-error @+1 {{rms_norm_c5: mixes tensor and memref operands, expected one kind}}
  rudnn.rms_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%m : memref<3x4xf32>)
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<f32>, %g: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{layer_norm_c1: x has rank 0, expected at least rank 1}}
  %y = rudnn.layer_norm ins(%x, %g : tensor<f32>, tensor<4xf32>) outs(%x : tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @layer_norm_c2(%x: tensor<3x4xf32>, %g: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{layer_norm_c2: the output has shape [4], expected [3, 4]}}
  %y = rudnn.layer_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @layer_norm_c3(%x: tensor<3x4xf32>, %g: tensor<4xf16>) -> tensor<3x4xf32> {
  // expected-error @+1 {{layer_norm_c3: gamma has element type 'f16', expected f32}}
  %y = rudnn.layer_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf16>) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @layer_norm_c4(%x: tensor<3x4xf32>, %g: tensor<4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{layer_norm_c4: beta has shape [3, 4], expected [4]}}
  %y = rudnn.layer_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) beta(%b : tensor<3x4xf32>) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @layer_norm_c5(%x: tensor<3x4xf32>, %g: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{layer_norm_c5: eps is -1, expected a finite value greater than 0}}
  %y = rudnn.layer_norm ins(%x, %g : tensor<3x4xf32>, tensor<4xf32>) outs(%x : tensor<3x4xf32>) {eps = -1.0 : f64} -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @layer_norm_c6(%x: memref<3x4xf32>, %g: memref<4xf32>, %y: memref<3x4xf32>) {
  // expected-error @+1 {{layer_norm_c6: has 2 outs, expected 1}}
  rudnn.layer_norm ins(%x, %g : memref<3x4xf32>, memref<4xf32>) outs(%y, %y : memref<3x4xf32>, memref<3x4xf32>)
  return
}

// -----

func.func @softmax_c1(%x: tensor<4x0xf32>) -> tensor<4x0xf32> {
  // expected-error @+1 {{softmax_c1: the last axis of x has extent 0, expected at least 1}}
  %y = rudnn.softmax ins(%x : tensor<4x0xf32>) outs(%x : tensor<4x0xf32>) -> tensor<4x0xf32>
  return %y : tensor<4x0xf32>
}

// -----

func.func @softmax_c2(%x: tensor<4x8xf32>, %i: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{softmax_c2: the output has element type 'f16', expected 'f32'}}
  %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%i : tensor<4x8xf16>) -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// -----

func.func @softmax_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{softmax_c3: has 0 results, expected 1 (one per out)}}
  rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>)
  return
}

// -----

func.func @integer(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor or memref of f32, f16 or bf16}}
  %y = rudnn.softmax ins(%x : tensor<4x8xi32>) outs(%x : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

func.func @add_rms_norm_c1(%x: tensor<f32>, %r: tensor<3x4xf32>, %g: tensor<4xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c1: x has rank 0, expected at least rank 1}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<f32>, tensor<3x4xf32>, tensor<4xf32>) outs(%y, %h : tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @add_rms_norm_c2(%x: tensor<3x4xf32>, %r: tensor<1x4xf32>, %g: tensor<4xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c2: the residual has shape [1, 4], expected [3, 4]}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<1x4xf32>, tensor<4xf32>) outs(%y, %h : tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @add_rms_norm_c2_type(%x: tensor<3x4xf32>, %r: tensor<3x4xf16>, %g: tensor<4xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c2: the residual has element type 'f16', expected 'f32'}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<3x4xf16>, tensor<4xf32>) outs(%y, %h : tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @add_rms_norm_c3_y(%x: tensor<3x4xf32>, %r: tensor<3x4xf32>, %g: tensor<4xf32>, %y: tensor<3x5xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c3: the first output has shape [3, 5], expected [3, 4]}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) outs(%y, %h : tensor<3x5xf32>, tensor<3x4xf32>) -> tensor<3x5xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @add_rms_norm_c3_h(%x: tensor<3x4xf32>, %r: tensor<3x4xf32>, %g: tensor<4xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xbf16>) {
  // expected-error @+1 {{add_rms_norm_c3: the second output has element type 'bf16', expected 'f32'}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) outs(%y, %h : tensor<3x4xf32>, tensor<3x4xbf16>) -> tensor<3x4xf32>, tensor<3x4xbf16>
  return
}

// -----

func.func @add_rms_norm_c4(%x: tensor<3x4xf32>, %r: tensor<3x4xf32>, %g: tensor<5xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c4: gamma has shape [5], expected [4]}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<3x4xf32>, tensor<5xf32>) outs(%y, %h : tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @add_rms_norm_c5(%x: tensor<3x4xf32>, %r: tensor<3x4xf32>, %g: tensor<4xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c5: eps is 0, expected a finite value greater than 0}}
  %0:2 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) outs(%y, %h : tensor<3x4xf32>, tensor<3x4xf32>) {eps = 0.0 : f64} -> tensor<3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @add_rms_norm_c6(%x: tensor<3x4xf32>, %r: tensor<3x4xf32>, %g: tensor<4xf32>, %y: tensor<3x4xf32>, %h: tensor<3x4xf32>) {
  // expected-error @+1 {{add_rms_norm_c6: has 1 outs, expected 2}}
  %0 = rudnn.add_rms_norm ins(%x, %r, %g : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) outs(%y : tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}
