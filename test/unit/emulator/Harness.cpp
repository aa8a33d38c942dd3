//===- Harness.cpp - What the emulator's tests share ------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace rudnn::emulator;
using namespace rudnn::emulator::test;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// A launch that fails leaves its threads' stacks with what they own.
extern "C" const char *__asan_default_options() { return "detect_leaks=0"; }
#endif
#endif

llvm::Expected<std::unique_ptr<Program>>
rudnn::emulator::test::compileText(const std::string &text) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerConvertNVVMToLLVMInterface(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return llvm::createStringError("the MLIR text does not parse:\n" + text);
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createConvertNVVMToLLVMPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    return llvm::createStringError("the MLIR text does not lower");
  llvm::LLVMContext llvmContext;
  auto llvmModule = translateModuleToLLVMIR(*module, llvmContext);
  if (!llvmModule)
    return llvm::createStringError("the MLIR text does not translate");
  return Program::create(*llvmModule);
}

std::string rudnn::emulator::test::kernelText(const std::string &parameters,
                                              const std::string &body,
                                              const std::string &attributes) {
  return R"(
module attributes {llvm.target_triple = "nvptx64-nvidia-cuda", llvm.data_layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel()" +
         parameters + ") attributes {nvvm.kernel" + attributes + "} {\n" +
         R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    %all = arith.constant -1 : i32
    %ticks = arith.constant 10000000 : i32
    %true = arith.constant true
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = arith.andi %tid, %c31 : i32
    %first = arith.cmpi eq, %tid, %c0 : i32
)" + body +
         "\n    llvm.return\n  }\n}\n";
}

std::unique_ptr<Program>
rudnn::emulator::test::compileFile(const std::string &file,
                                   const Edits &edits) {
  auto buffer =
      llvm::MemoryBuffer::getFile(std::string(RUDNN_TEST_INPUTS) + "/" + file);
  if (!buffer) {
    ADD_FAILURE() << "cannot read " << file;
    return nullptr;
  }
  std::string text = (*buffer)->getBuffer().str();
  for (auto &[from, to] : edits) {
    size_t at = text.find(from);
    if (at == std::string::npos) {
      ADD_FAILURE() << file << " has no '" << from << "'";
      return nullptr;
    }
    for (; at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  auto program = llvm::StringRef(file).ends_with(".ll") ? Program::parse(text)
                                                        : compileText(text);
  if (!program) {
    ADD_FAILURE() << file << ": " << llvm::toString(program.takeError());
    return nullptr;
  }
  return std::move(*program);
}

std::vector<Options> rudnn::emulator::test::allModes() {
  std::vector<Options> modes(1);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Options o;
    o.mode = Mode::Delayed;
    o.seed = seed;
    modes.push_back(o);
  }
  return modes;
}
