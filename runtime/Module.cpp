//===- Module.cpp - Loading compiled artifacts -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Module.h"

#include "DType.h"
#include "Support.h"

#include <dlfcn.h>

using namespace rudnn;

/// What is wrong with the tables of a function, or "".
static std::string findFault(const RudnnFunctionInfo &function) {
  if (!function.name)
    return "a function without a name";
  std::string name = function.name;
  if (function.num_args < 0 || function.num_results < 0 || !function.run ||
      !function.result_shapes || !function.workspace_bytes)
    return "function " + name + " is incomplete";
  int64_t count = int64_t(function.num_args) + function.num_results;
  if (count > 0 && !function.args)
    return "function " + name + " does not describe its arguments";
  for (int64_t i = 0; i < count; ++i) {
    const RudnnArgInfo &arg = function.args[i];
    if (!arg.name || !isDType(arg.dtype) || arg.rank < -1 || arg.rank > 64 ||
        (arg.rank > 0 && !arg.shape))
      return text("function %s: argument %lld is malformed", name.c_str(),
                  static_cast<long long>(i));
    if (i >= function.num_args && arg.rank < 0)
      return text("function %s: result %s is a scalar", name.c_str(), arg.name);
  }
  return {};
}

Result<Module> Module::load(const std::string &path) {
  // Without a slash dlopen would search the system's folders.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *reason = dlerror();
    return {RUDNN_MODULE_OPEN, "can't load the artifact " + path + ": " +
                                   (reason ? reason : "unknown error")};
  }
  auto entry =
      reinterpret_cast<RudnnModuleFn>(dlsym(library, RUDNN_MODULE_SYMBOL));
  if (!entry)
    return {RUDNN_MODULE_SYMBOL_MISSING,
            path +
                " is no rudnn artifact: it has no symbol " RUDNN_MODULE_SYMBOL};
  Module module;
  module.info = entry();
  if (!module.info)
    return {RUDNN_MODULE_MALFORMED, path + " describes nothing"};
  const RudnnModuleInfo &info = *module.info;
  if (info.abi_version != RUDNN_ABI_VERSION)
    return {
        RUDNN_MODULE_VERSION,
        text("%s was made for version %d of the interface, this runtime has %d",
             path.c_str(), info.abi_version, RUDNN_ABI_VERSION)};
  if (!info.target || info.num_functions < 0 ||
      (info.num_functions > 0 && !info.functions))
    return {RUDNN_MODULE_MALFORMED,
            path + " has no target or no function table"};
  for (int32_t i = 0; i < info.num_functions; ++i) {
    if (std::string fault = findFault(info.functions[i]); !fault.empty())
      return {RUDNN_MODULE_MALFORMED, path + ": " + fault};
    module.list.push_back(Function(&info.functions[i], info.target));
  }
  return module;
}

const Function *Module::find(const std::string &name) const {
  for (const Function &function : list)
    if (function.name() == name)
      return &function;
  return nullptr;
}
