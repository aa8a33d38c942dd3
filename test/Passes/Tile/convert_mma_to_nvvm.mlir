// RUN: rudnn-opt %s -verify-each -rudnn-plan-smem -rudnn-convert-tile-to-nvvm -canonicalize -cse | FileCheck %s

!tile = memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
!a = !rudnn_tile.fragment<64x16xbf16, acc>
!b = !rudnn_tile.fragment<16x64xbf16, operand_b>
!acc = !rudnn_tile.fragment<64x64xf32, acc>

// CHECK-LABEL: llvm.func @product(
rudnn_tile.kernel @product(%x: memref<?xbf16>, %ld: i64, %rows: index, %cols: index, %y: memref<?xf32>) attributes {threads = 128 : i32} {
  %zero = arith.constant 0 : i64
  %f0 = arith.constant 0.0 : f32
  %q = rudnn_tile.alloc -> !tile
  %v = rudnn_tile.alloc -> !tile
  // 128 threads copy 16 rows of 8 chunks at once; chunk c of row r to place c ^ (r % 8).
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[CHUNK:.*]] = arith.andi %[[TID]], %c7_i32
  // CHECK: %[[ROW:.*]] = arith.shrui %[[TID]], %c3_i32
  // CHECK: %[[PATTERN:.*]] = arith.andi %[[ROW]], %c7_i32
  // CHECK: arith.xori %[[CHUNK]], %[[PATTERN]]
  // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg :
  // CHECK-NOT: nvvm.cp.async.shared.global
  rudnn_tile.copy_async %x[%zero] leading %ld to %q : memref<?xbf16>, !tile
  // CHECK: nvvm.cp.async.commit.group
  rudnn_tile.copy_async_commit
  // With bounds the instruction fills with zeros what it does not read: 0 bytes of a row
  // outside, the bytes left of the column bound otherwise.
  // CHECK: %[[LEFT:.*]] = arith.subi
  // CHECK: arith.maxsi
  // CHECK: %[[VALID:.*]] = arith.minsi
  // CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[ROW]]
  // CHECK: %[[SIZE:.*]] = arith.select %[[INSIDE]], %[[VALID]], %c0_i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
  rudnn_tile.copy_async %x[%zero] leading %ld bounds(%rows, %cols) to %v : memref<?xbf16>, !tile
  rudnn_tile.copy_async_commit
  // CHECK: nvvm.cp.async.wait.group 0
  rudnn_tile.copy_async_wait 0
  // CHECK: nvvm.barrier0
  rudnn_tile.block_barrier
  // 16 rows of each warp: one instruction of four matrices.
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = {{.*}}b16{{.*}}, layout = #nvvm.mma_layout<row>, num = 4 : i32
  %a = rudnn_tile.load_matrix %q from [0, 16] : !tile -> !a
  // Rows of the tile are columns of the operand: as they are; and the other way round.
  // CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>, num = 4
  %b = rudnn_tile.load_matrix %q from [0, 32] transpose : !tile -> !b
  // CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>, num = 4
  %b2 = rudnn_tile.load_matrix %v from [16, 0] : !tile -> !b
  %c = rudnn_tile.splat %f0 : f32 -> !acc
  // CHECK-COUNT-16: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>
  %s = rudnn_tile.mma %a, %b acc %c : !a, !b, !acc
  %t = rudnn_tile.mma %a, %b2 acc %s : !a, !b, !acc
  // CHECK-NOT: nvvm.mma.sync
  rudnn_tile.store %t to %y[%zero] strides [64, 1] {vector = 2 : i32} : !acc, memref<?xf32>
  rudnn_tile.yield
}
