// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @moe_route_c1(%l: tensor<8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_c1: logits has rank 1, expected rank 2}}
  %r:2 = rudnn.moe.route ins(%l : tensor<8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_c1_experts(%l: tensor<4x0xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_c1: E, the second extent of logits, is 0, expected a static extent of at least 1}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x0xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_c1_dynamic(%l: tensor<4x?xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_c1: E, the second extent of logits, is dynamic, expected a static extent of at least 1}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x?xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_c2(%l: tensor<4x8xf32>, %i: tensor<4x9xi32>, %w: tensor<4x9xf32>) {
  // expected-error @+1 {{moe_route_c2: K, the second extent of ids, is 9, expected a static extent of at least 1 and at most 8}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x9xi32>, tensor<4x9xf32>) -> tensor<4x9xi32>, tensor<4x9xf32>
  return
}

// -----

func.func @moe_route_c2_zero(%l: tensor<4x8xf32>, %i: tensor<4x0xi32>, %w: tensor<4x0xf32>) {
  // expected-error @+1 {{moe_route_c2: K, the second extent of ids, is 0, expected a static extent of at least 1 and at most 8}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x0xi32>, tensor<4x0xf32>) -> tensor<4x0xi32>, tensor<4x0xf32>
  return
}

// -----

func.func @moe_route_c2_tokens(%l: tensor<4x8xf32>, %i: tensor<5x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_c2: ids has shape [5, 2], expected [4, ?]}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<5x2xi32>, tensor<4x2xf32>) -> tensor<5x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_c2_type(%l: tensor<4x8xf32>, %i: tensor<4x2xf32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_c2: ids has element type 'f32', expected 'i32'}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_c3(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x3xf32>) {
  // expected-error @+1 {{moe_route_c3: weights has shape [4, 3], expected [4, 2]}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x3xf32>) -> tensor<4x2xi32>, tensor<4x3xf32>
  return
}

// -----

func.func @moe_route_c3_type(%l: tensor<4x8xf16>, %i: tensor<4x2xi32>, %w: tensor<4x2xbf16>) {
  // expected-error @+1 {{moe_route_c3: weights has element type 'bf16', expected f32 or 'f16'}}
  %r:2 = rudnn.moe.route ins(%l : tensor<4x8xf16>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xbf16>) -> tensor<4x2xi32>, tensor<4x2xbf16>
  return
}

// -----

func.func @moe_route_c4(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{moe_route_c4: has 1 outs, expected 2}}
  %r = rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i : tensor<4x2xi32>) -> tensor<4x2xi32>
  return
}

// -----

func.func @moe_route_c4_results(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_c4: has 0 results, expected 2 (one per out)}}
  rudnn.moe.route ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>)
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c1(%l: tensor<1x4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c1: logits has rank 3, expected rank 2}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<1x4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c1_many(%l: tensor<4x1028xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c1: E, the second extent of logits, is 1028, expected a static extent of at least 1 and at most 1024}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x1028xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c2(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c2: groups is 3, expected a divisor of the 8 experts}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 3, selected_groups = 1} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c2_zero(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c2: groups is 0, expected at least 1 and at most 128}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 0, selected_groups = 1} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c2_many(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c2: groups is 129, expected at least 1 and at most 128}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 129, selected_groups = 1} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c3(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c3: selected_groups is 5, expected at least 1 and at most 4}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 5} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c3_zero(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c3: selected_groups is 0, expected at least 1 and at most 4}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 0} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c4(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c4: group_top_two with 1 expert in a group, expected at least 2}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 8, selected_groups = 2, group_top_two} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c5(%l: tensor<4x8xf32>, %i: tensor<4x5xi32>, %w: tensor<4x5xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c5: K, the second extent of ids, is 5, expected a static extent of at least 1 and at most 4}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x5xi32>, tensor<4x5xf32>) {groups = 4, selected_groups = 2} -> tensor<4x5xi32>, tensor<4x5xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c5_limit(%l: tensor<4x128xf32>, %i: tensor<4x65xi32>, %w: tensor<4x65xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c5: K, the second extent of ids, is 65, expected a static extent of at least 1 and at most 64}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x128xf32>) outs(%i, %w : tensor<4x65xi32>, tensor<4x65xf32>) {groups = 1, selected_groups = 1} -> tensor<4x65xi32>, tensor<4x65xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c6(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf16>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c6: weights has element type 'f16', expected f32}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf16>) {groups = 4, selected_groups = 2} -> tensor<4x2xi32>, tensor<4x2xf16>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c7(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c7: bias has shape [4], expected [8]}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) bias(%b : tensor<4xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c8(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c8: scale is 0, expected a finite value greater than 0}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2, scale = 0.0} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c8_negative(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c8: scale is -1, expected a finite value greater than 0}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2, scale = -1.0} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c8_nan(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c8: scale is NaN, expected a finite value greater than 0}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2, scale = 0x7FF8000000000000 : f64} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c8_inf(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c8: scale is +Inf, expected a finite value greater than 0}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2, scale = 0x7FF0000000000000 : f64} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_route_sigmoid_grouped_c9(%l: memref<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{moe_route_sigmoid_grouped_c9: mixes tensor and memref operands, expected one kind}}
  %r:2 = rudnn.moe.route_sigmoid_grouped ins(%l : memref<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) {groups = 4, selected_groups = 2} -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @moe_dispatch_c1(%x: tensor<4xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c1: x has rank 1, expected rank 2}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c1_width(%x: tensor<4x0xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x0xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c1: H, the second extent of x, is 0, expected at least 1}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x0xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x0xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x0xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c2(%x: tensor<4x6xf16>, %ids: tensor<5x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c2: ids has shape [5, 2], expected [4, ?]}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<5x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c2_dynamic(%x: tensor<4x6xf16>, %ids: tensor<4x?xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c2: K, the second extent of ids, is dynamic, expected a static extent of at least 1}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x?xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c2_zero(%x: tensor<4x6xf16>, %ids: tensor<4x0xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c2: K, the second extent of ids, is 0, expected a static extent of at least 1}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x0xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c2_slots(%x: tensor<2147483648x6xf16>, %ids: tensor<2147483648x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c2: ids has 2147483648 * 2 slots, expected fewer than 2^32}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<2147483648x6xf16>, tensor<2147483648x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c3(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<7x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c3: values has shape [7, 6], expected [8, 6]}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<7x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<7x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c3_type(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf32>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c3: values has element type 'f32', expected 'f16'}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf32>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf32>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c4(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<1xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c4: E + 1, the extent of offsets, is 1, expected a static extent of at least 2}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<1xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<1xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c4_dynamic(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<?xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c4: E + 1, the extent of offsets, is dynamic, expected a static extent of at least 2}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<?xi32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<?xi32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c4_type(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xf32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c4: offsets has element type 'f32', expected 'i32'}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xf32>, tensor<4x2xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xf32>, tensor<4x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c5(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<8xi32>, %o3: tensor<8xi32>) {
  // expected-error @+1 {{moe_dispatch_c5: slot_rows has shape [8], expected [4, 2]}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<8xi32>, tensor<8xi32>
  return
}

// -----

func.func @moe_dispatch_c6(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<9xi32>) {
  // expected-error @+1 {{moe_dispatch_c6: row_slots has shape [9], expected [8]}}
  %r:4 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @moe_dispatch_c7(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>, %o3: tensor<8xi32>, %o4: tensor<4xi32>) {
  // expected-error @+1 {{moe_dispatch_c7: row_experts has shape [4], expected [8]}}
  %r:5 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2, %o3, %o4 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>, tensor<4xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>, tensor<8xi32>, tensor<4xi32>
  return
}

// -----

func.func @moe_dispatch_c8(%x: tensor<4x6xf16>, %ids: tensor<4x2xi32>, %o0: tensor<8x6xf16>, %o1: tensor<9xi32>, %o2: tensor<4x2xi32>) {
  // expected-error @+1 {{moe_dispatch_c8: has 3 outs, expected 4 to 5}}
  %r:3 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi32>) outs(%o0, %o1, %o2 : tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>) -> tensor<8x6xf16>, tensor<9xi32>, tensor<4x2xi32>
  return
}

// -----

func.func @moe_experts_c1(%x: tensor<1x5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c1: x has rank 3, expected rank 2}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<1x5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c1_width(%x: tensor<5x?xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c1: H, the second extent of x, is dynamic, expected a static extent of at least 1}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x?xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c2(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x5xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c2: gate has shape [3, 7, 5], expected [3, 7, 4]}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x5xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c2_rank(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c2: gate has rank 2, expected rank 3}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c2_experts(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<0x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c2: E, the first extent of gate, is 0, expected a static extent of at least 1}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<0x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c2_inner(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x?x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c2: I, the second extent of gate, is dynamic, expected a static extent of at least 1}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x?x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c2_type(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xbf16>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c2: gate has element type 'bf16', expected 'f32'}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xbf16>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c3(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x4x7xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c3: up has shape [3, 4, 7], expected [3, 7, 4]}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x4x7xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c3_type(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf16>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c3: up has element type 'f16', expected 'f32'}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf16>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c4(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x7x4xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c4: down has shape [3, 7, 4], expected [3, 4, 7]}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x7x4xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c5(%x: tensor<5x4xf32>, %o: tensor<3xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c5: offsets has shape [3], expected [4]}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<3xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @moe_experts_c6(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<6x4xf32>) {
  // expected-error @+1 {{moe_experts_c6: y has shape [6, 4], expected [5, 4]}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @moe_experts_c6_type(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf16>) {
  // expected-error @+1 {{moe_experts_c6: y has element type 'f16', expected 'f32'}}
  %y = rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf16>) -> tensor<5x4xf16>
  return
}

// -----

func.func @moe_experts_c7(%x: tensor<5x4xf32>, %o: tensor<4xi32>, %g: tensor<3x7x4xf32>, %u: tensor<3x7x4xf32>, %d: tensor<3x4x7xf32>, %i: tensor<5x4xf32>) {
  // expected-error @+1 {{moe_experts_c7: has 0 results, expected 1 (one per out)}}
  rudnn.moe.experts ins(%x, %o : tensor<5x4xf32>, tensor<4xi32>) weights(%g, %u, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<5x4xf32>)
  return
}

// -----

func.func @moe_combine_c1(%y: tensor<8xbf16>, %s: tensor<4x2xi32>, %w: tensor<4x2xf32>, %i: tensor<4x6xbf16>) {
  // expected-error @+1 {{moe_combine_c1: y has rank 1, expected rank 2}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8xbf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%i : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @moe_combine_c1_width(%y: tensor<8x0xbf16>, %s: tensor<4x2xi32>, %w: tensor<4x2xf32>, %i: tensor<4x6xbf16>) {
  // expected-error @+1 {{moe_combine_c1: W, the second extent of y, is 0, expected at least 1}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8x0xbf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%i : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @moe_combine_c2(%y: tensor<8x6xbf16>, %s: tensor<8xi32>, %w: tensor<4x2xf32>, %i: tensor<4x6xbf16>) {
  // expected-error @+1 {{moe_combine_c2: slot_rows has rank 1, expected rank 2}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8x6xbf16>, tensor<8xi32>, tensor<4x2xf32>) outs(%i : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @moe_combine_c2_k(%y: tensor<8x6xbf16>, %s: tensor<4x?xi32>, %w: tensor<4x2xf32>, %i: tensor<4x6xbf16>) {
  // expected-error @+1 {{moe_combine_c2: K, the second extent of slot_rows, is dynamic, expected a static extent of at least 1}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8x6xbf16>, tensor<4x?xi32>, tensor<4x2xf32>) outs(%i : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @moe_combine_c3(%y: tensor<8x6xbf16>, %s: tensor<4x2xi32>, %w: tensor<4x3xf32>, %i: tensor<4x6xbf16>) {
  // expected-error @+1 {{moe_combine_c3: weights has shape [4, 3], expected [4, 2]}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8x6xbf16>, tensor<4x2xi32>, tensor<4x3xf32>) outs(%i : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @moe_combine_c4(%y: tensor<8x6xbf16>, %s: tensor<4x2xi32>, %w: tensor<4x2xf32>, %i: tensor<4x7xbf16>) {
  // expected-error @+1 {{moe_combine_c4: out has shape [4, 7], expected [4, 6]}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8x6xbf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%i : tensor<4x7xbf16>) -> tensor<4x7xbf16>
  return
}

// -----

func.func @moe_combine_c4_type(%y: tensor<8x6xbf16>, %s: tensor<4x2xi32>, %w: tensor<4x2xf32>, %i: tensor<4x6xf32>) {
  // expected-error @+1 {{moe_combine_c4: out has element type 'f32', expected 'bf16'}}
  %r = rudnn.moe.combine ins(%y, %s, %w : tensor<8x6xbf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%i : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @moe_combine_c5(%y: tensor<8x6xbf16>, %s: tensor<4x2xi32>, %w: tensor<4x2xf32>, %i: tensor<4x6xbf16>) {
  // expected-error @+1 {{moe_combine_c5: has 0 results, expected 1 (one per out)}}
  rudnn.moe.combine ins(%y, %s, %w : tensor<8x6xbf16>, tensor<4x2xi32>, tensor<4x2xf32>) outs(%i : tensor<4x6xbf16>)
  return
}

// -----

func.func @moe_dispatch_index_type(%x: tensor<4x6xf16>, %ids: tensor<4x2xi64>, %v: tensor<8x6xf16>, %o: tensor<9xi32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor or memref of i32}}
  %r:2 = rudnn.moe.dispatch ins(%x, %ids : tensor<4x6xf16>, tensor<4x2xi64>) outs(%v, %o : tensor<8x6xf16>, tensor<9xi32>) -> tensor<8x6xf16>, tensor<9xi32>
  return
}
