//===- Compile.cpp - Parse and compile a module -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Compiler.h"
#include "Conversions.h"
#include "rudnn/Passes.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace rudnn;

const EntrySignature *CompiledModule::find(llvm::StringRef entry) const {
  for (const EntrySignature &signature : entries)
    if (signature.name == entry)
      return &signature;
  return nullptr;
}

llvm::Expected<OwningOpRef<ModuleOp>> rudnn::parseModule(llvm::StringRef path,
                                                         MLIRContext &context) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
  if (!file)
    return llvm::createStringError(error);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return llvm::createStringError(path + ": not a valid module");
  return module;
}

/// The machine that runs host code; also initializes code generation.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const CompileOptions &options) {
  static bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)initialized;
  std::string features, cpu = options.cpu;
  if (cpu == "native") {
    cpu = llvm::sys::getHostCPUName().str();
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features += (features.empty() ? "" : ",") +
                  std::string(feature.second ? "+" : "-") + feature.first().str();
  }
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!info->isCPUStringValid(cpu))
    return llvm::createStringError("unknown CPU '" + options.cpu + "'");
  auto level = static_cast<llvm::CodeGenOptLevel>(options.optLevel);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, {}, llvm::Reloc::PIC_, std::nullopt, level));
}

static LogicalResult runPipeline(ModuleOp module, const Target &target,
                                 const CompileOptions &options) {
  PassManager pm(module->getName());
  pm.enableVerifier(options.verifyEach);
  DefaultTimingManager timing;
  timing.setEnabled(options.timePasses);
  timing.setDisplayMode(DefaultTimingManager::DisplayMode::Tree);
  TimingScope scope = timing.getRootScope();
  if (options.timePasses)
    pm.enableTiming(scope);
  pm.addPass(createRudnnEmitEntries());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  if (options.check)
    pm.addPass(createGenerateRuntimeVerificationPass());
  target.buildPipeline(pm);
  if (failed(pm.run(module)))
    return failure();
  return verify(module);
}

llvm::Expected<CompiledModule> rudnn::compile(ModuleOp module, const Target &target,
                                              const CompileOptions &options) {
  CompiledModule compiled;
  compiled.target = target.getName();
  llvm::Expected<std::vector<EntrySignature>> entries = getSignatures(module);
  if (!entries)
    return entries.takeError();
  compiled.entries = std::move(*entries);
  if (compiled.entries.empty())
    return llvm::createStringError("the module has no public function");
  auto machine = createMachine(options);
  if (!machine)
    return machine.takeError();
  compiled.machine = std::move(*machine);

  if (options.check && compiled.target != "cpu")
    return llvm::createStringError(
        "run-time checks are for target cpu only, not '" + compiled.target +
        "'");
  if (failed(runPipeline(module, target, options)))
    return llvm::createStringError("compilation for target '" + compiled.target +
                                   "' failed");
  compiled.context = std::make_unique<llvm::LLVMContext>();
  compiled.module = translateModuleToLLVMIR(module, *compiled.context, "rudnn");
  if (!compiled.module)
    return llvm::createStringError("translation to LLVM IR failed");
  compiled.module->setTargetTriple(compiled.machine->getTargetTriple());
  compiled.module->setDataLayout(compiled.machine->createDataLayout());
  if (llvm::Error error =
          emitEntryTable(*compiled.module, compiled.entries, compiled.target))
    return error;
  if (llvm::Error error = linkConversions(*compiled.module))
    return error;
  auto optimize =
      makeOptimizingTransformer(options.optLevel, 0, compiled.machine.get());
  if (llvm::Error error = optimize(compiled.module.get()))
    return error;
  return compiled;
}
