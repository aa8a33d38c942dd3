//===- TileMmaOps.cpp - Verifiers of the ops for sm_80 -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/TileDialect.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace rudnn::tile;

#define GET_OP_CLASSES
#include "rudnn/TileMmaOps.cpp.inc"

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// Rows and columns of a tile of panels; a rank of 2 is one panel.
static std::optional<std::pair<int64_t, int64_t>> panelShape(MemRefType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() == 2)
    return std::pair(shape[0], shape[1]);
  if (shape.size() == 3)
    return std::pair(shape[1], shape[0] * shape[2]);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

int64_t CopyAsyncOp::getCopiedColumns() {
  return getColumns().value_or(panelShape(getTile().getType())->second);
}

LogicalResult CopyAsyncOp::verify() {
  MemRefType tile = getTile().getType();
  auto shape = panelShape(tile);
  Type element = tile.getElementType();
  if (getSource().getType().getElementType() != element)
    return emitOpError("copies ") << getSource().getType().getElementType()
                                  << ", the tile has " << element;
  if (!shape || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError("tile must be rows x columns or panels x rows x "
                       "columns of whole bytes, got ")
           << tile;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  int64_t row = tile.getShape().back() * bytes;
  if (row % 16 != 0 || row > 512)
    return emitOpError("a row of a panel has ")
           << row << " bytes, expected a multiple of 16 up to 512";
  if (!getBounds().empty() && getBounds().size() != 2)
    return emitOpError("has ") << getBounds().size() << " bounds, expected 2";
  int64_t columns = getCopiedColumns();
  if (columns < 1 || columns > shape->second || columns * bytes % 16 != 0)
    return emitOpError("columns is ")
           << columns << ", expected whole chunks of 16 bytes up to "
           << shape->second;
  return success();
}

LogicalResult CopyAsyncWaitOp::verify() {
  if (getPending() > 7)
    return emitOpError("pending is ") << getPending() << ", expected 0 to 7";
  return success();
}

LogicalResult BlockBarrierOp::verify() {
  if ((*this)->getParentOfType<WarpGroupsOp>())
    return emitOpError("stands in a role of warp_groups: the other roles would "
                       "not arrive");
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments and products
//===----------------------------------------------------------------------===//

LogicalResult LoadMatrixOp::verify() {
  MemRefType tile = getTile().getType();
  auto shape = panelShape(tile);
  auto fragment = cast<FragmentType>(getResult().getType());
  if (!isHalf(fragment.getElementType()) ||
      tile.getElementType() != fragment.getElementType())
    return emitOpError("loads f16 or bf16 from a tile of the same, got ")
           << tile << " and " << fragment;
  Layout layout = fragment.getLayout();
  std::string full = layout.name();
  StringRef name = StringRef(full).split('<').first;
  if (name != "acc" && name != "operand_a" && name != "operand_b")
    return emitOpError("result must have layout acc, operand_a or operand_b, "
                       "got ")
           << fragment;
  if (!shape || tile.getShape().back() % 16 != 0)
    return emitOpError("tile must be rows x columns or panels x rows x columns "
                       "with columns a multiple of 16, got ")
           << tile;
  ArrayRef<int64_t> offsets = getOffsets();
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < 0 ||
      offsets[0] % 8 != 0 || offsets[1] % 16 != 0)
    return emitOpError("offsets are [")
           << offsets << "], expected a multiple of 8 rows and of 16 columns";
  int64_t rows = fragment.getShape()[0], cols = fragment.getShape()[1];
  if (getTranspose())
    std::swap(rows, cols);
  if (offsets[0] + rows > shape->first || offsets[1] + cols > shape->second)
    return emitOpError("reads up to row ")
           << offsets[0] + rows << " and column " << offsets[1] + cols
           << " of a tile of " << shape->first << " x " << shape->second;
  // A warp's columns start at a panel, so that its address is a sum.
  for (const Layout::Basis &basis : layout.warpBases())
    if (basis[getTranspose() ? 0 : 1] % tile.getShape().back() != 0)
      return emitOpError("a warp starts at column ")
             << basis[getTranspose() ? 0 : 1] << " of panels of "
             << tile.getShape().back();
  return success();
}

/// Warps along the rows and columns of an accumulator.
static std::pair<int64_t, int64_t> warpGrid(const Layout &layout) {
  int64_t rows = 1, cols = 1;
  for (const Layout::Basis &basis : layout.warpBases())
    (basis[0] ? rows : cols) *= 2;
  return {rows, cols};
}

LogicalResult MmaOp::verify() {
  auto a = cast<FragmentType>(getA().getType()),
       b = cast<FragmentType>(getB().getType()),
       acc = cast<FragmentType>(getAcc().getType());
  if (!isHalf(a.getElementType()) || a.getElementType() != b.getElementType() ||
      !acc.getElementType().isF32())
    return emitOpError(
               "a and b must both be f16 or both bf16 and acc f32, got ")
           << a << ", " << b << " and " << acc;
  if (a.getShape().size() != 2 || b.getShape().size() != 2 ||
      acc.getShape().size() != 2 || a.getShape()[1] != b.getShape()[0] ||
      a.getShape()[0] != acc.getShape()[0] ||
      b.getShape()[1] != acc.getShape()[1] || a.getShape()[1] % 16 != 0)
    return emitOpError("shapes don't form a product with K a multiple of 16: ")
           << a << " times " << b << " into " << acc;
  auto [rows, cols] = warpGrid(acc.getLayout());
  auto check = [&](FragmentType type, const char *name, const char *operand) {
    auto expected = Layout::named(name, type.getShape(), std::pair(rows, cols));
    if (expected && *expected == type.getLayout())
      return success();
    return LogicalResult(emitOpError(operand)
                         << " must be in layout " << name << "<" << rows << "x"
                         << cols << ">, got " << type);
  };
  if (failed(check(acc, "acc", "acc")) || failed(check(a, "operand_a", "a")) ||
      failed(check(b, "operand_b", "b")))
    return failure();
  return success();
}
