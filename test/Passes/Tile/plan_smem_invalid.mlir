// RUN: rudnn-opt %s -rudnn-plan-smem -split-input-file -verify-diagnostics

// expected-error @+1 {{needs 262144 bytes of shared memory, a block has 232448}}
rudnn_tile.kernel @too_much() attributes {threads = 128 : i32} {
  %a = rudnn_tile.alloc -> memref<16x128x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @over_view() attributes {threads = 128 : i32} {
  %a = rudnn_tile.alloc -> memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  %v = memref.subview %a[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> to memref<1x64x64xbf16, strided<[4096, 64, 1], offset: 4096>, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{`over` must be an earlier rudnn_tile.alloc}}
  %o = rudnn_tile.alloc over %v : memref<1x64x64xbf16, strided<[4096, 64, 1], offset: 4096>, #rudnn_tile.shared<swizzle = 128>> -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.yield
}
