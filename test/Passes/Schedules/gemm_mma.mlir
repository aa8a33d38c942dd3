// RUN: rudnn-opt %s -verify-each -rudnn-schedule=chip=sm_80 -canonicalize -cse -split-input-file | FileCheck %s

// A product with a row added: blocks of 128 x 128, four stages of 32 columns of a and b.
!a = memref<?x512xbf16>
!b = memref<1024x512xbf16>
!d = memref<?x1024xbf16>
func.func @bias(%a: !a, %b: !b, %d: !d, %bias: memref<1024xf32>) {
  rudnn_tile.gemm ins(%a, %b : !a, !b) extras(%bias : memref<1024xf32>) outs(%d : !d) transpose_b epilogue {
  ^bb0(%x: f32, %e: f32):
    %z = arith.addf %x, %e : f32
    %y = arith.truncf %z : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}
// CHECK-LABEL: func.func @bias
// CHECK:      rudnn_tile.launch @rudnn_kernels::@gemm
// CHECK-LABEL: rudnn_tile.kernel @gemm
// CHECK-SAME: threads = 128
// CHECK:      %[[A:.*]] = rudnn_tile.alloc -> memref<4x128x32xbf16, #rudnn_tile.shared<swizzle = 64>>
// CHECK:      %[[B:.*]] = rudnn_tile.alloc -> memref<4x128x32xbf16, #rudnn_tile.shared<swizzle = 64>>
// Three steps ahead: each one a group, empty behind the last step.
// CHECK-COUNT-3: rudnn_tile.copy_async_commit
// CHECK:      %[[ACC:.*]] = scf.for
// CHECK:        rudnn_tile.copy_async_wait 2
// CHECK-NEXT:   rudnn_tile.block_barrier
// CHECK:        scf.if
// CHECK:          rudnn_tile.copy_async
// CHECK:          rudnn_tile.copy_async
// CHECK:        rudnn_tile.copy_async_commit
// CHECK:        rudnn_tile.load_matrix {{.*}} from [0, 0] : {{.*}} -> <128x16xbf16, acc<4x1>>
// CHECK:        rudnn_tile.load_matrix {{.*}} from [0, 0] transpose : {{.*}} -> <16x128xbf16, operand_b>
// CHECK:        rudnn_tile.mma {{.*}} : <128x16xbf16, acc<4x1>>, <16x128xbf16, operand_b>, <128x128xf32, acc<4x1>>
// CHECK:        rudnn_tile.mma
// CHECK-NOT:    rudnn_tile.mma
// CHECK:        scf.yield
// Pieces of 32 columns: the row's piece, the sum, one rounding.
// CHECK:      rudnn_tile.columns %[[ACC]] from 0 : <128x128xf32, acc<4x1>> -> <128x32xf32, acc<4x1>>
// CHECK:      rudnn_tile.load {{.*}} : memref<?xf32> -> <32xf32, acc_cols>
// CHECK:      rudnn_tile.broadcast {{.*}} dim 0
// CHECK:      arith.addf
// CHECK:      rudnn_tile.convert {{.*}} -> <128x32xbf16, acc<4x1>>
// CHECK:      rudnn_tile.store
// CHECK:      rudnn_tile.columns %[[ACC]] from 32

// -----

// Batches, b as [k, n]: two panels of 64 columns, transposed when they are loaded. Strides are arguments.
!a = memref<?x?x64xf16>
!b = memref<?x64x128xf16>
!d = memref<?x?x128xf32>
func.func @batched(%a: !a, %b: !b, %d: !d) {
  rudnn_tile.gemm ins(%a, %b : !a, !b) outs(%d : !d) epilogue {
  ^bb0(%x: f32):
    rudnn_tile.yield %x : f32
  }
  return
}
// CHECK-LABEL: func.func @batched
// CHECK:      memref.extract_strided_metadata
// CHECK-LABEL: rudnn_tile.kernel @gemm
// CHECK:      rudnn_tile.alloc -> memref<4x2x32x64xf16, #rudnn_tile.shared<swizzle = 128>>
// CHECK:      rudnn_tile.load_matrix {{.*}} from [16, 0] : {{.*}} -> <16x128xf16, operand_b>
// CHECK:      rudnn_tile.store {{.*}} : <128x32xf32, acc<4x1>>, memref<?xf32>
