//===- Passes.td - Passes of rudnn -------------------------*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PASSES_TD
#define RUDNN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Graph/: on rudnn ops, any target
//===----------------------------------------------------------------------===//

def RudnnDecompose : Pass<"rudnn-decompose"> {
  let summary = "Replace every rudnn op on tensors by linalg, scf and tensor code";
  let description = [{
    Uses each op's `decomposeOperation`, the reference meaning of the op and the
    path of the CPU target. An op that can't be decomposed (operands on memrefs)
    is an error; one with `rudnn.strategy = "schedule"` stays.

    ```mlir
    %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    becomes a maximum, an exponential, a sum and a quotient, each a `linalg.generic`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def RudnnFormGemm : Pass<"rudnn-form-gemm"> {
  let summary = "Form rudnn_tile.gemm from linalg products and what follows them";
  let description = [{
    A linalg contraction of two f16 or two bf16 matrices (linalg.matmul with any
    `indexing_maps`, linalg.batch_matmul, a linalg.generic) becomes a
    `rudnn_tile.gemm`, with these rules:

    - sums are f32 whatever type the result has, and are rounded once;
    - operands that are extended to f32 first are taken as they were before;
    - a start value other than zero is added in the epilogue;
    - elementwise ops of which each alone uses the result of the one before are
      taken into the epilogue when their other operands are tensors of the
      result's shape or vectors along its last dim, and when a schedule can
      compute their code. Roundings between them disappear;
    - several dims of rows become one; a transposed left operand is transposed
      before.

    `rudnn.strategy = "fallback"` keeps a product as it is; another value goes to
    the gemm. Runs before `rudnn-select-strategy`.

    ```mlir
    %p = linalg.matmul ins(%a, %b : tensor<?x64xbf16>, tensor<64x32xbf16>)
        outs(%zero : tensor<?x32xf32>) -> tensor<?x32xf32>
    %y = linalg.generic {...} ins(%p, %bias : tensor<?x32xf32>, tensor<32xf32>)
        outs(%e : tensor<?x32xbf16>) { add, truncf } -> tensor<?x32xbf16>
    ```

    becomes

    ```mlir
    %y = rudnn_tile.gemm ins(%a, %b : ...) extras(%bias : tensor<32xf32>)
        outs(%e : tensor<?x32xbf16>) epilogue { add, truncf } -> tensor<?x32xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::rudnn::tile::TileDialect"];
}

def RudnnLowerAssertions : Pass<"rudnn-lower-assertions"> {
  let summary = "Turn cf.assert into a message on the standard error and an abort";
  let description = [{
    Runs where control flow is branches (after `convert-scf-to-cf`), before the
    conversion of `cf` to LLVM. A failing `cf.assert`, such as those of
    `generate-runtime-verification`, writes its message with `write(2, ..)` and
    calls `abort()`; the message reaches pipes and files too. So does what
    `vector.print` prints of text and of index values without punctuation: the
    values that a failing check reports.

    ```mlir
    cf.assert %good, "an expert id in ids is out of range"
    ```

    becomes a branch to a block that writes, aborts and doesn't return.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// Graph/: tensors to loops and vectors, for the CPU
//===----------------------------------------------------------------------===//

def RudnnFuseElementwise : Pass<"rudnn-fuse-elementwise"> {
  let summary = "Merge chains of elementwise linalg ops, and into reductions";
  let description = [{
    Upstream's elementwise fusion with two limits: nothing is merged into a
    product (which must stay one), and only cheap code is computed again for a
    broadcast.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def RudnnPromoteAccumulators : Pass<"rudnn-promote-accumulators"> {
  let summary = "Sum products of f16 and bf16 in f32, with one rounding at the end";
  let description = [{
    A linalg contraction whose result is narrower than f32 becomes the same
    contraction on an f32 result and a conversion of that result.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RudnnSplitSequences : Pass<"rudnn-split-sequences"> {
  let summary = "Turn ragged attention into dense attention of each sequence";
  let description = [{
    `rudnn.ragged_attention` and its backward op on tensors become a loop over the
    sequences with one `rudnn.attention` or `rudnn.attention_backward` each, on
    slices with the heads in front, so that the passes behind it tile a sequence
    over heads and blocks of rows. It is the op's decomposition, one step of it.

    ```mlir
    %o = rudnn.ragged_attention ins(%q, %k, %v : ...) offsets(%a, %b : ...) outs(%i : ...) -> ...
    ```

    becomes

    ```mlir
    %f = linalg.fill ins(%zero : f32) outs(%i : ...) -> ...
    %o = scf.for %s = %c0 to %sequences step %c1 iter_args(%all = %f) -> (...) {
      // Slices of %q, %k, %v from %a[%s] to %a[%s + 1] and %b[%s] to %b[%s + 1].
      %one = rudnn.attention ins(%qs, %ks, %vs : ...) outs(%empty : ...) -> ...
      // %one in its place in %all.
      scf.yield %next
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def RudnnTileParallel : Pass<"rudnn-tile-parallel"> {
  let summary = "Tile the ops of a graph into parallel loops, neighbours fused";
  let description = [{
    Walks each block from its end. An op that is not yet part of a loop, and the
    elementwise ops around it that need each of their elements in one tile only,
    become one `scf.forall` over tiles (upstream tile-and-fuse through
    TilingInterface):

    - attention over batch, heads and 64 query rows, so that no more than one
      tile's scores exist per thread; norms over rows;
    - products over blocks of rows and columns of their result;
    - other linalg ops over about 16384 elements.

    Ops with little work, and ops in loops that are parallel already, stay.
  }];
  let options = [Option<"onlyRudnn", "only-rudnn", "bool", "false",
    "tile only groups with a rudnn op (before decomposition)">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

class RudnnVectorPass<string name> : Pass<name> {
  let options = [Option<"vectorBytes", "vector-bytes", "unsigned", "0",
    "bytes of a vector register; 0: those of this machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def RudnnVectorizeContractions : RudnnVectorPass<"rudnn-vectorize-contractions"> {
  let summary = "Lower sums of products to register-blocked loops of vector code";
  let description = [{
    A linalg contraction on tensors (any projected permutation maps, f32 or f64
    result) becomes blocks of 6 rows by two vector registers of sums over a copy
    of the right operand's panel, converted to the type of the sums. Extents may
    be dynamic; the last rows and columns are not padded in memory.
  }];
}

def RudnnVectorize : RudnnVectorPass<"rudnn-vectorize"> {
  let summary = "Lower elementwise linalg ops and reductions to loops of vector code";
  let description = [{
    One loop advances by a vector, its rest runs element by element. A sum of
    floats is split over lanes only when its `arith.addf` may be reassociated.
    Ops without a suitable loop stay as they are.
  }];
}

def RudnnIgnoreStrategy : Pass<"rudnn-ignore-strategy"> {
  let summary = "Drop the choice of GPU kernels, for a target that has none";
  let description = [{
    `rudnn.strategy` chooses between kernels of a GPU. The pipeline of the CPU
    target starts here, so that one module serves both, and `--compare=cpu` can
    check any op. A value other than "schedule" and "fallback" is an error, as on
    every target.

    ```mlir
    %0 = rudnn.softmax ins(%x : ...) outs(%e : ...) {dim = 1, rudnn.strategy = "schedule"} -> ...
    ```

    becomes

    ```mlir
    %0 = rudnn.softmax ins(%x : ...) outs(%e : ...) {dim = 1} -> ...
    ```
  }];
}

def RudnnSeparateInsertions : Pass<"rudnn-separate-insertions"> {
  let summary = "Give the tiles that a parallel loop inserts memory of their own";
  let description = [{
    One-shot bufferization (LLVM 22.1) does not see that one insertion at the end of
    an `scf.forall` may overwrite what another is going to read. Two tiles that are
    computed in one tensor, such as equal zeros that CSE made one, get tensors of
    their own: empty and filled ones are made again, others are copied.

    ```mlir
    %p = linalg.generic ... outs(%zeros : tensor<8xf32>)
    %q = linalg.generic ... outs(%zeros : tensor<8xf32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %a[%i, 0] [1, 8] [1, 1]
      tensor.parallel_insert_slice %q into %b[%i, 0] [1, 8] [1, 1]
    }
    ```

    becomes

    ```mlir
    %p = linalg.generic ... outs(%zeros : tensor<8xf32>)
    %own = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>)
    %q = linalg.generic ... outs(%own : tensor<8xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def RudnnWidenWrites : Pass<"rudnn-widen-writes"> {
  let summary = "Give vector writes into tensors the rank of the tensor";
  let description = [{
    One-shot bufferization (LLVM 22.1) takes a `vector.transfer_write` at offset 0
    for one that overwrites the whole tensor when the vector has fewer dims and is
    as long as the first dims of the tensor, and drops the rest of the tensor's
    contents. With unit dims in front the two are compared dim by dim.

    ```mlir
    vector.transfer_write %v, %t[%c0, %c0] : vector<8xf32>, tensor<4x8xf32>
    ```

    becomes

    ```mlir
    %w = vector.broadcast %v : vector<8xf32> to vector<1x8xf32>
    vector.transfer_write %w, %t[%c0, %c0] : vector<1x8xf32>, tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect"];
}

def RudnnExpandMath : Pass<"rudnn-expand-math"> {
  let summary = "Replace f32 exp, exp2, log, tanh and erf by polynomials on vectors";
  let description = [{
    Vector code has no calls then. The polynomials are upstream's; other
    functions, and f64, go to the C library one element at a time.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def RudnnKeepCarriedValues : Pass<"rudnn-keep-carried-values"> {
  let summary = "Copy what a loop's old state is still needed for";
  let description = [{
    When a tensor carried by an `scf.for` is the destination of an op and is read
    after that op, the op could not write in place and the loop would carry a
    new buffer each time. The later reads get a copy made before the op.

    A tensor that a loop starts from twice, or that is the destination of several
    insertions of a block, is copied for all but the first: the analysis of
    one-shot-bufferize would take writes to equal slices of both for one.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def RudnnExpandCopies : Pass<"rudnn-expand-copies"> {
  let summary = "Turn copies of strided buffers into loops";
  let description = [{
    A `memref.copy` between buffers without gaps stays (it becomes a memcpy); the
    others would become calls of a runtime library.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def RudnnExpandShapes : Pass<"rudnn-expand-shapes"> {
  let summary = "Compute the strides of buffers that are expanded by dynamic extents";
  let description = [{
    A `memref.expand_shape` with several dynamic extents in one group, which
    upstream's `expand-strided-metadata` crashes on, becomes the base buffer with
    its sizes and strides:

    ```mlir
    %e = memref.expand_shape %x [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>
    ```

    becomes

    ```mlir
    %base, %offset, %size, %stride = memref.extract_strided_metadata %x : memref<?xf32> -> ...
    %e = memref.reinterpret_cast %base to offset: [0], sizes: [%a, %b], strides: [%b, 1]
      : memref<f32> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def RudnnProtectArguments : Pass<"rudnn-protect-arguments", "::mlir::ModuleOp"> {
  let summary = "Mark tensor arguments of public functions as read only";
  let description = [{
    Bufferization then copies before it would write into a caller's tensor.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def RudnnScheduleThreads : Pass<"rudnn-schedule-threads"> {
  let summary = "Hand the tiles of OpenMP loops to threads as they become free";
  let description = [{
    Tiles of causal attention differ in work; a static schedule would leave one
    thread idle. Sets `schedule(dynamic)` on every `omp.wsloop`, and inlines the
    `memref.alloca_scope` that the conversion puts around each body when nothing
    in it allocates on the stack.
  }];
  let dependentDialects = ["::mlir::omp::OpenMPDialect"];
}

//===----------------------------------------------------------------------===//
// Host/: the host side of a compiled module
//===----------------------------------------------------------------------===//

def RudnnEmitEntries : Pass<"rudnn-emit-entries"> {
  let summary = "Give public functions the calling convention of an artifact";
  let description = [{
    Every public function `@f` on tensors and scalars gets its arguments and its
    results in buffers of the caller (`include/rudnn/Runtime/Abi.h`). Beside it
    `@f__result_shapes` writes the extents of the results, computed from the
    extents and scalars of the arguments alone; a function whose result extents
    depend on tensor data is refused. Functions that other functions call keep
    their signature in a private copy. Runs first, on any target.

    ```mlir
    func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
    ```

    becomes

    ```mlir
    func.func @f(%x: memref<?x4xf32>, %result: memref<?x4xf32>)
    func.func @f__result_shapes(%x: memref<?x4xf32>, %extents: !llvm.ptr)
    ```

    where `%result` is written by `bufferization.materialize_in_destination`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Fallback/ and Host/: kernels of any op, and the host side of a GPU target
//===----------------------------------------------------------------------===//

def RudnnCarryInPlace : Pass<"rudnn-carry-in-place"> {
  let summary = "Give every buffer that a loop carries one place";
  let description = [{
    Bufferization lets a loop carry buffers that each iteration allocates anew.
    Kernels have no heap: an allocation is one place, which the next iteration
    would write while it still reads the carried value. Here the carried buffer is
    allocated before the loop, and each iteration ends with a copy into it.

    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (memref<4xf32>) {
      %next = memref.alloc() : memref<4xf32>
      ...
      scf.yield %next : memref<4xf32>
    }
    ```

    becomes

    ```mlir
    %place = memref.alloc() : memref<4xf32>
    memref.copy %init, %place : memref<4xf32> to memref<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %next = memref.alloc() : memref<4xf32>
      ...
      memref.copy %next, %place : memref<4xf32> to memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def RudnnFlattenExperts : Pass<"rudnn-flatten-experts"> {
  let summary = "Turn expert products into products over all packed rows";
  let description = [{
    `rudnn.moe.experts` on tensors, unless its strategy is a schedule, becomes
    linalg code without a loop over the experts: each row counts the experts that
    end before it, and its products read the weights of the expert that it is
    at. The decomposition of the op slices the rows of an expert, which a host
    that never reads device data can't do.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def RudnnCarrySums : Pass<"rudnn-carry-sums"> {
  let summary = "Keep sums of loops in registers";
  let description = [{
    A loop inside of a `scf.parallel` that reads one element of a buffer, changes
    it and writes it back in each trip carries it as a value instead; it is read
    before and written after the loop. Holds for loops made from linalg ops, whose
    operands don't overlap with what they write.

    ```mlir
    scf.for %k = %c0 to %n step %c1 {
      %s = memref.load %d[%i] : memref<?xf32>
      %t = arith.addf %s, %p : f32
      memref.store %t, %d[%i] : memref<?xf32>
    }
    ```

    becomes

    ```mlir
    %s0 = memref.load %d[%i] : memref<?xf32>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %s0) -> f32 {
      %t = arith.addf %s, %p : f32
      scf.yield %t : f32
    }
    memref.store %r, %d[%i] : memref<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def RudnnOutlineKernels : Pass<"rudnn-outline-kernels"> {
  let summary = "Make generic kernels of everything that touches buffers";
  let description = [{
    The `fallback` strategy of a GPU target, after bufferization. A `scf.parallel`
    becomes a `gpu.launch` whose threads share its iterations; any other op that
    reads or writes a buffer becomes a launch of one thread, together with the ops
    that use its results. Index arithmetic, views, allocations and loops around
    kernels stay on the host, which never reads a buffer: where it would have to,
    the pass fails. Temporaries inside of kernels get a place per thread in a
    buffer that the host allocates.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
    ```

    becomes

    ```mlir
    gpu.launch blocks(...) in (%grid = ceil(%n / 128) at most 2048, ..) threads(...) in (128, 1, 1) {
      scf.for %i = %thread to %n step %threads { load, store }
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def RudnnPlanWorkspace : Pass<"rudnn-plan-workspace"> {
  let summary = "Put all buffers of an entry into one workspace of the caller";
  let description = [{
    Every `memref.alloc` of a public function becomes a view into a workspace, at a
    multiple of 256 bytes. Buffers that are never in use together share a slot,
    whose size is the largest of theirs (first fit in program order). The function
    gets two arguments more, pointers to the workspace and to the stream, and
    beside it stands `@f__workspace_bytes(arguments of f) -> i64`. An extent must
    have a bound that is a function of the arguments' extents and scalars: an
    extent that changes from one iteration of a loop to the next counts with the
    greatest one.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def RudnnMergeKernels : Pass<"rudnn-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Put the kernels of all gpu.modules into one";
  let description = [{
    Kernel outlining makes a `gpu.module` per launch, and each would be a run of
    the back end and of ptxas and an image to load. All move into the first; equal
    names get a number, declarations of one function become one.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def RudnnLaunchToRuntime : Pass<"rudnn-launch-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn launches of kernels into calls of the runtime";
  let description = [{
    `gpu.launch_func`, `rudnn_tile.launch` and `rudnn_tile.tma_descriptor` become
    calls of `include/rudnn/Runtime/Launch.h` on the function's stream, with the
    image of the kernel's `gpu.module` (see `rudnn-embed-kernels`). Entries return
    `rudnn_rt_take_status()`. Runs when kernels are in the LLVM dialect.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def RudnnEmbedKernels : Pass<"rudnn-embed-kernels", "::mlir::ModuleOp"> {
  let summary = "Put compiled kernels into constants of the host code";
  let description = [{
    A `gpu.binary` becomes a constant, and the definition of the RudnnKernelImage
    that the launches of its kernels refer to.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def RudnnDescribeKernels : Pass<"rudnn-describe-kernels", "::mlir::ModuleOp"> {
  let summary = "Note the launches of the host code for a report";
  let description = [{
    Sets the attribute `rudnn.kernels` of the module: a dictionary per launch with
    `kernel`, `strategy`, `grid`, `block`, `cluster` (-1: known at run time only),
    `shared` (dynamic shared memory, bytes) and `location`. `rudnn-compile --report`
    prints it beside what the cubin says. Runs when kernels are in the LLVM dialect
    and launches are still ops.
  }];
}

def RudnnSelectStrategy : Pass<"rudnn-select-strategy", "::mlir::ModuleOp"> {
  let summary = "Decide which schedule makes an op's kernels";
  let description = [{
    Sets the attribute `rudnn.strategy` of every rudnn op and `rudnn_tile.gemm` from the table in
    `passes/Schedules/SelectStrategy.cpp`, by op, types, shapes and chip:
    `schedule` (a kernel of its own) or `fallback` (decomposition and generic
    kernels). An attribute that is there already decides; a `schedule` that does
    not apply is an error that says why. The attribute `rudnn.strategies` of the
    module holds a dictionary per op (`op`, `strategy`, `why`, `location`) for reports.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_90a\"", "The chip to select for">];
}

//===----------------------------------------------------------------------===//
// Schedules/: operators on memrefs to kernels
//===----------------------------------------------------------------------===//

def RudnnSchedule : Pass<"rudnn-schedule", "::mlir::ModuleOp"> {
  let summary = "Replace operators on memrefs by kernels and their launches";
  let description = [{
    Each op goes to the schedule of its family (passes/Schedules); its kernel is built in
    `gpu.module @rudnn_kernels`. An op that the schedule does not do is an error that names
    it and says why.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_90a\"", "The chip to schedule for">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::rudnn::tile::TileDialect"];
}

//===----------------------------------------------------------------------===//
// Tile/: on rudnn_tile kernels
//===----------------------------------------------------------------------===//

def RudnnPlanSmem : Pass<"rudnn-plan-smem"> {
  let summary = "Give every tile and ring of a kernel its place in shared memory";
  let description = [{
    Tiles in program order, swizzled ones aligned to 1024 bytes, `over` at the place
    of the other tile; then the barriers of the rings. A kernel that needs more than
    a block has (232448 bytes) is an error.
  }];
  let dependentDialects = ["::rudnn::tile::TileDialect"];
}

def RudnnAssignPhases : Pass<"rudnn-assign-phases"> {
  let summary = "Replace ring steps by waits and arrivals with slots and parities";
  let description = [{
    Trip `it` of a ring of N stages uses stage `it mod N` with parity
    `(it / N) mod 2`. An acquire becomes a wait for "empty" and an arrival at "full"
    that announces the bytes of the trip's copies; a wait and a release become a wait
    for "full" and an arrival at "empty". Barriers are initialized after the last ring.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RudnnInsertFences : Pass<"rudnn-insert-fences"> {
  let summary = "Insert the fences that wgmma and TMA stores need";
  let description = [{
    `wgmma_fence` before each product, whose registers may have been touched;
    `proxy_fence` between stores to shared memory and the group barrier that
    precedes their `tma_store`.
  }];
  let dependentDialects = ["::rudnn::tile::TileDialect"];
}

def RudnnConvertTileToNVVM : Pass<"rudnn-convert-tile-to-nvvm"> {
  let summary = "Convert rudnn_tile kernels to llvm.func with NVVM and LLVM ops";
  let description = [{
    A fragment becomes one value per register (two 16-bit elements share one), a
    shared tile and a ring pointers into one dynamic window `@rudnn_shared`, a
    kernel an `llvm.func` with `nvvm.kernel` and its TMA descriptors by value. scf and
    arith stay for the upstream passes that follow (`index` is 32 bits).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def RudnnKernelToLLVM : Pass<"rudnn-kernel-to-llvm"> {
  let summary = "Convert arith, math and cf in kernels to the LLVM dialect";
  let description = [{
    With 32-bit `index`, unlike the host code beside them. After convert-scf-to-cf.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // RUDNN_PASSES_TD
