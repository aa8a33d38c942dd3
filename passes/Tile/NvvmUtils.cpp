//===- NvvmUtils.cpp - What the conversion to NVVM is written with -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvvmUtils.h"

using namespace mlir;
using namespace rudnn::tile;

Value Nvvm::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}
Value Nvvm::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}
Value Nvvm::f32(float value) {
  return arith::ConstantFloatOp::create(b, loc, b.getF32Type(), APFloat(value));
}
Value Nvvm::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}

static Value constantLike(Nvvm &nvvm, Value x, int64_t value) {
  return x.getType().isInteger(64) ? nvvm.i64(value) : nvvm.i32(value);
}
Value Nvvm::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, constantLike(*this, x, y));
}
Value Nvvm::mul(Value x, int64_t y) {
  return y == 1 ? x
                : arith::MulIOp::create(b, loc, x, constantLike(*this, x, y))
                      .getResult();
}
Value Nvvm::andi(Value x, int64_t y) {
  return arith::AndIOp::create(b, loc, x, constantLike(*this, x, y));
}
Value Nvvm::shr(Value x, int64_t y) {
  return y == 0 ? x
                : arith::ShRUIOp::create(b, loc, x, constantLike(*this, x, y))
                      .getResult();
}
Value Nvvm::shl(Value x, int64_t y) {
  return y == 0 ? x
                : arith::ShLIOp::create(b, loc, x, constantLike(*this, x, y))
                      .getResult();
}
Value Nvvm::equal(Value x, int64_t y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x,
                               constantLike(*this, x, y));
}
Value Nvvm::toI32(Value index) {
  if (index.getType().isInteger(32))
    return index;
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}
Value Nvvm::zext64(Value x) {
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), x);
}
Value Nvvm::bitcast(Value x, Type type) {
  if (x.getType() == type)
    return x;
  return LLVM::BitcastOp::create(b, loc, type, x);
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

Value Nvvm::tid() { return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()); }
Value Nvvm::lane() { return andi(tid(), 31); }
Value Nvvm::warpInGroup() { return andi(shr(tid(), 5), 3); }
Value Nvvm::firstOfGroup() { return equal(andi(tid(), kGroupThreads - 1), 0); }
Value Nvvm::uniform(Value x) {
  return NVVM::ReduxOp::create(b, loc, b.getI32Type(), x, NVVM::ReduxKind::OR,
                               i32(-1));
}

/// Sum over the set bits of `value` of their basis entries: runs of bits that
/// double together are moved with one shift.
static Value bitsToCoord(Nvvm &nvvm, Value value, ArrayRef<Layout::Basis> bases,
                         unsigned dim, Value sum) {
  for (unsigned i = 0; i < bases.size();) {
    int64_t weight = bases[i][dim];
    if (weight == 0) {
      ++i;
      continue;
    }
    unsigned end = i + 1;
    while (end < bases.size() && bases[end][dim] == weight << (end - i))
      ++end;
    bool all = end == bases.size();
    Value bits = nvvm.shr(value, i);
    if (!all)
      bits = nvvm.andi(bits, (int64_t(1) << (end - i)) - 1);
    bits = nvvm.mul(bits, weight);
    sum = sum ? nvvm.add(sum, bits) : bits;
    i = end;
  }
  return sum;
}

Value Nvvm::warpCoord(const Layout &layout, unsigned dim) {
  if (!layout.warpBits())
    return {};
  Value warp = andi(shr(tid(), 5), (int64_t(1) << layout.warpBits()) - 1);
  return bitsToCoord(*this, warp, layout.warpBases(), dim, {});
}

Value Nvvm::threadCoord(const Layout &layout, unsigned dim) {
  Value coord = bitsToCoord(*this, lane(), layout.laneBases(), dim,
                            warpCoord(layout, dim));
  return coord ? coord : i32(0);
}

//===----------------------------------------------------------------------===//
// Memory and barriers
//===----------------------------------------------------------------------===//

Value Nvvm::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
}
Value Nvvm::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
Value Nvvm::barrier(Value ring, RingType type, Barrier which, Value slot) {
  Value first = offset(ring, which == Barrier::Full ? 0 : 8 * type.getStages());
  return type.getStages() == 1 ? first : offset(first, mul(toI32(slot), 8));
}
void Nvvm::namedBarrier(Value id, int64_t threads) {
  NVVM::BarrierOp::create(b, loc, Type(), id, i32(threads), {}, Value());
}
void Nvvm::namedArrive(Value id, int64_t threads) {
  NVVM::BarrierArriveOp::create(b, loc, id, i32(threads));
}

//===----------------------------------------------------------------------===//
// Assembly and arithmetic
//===----------------------------------------------------------------------===//

SmallVector<Value> Nvvm::assembly(StringRef text, StringRef constraints,
                                  ValueRange operands, TypeRange results,
                                  bool sideEffects) {
  MLIRContext *context = b.getContext();
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(context, llvm::to_vector(results));
  auto op = LLVM::InlineAsmOp::create(
      b, loc, type ? TypeRange(type) : TypeRange(), operands, text, constraints,
      sideEffects, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  if (results.size() <= 1)
    return SmallVector<Value>(op->getResults());
  SmallVector<Value> values;
  for (int64_t i = 0, n = results.size(); i < n; ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, loc, op->getResult(0), i));
  return values;
}

Value Nvvm::intrinsic(StringRef name, ValueRange operands, Type result) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                       operands)
      ->getResult(0);
}

Value Nvvm::shuffleXor(Value x, int64_t mask) {
  return NVVM::ShflOp::create(b, loc, x.getType(), i32(-1), x, i32(mask),
                              i32(31), NVVM::ShflKind::bfly, UnitAttr());
}

Value Nvvm::combine(Combine kind, Value x, Value y) {
  if (kind == Combine::Max)
    return arith::MaxNumFOp::create(b, loc, x, y);
  return arith::AddFOp::create(b, loc, x, y, arith::FastMathFlags::contract);
}

Value Nvvm::combine(Combine kind, ArrayRef<Value> values) {
  SmallVector<Value> chains(values.take_front(4));
  for (size_t i = chains.size(); i < values.size(); ++i)
    chains[i % 4] = combine(kind, chains[i % 4], values[i]);
  while (chains.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < chains.size(); i += 2)
      next.push_back(combine(kind, chains[i], chains[i + 1]));
    if (chains.size() % 2)
      next.push_back(chains.back());
    chains = next;
  }
  return chains.front();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type rudnn::tile::registerType(FragmentType type) {
  if (type.isPacked())
    return VectorType::get({2}, type.getElementType());
  return type.getElementType();
}

TileTypeConverter::TileTypeConverter(MLIRContext *context) {
  addConversion([](Type type) { return type; });
  addConversion([](FragmentType type, SmallVectorImpl<Type> &results) {
    results.append(type.getNumRegs() / (type.isPacked() ? 2 : 1),
                   registerType(type));
    return success();
  });
  addConversion(
      [=](RingType) { return LLVM::LLVMPointerType::get(context, 3); });
  addConversion([=](TmaType) { return LLVM::LLVMPointerType::get(context); });
  addConversion([=](MemRefType type) -> std::optional<Type> {
    if (isSharedTile(type))
      return LLVM::LLVMPointerType::get(context, 3);
    if (isGlobalBuffer(type))
      return LLVM::LLVMPointerType::get(context, 1);
    return std::nullopt;
  });
  auto cast = [](OpBuilder &b, Type type, ValueRange inputs,
                 Location loc) -> Value {
    return UnrealizedConversionCastOp::create(b, loc, type, inputs)
        .getResult(0);
  };
  addSourceMaterialization(cast);
  addTargetMaterialization(cast);
}

SmallVector<Value> rudnn::tile::unpack(Nvvm &nvvm, ValueRange registers,
                                       FragmentType type) {
  if (!type.isPacked())
    return SmallVector<Value>(registers);
  SmallVector<Value> elements;
  for (Value pair : registers)
    for (int i = 0; i < 2; ++i)
      elements.push_back(
          LLVM::ExtractElementOp::create(nvvm.b, nvvm.loc, pair, nvvm.i32(i)));
  return elements;
}

SmallVector<Value> rudnn::tile::pack(Nvvm &nvvm, ValueRange elements,
                                     FragmentType type) {
  if (!type.isPacked())
    return SmallVector<Value>(elements);
  SmallVector<Value> registers;
  for (size_t i = 0; i < elements.size(); i += 2) {
    Value pair = LLVM::UndefOp::create(nvvm.b, nvvm.loc, registerType(type));
    for (int j = 0; j < 2; ++j)
      pair = LLVM::InsertElementOp::create(nvvm.b, nvvm.loc, pair,
                                           elements[i + j], nvvm.i32(j));
    registers.push_back(pair);
  }
  return registers;
}
