// RUN: rudnn-opt %s -rudnn-insert-fences -verify-diagnostics

!tile = memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
!half = !rudnn_tile.fragment<64x64xbf16, acc>
!tma = !rudnn_tile.tma<64x64xbf16, swizzle = 128>

rudnn_tile.kernel @no_barrier(%d: !tma, %g: index) attributes {threads = 128 : i32} {
  %a = rudnn_tile.alloc -> !tile
  %0 = rudnn_tile.wgmma %a, %a : !tile, !tile -> !rudnn_tile.fragment<64x64xf32, acc>
  %1 = rudnn_tile.wgmma_wait 0 for %0 : !rudnn_tile.fragment<64x64xf32, acc>
  %2 = rudnn_tile.convert %1 : !rudnn_tile.fragment<64x64xf32, acc> -> !half
  rudnn_tile.store_shared %2 to %a : !half, !tile
  // expected-error @+1 {{no rudnn_tile.group_barrier stands between it and the rudnn_tile.store_shared before it}}
  rudnn_tile.tma_store %a to %d[%g, %g] : !tile, !tma
  rudnn_tile.yield
}
