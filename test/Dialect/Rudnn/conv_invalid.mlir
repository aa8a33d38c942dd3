// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @c1(%x: memref<2x4xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c1: x has rank 2, expected rank 3, 4 or 5}}
  rudnn.conv ins(%x, %w : memref<2x4xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c1_high(%x: memref<2x4x8x8x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c1: x has rank 6, expected rank 3, 4 or 5}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c2(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c2: the weight has rank 3, expected rank 4}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3xf32>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c2_dynamic(%x: memref<2x?x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c2: a channel count or kernel extent is dynamic, expected a static extent of at least 1}}
  rudnn.conv ins(%x, %w : memref<2x?x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c2_zero(%x: memref<2x4x8x8xf32>, %w: memref<6x4x0x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c2: a channel count or kernel extent is 0, expected a static extent of at least 1}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x0x3xf32>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c3(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c3: stride has 3 entries, expected 2}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {stride = array<i64: 1, 1, 1>}
  return
}

// -----

func.func @c3_zero(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c3: stride has entry 0, expected at least 1}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {stride = array<i64: 1, 0>}
  return
}

// -----

func.func @c3_dilation(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c3: dilation has entry -1, expected at least 1}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {dilation = array<i64: -1, 1>}
  return
}

// -----

func.func @c4(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c4: padding has 3 entries, expected 2 or 4}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {padding = array<i64: 1, 1, 1>}
  return
}

// -----

func.func @c4_negative(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c4: padding has entry -2, expected at least 0}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {padding = array<i64: -2, 1>}
  return
}

// -----

func.func @c5(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c5: groups is 3, expected at least 1 and a divisor of the 4 input and 6 output channels}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {groups = 3 : i64}
  return
}

// -----

func.func @c5_zero(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c5: groups is 0, expected at least 1 and a divisor of the 4 input and 6 output channels}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {groups = 0 : i64}
  return
}

// -----

func.func @c6(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c6: the weight has 4 input channels, expected 2 (4 channels in 2 groups)}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {groups = 2 : i64}
  return
}

// -----

func.func @c7(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>, %b: memref<5xf32>) {
  // expected-error @+1 {{conv_c7: bias has shape [5], expected [6]}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) bias(%b : memref<5xf32>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c7_type(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>, %b: memref<6xf16>) {
  // expected-error @+1 {{conv_c7: bias has element type 'f16', expected f32}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) bias(%b : memref<6xf16>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c8(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x7xf32>) {
  // expected-error @+1 {{conv_c8: y has shape [2, 6, 6, 7], expected [2, 6, 6, 6]}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x7xf32>)
  return
}

// -----

func.func @c8_rank(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6xf32>) {
  // expected-error @+1 {{conv_c8: y has rank 3, expected rank 4}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6xf32>)
  return
}

// -----

func.func @c8_kernel(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c8: the dilated kernel covers 9 elements of spatial axis 1, expected at most the padded input extent 8}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xf32>) {dilation = array<i64: 1, 4>}
  return
}

// -----

func.func @c9(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xbf16>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c9: the weight has element type 'bf16', expected 'f32'}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xbf16>) outs(%y : memref<2x6x6x6xf32>)
  return
}

// -----

func.func @c9_out(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xbf16>) {
  // expected-error @+1 {{conv_c9: y has element type 'bf16', expected 'f32'}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y : memref<2x6x6x6xbf16>)
  return
}

// -----

func.func @c10(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>) {
  // expected-error @+1 {{conv_c10: has 2 outs, expected 1}}
  rudnn.conv ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>) outs(%y, %y : memref<2x6x6x6xf32>, memref<2x6x6x6xf32>)
  return
}

// -----

func.func @data_backward_c1(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3xf32>, %o: memref<2x4xf32>) {
  // expected-error @+1 {{conv_data_backward_c1: x has rank 2, expected rank 3, 4 or 5}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3xf32>) outs(%o : memref<2x4xf32>)
  return
}

// -----

func.func @data_backward_c2(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3x3xf32>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c2: the weight has rank 5, expected rank 4}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3x3xf32>) outs(%o : memref<2x4x8x8xf32>)
  return
}

// -----

func.func @data_backward_c3(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3xf32>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c3: dilation has 1 entries, expected 2}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3xf32>) outs(%o : memref<2x4x8x8xf32>) {dilation = array<i64: 1>}
  return
}

// -----

func.func @data_backward_c4(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3xf32>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c4: padding has 5 entries, expected 2 or 4}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3xf32>) outs(%o : memref<2x4x8x8xf32>) {padding = array<i64: 0, 0, 0, 0, 0>}
  return
}

// -----

func.func @data_backward_c5(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3xf32>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c5: groups is 4, expected at least 1 and a divisor of the 4 input and 6 output channels}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3xf32>) outs(%o : memref<2x4x8x8xf32>) {groups = 4 : i64}
  return
}

// -----

func.func @data_backward_c6(%a: memref<2x6x6x6xf32>, %b: memref<6x3x3x3xf32>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c6: the weight has 3 input channels, expected 4 (4 channels in 1 groups)}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x3x3x3xf32>) outs(%o : memref<2x4x8x8xf32>)
  return
}

// -----

func.func @data_backward_c8(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3xf32>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c8: y has shape [2, 6, 6, 6], expected [2, 6, 3, 3]}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3xf32>) outs(%o : memref<2x4x8x8xf32>) {stride = array<i64: 2, 2>}
  return
}

// -----

func.func @data_backward_c9(%a: memref<2x6x6x6xf32>, %b: memref<6x4x3x3xf16>, %o: memref<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c9: the weight has element type 'f16', expected 'f32'}}
  rudnn.conv_data_backward ins(%a, %b : memref<2x6x6x6xf32>, memref<6x4x3x3xf16>) outs(%o : memref<2x4x8x8xf32>)
  return
}

// -----

func.func @data_backward_c10(%a: tensor<2x6x6x6xf32>, %b: tensor<6x4x3x3xf32>, %o: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{conv_data_backward_c10: has 0 results, expected 1 (one per out)}}
  rudnn.conv_data_backward ins(%a, %b : tensor<2x6x6x6xf32>, tensor<6x4x3x3xf32>) outs(%o : tensor<2x4x8x8xf32>)
  return
}

// -----

func.func @weight_backward_c1(%a: memref<2x4xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c1: x has rank 2, expected rank 3, 4 or 5}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3xf32>)
  return
}

// -----

func.func @weight_backward_c2(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c2: the weight has rank 5, expected rank 4}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3x3xf32>)
  return
}

// -----

func.func @weight_backward_c3(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c3: dilation has 1 entries, expected 2}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3xf32>) {dilation = array<i64: 1>}
  return
}

// -----

func.func @weight_backward_c4(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c4: padding has 5 entries, expected 2 or 4}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3xf32>) {padding = array<i64: 0, 0, 0, 0, 0>}
  return
}

// -----

func.func @weight_backward_c5(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c5: groups is 4, expected at least 1 and a divisor of the 4 input and 6 output channels}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3xf32>) {groups = 4 : i64}
  return
}

// -----

func.func @weight_backward_c6(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x3x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c6: the weight has 3 input channels, expected 4 (4 channels in 1 groups)}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x3x3x3xf32>)
  return
}

// -----

func.func @weight_backward_c8(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c8: y has shape [2, 6, 6, 6], expected [2, 6, 3, 3]}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3xf32>) {stride = array<i64: 2, 2>}
  return
}

// -----

func.func @weight_backward_c9(%a: memref<2x4x8x8xf32>, %b: memref<2x6x6x6xf32>, %o: memref<6x4x3x3xf16>) {
  // expected-error @+1 {{conv_weight_backward_c9: the weight has element type 'f16', expected 'f32'}}
  rudnn.conv_weight_backward ins(%a, %b : memref<2x4x8x8xf32>, memref<2x6x6x6xf32>) outs(%o : memref<6x4x3x3xf16>)
  return
}

// -----

func.func @weight_backward_c10(%a: tensor<2x4x8x8xf32>, %b: tensor<2x6x6x6xf32>, %o: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{conv_weight_backward_c10: has 0 results, expected 1 (one per out)}}
  rudnn.conv_weight_backward ins(%a, %b : tensor<2x4x8x8xf32>, tensor<2x6x6x6xf32>) outs(%o : tensor<6x4x3x3xf32>)
  return
}
