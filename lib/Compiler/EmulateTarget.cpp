//===- EmulateTarget.cpp - NVIDIA kernels on the CPU -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulateTarget.h"

#include "rudnn/EmulatorRuntime.h"
#include "rudnn/Passes.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// The host, with the emulator for kernels. They may access what this device has
/// allocated, and nothing else.
class EmulatedDevice : public TargetDevice {
public:
  explicit EmulatedDevice(const emulator::Options &options) {
    session.options = options;
    emulator::setSession(&session);
  }
  ~EmulatedDevice() override { emulator::setSession(nullptr); }

  llvm::Expected<void *> allocate(int64_t bytes) override {
    llvm::Expected<void *> pointer = TargetDevice::allocate(bytes);
    if (pointer)
      session.buffers.push_back({*pointer, size_t(bytes), /*writable=*/true,
                                 "buffer " + std::to_string(next++)});
    return pointer;
  }
  void release(void *pointer) override {
    llvm::erase_if(session.buffers,
                   [&](const emulator::Buffer &b) { return b.data == pointer; });
    TargetDevice::release(pointer);
  }

  std::string getErrorText() override { return emulator::lastError(); }

private:
  emulator::Session session;
  unsigned next = 0;
};

class EmulateTarget : public Target {
public:
  EmulateTarget(StringRef chip, const emulator::Options &options)
      : chip(chip), options(options) {}
  std::string getName() const override { return "emulate"; }
  void buildPipeline(OpPassManager &pm) const override {
    NvvmPipelineOptions nvvm;
    nvvm.chip = chip;
    nvvm.format = "llvm"; // the IR that the NVPTX back end would get
    buildNvvmPipeline(pm, nvvm);
  }
  llvm::Expected<std::unique_ptr<TargetDevice>> openDevice() const override {
    return std::make_unique<EmulatedDevice>(options);
  }
  /// Its kernels run in the tools only.
  std::vector<std::string> getOutputKinds() const override { return {"ll"}; }

private:
  std::string chip;
  emulator::Options options;
};

} // namespace

llvm::Expected<std::unique_ptr<Target>>
rudnn::createEmulateTarget(StringRef name) {
  std::string chip = "sm_90a";
  emulator::Options options;
  SmallVector<StringRef> parts;
  name.split(parts, ':');
  ArrayRef<StringRef> rest = ArrayRef(parts).drop_front();
  if (!rest.empty() && rest.front().starts_with("sm_")) {
    chip = rest.front().str();
    if (!llvm::is_contained({"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"}, chip))
      return llvm::createStringError("target '" + name + "': unknown chip '" +
                                     chip +
                                     "'; known: sm_80, sm_86, sm_89, sm_90, "
                                     "sm_90a");
    rest = rest.drop_front();
  }
  if (!rest.empty()) {
    options.mode = emulator::Mode::Delayed;
    if (rest.size() > 1 || rest.front().getAsInteger(10, options.seed))
      return llvm::createStringError("target '" + name +
                                     "': expected emulate[:CHIP][:SEED] with a "
                                     "number as the seed");
  }
  return std::make_unique<EmulateTarget>(chip, options);
}
