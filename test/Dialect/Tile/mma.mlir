// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

!tile = memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>

// One warp for every 16 rows: queries times keys, given as [key, dim].
// CHECK-LABEL: rudnn_tile.kernel @scores
rudnn_tile.kernel @scores(%x: memref<?xbf16>, %ld: i64, %rows: index, %cols: index) attributes {threads = 128 : i32} {
  %zero = arith.constant 0 : i64
  %f0 = arith.constant 0.0 : f32
  %q = rudnn_tile.alloc -> !tile
  %k = rudnn_tile.alloc -> !tile
  // CHECK: rudnn_tile.copy_async %{{.*}}[%{{.*}}] leading %{{.*}} to %{{.*}} : memref<?xbf16>, memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.copy_async %x[%zero] leading %ld to %q : memref<?xbf16>, !tile
  // CHECK: rudnn_tile.copy_async_commit
  rudnn_tile.copy_async_commit
  // CHECK: rudnn_tile.copy_async %{{.*}}[%{{.*}}] leading %{{.*}} bounds(%{{.*}}, %{{.*}}) to %{{.*}} {columns = 80 : i64}
  rudnn_tile.copy_async %x[%zero] leading %ld bounds(%rows, %cols) to %k {columns = 80 : i64} : memref<?xbf16>, !tile
  rudnn_tile.copy_async_commit
  // CHECK: rudnn_tile.copy_async_wait 0
  rudnn_tile.copy_async_wait 0
  // CHECK: rudnn_tile.block_barrier
  rudnn_tile.block_barrier
  // CHECK: rudnn_tile.load_matrix %{{.*}} from [0, 16] : {{.*}} -> <64x16xbf16, acc>
  %a = rudnn_tile.load_matrix %q from [0, 16] : !tile -> !rudnn_tile.fragment<64x16xbf16, acc>
  // CHECK: rudnn_tile.load_matrix %{{.*}} from [0, 16] transpose : {{.*}} -> <16x64xbf16, operand_b>
  %b = rudnn_tile.load_matrix %k from [0, 16] transpose : !tile -> !rudnn_tile.fragment<16x64xbf16, operand_b>
  %c = rudnn_tile.splat %f0 : f32 -> !rudnn_tile.fragment<64x64xf32, acc>
  // CHECK: rudnn_tile.mma %{{.*}}, %{{.*}} acc %{{.*}} : <64x16xbf16, acc>, <16x64xbf16, operand_b>, <64x64xf32, acc>
  %s = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<64x16xbf16, acc>, !rudnn_tile.fragment<16x64xbf16, operand_b>, !rudnn_tile.fragment<64x64xf32, acc>
  rudnn_tile.yield
}

// A grid of 2 x 2 warps.
// CHECK-LABEL: rudnn_tile.kernel @grid
// CHECK: rudnn_tile.mma %{{.*}}, %{{.*}} acc %{{.*}} : <64x32xf16, operand_a<2x2>>, <32x128xf16, operand_b<2x2>>, <64x128xf32, acc<2x2>>
rudnn_tile.kernel @grid(%x: memref<?xf32>) attributes {threads = 128 : i32} {
  %f0 = arith.constant 0.0 : f32
  %t = rudnn_tile.alloc -> memref<64x32xf16, #rudnn_tile.shared<swizzle = 64>>
  %u = rudnn_tile.alloc -> memref<2x32x64xf16, #rudnn_tile.shared<swizzle = 128>>
  %a = rudnn_tile.load_matrix %t from [0, 0] : memref<64x32xf16, #rudnn_tile.shared<swizzle = 64>> -> !rudnn_tile.fragment<64x32xf16, operand_a<2x2>>
  %b = rudnn_tile.load_matrix %u from [0, 0] : memref<2x32x64xf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<32x128xf16, operand_b<2x2>>
  %c = rudnn_tile.splat %f0 : f32 -> !rudnn_tile.fragment<64x128xf32, acc<2x2>>
  %s = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<64x32xf16, operand_a<2x2>>, !rudnn_tile.fragment<32x128xf16, operand_b<2x2>>, !rudnn_tile.fragment<64x128xf32, acc<2x2>>
  rudnn_tile.yield
}
