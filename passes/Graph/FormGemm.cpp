//===- FormGemm.cpp - Matrix products and what follows them -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linalg contraction of two 16-bit operands becomes `rudnn_tile.gemm`. The
// elementwise ops that alone use its result, one after the other, become the
// gemm's epilogue: they compute in f32 on the sum, and only the last one
// rounds.
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"

#include "rudnn/Passes.h"
#include "rudnn/Tile/TileDialect.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNFORMGEMM
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

namespace {

constexpr llvm::StringLiteral kStrategy = "rudnn.strategy";
/// Operands of an epilogue beyond the sum: each costs registers.
constexpr unsigned kMostExtras = 4;

bool is16Bit(Type type) { return type.isF16() || type.isBF16(); }
bool isFloat(Type type) { return is16Bit(type) || type.isF32(); }
ShapedType shaped(Value value) { return cast<ShapedType>(value.getType()); }

/// The operands of a product as `rudnn_tile.gemm` takes them, but for leading
/// rows that are still several dims.
struct Product {
  Value a, b, init;
  bool transposeA, transposeB, batched;
};

/// The map takes exactly these loops, in this order.
bool takes(AffineMap map, ArrayRef<unsigned> loops) {
  return map.getNumResults() == loops.size() &&
         llvm::all_of(llvm::zip(map.getResults(), loops), [](auto pair) {
           auto dim = dyn_cast<AffineDimExpr>(std::get<0>(pair));
           return dim && dim.getPosition() == std::get<1>(pair);
         });
}

/// The 16-bit tensor of which `value` is the extension to f32, or `value`: the
/// products are the same.
Value withoutExtension(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    return is16Bit(shaped(extension.getIn()).getElementType())
               ? extension.getIn()
               : value;
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return value;
  Block &body = *op.getBlock();
  auto extension =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
  bool extends = extension && extension.getIn() == body.getArgument(0) &&
                 is16Bit(extension.getIn().getType()) &&
                 extension.getType().isF32();
  return extends ? op.getDpsInputs()[0] : value;
}

std::optional<Product> matchProduct(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || !isFloatContraction(op) ||
      !isFloat(shaped(op.getDpsInits()[0]).getElementType()))
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->k.size() != 1 || dims->batch.size() > 1)
    return std::nullopt;
  auto list = [](ArrayRef<unsigned> x, ArrayRef<unsigned> y,
                 ArrayRef<unsigned> z) {
    SmallVector<unsigned> all(x);
    llvm::append_range(all, y);
    llvm::append_range(all, z);
    return all;
  };
  // Rows of the result may come from either operand.
  for (unsigned left : {0u, 1u}) {
    ArrayRef<unsigned> m = left == 0 ? dims->m : dims->n;
    ArrayRef<unsigned> n = left == 0 ? dims->n : dims->m;
    ArrayRef<unsigned> batch = dims->batch, k = dims->k;
    if (m.empty() || n.size() != 1 || (m.size() > 1 && !batch.empty()))
      continue;
    OpOperand *a = op.getDpsInputOperand(left);
    OpOperand *b = op.getDpsInputOperand(1 - left);
    AffineMap aMap = op.getMatchingIndexingMap(a);
    AffineMap bMap = op.getMatchingIndexingMap(b);
    AffineMap dMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    bool transposeA = m.size() == 1 && takes(aMap, list(batch, k, m));
    bool transposeB = takes(bMap, list(batch, n, k));
    if (!takes(dMap, list(batch, m, n)) ||
        !(transposeA || takes(aMap, list(batch, m, k))) ||
        !(transposeB || takes(bMap, list(batch, k, n))))
      continue;
    Product product{withoutExtension(a->get()),
                    withoutExtension(b->get()),
                    op.getDpsInits()[0],
                    transposeA,
                    transposeB,
                    !batch.empty()};
    Type type = shaped(product.a).getElementType();
    if (is16Bit(type) && shaped(product.b).getElementType() == type)
      return product;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The region of a gemm while ops are taken into it.
class Epilogue {
public:
  Epilogue(MLIRContext *context, Location loc)
      : b(context), loc(loc), block(&region.emplaceBlock()) {
    value = block->addArgument(b.getF32Type(), loc);
    b.setInsertionPointToEnd(block);
  }

  /// Adds the tensor to the value.
  void add(Value tensor) {
    value = arith::AddFOp::create(b, loc, value, extra(tensor));
  }
  void add(double constant) {
    Value c =
        arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(constant)));
    value = arith::AddFOp::create(b, loc, value, c);
  }
  bool takes(linalg::LinalgOp op, Value tensor);
  void take(linalg::LinalgOp op, Value tensor);
  void finish(Type type);

  Region region;
  SmallVector<Value> extras;

private:
  Value extra(Value tensor);
  void clone(Operation &op, IRMapping &mapping);

  OpBuilder b;
  Location loc;
  Block *block;
  Value value;
};

/// What an operand of an elementwise op is to a gemm: the vector that is
/// broadcast to its rows, or the tensor itself when it is read in place.
Value rowOrFull(linalg::LinalgOp op, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned rank = op.getNumLoops();
  Value tensor = operand->get();
  if (!isa<RankedTensorType>(tensor.getType()) ||
      !isFloat(shaped(tensor).getElementType()))
    return {};
  if (takes(map, {rank - 1}))
    return tensor;
  if (!map.isIdentity())
    return {};
  auto broadcast = tensor.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast || shaped(broadcast.getInput()).getRank() != 1 ||
      llvm::is_contained(broadcast.getDimensions(), int64_t(rank) - 1))
    return tensor;
  return broadcast.getInput();
}

bool Epilogue::takes(linalg::LinalgOp op, Value tensor) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() || op->hasAttr(kStrategy))
    return false;
  OpOperand *init = op.getDpsInitOperand(0);
  Block &body = *op.getBlock();
  if (!op.getMatchingIndexingMap(init).isIdentity() ||
      !isFloat(shaped(init->get()).getElementType()) ||
      !op.getMatchingBlockArgument(init).use_empty() ||
      !isa<RankedTensorType>(init->get().getType()))
    return false;
  SmallVector<Value> more;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (operand->get() == tensor) {
      if (!op.getMatchingIndexingMap(operand).isIdentity())
        return false;
      continue;
    }
    Value source = rowOrFull(op, operand);
    if (!source)
      return false;
    if (!llvm::is_contained(extras, source) &&
        !llvm::is_contained(more, source))
      more.push_back(source);
  }
  if (extras.size() + more.size() > kMostExtras)
    return false;
  for (Operation &inner : body.without_terminator()) {
    if (!tile::isEpilogueOp(&inner))
      return false;
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != &body &&
          !matchPattern(operand, m_Constant()))
        return false;
  }
  Value result = body.getTerminator()->getOperand(0);
  return result.getParentBlock() == &body;
}

Value Epilogue::extra(Value tensor) {
  Type type = shaped(tensor).getElementType();
  auto *it = llvm::find(extras, tensor);
  unsigned number = 1 + (it - extras.begin());
  if (it == extras.end()) {
    extras.push_back(tensor);
    block->addArgument(type, loc);
  }
  Value argument = block->getArgument(number);
  return type.isF32() ? argument
                      : arith::ExtFOp::create(b, loc, b.getF32Type(), argument)
                            .getResult();
}

/// The op on f32: conversions between floats disappear.
void Epilogue::clone(Operation &op, IRMapping &mapping) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue())) {
      Value wide = arith::ConstantOp::create(
          b, loc, b.getF32FloatAttr(float(number.getValueAsDouble())));
      mapping.map(constant.getResult(), wide);
      return;
    }
  }
  for (Value operand : op.getOperands())
    if (!mapping.contains(operand)) // a constant from outside
      clone(*operand.getDefiningOp(), mapping);
  Operation *copy = b.clone(op, mapping);
  for (OpResult result : copy->getResults())
    if (is16Bit(result.getType()))
      result.setType(b.getF32Type());
}

void Epilogue::take(linalg::LinalgOp op, Value tensor) {
  IRMapping mapping;
  for (OpOperand *operand : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(operand),
                operand->get() == tensor ? value
                                         : extra(rowOrFull(op, operand)));
  for (Operation &inner : op.getBlock()->without_terminator())
    clone(inner, mapping);
  value = mapping.lookup(op.getBlock()->getTerminator()->getOperand(0));
}

void Epilogue::finish(Type type) {
  if (!type.isF32())
    value = arith::TruncFOp::create(b, loc, type, value);
  tile::YieldOp::create(b, loc, value);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The value that all elements of a tensor have, when it is known.
std::optional<double> splatOf(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.getInputs()[0];
  FloatAttr scalar;
  if (matchPattern(tensor, m_Constant(&scalar)))
    return scalar.getValueAsDouble();
  DenseFPElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>().convertToDouble();
  return std::nullopt;
}

/// A tensor to write a result of this type into, as large as `like`.
Value emptyLike(OpBuilder &b, Location loc, Value like, Type element) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, like),
                                 element);
}

/// Swaps the last two dims.
Value transposed(OpBuilder &b, Location loc, Value matrix) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, matrix);
  unsigned rank = sizes.size();
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  std::swap(sizes[rank - 1], sizes[rank - 2]);
  Value init =
      tensor::EmptyOp::create(b, loc, sizes, shaped(matrix).getElementType());
  return linalg::TransposeOp::create(b, loc, matrix, init, permutation)
      ->getResult(0);
}

/// All dims but the last as one.
SmallVector<ReassociationIndices> leadingDims(unsigned rank) {
  SmallVector<ReassociationIndices> groups(2);
  groups[0] = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  groups[1] = {int64_t(rank) - 1};
  return groups;
}

struct FormGemm : rudnn::impl::RudnnFormGemmBase<FormGemm> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> products;
    getOperation()->walk([&](linalg::LinalgOp op) {
      auto strategy = op->getAttrOfType<StringAttr>(kStrategy);
      if (!strategy || strategy.getValue() != "fallback")
        products.push_back(op);
    });
    // Later products first: of two that meet in one op, the later is followed
    // by it.
    for (linalg::LinalgOp op : llvm::reverse(products))
      if (!erased.contains(op))
        if (std::optional<Product> product = matchProduct(op))
          form(op, *product);
  }

private:
  void form(linalg::LinalgOp op, const Product &product);
  static bool hasOneUnknown(ShapedType type) {
    return llvm::count_if(type.getShape().drop_back(), ShapedType::isDynamic) <=
           1;
  }

  DenseSet<Operation *> erased;
};

} // namespace

void FormGemm::form(linalg::LinalgOp op, const Product &product) {
  Location loc = op.getLoc();
  unsigned rank = shaped(product.init).getRank();
  bool flatten = rank > 2 && !product.batched;
  // Undone by an expand_shape, which needs to know all extents but one.
  if (flatten && !hasOneUnknown(shaped(product.init)))
    return;
  Epilogue epilogue(&getContext(), loc);
  if (std::optional<double> start = splatOf(product.init)) {
    if (*start != 0)
      epilogue.add(*start);
  } else if (!product.init.getDefiningOp<tensor::EmptyOp>()) {
    epilogue.add(product.init);
  }
  // What alone uses the result follows it into the epilogue.
  linalg::LinalgOp last = op;
  SmallVector<linalg::LinalgOp> taken = {op};
  while (true) {
    Value result = last->getResult(0);
    auto users = llvm::to_vector(result.getUsers());
    auto user = users.empty() ? linalg::LinalgOp()
                              : dyn_cast<linalg::LinalgOp>(users.front());
    if (!user || user->getBlock() != op->getBlock() ||
        !llvm::all_of(users, [&](Operation *u) { return u == user; }) ||
        !epilogue.takes(user, result))
      break;
    epilogue.take(user, result);
    last = user;
    taken.push_back(user);
  }
  auto type = cast<RankedTensorType>(last->getResult(0).getType());
  epilogue.finish(type.getElementType());

  OpBuilder b(last);
  Value a = product.transposeA ? transposed(b, loc, product.a) : product.a;
  Value init = emptyLike(b, loc, product.init, type.getElementType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, init);
  SmallVector<Value> extras = epilogue.extras;
  if (flatten) {
    auto flat = [&](Value &value) {
      if (shaped(value).getRank() > 2)
        value =
            tensor::CollapseShapeOp::create(b, loc, value, leadingDims(rank));
    };
    flat(a), flat(init);
    llvm::for_each(extras, flat);
  }
  auto gemm =
      tile::GemmOp::create(b, loc, TypeRange{init.getType()}, a, product.b,
                           extras, ValueRange{init}, product.transposeB);
  gemm.getEpilogue().takeBody(epilogue.region);
  if (Attribute strategy = op->getAttr(kStrategy))
    gemm->setAttr(kStrategy, strategy);
  Value result = gemm.getResults()[0];
  if (flatten)
    result = tensor::ExpandShapeOp::create(b, loc, type, result,
                                           leadingDims(rank), sizes);
  last->getResult(0).replaceAllUsesWith(result);
  for (linalg::LinalgOp dead : llvm::reverse(taken)) {
    erased.insert(dead);
    dead->erase();
  }
}
