// DEFINE: %{kernel} = -rudnn-schedule=chip=sm_80 -canonicalize -cse
// DEFINE: %{placed} = %{kernel} -rudnn-plan-smem -rudnn-assign-phases -rudnn-insert-fences -canonicalize -cse
// RUN: rudnn-opt %s -verify-each %{kernel} | FileCheck %s --check-prefix=KERNEL
// RUN: rudnn-opt %s -verify-each %{placed} | FileCheck %s --check-prefix=PLACED
// RUN: rudnn-opt %s -verify-each %{placed} -rudnn-convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// Each level can be printed and read again.
// RUN: rudnn-opt %s %{kernel} | rudnn-opt -rudnn-kernels-to-nvvm="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX

// A matrix product on sm_80 and later, from the operator to PTX, and what each level adds. (What the schedule does in
// detail: Schedules/gemm_mma.mlir.)

// The operator: what is computed. The epilogue works on one f32 sum.
func.func @product(%a: memref<256x512xbf16>, %b: memref<256x512xbf16>, %d: memref<256x256xbf16>) {
  rudnn_tile.gemm ins(%a, %b : memref<256x512xbf16>, memref<256x512xbf16>)
      outs(%d : memref<256x256xbf16>) transpose_b epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// rudnn-schedule: how one kernel computes it. All threads copy, in groups of a step; they meet at a barrier before they
// read what the others have copied; each warp multiplies 32 of the 128 rows.
// KERNEL-LABEL: func.func @product
// KERNEL:      rudnn_tile.launch @rudnn_kernels::@gemm
// KERNEL-LABEL: rudnn_tile.kernel @gemm
// KERNEL:      rudnn_tile.alloc -> memref<[[STAGES:[0-9]+]]x128x32xbf16, #rudnn_tile.shared<swizzle = 64>>
// KERNEL:      rudnn_tile.copy_async
// KERNEL:      rudnn_tile.copy_async_commit
// KERNEL:      scf.for
// KERNEL:        rudnn_tile.copy_async_wait
// KERNEL-NEXT:   rudnn_tile.block_barrier
// KERNEL:        rudnn_tile.copy_async_commit
// KERNEL:        %[[A:.*]] = rudnn_tile.load_matrix {{.*}} -> <128x16xbf16, acc<4x1>>
// KERNEL:        %[[B:.*]] = rudnn_tile.load_matrix {{.*}} -> <16x128xbf16, operand_b>
// KERNEL:        rudnn_tile.mma %[[A]], %[[B]] acc
// KERNEL:      rudnn_tile.convert
// KERNEL:      rudnn_tile.store

// rudnn-plan-smem gives each tile its bytes of shared memory. There are no rings, whose barriers would get phases, and
// no copies that would need fences.
// PLACED-LABEL: rudnn_tile.kernel @gemm
// PLACED:      rudnn_tile.alloc {offset = 0 : i32} -> memref<[[STAGES:[0-9]+]]x128x32xbf16
// PLACED:      rudnn_tile.alloc {offset = {{[1-9][0-9]+}} : i32}
// PLACED-NOT:  rudnn_tile.ring_init
// PLACED-NOT:  rudnn_tile.wgmma_fence
// PLACED:      rudnn_tile.mma

// rudnn-convert-tile-to-nvvm: each thread copies its chunks of 16 bytes, fragments are registers (128 x 128 f32 are 128
// of each of the 128 threads), a product is one instruction per 16 x 8 x 16.
// NVVM-LABEL: llvm.func @gemm
// NVVM:      nvvm.cp.async.shared.global
// NVVM:      nvvm.cp.async.commit.group
// NVVM:      scf.for
// NVVM:        nvvm.cp.async.wait.group
// NVVM:        nvvm.ldmatrix
// NVVM-COUNT-32: nvvm.mma.sync
// NVVM:      llvm.store

// PTX-DAG: .visible .entry gemm(
// PTX-DAG: .maxntid 128
// PTX-DAG: cp.async.cg.shared.global
// PTX-DAG: cp.async.wait_group
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
