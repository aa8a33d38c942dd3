//===- TileOps.cpp - Verifiers of the data ops of the kernel dialect -*- C++
//-*-===//
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
#include "rudnn/TileOps.cpp.inc"

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

void YieldOp::build(OpBuilder &, OperationState &) {}

//===----------------------------------------------------------------------===//
// Shared memory and copies
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  MemRefType type = getTile().getType();
  if (!type.getLayout().isIdentity())
    return emitOpError("the tile must be dense, got ") << type;
  unsigned swizzle = getSwizzle(type);
  if (swizzle) {
    int64_t row = type.getShape().back() * type.getElementTypeBitWidth() / 8;
    if (row != swizzle)
      return emitOpError("a row of the tile has ")
             << row << " bytes, expected the swizzle of " << swizzle;
  }
  if (Value over = getOver())
    if (getBytes(cast<MemRefType>(over.getType())) < getBytes(type))
      return emitOpError("the tile needs ")
             << getBytes(type) << " bytes, `over` has "
             << getBytes(cast<MemRefType>(over.getType()));
  return success();
}

/// A TMA copy's tile: the box, or one box per panel.
static LogicalResult verifyTma(Operation *op, TmaType tma, MemRefType tile,
                               size_t numCoords) {
  ArrayRef<int64_t> box = tma.getBox(), shape = tile.getShape();
  if (numCoords != box.size())
    return op->emitOpError("has ")
           << numCoords << " coordinates, expected " << box.size();
  if (tma.getElementType() != tile.getElementType())
    return op->emitOpError("copies ")
           << tma.getElementType() << ", the tile has "
           << tile.getElementType();
  if (tma.getSwizzle() != getSwizzle(tile))
    return op->emitOpError("descriptor has swizzle ")
           << tma.getSwizzle() << ", the tile " << getSwizzle(tile);
  // Leading unit extents of the box don't show in the tile.
  while (box.size() > 2 && box.front() == 1)
    box = box.drop_front();
  if (shape.size() == box.size() + 1)
    shape = shape.drop_front();
  if (shape != box)
    return op->emitOpError("tile ") << tile << " is not one box of " << tma
                                    << " or a row of such panels";
  return success();
}

LogicalResult TmaLoadOp::verify() {
  return verifyTma(*this, getSource().getType(), getTile().getType(),
                   getCoords().size());
}

LogicalResult TmaStoreOp::verify() {
  return verifyTma(*this, getDest().getType(), getTile().getType(),
                   getCoords().size());
}

static LogicalResult verifyGlobal(Operation *op, FragmentType fragment,
                                  MemRefType buffer, ArrayRef<int64_t> strides,
                                  bool leading, size_t bounds) {
  unsigned rank = fragment.getShape().size();
  if (fragment.getElementType() != buffer.getElementType())
    return op->emitOpError("fragment has ")
           << fragment.getElementType() << ", the buffer "
           << buffer.getElementType();
  if (strides.size() != rank)
    return op->emitOpError("has ")
           << strides.size() << " strides, expected " << rank;
  if (leading != ShapedType::isDynamic(strides[0]))
    return op->emitOpError("`leading` is given exactly when strides[0] is ")
           << ShapedType::kDynamic;
  if (llvm::any_of(strides.drop_front(), ShapedType::isDynamic))
    return op->emitOpError("only strides[0] may be dynamic");
  if (bounds != 0 && bounds != rank)
    return op->emitOpError("has ") << bounds << " bounds, expected " << rank;
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyGlobal(*this, cast<FragmentType>(getResult().getType()),
                      getSource().getType(), getStrides(), !!getLeading(),
                      getBounds().size());
}

LogicalResult StoreOp::verify() {
  return verifyGlobal(*this, cast<FragmentType>(getValue().getType()),
                      getDest().getType(), getStrides(), !!getLeading(),
                      getBounds().size());
}

LogicalResult StoreSharedOp::verify() {
  FragmentType fragment = cast<FragmentType>(getValue().getType());
  MemRefType tile = getTile().getType();
  ArrayRef<int64_t> shape = tile.getShape();
  if (fragment.getElementType() != tile.getElementType())
    return emitOpError("fragment has ")
           << fragment.getElementType() << ", the tile "
           << tile.getElementType();
  int64_t panels = shape.size() == 3 ? shape[0] : 1;
  if (fragment.getShape().size() != 2 || shape.size() < 2 || shape.size() > 3 ||
      shape[shape.size() - 2] != fragment.getShape()[0] ||
      panels * shape.back() != fragment.getShape()[1])
    return emitOpError("tile ")
           << tile << " does not hold " << fragment << " in panels";
  if (fragment.getLayout().name() != "acc" ||
      !isHalf(fragment.getElementType()) || fragment.getShape()[1] % 16 != 0 ||
      getSwizzle(tile) != 128)
    return emitOpError("supports f16 and bf16 in layout acc with columns a "
                       "multiple of 16 and a tile with swizzle 128, got ")
           << fragment << " and " << tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Extents of a tile of panels: rows and columns.
static std::optional<std::pair<int64_t, int64_t>> panelShape(MemRefType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() == 2)
    return std::pair(shape[0], shape[1]);
  if (shape.size() == 3)
    return std::pair(shape[1], shape[0] * shape[2]);
  return std::nullopt;
}

LogicalResult WgmmaOp::verify() {
  MemRefType b = getB().getType();
  Type element = b.getElementType();
  auto bShape = panelShape(b);
  if (!isHalf(element) || getSwizzle(b) != 128 || !bShape)
    return emitOpError("b must be f16 or bf16 panels with swizzle 128, got ")
           << b;
  auto [n, k] = *bShape;
  if (getTransposeB())
    std::swap(n, k);
  if (n % 8 != 0 || n < 8 || n > 256)
    return emitOpError("N is ") << n << ", expected a multiple of 8 up to 256";
  int64_t m, aK;
  if (auto a = dyn_cast<FragmentType>(getA().getType())) {
    m = a.getShape()[0];
    aK = a.getShape().size() == 2 ? a.getShape()[1] : 0;
    if (a.getElementType() != element || aK % 16 != 0 || aK == 0 || m != 64 ||
        a.getLayout() != Layout::accumulator(64, aK))
      return emitOpError("register operand a must be 64 x K of ")
             << element << " in layout acc, got " << a;
  } else {
    auto aType = cast<MemRefType>(getA().getType());
    auto aShape = panelShape(aType);
    if (aType.getElementType() != element || getSwizzle(aType) != 128 ||
        !aShape)
      return emitOpError("a must be panels of ")
             << element << " with swizzle 128, got " << aType;
    std::tie(m, aK) = *aShape;
  }
  if (m != 64)
    return emitOpError("a has ") << m << " rows, expected 64";
  if (aK != k || k % 16 != 0)
    return emitOpError("K of a is ")
           << aK << " and of b " << k << ", expected equal multiples of 16";
  Type f32 = Float32Type::get(getContext());
  if (getResult().getType() !=
      FragmentType::get(Layout::accumulator(64, n), f32))
    return emitOpError("result must be 64x")
           << n << "xf32 in layout acc, got " << getResult().getType();
  if (getAcc() && getAcc().getType() != getResult().getType())
    return emitOpError("acc has type ")
           << getAcc().getType() << ", expected " << getResult().getType();
  // In flight until a wait: anything else would read half-made sums.
  for (OpOperand &use : getResult().getUses()) {
    Operation *user = use.getOwner();
    bool isAcc = isa<WgmmaOp>(user) &&
                 cast<WgmmaOp>(user).getAcc() == getResult() &&
                 cast<WgmmaOp>(user).getA() != getResult();
    bool isWait = false;
    if (auto wait = dyn_cast<WgmmaWaitOp>(user))
      isWait = llvm::is_contained(wait.getValues(), getResult());
    if (!isAcc && !isWait && !isa<scf::YieldOp, scf::ForOp>(user))
      return emitOpError("the product is in flight, but '")
             << user->getName() << "' reads it without rudnn_tile.wgmma_wait";
  }
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  if (getPending() > 7)
    return emitOpError("pending is ") << getPending() << ", expected 0 to 7";
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

static FragmentType fragmentOf(Value value) {
  return cast<FragmentType>(value.getType());
}

LogicalResult AnyOp::verify() {
  if (!fragmentOf(getInput()).getElementType().isInteger(1))
    return emitOpError("votes on elements of type i1, got ")
           << getInput().getType();
  return success();
}

LogicalResult SplatOp::verify() {
  Type element = fragmentOf(getResult()).getElementType();
  if (element != getValue().getType())
    return emitOpError("value has type ")
           << getValue().getType() << ", the fragment's elements " << element;
  return success();
}

LogicalResult MapOp::verify() {
  Block &block = getBody().front();
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return emitOpError("the region must end with rudnn_tile.yield");
  if (block.getNumArguments() != getInputs().size() ||
      yield.getValues().size() != getResults().size())
    return emitOpError("the region has ")
           << block.getNumArguments() << " arguments and "
           << yield.getValues().size() << " results, expected "
           << getInputs().size() << " and " << getResults().size();
  if (getResults().empty())
    return emitOpError("has no result");
  LayoutAttr layout = fragmentOf(getResults()[0]).getLayoutAttr();
  auto check = [&](Type type, Type scalar, const char *what,
                   unsigned i) -> LogicalResult {
    auto fragment = cast<FragmentType>(type);
    if (fragment.getLayoutAttr() != layout)
      return emitOpError(what)
             << " " << i << " has layout " << fragment.getLayoutAttr()
             << ", expected " << layout;
    if (fragment.getElementType() != scalar)
      return emitOpError(what)
             << " " << i << " has elements of " << fragment.getElementType()
             << ", its scalar has type " << scalar;
    if (isHalf(fragment.getElementType()))
      return emitOpError(what)
             << " " << i << " is 16 bits wide: convert it first";
    return success();
  };
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(getInputs(), block.getArguments())))
    if (failed(check(std::get<0>(pair).getType(), std::get<1>(pair).getType(),
                     "operand", i)))
      return failure();
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(getResults(), yield.getValues())))
    if (failed(check(std::get<0>(pair).getType(), std::get<1>(pair).getType(),
                     "result", i)))
      return failure();
  return success();
}

/// The two forms that lose a dim: without it, or with what threads hold of it.
static LogicalResult verifySlice(Operation *op, FragmentType full,
                                 FragmentType slice, int64_t dim) {
  if (dim < 0 || dim >= int64_t(full.getShape().size()))
    return op->emitOpError("dim is ")
           << dim << ", expected less than the rank " << full.getShape().size();
  Layout layout = full.getLayout();
  if (full.getElementType() != slice.getElementType())
    return op->emitOpError("changes the element type from ")
           << full.getElementType() << " to " << slice.getElementType();
  if (slice.getLayout() != layout.slice(dim) &&
      slice.getLayout() != layout.partial(dim))
    return op->emitOpError("layout ")
           << slice.getLayoutAttr() << " is not the slice "
           << LayoutAttr::get(op->getContext(), layout.slice(dim))
           << " or the partial "
           << LayoutAttr::get(op->getContext(), layout.partial(dim)) << " of "
           << full;
  return success();
}

LogicalResult ReduceOp::verify() {
  FragmentType input = fragmentOf(getInput());
  if (failed(verifySlice(*this, input, fragmentOf(getResult()), getDim())))
    return failure();
  if (!input.getElementType().isF32())
    return emitOpError("input has elements of ")
           << input.getElementType() << ", expected f32";
  Layout layout = input.getLayout();
  for (const Layout::Basis &basis : layout.warpBases())
    if (basis[getDim()])
      return emitOpError("dim ") << getDim() << " is spread over warps";
  return success();
}

LogicalResult BlockReduceOp::verify() {
  MemRefType scratch = getScratch().getType();
  if (scratch.getRank() != 1 || !scratch.getElementType().isF32() ||
      getSwizzle(scratch))
    return emitOpError(
               "scratch must be memref<Wxf32, #rudnn_tile.shared>, got ")
           << scratch;
  return success();
}

LogicalResult BlockMomentsOp::verify() {
  FragmentType input = fragmentOf(getInput());
  if (!input.getElementType().isF32())
    return emitOpError("input has elements of ")
           << input.getElementType() << ", expected f32";
  Layout layout = input.getLayout();
  auto isZero = [](const Layout::Basis &basis) {
    return llvm::all_of(basis, [](int64_t x) { return x == 0; });
  };
  if (llvm::any_of(layout.laneBases(), isZero) ||
      llvm::any_of(layout.warpBases(), isZero))
    return emitOpError("several threads hold the same element of the input");
  MemRefType scratch = getScratch().getType();
  int64_t floats = int64_t(2) << layout.warpBits();
  if (scratch.getRank() != 1 || scratch.getDimSize(0) != floats ||
      !scratch.getElementType().isF32() || getSwizzle(scratch))
    return emitOpError("scratch must be memref<")
           << floats << "xf32, #rudnn_tile.shared>, got " << scratch;
  return success();
}

LogicalResult BroadcastOp::verify() {
  return verifySlice(*this, fragmentOf(getResult()), fragmentOf(getInput()),
                     getDim());
}

LogicalResult IotaOp::verify() {
  FragmentType type = fragmentOf(getResult());
  if (!type.getElementType().isInteger(32))
    return emitOpError("result has elements of ")
           << type.getElementType() << ", expected i32";
  if (getCoefficients().size() != type.getShape().size())
    return emitOpError("has ")
           << getCoefficients().size() << " coefficients, expected "
           << type.getShape().size();
  return success();
}

LogicalResult ConvertOp::verify() {
  FragmentType from = fragmentOf(getInput()), to = fragmentOf(getResult());
  if (from.getLayoutAttr() != to.getLayoutAttr())
    return emitOpError("changes the layout from ")
           << from.getLayoutAttr() << " to " << to.getLayoutAttr();
  bool narrow = from.getElementType().isF32() && isHalf(to.getElementType());
  bool widen = to.getElementType().isF32() && isHalf(from.getElementType());
  if (!narrow && !widen)
    return emitOpError("converts ")
           << from.getElementType() << " to " << to.getElementType()
           << ", expected f32 to or from f16 or bf16";
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  FragmentType from = fragmentOf(getInput()), to = fragmentOf(getResult());
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return emitOpError("changes more than the layout: ")
           << from << " to " << to;
  if (Layout::registerPermutation(from.getLayout(), to.getLayout()))
    return success();
  if (!getScratch() || !getGroup())
    return emitOpError(
        "elements change their threads: needs `scratch` and `group`");
  auto scratch = cast<MemRefType>(getScratch().getType());
  if (scratch.getShape() != from.getShape() || getSwizzle(scratch) ||
      scratch.getElementType() != from.getElementType())
    return emitOpError("scratch is ")
           << scratch << ", expected a plain tile of " << from;
  return success();
}

LogicalResult ColumnsOp::verify() {
  FragmentType from = fragmentOf(getInput()), to = fragmentOf(getResult());
  int64_t size = to.getShape().back();
  std::optional<Layout> layout = from.getLayout().columns(size);
  if (!layout || to != FragmentType::get(*layout, from.getElementType()))
    return emitOpError("result ")
           << to << " is not made of columns of " << from;
  if (getOffset() % size != 0 || getOffset() + size > from.getShape().back())
    return emitOpError("offset is ")
           << getOffset() << ", expected a multiple of " << size
           << " within the fragment";
  return success();
}
