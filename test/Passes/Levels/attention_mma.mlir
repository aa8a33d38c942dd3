// DEFINE: %{kernel} = -rudnn-schedule=chip=sm_80 -canonicalize -cse
// DEFINE: %{placed} = %{kernel} -rudnn-plan-smem -rudnn-assign-phases -rudnn-insert-fences -canonicalize -cse
// RUN: rudnn-opt %s -verify-each %{kernel} | FileCheck %s --check-prefix=KERNEL
// RUN: rudnn-opt %s -verify-each %{placed} | FileCheck %s --check-prefix=PLACED
// RUN: rudnn-opt %s -verify-each %{placed} -rudnn-convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// Each level can be printed and read again.
// RUN: rudnn-opt %s %{kernel} | rudnn-opt -rudnn-kernels-to-nvvm="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX

// Attention on sm_80 and later, from the operator to PTX, and what each level adds. (What the schedule does with the options
// of the operator: Schedules/attention_mma.mlir.)

// The operator: what is computed.
func.func @full(%q: memref<1x1x256x128xbf16>, %k: memref<1x1x512x128xbf16>, %v: memref<1x1x512x128xbf16>,
                %o: memref<1x1x256x128xbf16>) {
  rudnn.attention ins(%q, %k, %v : memref<1x1x256x128xbf16>, memref<1x1x512x128xbf16>, memref<1x1x512x128xbf16>)
      outs(%o : memref<1x1x256x128xbf16>)
  return
}

// rudnn-schedule: how one kernel computes it. All threads copy; the queries stay in registers, one block of keys and
// values is computed while the next one comes.
// KERNEL-LABEL: func.func @full
// KERNEL:      rudnn_tile.launch @rudnn_kernels::@attention
// KERNEL-LABEL: rudnn_tile.kernel @attention
// KERNEL:      rudnn_tile.copy_async
// KERNEL:      rudnn_tile.copy_async_commit
// KERNEL:      rudnn_tile.copy_async_wait
// KERNEL-NEXT: rudnn_tile.block_barrier
// KERNEL:      %[[Q:.*]] = rudnn_tile.load_matrix {{.*}} -> <64x16xbf16, acc>
// KERNEL:      scf.for
// KERNEL:        rudnn_tile.copy_async_wait 0
// KERNEL-NEXT:   rudnn_tile.block_barrier
// S = Q K^T, 16 dims at a time.
// KERNEL:        %[[K:.*]] = rudnn_tile.load_matrix {{.*}} transpose : {{.*}} -> <16x64xbf16, operand_b>
// KERNEL:        rudnn_tile.mma %[[Q]], %[[K]] acc
// The softmax.
// KERNEL:        rudnn_tile.reduce max
// KERNEL:        math.exp2
// KERNEL:        rudnn_tile.reduce add
// O += P V, 16 keys at a time: the accumulator's layout is the operand's.
// KERNEL:        %[[P:.*]] = rudnn_tile.convert
// KERNEL:        %[[PART:.*]] = rudnn_tile.columns %[[P]] from 0 : <64x64xbf16, acc> -> <64x16xbf16, acc>
// KERNEL:        rudnn_tile.mma %[[PART]]
// KERNEL:      rudnn_tile.store

// rudnn-plan-smem gives each tile its bytes of shared memory. There are no rings, whose barriers would get phases, and
// no copies that would need fences.
// PLACED-LABEL: rudnn_tile.kernel @attention
// PLACED:      rudnn_tile.alloc {offset = 0 : i32}
// PLACED:      rudnn_tile.alloc {offset = {{[1-9][0-9]+}} : i32}
// PLACED-NOT:  rudnn_tile.ring_init
// PLACED-NOT:  rudnn_tile.wgmma_fence
// PLACED:      rudnn_tile.mma

// rudnn-convert-tile-to-nvvm: each thread copies its chunks of 16 bytes, fragments are registers, a product is one
// instruction per 16 x 8 x 16, a row's maximum is exchanged by the four lanes that share it.
// NVVM-LABEL: llvm.func @attention
// NVVM:      nvvm.cp.async.shared.global
// NVVM:      nvvm.cp.async.commit.group
// NVVM:      nvvm.ldmatrix
// NVVM:      nvvm.mma.sync
// NVVM:      nvvm.shfl.sync bfly
// NVVM:      nvvm.shfl.sync bfly
// NVVM:      ex2
// NVVM:      nvvm.mma.sync

// PTX-DAG: .visible .entry attention(
// PTX-DAG: .maxntid 128
// PTX-DAG: cp.async.cg.shared.global
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-DAG: ex2.approx.ftz.f32
