//===- Program.cpp - Compiling and launching --------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"
#include "Numeric.h"
#include "rudnn/Emulator.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Scalar/SROA.h"

#include <cmath>

using namespace llvm;
using namespace rudnn::emulator;

Program::~Program() = default;

//===----------------------------------------------------------------------===//
// What compiled kernels call
//===----------------------------------------------------------------------===//

static uint64_t emuSpecial(uint32_t reg) {
  Machine &m = *Machine::active();
  return readSpecial(m, *m.current, reg);
}

static uint8_t *emuShared(uint64_t offset) {
  return Machine::active()->current->cta->shared + offset;
}

static uint8_t *emuDynamicShared(uint64_t) {
  Machine &m = *Machine::active();
  Cta &cta = *m.current->cta;
  return cta.shared + cta.sharedBytes - m.launch.dynamicSharedBytes;
}

static float emuAccumulator(float value) {
  Machine &m = *Machine::active();
  return readAccumulator(m, *m.current, value);
}

static void emuCheck(uint64_t address, uint64_t bytes, uint32_t kind) {
  Machine &m = *Machine::active();
  if (kind & 0x200)
    m.yield();
  m.checkAccess(address, bytes, Machine::Space(kind & 0xff), kind & 0x100);
}

// Conversions that the code generator calls by name. A 16-bit float returns in
// the low bits of a float register.
static float truncToBF16(float f) { return floatFromBits(toBF16(f)); }
static float truncDoubleToBF16(double f) {
  return floatFromBits(toBF16(float(f)));
}
static float truncToF16(float f) { return floatFromBits(toF16(f)); }
static float truncDoubleToF16(double f) {
  return floatFromBits(toF16(float(f)));
}
static float extendF16(float h) { return fromF16(floatBits(h)); }

static float nvRsqrt(float x) { return 1 / std::sqrt(x); }

namespace {

class JitProgram : public Program {
public:
  std::vector<std::string> kernels() const override {
    std::vector<std::string> names;
    for (auto &kernel : lowered.kernels)
      names.push_back(kernel.getKey().str());
    llvm::sort(names);
    return names;
  }

  Expected<std::vector<uint32_t>>
  argumentBytes(StringRef kernel) const override {
    auto info = find(kernel);
    if (!info)
      return info.takeError();
    return (*info)->argumentBytes;
  }

  Error launch(StringRef kernel, const Launch &launch,
               ArrayRef<rudnn::emulator::Argument> arguments,
               Statistics *statistics) const override;

  /// Takes both when it succeeds. (A module must go before its context.)
  Error compile(std::unique_ptr<Module> &module,
                std::unique_ptr<LLVMContext> &context);

private:
  Error defineSymbols();
  Expected<const KernelInfo *> find(StringRef kernel) const;

  Lowered lowered;
  std::vector<Buffer> variables;
  std::unique_ptr<orc::LLJIT> jit;
};

} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Error JitProgram::defineSymbols() {
  orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                           JITSymbolFlags::Exported |
                                               JITSymbolFlags::Callable};
  };
  add("rudnnEmuExecute", &execute);
  add("rudnnEmuSpecial", &emuSpecial);
  add("rudnnEmuShared", &emuShared);
  add("rudnnEmuDynamicShared", &emuDynamicShared);
  add("rudnnEmuAccumulator", &emuAccumulator);
  add("rudnnEmuCheck", &emuCheck);
  add("__truncsfbf2", &truncToBF16);
  add("__truncdfbf2", &truncDoubleToBF16);
  add("__truncsfhf2", &truncToF16);
  add("__truncdfhf2", &truncDoubleToF16);
  add("__extendhfsf2", &extendF16);
  // libdevice functions that reach the back end when no toolkit is there.
  add("__nv_expf", static_cast<float (*)(float)>(&std::exp));
  add("__nv_fast_expf", static_cast<float (*)(float)>(&std::exp));
  add("__nv_exp2f", static_cast<float (*)(float)>(&std::exp2));
  add("__nv_logf", static_cast<float (*)(float)>(&std::log));
  add("__nv_fast_logf", static_cast<float (*)(float)>(&std::log));
  add("__nv_log2f", static_cast<float (*)(float)>(&std::log2));
  add("__nv_log1pf", static_cast<float (*)(float)>(&std::log1p));
  add("__nv_expm1f", static_cast<float (*)(float)>(&std::expm1));
  add("__nv_sqrtf", static_cast<float (*)(float)>(&std::sqrt));
  add("__nv_rsqrtf", &nvRsqrt);
  add("__nv_tanhf", static_cast<float (*)(float)>(&std::tanh));
  add("__nv_erff", static_cast<float (*)(float)>(&std::erf));
  add("__nv_sinf", static_cast<float (*)(float)>(&std::sin));
  add("__nv_cosf", static_cast<float (*)(float)>(&std::cos));
  add("__nv_powf", static_cast<float (*)(float, float)>(&std::pow));
  add("__nv_fmaxf", static_cast<float (*)(float, float)>(&std::fmax));
  add("__nv_fminf", static_cast<float (*)(float, float)>(&std::fmin));
  add("__nv_fabsf", static_cast<float (*)(float)>(&std::fabs));
  add("__nv_floorf", static_cast<float (*)(float)>(&std::floor));
  add("__nv_ceilf", static_cast<float (*)(float)>(&std::ceil));
  add("__nv_fmaf", static_cast<float (*)(float, float, float)>(&std::fma));
  return jit->getMainJITDylib().define(
      orc::absoluteSymbols(std::move(symbols)));
}

/// Values that live in memory only because nothing optimized the module.
static void promoteMemory(Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder passes;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(sccs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, sccs, modules);
  SROAPass sroa(SROAOptions::PreserveCFG);
  for (Function &f : module)
    if (!f.isDeclaration())
      sroa.run(f, functions);
}

Error JitProgram::compile(std::unique_ptr<Module> &module,
                          std::unique_ptr<LLVMContext> &context) {
  static bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  if (!module->getTargetTriple().isNVPTX())
    return createStringError("the module's target is '" +
                             module->getTargetTriple().str() +
                             "', the emulator takes nvptx64 modules");
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  // Compiling takes longer than running: the fast code generator wins.
  host->setCodeGenOptLevel(CodeGenOptLevel::None);
  // The bf16 instructions of some hosts flush denormals.
  host->getFeatures().AddFeature("avx512bf16", false);
  host->getFeatures().AddFeature("avxneconvert", false);
  auto layout = host->getDefaultDataLayoutForTarget();
  if (!layout)
    return layout.takeError();
  module->setTargetTriple(host->getTargetTriple());
  module->setDataLayout(*layout);
  promoteMemory(*module);
  if (Error e = lowerToHost(*module, lowered))
    return e;

  auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!made)
    return made.takeError();
  jit = std::move(*made);
  if (Error e = defineSymbols())
    return e;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      layout->getGlobalPrefix());
  if (!process)
    return process.takeError();
  jit->getMainJITDylib().addGenerator(std::move(*process));
  if (Error e = jit->addIRModule(
          orc::ThreadSafeModule(std::move(module), std::move(context))))
    return e;
  for (auto &kernel : lowered.kernels) {
    auto address = jit->lookup(entryName(kernel.getKey()));
    if (!address)
      return address.takeError();
    kernel.getValue().entry = address->toPtr<void (*)(void **)>();
  }
  for (auto &v : lowered.variables) {
    auto address = jit->lookup(v.name);
    if (!address)
      return address.takeError();
    variables.push_back(
        {address->toPtr<void *>(), v.bytes, !v.constant, v.name});
  }
  return Error::success();
}

Expected<std::unique_ptr<Program>> Program::create(const Module &source) {
  // The copy lives in a context of its own, which the JIT may lock.
  SmallVector<char> bitcode;
  raw_svector_ostream os(bitcode);
  WriteBitcodeToFile(source, os);
  return parse(StringRef(bitcode.data(), bitcode.size()),
               source.getModuleIdentifier());
}

Expected<std::unique_ptr<Program>> Program::parse(StringRef irOrBitcode,
                                                  StringRef name) {
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  std::unique_ptr<MemoryBuffer> buffer =
      MemoryBuffer::getMemBufferCopy(irOrBitcode, name);
  std::unique_ptr<Module> module =
      parseIR(buffer->getMemBufferRef(), diagnostic, *context);
  if (!module) {
    std::string text;
    raw_string_ostream os(text);
    diagnostic.print(nullptr, os, /*ShowColors=*/false);
    return createStringError(text);
  }
  auto program = std::make_unique<JitProgram>();
  if (Error e = program->compile(module, context))
    return std::move(e);
  return program;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static std::string text(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," +
         std::to_string(d.z) + ")";
}

static bool same(Dim3 a, Dim3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// What the driver checks at a launch.
static Error checkLaunch(StringRef kernel, const KernelInfo &info,
                         const Launch &l,
                         ArrayRef<rudnn::emulator::Argument> arguments) {
  auto refuse = [&](const Twine &message) {
    return createStringError("kernel '" + kernel + "': " + message);
  };
  if (!l.grid.count() || !l.block.count() || !l.cluster.count())
    return refuse("an empty grid " + text(l.grid) + ", block " + text(l.block) +
                  " or cluster " + text(l.cluster));
  if (l.block.count() > 1024)
    return refuse("block " + text(l.block) + " has more than 1024 threads");
  if (info.maxThreads && l.block.count() > info.maxThreads)
    return refuse("block " + text(l.block) + " has more than the " +
                  Twine(info.maxThreads) + " threads of nvvm.maxntid");
  if (info.requiredBlock.x && !same(info.requiredBlock, l.block))
    return refuse("block " + text(l.block) + " is not the required " +
                  text(info.requiredBlock));
  if (info.cluster.x && !same(info.cluster, l.cluster))
    return refuse("cluster " + text(l.cluster) + " is not the kernel's " +
                  text(info.cluster));
  if (l.cluster.count() > 16)
    return refuse("cluster " + text(l.cluster) + " has more than 16 CTAs");
  if (l.grid.x % l.cluster.x || l.grid.y % l.cluster.y ||
      l.grid.z % l.cluster.z)
    return refuse("grid " + text(l.grid) +
                  " is not a multiple of the cluster " + text(l.cluster));
  uint64_t shared = uint64_t(info.staticShared) + l.dynamicSharedBytes;
  if (shared > info.maxShared)
    return refuse(Twine(info.staticShared) + " bytes of static and " +
                  Twine(l.dynamicSharedBytes) +
                  " of dynamic shared memory are more than " +
                  Twine(info.maxShared));
  if (arguments.size() != info.argumentBytes.size())
    return refuse("it takes " + Twine(info.argumentBytes.size()) +
                  " arguments, not " + Twine(arguments.size()));
  for (auto [i, a] : enumerate(arguments))
    if (a.data().size() != info.argumentBytes[i])
      return refuse("argument " + Twine(i) + " has " + Twine(a.data().size()) +
                    " bytes, the kernel takes " + Twine(info.argumentBytes[i]));
  return Error::success();
}

Expected<const KernelInfo *> JitProgram::find(StringRef kernel) const {
  auto it = lowered.kernels.find(kernel);
  if (it == lowered.kernels.end())
    return createStringError("no kernel '" + kernel +
                             "' in the module, which has " +
                             join(kernels(), ", "));
  return &it->second;
}

Error JitProgram::launch(StringRef kernel, const Launch &request,
                         ArrayRef<rudnn::emulator::Argument> arguments,
                         Statistics *statistics) const {
  Expected<const KernelInfo *> found = find(kernel);
  if (!found)
    return found.takeError();
  const KernelInfo &info = **found;
  Launch launch = request;
  if (launch.cluster.count() == 1 && info.cluster.x)
    launch.cluster = info.cluster;
  if (Error e = checkLaunch(kernel, info, launch, arguments))
    return e;

  // The parameter space: one block, each argument at its own alignment.
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;
  for (auto [i, a] : enumerate(arguments)) {
    bytes = alignTo(bytes, std::max<uint64_t>(info.argumentAlign[i], 16));
    offsets.push_back(bytes);
    bytes += a.data().size();
  }
  constexpr uint64_t align = 256;
  std::vector<uint8_t> storage(bytes + align);
  uint8_t *base = reinterpret_cast<uint8_t *>(
      alignTo(reinterpret_cast<uint64_t>(storage.data()), align));
  std::vector<void *> values;
  for (auto [i, a] : enumerate(arguments)) {
    memcpy(base + offsets[i], a.data().data(), a.data().size());
    values.push_back(base + offsets[i]);
  }
  std::vector<Buffer> own = variables;
  own.push_back({base, bytes, false, "kernel parameters"});

  Statistics local;
  Statistics &counts = statistics ? *statistics : local;
  counts = {};
  std::string error;
  {
    Machine machine(info, launch, own, counts);
    error = machine.run(values.data());
  }
  if (!error.empty())
    return createStringError("kernel '" + kernel + "': " + error);
  return Error::success();
}
