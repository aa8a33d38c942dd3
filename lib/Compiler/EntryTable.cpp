//===- EntryTable.cpp - The table that an artifact exports -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Compiler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace rudnn;

std::string rudnn::getCName(StringRef entry) {
  std::string name = entry.str();
  for (char &c : name)
    if (!isAlnum(c) && c != '_')
      c = '_';
  return name.empty() || isDigit(name.front()) ? "f_" + name : name;
}

namespace {

class TableBuilder {
public:
  TableBuilder(Module &module)
      : module(module), b(module.getContext()), ptr(b.getPtrTy()),
        i32(b.getInt32Ty()), i64(b.getInt64Ty()) {}

  Error build(const std::vector<EntrySignature> &entries, StringRef target);

private:
  Expected<Constant *> buildEntry(const EntrySignature &entry);
  Expected<Function *> buildRun(const EntrySignature &entry);
  Expected<Function *> buildResultShapes(const EntrySignature &entry);
  Expected<Function *> buildWorkspaceBytes(const EntrySignature &entry);
  Expected<Function *> getImplementation(const Twine &name);
  Function *createFunction(const Twine &name, Type *result, unsigned numArgs);
  void loadArgs(ArrayRef<ArgSignature> args, Value *array, FunctionType *type,
                unsigned first, SmallVectorImpl<Value *> &values);
  Constant *buildArgs(const EntrySignature &entry);
  Constant *constant(Constant *init);
  Constant *string(StringRef text) {
    return constant(ConstantDataArray::getString(module.getContext(), text));
  }

  Module &module;
  IRBuilder<> b;
  PointerType *ptr;
  Type *i32, *i64;
};

} // namespace

Constant *TableBuilder::constant(Constant *init) {
  return new GlobalVariable(module, init->getType(), /*isConstant=*/true,
                            GlobalValue::PrivateLinkage, init);
}

/// The lowered function that takes descriptors by pointer.
Expected<Function *> TableBuilder::getImplementation(const Twine &name) {
  Function *function = module.getFunction(("_mlir_ciface_" + name).str());
  if (!function)
    return createStringError("the pipeline lost the function @" + name);
  function->setLinkage(GlobalValue::InternalLinkage);
  if (Function *plain = module.getFunction(name.str()))
    plain->setLinkage(GlobalValue::InternalLinkage);
  return function;
}

Function *TableBuilder::createFunction(const Twine &name, Type *result,
                                       unsigned numArgs) {
  SmallVector<Type *> params(numArgs, ptr);
  auto *function = Function::Create(FunctionType::get(result, params, false),
                                    GlobalValue::ExternalLinkage, name, module);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", function));
  return function;
}

/// Descriptors are passed on by pointer, scalars by value.
void TableBuilder::loadArgs(ArrayRef<ArgSignature> args, Value *array,
                            FunctionType *type, unsigned first,
                            SmallVectorImpl<Value *> &values) {
  for (auto [i, arg] : enumerate(args)) {
    Value *value =
        b.CreateLoad(ptr, b.CreateConstInBoundsGEP1_64(ptr, array, first + i));
    Type *wanted = type->getParamType(values.size());
    if (arg.isScalar && !wanted->isPointerTy()) {
      // A boolean is a byte in memory.
      value = wanted->isIntegerTy(1)
                  ? b.CreateIsNotNull(b.CreateLoad(b.getInt8Ty(), value))
                  : static_cast<Value *>(b.CreateLoad(wanted, value));
    }
    values.push_back(value);
  }
}

Expected<Function *> TableBuilder::buildRun(const EntrySignature &entry) {
  Expected<Function *> callee = getImplementation(entry.name);
  if (!callee)
    return callee;
  Function *run = createFunction(getCName(entry.name) + "_run", i32, 3);
  SmallVector<Value *> values;
  FunctionType *type = (*callee)->getFunctionType();
  loadArgs(entry.args, run->getArg(0), type, 0, values);
  loadArgs(entry.results, run->getArg(0), type, entry.args.size(), values);
  if (type->getNumParams() == values.size() + 2)
    values.append({run->getArg(1), run->getArg(2)});
  if (type->getNumParams() != values.size())
    return createStringError("the pipeline changed the signature of @" + entry.name);
  Value *status = b.CreateCall(*callee, values);
  b.CreateRet(status->getType() == i32 ? status : b.getInt32(0));
  return run;
}

Expected<Function *> TableBuilder::buildResultShapes(const EntrySignature &entry) {
  Expected<Function *> callee = getImplementation(entry.name + "__result_shapes");
  if (!callee)
    return callee;
  Function *shapes = createFunction(getCName(entry.name) + "_result_shapes",
                                    b.getVoidTy(), 2);
  SmallVector<Value *> values;
  loadArgs(entry.args, shapes->getArg(0), (*callee)->getFunctionType(), 0, values);
  values.push_back(shapes->getArg(1));
  b.CreateCall(*callee, values);
  b.CreateRetVoid();
  return shapes;
}

Expected<Function *>
TableBuilder::buildWorkspaceBytes(const EntrySignature &entry) {
  std::string name = entry.name + "__workspace_bytes";
  Function *bytes =
      createFunction(getCName(entry.name) + "_workspace_bytes", i64, 1);
  if (!module.getFunction(name)) {
    b.CreateRet(b.getInt64(0));
    return bytes;
  }
  Expected<Function *> callee = getImplementation(name);
  if (!callee)
    return callee;
  SmallVector<Value *> values;
  loadArgs(entry.args, bytes->getArg(0), (*callee)->getFunctionType(), 0, values);
  b.CreateRet(b.CreateCall(*callee, values));
  return bytes;
}

/// The RudnnArgInfo array of the arguments, then results.
Constant *TableBuilder::buildArgs(const EntrySignature &entry) {
  StructType *type = StructType::get(ptr, i32, i32, ptr);
  SmallVector<Constant *> infos;
  auto add = [&](ArrayRef<ArgSignature> args) {
    for (const ArgSignature &arg : args) {
      SmallVector<uint64_t> shape(arg.shape.begin(), arg.shape.end());
      Constant *extents =
          shape.empty() ? static_cast<Constant *>(ConstantPointerNull::get(ptr))
                        : constant(ConstantDataArray::get(module.getContext(), shape));
      int32_t rank = arg.isScalar ? -1 : arg.shape.size();
      infos.push_back(ConstantStruct::get(
          type, string(arg.name), ConstantInt::get(i32, arg.dtype),
          ConstantInt::getSigned(i32, rank), extents));
    }
  };
  add(entry.args);
  add(entry.results);
  return constant(ConstantArray::get(ArrayType::get(type, infos.size()), infos));
}

Expected<Constant *> TableBuilder::buildEntry(const EntrySignature &entry) {
  Expected<Function *> run = buildRun(entry);
  if (!run)
    return run.takeError();
  Expected<Function *> shapes = buildResultShapes(entry);
  if (!shapes)
    return shapes.takeError();
  Expected<Function *> bytes = buildWorkspaceBytes(entry);
  if (!bytes)
    return bytes.takeError();
  StructType *type = StructType::get(ptr, i32, i32, ptr, ptr, ptr, ptr);
  return ConstantStruct::get(type, string(entry.name),
                             ConstantInt::get(i32, entry.args.size()),
                             ConstantInt::get(i32, entry.results.size()),
                             buildArgs(entry), *run, *shapes, *bytes);
}

Error TableBuilder::build(const std::vector<EntrySignature> &entries,
                          StringRef target) {
  SmallVector<Constant *> infos;
  StringSet<> names;
  for (const EntrySignature &entry : entries) {
    if (!names.insert(getCName(entry.name)).second)
      return createStringError("two functions have the C name '" +
                               getCName(entry.name) + "'");
    Expected<Constant *> info = buildEntry(entry);
    if (!info)
      return info.takeError();
    infos.push_back(*info);
  }
  Constant *functions = ConstantPointerNull::get(ptr);
  if (!infos.empty())
    functions = constant(ConstantArray::get(
        ArrayType::get(infos.front()->getType(), infos.size()), infos));
  StructType *type = StructType::get(i32, ptr, i32, ptr);
  Constant *info = constant(ConstantStruct::get(
      type, ConstantInt::get(i32, RUDNN_ABI_VERSION), string(target),
      ConstantInt::get(i32, infos.size()), functions));
  createFunction(RUDNN_MODULE_SYMBOL, ptr, 0);
  b.CreateRet(info);
  return Error::success();
}

Error rudnn::emitEntryTable(Module &module,
                            const std::vector<EntrySignature> &entries,
                            StringRef target) {
  return TableBuilder(module).build(entries, target);
}
