//===- Lower.cpp - From NVPTX IR to host IR ---------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Alignment.h"

using namespace llvm;
using namespace rudnn::emulator;

std::string rudnn::emulator::entryName(StringRef kernel) {
  return ("rudnnEmuEntry." + kernel).str();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

/// Rewrites the device operations of one function.
class OperationLowering {
public:
  OperationLowering(Function &f, Lowered &lowered)
      : f(f), module(*f.getParent()), lowered(lowered),
        layout(module.getDataLayout()), builder(f.getContext()) {}

  Error run();

private:
  Error lowerCall(CallInst &call);
  Error lowerAsm(CallInst &call);
  Error lowerIntrinsic(CallInst &call, StringRef name);
  Value *direct(CallInst &call, StringRef name);
  Error replace(CallInst &call, StringRef text, ArrayRef<Value *> initial,
                unsigned results);
  Value *toSlot(Value *v);
  Value *fromSlot(Value *slot, Type *type);
  Value *slot(unsigned i) {
    return builder.CreateConstGEP1_64(builder.getInt64Ty(), slots, i);
  }

  Function &f;
  Module &module;
  Lowered &lowered;
  const DataLayout &layout;
  IRBuilder<> builder;
  AllocaInst *slots = nullptr;
  uint64_t slotCount = 0;
};

std::string whereOf(const Instruction &inst) {
  if (const DILocation *loc = inst.getDebugLoc())
    return (loc->getFilename() + ":" + Twine(loc->getLine())).str();
  return "";
}

Error OperationLowering::run() {
  SmallVector<CallInst *> calls;
  for (Instruction &inst : instructions(f))
    if (auto *call = dyn_cast<CallInst>(&inst))
      calls.push_back(call);
  builder.SetInsertPoint(&*f.getEntryBlock().getFirstInsertionPt());
  slots = builder.CreateAlloca(builder.getInt64Ty(), builder.getInt64(1));
  for (CallInst *call : calls)
    if (Error e = lowerCall(*call))
      return e;
  slots->setOperand(0, builder.getInt64(std::max<uint64_t>(slotCount, 1)));
  return Error::success();
}

Error OperationLowering::lowerCall(CallInst &call) {
  if (call.isInlineAsm())
    return lowerAsm(call);
  Function *callee = call.getCalledFunction();
  if (!callee)
    return Error::success();
  StringRef name = callee->getName();
  if (name.starts_with("llvm.nvvm."))
    return lowerIntrinsic(call, name);
  if (name == "__nvvm_reflect") { // no flush to zero, an unknown chip
    call.replaceAllUsesWith(ConstantInt::get(call.getType(), 0));
    call.eraseFromParent();
  } else if (callee->getIntrinsicID() == Intrinsic::trap) {
    if (Error e = replace(call, "trap;", {}, 0))
      return e;
  }
  return Error::success();
}

Value *OperationLowering::toSlot(Value *v) {
  Type *type = v->getType();
  if (type->isPointerTy())
    return builder.CreatePtrToInt(v, builder.getInt64Ty());
  uint64_t bits = layout.getTypeSizeInBits(type);
  if (bits > 64 || type->isAggregateType())
    return nullptr;
  if (!type->isIntegerTy())
    v = builder.CreateBitCast(v, builder.getIntNTy(bits));
  return builder.CreateZExt(v, builder.getInt64Ty());
}

Value *OperationLowering::fromSlot(Value *s, Type *type) {
  if (type->isPointerTy())
    return builder.CreateIntToPtr(s, type);
  uint64_t bits = layout.getTypeSizeInBits(type);
  if (bits > 64 || type->isAggregateType())
    return nullptr;
  Value *v = builder.CreateTrunc(s, builder.getIntNTy(bits));
  return type->isIntegerTy() ? v : builder.CreateBitCast(v, type);
}

/// Replaces the call by an execution of the PTX text. Slot i starts as
/// initial[i] (null: unset); the first `results` slots are the result.
Error OperationLowering::replace(CallInst &call, StringRef text,
                                 ArrayRef<Value *> initial, unsigned results) {
  auto block = parsePtx(text, initial.size(), whereOf(call));
  if (!block)
    return block.takeError();
  slotCount = std::max<uint64_t>(slotCount, (*block)->numSlots);
  builder.SetInsertPoint(&call);
  for (auto [i, v] : enumerate(initial)) {
    if (!v)
      continue;
    Value *s = toSlot(v);
    if (!s)
      return createStringError("'" + text + "': operand " + Twine(i) +
                               " has a type of more than 64 bits");
    builder.CreateStore(s, slot(i));
  }
  FunctionCallee execute =
      module.getOrInsertFunction("rudnnEmuExecute", builder.getVoidTy(),
                                 builder.getPtrTy(), builder.getPtrTy());
  cast<Function>(execute.getCallee())->setConvergent();
  Value *address = builder.CreateIntToPtr(
      builder.getInt64(reinterpret_cast<uint64_t>(block->get())),
      builder.getPtrTy());
  CallInst *run = builder.CreateCall(execute, {address, slots});
  run->setConvergent();
  lowered.blocks.push_back(std::move(*block));

  auto load = [&](unsigned i, Type *type) {
    return fromSlot(builder.CreateLoad(builder.getInt64Ty(), slot(i)), type);
  };
  Type *type = call.getType();
  Value *result = nullptr;
  if (auto *st = dyn_cast<StructType>(type)) {
    // Members that are taken out again are read from their slots.
    for (User *user : make_early_inc_range(call.users())) {
      auto *extract = dyn_cast<ExtractValueInst>(user);
      if (!extract || extract->getNumIndices() != 1)
        continue;
      Value *v = load(extract->getIndices()[0], extract->getType());
      if (!v)
        break;
      extract->replaceAllUsesWith(v);
      extract->eraseFromParent();
    }
    if (call.use_empty()) {
      call.eraseFromParent();
      return Error::success();
    }
    result = PoisonValue::get(type);
    for (unsigned i = 0; i < results && result; ++i) {
      Value *v = load(i, st->getElementType(i));
      result = v ? builder.CreateInsertValue(result, v, i) : nullptr;
    }
  } else if (!type->isVoidTy()) {
    result = load(0, type);
  }
  if (!type->isVoidTy()) {
    if (!result)
      return createStringError("'" + text +
                               "': a result has a type of more than 64 bits");
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
  return Error::success();
}

Error OperationLowering::lowerAsm(CallInst &call) {
  auto *code = cast<InlineAsm>(call.getCalledOperand());
  SmallVector<Value *> initial;
  unsigned results = 0, argument = 0;
  for (const InlineAsm::ConstraintInfo &c : code->ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber)
      continue;
    if (c.isIndirect)
      return createStringError("inline asm \"" + code->getAsmString() +
                               "\": indirect operands are not modelled by the "
                               "emulator");
    if (c.Type == InlineAsm::isOutput) {
      initial.push_back(nullptr);
      ++results;
      continue;
    }
    Value *v = call.getArgOperand(argument++);
    unsigned tied = 0;
    if (!c.Codes.empty() && !StringRef(c.Codes[0]).getAsInteger(10, tied))
      initial[tied] = v;
    initial.push_back(v);
  }
  if (code->getAsmString().empty()) { // a barrier to the optimizer
    if (call.getType()->isVoidTy()) {
      call.eraseFromParent();
      return Error::success();
    }
  }
  return replace(call, code->getAsmString(), initial, results);
}

/// Pure operations that the host has itself.
Value *OperationLowering::direct(CallInst &call, StringRef name) {
  builder.SetInsertPoint(&call);
  if (int reg = intrinsicSpecialRegister(name); reg >= 0) {
    FunctionCallee read = module.getOrInsertFunction(
        "rudnnEmuSpecial", builder.getInt64Ty(), builder.getInt32Ty());
    return builder.CreateZExtOrTrunc(
        builder.CreateCall(read, builder.getInt32(reg)), call.getType());
  }
  if (name == "llvm.nvvm.ex2.approx.ftz.f32" ||
      name == "llvm.nvvm.ex2.approx.f32" ||
      name == "llvm.nvvm.ex2.approx.ftz.f" || name == "llvm.nvvm.ex2.approx.f")
    return builder.CreateUnaryIntrinsic(Intrinsic::exp2, call.getArgOperand(0));
  if (name == "llvm.nvvm.reflect")
    return ConstantInt::get(call.getType(), 0);
  return nullptr;
}

Error OperationLowering::lowerIntrinsic(CallInst &call, StringRef name) {
  if (Value *v = direct(call, name)) {
    call.replaceAllUsesWith(v);
    call.eraseFromParent();
    return Error::success();
  }
  std::string pattern = intrinsicText(name, call);
  if (pattern.empty())
    return createStringError(
        "intrinsic '" + name + "' is not modelled by the emulator" +
        (whereOf(call).empty() ? Twine() : " (" + whereOf(call) + ")"));
  unsigned results = 0;
  if (auto *st = dyn_cast<StructType>(call.getType()))
    results = st->getNumElements();
  else if (!call.getType()->isVoidTy())
    results = 1;
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    text += pattern[i];
    if (pattern[i] != '$')
      continue;
    bool isArgument = pattern[i + 1] == 'a';
    unsigned index = 0;
    for (i += 2; i < pattern.size() && isDigit(pattern[i]); ++i)
      index = index * 10 + pattern[i] - '0';
    --i;
    text += std::to_string(isArgument ? results + index : index);
  }
  SmallVector<Value *> initial(results, nullptr);
  for (Value *v : call.args())
    initial.push_back(v);
  return replace(call, text, initial, results);
}

} // namespace

Error rudnn::emulator::lowerOperations(Module &module, Lowered &lowered) {
  for (Function &f : module)
    if (!f.isDeclaration())
      if (Error e = OperationLowering(f, lowered).run())
        return e;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool isKernel(const Function &f) {
  return f.getCallingConv() == CallingConv::PTX_Kernel && !f.isDeclaration();
}

static Dim3 dimsAttribute(const Function &f, StringRef name) {
  Dim3 d{0, 0, 0};
  Attribute a = f.getFnAttribute(name);
  if (!a.isValid())
    return d;
  SmallVector<StringRef> parts;
  a.getValueAsString().split(parts, ',');
  uint32_t *axis[] = {&d.x, &d.y, &d.z};
  for (auto [i, part] : enumerate(parts))
    if (i < 3)
      part.trim().getAsInteger(10, *axis[i]);
  if (d.x && !d.y)
    d.y = 1;
  if (d.y && !d.z)
    d.z = 1;
  return d;
}

static Error describeKernel(Function &f, KernelInfo &info) {
  const DataLayout &layout = f.getParent()->getDataLayout();
  for (llvm::Argument &a : f.args()) {
    Type *type = a.hasByValAttr() ? a.getParamByValType() : a.getType();
    info.argumentBytes.push_back(layout.getTypeStoreSize(type));
    uint64_t align = a.hasByValAttr() ? a.getParamAlign().valueOrOne().value()
                                      : layout.getABITypeAlign(type).value();
    info.argumentAlign.push_back(align);
  }
  info.cluster = dimsAttribute(f, "nvvm.cluster_dim");
  info.requiredBlock = dimsAttribute(f, "nvvm.reqntid");
  info.maxThreads = 0;
  if (Dim3 d = dimsAttribute(f, "nvvm.maxntid"); d.x)
    info.maxThreads = d.count();
  StringRef chip = f.getFnAttribute("target-cpu").getValueAsString();
  if (chip == "sm_80" || chip == "sm_87")
    info.maxShared = 166912;
  else if (chip == "sm_86" || chip == "sm_89")
    info.maxShared = 101376;
  return Error::success();
}

/// void entry(ptr values): loads the arguments and calls the kernel.
static void makeEntry(Function &f) {
  Module &module = *f.getParent();
  IRBuilder<> builder(module.getContext());
  auto *type =
      FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto *entry = Function::Create(type, GlobalValue::ExternalLinkage,
                                 entryName(f.getName()), module);
  builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", entry));
  SmallVector<Value *> values;
  for (llvm::Argument &a : f.args()) {
    Value *at = builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstGEP1_64(builder.getPtrTy(), entry->getArg(0),
                                   a.getArgNo()));
    if (a.hasByValAttr())
      values.push_back(builder.CreateAddrSpaceCast(at, a.getType()));
    else
      values.push_back(builder.CreateAlignedLoad(a.getType(), at, Align(1)));
  }
  builder.CreateCall(&f, values);
  builder.CreateRetVoid();
  f.setCallingConv(CallingConv::C);
}

/// The device's attributes mean nothing to the host's code generator, or
/// something else.
static void stripAttributes(Function &f) {
  AttributeMask mask;
  for (Attribute a : f.getAttributes().getFnAttrs())
    if (a.isStringAttribute())
      mask.addAttribute(a.getKindAsString());
  f.removeFnAttrs(mask);
  for (llvm::Argument &a : f.args()) {
    a.removeAttr(Attribute::ByVal);
    AttributeMask strings;
    for (Attribute attr : f.getAttributes().getParamAttrs(a.getArgNo()))
      if (attr.isStringAttribute())
        strings.addAttribute(attr.getKindAsString());
    f.removeParamAttrs(a.getArgNo(), strings);
  }
}

//===----------------------------------------------------------------------===//
// Shared variables
//===----------------------------------------------------------------------===//

/// Functions that run when `f` does.
static void reachable(Function *f, SetVector<Function *> &seen) {
  if (!seen.insert(f) || f->isDeclaration())
    return;
  for (Instruction &inst : instructions(f))
    for (Value *operand : inst.operands())
      if (auto *callee = dyn_cast<Function>(operand->stripPointerCasts()))
        reachable(callee, seen);
}

/// Gives the static shared variables offsets: after everything that any kernel
/// with the variable has got so far. Replaces the variables in all functions.
static Error placeShared(Module &module, Lowered &lowered) {
  SmallVector<GlobalVariable *> shared;
  SmallVector<Constant *> constants;
  for (GlobalVariable &g : module.globals())
    if (g.getAddressSpace() == 3) {
      shared.push_back(&g);
      constants.push_back(&g);
    }
  convertUsersOfConstantsToInstructions(constants);

  DenseMap<Function *, SetVector<Function *>> closures;
  for (Function &f : module)
    if (isKernel(f))
      reachable(&f, closures[&f]);

  const DataLayout &layout = module.getDataLayout();
  for (GlobalVariable *g : shared) {
    uint64_t bytes = layout.getTypeAllocSize(g->getValueType());
    uint64_t align = g->getAlign().valueOrOne().value();
    align = std::max<uint64_t>(
        align, layout.getABITypeAlign(g->getValueType()).value());
    bool dynamic = g->isDeclaration();
    SetVector<Function *> users;
    for (User *u : g->users())
      if (auto *inst = dyn_cast<Instruction>(u))
        users.insert(inst->getFunction());
    uint64_t offset = kReservedShared;
    SmallVector<KernelInfo *> kernels;
    for (auto &[kernel, closure] : closures)
      if (any_of(users, [&, &closure = closure](Function *f) {
            return closure.contains(f);
          })) {
        KernelInfo &info = lowered.kernels[kernel->getName()];
        kernels.push_back(&info);
        offset =
            std::max<uint64_t>(offset, kReservedShared + info.staticShared);
      }
    offset = alignTo(offset, align);
    for (KernelInfo *info : kernels) {
      if (dynamic)
        info->dynamicAlign = std::max<uint32_t>(info->dynamicAlign, align);
      else
        info->staticShared = offset - kReservedShared + bytes;
    }
    for (Function *f : users) {
      IRBuilder<> builder(&*f->getEntryBlock().getFirstInsertionPt());
      FunctionCallee base = module.getOrInsertFunction(
          dynamic ? "rudnnEmuDynamicShared" : "rudnnEmuShared", g->getType(),
          builder.getInt64Ty());
      Value *at = builder.CreateCall(base, builder.getInt64(offset));
      g->replaceUsesWithIf(at, [&](Use &u) {
        auto *inst = dyn_cast<Instruction>(u.getUser());
        return inst && inst->getFunction() == f;
      });
    }
  }
  for (GlobalVariable *g : shared) {
    g->replaceAllUsesWith(PoisonValue::get(g->getType()));
    g->eraseFromParent();
  }
  return Error::success();
}

Error rudnn::emulator::lowerToHost(Module &module, Lowered &lowered) {
  for (Function &f : module)
    if (isKernel(f))
      if (Error e = describeKernel(f, lowered.kernels[f.getName()]))
        return e;
  if (lowered.kernels.empty())
    return createStringError("the module has no kernel (ptx_kernel function)");
  for (StringRef list :
       {"llvm.used", "llvm.compiler.used", "llvm.global_ctors"})
    if (GlobalVariable *g = module.getGlobalVariable(list))
      g->eraseFromParent();
  if (NamedMDNode *n = module.getNamedMetadata("nvvm.annotations"))
    n->eraseFromParent();
  if (Error e = placeShared(module, lowered))
    return e;
  for (GlobalVariable &g : module.globals()) {
    if (g.isDeclaration())
      return createStringError("the global variable '" + g.getName() +
                               "' has no definition");
    g.setLinkage(GlobalValue::ExternalLinkage);
    if (!g.hasName())
      g.setName("rudnnEmuVariable");
    lowered.variables.push_back(
        {g.getName().str(),
         module.getDataLayout().getTypeAllocSize(g.getValueType()),
         g.isConstant()});
  }
  instrument(module);
  if (Error e = lowerOperations(module, lowered))
    return e;
  SmallVector<Function *> kernels;
  for (Function &f : module)
    if (isKernel(f))
      kernels.push_back(&f);
  for (Function *f : kernels)
    makeEntry(*f);
  for (Function &f : module)
    stripAttributes(f);
  for (Function &f : make_early_inc_range(module))
    if (f.isDeclaration() && f.use_empty())
      f.eraseFromParent();
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(module, &os))
    return createStringError("the emulator made invalid IR: " + problem);
  return Error::success();
}
