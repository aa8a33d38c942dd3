//===- TileOps.td - The kernel dialect: ops ----------------*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_OPS_TD
#define RUDNN_TILE_OPS_TD

include "TileBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Kernels and roles
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove,
    AutomaticAllocationScope]> {
  let summary = "a kernel";
  let description = [{
    Arguments: TMA descriptors, global buffers (`memref<?xT>`: a bare pointer),
    `index` (32 bits), integers and floats. `threads` is the block's size.
    `cluster` is the number of blocks along x of a cluster (1 when absent),
    `min_blocks` how many blocks an SM must be able to hold. `shared_bytes` is set
    by `rudnn-plan-smem`.

    ```mlir
    rudnn_tile.kernel @copy(%a: !rudnn_tile.tma<128x64xbf16, swizzle = 128>, %n: index)
        attributes {threads = 384 : i32} { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs, I32Attr:$threads, OptionalAttr<I32Attr>:$cluster,
    OptionalAttr<I32Attr>:$min_blocks, OptionalAttr<I32Attr>:$shared_bytes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return {}; }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    static ::llvm::StringRef getDefaultDialect() { return "rudnn_tile"; }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of the dialect";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), "">];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_WarpGroupsOp : Tile_Op<"warp_groups", [SingleBlock]> {
  let summary = "warp groups take different roles";
  let description = [{
    One region per role, in the order of the warp groups: role `i` is run by
    `groups[i]` warp groups with `registers[i]` registers a thread (a multiple of 8
    in 24..240; the sum over all threads within the 65536 of an SM). The region's
    argument numbers the warp groups of the role. Nothing but `yield` follows.

    ```mlir
    rudnn_tile.warp_groups
      role "producer" groups 1 registers 40 (%p) { ... }
      role "consumer" groups 2 registers 232 (%g) { ... }
    ```
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI32ArrayAttr:$groups, DenseI32ArrayAttr:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_SingleThreadOp : Tile_Op<"single_thread", [SingleBlock, NoRegionArguments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "code of one thread of the warp group";
  let description = [{
    One elected thread of the first warp runs the region (a uniform branch, then
    `elect.sync`: TMA instructions stay in uniform registers). Warp-collective
    operations are refused inside: they would hang.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shared memory and rings
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a tile in shared memory for the whole kernel";
  let description = [{
    `over` names another tile whose memory this one reuses: the schedule says that
    the two are not used at the same time. `offset` is set by `rudnn-plan-smem`.
  }];
  let arguments = (ins Optional<Tile_SharedTile>:$over, OptionalAttr<I32Attr>:$offset);
  let results = (outs Tile_SharedTile:$tile);
  let assemblyFormat = "(`over` $over^ `:` type($over))? attr-dict `->` type($tile)";
  let hasVerifier = 1;
}

def Tile_RingOp : Tile_Op<"ring"> {
  let summary = "makes the barriers of a ring";
  let description = [{
    The protocol, for trip number `it` (0, 1, 2, ... per stage use, across tiles):
    the producer does `ring_acquire [it]`, issues the copies that name this ring
    and trip, and `ring_commit [it]`; a consumer does `ring_wait [it]`, reads the
    stage and does `ring_release [it]`. The verifier checks that producers and
    consumers are different roles, that each block of code acquires as often as it
    commits and waits as often as it releases, and that the releasing warp groups
    are as many as the type says.
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$offset);
  let results = (outs Tile_AnyRing:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def Tile_RingSlotOp : Tile_Op<"ring_slot", [Pure]> {
  let summary = "stage of a trip: `it` modulo the number of stages";
  let arguments = (ins Tile_AnyRing:$ring, Index:$it);
  let results = (outs Index:$slot);
  let assemblyFormat = "$ring `[` $it `]` attr-dict `:` type($ring)";
}

class Tile_RingStep<string mnemonic, string text> : Tile_Op<mnemonic> {
  let summary = text;
  let arguments = (ins Tile_AnyRing:$ring, Index:$it);
  let assemblyFormat = "$ring `[` $it `]` attr-dict `:` type($ring)";
}
def Tile_RingAcquireOp : Tile_RingStep<"ring_acquire", "waits until the stage of a trip is free">;
def Tile_RingCommitOp : Tile_RingStep<"ring_commit", "all copies of the trip are issued">;
def Tile_RingWaitOp : Tile_RingStep<"ring_wait", "waits until the copies of the trip have landed">;
def Tile_RingReleaseOp : Tile_RingStep<"ring_release", "this warp has read the stage of the trip">;

def Tile_RingInitOp : Tile_Op<"ring_init"> {
  let summary = "initializes barriers and synchronizes the block (or cluster)";
  let description = "Inserted by `rudnn-assign-phases`.";
  let arguments = (ins Variadic<Tile_AnyRing>:$rings);
  let assemblyFormat = "$rings attr-dict `:` type($rings)";
}

def Tile_Barrier : I32EnumAttr<"Barrier", "barrier of a stage", [
    I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"Empty", 1, "empty">]> {
  let cppNamespace = "::rudnn::tile";
  let genSpecializedAttr = 0;
}
def Tile_BarrierAttr : EnumAttr<Tile_Dialect, Tile_Barrier, "barrier">;

def Tile_BarrierWaitOp : Tile_Op<"barrier_wait"> {
  let summary = "waits for a phase of a stage's barrier";
  let description = "`ring_acquire` and `ring_wait` with slot and parity filled in.";
  let arguments = (ins Tile_BarrierAttr:$barrier, Tile_AnyRing:$ring, Index:$slot, I32:$parity);
  let assemblyFormat = "$barrier $ring `[` $slot `]` `parity` $parity attr-dict `:` type($ring)";
}
def Tile_BarrierArriveOp : Tile_Op<"barrier_arrive"> {
  let summary = "arrives at a stage's barrier";
  let description = [{
    On `full`: one thread, which also announces `bytes` of copies. On `empty`: one
    lane of every warp. What `ring_acquire` (after its wait) and `ring_release` become.
  }];
  let arguments = (ins Tile_BarrierAttr:$barrier, Tile_AnyRing:$ring, Index:$slot,
    OptionalAttr<I32Attr>:$bytes);
  let assemblyFormat = "$barrier $ring `[` $slot `]` (`bytes` $bytes^)? attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Tile_TmaLoadOp : Tile_Op<"tma_load"> {
  let summary = "starts a bulk tensor copy from global to shared memory";
  let description = [{
    Coordinates are those of the box's first element, outermost first. A tile of
    rank box + 1 takes one box per leading index ("panel"), with the last
    coordinate moved by the box's last extent. Completion is counted in bytes on
    the ring's full barrier of trip `it`. One thread issues it.
  }];
  let arguments = (ins Tile_AnyTma:$source, Variadic<Index>:$coords, Tile_SharedTile:$tile,
    Tile_AnyRing:$ring, Index:$it);
  let assemblyFormat = [{
    $source `[` $coords `]` `to` $tile `,` `full` $ring `[` $it `]` attr-dict
    `:` type($source) `,` type($tile) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Tile_TmaStoreOp : Tile_Op<"tma_store"> {
  let summary = "starts a bulk tensor copy from shared to global memory";
  let description = [{
    As `tma_load`, the other way. All threads of a warp group run the op together; one
    of them issues the copy (under a predicate, not a branch) and the group commits it.
  }];
  let arguments = (ins Tile_SharedTile:$tile, Tile_AnyTma:$dest, Variadic<Index>:$coords);
  let assemblyFormat = "$tile `to` $dest `[` $coords `]` attr-dict `:` type($tile) `,` type($dest)";
  let hasVerifier = 1;
}

def Tile_TmaStoreWaitOp : Tile_Op<"tma_store_wait"> {
  let summary = "waits until at most `pending` groups of stores are in flight";
  let description = "With `read` only until the shared memory has been read and may be overwritten.";
  let arguments = (ins I32Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "a fragment from global memory";
  let description = [{
    Element (i, j) comes from `source[offset + i*strides[0] + j*strides[1]]`, with
    i64 `offset` in elements. `strides` are static; a dynamic one is an operand for
    the leading dim (`leading`). With `bounds` an element whose coordinate in dim d
    is not less than `bounds[d]` is zero and not read. `vector` is the number of
    consecutive elements (16 bytes at most) that are aligned and inside of the bounds
    together: what a thread may move at once.
  }];
  let arguments = (ins Tile_GlobalBuffer:$source, I64:$offset, Optional<I64>:$leading,
    Variadic<Index>:$bounds, DenseI64ArrayAttr:$strides,
    DefaultValuedAttr<I32Attr, "1">:$vector);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = [{
    $source `[` $offset `]` (`leading` $leading^)? `strides` $strides (`bounds` `(` $bounds^ `)`)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "a fragment to global memory";
  let description = "As `load`. Of replicated elements one copy is written.";
  let arguments = (ins Tile_AnyFragment:$value, Tile_GlobalBuffer:$dest, I64:$offset,
    Optional<I64>:$leading, Variadic<Index>:$bounds, DenseI64ArrayAttr:$strides,
    DefaultValuedAttr<I32Attr, "1">:$vector);
  let assemblyFormat = [{
    $value `to` $dest `[` $offset `]` (`leading` $leading^)? `strides` $strides
    (`bounds` `(` $bounds^ `)`)? attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_StoreSharedOp : Tile_Op<"store_shared", [Tile_WarpCollective]> {
  let summary = "a fragment to a tile of shared memory";
  let description = [{
    The tile has the fragment's shape, its columns split into panels
    (`fragment<64x128>` to `memref<2x64x64>`). Accumulator layouts of 16-bit elements
    use stmatrix.
  }];
  let arguments = (ins Tile_AnyFragment:$value, Tile_SharedTile:$tile);
  let assemblyFormat = "$value `to` $tile attr-dict `:` type($value) `,` type($tile)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def Tile_WgmmaOp : Tile_Op<"wgmma", [Tile_WarpCollective]> {
  let summary = "starts acc + a * b of a warp group (wgmma)";
  let description = [{
    `a` is 64 x K: a fragment, or a tile in shared memory `memref<P x 64 x C>` with
    K = P*C (K-major panels). `b` is a tile `memref<P x N x C>` with K = P*C (K-major,
    b given as [n, k]) or, with `transpose_b`, `memref<P x K x C>` with N = P*C (b given
    as [k, n]). Panels are 128 bytes wide with the 128-byte swizzle. The result is
    64 x N f32 in layout `acc`; without `acc` the product alone. One commit group.

    The product is in flight: its result may go only to another `wgmma`'s `acc`, to
    `wgmma_wait`, or around a loop; register operands may be overwritten only after
    the wait that takes them as `keep`.
  }];
  let arguments = (ins AnyTypeOf<[Tile_AnyFragment, Tile_SharedTile]>:$a, Tile_SharedTile:$b,
    Optional<Tile_AnyFragment>:$acc, UnitAttr:$transpose_b);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = [{
    $a `,` $b (`acc` $acc^)? (`transpose_b` $transpose_b^)? attr-dict
    `:` type($a) `,` type($b) (`,` type($acc)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_WgmmaFenceOp : Tile_Op<"wgmma_fence", [Tile_WarpCollective]> {
  let summary = "orders register accesses before the next wgmma";
  let description = "Inserted by `rudnn-insert-fences`.";
  let assemblyFormat = "attr-dict";
}

def Tile_WgmmaWaitOp : Tile_Op<"wgmma_wait", [Tile_WarpCollective, AttrSizedOperandSegments,
    AllTypesMatch<["values", "results"]>]> {
  let summary = "waits until at most `pending` products are in flight";
  let description = [{
    `values` are the accumulators that are complete after it; the results are what may
    be read. `keep` are the register operands of the products it retires.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<Tile_AnyFragment>:$values,
    Variadic<Tile_AnyFragment>:$keep);
  let results = (outs Variadic<Tile_AnyFragment>:$results);
  let assemblyFormat = [{
    $pending (`for` $values^)? (`keep` $keep^)? attr-dict (`:` type($values)^)? (`keep` type($keep)^)?
  }];
  let hasVerifier = 1;
}

def Tile_ProxyFenceOp : Tile_Op<"proxy_fence"> {
  let summary = "orders plain writes to shared memory before asynchronous reads";
  let description = "Inserted by `rudnn-insert-fences` before a barrier of the group.";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Order between warp groups
//===----------------------------------------------------------------------===//

def Tile_GroupBarrierOp : Tile_Op<"group_barrier", [Tile_WarpCollective]> {
  let summary = "all threads of this warp group have arrived";
  let description = "`group` numbers the warp groups that use such barriers (named barrier 8 + group).";
  let arguments = (ins Index:$group);
  let assemblyFormat = "$group attr-dict";
}

def Tile_TurnTakeOp : Tile_Op<"turn_take", [Tile_WarpCollective]> {
  let summary = "waits for this warp group's turn";
  let description = [{
    `of` warp groups take turns in the order of their numbers, group 0 first. `turn_begin`
    before the first and `turn_end` after the last balance the barriers.
  }];
  let arguments = (ins Index:$group, I32Attr:$of);
  let assemblyFormat = "$group `of` $of attr-dict";
  let hasVerifier = 1;
}
def Tile_TurnPassOp : Tile_Op<"turn_pass", [Tile_WarpCollective]> {
  let summary = "gives the turn to the next warp group";
  let arguments = (ins Index:$group, I32Attr:$of);
  let assemblyFormat = "$group `of` $of attr-dict";
}
def Tile_TurnEdgeOp : Tile_Op<"turn_edge", [Tile_WarpCollective]> {
  let summary = "opens (`first`) or closes the round of turns";
  let arguments = (ins Index:$group, I32Attr:$of, UnitAttr:$first);
  let assemblyFormat = "$group `of` $of (`first` $first^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a fragment of equal elements";
  let arguments = (ins AnyTypeOf<[F32, I32, I1]>:$value);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a scalar region for each element of fragments of one layout";
  let description = [{
    The region's arguments are the elements of the operands at one place, its
    results those of the results. Only the region's own arguments and scalars from
    outside are used in it.
  }];
  let arguments = (ins Variadic<Tile_AnyFragment>:$inputs);
  let results = (outs Variadic<Tile_AnyFragment>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` $body attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def Tile_Combine : I32EnumAttr<"Combine", "combining operation", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::rudnn::tile";
  let genSpecializedAttr = 0;
}
def Tile_CombineAttr : EnumAttr<Tile_Dialect, Tile_Combine, "combine">;

def Tile_ReduceOp : Tile_Op<"reduce", [Tile_WarpCollective]> {
  let summary = "reduces a dim of an f32 fragment";
  let description = [{
    The result's layout is the slice of the input's along the dim; or, with the
    dim kept, its "partial": what one thread holds is combined, the threads are
    left to a later `reduce`. Lanes are combined with shuffles. Warps along the
    dim are not supported here (see `block_reduce`).
  }];
  let arguments = (ins Tile_CombineAttr:$kind, Tile_AnyFragment:$input, I32Attr:$dim);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$kind $input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BlockReduceOp : Tile_Op<"block_reduce", [Tile_WarpCollective]> {
  let summary = "reduces one f32 value of each thread over the whole block";
  let description = [{
    Shuffles in the warps, then `scratch` (`memref<W x f32>`, W warps of the block)
    and one barrier of the block. Every thread gets the result. Deterministic. Other
    threads may still read `scratch` afterwards: it may be written again behind the
    next barrier, so that reductions in a row take turns with two of them.
  }];
  let arguments = (ins Tile_CombineAttr:$kind, F32:$value, Tile_SharedTile:$scratch);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $value `with` $scratch attr-dict `:` type($scratch)";
  let hasVerifier = 1;
}

def Tile_BlockMomentsOp : Tile_Op<"block_moments", [Tile_WarpCollective]> {
  let summary = "mean of a fragment's elements and the sum of their squared distances from it";
  let description = [{
    Of all elements that the block holds, each once, with one barrier: the moments of
    eight elements, of threads, of warps are merged by the formula of Chan, Golub and
    LeVeque (1979, "Updating formulae and a pairwise algorithm for computing sample
    variances"), so that nothing cancels. `scratch` (`memref<2W x f32>`, W warps) is used
    as in `block_reduce`.
  }];
  let arguments = (ins Tile_AnyFragment:$input, Tile_SharedTile:$scratch);
  let results = (outs F32:$mean, F32:$squares);
  let assemblyFormat = "$input `with` $scratch attr-dict `:` type($input) `,` type($scratch)";
  let hasVerifier = 1;
}

def Tile_ThreadReduceOp : Tile_Op<"thread_reduce", [Pure]> {
  let summary = "combines the f32 elements of a fragment that this thread holds";
  let arguments = (ins Tile_CombineAttr:$kind, Tile_AnyFragment:$input);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
}

def Tile_AnyOp : Tile_Op<"any", [Tile_WarpCollective]> {
  let summary = "whether an element of an i1 fragment that this warp holds is true";
  let description = [{
    A vote: the same in all lanes, so that a branch on it keeps the warp together.
    Other warps may go the other way: nothing that a whole warp group does together
    may stand under it.
  }];
  let arguments = (ins Tile_AnyFragment:$input);
  let results = (outs I1:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a slice along a new dim; no thread exchanges anything";
  let description = [{
    The operand's layout is the slice of the result's along `dim`, or that of the
    result's "partial" form.
  }];
  let arguments = (ins Tile_AnyFragment:$input, I32Attr:$dim);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "offset + sum over d of coefficients[d] * coordinate d, as i32";
  let arguments = (ins Index:$offset, DenseI32ArrayAttr:$coefficients);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$offset `coefficients` $coefficients attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "elementwise conversion between float types, rounded to nearest even";
  let arguments = (ins Tile_AnyFragment:$input);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Tile_WarpCollective, AttrSizedOperandSegments]> {
  let summary = "the same tile in another layout";
  let description = [{
    Renames registers when no element changes its thread. Any other pair of layouts
    goes through `scratch`, a plain tile of the fragment's shape, with two barriers of
    the warp group `group`.
  }];
  let arguments = (ins Tile_AnyFragment:$input, Optional<Tile_SharedTile>:$scratch,
    Optional<Index>:$group);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = [{
    $input (`scratch` $scratch^ `:` type($scratch))? (`group` $group^)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ColumnsOp : Tile_Op<"columns", [Pure]> {
  let summary = "some columns of a fragment, without exchange";
  let arguments = (ins Tile_AnyFragment:$input, I32Attr:$offset);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$input `from` $offset attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // RUDNN_TILE_OPS_TD
