// DEFINE: %{kernel} = -rudnn-schedule=chip=sm_90a -canonicalize -cse
// DEFINE: %{placed} = %{kernel} -rudnn-plan-smem -rudnn-assign-phases -rudnn-insert-fences -canonicalize -cse
// RUN: rudnn-opt %s -verify-each %{kernel} | FileCheck %s --check-prefix=KERNEL
// RUN: rudnn-opt %s -verify-each %{placed} | FileCheck %s --check-prefix=PLACED
// RUN: rudnn-opt %s -verify-each %{placed} -rudnn-convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// Each level can be printed and read again.
// RUN: rudnn-opt %s %{kernel} | rudnn-opt -rudnn-kernels-to-nvvm="chip=sm_90a format=isa" | FileCheck %s --check-prefix=PTX

// A matrix product on sm_90a, from the operator to PTX, and what each level adds. (What the schedule does in detail:
// Schedules/gemm.mlir.)

// The operator: what is computed. The epilogue works on one f32 sum.
func.func @product(%a: memref<4096x512xbf16>, %b: memref<4096x512xbf16>, %d: memref<4096x4096xbf16>) {
  rudnn_tile.gemm ins(%a, %b : memref<4096x512xbf16>, memref<4096x512xbf16>)
      outs(%d : memref<4096x4096xbf16>) transpose_b epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// rudnn-schedule: how one kernel computes it. One warp group copies tiles of a and b into a ring of four stages, two
// multiply; a ring's steps are named by the number of the trip.
// KERNEL-LABEL: func.func @product
// KERNEL:      rudnn_tile.launch @rudnn_kernels::@gemm
// KERNEL-LABEL: rudnn_tile.kernel @gemm
// KERNEL:      rudnn_tile.alloc -> memref<4x128x64xbf16
// KERNEL:      %[[R:.*]] = rudnn_tile.ring : <4, consumers = 2>
// KERNEL:      role "producer"
// KERNEL:        rudnn_tile.ring_acquire %[[R]][%[[TRIP:.*]]] :
// KERNEL:        rudnn_tile.tma_load %{{.*}}, full %[[R]][%[[TRIP]]]
// KERNEL:        rudnn_tile.tma_load %{{.*}}, full %[[R]][%[[TRIP]]]
// KERNEL:        rudnn_tile.ring_commit %[[R]][%[[TRIP]]]
// KERNEL:      role "consumer"
// KERNEL:        rudnn_tile.ring_wait %[[R]]
// KERNEL:        rudnn_tile.wgmma
// KERNEL:        rudnn_tile.ring_release %[[R]]
// KERNEL:        rudnn_tile.store_shared
// KERNEL-NEXT:   rudnn_tile.group_barrier
// KERNEL-NEXT:   rudnn_tile.tma_store

// rudnn-plan-smem gives each tile and ring its bytes of shared memory, rudnn-assign-phases makes barrier waits and
// arrivals of the ring's steps (slot = trip mod 4, parity = trip / 4 mod 2, and the bytes that the copies bring: 128 x 64
// and 256 x 64 of 2 bytes), rudnn-insert-fences the fences of products and of what was stored for a copy.
// PLACED-LABEL: rudnn_tile.kernel @gemm
// PLACED:      rudnn_tile.alloc {offset = 0 : i32} -> memref<4x128x64xbf16
// PLACED:      rudnn_tile.alloc {offset = 65536 : i32}
// PLACED:      %[[R:.*]] = rudnn_tile.ring {offset = {{[0-9]+}} : i32} : <4, consumers = 2>
// PLACED-NEXT: rudnn_tile.ring_init %[[R]]
// PLACED:      role "producer"
// PLACED:        %[[ROUND:.*]] = arith.shrui %[[TRIP:.*]], %c2
// PLACED:        %[[ODD:.*]] = arith.andi %[[ROUND]], %c1
// PLACED:        %[[PARITY:.*]] = arith.index_castui %[[ODD]]
// PLACED:        %[[SLOT:.*]] = arith.andi %[[TRIP]], %c3
// PLACED:        %[[BEFORE:.*]] = arith.xori %[[PARITY]]
// PLACED:        rudnn_tile.barrier_wait empty %[[R]][%[[SLOT]]] parity %[[BEFORE]]
// PLACED-NEXT:   rudnn_tile.barrier_arrive full %[[R]][%[[SLOT]]] bytes 49152
// PLACED-NOT:    ring_commit
// PLACED:      role "consumer"
// PLACED:        rudnn_tile.barrier_wait full %[[R]]
// PLACED:        rudnn_tile.wgmma_fence
// PLACED-NEXT:   rudnn_tile.wgmma
// PLACED:        rudnn_tile.barrier_arrive empty %[[R]]
// PLACED:        rudnn_tile.store_shared
// PLACED-NEXT:   rudnn_tile.proxy_fence
// PLACED-NEXT:   rudnn_tile.group_barrier
// PLACED-NEXT:   rudnn_tile.tma_store

// rudnn-convert-tile-to-nvvm: fragments are registers (64 x 256 f32 are 128 of a thread), tiles addresses, roles a
// branch on the warp group.
// NVVM-LABEL: llvm.func @gemm
// NVVM-SAME:  llvm.byval = !llvm.array<128 x i8>
// NVVM:      nvvm.mbarrier.init
// NVVM:      nvvm.mbarrier.try_wait.parity
// NVVM:      nvvm.cp.async.bulk.tensor
// NVVM:      nvvm.wgmma.fence.aligned
// NVVM:      wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {$0, {{.*}}$127}
// NVVM:      nvvm.stmatrix

// PTX-DAG: .visible .entry gemm(
// PTX-DAG: .maxntid 384
// PTX-DAG: setmaxnreg.dec.sync.aligned.u32
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32
// PTX-DAG: mbarrier.try_wait.parity
// PTX-DAG: cp.async.bulk.tensor.2d.shared::cta.global
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
