//===- KernelBuilder.cpp - What schedules are written with -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/KernelBuilder.h"

using namespace mlir;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

static constexpr arith::FastMathFlags kContract =
    arith::FastMathFlags::contract;

KernelOp KernelBuilder::begin(gpu::GPUModuleOp module, StringRef name,
                              ArrayRef<Type> arguments, int32_t threads) {
  resume = b.saveInsertionPoint();
  b.setInsertionPointToEnd(module.getBody());
  OperationState state(loc, KernelOp::getOperationName());
  kernel = KernelOp::create(b, loc, name, b.getFunctionType(arguments, {}),
                            StringAttr(), ArrayAttr(), ArrayAttr(), threads,
                            IntegerAttr(), IntegerAttr(), IntegerAttr());
  Block *body = b.createBlock(&kernel.getBody());
  for (Type type : arguments)
    body->addArgument(type, loc);
  b.setInsertionPointToStart(body);
  return kernel;
}

void KernelBuilder::end() {
  YieldOp::create(b, loc);
  b.restoreInsertionPoint(resume);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value KernelBuilder::constant(Value like, int64_t value) {
  if (like.getType().isIndex())
    return index(value);
  return arith::ConstantIntOp::create(b, loc, like.getType(), value);
}
Value KernelBuilder::f32(float value) {
  return arith::ConstantFloatOp::create(b, loc, b.getF32Type(), APFloat(value));
}
Value KernelBuilder::i64(Value index) {
  return arith::IndexCastUIOp::create(b, loc, b.getI64Type(), index);
}
Value KernelBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value KernelBuilder::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value KernelBuilder::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}
Value KernelBuilder::div(Value x, Value y) {
  return arith::DivUIOp::create(b, loc, x, y);
}
Value KernelBuilder::rem(Value x, Value y) {
  return arith::RemUIOp::create(b, loc, x, y);
}
Value KernelBuilder::min(Value x, Value y) {
  return arith::MinSIOp::create(b, loc, x, y);
}
Value KernelBuilder::max(Value x, Value y) {
  return arith::MaxSIOp::create(b, loc, x, y);
}
Value KernelBuilder::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}
Value KernelBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value KernelBuilder::loadIndex(Value buffer, Value at) {
  Value element = memref::LoadOp::create(b, loc, buffer, at);
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), element);
}
Value KernelBuilder::blockId() {
  return gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
}
Value KernelBuilder::gridSize() {
  return gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
}

Value KernelBuilder::addf(Value x, Value y) {
  return arith::AddFOp::create(b, loc, x, y, kContract);
}
Value KernelBuilder::subf(Value x, Value y) {
  return arith::SubFOp::create(b, loc, x, y, kContract);
}
Value KernelBuilder::mulf(Value x, Value y) {
  return arith::MulFOp::create(b, loc, x, y, kContract);
}
Value KernelBuilder::divf(Value x, Value y) {
  return arith::DivFOp::create(b, loc, x, y, kContract);
}
Value KernelBuilder::fma(Value x, Value y, Value z) {
  return math::FmaOp::create(b, loc, x, y, z);
}
Value KernelBuilder::maxf(Value x, Value y) {
  return arith::MaxNumFOp::create(b, loc, x, y);
}
Value KernelBuilder::exp2(Value x) { return math::Exp2Op::create(b, loc, x); }
Value KernelBuilder::log2(Value x) { return math::Log2Op::create(b, loc, x); }

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Values KernelBuilder::loop(Value from, Value to, Value step, ValueRange init,
                           function_ref<Values(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(b, loc, from, to, step, init,
                         [&](OpBuilder &, Location, Value iv, ValueRange args) {
                           OpBuilder::InsertionGuard guard(b);
                           b.setInsertionPointToEnd(iv.getParentBlock());
                           Values results = body(iv, args);
                           scf::YieldOp::create(b, loc, results);
                         });
  return Values(loop.getResults());
}

void KernelBuilder::branch(Value condition, function_ref<void()> then,
                           function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }
}

Value KernelBuilder::replaceIf(Value condition, Value value,
                               function_ref<Value()> then) {
  auto branch = scf::IfOp::create(b, loc, value.getType(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, then());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, value);
  return branch.getResult(0);
}

void KernelBuilder::singleThread(function_ref<void()> body) {
  auto op = SingleThreadOp::create(b, loc);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op.getBody());
  body();
  YieldOp::create(b, loc);
}

void KernelBuilder::warpGroups(ArrayRef<Role> roles) {
  SmallVector<Attribute> names;
  SmallVector<int32_t> groups, registers;
  for (const Role &role : roles) {
    names.push_back(b.getStringAttr(role.name));
    groups.push_back(role.groups);
    registers.push_back(role.registers);
  }
  auto op = WarpGroupsOp::create(
      b, loc, b.getArrayAttr(names), b.getDenseI32ArrayAttr(groups),
      b.getDenseI32ArrayAttr(registers), roles.size());
  for (auto [i, role] : llvm::enumerate(roles)) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&op.getRoles()[i]);
    role.body(block->addArgument(b.getIndexType(), loc));
    YieldOp::create(b, loc);
  }
}

//===----------------------------------------------------------------------===//
// Shared memory and rings
//===----------------------------------------------------------------------===//

MemRefType KernelBuilder::tileType(ArrayRef<int64_t> shape, Type element,
                                   unsigned swizzle) {
  return MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                         SharedAttr::get(b.getContext(), swizzle));
}
Value KernelBuilder::alloc(MemRefType type, Value over) {
  return AllocOp::create(b, loc, type, over, IntegerAttr());
}
Value KernelBuilder::ring(unsigned stages, unsigned consumers) {
  return RingOp::create(
      b, loc, RingType::get(b.getContext(), stages, consumers), IntegerAttr());
}

static Value subview(OpBuilder &b, Location loc, Value tile,
                     ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(tile.getType());
  SmallVector<OpFoldResult> extents, ones;
  for (int64_t size : sizes) {
    extents.push_back(b.getIndexAttr(size));
    ones.push_back(b.getIndexAttr(1));
  }
  auto result = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, extents, ones);
  return memref::SubViewOp::create(b, loc, cast<MemRefType>(result), tile,
                                   offsets, extents, ones);
}

Value KernelBuilder::stage(Value tile, Value slot) {
  ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
  offsets[0] = slot;
  SmallVector<int64_t> sizes(shape);
  sizes[0] = 1;
  return subview(b, loc, tile, offsets, sizes, shape.drop_front());
}

Value KernelBuilder::rows(Value tile, Value row, int64_t rows) {
  ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
  offsets[shape.size() - 2] = row;
  SmallVector<int64_t> sizes(shape);
  sizes[shape.size() - 2] = rows;
  return subview(b, loc, tile, offsets, sizes, sizes);
}

Value KernelBuilder::slot(Value ring, Value it) {
  return RingSlotOp::create(b, loc, ring, it);
}
void KernelBuilder::acquire(Value ring, Value it) {
  RingAcquireOp::create(b, loc, ring, it);
}
void KernelBuilder::commit(Value ring, Value it) {
  RingCommitOp::create(b, loc, ring, it);
}
void KernelBuilder::wait(Value ring, Value it) {
  RingWaitOp::create(b, loc, ring, it);
}
void KernelBuilder::release(Value ring, Value it) {
  RingReleaseOp::create(b, loc, ring, it);
}
void KernelBuilder::tmaLoad(Value source, ValueRange coords, Value tile,
                            Value ring, Value it) {
  TmaLoadOp::create(b, loc, source, coords, tile, ring, it);
}
void KernelBuilder::tmaStore(Value tile, Value dest, ValueRange coords) {
  TmaStoreOp::create(b, loc, tile, dest, coords);
}

//===----------------------------------------------------------------------===//
// Copies and products of sm_80
//===----------------------------------------------------------------------===//

void KernelBuilder::copyAsync(Value source, Value offset, Value leading,
                              ValueRange bounds, Value tile, int64_t columns) {
  CopyAsyncOp::create(b, loc, source, offset, leading, bounds, tile,
                      b.getI64IntegerAttr(columns));
}
void KernelBuilder::copyAsyncCommit() { CopyAsyncCommitOp::create(b, loc); }
void KernelBuilder::copyAsyncWait(int32_t pending) {
  CopyAsyncWaitOp::create(b, loc, pending);
}
void KernelBuilder::blockBarrier() { BlockBarrierOp::create(b, loc); }
Value KernelBuilder::loadMatrix(Value tile, int64_t row, int64_t column,
                                const Layout &layout, bool transpose) {
  Type element = cast<MemRefType>(tile.getType()).getElementType();
  return LoadMatrixOp::create(b, loc, fragment(layout, element), tile,
                              ArrayRef<int64_t>{row, column}, transpose);
}
Value KernelBuilder::mma(Value a, Value b2, Value acc) {
  return MmaOp::create(b, loc, acc.getType(), a, b2, acc);
}

//===----------------------------------------------------------------------===//
// Matrix products and fragments
//===----------------------------------------------------------------------===//

Value KernelBuilder::wgmma(Value a, Value bTile, Value acc, bool transposeB) {
  ArrayRef<int64_t> shape = cast<MemRefType>(bTile.getType()).getShape();
  int64_t n = transposeB ? shape.back() * (shape.size() == 3 ? shape[0] : 1)
                         : shape[shape.size() - 2];
  return WgmmaOp::create(b, loc, fragment(Layout::accumulator(64, n)), a, bTile,
                         acc, transposeB);
}

Values KernelBuilder::wgmmaWait(int32_t pending, ValueRange values,
                                ValueRange keep) {
  auto op =
      WgmmaWaitOp::create(b, loc, values.getTypes(), pending, values, keep);
  return Values(op.getResults());
}

FragmentType KernelBuilder::fragment(const Layout &layout, Type element) {
  return FragmentType::get(layout, element ? element : b.getF32Type());
}

Value KernelBuilder::splat(FragmentType type, Value scalar) {
  return SplatOp::create(b, loc, type, scalar);
}

Values KernelBuilder::map(ValueRange inputs, Body body,
                          ArrayRef<Type> results) {
  Layout layout = cast<FragmentType>(inputs[0].getType()).getLayout();
  SmallVector<Type> elements(results);
  if (elements.empty())
    elements.push_back(b.getF32Type());
  SmallVector<Type> types;
  for (Type element : elements)
    types.push_back(FragmentType::get(layout, element));
  auto op = MapOp::create(b, loc, types, inputs);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getBody());
  for (Value input : inputs)
    block->addArgument(cast<FragmentType>(input.getType()).getElementType(),
                       loc);
  YieldOp::create(b, loc, body(block->getArguments()));
  return Values(op.getResults());
}

Value KernelBuilder::map1(ValueRange inputs,
                          function_ref<Value(ValueRange)> body) {
  return map(inputs, [&](ValueRange args) { return Values{body(args)}; })
      .front();
}

Value KernelBuilder::reduce(Combine kind, Value input, unsigned dim,
                            bool partial) {
  auto type = cast<FragmentType>(input.getType());
  Layout layout = type.getLayout();
  return ReduceOp::create(
      b, loc, fragment(partial ? layout.partial(dim) : layout.slice(dim)), kind,
      input, dim);
}

Value KernelBuilder::broadcast(Value input, FragmentType type, unsigned dim) {
  return BroadcastOp::create(b, loc, type, input, dim);
}

Value KernelBuilder::any(Value input) { return AnyOp::create(b, loc, input); }
Value KernelBuilder::convert(Value input, Type element) {
  auto type = cast<FragmentType>(input.getType());
  if (type.getElementType() == element)
    return input;
  return ConvertOp::create(b, loc, FragmentType::get(type.getLayout(), element),
                           input);
}

Value KernelBuilder::columns(Value input, int64_t offset, int64_t size) {
  auto type = cast<FragmentType>(input.getType());
  return ColumnsOp::create(
      b, loc,
      FragmentType::get(*type.getLayout().columns(size), type.getElementType()),
      input, offset);
}
