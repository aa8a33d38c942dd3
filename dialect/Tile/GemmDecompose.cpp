//===- GemmDecompose.cpp - A gemm as linalg code -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of rudnn_tile.gemm, and what runs where no schedule applies.
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/TileDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace rudnn::tile;

using utils::IteratorType;

/// f32 sums of products over `depth`.
static Value sums(GemmOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  auto d = cast<RankedTensorType>(op.getOuts()[0].getType());
  int64_t rank = d.getRank();
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, op.getOuts()[0]), b.getF32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value start =
      linalg::FillOp::create(b, loc, ValueRange{zero}, ValueRange{init})
          ->getResult(0);
  // Loops: batch, rows, columns, depth.
  auto map = [&](unsigned x, unsigned y) {
    SmallVector<AffineExpr> dims;
    if (rank == 3)
      dims.push_back(b.getAffineDimExpr(0));
    for (unsigned dim : {x, y})
      dims.push_back(b.getAffineDimExpr(rank - 2 + dim));
    return AffineMap::get(rank + 1, 0, dims, context);
  };
  SmallVector<AffineMap> maps = {
      map(0, 2), op.getTransposeB() ? map(1, 2) : map(2, 1), map(0, 1)};
  SmallVector<IteratorType> loops(rank, IteratorType::parallel);
  loops.push_back(IteratorType::reduction);
  auto body = [](OpBuilder &b, Location loc, ValueRange x) {
    Type f32 = b.getF32Type();
    Value left = arith::ExtFOp::create(b, loc, f32, x[0]);
    Value right = arith::ExtFOp::create(b, loc, f32, x[1]);
    Value product = arith::MulFOp::create(b, loc, left, right);
    Value sum = arith::AddFOp::create(b, loc, x[2], product);
    linalg::YieldOp::create(b, loc, sum);
  };
  return linalg::GenericOp::create(b, loc, TypeRange{start.getType()},
                                   ValueRange{op.getA(), op.getB()},
                                   ValueRange{start}, maps, loops, body)
      ->getResult(0);
}

FailureOr<SmallVector<Value>> GemmOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  auto d = dyn_cast<RankedTensorType>(getOuts()[0].getType());
  if (!d)
    return failure();
  int64_t rank = d.getRank();
  SmallVector<Value> inputs = {sums(*this, b)};
  llvm::append_range(inputs, getExtras());
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    bool row = cast<ShapedType>(input.getType()).getRank() == 1;
    maps.push_back(row ? AffineMap::get(rank, 0, b.getAffineDimExpr(rank - 1))
                       : b.getMultiDimIdentityMap(rank));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<IteratorType> loops(rank, IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange x) {
    Block &epilogue = getEpilogue().front();
    IRMapping mapping;
    mapping.map(epilogue.getArguments(), x.drop_back());
    for (Operation &inner : epilogue.without_terminator())
      b.clone(inner, mapping);
    Value result = epilogue.getTerminator()->getOperand(0);
    linalg::YieldOp::create(b, loc, mapping.lookupOrDefault(result));
  };
  auto map = linalg::GenericOp::create(b, loc, TypeRange{d}, inputs, getOuts(),
                                       maps, loops, body);
  return SmallVector<Value>{map->getResult(0)};
}
