//===- Kernel.cpp - A compiled function with edited kernels -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "rudnn/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <random>

using namespace rudnn;
using namespace rudnn::test;

static mlir::MLIRContext &context() {
  static mlir::MLIRContext *context = [] {
    static mlir::DialectRegistry registry;
    registerAllDialects(registry);
    auto *made = new mlir::MLIRContext(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

static int64_t sizeOf(const Shape &shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

static Values normal(int64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  Values values;
  for (int64_t i = 0; i < size; ++i) {
    float value = draw(random);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    values.push_back(bits >> 16);
  }
  return values;
}

/// The kernels of a compiled module: { data, size, state }.
static llvm::GlobalVariable &findImage(llvm::Module &module) {
  for (llvm::GlobalVariable &global : module.globals())
    if (global.getName().starts_with("rudnn_image_"))
      return global;
  llvm::report_fatal_error("the function has no kernels");
}

static std::string readKernels(llvm::Module &module) {
  auto *image =
      llvm::cast<llvm::ConstantStruct>(findImage(module).getInitializer());
  auto *data = llvm::cast<llvm::GlobalVariable>(image->getOperand(0));
  llvm::StringRef bytes =
      llvm::cast<llvm::ConstantDataArray>(data->getInitializer())
          ->getAsString();
  llvm::LLVMContext context;
  auto kernels = llvm::cantFail(llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bytes.drop_back(), "kernels"), context));
  std::string text;
  llvm::raw_string_ostream os(text);
  kernels->print(os, nullptr);
  return text;
}

static void writeKernels(llvm::Module &module, const std::string &text) {
  llvm::GlobalVariable &image = findImage(module);
  auto *old = llvm::cast<llvm::ConstantStruct>(image.getInitializer());
  auto *bytes = llvm::ConstantDataArray::getString(module.getContext(), text);
  auto *data = new llvm::GlobalVariable(module, bytes->getType(), true,
                                        llvm::GlobalValue::InternalLinkage,
                                        bytes, "edited_kernels");
  auto *size =
      llvm::ConstantInt::get(old->getOperand(1)->getType(), text.size());
  image.setInitializer(llvm::ConstantStruct::get(
      old->getType(), {data, size, old->getOperand(2)}));
}

Kernel::Kernel(const std::string &chip, const std::string &mlir,
               std::vector<Shape> arguments, Shape result)
    : target("emulate:" + chip), shapes(std::move(arguments)) {
  for (const Shape &shape : shapes)
    this->arguments.push_back(
        normal(sizeOf(shape), this->arguments.size() + 1));
  shapes.push_back(std::move(result));
  auto module = mlir::parseSourceString<mlir::ModuleOp>(mlir, &context());
  if (!module)
    llvm::report_fatal_error("the text of the test is wrong");
  compiled = llvm::cantFail(
      compile(*module, *llvm::cantFail(createTarget(target)), {}));
  llvm::raw_string_ostream os(host);
  llvm::WriteBitcodeToFile(*compiled.module, os);
  text = readKernels(*compiled.module);
  auto loaded = llvm::cantFail(load(text));
  expected = llvm::cantFail(call(loaded->getInfo().functions[0], target));
}

llvm::Expected<std::unique_ptr<LoadedModule>>
Kernel::load(const std::string &kernels) {
  CompiledModule copy;
  copy.context = std::make_unique<llvm::LLVMContext>();
  copy.module = llvm::cantFail(llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(host, "host"), *copy.context));
  llvm::TargetMachine &machine = *compiled.machine;
  copy.machine.reset(machine.getTarget().createTargetMachine(
      machine.getTargetTriple(), machine.getTargetCPU(),
      machine.getTargetFeatureString(), {}, llvm::Reloc::PIC_));
  copy.target = compiled.target;
  writeKernels(*copy.module, kernels);
  return rudnn::load(std::move(copy));
}

llvm::Expected<Values> Kernel::call(const RudnnFunctionInfo &function,
                                    const std::string &name) {
  auto target = llvm::cantFail(createTarget(name));
  auto device = llvm::cantFail(target->openDevice());
  std::vector<void *> buffers;
  std::vector<std::vector<int64_t>> descriptors;
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    int64_t size = sizeOf(shape), bytes = 2 * size;
    buffers.push_back(llvm::cantFail(device->allocate(bytes)));
    if (i < arguments.size())
      std::memcpy(buffers.back(), arguments[i].data(), bytes);
    else
      std::memset(buffers.back(), 0xff, bytes); // NaN
    auto address = reinterpret_cast<int64_t>(buffers.back());
    std::vector<int64_t> descriptor = {address, address, 0};
    descriptor.insert(descriptor.end(), shape.begin(), shape.end());
    for (int64_t extent : shape)
      descriptor.push_back(size /= extent);
    descriptors.push_back(std::move(descriptor));
  }
  std::vector<void *> pointers;
  for (auto &descriptor : descriptors)
    pointers.push_back(descriptor.data());
  int64_t workspaceBytes = function.workspace_bytes(pointers.data());
  buffers.push_back(
      llvm::cantFail(device->allocate(std::max<int64_t>(workspaceBytes, 1))));
  int32_t status = function.run(pointers.data(), buffers.back(), nullptr);
  Values result(sizeOf(shapes.back()));
  std::memcpy(result.data(), buffers[arguments.size()], 2 * result.size());
  std::string error = device->getErrorText();
  for (void *buffer : buffers)
    device->release(buffer);
  if (status)
    return llvm::createStringError(error);
  return result;
}

std::string Kernel::run(const std::string &kernels, int numSeeds) {
  auto loaded = load(kernels);
  if (!loaded)
    return toString(loaded.takeError());
  const RudnnFunctionInfo &function = (*loaded)->getInfo().functions[0];
  for (int seed = 0; seed <= numSeeds; ++seed) {
    auto result = call(
        function, seed == 0 ? target : target + ":" + std::to_string(seed));
    if (!result)
      return toString(result.takeError());
    if (*result != expected)
      return "wrong result with seed " + std::to_string(seed);
  }
  return "";
}
