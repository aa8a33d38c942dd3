//===- TileHostOps.td - The kernel dialect on the host side -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_HOST_OPS_TD
#define RUDNN_TILE_HOST_OPS_TD

include "TileBase.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_HostOp<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_TmaDescriptorOp : Tile_HostOp<"tma_descriptor", [Pure]> {
  let summary = "describes a global buffer for bulk tensor copies";
  let description = [{
    The buffer's last dim is contiguous; its strides (in bytes) are multiples of 16
    and its address is aligned to 16: what the runtime can't encode is an error of the
    launch. Encoded on the host and cached by address and shape.
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs Type<CPred<"::llvm::isa<::rudnn::tile::TmaType>($_self)">,
    "TMA descriptor", "::rudnn::tile::TmaType">:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LaunchOp : Tile_HostOp<"launch"> {
  let summary = "launches a kernel on the caller's stream";
  let description = [{
    `blocks` is the grid (x, y, z). `args` match the kernel's arguments; a memref for a
    `memref<?xT>` argument passes its address (contiguous or strided: the kernel knows).
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Index:$x, Index:$y, Index:$z,
    Variadic<AnyType>:$args);
  let assemblyFormat = [{
    $kernel `blocks` `(` $x `,` $y `,` $z `)` `args` `(` ($args^ `:` type($args))? `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_GemmOp : Tile_HostOp<"gemm", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    SingleBlock, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    AggregatedOpInterface]> {
  let summary = "matrix product with an elementwise epilogue";
  let description = [{
    `d[i, j] = epilogue(sum over k of a[i, k] * b[k, j], extras...)` with f32 sums.
    `a` is [M, K]; `b` is [K, N] or, with `transpose_b`, [N, K]; both f16 or both bf16, and
    all of rank 3 with a leading batch dim in a batched product. Each extra is [M, N]
    ("full") or [N] ("row"). The region takes the f32 sum and one element of each extra, and
    yields an element of `d`; it computes in f32 (arguments are extended first, the result
    is rounded last). Formed from linalg on tensors by `rudnn-form-gemm`, which is also what
    `decomposeOperation` goes back to; schedules take it on memrefs.
  }];
  let arguments = (ins AnyShaped:$a, AnyShaped:$b, Variadic<AnyShaped>:$extras,
    Variadic<AnyShaped>:$outs, UnitAttr:$transpose_b);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $outs `:` type($outs) `)` (`transpose_b` $transpose_b^)?
    `epilogue` $epilogue attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>> decomposeOperation(
        ::mlir::OpBuilder &b);
  }];
}

#endif // RUDNN_TILE_HOST_OPS_TD
