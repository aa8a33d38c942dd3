// RUN: rudnn-opt %s -verify-each -rudnn-plan-smem -split-input-file | FileCheck %s

// Swizzled tiles at multiples of 1024 bytes, `over` at the other tile's place, the
// barriers of rings behind.
// CHECK-LABEL: rudnn_tile.kernel @places
// CHECK-SAME: shared_bytes = 17456 : i32
rudnn_tile.kernel @places() attributes {threads = 128 : i32} {
  // CHECK: rudnn_tile.alloc {offset = 0 : i32} -> memref<4xf32
  %scratch = rudnn_tile.alloc -> memref<4xf32, #rudnn_tile.shared>
  // CHECK: %[[A:.*]] = rudnn_tile.alloc {offset = 1024 : i32} -> memref<2x64x64xbf16
  %a = rudnn_tile.alloc -> memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // CHECK: rudnn_tile.alloc over %[[A]] : {{.*}} {offset = 1024 : i32}
  %o = rudnn_tile.alloc over %a : memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // CHECK: rudnn_tile.ring {offset = 17408 : i32} : <2, consumers = 1>
  %r = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  // CHECK: rudnn_tile.ring {offset = 17440 : i32} : <1, consumers = 1>
  %s = rudnn_tile.ring : !rudnn_tile.ring<1, consumers = 1>
  rudnn_tile.yield
}
