//===- ConvertMemory.cpp - Tiles and copies to NVVM -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvvmUtils.h"

using namespace mlir;
using namespace rudnn::tile;

namespace {

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
};

/// Shared tiles have static strides: a view is a pointer with an offset.
struct SubViewPattern : Pattern<memref::SubViewOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(memref::SubViewOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    auto [strides, base] = op.getSourceType().getStridesAndOffset();
    int64_t bytes = op.getSourceType().getElementTypeBitWidth() / 8;
    int64_t fixed = 0;
    Value moving;
    unsigned dynamic = 0;
    for (auto [i, offset] : llvm::enumerate(op.getStaticOffsets())) {
      if (!ShapedType::isDynamic(offset)) {
        fixed += offset * strides[i] * bytes;
        continue;
      }
      Value index = nvvm.toI32(adaptor.getOffsets()[dynamic++].front());
      Value step = nvvm.mul(index, strides[i] * bytes);
      moving = moving ? nvvm.add(moving, step) : step;
    }
    Value pointer = nvvm.offset(adaptor.getSource().front(), fixed);
    if (moving)
      pointer = nvvm.offset(pointer, moving);
    rewriter.replaceOp(op, pointer);
    return success();
  }
};

/// Canonicalization folds offsets into types and casts back.
struct CastPattern : Pattern<memref::CastOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(memref::CastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSource().front());
    return success();
  }
};

/// Calls `copy(panel pointer, coordinates innermost first)` for each box.
template <typename Adaptor, typename Copy>
void forEachPanel(Nvvm &nvvm, MemRefType tile, TmaType tma, Value pointer,
                  Adaptor coords, Copy copy) {
  SmallVector<Value> inner;
  for (ValueRange coord : llvm::reverse(coords))
    inner.push_back(nvvm.toI32(coord.front()));
  ArrayRef<int64_t> box = tma.getBox();
  while (box.size() > 2 && box.front() == 1)
    box = box.drop_front();
  int64_t panels =
      tile.getRank() == int64_t(box.size()) + 1 ? tile.getShape()[0] : 1;
  auto [strides, base] = tile.getStridesAndOffset();
  int64_t step = strides[0] * tile.getElementTypeBitWidth() / 8;
  for (int64_t p = 0; p < panels; ++p) {
    SmallVector<Value> at(inner);
    at[0] = nvvm.add(inner[0], p * box.back());
    copy(nvvm.offset(pointer, p * step), at);
  }
}

struct TmaLoadPattern : Pattern<TmaLoadOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(TmaLoadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value barrier =
        nvvm.barrier(adaptor.getRing().front(), op.getRing().getType(),
                     Barrier::Full, adaptor.getIt().front());
    forEachPanel(nvvm, op.getTile().getType(), op.getSource().getType(),
                 adaptor.getTile().front(), adaptor.getCoords(),
                 [&](Value panel, ValueRange at) {
                   NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                       rewriter, op.getLoc(), panel,
                       adaptor.getSource().front(), at, barrier, ValueRange(),
                       Value(), Value(), NVVM::TMALoadMode::TILE,
                       /*isCTAOnly=*/true, NVVM::CTAGroupKindAttr(), Value());
                 });
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaStorePattern : Pattern<TmaStoreOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(TmaStoreOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value first = nvvm.firstOfGroup();
    forEachPanel(nvvm, op.getTile().getType(), op.getDest().getType(),
                 adaptor.getTile().front(), adaptor.getCoords(),
                 [&](Value panel, ValueRange at) {
                   NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
                       rewriter, op.getLoc(), adaptor.getDest().front(), panel,
                       at, Value(), NVVM::TMAStoreMode::TILE, first);
                 });
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaStoreWaitPattern : Pattern<TmaStoreWaitOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(TmaStoreWaitOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncBulkWaitGroupOp::create(
        rewriter, op.getLoc(), rewriter.getI32IntegerAttr(op.getPending()),
        op.getRead() ? rewriter.getUnitAttr() : UnitAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// stmatrix: of 16 columns j, lane l stores the row (l & 7) + 8 * (l / 8 & 1)
/// of its warp, 16-byte chunk 2j + l / 16.
struct StoreSharedPattern : Pattern<StoreSharedOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(StoreSharedOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    auto fragment = cast<FragmentType>(op.getValue().getType());
    MemRefType tile = op.getTile().getType();
    auto [strides, base] = tile.getStridesAndOffset();
    int64_t panelStep = tile.getRank() == 3 ? strides[0] * 2 : 0;
    int64_t chunksPerPanel = tile.getShape().back() / 8;

    Value lane = nvvm.lane();
    Value swizzle = nvvm.andi(lane, 7);
    Value row = nvvm.add(swizzle, nvvm.shl(nvvm.andi(nvvm.shr(lane, 3), 1), 3));
    if (fragment.getLayout().warpBits())
      row = nvvm.add(nvvm.shl(nvvm.warpInGroup(), 4), row);
    Value rowPointer = nvvm.offset(adaptor.getTile().front(), nvvm.shl(row, 7));
    Value high = nvvm.shr(lane, 4);
    ValueRange registers = adaptor.getValue();
    for (int64_t j = 0; j < fragment.getShape()[1] / 16; ++j) {
      int64_t chunk = 2 * j % chunksPerPanel, panel = 2 * j / chunksPerPanel;
      Value place =
          arith::XOrIOp::create(rewriter, loc, nvvm.add(high, chunk), swizzle);
      Value pointer = nvvm.offset(rowPointer, nvvm.shl(place, 4));
      pointer = nvvm.offset(pointer, panel * panelStep);
      SmallVector<Value> sources;
      for (int64_t q = 0; q < 4; ++q)
        sources.push_back(
            nvvm.bitcast(registers[4 * j + q], rewriter.getI32Type()));
      NVVM::StMatrixOp::create(
          rewriter, loc, pointer, sources, NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// One element of a global buffer, for index arithmetic.
struct ScalarLoadPattern : Pattern<memref::LoadOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isGlobalBuffer(op.getMemRefType()))
      return failure();
    Nvvm nvvm(rewriter, op.getLoc());
    Value at = nvvm.zext64(nvvm.toI32(adaptor.getIndices()[0].front()));
    Value pointer = adaptor.getMemref().front();
    Value address =
        LLVM::GEPOp::create(rewriter, op.getLoc(), pointer.getType(),
                            op.getType(), pointer, ArrayRef<LLVM::GEPArg>{at});
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getType(), address);
    return success();
  }
};

/// The registers of a fragment in groups of `vector`, with address and
/// predicate.
template <typename Op, typename Adaptor>
struct GlobalAccess {
  GlobalAccess(Op op, Adaptor adaptor, FragmentType type, Value pointer,
               Nvvm &nvvm)
      : op(op), type(type), nvvm(nvvm), layout(type.getLayout()) {
    Location loc = nvvm.loc;
    int64_t bytes =
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    strides.assign(op.getStrides().begin(), op.getStrides().end());
    offset = adaptor.getOffset().front();
    for (unsigned d = 0; d < layout.rank(); ++d) {
      Value coord = nvvm.threadCoord(layout, d);
      coords.push_back(coord);
      if (d < op.getBounds().size())
        bounds.push_back(nvvm.toI32(adaptor.getBounds()[d].front()));
      Value wide = nvvm.zext64(coord);
      if (ShapedType::isDynamic(strides[d])) {
        leading = adaptor.getLeading().front();
        wide = arith::MulIOp::create(nvvm.b, loc, wide, leading);
      } else {
        wide = nvvm.mul(wide, strides[d]);
      }
      offset = nvvm.add(offset, wide);
    }
    elementBytes = bytes;
    first = LLVM::GEPOp::create(
        nvvm.b, loc, pointer.getType(), nvvm.b.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{nvvm.mul(offset, bytes)});
  }

  /// Address of register r of this thread.
  Value address(int64_t r) {
    Layout::Basis at = layout.at(r);
    int64_t fixed = 0;
    Value moving;
    for (unsigned d = 0; d < layout.rank(); ++d) {
      if (ShapedType::isDynamic(strides[d]) && at[d])
        moving = nvvm.mul(leading, at[d] * elementBytes);
      else if (at[d])
        fixed += at[d] * strides[d] * elementBytes;
    }
    Value pointer = first;
    if (moving)
      pointer = nvvm.offset(pointer, moving);
    return nvvm.offset(pointer, fixed);
  }

  /// Whether register r is within the bounds; null when there are none.
  Value inside(int64_t r) {
    Value all;
    Layout::Basis at = layout.at(r);
    for (unsigned d = 0; d < bounds.size(); ++d) {
      Value x =
          arith::CmpIOp::create(nvvm.b, nvvm.loc, arith::CmpIPredicate::slt,
                                nvvm.add(coords[d], at[d]), bounds[d]);
      all =
          all ? arith::AndIOp::create(nvvm.b, nvvm.loc, all, x).getResult() : x;
    }
    return all;
  }

  Op op;
  FragmentType type;
  Nvvm &nvvm;
  Layout layout;
  SmallVector<int64_t> strides;
  SmallVector<Value> coords, bounds;
  Value offset, leading, first;
  int64_t elementBytes;
};

/// Elements a thread moves at once: as many as the op allows, the layout has
/// side by side and 16 bytes hold.
int64_t accessWidth(const Layout &layout, int64_t allowed, int64_t elementBytes,
                    int64_t lastStride) {
  int64_t width = 1;
  unsigned dim = layout.rank() - 1;
  for (const Layout::Basis &basis : layout.regBases()) {
    if (lastStride != 1 || basis[dim] != width || 2 * width > allowed ||
        2 * width * elementBytes > 16)
      break;
    width *= 2;
  }
  return width;
}

/// True in one of the threads that hold an element; null when all elements are
/// held once.
Value firstCopy(Nvvm &nvvm, const Layout &layout) {
  auto zeros = [](ArrayRef<Layout::Basis> bases) {
    int64_t mask = 0;
    for (auto [i, basis] : llvm::enumerate(bases))
      if (llvm::all_of(basis, [](int64_t x) { return x == 0; }))
        mask |= int64_t(1) << i;
    return mask;
  };
  int64_t mask = zeros(layout.laneBases()) | zeros(layout.warpBases()) << 5;
  if (!mask)
    return {};
  return nvvm.equal(nvvm.andi(nvvm.tid(), mask), 0);
}

struct LoadPattern : Pattern<LoadOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(LoadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    auto type = cast<FragmentType>(op.getResult().getType());
    GlobalAccess<LoadOp, Adaptor> access(op, adaptor, type,
                                         adaptor.getSource().front(), nvvm);
    int64_t width = accessWidth(access.layout, op.getVector(),
                                access.elementBytes, access.strides.back());
    Type element = type.getElementType();
    Type vector = width == 1 ? element : VectorType::get({width}, element);
    SmallVector<Value> elements;
    for (int64_t r = 0; r < type.getNumRegs(); r += width) {
      Value pointer = access.address(r), inside = access.inside(r);
      unsigned alignment = width * access.elementBytes;
      auto load = [&](OpBuilder &b, Location l) -> Value {
        return LLVM::LoadOp::create(b, l, vector, pointer, alignment);
      };
      Value loaded;
      if (inside) {
        auto branch = scf::IfOp::create(
            rewriter, loc, inside,
            [&](OpBuilder &b, Location l) {
              scf::YieldOp::create(b, l, load(b, l));
            },
            [&](OpBuilder &b, Location l) {
              Value zero =
                  arith::ConstantOp::create(b, l, b.getZeroAttr(vector));
              scf::YieldOp::create(b, l, zero);
            });
        loaded = branch.getResult(0);
      } else {
        loaded = load(rewriter, loc);
      }
      if (width == 1)
        elements.push_back(loaded);
      else
        for (int64_t i = 0; i < width; ++i)
          elements.push_back(LLVM::ExtractElementOp::create(
              rewriter, loc, loaded, nvvm.i32(i)));
    }
    rewriter.replaceOpWithMultiple(op, {pack(nvvm, elements, type)});
    return success();
  }
};

struct StorePattern : Pattern<StoreOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(StoreOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    auto type = cast<FragmentType>(op.getValue().getType());
    GlobalAccess<StoreOp, Adaptor> access(op, adaptor, type,
                                          adaptor.getDest().front(), nvvm);
    int64_t width = accessWidth(access.layout, op.getVector(),
                                access.elementBytes, access.strides.back());
    SmallVector<Value> elements = unpack(nvvm, adaptor.getValue(), type);
    Value once = firstCopy(nvvm, access.layout);
    Type element = type.getElementType();
    for (int64_t r = 0; r < type.getNumRegs(); r += width) {
      Value value = elements[r];
      if (width > 1) {
        value = LLVM::UndefOp::create(rewriter, loc,
                                      VectorType::get({width}, element));
        for (int64_t i = 0; i < width; ++i)
          value = LLVM::InsertElementOp::create(rewriter, loc, value,
                                                elements[r + i], nvvm.i32(i));
      }
      Value pointer = access.address(r), mine = access.inside(r);
      if (once)
        mine =
            mine ? arith::AndIOp::create(rewriter, loc, mine, once).getResult()
                 : once;
      unsigned alignment = width * access.elementBytes;
      if (!mine) {
        LLVM::StoreOp::create(rewriter, loc, value, pointer, alignment);
      } else if (width == 1 && element.isF32()) {
        // Predicated, not branched: the roles of a kernel stay uniform.
        nvvm.assembly("@$2 st.global.f32 [$0], $1;", "l,f,b",
                      {pointer, value, mine}, {});
      } else {
        auto branch = scf::IfOp::create(rewriter, loc, mine);
        OpBuilder inner = branch.getThenBodyBuilder();
        LLVM::StoreOp::create(inner, loc, value, pointer, alignment);
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void rudnn::tile::populateMemoryPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<CastPattern, LoadPattern, ScalarLoadPattern, StorePattern,
               StoreSharedPattern, SubViewPattern, TmaLoadPattern,
               TmaStorePattern, TmaStoreWaitPattern>(converter,
                                                     patterns.getContext());
}
