// DEFINE: %{kernel} = -rudnn-schedule=chip=sm_90a -canonicalize -cse
// DEFINE: %{placed} = %{kernel} -rudnn-plan-smem -rudnn-assign-phases -rudnn-insert-fences -canonicalize -cse
// RUN: rudnn-opt %s -verify-each %{kernel} | FileCheck %s --check-prefix=KERNEL
// RUN: rudnn-opt %s -verify-each %{placed} | FileCheck %s --check-prefix=PLACED
// RUN: rudnn-opt %s -verify-each %{placed} -rudnn-convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// Each level can be printed and read again.
// RUN: rudnn-opt %s %{kernel} | rudnn-opt -rudnn-kernels-to-nvvm="chip=sm_90a format=isa" | FileCheck %s --check-prefix=PTX

// Attention on sm_90a, from the operator to PTX, and what each level adds. (What the schedule does with the options of the
// operator: Schedules/attention.mlir.)

// The operator: what is computed.
func.func @full(%q: memref<1x1x256x128xbf16>, %k: memref<1x1x512x128xbf16>, %v: memref<1x1x512x128xbf16>,
                %o: memref<1x1x256x128xbf16>) {
  rudnn.attention ins(%q, %k, %v : memref<1x1x256x128xbf16>, memref<1x1x512x128xbf16>, memref<1x1x512x128xbf16>)
      outs(%o : memref<1x1x256x128xbf16>)
  return
}

// rudnn-schedule: how one kernel computes it. One warp group copies queries, keys and values into rings; each of the two
// others has 64 queries and keeps maxima, sums and the output in registers while it goes over the keys.
// KERNEL-LABEL: func.func @full
// KERNEL:      rudnn_tile.launch @rudnn_kernels::@attention
// KERNEL-LABEL: rudnn_tile.kernel @attention
// KERNEL:      rudnn_tile.ring : <{{.*}}, consumers = 2>
// KERNEL:      role "producer"
// KERNEL:        rudnn_tile.ring_acquire
// KERNEL:        rudnn_tile.tma_load
// KERNEL:        rudnn_tile.ring_commit
// KERNEL:      role "consumer"
// The first block of keys has no values to multiply before it.
// KERNEL:        rudnn_tile.wgmma_wait 0 for
// S = Q K^T
// KERNEL:        scf.for
// KERNEL:          rudnn_tile.ring_wait
// KERNEL:          %[[S:.*]] = rudnn_tile.wgmma %{{.*}} -> <64x128xf32, acc>
// O += P V; the weights P of the block before are in registers.
// KERNEL:          %[[O:.*]] = rudnn_tile.wgmma %[[P:.*]], %{{.*}} acc %{{.*}} transpose_b
// The softmax of this block runs while that product does.
// KERNEL:          rudnn_tile.wgmma_wait 1 for %[[S]]
// KERNEL:          rudnn_tile.reduce max
// KERNEL:          math.exp2
// KERNEL:          rudnn_tile.reduce add
// KERNEL:          rudnn_tile.wgmma_wait 0 for %[[O]] keep %[[P]]
// KERNEL:          rudnn_tile.ring_release
// KERNEL:        rudnn_tile.tma_store

// rudnn-plan-smem gives each tile and ring its bytes of shared memory, rudnn-assign-phases makes barrier waits and
// arrivals of the ring's steps (a block of 128 keys of 128 dims is 32768 bytes), rudnn-insert-fences the fences of
// products and of what was stored for a copy.
// PLACED-LABEL: rudnn_tile.kernel @attention
// PLACED:      rudnn_tile.alloc {offset = 0 : i32}
// PLACED:      rudnn_tile.ring {offset = {{[0-9]+}} : i32}
// PLACED:      rudnn_tile.ring_init
// PLACED:      role "producer"
// PLACED:        rudnn_tile.barrier_wait empty %[[K:.*]][%[[SLOT:.*]]] parity
// PLACED-NEXT:   rudnn_tile.barrier_arrive full %[[K]][%[[SLOT]]] bytes 32768
// PLACED:      role "consumer"
// PLACED:        rudnn_tile.barrier_wait full
// PLACED:        rudnn_tile.wgmma_fence
// PLACED-NEXT:   rudnn_tile.wgmma
// PLACED:        rudnn_tile.barrier_arrive empty
// PLACED:        rudnn_tile.store_shared
// PLACED-NEXT:   rudnn_tile.proxy_fence
// PLACED-NEXT:   rudnn_tile.group_barrier

// rudnn-convert-tile-to-nvvm: fragments are registers (64 x 128 f32 are 64 of a thread), tiles addresses, roles a branch
// on the warp group. A product with Q or P takes four registers of it for 16 dims or keys.
// NVVM-LABEL: llvm.func @attention
// NVVM:      nvvm.mbarrier.init
// NVVM:      nvvm.cp.async.bulk.tensor
// NVVM:      wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0, {{.*}}$63}, {$64, $65, $66, $67}, $68,
// NVVM:      nvvm.stmatrix

// PTX-DAG: .visible .entry attention(
// PTX-DAG: .maxntid 384
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32
// PTX-DAG: mbarrier.try_wait.parity
// PTX-DAG: cp.async.bulk.tensor.4d.shared::cta.global
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// PTX-DAG: ex2.approx.ftz.f32
