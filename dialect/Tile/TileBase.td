//===- TileBase.td - The kernel dialect: types and attributes -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_BASE_TD
#define RUDNN_TILE_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "rudnn_tile";
  let cppNamespace = "::rudnn::tile";
  let summary = "How one NVIDIA kernel computes: roles, rings, fragments";
  let description = [{
    The level between the operators and NVVM. A `kernel` states what the
    schedule decided: which warp groups play which role with how many
    registers, the shared-memory tiles and the rings that pass them from role
    to role, the matrix products and the layouts of register tiles. What is
    mechanical (shared-memory offsets, barrier phases and byte counts, fences)
    is filled in by the passes `rudnn-plan-smem`, `rudnn-assign-phases` and
    `rudnn-insert-fences`; `rudnn-convert-tile-to-nvvm` is the one way down.

    Inside of a kernel `index` is 32 bits wide; offsets into global memory are
    i64. A warp group is 128 threads. Code outside of `single_thread` is run by
    all threads of its role together.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}
class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout"> {
  let summary = "which thread and register holds an element of a tile";
  let description = [{
    A linear layout (include/rudnn/Tile/Layout.h). Written with its shape and a
    name, `#rudnn_tile.layout<64x128, acc>`, or with its basis vectors,
    `#rudnn_tile.layout<256, reg = [1, 2, 4] lane = [8, 16, 32, 64, 128] warp = [] rep = [1]>`
    (vectors of rank 2 are written flat, as pairs). Names: `acc` (accumulators of
    wgmma and mma.sync, also their register A operand), `acc_rows` and `acc_cols`
    (its slices), `acc_quads` (a row sum over registers only), `operand_a` and
    `operand_b` (of mma.sync). Warps stand along the rows, one for every 16;
    `acc<2x4>` is shared by 2 x 4 warps instead.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$code);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "const ::rudnn::tile::Layout &":$layout), [{
    return $_get($_ctxt, layout.encode());
  }]>];
  let extraClassDeclaration = [{
    ::rudnn::tile::Layout getLayout() const { return ::rudnn::tile::Layout::decode(getCode()); }
  }];
}

def Tile_SharedAttr : Tile_Attr<"Shared", "shared"> {
  let summary = "memory space of a tile in shared memory";
  let description = [{
    `#rudnn_tile.shared` is plain row-major memory. With `<swizzle = 32|64|128>`
    the last dim is exactly that many bytes, and 16-byte chunk `c` of row `r`
    (the rows of all leading dims counted together) stands in place
    `c ^ (r % 8)` (128 bytes), `c ^ (r / 2 % 4)` (64) or `c ^ (r / 4 % 2)` (32),
    the arrangement of TMA and wgmma.
  }];
  let parameters = (ins DefaultValuedParameter<"unsigned", "0">:$swizzle);
  let assemblyFormat = "(`<` struct($swizzle)^ `>`)?";
  let genVerifyDecl = 1;
}

def Tile_FragmentType : Tile_Type<"Fragment", "fragment"> {
  let summary = "a tile in the registers of a warp group, warp or block";
  let description = [{
    `!rudnn_tile.fragment<64x128xf32, acc>`: the elements of a tile, spread over
    threads and registers by a layout. Elements are f32, f16, bf16, i32 or i1.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
      "::mlir::Type":$elementType, "::rudnn::tile::LayoutAttr":$layoutAttr);
  let builders = [TypeBuilderWithInferredContext<(ins "const ::rudnn::tile::Layout &":$layout,
      "::mlir::Type":$elementType), [{
    ::mlir::MLIRContext *context = elementType.getContext();
    return $_get(context, layout.shape(), elementType, ::rudnn::tile::LayoutAttr::get(context, layout));
  }]>];
  let extraClassDeclaration = [{
    ::rudnn::tile::Layout getLayout() const { return getLayoutAttr().getLayout(); }
    int64_t getNumRegs() const { return getLayout().numRegs(); }
    /// Whether registers 2i and 2i+1 are kept together in one 32-bit register.
    bool isPacked() const;
  }];
  let genVerifyDecl = 1;
}

def Tile_RingType : Tile_Type<"Ring", "ring"> {
  let summary = "barriers that pass the stages of tiles from a producer to consumers";
  let description = [{
    `!rudnn_tile.ring<4, consumers = 2>`: for each of 4 stages a barrier "full"
    (one arrival, and the bytes of the copies) and a barrier "empty" (one arrival
    of each warp of 2 consumer warp groups).
  }];
  let parameters = (ins "unsigned":$stages, "unsigned":$consumers);
  let extraClassDeclaration = [{
    unsigned getEmptyArrivals() const { return 4 * getConsumers(); }
  }];
  let genVerifyDecl = 1;
}

def Tile_TmaType : Tile_Type<"Tma", "tma"> {
  let summary = "descriptor of a global tensor for bulk tensor copies";
  let description = [{
    `!rudnn_tile.tma<1x128x64xbf16, swizzle = 128>`: copies of boxes of this shape
    (outermost dim first) between a global tensor of the same rank and shared
    memory with this swizzle. Elements outside of the tensor read as zero and
    are not written. A kernel argument, 128 bytes by value.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box,
      "::mlir::Type":$elementType, "unsigned":$swizzle);
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// What ops are declared with
//===----------------------------------------------------------------------===//

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

/// All threads of a warp must run it together.
def Tile_WarpCollective : NativeOpTrait<"WarpCollective"> {
  let cppNamespace = "::rudnn::tile";
}

def Tile_AnyFragment : Type<CPred<"::llvm::isa<::rudnn::tile::FragmentType>($_self)">,
    "fragment", "::rudnn::tile::FragmentType">;
def Tile_AnyRing : Type<CPred<"::llvm::isa<::rudnn::tile::RingType>($_self)">,
    "ring", "::rudnn::tile::RingType">;
def Tile_AnyTma : Type<CPred<"::llvm::isa<::rudnn::tile::TmaType>($_self)">,
    "TMA descriptor", "::rudnn::tile::TmaType">;
def Tile_SharedTile : Type<CPred<"::rudnn::tile::isSharedTile($_self)">,
    "memref in #rudnn_tile.shared", "::mlir::MemRefType">;
def Tile_GlobalBuffer : Type<CPred<"::rudnn::tile::isGlobalBuffer($_self)">,
    "memref<?xT> in global memory", "::mlir::MemRefType">;

#endif // RUDNN_TILE_BASE_TD
