//===- ExpandShapes.cpp - Expanded buffers with dynamic extents -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's expand-strided-metadata takes the strides of a group of dims from
// the extents behind the one dynamic extent it expects there, and reads an
// attribute that isn't there when a second one is dynamic. The strides are
// products of the extents that the op itself gives.
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNEXPANDSHAPES
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

/// Whether a group of result dims has more than one dynamic extent.
static bool hasDynamicGroup(memref::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  return llvm::any_of(op.getReassociationIndices(), [&](auto &group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return ShapedType::isDynamic(shape[dim]);
           }) > 1;
  });
}

static void expand(memref::ExpandShapeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
  auto [typeStrides, typeOffset] = op.getResultType().getStridesAndOffset();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  AffineExpr product = b.getAffineSymbolExpr(0) * b.getAffineSymbolExpr(1);
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = source.getStrides()[dim];
    for (int64_t inner : llvm::reverse(group)) {
      bool isStatic = !ShapedType::isDynamic(typeStrides[inner]);
      strides[inner] =
          isStatic ? OpFoldResult(b.getIndexAttr(typeStrides[inner])) : stride;
      stride = affine::makeComposedFoldedAffineApply(
          b, loc, product, {strides[inner], sizes[inner]});
    }
  }
  OpFoldResult offset = source.getOffset();
  if (!ShapedType::isDynamic(typeOffset))
    offset = b.getIndexAttr(typeOffset);
  auto expanded = memref::ReinterpretCastOp::create(b, loc, op.getResultType(),
                                                    source.getBaseBuffer(),
                                                    offset, sizes, strides);
  op.replaceAllUsesWith(expanded.getResult());
  op.erase();
}

namespace {
struct ExpandShapes : rudnn::impl::RudnnExpandShapesBase<ExpandShapes> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (hasDynamicGroup(op))
        ops.push_back(op);
    });
    llvm::for_each(ops, expand);
  }
};
} // namespace
