// Loads a box of a matrix through TMA, copies the raw shared memory to %raw and
// stores the box through another tensor map.
module attributes {llvm.target_triple = "nvptx64-nvidia-cuda", llvm.data_layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%in: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                    %out: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                    %raw: !llvm.ptr<1>, %bytes: i32, %x: i32, %y: i32) attributes {nvvm.kernel} {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %step = arith.constant 512 : i32
    %count = arith.constant 1 : i32 // ARRIVALS
    %parity = arith.constant 0 : i32 // PARITY
    %ticks = arith.constant 10000000 : i32
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %bar = llvm.getelementptr %smem[32768] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %first {
      nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init // INIT_FENCE
    }
    nvvm.barrier0
    scf.if %first {
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %smem, %in, %bar, box[%x, %y] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    }
    nvvm.mbarrier.try_wait.parity %bar, %parity, %ticks : !llvm.ptr<3>, i32, i32 // WAIT
    %at = arith.muli %tid, %c4 : i32
    scf.for %i = %at to %bytes step %step : i32 {
      %p = llvm.getelementptr %smem[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %q = llvm.getelementptr %raw[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %v = llvm.load %p : !llvm.ptr<3> -> i32
      llvm.store %v, %q : i32, !llvm.ptr<1>
      llvm.store %v, %p : i32, !llvm.ptr<3>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>} // PROXY_FENCE
    nvvm.barrier0
    scf.if %first {
      nvvm.cp.async.bulk.tensor.global.shared.cta %out, %smem, box[%x, %y] : !llvm.ptr, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read} // BULK_WAIT
    }
    llvm.return
  }
}
