// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// The protocol of a ring: one warp group loads tiles, two multiply them.
// CHECK-LABEL: rudnn_tile.kernel @product(
// CHECK-SAME: !rudnn_tile.tma<64x64xbf16, swizzle = 128>
// CHECK-SAME: threads = 384
rudnn_tile.kernel @product(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %n: index)
    attributes {threads = 384 : i32} {
  // CHECK: rudnn_tile.alloc -> memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  %tiles = rudnn_tile.alloc -> memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // CHECK: rudnn_tile.alloc over %{{.*}} : memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  %out = rudnn_tile.alloc over %tiles : memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // CHECK: rudnn_tile.ring : <4, consumers = 2>
  %ring = rudnn_tile.ring : !rudnn_tile.ring<4, consumers = 2>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: rudnn_tile.warp_groups
  // CHECK-NEXT: role "producer" groups 1 registers 40 (%{{.*}}) {
  rudnn_tile.warp_groups
    role "producer" groups 1 registers 40 (%p) {
      // CHECK: rudnn_tile.single_thread {
      rudnn_tile.single_thread {
        scf.for %it = %c0 to %n step %c1 {
          // CHECK: rudnn_tile.ring_acquire %{{.*}}[%{{.*}}] : <4, consumers = 2>
          rudnn_tile.ring_acquire %ring[%it] : !rudnn_tile.ring<4, consumers = 2>
          %slot = rudnn_tile.ring_slot %ring[%it] : !rudnn_tile.ring<4, consumers = 2>
          %tile = memref.subview %tiles[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
              : memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
              to memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>
          // CHECK: rudnn_tile.tma_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}, full %{{.*}}[%{{.*}}]
          rudnn_tile.tma_load %a[%it, %c0] to %tile, full %ring[%it] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<4, consumers = 2>
          rudnn_tile.ring_commit %ring[%it] : !rudnn_tile.ring<4, consumers = 2>
        }
      }
      rudnn_tile.yield
    }
    // CHECK: role "consumer" groups 2 registers 232 (%[[G:.*]]) {
    role "consumer" groups 2 registers 232 (%g) {
      scf.for %it = %c0 to %n step %c1 {
        rudnn_tile.ring_wait %ring[%it] : !rudnn_tile.ring<4, consumers = 2>
        %slot = rudnn_tile.ring_slot %ring[%it] : !rudnn_tile.ring<4, consumers = 2>
        %tile = memref.subview %tiles[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
            : memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
            to memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>
        // CHECK: rudnn_tile.turn_take %[[G]] of 2
        rudnn_tile.turn_take %g of 2
        // CHECK: %[[S:.*]] = rudnn_tile.wgmma %{{.*}}, %{{.*}} : {{.*}} -> <64x64xf32, acc>
        %s = rudnn_tile.wgmma %tile, %tile : memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
        rudnn_tile.turn_pass %g of 2
        // CHECK: rudnn_tile.wgmma_wait 0 for %[[S]]
        %d = rudnn_tile.wgmma_wait 0 for %s : !rudnn_tile.fragment<64x64xf32, acc>
        // CHECK: rudnn_tile.ring_release
        rudnn_tile.ring_release %ring[%it] : !rudnn_tile.ring<4, consumers = 2>
        // CHECK: rudnn_tile.reduce max %{{.*}} dim 1 : <64x64xf32, acc> -> <64xf32, acc_rows>
        %m = rudnn_tile.reduce max %d dim 1 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_rows>
        %positive = rudnn_tile.map (%m) {
        ^bb0(%x: f32):
          %zero = arith.constant 0.0 : f32
          %z = arith.cmpf ogt, %x, %zero : f32
          rudnn_tile.yield %z : i1
        } : (!rudnn_tile.fragment<64xf32, acc_rows>) -> !rudnn_tile.fragment<64xi1, acc_rows>
        // CHECK: rudnn_tile.any %{{.*}} : <64xi1, acc_rows>
        %some = rudnn_tile.any %positive : !rudnn_tile.fragment<64xi1, acc_rows>
        %mb = rudnn_tile.broadcast %m dim 1 : !rudnn_tile.fragment<64xf32, acc_rows> -> !rudnn_tile.fragment<64x64xf32, acc>
        // CHECK: rudnn_tile.map(%{{.*}}, %{{.*}}) {
        %e = rudnn_tile.map (%d, %mb) {
        ^bb0(%x: f32, %y: f32):
          %z = arith.subf %x, %y : f32
          rudnn_tile.yield %z : f32
        } : (!rudnn_tile.fragment<64x64xf32, acc>, !rudnn_tile.fragment<64x64xf32, acc>) -> !rudnn_tile.fragment<64x64xf32, acc>
        // CHECK: rudnn_tile.reduce add %{{.*}} dim 1 : <64x64xf32, acc> -> <64x4xf32, acc_quads>
        %l = rudnn_tile.reduce add %e dim 1 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x4xf32, acc_quads>
        %h = rudnn_tile.convert %e : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x64xbf16, acc>
        // CHECK: rudnn_tile.store_shared
        rudnn_tile.store_shared %h to %out : !rudnn_tile.fragment<64x64xbf16, acc>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
        rudnn_tile.group_barrier %g
        rudnn_tile.tma_store %out to %a[%it, %c0] : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.tma<64x64xbf16, swizzle = 128>
        // CHECK: rudnn_tile.tma_store_wait 0 read
        rudnn_tile.tma_store_wait 0 read
      }
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// Layouts without a name are written with their basis vectors.
// CHECK-LABEL: rudnn_tile.kernel @row
// CHECK: <768xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64, 128] rep = [3]>
rudnn_tile.kernel @row(%x: memref<?xf32>, %offset: i64, %n: index) attributes {threads = 128 : i32} {
  %f = rudnn_tile.load %x[%offset] strides [1] bounds (%n) : memref<?xf32>
      -> !rudnn_tile.fragment<768xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64, 128] rep = [3]>
  %scratch = rudnn_tile.alloc -> memref<4xf32, #rudnn_tile.shared>
  %part = rudnn_tile.thread_reduce add %f : !rudnn_tile.fragment<768xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64, 128] rep = [3]>
  // CHECK: rudnn_tile.block_reduce add %{{.*}} with %{{.*}} : memref<4xf32, #rudnn_tile.shared>
  %sum = rudnn_tile.block_reduce add %part with %scratch : memref<4xf32, #rudnn_tile.shared>
  rudnn_tile.store %f to %x[%offset] strides [1] bounds (%n) : !rudnn_tile.fragment<768xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64, 128] rep = [3]>, memref<?xf32>
  rudnn_tile.yield
}

// CHECK-LABEL: rudnn_tile.kernel @moments
rudnn_tile.kernel @moments(%x: memref<?xf32>, %offset: i64) attributes {threads = 64 : i32} {
  %f = rudnn_tile.load %x[%offset] strides [1] : memref<?xf32>
      -> !rudnn_tile.fragment<128xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>
  %scratch = rudnn_tile.alloc -> memref<4xf32, #rudnn_tile.shared>
  // CHECK: rudnn_tile.block_moments %{{.*}} with %{{.*}} : <128xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>, memref<4xf32, #rudnn_tile.shared>
  %mean, %squares = rudnn_tile.block_moments %f with %scratch : !rudnn_tile.fragment<128xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>, memref<4xf32, #rudnn_tile.shared>
  rudnn_tile.yield
}
