// DEFINE: %{kernel} = -rudnn-schedule=chip=sm_80 -canonicalize -cse
// DEFINE: %{placed} = %{kernel} -rudnn-plan-smem -rudnn-assign-phases -rudnn-insert-fences -canonicalize -cse
// RUN: rudnn-opt %s -verify-each %{kernel} | FileCheck %s --check-prefix=KERNEL
// RUN: rudnn-opt %s -verify-each %{placed} | FileCheck %s --check-prefix=PLACED
// RUN: rudnn-opt %s -verify-each %{placed} -rudnn-convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// Each level can be printed and read again.
// RUN: rudnn-opt %s %{kernel} | rudnn-opt -rudnn-kernels-to-nvvm="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX

// A row kernel, from the operator to PTX, and what each level adds. (The schedule's choices for other ops and sizes:
// Schedules/norm.mlir.)

// The operator: what is computed.
func.func @norm(%x: memref<?x4096xbf16>, %gamma: memref<4096xf32>, %y: memref<?x4096xbf16>) {
  rudnn.rms_norm ins(%x, %gamma : memref<?x4096xbf16>, memref<4096xf32>) outs(%y : memref<?x4096xbf16>)
  return
}

// rudnn-schedule: how one kernel computes it. A block of eight warps holds a row in registers: 8 consecutive elements a
// thread, then the next 2048. Sums are of a thread, of its warp, of the block.
// KERNEL-LABEL: func.func @norm
// KERNEL:      rudnn_tile.launch @rudnn_kernels::@rms_norm
// KERNEL-LABEL: rudnn_tile.kernel @rms_norm
// KERNEL:      %[[SCRATCH:.*]] = rudnn_tile.alloc -> memref<8xf32, #rudnn_tile.shared>
// KERNEL:      %[[X:.*]] = rudnn_tile.load {{.*}} {vector = 8 : i32} : memref<?xbf16> -> <4096xbf16, reg = [1, 2, 4, 2048] lane = [8, 16, 32, 64, 128] warp = [256, 512, 1024] rep = [1]>
// KERNEL:      %[[F:.*]] = rudnn_tile.convert %[[X]]
// KERNEL:      %[[SQUARES:.*]] = rudnn_tile.map(%[[F]])
// KERNEL:      %[[MINE:.*]] = rudnn_tile.thread_reduce add %[[SQUARES]]
// KERNEL:      rudnn_tile.block_reduce add %[[MINE]] with %[[SCRATCH]]
// KERNEL:      math.rsqrt
// KERNEL:      rudnn_tile.map(%[[F]],
// KERNEL:      rudnn_tile.store {{.*}} {vector = 8 : i32}

// rudnn-plan-smem places the sums of the warps. There is nothing to wait for but the block itself.
// PLACED-LABEL: rudnn_tile.kernel @rms_norm
// PLACED-SAME:  shared_bytes = 64 : i32
// PLACED:      rudnn_tile.alloc {offset = 0 : i32} -> memref<8xf32, #rudnn_tile.shared>

// rudnn-convert-tile-to-nvvm: loads and stores of 16 bytes, five exchanges within a warp, one through shared memory.
// NVVM-LABEL: llvm.func @rms_norm
// NVVM-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1>
// NVVM-COUNT-5: nvvm.shfl.sync bfly
// NVVM:      nvvm.barrier
// NVVM-NOT:  nvvm.barrier

// PTX-DAG: .visible .entry rms_norm(
// PTX-DAG: .maxntid 256
// PTX-DAG: ld.global.v4.b32
// PTX-DAG: shfl.sync.bfly.b32
// PTX-DAG: rsqrt.approx.ftz.f32
// PTX-DAG: st.global.v4.b32
