//===- ConvertMma.cpp - cp.async, ldmatrix, mma.sync -*- C++ -*-===//
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

/// Where 16-byte chunks of a tile of panels are (see #rudnn_tile.shared).
struct ChunkPlaces {
  explicit ChunkPlaces(MemRefType type) {
    auto [strides, offset] = type.getStridesAndOffset();
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    elements = 16 / bytes;
    panelColumns = type.getShape().back();
    rowBytes = panelColumns * bytes;
    panelBytes = type.getRank() == 3 ? strides[0] * bytes : 0;
    switch (getSwizzle(type)) {
    case 128:
      shift = 0, mask = 7;
      break;
    case 64:
      shift = 1, mask = 3;
      break;
    case 32:
      shift = 2, mask = 1;
      break;
    default:
      shift = 0, mask = 0;
      break;
    }
  }

  /// What is combined with a chunk number of the row by exclusive or.
  Value swizzle(Nvvm &nvvm, Value row) const {
    return nvvm.andi(nvvm.shr(row, shift), mask);
  }

  int64_t elements;     // of a chunk
  int64_t panelColumns; // of a row of a panel
  int64_t rowBytes, panelBytes;
  int64_t shift, mask;
};

Value xori(Nvvm &nvvm, Value x, Value y) {
  return arith::XOrIOp::create(nvvm.b, nvvm.loc, x, y);
}
Value xori(Nvvm &nvvm, Value x, int64_t y) {
  return y == 0 ? x : xori(nvvm, x, nvvm.i32(y));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// One panel at a time: consecutive threads have consecutive chunks of a row,
/// then the rows that follow.
struct CopyAsyncPattern : Pattern<CopyAsyncOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(CopyAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto func = op->getParentOfType<LLVM::LLVMFuncOp>();
    auto threads = func->getAttrOfType<DenseI32ArrayAttr>(
        NVVM::NVVMDialect::getMaxntidAttrName());
    if (!threads)
      return op.emitOpError("is not supported in kernels with clusters");
    Nvvm nvvm(rewriter, op.getLoc());
    MemRefType tile = op.getTile().getType();
    Copy copy(op, nvvm, threads[0]);
    copy.source = adaptor.getSource().front();
    copy.tile = adaptor.getTile().front();
    copy.offset = adaptor.getOffset().front();
    copy.leading = adaptor.getLeading().front();
    if (!op.getBounds().empty()) {
      copy.rowBound = nvvm.toI32(adaptor.getBounds()[0].front());
      copy.colBound = nvvm.toI32(adaptor.getBounds()[1].front());
    }
    int64_t columns = op.getCopiedColumns(), width = tile.getShape().back();
    for (int64_t first = 0; first < columns; first += width)
      copy.panel(first / width, std::min(width, columns - first));
    rewriter.eraseOp(op);
    return success();
  }

private:
  struct Copy {
    Copy(CopyAsyncOp op, Nvvm &nvvm, int64_t threads)
        : nvvm(nvvm), threads(threads), places(op.getTile().getType()) {
      ArrayRef<int64_t> shape = op.getTile().getType().getShape();
      rows = shape[shape.size() - 2];
    }

    void panel(int64_t number, int64_t columns) {
      int64_t chunks = columns / places.elements;
      int64_t wide = llvm::PowerOf2Ceil(chunks);
      int64_t step = threads / wide; // rows that the block copies at once
      Value tid = nvvm.tid();
      Value chunk = nvvm.andi(tid, wide - 1);
      Value row = nvvm.shr(tid, llvm::Log2_64(wide));
      Value column = nvvm.mul(chunk, places.elements);
      int64_t firstColumn = number * places.panelColumns;
      // Of this thread's first row.
      Value from = nvvm.add(offset, nvvm.zext64(nvvm.add(column, firstColumn)));
      from = nvvm.add(from, arith::MulIOp::create(nvvm.b, nvvm.loc,
                                                  nvvm.zext64(row), leading));
      int64_t bytes = 16 / places.elements;
      Value source64 = LLVM::GEPOp::create(
          nvvm.b, nvvm.loc, source.getType(), nvvm.b.getI8Type(), source,
          ArrayRef<LLVM::GEPArg>{nvvm.mul(from, bytes)});
      Value to = nvvm.offset(tile, number * places.panelBytes);
      Value valid = validBytes(nvvm.add(column, firstColumn), bytes);
      Value mine; // whether this thread has a chunk
      if (wide != chunks)
        mine = below(chunk, nvvm.i32(chunks));
      for (int64_t i = 0; i < rows; i += step) {
        Value here = nvvm.add(row, i), doit = mine;
        if (i + step > rows) {
          Value inside = below(here, nvvm.i32(rows));
          doit = doit ? arith::AndIOp::create(nvvm.b, nvvm.loc, doit, inside)
                            .getResult()
                      : inside;
        }
        Value place = nvvm.shl(
            xori(nvvm, chunk, places.swizzle(nvvm, step % 8 ? here : row)), 4);
        Value dest = nvvm.offset(
            nvvm.offset(nvvm.offset(to, nvvm.mul(row, places.rowBytes)), place),
            i * places.rowBytes);
        Value pointer = source64;
        if (i)
          pointer = LLVM::GEPOp::create(
              nvvm.b, nvvm.loc, source.getType(), nvvm.b.getI8Type(), source64,
              ArrayRef<LLVM::GEPArg>{nvvm.mul(leading, i * bytes)});
        Value size = valid;
        if (rowBound)
          size = arith::SelectOp::create(
              nvvm.b, nvvm.loc, below(here, rowBound), valid, nvvm.i32(0));
        issue(dest, pointer, size, doit);
      }
    }

    /// Bytes of a chunk left of the column bound; null without bounds.
    Value validBytes(Value column, int64_t bytes) {
      if (!colBound)
        return {};
      Value left = arith::SubIOp::create(nvvm.b, nvvm.loc, colBound, column);
      left = nvvm.mul(left, bytes);
      left = arith::MaxSIOp::create(nvvm.b, nvvm.loc, left, nvvm.i32(0));
      return arith::MinSIOp::create(nvvm.b, nvvm.loc, left, nvvm.i32(16));
    }

    Value below(Value x, Value y) {
      return arith::CmpIOp::create(nvvm.b, nvvm.loc, arith::CmpIPredicate::slt,
                                   x, y);
    }

    void issue(Value dest, Value pointer, Value size, Value doit) {
      OpBuilder::InsertionGuard guard(nvvm.b);
      if (doit) {
        auto branch = scf::IfOp::create(nvvm.b, nvvm.loc, doit);
        nvvm.b.setInsertionPointToStart(branch.thenBlock());
      }
      NVVM::CpAsyncOp::create(nvvm.b, nvvm.loc, dest, pointer, 16,
                              NVVM::LoadCacheModifierKind::CG, size);
    }

    Nvvm &nvvm;
    int64_t threads, rows;
    ChunkPlaces places;
    Value source, tile, offset, leading, rowBound, colBound;
  };
};

struct CopyAsyncCommitPattern : Pattern<CopyAsyncCommitOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(CopyAsyncCommitOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct CopyAsyncWaitPattern : Pattern<CopyAsyncWaitOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(CopyAsyncWaitOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getPending());
    return success();
  }
};

struct BlockBarrierPattern : Pattern<BlockBarrierOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(BlockBarrierOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Each group of four packed registers is four 8 x 8 matrices; lanes 8m to
/// 8m + 7 give the rows of matrix m (PTX ISA, ldmatrix). Where the matrices are
/// follows from the layout: the coordinates of their registers in lane 0.
struct LoadMatrixPattern : Pattern<LoadMatrixOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(LoadMatrixOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    MemRefType tile = op.getTile().getType();
    auto type = cast<FragmentType>(op.getResult().getType());
    Layout layout = type.getLayout();
    ChunkPlaces places(tile);
    // Coordinates in the tile, row first.
    unsigned rowDim = op.getTranspose() ? 1 : 0, colDim = 1 - rowDim;
    auto inTile = [&](int64_t reg) {
      Layout::Basis at = layout.at(reg);
      return std::pair(at[rowDim], at[colDim]);
    };
    // ldmatrix leaves the pairs of a row of the tile in a register.
    bool pairsInRow = layout.regBases()[0][colDim] == 1;

    Value base = adaptor.getTile().front();
    if (Value row = nvvm.warpCoord(layout, rowDim))
      base = nvvm.offset(base, nvvm.mul(row, places.rowBytes));
    if (Value col = nvvm.warpCoord(layout, colDim))
      base = nvvm.offset(
          base, nvvm.mul(col, places.panelBytes / places.panelColumns));
    Value lane = nvvm.lane();
    Value row = nvvm.andi(lane, 7);

    SmallVector<Value> registers;
    int64_t count = type.getNumRegs() / 2;
    for (int64_t first = 0; first < count;) {
      int64_t n = count - first >= 4 ? 4 : 2;
      // Matrices 1 and 2 of the group are a step from matrix 0, matrix 3 both.
      auto [row0, col0] = inTile(2 * first);
      Value matrixRow = row, matrixChunk;
      bool oneBit = true; // the lane's part of the chunk number is 0 or 1
      for (int64_t m = 1; m < n; m *= 2) {
        auto [rowM, colM] = inTile(2 * (first + m));
        Value bit = nvvm.andi(nvvm.shr(lane, m == 1 ? 3 : 4), 1);
        if (rowM != row0)
          matrixRow = nvvm.add(matrixRow, nvvm.mul(bit, rowM - row0));
        if (colM != col0) {
          Value chunk = nvvm.mul(bit, (colM - col0) / 8);
          oneBit &= !matrixChunk && colM - col0 == 8;
          matrixChunk = matrixChunk ? nvvm.add(matrixChunk, chunk) : chunk;
        }
      }
      row0 += op.getOffsets()[0];
      col0 += op.getOffsets()[1];
      int64_t panel = col0 / places.panelColumns;
      int64_t chunk0 = col0 % places.panelColumns / 8;
      // All steps are multiples of 8 rows: the pattern is that of the lane's
      // row.
      Value place = places.swizzle(nvvm, row);
      if (oneBit && chunk0 % 2 == 0) // no carry
        place = xori(nvvm, matrixChunk ? xori(nvvm, matrixChunk, place) : place,
                     chunk0);
      else
        place =
            xori(nvvm,
                 matrixChunk ? nvvm.add(matrixChunk, chunk0) : nvvm.i32(chunk0),
                 place);
      Value pointer = nvvm.offset(base, nvvm.mul(matrixRow, places.rowBytes));
      pointer = nvvm.offset(pointer, nvvm.shl(place, 4));
      pointer = nvvm.offset(pointer,
                            row0 * places.rowBytes + panel * places.panelBytes);
      append(nvvm, type, pointer, n, pairsInRow, registers);
      first += n;
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

private:
  static void append(Nvvm &nvvm, FragmentType type, Value pointer, int64_t n,
                     bool pairsInRow, SmallVectorImpl<Value> &registers) {
    Type i32 = nvvm.b.getI32Type();
    MLIRContext *context = nvvm.b.getContext();
    Value loaded = NVVM::LdMatrixOp::create(
        nvvm.b, nvvm.loc,
        LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(n, i32)),
        pointer, n, pairsInRow ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
        NVVM::LdStMatrixEltType::B16);
    for (int64_t i = 0; i < n; ++i)
      registers.push_back(nvvm.bitcast(
          LLVM::ExtractValueOp::create(nvvm.b, nvvm.loc, loaded, i),
          registerType(type)));
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Registers of operands are found by their coordinates in lane 0.
struct MmaPattern : Pattern<MmaOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(MmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    auto a = cast<FragmentType>(op.getA().getType()),
         b = cast<FragmentType>(op.getB().getType()),
         acc = cast<FragmentType>(op.getAcc().getType());
    Layout aLayout = a.getLayout(), bLayout = b.getLayout(),
           accLayout = acc.getLayout();
    auto operand = [&](ValueRange registers, const Layout &layout, int64_t x,
                       int64_t y) {
      Value pair = registers[layout.locate({x, y})->reg / 2];
      // bf16 operands are integers in the NVVM dialect.
      return a.getElementType().isBF16()
                 ? nvvm.bitcast(pair, rewriter.getI32Type())
                 : pair;
    };
    SmallVector<Value> results(adaptor.getAcc());
    for (int64_t k = 0; k < a.getShape()[1]; k += 16)
      for (int64_t r = 0; r < acc.getNumRegs(); r += 4) {
        Layout::Basis at = accLayout.at(r);
        int64_t row = at[0], col = at[1];
        SmallVector<Value> as, bs;
        for (int64_t depth : {k, k + 8}) {
          as.push_back(operand(adaptor.getA(), aLayout, row, depth));
          as.push_back(operand(adaptor.getA(), aLayout, row + 8, depth));
          bs.push_back(operand(adaptor.getB(), bLayout, depth, col));
        }
        step(nvvm, a.getElementType(), as, bs,
             MutableArrayRef(results).slice(r, 4));
      }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static void step(Nvvm &nvvm, Type element, ValueRange a, ValueRange b,
                   MutableArrayRef<Value> acc) {
    Type f32 = nvvm.b.getF32Type();
    auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
    Value sums = NVVM::MmaOp::create(
        nvvm.b, nvvm.loc,
        LLVM::LLVMStructType::getLiteral(nvvm.b.getContext(),
                                         {f32, f32, f32, f32}),
        a, b, SmallVector<Value>(acc), ArrayRef<int64_t>{16, 8, 16},
        std::nullopt, std::nullopt, std::array{type, type},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (int i = 0; i < 4; ++i)
      acc[i] = LLVM::ExtractValueOp::create(nvvm.b, nvvm.loc, sums, i);
  }
};

} // namespace

void rudnn::tile::populateMmaPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<BlockBarrierPattern, CopyAsyncCommitPattern, CopyAsyncPattern,
               CopyAsyncWaitPattern, LoadMatrixPattern, MmaPattern>(
      converter, patterns.getContext());
}
