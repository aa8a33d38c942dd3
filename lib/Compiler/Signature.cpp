//===- Signature.cpp - Arguments and results of entries -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Signature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rudnn;

std::optional<RudnnDType> rudnn::getDType(Type type) {
  if (type.isF32())
    return RUDNN_F32;
  if (type.isF16())
    return RUDNN_F16;
  if (type.isBF16())
    return RUDNN_BF16;
  if (type.isF64())
    return RUDNN_F64;
  if (type.isIndex())
    return RUDNN_INDEX;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return RUDNN_I1;
  case 8:
    return RUDNN_I8;
  case 16:
    return RUDNN_I16;
  case 32:
    return RUDNN_I32;
  case 64:
    return RUDNN_I64;
  default:
    return std::nullopt;
  }
}

std::string ArgSignature::str() const {
  if (isScalar)
    return getName(dtype).str();
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += (extent == RUDNN_DYNAMIC ? "?" : std::to_string(extent)) + "x";
  return text + getName(dtype).str() + ">";
}

std::string EntrySignature::str() const {
  auto list = [](const std::vector<ArgSignature> &args) {
    std::vector<std::string> texts;
    for (const ArgSignature &arg : args)
      texts.push_back(arg.name + ": " + arg.str());
    return "(" + llvm::join(texts, ", ") + ")";
  };
  return "@" + name + list(args) + " -> " + list(results);
}

static llvm::Expected<ArgSignature> getArg(Type type, std::string name,
                                           func::FuncOp func) {
  ArgSignature arg;
  arg.name = std::move(name);
  arg.isScalar = !isa<ShapedType>(type);
  Type element = type;
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank()) {
    element = shaped.getElementType();
    for (int64_t extent : shaped.getShape())
      arg.shape.push_back(ShapedType::isDynamic(extent) ? RUDNN_DYNAMIC : extent);
  }
  std::optional<RudnnDType> dtype = getDType(element);
  if (!dtype) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return llvm::createStringError("@" + func.getSymName() + ": " + arg.name +
                                   " has type " + text +
                                   ", which no caller can pass");
  }
  arg.dtype = *dtype;
  return arg;
}

llvm::Expected<std::vector<EntrySignature>> rudnn::getSignatures(ModuleOp module) {
  std::vector<EntrySignature> entries;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    EntrySignature entry;
    entry.name = func.getSymName().str();
    for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
      auto name = func.getArgAttrOfType<StringAttr>(i, "rudnn.name");
      llvm::Expected<ArgSignature> arg =
          getArg(type, name ? name.str() : "arg" + std::to_string(i), func);
      if (!arg)
        return arg.takeError();
      entry.args.push_back(std::move(*arg));
    }
    for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
      auto name = func.getResultAttrOfType<StringAttr>(i, "rudnn.name");
      llvm::Expected<ArgSignature> result =
          getArg(type, name ? name.str() : "result" + std::to_string(i), func);
      if (!result)
        return result.takeError();
      entry.results.push_back(std::move(*result));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}
