// RUN: rudnn-opt %s -verify-each -rudnn-insert-fences | FileCheck %s

!tile = memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
!acc = !rudnn_tile.fragment<64x64xf32, acc>
!half = !rudnn_tile.fragment<64x64xbf16, acc>
!tma = !rudnn_tile.tma<64x64xbf16, swizzle = 128>

// CHECK-LABEL: rudnn_tile.kernel @fences
rudnn_tile.kernel @fences(%d: !tma, %g: index) attributes {threads = 128 : i32} {
  %a = rudnn_tile.alloc -> !tile
  // CHECK: rudnn_tile.wgmma_fence
  // CHECK-NEXT: rudnn_tile.wgmma
  %0 = rudnn_tile.wgmma %a, %a : !tile, !tile -> !acc
  %1 = rudnn_tile.wgmma_wait 0 for %0 : !acc
  %2 = rudnn_tile.convert %1 : !acc -> !half
  // CHECK: rudnn_tile.store_shared
  // CHECK-NEXT: rudnn_tile.proxy_fence
  // CHECK-NEXT: rudnn_tile.group_barrier
  // CHECK-NEXT: rudnn_tile.tma_store
  rudnn_tile.store_shared %2 to %a : !half, !tile
  rudnn_tile.group_barrier %g
  rudnn_tile.tma_store %a to %d[%g, %g] : !tile, !tma
  // CHECK-NEXT: rudnn_tile.tma_store_wait
  rudnn_tile.tma_store_wait 0
  // No stores since the fence: a barrier alone.
  // CHECK-NEXT: rudnn_tile.group_barrier
  rudnn_tile.group_barrier %g
  rudnn_tile.yield
}
