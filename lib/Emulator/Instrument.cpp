//===- Instrument.cpp - Checks in the host code of a kernel -----*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace rudnn::emulator;

static bool asmContains(const CallInst &call, StringRef what) {
  if (!call.isInlineAsm())
    return false;
  return cast<InlineAsm>(call.getCalledOperand())
             ->getAsmString()
             .find(what.str()) != std::string::npos;
}

bool rudnn::emulator::isWgmma(const CallInst &call) {
  return asmContains(call, "wgmma.mma_async");
}
bool rudnn::emulator::isWgmmaWait(const CallInst &call) {
  return asmContains(call, "wgmma.wait_group");
}

//===----------------------------------------------------------------------===//
// Memory accesses
//===----------------------------------------------------------------------===//

namespace {

class MemoryChecks {
public:
  explicit MemoryChecks(Module &module)
      : layout(module.getDataLayout()), builder(module.getContext()),
        callee(module.getOrInsertFunction(
            "rudnnEmuCheck", builder.getVoidTy(), builder.getPtrTy(),
            builder.getInt64Ty(), builder.getInt32Ty())) {}

  void run(Function &f) {
    SmallVector<Instruction *> accesses;
    for (Instruction &inst : instructions(f))
      if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst,
              MemIntrinsic>(inst))
        accesses.push_back(&inst);
    for (Instruction *inst : accesses)
      visit(*inst);
  }

private:
  void visit(Instruction &inst) {
    builder.SetInsertPoint(&inst);
    if (auto *load = dyn_cast<LoadInst>(&inst))
      check(load->getPointerOperand(), load->getType(), false,
            load->isVolatile() || load->isAtomic());
    else if (auto *store = dyn_cast<StoreInst>(&inst))
      check(store->getPointerOperand(), store->getValueOperand()->getType(),
            true, false);
    else if (auto *rmw = dyn_cast<AtomicRMWInst>(&inst))
      check(rmw->getPointerOperand(), rmw->getType(), true, true);
    else if (auto *cas = dyn_cast<AtomicCmpXchgInst>(&inst))
      check(cas->getPointerOperand(), cas->getNewValOperand()->getType(), true,
            true);
    else if (auto *mem = dyn_cast<MemIntrinsic>(&inst)) {
      emit(mem->getRawDest(), mem->getLength(), true, false);
      if (auto *copy = dyn_cast<MemTransferInst>(mem))
        emit(copy->getRawSource(), mem->getLength(), false, false);
    }
  }

  void check(Value *pointer, Type *type, bool write, bool polls) {
    if (isa<AllocaInst>(getUnderlyingObject(pointer)))
      return;
    emit(pointer, builder.getInt64(layout.getTypeStoreSize(type)), write,
         polls);
  }

  void emit(Value *pointer, Value *bytes, bool write, bool polls) {
    unsigned space = pointer->getType()->getPointerAddressSpace();
    if (space == 5)
      return;                                      // local memory
    uint32_t kind = space == 3                 ? 2 // Machine::Space
                    : space == 7               ? 3
                    : space == 1 || space == 4 ? 1
                                               : 0;
    Value *generic =
        space ? builder.CreateAddrSpaceCast(pointer, builder.getPtrTy())
              : pointer;
    builder.CreateCall(callee,
                       {generic,
                        builder.CreateZExtOrTrunc(bytes, builder.getInt64Ty()),
                        builder.getInt32(kind | write << 8 | polls << 9)});
  }

  const DataLayout &layout;
  IRBuilder<> builder;
  FunctionCallee callee;
};

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// Guards every use of a value that may be an accumulator in flight.
class AccumulatorChecks {
public:
  explicit AccumulatorChecks(Module &module)
      : builder(module.getContext()),
        callee(module.getOrInsertFunction("rudnnEmuAccumulator",
                                          builder.getFloatTy(),
                                          builder.getFloatTy())) {}

  void run(Function &f) {
    SetVector<Value *> inFlight;
    for (Instruction &inst : instructions(f))
      if (auto *call = dyn_cast<CallInst>(&inst))
        if (isWgmma(*call))
          inFlight.insert(call);
    SmallVector<Use *> uses;
    for (size_t i = 0; i < inFlight.size(); ++i)
      for (Use &use : inFlight[i]->uses())
        if (passesOn(*cast<Instruction>(use.getUser())))
          inFlight.insert(use.getUser());
        else
          uses.push_back(&use);
    for (Use *use : uses) {
      auto *user = cast<Instruction>(use->getUser());
      if (auto *call = dyn_cast<CallInst>(user))
        if (isWgmma(*call) || isWgmmaWait(*call))
          continue;
      builder.SetInsertPoint(user);
      use->set(read(use->get()));
    }
  }

private:
  /// Whether the instruction only moves accumulators.
  static bool passesOn(const Instruction &inst) {
    if (auto *call = dyn_cast<CallInst>(&inst))
      return isWgmmaWait(*call) || isWgmma(*call);
    if (isa<ExtractElementInst, InsertElementInst, ShuffleVectorInst,
            ExtractValueInst, InsertValueInst, PHINode, SelectInst, FreezeInst>(
            inst))
      return true;
    return false;
  }

  /// The value with every float in it read.
  Value *read(Value *v) {
    Type *type = v->getType();
    if (type->isFloatTy())
      return builder.CreateCall(callee, v);
    if (auto *vec = dyn_cast<FixedVectorType>(type)) {
      if (!vec->getElementType()->isFloatTy())
        return v;
      Value *result = v;
      for (unsigned i = 0; i < vec->getNumElements(); ++i)
        result = builder.CreateInsertElement(
            result, read(builder.CreateExtractElement(v, i)), i);
      return result;
    }
    unsigned n = 0;
    if (auto *st = dyn_cast<StructType>(type))
      n = st->getNumElements();
    else if (auto *array = dyn_cast<ArrayType>(type))
      n = array->getNumElements();
    Value *result = v;
    for (unsigned i = 0; i < n; ++i)
      result = builder.CreateInsertValue(
          result, read(builder.CreateExtractValue(v, i)), i);
    return result;
  }

  IRBuilder<> builder;
  FunctionCallee callee;
};

} // namespace

void rudnn::emulator::instrument(Module &module) {
  MemoryChecks memory(module);
  AccumulatorChecks accumulators(module);
  for (Function &f : module)
    if (!f.isDeclaration()) {
      accumulators.run(f);
      memory.run(f);
    }
}
