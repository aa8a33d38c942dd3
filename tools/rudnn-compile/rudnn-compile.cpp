//===- rudnn-compile.cpp - Compile ahead of time -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "rudnn/Compiler/Compiler.h"
#include "rudnn/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rudnn;

static int fail(ExitCode code, Error error) {
  errs() << "rudnn-compile: " << toString(std::move(error)) << "\n";
  return code;
}

static StringRef getKind(StringRef output) {
  return sys::path::extension(output).ltrim('.');
}

/// Refuses outputs that the target does not have, and folders that do not exist.
static Error checkOutputs(const Options &options, const rudnn::Target &target) {
  std::vector<std::string> kinds = target.getOutputKinds();
  for (StringRef output : options.outputs) {
    if (!is_contained(kinds, getKind(output)))
      return createStringError("-o " + output + ": target '" + target.getName() +
                               "' writes files that end in ." + join(kinds, ", ."));
    StringRef folder = sys::path::parent_path(output);
    if (!folder.empty() && !sys::fs::is_directory(folder))
      return createStringError("-o " + output + ": no folder " + folder);
  }
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Options options = parseOptions(argc, argv);
  auto target = createTarget(options.target);
  if (!target)
    return fail(kBadArguments, createStringError("--target: " +
                                                 toString(target.takeError())));
  if (Error error = checkOutputs(options, **target))
    return fail(kBadArguments, std::move(error));
  if (options.file != "-" && !sys::fs::exists(options.file))
    return fail(kBadArguments, createStringError(options.file + ": no such file"));

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseModule(options.file, context);
  if (!module)
    return fail(kFailed, module.takeError());
  CompileOptions compileOptions;
  compileOptions.cpu = options.cpu;
  compileOptions.optLevel = options.optLevel;
  compileOptions.timePasses = options.timePasses;
  compileOptions.check = options.check;
  compileOptions.verifyEach = options.verifyEach;
  auto compiled = compile(**module, **target, compileOptions);
  if (!compiled)
    return fail(kFailed, compiled.takeError());
  for (StringRef output : options.outputs)
    if (Error error = writeOutput(*compiled, getKind(output), output))
      return fail(kBadArguments, std::move(error));
  if (options.report) {
    auto report = (*target)->getReport(**module);
    if (!report)
      return fail(kBadArguments, report.takeError());
    outs() << *report;
  }
  return kSuccess;
}
