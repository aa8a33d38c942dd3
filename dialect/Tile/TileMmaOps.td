//===- TileMmaOps.td - The kernel dialect for sm_80 and later -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies by all threads (cp.async), fragments from shared memory (ldmatrix) and products
// of warps (mma.sync). A kernel of these has no roles and no rings: all threads of the
// block copy, and meet at `block_barrier`.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_MMA_OPS_TD
#define RUDNN_TILE_MMA_OPS_TD

include "TileBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Tile_CopyAsyncOp : Tile_Op<"copy_async"> {
  let summary = "starts the copy of a piece of a matrix from global to shared memory (cp.async)";
  let description = [{
    Row i, column j of the tile (columns counted over its panels) becomes
    `source[offset + i*leading + j]`, `offset` and `leading` in elements. All threads of
    the block take part, each with chunks of 16 bytes: the address of `source`, `offset` and
    `leading` are multiples of 16 bytes. With `columns` only the first columns are copied,
    whole chunks; the others keep what they hold. Elements in rows from `bounds[0]` or columns
    from `bounds[1]` on become zero and are not read.

    The copy belongs to the group that the next `copy_async_commit` closes. The tile may be
    read after a `copy_async_wait` for the group and a `block_barrier`; a `block_barrier`
    must also stand between earlier reads of the tile and the copy.

    ```mlir
    rudnn_tile.copy_async %keys[%offset] leading %ld bounds(%rows, %cols) to %tile {columns = 80 : i64}
        : memref<?xbf16>, memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
    ```
  }];
  let arguments = (ins Tile_GlobalBuffer:$source, I64:$offset, I64:$leading,
    Variadic<Index>:$bounds, Tile_SharedTile:$tile, OptionalAttr<I64Attr>:$columns);
  let assemblyFormat = [{
    $source `[` $offset `]` `leading` $leading (`bounds` `(` $bounds^ `)`)? `to` $tile attr-dict
    `:` type($source) `,` type($tile)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Columns that are copied.
    int64_t getCopiedColumns();
  }];
}

def Tile_CopyAsyncCommitOp : Tile_Op<"copy_async_commit"> {
  let summary = "closes a group of copies of this thread";
  let description = "The copies since the last one; a group may be empty.";
  let assemblyFormat = "attr-dict";
}

def Tile_CopyAsyncWaitOp : Tile_Op<"copy_async_wait"> {
  let summary = "waits until at most `pending` groups of this thread are in flight";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

def Tile_BlockBarrierOp : Tile_Op<"block_barrier", [Tile_WarpCollective]> {
  let summary = "all threads of the block have arrived";
  let description = "Not in `warp_groups`, whose roles don't run the same code.";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fragments from shared memory
//===----------------------------------------------------------------------===//

def Tile_LoadMatrixOp : Tile_Op<"load_matrix", [Tile_WarpCollective]> {
  let summary = "an operand of a product from shared memory (ldmatrix)";
  let description = [{
    Element (i, j) of the fragment is element (`offsets[0]` + i, `offsets[1]` + j) of the tile, its
    columns counted over the panels; with `transpose` it is element (`offsets[0]` + j,
    `offsets[1]` + i). f16 or bf16; the layout is `operand_b`, `operand_a` or `acc`. The offsets are
    multiples of 8 rows and 16 columns. Four 8 x 8 matrices an instruction, transposed by it where
    the tile has the other dim side by side than the fragment's registers.

    ```mlir
    // 16 dims of 64 keys, given as [key, dim]: B of queries * keys^T.
    %b = rudnn_tile.load_matrix %keys from [0, 32] transpose
        : memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<16x64xbf16, operand_b>
    ```
  }];
  let arguments = (ins Tile_SharedTile:$tile, DenseI64ArrayAttr:$offsets, UnitAttr:$transpose);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = [{
    $tile `from` $offsets (`transpose` $transpose^)? attr-dict `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a * b by the warps of the block (mma.sync)";
  let description = [{
    m16n8k16 with f16 or bf16 operands and f32 sums. `acc` is M x N in a layout `acc<RxC>` of
    R x C warps; `a` is M x K in `operand_a<RxC>` (with one column of warps the same as `acc`, so
    that an accumulator rounded to 16 bits is the operand of the next product), `b` is K x N in
    `operand_b<RxC>`.

    ```mlir
    %s1 = rudnn_tile.mma %q, %k acc %s0 : <64x16xbf16, acc>, <16x64xbf16, operand_b>, <64x64xf32, acc>
    ```
  }];
  let arguments = (ins Tile_AnyFragment:$a, Tile_AnyFragment:$b, Tile_AnyFragment:$acc);
  let results = (outs Tile_AnyFragment:$result);
  let assemblyFormat = "$a `,` $b `acc` $acc attr-dict `:` type($a) `,` type($b) `,` type($acc)";
  let hasVerifier = 1;
}

#endif // RUDNN_TILE_MMA_OPS_TD
