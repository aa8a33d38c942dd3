//===- Targets.cpp - The targets of the tools -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Target.h"

#include "CudaTarget.h"
#include "EmulateTarget.h"
#include "rudnn/Passes.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace rudnn;

TargetDevice::~TargetDevice() = default;

llvm::Expected<void *> TargetDevice::allocate(int64_t bytes) {
  int64_t rounded = std::max<int64_t>((bytes + 255) / 256 * 256, 256);
  void *pointer = std::aligned_alloc(256, rounded);
  if (!pointer)
    return llvm::createStringError("out of memory: " + std::to_string(bytes) +
                                   " bytes");
  return pointer;
}

void TargetDevice::release(void *pointer) { std::free(pointer); }

llvm::Error TargetDevice::copyToDevice(void *device, const void *host, int64_t bytes) {
  std::memcpy(device, host, bytes);
  return llvm::Error::success();
}

llvm::Error TargetDevice::copyToHost(void *host, const void *device, int64_t bytes) {
  std::memcpy(host, device, bytes);
  return llvm::Error::success();
}

llvm::Error TargetDevice::synchronize() { return llvm::Error::success(); }

Target::~Target() = default;

llvm::Expected<std::string> Target::getReport(Operation *) const {
  return llvm::createStringError("--report: target '" + getName() +
                                 "' has no kernels to report on");
}

namespace {

class CpuTarget : public Target {
public:
  std::string getName() const override { return "cpu"; }
  void buildPipeline(OpPassManager &pm) const override { buildCpuPipeline(pm); }
  llvm::Expected<std::unique_ptr<TargetDevice>> openDevice() const override {
    return std::make_unique<TargetDevice>();
  }
  std::vector<std::string> getOutputKinds() const override {
    return {"so", "o", "ll", "h"};
  }
};

} // namespace

llvm::Expected<std::unique_ptr<Target>> rudnn::createTarget(llvm::StringRef name) {
  if (name == "cpu")
    return std::make_unique<CpuTarget>();
  if (std::unique_ptr<Target> target = createCudaTarget(name))
    return target;
  if (name == "emulate" || name.starts_with("emulate:"))
    return createEmulateTarget(name);
  return llvm::createStringError("unknown target '" + name +
                                 "'; known: cpu, cuda, sm_80, sm_86, sm_89, "
                                 "sm_90, sm_90a, emulate[:CHIP][:SEED]");
}
