// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

// Products and fragments.

func.func @wgmma_k(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{K of a is 64 and of b 128, expected equal multiples of 16}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_result(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{result must be 64x64xf32 in layout acc}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x128xf32, acc>
  return
}

// -----

func.func @wgmma_in_flight(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{the product is in flight, but 'rudnn_tile.convert' reads it without rudnn_tile.wgmma_wait}}
  %0 = rudnn_tile.wgmma %a, %a : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  %1 = rudnn_tile.convert %0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x64xbf16, acc>
  return
}

// -----

func.func @reduce_layout(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{is not the slice}}
  %0 = rudnn_tile.reduce max %x dim 0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @any_elements(%x: !rudnn_tile.fragment<64xf32, acc_rows>) {
  // expected-error @+1 {{votes on elements of type i1, got '!rudnn_tile.fragment<64xf32, acc_rows>'}}
  %0 = rudnn_tile.any %x : !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @reduce_warps(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{dim 0 is spread over warps}}
  %0 = rudnn_tile.reduce max %x dim 0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_cols>
  return
}

// -----

func.func @map_layout(%x: !rudnn_tile.fragment<64xf32, acc_rows>, %y: !rudnn_tile.fragment<64xf32, acc_cols>) {
  // expected-error @+1 {{operand 1 has layout}}
  %0 = rudnn_tile.map (%x, %y) {
  ^bb0(%a: f32, %b: f32):
    rudnn_tile.yield %a : f32
  } : (!rudnn_tile.fragment<64xf32, acc_rows>, !rudnn_tile.fragment<64xf32, acc_cols>) -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @convert_type(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{converts 'f32' to 'i32'}}
  %0 = rudnn_tile.convert %x : !rudnn_tile.fragment<64x8xf32, acc> -> !rudnn_tile.fragment<64x8xi32, acc>
  return
}

// -----

func.func @convert_layout_scratch(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{elements change their threads: needs `scratch` and `group`}}
  %0 = rudnn_tile.convert_layout %x : !rudnn_tile.fragment<64x8xf32, acc> -> !rudnn_tile.fragment<64x8xf32, reg = [0, 1, 0, 2] lane = [0, 4, 1, 0, 2, 0, 4, 0, 8, 0] warp = [16, 0, 32, 0] rep = [1, 1]>
  return
}

// -----

func.func @columns_offset(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{offset is 16, expected a multiple of 32 within the fragment}}
  %0 = rudnn_tile.columns %x from 16 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x32xf32, acc>
  return
}

// -----

func.func @wgmma_b(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<64x64xbf16, #rudnn_tile.shared>) {
  // expected-error @+1 {{b must be f16 or bf16 panels with swizzle 128, got}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_n(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<264x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{N is 264, expected a multiple of 8 up to 256}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<264x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_a(%a: memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{a must be panels of}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_rows(%a: memref<128x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{a has 128 rows, expected 64}}
  %0 = rudnn_tile.wgmma %a, %b : memref<128x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_register_a(%a: !rudnn_tile.fragment<64x64xf32, acc>, %b: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{register operand a must be 64 x K of}}
  %0 = rudnn_tile.wgmma %a, %b : !rudnn_tile.fragment<64x64xf32, acc>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_acc(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %c: !rudnn_tile.fragment<64x128xf32, acc>) {
  // expected-error @+1 {{acc has type}}
  %0 = rudnn_tile.wgmma %a, %b acc %c : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.fragment<64x128xf32, acc> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_wait_pending() {
  // expected-error @+1 {{pending is 8, expected 0 to 7}}
  rudnn_tile.wgmma_wait 8
  return
}

// -----

func.func @splat_type(%x: f32) {
  // expected-error @+1 {{value has type 'f32', the fragment's elements 'i32'}}
  %0 = rudnn_tile.splat %x : f32 -> !rudnn_tile.fragment<64x8xi32, acc>
  return
}

// -----

func.func @map_arguments(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{the region has 2 arguments and 1 results, expected 1 and 1}}
  %0 = rudnn_tile.map (%x) {
  ^bb0(%a: f32, %b: f32):
    rudnn_tile.yield %a : f32
  } : (!rudnn_tile.fragment<64x8xf32, acc>) -> !rudnn_tile.fragment<64x8xf32, acc>
  return
}

// -----

func.func @map_scalar(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{operand 0 has elements of 'f32', its scalar has type 'i32'}}
  %0 = rudnn_tile.map (%x) {
  ^bb0(%a: i32):
    %z = arith.sitofp %a : i32 to f32
    rudnn_tile.yield %z : f32
  } : (!rudnn_tile.fragment<64x8xf32, acc>) -> !rudnn_tile.fragment<64x8xf32, acc>
  return
}

// -----

func.func @map_half(%x: !rudnn_tile.fragment<64x8xbf16, acc>) {
  // expected-error @+1 {{operand 0 is 16 bits wide: convert it first}}
  %0 = rudnn_tile.map (%x) {
  ^bb0(%a: bf16):
    rudnn_tile.yield %a : bf16
  } : (!rudnn_tile.fragment<64x8xbf16, acc>) -> !rudnn_tile.fragment<64x8xbf16, acc>
  return
}

// -----

func.func @map_results(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{has no result}}
  rudnn_tile.map (%x) {
  ^bb0(%a: f32):
    rudnn_tile.yield
  } : (!rudnn_tile.fragment<64x8xf32, acc>) -> ()
  return
}

// -----

func.func @map_yield(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{the region must end with rudnn_tile.yield}}
  %0 = rudnn_tile.map (%x) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
  } : (!rudnn_tile.fragment<64x8xf32, acc>) -> !rudnn_tile.fragment<64x8xf32, acc>
  return
}

// -----

func.func @reduce_dim(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{dim is 2, expected less than the rank 2}}
  %0 = rudnn_tile.reduce max %x dim 2 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @reduce_element(%x: !rudnn_tile.fragment<64x64xi32, acc>) {
  // expected-error @+1 {{input has elements of 'i32', expected f32}}
  %0 = rudnn_tile.reduce max %x dim 1 : !rudnn_tile.fragment<64x64xi32, acc> -> !rudnn_tile.fragment<64xi32, acc_rows>
  return
}

// -----

func.func @broadcast_element(%x: !rudnn_tile.fragment<64xi32, acc_rows>) {
  // expected-error @+1 {{changes the element type from 'f32' to 'i32'}}
  %0 = rudnn_tile.broadcast %x dim 1 : !rudnn_tile.fragment<64xi32, acc_rows> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @block_reduce_scratch(%x: f32, %s: memref<4xbf16, #rudnn_tile.shared>) {
  // expected-error @+1 {{scratch must be memref<Wxf32, #rudnn_tile.shared>, got}}
  %0 = rudnn_tile.block_reduce add %x with %s : memref<4xbf16, #rudnn_tile.shared>
  return
}

// -----

func.func @iota_element(%i: index) {
  // expected-error @+1 {{result has elements of 'f32', expected i32}}
  %0 = rudnn_tile.iota %i coefficients [0, 1] -> !rudnn_tile.fragment<64x8xf32, acc>
  return
}

// -----

func.func @iota_rank(%i: index) {
  // expected-error @+1 {{has 1 coefficients, expected 2}}
  %0 = rudnn_tile.iota %i coefficients [1] -> !rudnn_tile.fragment<64x8xi32, acc>
  return
}

// -----

func.func @convert_layout_type(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{changes more than the layout}}
  %0 = rudnn_tile.convert_layout %x : !rudnn_tile.fragment<64x8xf32, acc> -> !rudnn_tile.fragment<64x8xbf16, acc>
  return
}

// -----

func.func @convert_changes_layout(%x: !rudnn_tile.fragment<64xf32, acc_rows>) {
  // expected-error @+1 {{changes the layout from}}
  %0 = rudnn_tile.convert %x : !rudnn_tile.fragment<64xf32, acc_rows> -> !rudnn_tile.fragment<64xbf16, acc_cols>
  return
}

// -----

func.func @convert_layout_tile(%x: !rudnn_tile.fragment<64x8xf32, acc>, %s: memref<64x16xf32, #rudnn_tile.shared>, %g: index) {
  // expected-error @+1 {{expected a plain tile of}}
  %0 = rudnn_tile.convert_layout %x scratch %s : memref<64x16xf32, #rudnn_tile.shared> group %g : !rudnn_tile.fragment<64x8xf32, acc> -> !rudnn_tile.fragment<64x8xf32, reg = [0, 1, 0, 2] lane = [0, 4, 1, 0, 2, 0, 4, 0, 8, 0] warp = [16, 0, 32, 0] rep = [1, 1]>
  return
}

// -----

func.func @columns_width(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{is not made of columns of}}
  %0 = rudnn_tile.columns %x from 0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x32xbf16, acc>
  return
}
