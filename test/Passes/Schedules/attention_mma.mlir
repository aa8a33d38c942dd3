// RUN: rudnn-opt %s -verify-each -rudnn-schedule=chip=sm_80 -canonicalize -cse -split-input-file | FileCheck %s
// RUN: rudnn-opt %s -verify-each -rudnn-schedule=chip=sm_86 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=SMALL

// Causal attention on sm_80. Queries and keys in whole tiles of 64: only the first block of keys, on
// the diagonal, is masked. One block of the grid per 64 rows of a head, 16 rows a warp.
func.func @causal(%q: memref<2x8x1024x128xbf16>, %k: memref<2x2x1024x128xbf16>,
                  %v: memref<2x2x1024x128xbf16>, %o: memref<2x8x1024x128xbf16>,
                  %lse: memref<2x8x1024xf32>) {
  rudnn.attention ins(%q, %k, %v : memref<2x8x1024x128xbf16>, memref<2x2x1024x128xbf16>, memref<2x2x1024x128xbf16>)
      outs(%o, %lse : memref<2x8x1024x128xbf16>, memref<2x8x1024xf32>) {causal = #rudnn.causal<bottom_right>}
  return
}

// CHECK-LABEL: func.func @causal
// CHECK:      rudnn_tile.launch @rudnn_kernels::@attention blocks(%c256
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK-SAME: threads = 128
// CHECK:      %[[Q:.*]] = rudnn_tile.alloc -> memref<2x64x64xbf16
// CHECK:      %[[K:.*]] = rudnn_tile.alloc -> memref<2x2x64x64xbf16
// CHECK:      %[[V:.*]] = rudnn_tile.alloc -> memref<2x2x64x64xbf16
// Two groups of copies: the queries, the first block of keys and values.
// CHECK:      rudnn_tile.copy_async {{.*}} to %[[Q]] {columns = 128
// CHECK:      rudnn_tile.copy_async_commit
// CHECK:      rudnn_tile.copy_async
// CHECK:      rudnn_tile.copy_async
// CHECK:      rudnn_tile.copy_async_commit
// The queries to registers.
// CHECK:      rudnn_tile.copy_async_wait 1
// CHECK:      rudnn_tile.block_barrier
// CHECK-COUNT-8: rudnn_tile.load_matrix %[[Q]] {{.*}} -> <64x16xbf16, acc>
// The step on the diagonal: the block has landed, the copies of the next start.
// CHECK:      rudnn_tile.copy_async_wait 0
// CHECK:      rudnn_tile.block_barrier
// CHECK:      scf.if
// CHECK:        rudnn_tile.copy_async
// CHECK:      rudnn_tile.copy_async_commit
// S = Q K^T in steps of 16 dims.
// CHECK:      rudnn_tile.load_matrix {{.*}} transpose : {{.*}} -> <16x64xbf16, operand_b>
// CHECK:      rudnn_tile.mma {{.*}} : <64x16xbf16, acc>, <16x64xbf16, operand_b>, <64x64xf32, acc>
// CHECK:      rudnn_tile.iota %{{.*}} coefficients [1, -1]
// CHECK:      rudnn_tile.reduce max %{{.*}} dim 1 : <64x64xf32, acc> -> <64xf32, acc_rows>
// CHECK:      rudnn_tile.reduce add %{{.*}} dim 1 : <64x64xf32, acc> -> <64x4xf32, acc_quads>
// O += P V: the rounded weights are the operand as they are, in steps of 16 keys.
// CHECK:      %[[P:.*]] = rudnn_tile.convert {{.*}} -> <64x64xbf16, acc>
// CHECK:      rudnn_tile.columns %[[P]] from 0
// CHECK:      rudnn_tile.load_matrix {{.*}} : {{.*}} -> <16x64xbf16, operand_b>
// CHECK:      rudnn_tile.mma
// The steps behind the diagonal compare nothing.
// CHECK:      scf.for
// CHECK:        rudnn_tile.copy_async_wait 0
// CHECK-NOT:    rudnn_tile.iota
// CHECK:        scf.yield
// CHECK:      rudnn_tile.reduce add %{{.*}} dim 1 : <64x4xf32, acc_quads> -> <64xf32, acc_rows>
// CHECK:      math.log2
// CHECK:      rudnn_tile.store {{.*}} : <64xf32, acc_rows>
// CHECK:      rudnn_tile.store {{.*}} : <64x64xbf16, acc>
// CHECK:      rudnn_tile.store {{.*}} : <64x64xbf16, acc>
// SMALL-LABEL: rudnn_tile.kernel @attention
// SMALL:      rudnn_tile.alloc -> memref<2x2x64x64xbf16

// -----

// Small heads: two blocks of 16 rows for each warp. A window, softcap and sinks over dynamic lengths: loops
// for the cut blocks on the right, those in the middle, and those cut on the left.
func.func @window(%q: memref<1x4x?x64xbf16>, %k: memref<1x4x?x64xbf16>, %sinks: memref<4xf32>, %o: memref<1x4x?x64xbf16>) {
  rudnn.attention ins(%q, %k, %k : memref<1x4x?x64xbf16>, memref<1x4x?x64xbf16>, memref<1x4x?x64xbf16>)
      sinks(%sinks : memref<4xf32>) outs(%o : memref<1x4x?x64xbf16>)
      {causal = #rudnn.causal<bottom_right>, window_left = 300 : i64, softcap = 30.0 : f64}
  return
}
// Strides that the type doesn't say are arguments.
// CHECK-LABEL: func.func @window
// CHECK:      memref.extract_strided_metadata
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK:      scf.for
// CHECK:        rudnn_tile.mma {{.*}} : <128x16xbf16, acc<4x1>>, <16x64xbf16, operand_b>, <128x64xf32, acc<4x1>>
// CHECK:        rudnn_tile.iota {{.*}} coefficients [1, -1]
// CHECK:        rudnn_tile.iota {{.*}} coefficients [-1, 1]
// CHECK:      scf.for
// CHECK-NOT:    rudnn_tile.iota
// CHECK:      scf.for
// CHECK:        rudnn_tile.iota {{.*}} coefficients [1, -1]
// CHECK:      rudnn_tile.load {{.*}} : memref<?xf32> -> <128xf32, acc_rows<4x1>>

// -----

// Wide heads: the queries stay in shared memory; 99 KiB hold blocks of 32 keys only.
func.func @wide(%q: memref<1x4x?x256xf16>, %o: memref<1x4x?x256xf16>) {
  rudnn.attention ins(%q, %q, %q : memref<1x4x?x256xf16>, memref<1x4x?x256xf16>, memref<1x4x?x256xf16>)
      outs(%o : memref<1x4x?x256xf16>)
  return
}
// CHECK-LABEL: rudnn_tile.kernel @attention
// CHECK:      %[[Q:.*]] = rudnn_tile.alloc -> memref<4x64x64xf16
// CHECK:      rudnn_tile.alloc -> memref<2x4x64x64xf16
// CHECK:      scf.for
// CHECK:        rudnn_tile.load_matrix %[[Q]]
// SMALL-LABEL: rudnn_tile.kernel @attention
// SMALL:      rudnn_tile.alloc -> memref<4x64x64xf16
// SMALL:      rudnn_tile.alloc -> memref<2x4x32x64xf16
