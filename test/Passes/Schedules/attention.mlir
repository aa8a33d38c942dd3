// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse -split-input-file | FileCheck %s

// Causal attention, queries and keys in whole tiles: only the first block of keys, on
// the diagonal, is masked. A block of the grid takes two tiles of rows of equal cost in
// all: the first of a head and the last of the next, the second and the one before the last.
func.func @causal(%q: memref<2x8x1024x128xbf16>, %k: memref<2x2x1024x128xbf16>,
                  %v: memref<2x2x1024x128xbf16>, %o: memref<2x8x1024x128xbf16>,
                  %lse: memref<2x8x1024xf32>) {
  rudnn.attention ins(%q, %k, %v : memref<2x8x1024x128xbf16>, memref<2x2x1024x128xbf16>, memref<2x2x1024x128xbf16>)
      outs(%o, %lse : memref<2x8x1024x128xbf16>, memref<2x8x1024xf32>) {causal = #rudnn.causal<bottom_right>}
  return
}

// CHECK-LABEL: func.func @causal
// CHECK:      rudnn_tile.launch @rudnn_kernels::@attention blocks(%c64,
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK:      rudnn_tile.alloc -> memref<2x128x64xbf16
// CHECK:      rudnn_tile.alloc -> memref<2x2x128x64xbf16
// CHECK:      rudnn_tile.alloc -> memref<2x2x128x64xbf16
// The output has its own place, as the next queries come while it is stored.
// CHECK:      rudnn_tile.alloc -> memref<2x128x64xbf16
// CHECK:      %[[QR:.*]] = rudnn_tile.ring : <1, consumers = 2>
// CHECK:      %[[KR:.*]] = rudnn_tile.ring : <2, consumers = 2>
// CHECK:      %[[VR:.*]] = rudnn_tile.ring : <2, consumers = 2>
// CHECK:      role "producer" groups 1 registers 24
// The pairs of this block, and the two heads of a pair, one from each end of the rows.
// CHECK:        scf.for
// CHECK:          scf.for
// CHECK:          rudnn_tile.ring_acquire %[[KR]]
// CHECK:          rudnn_tile.ring_acquire %[[QR]]
// CHECK:          scf.for
// CHECK:          rudnn_tile.ring_acquire %[[KR]]
// CHECK:          rudnn_tile.ring_acquire %[[VR]]
// CHECK:        rudnn_tile.ring_acquire %[[VR]]
// CHECK:      role "consumer" groups 2 registers 240 (%[[G:.*]]) {
// CHECK:        rudnn_tile.turn_edge %[[G]] of 2 first
// The queries stay in registers.
// CHECK:        rudnn_tile.ring_wait %[[QR]]
// CHECK:        rudnn_tile.load_matrix {{.*}} -> <64x128xbf16, acc>
// The first scores: masked on the diagonal, their maximum, weights and sums.
// CHECK:        rudnn_tile.wgmma {{.*}} -> <64x128xf32, acc>
// CHECK:        rudnn_tile.wgmma_wait 0
// CHECK:        rudnn_tile.iota %{{.*}} coefficients [1, -1]
// CHECK:        arith.cmpi sge
// CHECK:        rudnn_tile.reduce max %{{.*}} dim 1 : <64x128xf32, acc> -> <64xf32, acc_rows>
// CHECK:        math.exp2
// CHECK:        rudnn_tile.reduce add %{{.*}} dim 1 : <64x128xf32, acc> -> <64x4xf32, acc_quads>
// A step: the next scores, then the product of the step before, under one turn.
// CHECK:        scf.for
// CHECK-NOT:      rudnn_tile.iota
// CHECK:          rudnn_tile.ring_wait %[[KR]]
// CHECK:          rudnn_tile.turn_take %[[G]] of 2
// CHECK:          %[[S:.*]] = rudnn_tile.wgmma
// Between the products a warp rescales the output when one of its rows asks for it.
// CHECK:          arith.cmpf une
// CHECK:          %[[MOVED:.*]] = rudnn_tile.any
// CHECK:          %[[SCALED:.*]] = scf.if %[[MOVED]] -> (!rudnn_tile.fragment<64x128xf32, acc>)
// CHECK:          rudnn_tile.ring_wait %[[VR]]
// CHECK:          %[[O:.*]] = rudnn_tile.wgmma %[[P:.*]], %{{.*}} acc %[[SCALED]] transpose_b
// CHECK:          rudnn_tile.turn_pass %[[G]] of 2
// CHECK:          rudnn_tile.wgmma_wait 1 for %[[S]]
// CHECK:          rudnn_tile.ring_release %[[KR]]
// The maximum follows only scores that lie 2^8 above it.
// CHECK:          arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
// CHECK:          math.exp2
// CHECK:          rudnn_tile.wgmma_wait 0 for %[[O]] keep %[[P]]
// CHECK:          rudnn_tile.ring_release %[[VR]]
// CHECK:          rudnn_tile.convert
// CHECK:        rudnn_tile.ring_release %[[QR]]
// CHECK:        rudnn_tile.wgmma {{.*}} transpose_b
// CHECK:        rudnn_tile.reduce add %{{.*}} dim 1 : <64x4xf32, acc_quads> -> <64xf32, acc_rows>
// CHECK:        math.log2
// CHECK:        rudnn_tile.store {{.*}} bounds
// CHECK:        rudnn_tile.store_shared
// CHECK:        rudnn_tile.tma_store
// CHECK:        rudnn_tile.turn_edge %[[G]] of 2

// -----

// Without causal: blocks of a full device walk over the tiles, the output has memory of
// its own so that the next queries come early.
func.func @full(%q: memref<4x16x4096x128xf16>, %o: memref<4x16x4096x128xf16>) {
  rudnn.attention ins(%q, %q, %q : memref<4x16x4096x128xf16>, memref<4x16x4096x128xf16>, memref<4x16x4096x128xf16>)
      outs(%o : memref<4x16x4096x128xf16>)
  return
}
// CHECK-LABEL: func.func @full
// CHECK:      rudnn_tile.launch @rudnn_kernels::@attention blocks(%c132
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK-NOT:  rudnn_tile.alloc over
// CHECK-NOT:  rudnn_tile.iota
// CHECK:      rudnn_tile.tma_store

// -----

// Three warp groups of 64 rows end in different blocks of 128 keys, and the last tile of
// 1024 rows has rows for one of them. Only the first block of a group is masked.
func.func @three(%q: memref<4x32x1024x64xbf16>, %o: memref<4x32x1024x64xbf16>) {
  rudnn.attention ins(%q, %q, %q : memref<4x32x1024x64xbf16>, memref<4x32x1024x64xbf16>, memref<4x32x1024x64xbf16>)
      outs(%o : memref<4x32x1024x64xbf16>) {causal = #rudnn.causal<bottom_right>}
  return
}
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK:      role "consumer" groups 3 registers 160 (%[[G:.*]]) {
// CHECK:        scf.if
// CHECK:          scf.for
// CHECK-NEXT:       arith.addi
// CHECK-NEXT:       rudnn_tile.turn_take %[[G]] of 3
// CHECK-NEXT:       rudnn_tile.turn_pass %[[G]] of 3
// CHECK-NEXT:       rudnn_tile.ring_wait %[[KR:[0-9]+]]
// CHECK-NEXT:       rudnn_tile.ring_release %[[KR]]
// CHECK-NEXT:       rudnn_tile.ring_wait %[[VR:[0-9]+]]
// CHECK-NEXT:       rudnn_tile.ring_release %[[VR]]
// CHECK:          rudnn_tile.wgmma
// CHECK:          rudnn_tile.iota
// CHECK:          scf.for
// CHECK-NOT:        rudnn_tile.iota
// CHECK:          rudnn_tile.tma_store
// CHECK:        } else {
// CHECK-NEXT:     rudnn_tile.ring_wait
// CHECK-NEXT:     rudnn_tile.ring_release
// CHECK-NEXT:     scf.for
// CHECK:            rudnn_tile.turn_pass %[[G]] of 3

// -----

// A window, softcap and sinks over dynamic lengths: loops for the cut blocks on the
// right, those in the middle, and those cut on the left.
func.func @window(%q: memref<1x4x?x64xbf16>, %k: memref<1x4x?x64xbf16>, %sinks: memref<4xf32>, %o: memref<1x4x?x64xbf16>) {
  rudnn.attention ins(%q, %k, %k : memref<1x4x?x64xbf16>, memref<1x4x?x64xbf16>, memref<1x4x?x64xbf16>)
      sinks(%sinks : memref<4xf32>) outs(%o : memref<1x4x?x64xbf16>)
      {causal = #rudnn.causal<bottom_right>, window_left = 300 : i64, softcap = 30.0 : f64}
  return
}
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK:      role "consumer"
// A warp group without rows, and one whose rows do not see the blocks on the right.
// CHECK:      scf.if
// CHECK:      scf.for
// CHECK:        rudnn_tile.turn_pass
// CHECK:      rudnn_tile.wgmma
// CHECK:      scf.for
// CHECK:        rudnn_tile.iota {{.*}} coefficients [1, -1]
// CHECK:        rudnn_tile.iota {{.*}} coefficients [-1, 1]
// CHECK:      scf.for
// CHECK-NOT:    rudnn_tile.iota
// CHECK:      scf.for
// CHECK:        rudnn_tile.iota {{.*}} coefficients [1, -1]
// CHECK:      rudnn_tile.load {{.*}} : memref<?xf32> -> <64xf32, acc_rows>
