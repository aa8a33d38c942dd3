//===- CudaTarget.cpp - NVIDIA GPUs -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTarget.h"
#include "KernelReport.h"

#include "rudnn/Passes.h"
#include "rudnn/Runtime/Device.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace rudnn;

static llvm::Error toError(const Status &status) {
  return status.ok() ? llvm::Error::success()
                     : llvm::createStringError(status.message());
}

namespace {

/// The first GPU, on its default stream.
class CudaDevice : public TargetDevice {
public:
  explicit CudaDevice(std::shared_ptr<Device> device)
      : device(std::move(device)) {}

  llvm::Expected<void *> allocate(int64_t bytes) override {
    Result<void *> memory = device->allocate(bytes);
    if (!memory)
      return toError(memory.status());
    return *memory;
  }
  void release(void *pointer) override { device->deallocate(pointer); }
  llvm::Error copyToDevice(void *target, const void *source,
                           int64_t bytes) override {
    return toError(device->upload(target, source, bytes, nullptr));
  }
  llvm::Error copyToHost(void *target, const void *source,
                         int64_t bytes) override {
    return toError(device->download(target, source, bytes, nullptr));
  }
  llvm::Error synchronize() override {
    return toError(device->synchronize(nullptr));
  }

private:
  std::shared_ptr<Device> device;
};

class CudaTarget : public Target {
public:
  CudaTarget(StringRef name, StringRef chip) : name(name), chip(chip) {}

  std::string getName() const override { return name; }

  void buildPipeline(OpPassManager &pm) const override {
    NvvmPipelineOptions options;
    options.chip = chip;
    // Without ptxas the artifact carries PTX, which the driver assembles.
    std::string toolkit = findToolkit();
    options.toolkit = toolkit;
    options.format = toolkit.empty() ? "isa" : "bin";
    buildNvvmPipeline(pm, options);
  }

  llvm::Expected<std::unique_ptr<TargetDevice>> openDevice() const override {
    Result<std::shared_ptr<Device>> device = Device::cuda(0);
    if (!device)
      return toError(device.status());
    return std::make_unique<CudaDevice>(*device);
  }

  std::vector<std::string> getOutputKinds() const override {
    return {"so", "o", "ll", "h"};
  }

  llvm::Expected<std::string> getReport(Operation *module) const override {
    return formatKernelReport(module);
  }

private:
  /// The folder of a CUDA toolkit with ptxas and libdevice, or nothing.
  static std::string findToolkit() {
    for (const char *variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
      if (const char *folder = std::getenv(variable))
        if (llvm::sys::fs::exists(Twine(folder) + "/bin/ptxas"))
          return folder;
    const char *usual = "/usr/local/cuda";
    return llvm::sys::fs::exists(Twine(usual) + "/bin/ptxas") ? usual : "";
  }

  std::string name, chip;
};

} // namespace

std::unique_ptr<Target> rudnn::createCudaTarget(StringRef name) {
  StringRef chip =
      llvm::StringSwitch<StringRef>(name)
          .Case("cuda", "sm_90a")
          .Cases({"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"}, name)
          .Default("");
  if (chip.empty())
    return nullptr;
  return std::make_unique<CudaTarget>(name, chip);
}
