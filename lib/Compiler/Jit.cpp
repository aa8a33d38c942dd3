//===- Jit.cpp - Run a compiled module in this process -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Compiler.h"
#include "rudnn/EmulatorRuntime.h"

#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace llvm;
using namespace rudnn;

LoadedModule::~LoadedModule() = default;

namespace {

class JitModule : public LoadedModule {
public:
  JitModule(std::unique_ptr<orc::LLJIT> jit, const RudnnModuleInfo &info)
      : jit(std::move(jit)), info(info) {}
  const RudnnModuleInfo &getInfo() const override { return info; }

private:
  std::unique_ptr<orc::LLJIT> jit;
  const RudnnModuleInfo &info;
};

} // namespace

Expected<std::unique_ptr<LoadedModule>> rudnn::load(CompiledModule &&compiled) {
  std::unique_ptr<TargetMachine> machine = std::move(compiled.machine);
  orc::JITTargetMachineBuilder builder(machine->getTargetTriple());
  builder.setCPU(machine->getTargetCPU().str());
  builder.addFeatures(SubtargetFeatures(machine->getTargetFeatureString()).getFeatures());
  builder.setCodeGenOptLevel(machine->getOptLevel());
  builder.setRelocationModel(Reloc::PIC_);
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
  if (!jit)
    return jit.takeError();

  if (compiled.target == "emulate") {
    orc::SymbolMap symbols;
    for (const emulator::RuntimeSymbol &symbol : emulator::runtimeSymbols())
      symbols[(*jit)->mangleAndIntern(symbol.name)] = {
          orc::ExecutorAddr::fromPtr(symbol.address), JITSymbolFlags::Exported};
    if (Error error = (*jit)->getMainJITDylib().define(
            orc::absoluteSymbols(std::move(symbols))))
      return error;
  }
  // libc, libm, libomp and the runtime are linked to the tool.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  orc::ThreadSafeModule module(std::move(compiled.module),
                               std::move(compiled.context));
  if (Error error = (*jit)->addIRModule(std::move(module)))
    return error;
  auto address = (*jit)->lookup(RUDNN_MODULE_SYMBOL);
  if (!address)
    return address.takeError();
  const RudnnModuleInfo *info = address->toPtr<RudnnModuleFn>()();
  return std::make_unique<JitModule>(std::move(*jit), *info);
}
