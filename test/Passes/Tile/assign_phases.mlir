// RUN: rudnn-opt %s -verify-each -rudnn-assign-phases | FileCheck %s

// CHECK-LABEL: rudnn_tile.kernel @ring
rudnn_tile.kernel @ring(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %n: index) attributes {threads = 256 : i32} {
  %tiles = rudnn_tile.alloc -> memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // CHECK: %[[RING:.*]] = rudnn_tile.ring : <4, consumers = 1>
  // CHECK: rudnn_tile.ring_init %[[RING]]
  %ring = rudnn_tile.ring : !rudnn_tile.ring<4, consumers = 1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  rudnn_tile.warp_groups
    role "producer" groups 1 registers 40 (%p) {
      rudnn_tile.single_thread {
        // CHECK: scf.for %[[IT:.*]] =
        scf.for %it = %c0 to %n step %c1 {
          // Trip it uses stage it mod 4. The first trip does not wait: it asks for the
          // phase before the first, which has ended.
          // CHECK: %[[C2:.*]] = arith.constant 2 : index
          // CHECK: %[[ROUND:.*]] = arith.shrui %[[IT]], %[[C2]]
          // CHECK: %[[ODD:.*]] = arith.andi %[[ROUND]]
          // CHECK: %[[PARITY:.*]] = arith.index_castui %[[ODD]] : index to i32
          // CHECK: %[[SLOT:.*]] = arith.andi %[[IT]]
          // CHECK: %[[BEFORE:.*]] = arith.xori %[[PARITY]]
          // CHECK: rudnn_tile.barrier_wait empty %[[RING]][%[[SLOT]]] parity %[[BEFORE]]
          // CHECK: rudnn_tile.barrier_arrive full %[[RING]][%[[SLOT]]] bytes 16384
          rudnn_tile.ring_acquire %ring[%it] : !rudnn_tile.ring<4, consumers = 1>
          %slot = rudnn_tile.ring_slot %ring[%it] : !rudnn_tile.ring<4, consumers = 1>
          %tile = memref.subview %tiles[%slot, 0, 0] [1, 64, 64] [1, 1, 1]
              : memref<4x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
              to memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>
          // CHECK: rudnn_tile.tma_load {{.*}}, full %[[RING]][%{{.*}}]
          rudnn_tile.tma_load %a[%it, %c0] to %tile, full %ring[%it] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<4, consumers = 1>
          rudnn_tile.tma_load %a[%it, %c1] to %tile, full %ring[%it] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, strided<[64, 1], offset: ?>, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<4, consumers = 1>
          // CHECK-NOT: rudnn_tile.ring_commit
          rudnn_tile.ring_commit %ring[%it] : !rudnn_tile.ring<4, consumers = 1>
        }
      }
      rudnn_tile.yield
    }
    role "consumer" groups 1 registers 232 (%g) {
      scf.for %it = %c0 to %n step %c1 {
        // CHECK: rudnn_tile.barrier_wait full %[[RING]][%{{.*}}] parity
        rudnn_tile.ring_wait %ring[%it] : !rudnn_tile.ring<4, consumers = 1>
        // CHECK: rudnn_tile.barrier_arrive empty %[[RING]][%{{.*}}] : <4, consumers = 1>
        rudnn_tile.ring_release %ring[%it] : !rudnn_tile.ring<4, consumers = 1>
      }
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// Three stages: quotient and remainder; one stage: the trip's lowest bit.
// CHECK-LABEL: rudnn_tile.kernel @stages
rudnn_tile.kernel @stages(%it: index) attributes {threads = 256 : i32} {
  %three = rudnn_tile.ring : !rudnn_tile.ring<3, consumers = 1>
  %one = rudnn_tile.ring : !rudnn_tile.ring<1, consumers = 1>
  rudnn_tile.warp_groups
    role "producer" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "consumer" groups 1 registers 232 (%g) {
      // CHECK: arith.divui
      // CHECK: arith.remui
      rudnn_tile.ring_wait %three[%it] : !rudnn_tile.ring<3, consumers = 1>
      rudnn_tile.ring_release %three[%it] : !rudnn_tile.ring<3, consumers = 1>
      // CHECK: %[[BIT:.*]] = arith.andi
      // CHECK: arith.index_castui %[[BIT]]
      // CHECK: rudnn_tile.barrier_wait full %{{.*}}[%c0
      rudnn_tile.ring_wait %one[%it] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.ring_release %one[%it] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.yield
    }
  rudnn_tile.yield
}
