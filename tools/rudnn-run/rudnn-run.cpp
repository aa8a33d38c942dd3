//===- rudnn-run.cpp - Compile and run a function -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Runner.h"

#include "rudnn/Compiler/Compiler.h"
#include "rudnn/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>

using namespace llvm;
using namespace rudnn;

namespace {

/// An error that is the user's argument, not the program's input.
class BadArgument : public ErrorInfo<BadArgument, StringError> {
public:
  static char ID;
  explicit BadArgument(const Twine &message)
      : ErrorInfo(message, inconvertibleErrorCode()) {}
};
char BadArgument::ID;

Error badArgument(Error error) {
  return make_error<BadArgument>(toString(std::move(error)));
}
Error badArgument(const Twine &message) { return make_error<BadArgument>(message); }

/// A module that is compiled and loaded for a target.
struct Program {
  std::unique_ptr<TargetDevice> device;
  std::vector<EntrySignature> entries;
  std::unique_ptr<LoadedModule> module;

  const RudnnFunctionInfo &find(StringRef entry) const {
    const RudnnModuleInfo &info = module->getInfo();
    for (int32_t i = 0; i < info.num_functions; ++i)
      if (entry == info.functions[i].name)
        return info.functions[i];
    llvm_unreachable("every signature has a function");
  }
};

Expected<Program> buildProgram(mlir::ModuleOp module, const Options &options,
                               StringRef targetName) {
  auto target = createTarget(targetName);
  if (!target)
    return badArgument(target.takeError());
  Program program;
  auto device = (*target)->openDevice();
  if (!device)
    return device.takeError();
  program.device = std::move(*device);
  CompileOptions compileOptions;
  compileOptions.optLevel = options.optLevel;
  compileOptions.verifyEach = options.verifyEach;
  compileOptions.timePasses = options.timePasses;
  compileOptions.check =
      targetName == "cpu" && !options.noCheck && !options.bench;
  auto compiled = compile(module, **target, compileOptions);
  if (!compiled)
    return compiled.takeError();
  program.entries = compiled->entries;
  auto loaded = load(std::move(*compiled));
  if (!loaded)
    return loaded.takeError();
  program.module = std::move(*loaded);
  return program;
}

/// The function to run; checks --entry.
Expected<const EntrySignature *> findEntry(const std::vector<EntrySignature> &entries,
                                           StringRef name) {
  if (entries.empty())
    return createStringError("the module has no public function");
  std::string known;
  for (const EntrySignature &entry : entries) {
    if (entry.name == name)
      return &entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  if (name.empty() && entries.size() == 1)
    return &entries.front();
  if (name.empty())
    return badArgument("--entry: the module has several functions, choose one of " +
                       known);
  return badArgument("--entry: no public function '" + name + "'; there are " + known);
}

/// Leaves the functions that run public, so that only they are compiled. With an
/// unknown name all stay, for the error that lists them.
void keepEntries(mlir::ModuleOp module, const StringSet<> &names) {
  SmallVector<mlir::func::FuncOp> others;
  size_t found = 0;
  for (auto func : module.getOps<mlir::func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    if (names.contains(func.getSymName()))
      ++found;
    else
      others.push_back(func);
  }
  if (!names.empty() && found == names.size())
    for (mlir::func::FuncOp func : others)
      func.setPrivate();
}

/// The spec of every argument out of `I:SPEC` strings.
Expected<std::vector<std::string>>
orderSpecs(const EntrySignature &entry, const std::vector<std::string> &args) {
  std::vector<std::string> specs(entry.args.size());
  for (StringRef arg : args) {
    auto [number, spec] = arg.split(':');
    size_t i;
    if (number.getAsInteger(10, i) || spec.empty())
      return badArgument("--arg=" + arg + ": expected I:SPEC");
    if (i >= specs.size())
      return badArgument("--arg=" + arg + ": " + entry.str() + " has " +
                         Twine(specs.size()) + " arguments");
    if (!specs[i].empty())
      return badArgument("--arg=" + arg + ": argument " + Twine(i) +
                         " is given twice");
    specs[i] = spec.str();
  }
  for (auto [i, spec] : enumerate(specs))
    if (spec.empty())
      return badArgument("--arg: no value for argument " + Twine(i) + " of " +
                         entry.str());
  return specs;
}

Expected<std::vector<HostTensor>> makeArguments(const EntrySignature &entry,
                                                ArrayRef<std::string> specs) {
  std::vector<HostTensor> args;
  for (auto [i, spec] : enumerate(specs)) {
    Expected<HostTensor> arg = makeArgument(entry.args[i], spec);
    if (!arg)
      return badArgument("--arg=" + Twine(i) + ": " + toString(arg.takeError()));
    args.push_back(std::move(*arg));
  }
  return args;
}

std::string getResultPath(StringRef folder, size_t i) {
  SmallString<128> path(folder);
  sys::path::append(path, "result" + Twine(i) + ".npy");
  return path.str().str();
}

Error prepareFolder(StringRef folder) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return badArgument("--out=" + folder + ": " + code.message());
  return Error::success();
}

Error writeResults(StringRef folder, ArrayRef<HostTensor> results) {
  if (Error error = prepareFolder(folder))
    return error;
  for (auto [i, result] : enumerate(results))
    if (Error error = writeNpy(getResultPath(folder, i), result))
      return badArgument(std::move(error));
  return Error::success();
}

/// The expected results for --compare.
Expected<std::vector<HostTensor>> getExpected(const EntrySignature &entry,
                                              const Options &options,
                                              mlir::ModuleOp source,
                                              const std::vector<HostTensor> &args) {
  std::vector<HostTensor> expected;
  if (options.compare != "cpu") {
    for (auto [i, result] : enumerate(entry.results)) {
      auto tensor = readNpy(getResultPath(options.compare, i), result.dtype);
      if (!tensor)
        return badArgument("--compare: " + toString(tensor.takeError()));
      expected.push_back(std::move(*tensor));
    }
    return expected;
  }
  Expected<Program> program = buildProgram(source, options, "cpu");
  if (!program)
    return program.takeError();
  auto call = Call::create(program->find(entry.name), *program->device, args);
  if (!call)
    return call.takeError();
  if (Error error = (*call)->run())
    return error;
  return (*call)->getResults();
}

/// Prints the comparison; whether all results are within tolerance.
bool compareResults(const EntrySignature &entry, ArrayRef<HostTensor> results,
                    ArrayRef<HostTensor> expected, const Options &options) {
  bool good = true;
  for (auto [i, result] : enumerate(results)) {
    outs() << entry.results[i].name << ": ";
    if (result.getShape() != expected[i].getShape()) {
      outs() << "shape " << formatShape(result.getShape()) << ", expected "
             << formatShape(expected[i].getShape()) << "\n";
      good = false;
      continue;
    }
    Comparison c = compare(result, expected[i], options.rtol, options.atol);
    outs() << "max abs error " << format("%.3e", c.maxAbsError) << ", max rel error "
           << format("%.3e", c.maxRelError);
    if (c.numBad) {
      good = false;
      outs() << "; " << c.numBad << " of " << result.getNumElements()
             << " out of tolerance, first at "
             << formatIndex(c.firstBad, result.getShape()) << ": "
             << format("%.9g", result.get(c.firstBad)) << ", expected "
             << format("%.9g", expected[i].get(c.firstBad));
    }
    outs() << "\n";
  }
  return good;
}

/// Times calls for the given time and prints the statistics.
Error benchmark(Call &call, TargetDevice &device, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  auto start = Clock::now();
  auto elapsed = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  while (times.size() < 3 || elapsed(start) < seconds) {
    auto begin = Clock::now();
    if (Error error = call.run())
      return error;
    times.push_back(elapsed(begin));
  }
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2];
  outs() << "median " << format("%.3f", median * 1e6) << " us, min "
         << format("%.3f", times.front() * 1e6) << " us, " << times.size()
         << " runs; " << format("%.2f", call.getNumBytes() / median * 1e-9)
         << " GB/s\n";
  return Error::success();
}

void printResults(const EntrySignature &entry, ArrayRef<HostTensor> results) {
  for (auto [i, result] : enumerate(results)) {
    outs() << entry.results[i].name << ": " << formatShape(result.getShape()) << " "
           << getName(result.getDType());
    int64_t shown = std::min<int64_t>(result.getNumElements(), 8);
    for (int64_t j = 0; j < shown; ++j)
      outs() << (j ? ", " : " = ") << format("%.6g", result.get(j));
    outs() << (shown < result.getNumElements() ? ", ...\n" : "\n");
  }
}

Expected<ExitCode> runOnce(mlir::ModuleOp module, const Options &options) {
  auto entries = getSignatures(module);
  if (!entries)
    return entries.takeError();
  auto entry = findEntry(*entries, options.entry);
  if (!entry)
    return entry.takeError();
  auto specs = orderSpecs(**entry, options.args);
  if (!specs)
    return specs.takeError();
  auto args = makeArguments(**entry, *specs);
  if (!args)
    return args.takeError();
  if (!options.out.empty())
    if (Error error = prepareFolder(options.out))
      return error;

  StringSet<> used;
  used.insert((*entry)->name);
  keepEntries(module, used);
  mlir::OwningOpRef<mlir::ModuleOp> source;
  if (options.compare == "cpu")
    source = module.clone();
  auto program = buildProgram(module, options, options.target);
  if (!program)
    return program.takeError();
  auto call = Call::create(program->find((*entry)->name), *program->device, *args);
  if (!call)
    return call.takeError();
  if (Error error = (*call)->run())
    return error;
  auto results = (*call)->getResults();
  if (!results)
    return results.takeError();
  if (!options.out.empty()) {
    if (Error error = writeResults(options.out, *results))
      return error;
  } else if (options.compare.empty() && !options.bench) {
    printResults(**entry, *results);
  }
  ExitCode code = kSuccess;
  if (!options.compare.empty()) {
    auto expected =
        getExpected(**entry, options, source ? *source : module, *args);
    if (!expected)
      return expected.takeError();
    if (!compareResults(**entry, *results, *expected, options))
      code = kFailed;
  }
  if (options.bench)
    if (Error error = benchmark(**call, *program->device, options.benchSeconds))
      return error;
  return code;
}

/// The functions that a batch calls; what is wrong with a line shows when it runs.
StringSet<> entriesOf(ArrayRef<StringRef> lines) {
  StringSet<> names;
  for (StringRef line : lines) {
    Expected<json::Value> value = json::parse(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    if (const json::Object *object = value->getAsObject())
      if (std::optional<StringRef> entry = object->getString("entry"))
        names.insert(*entry);
  }
  return names;
}

/// One line of a batch file.
Error runLine(const Program &program, StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Array *args = object ? object->getArray("args") : nullptr;
  if (!args || !object->getString("entry") || !object->getString("out"))
    return createStringError("expected an object with entry, args and out");
  auto entry = findEntry(program.entries, *object->getString("entry"));
  if (!entry)
    return entry.takeError();
  std::vector<std::string> specs;
  for (const json::Value &arg : *args)
    specs.push_back(arg.getAsString().value_or("").str());
  if (specs.size() != (*entry)->args.size())
    return createStringError(Twine(specs.size()) + " arguments for " +
                             (*entry)->str());
  auto values = makeArguments(**entry, specs);
  if (!values)
    return values.takeError();
  auto call = Call::create(program.find((*entry)->name), *program.device, *values);
  if (!call)
    return call.takeError();
  if (Error error = (*call)->run())
    return error;
  auto results = (*call)->getResults();
  if (!results)
    return results.takeError();
  return writeResults(*object->getString("out"), *results);
}

Error runBatchLine(const Program &program, StringRef line, unsigned number) {
  if (line.trim().empty())
    return Error::success();
  if (Error error = runLine(program, line))
    return badArgument("--batch: line " + Twine(number) + ": " +
                       toString(std::move(error)));
  return Error::success();
}

/// Calls as they come on the standard input; `done` after each.
Error runStream(const Program &program) {
  std::string line;
  for (unsigned number = 1; std::getline(std::cin, line); ++number) {
    if (Error error = runBatchLine(program, line, number))
      return error;
    outs() << "done\n";
    outs().flush();
  }
  return Error::success();
}

Error runLines(const Program &program, ArrayRef<StringRef> lines) {
  for (auto [i, line] : enumerate(lines))
    if (Error error = runBatchLine(program, line, i + 1))
      return error;
  return Error::success();
}

Expected<ExitCode> runBatch(mlir::ModuleOp module, const Options &options) {
  std::unique_ptr<MemoryBuffer> file;
  SmallVector<StringRef> lines;
  if (options.batch != "-") {
    auto opened = MemoryBuffer::getFile(options.batch);
    if (!opened)
      return badArgument("--batch=" + options.batch + ": " +
                         opened.getError().message());
    file = std::move(*opened);
    file->getBuffer().split(lines, '\n');
    keepEntries(module, entriesOf(lines));
  }
  auto program = buildProgram(module, options, options.target);
  if (!program)
    return program.takeError();
  Error error = file ? runLines(*program, lines) : runStream(*program);
  if (error)
    return std::move(error);
  return kSuccess;
}

Expected<ExitCode> runTool(const Options &options) {
  // Known before a long compilation.
  auto target = createTarget(options.target);
  if (!target)
    return badArgument("--target: " + toString(target.takeError()));
  if (!sys::fs::exists(options.file) && options.file != "-")
    return badArgument(options.file + ": no such file");
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseModule(options.file, context);
  if (!module)
    return module.takeError();
  return options.batch.empty() ? runOnce(**module, options)
                               : runBatch(**module, options);
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  // A check that fails in compiled code has printed its line when it aborts.
  std::signal(SIGABRT, [](int) { std::_Exit(kFailed); });
  Options options = parseOptions(argc, argv);
  Expected<ExitCode> code = runTool(options);
  if (code)
    return *code;
  int status = kFailed;
  handleAllErrors(code.takeError(), [&](const ErrorInfoBase &error) {
    if (error.isA<BadArgument>())
      status = kBadArguments;
    errs() << "rudnn-run: " << error.message() << "\n";
  });
  return status;
}
