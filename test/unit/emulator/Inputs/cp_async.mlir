// Each thread copies 16 bytes into shared memory; after the wait it reads the
// bytes of another thread. An mbarrier of the last lines stands for the
// barrier of the CTA, so that cp.async.mbarrier.arrive can replace the groups.
module attributes {llvm.target_triple = "nvptx64-nvidia-cuda", llvm.data_layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %valid: i32) attributes {nvvm.kernel} {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %c127 = arith.constant 127 : i32
    %count = arith.constant 128 : i32
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %bar = llvm.getelementptr %smem[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %ticks = arith.constant 10000000 : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %first {
      nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32
    }
    nvvm.barrier0
    %at = arith.muli %tid, %c16 : i32
    %p = llvm.getelementptr %smem[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %q = llvm.getelementptr %in[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %inside = arith.cmpi ult, %tid, %valid : i32
    %size = arith.select %inside, %c16, %c0 : i32
    nvvm.cp.async.shared.global %p, %q, 16, cache = cg, %size : !llvm.ptr<3>, !llvm.ptr<1>, i32
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    %s = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64 // ARRIVE
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %other = arith.subi %c127, %tid : i32
    %oat = arith.muli %other, %c16 : i32
    %r = llvm.getelementptr %smem[%oat] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %r {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %w = llvm.getelementptr %out[%oat] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    llvm.store %v, %w {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}
