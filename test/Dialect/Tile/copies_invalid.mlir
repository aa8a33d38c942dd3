// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

// Tiles in shared memory and copies.

func.func @tma_coords(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %r: !rudnn_tile.ring<1, consumers = 1>, %i: index) {
  // expected-error @+1 {{has 1 coordinates, expected 2}}
  rudnn_tile.tma_load %a[%i] to %t, full %r[%i] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<1, consumers = 1>
  return
}

// -----

func.func @tma_tile(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %i: index) {
  // expected-error @+1 {{is not one box of '!rudnn_tile.tma<64x64xbf16, swizzle = 128>' or a row of such panels}}
  rudnn_tile.tma_store %t to %a[%i, %i] : memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @tma_swizzle(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<64x64xbf16, #rudnn_tile.shared>, %i: index) {
  // expected-error @+1 {{descriptor has swizzle 128, the tile 0}}
  rudnn_tile.tma_store %t to %a[%i, %i] : memref<64x64xbf16, #rudnn_tile.shared>, !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @store_shared_panels(%x: !rudnn_tile.fragment<64x64xbf16, acc>, %t: memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{does not hold}}
  rudnn_tile.store_shared %x to %t : !rudnn_tile.fragment<64x64xbf16, acc>, memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @alloc_row() {
  // expected-error @+1 {{a row of the tile has 64 bytes, expected the swizzle of 128}}
  %0 = rudnn_tile.alloc -> memref<64x32xbf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @alloc_over() {
  %0 = rudnn_tile.alloc -> memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{the tile needs 8192 bytes, `over` has 4096}}
  %1 = rudnn_tile.alloc over %0 : memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @load_strides(%x: memref<?xf32>, %o: i64) {
  // expected-error @+1 {{has 2 strides, expected 1}}
  %0 = rudnn_tile.load %x[%o] strides [1, 2] : memref<?xf32> -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @tma_element_type(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>, %i: index) {
  // expected-error @+1 {{copies 'bf16', the tile has 'f16'}}
  rudnn_tile.tma_store %t to %a[%i, %i] : memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @alloc_view() {
  // expected-error @+1 {{the tile must be dense, got}}
  %0 = rudnn_tile.alloc -> memref<64x64xbf16, strided<[128, 1]>, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @store_shared_element(%x: !rudnn_tile.fragment<64x64xbf16, acc>, %t: memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{fragment has 'bf16', the tile 'f16'}}
  rudnn_tile.store_shared %x to %t : !rudnn_tile.fragment<64x64xbf16, acc>, memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @store_shared_swizzle(%x: !rudnn_tile.fragment<64x64xbf16, acc>, %t: memref<64x64xbf16, #rudnn_tile.shared>) {
  // expected-error @+1 {{supports f16 and bf16 in layout acc with columns a multiple of 16 and a tile with swizzle 128}}
  rudnn_tile.store_shared %x to %t : !rudnn_tile.fragment<64x64xbf16, acc>, memref<64x64xbf16, #rudnn_tile.shared>
  return
}

// -----

func.func @load_element(%x: memref<?xbf16>, %o: i64) {
  // expected-error @+1 {{fragment has 'f32', the buffer 'bf16'}}
  %0 = rudnn_tile.load %x[%o] strides [1] : memref<?xbf16> -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @load_leading(%x: memref<?xf32>, %o: i64) {
  // expected-error @+1 {{`leading` is given exactly when strides[0] is}}
  %0 = rudnn_tile.load %x[%o] leading %o strides [64, 1] : memref<?xf32> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @store_strides(%x: memref<?xf32>, %f: !rudnn_tile.fragment<64x64xf32, acc>, %o: i64) {
  // expected-error @+1 {{only strides[0] may be dynamic}}
  rudnn_tile.store %f to %x[%o] strides [64, -9223372036854775808] : !rudnn_tile.fragment<64x64xf32, acc>, memref<?xf32>
  return
}

// -----

func.func @store_bounds(%x: memref<?xf32>, %f: !rudnn_tile.fragment<64x64xf32, acc>, %o: i64, %n: index) {
  // expected-error @+1 {{has 1 bounds, expected 2}}
  rudnn_tile.store %f to %x[%o] strides [64, 1] bounds (%n) : !rudnn_tile.fragment<64x64xf32, acc>, memref<?xf32>
  return
}
