// RUN: rudnn-opt %s -verify-each -rudnn-plan-smem -rudnn-assign-phases -rudnn-insert-fences -rudnn-convert-tile-to-nvvm -canonicalize -cse | FileCheck %s

!tile = memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
!acc = !rudnn_tile.fragment<64x64xf32, acc>
!half = !rudnn_tile.fragment<64x64xbf16, acc>
!tma = !rudnn_tile.tma<64x64xbf16, swizzle = 128>

// The window is external: internal linkage would make it a static variable.
// CHECK: llvm.mlir.global external @rudnn_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: llvm.func @product(
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: i32
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 384>, rudnn.shared_bytes = 24592 : i32
rudnn_tile.kernel @product(%d: !tma, %row: index) attributes {threads = 384 : i32} {
  %a = rudnn_tile.alloc -> !tile
  %v = rudnn_tile.alloc -> !tile
  %o = rudnn_tile.alloc -> !tile
  // CHECK: nvvm.mbarrier.init
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.barrier0
  %ring = rudnn_tile.ring : !rudnn_tile.ring<1, consumers = 2>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: nvvm.redux.sync or
  rudnn_tile.warp_groups
    role "producer" groups 1 registers 24 (%p) {
      // CHECK: nvvm.setmaxregister decrease 24
      // CHECK: nvvm.elect.sync
      rudnn_tile.single_thread {
        rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<1, consumers = 2>
        // CHECK: nvvm.mbarrier.try_wait.parity
        // CHECK: nvvm.mbarrier.arrive.expect_tx
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {isCTAOnly = true}
        rudnn_tile.tma_load %d[%row, %c0] to %a, full %ring[%c0] : !tma, !tile, !rudnn_tile.ring<1, consumers = 2>
        rudnn_tile.ring_commit %ring[%c0] : !rudnn_tile.ring<1, consumers = 2>
      }
      rudnn_tile.yield
    }
    role "consumer" groups 2 registers 240 (%g) {
      // CHECK: nvvm.setmaxregister increase 240
      rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<1, consumers = 2>
      // Four steps of 16 columns; the first takes no accumulators.
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK: llvm.inline_asm {{.*}}"{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, {{.*}}$31}, $32, $33, p, 1, 1, 0, 0; }"
      // CHECK-COUNT-3: setp.ne.b32 p, 1, 0; wgmma.mma_async
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      %s = rudnn_tile.wgmma %a, %a : !tile, !tile -> !acc
      // CHECK: llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;"
      %s1 = rudnn_tile.wgmma_wait 0 for %s : !acc
      // CHECK: llvm.inline_asm {{.*}}"@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
      rudnn_tile.ring_release %ring[%c0] : !rudnn_tile.ring<1, consumers = 2>
      // A row: registers in four chains, then two shuffles.
      // CHECK: arith.maxnumf
      // CHECK: nvvm.shfl.sync bfly
      // CHECK: nvvm.shfl.sync bfly
      %m = rudnn_tile.reduce max %s1 dim 1 : !acc -> !rudnn_tile.fragment<64xf32, acc_rows>
      // The two rows of a thread, then one vote of the warp.
      // CHECK: %[[P0:.*]] = arith.cmpf ogt
      // CHECK: %[[P1:.*]] = arith.cmpf ogt
      // CHECK: %[[MINE:.*]] = arith.ori %[[P0]], %[[P1]] : i1
      // CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[MINE]] -> i1
      %positive = rudnn_tile.map (%m) {
      ^bb0(%x: f32):
        %z = arith.cmpf ogt, %x, %zero : f32
        rudnn_tile.yield %z : i1
      } : (!rudnn_tile.fragment<64xf32, acc_rows>) -> !rudnn_tile.fragment<64xi1, acc_rows>
      %some = rudnn_tile.any %positive : !rudnn_tile.fragment<64xi1, acc_rows>
      // CHECK: scf.if %[[ANY]] -> (f32,
      %s2 = scf.if %some -> (!acc) {
        %doubled = rudnn_tile.map (%s1) {
        ^bb0(%x: f32):
          %z = arith.addf %x, %x : f32
          rudnn_tile.yield %z : f32
        } : (!acc) -> !acc
        scf.yield %doubled : !acc
      } else {
        scf.yield %s1 : !acc
      }
      %mb = rudnn_tile.broadcast %m dim 1 : !rudnn_tile.fragment<64xf32, acc_rows> -> !acc
      // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
      %e = rudnn_tile.map (%s2, %mb) {
      ^bb0(%x: f32, %y: f32):
        %z = arith.subf %x, %y : f32
        %w = math.exp2 %z : f32
        rudnn_tile.yield %w : f32
      } : (!acc, !acc) -> !acc
      // CHECK: arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
      %p = rudnn_tile.convert %e : !acc -> !half
      // Register operand: four registers a step.
      // CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, {{.*}}$31}, {$32, $33, $34, $35}, $36, p, 1, 1, 1; }"
      %o0 = rudnn_tile.wgmma %p, %v transpose_b : !half, !tile -> !acc
      // The register operand is kept up to here.
      // CHECK: llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;", "=f,{{.*}},r,r"
      %o1 = rudnn_tile.wgmma_wait 0 for %o0 keep %p : !acc keep !half
      %h = rudnn_tile.convert %o1 : !acc -> !half
      // CHECK-COUNT-4: nvvm.stmatrix
      rudnn_tile.store_shared %h to %o : !half, !tile
      // CHECK: nvvm.fence.proxy
      // CHECK: nvvm.barrier id = %{{.*}} number_of_threads
      rudnn_tile.group_barrier %g
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta {{.*}} predicate = %
      rudnn_tile.tma_store %o to %d[%row, %c0] : !tile, !tma
      // CHECK: nvvm.cp.async.bulk.wait_group 0
      rudnn_tile.tma_store_wait 0
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// A reciprocal is an instruction of its own; a quotient also scales large divisors.
// CHECK-LABEL: llvm.func @quotients
rudnn_tile.kernel @quotients(%x: memref<?xf32>, %offset: i64) attributes {threads = 32 : i32} {
  %one = arith.constant 1.0 : f32
  %f = rudnn_tile.load %x[%offset] strides [1] : memref<?xf32> -> !rudnn_tile.fragment<32xf32, reg = [] lane = [1, 2, 4, 8, 16] warp = [] rep = [1]>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.approx.ftz.f"
  %g = rudnn_tile.map (%f) {
  ^bb0(%v: f32):
    %r = arith.divf %one, %v : f32
    %q = arith.divf %r, %v : f32
    rudnn_tile.yield %q : f32
  } : (!rudnn_tile.fragment<32xf32, reg = [] lane = [1, 2, 4, 8, 16] warp = [] rep = [1]>) -> !rudnn_tile.fragment<32xf32, reg = [] lane = [1, 2, 4, 8, 16] warp = [] rep = [1]>
  rudnn_tile.store %g to %x[%offset] strides [1] : !rudnn_tile.fragment<32xf32, reg = [] lane = [1, 2, 4, 8, 16] warp = [] rep = [1]>, memref<?xf32>
  rudnn_tile.yield
}
