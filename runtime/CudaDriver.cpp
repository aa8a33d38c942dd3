//===- CudaDriver.cpp - The CUDA driver, opened at run time -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>

using namespace rudnn;
using namespace rudnn::cuda;

namespace {

struct Opened {
  Driver driver{};
  Status status;
};

template <typename Fn>
bool find(void *library, const char *name, Fn &function, Status &status) {
  function = reinterpret_cast<Fn>(dlsym(library, name));
  if (function)
    return true;
  status = Status(RUDNN_UNAVAILABLE,
                  std::string("libcuda.so.1 has no ") + name +
                      "; a driver for CUDA 12 or later is needed");
  return false;
}

Opened open() {
  Opened opened;
  Driver &d = opened.driver;
  Status &status = opened.status;
  const char *path = std::getenv("RUDNN_CUDA_DRIVER");
  void *library =
      dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    status =
        Status(RUDNN_UNAVAILABLE, std::string("no CUDA driver: ") + dlerror());
    return opened;
  }
  bool all =
      find(library, "cuInit", d.init, status) &&
      find(library, "cuDeviceGetCount", d.deviceGetCount, status) &&
      find(library, "cuDeviceGet", d.deviceGet, status) &&
      find(library, "cuDevicePrimaryCtxRetain", d.primaryContextRetain,
           status) &&
      find(library, "cuCtxGetCurrent", d.contextGetCurrent, status) &&
      find(library, "cuCtxSetCurrent", d.contextSetCurrent, status) &&
      find(library, "cuModuleLoadData", d.moduleLoadData, status) &&
      find(library, "cuModuleGetFunction", d.moduleGetFunction, status) &&
      find(library, "cuFuncSetAttribute", d.functionSetAttribute, status) &&
      find(library, "cuLaunchKernelEx", d.launchKernel, status) &&
      find(library, "cuGetErrorName", d.getErrorName, status) &&
      find(library, "cuGetErrorString", d.getErrorString, status) &&
      find(library, "cuMemAlloc_v2", d.memAlloc, status) &&
      find(library, "cuMemFree_v2", d.memFree, status) &&
      find(library, "cuMemcpyHtoDAsync_v2", d.memcpyToDevice, status) &&
      find(library, "cuMemcpyDtoHAsync_v2", d.memcpyToHost, status) &&
      find(library, "cuMemcpyDtoDAsync_v2", d.memcpyOnDevice, status) &&
      find(library, "cuTensorMapEncodeTiled", d.tensorMapEncodeTiled, status) &&
      find(library, "cuStreamCreate", d.streamCreate, status) &&
      find(library, "cuStreamDestroy_v2", d.streamDestroy, status) &&
      find(library, "cuStreamSynchronize", d.streamSynchronize, status);
  if (!all)
    return opened;
  if (cuda::Result result = d.init(0))
    status = driverError(d, "cuInit", "", result);
  return opened;
}

} // namespace

rudnn::Result<const Driver *> rudnn::cuda::getDriver() {
  static const Opened opened = open();
  if (!opened.status.ok())
    return opened.status;
  return &opened.driver;
}

Status rudnn::cuda::driverError(const Driver &driver, const char *call,
                                const char *about, cuda::Result result) {
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  std::string message = call;
  if (about && *about)
    message += std::string(" for ") + about;
  message += std::string(": ") + (name ? name : "unknown error") + " (" +
             std::to_string(result) + ")";
  if (text)
    message += std::string(", ") + text;
  return Status(RUDNN_DRIVER_ERROR, message);
}

rudnn::Result<Context> rudnn::cuda::currentContext(const Driver &driver) {
  Context context = nullptr;
  if (cuda::Result result = driver.contextGetCurrent(&context))
    return driverError(driver, "cuCtxGetCurrent", "", result);
  if (context)
    return context;
  Device device = 0;
  if (cuda::Result result = driver.deviceGet(&device, 0))
    return driverError(driver, "cuDeviceGet", "device 0", result);
  if (cuda::Result result = driver.primaryContextRetain(&context, device))
    return driverError(driver, "cuDevicePrimaryCtxRetain", "device 0", result);
  if (cuda::Result result = driver.contextSetCurrent(context))
    return driverError(driver, "cuCtxSetCurrent", "device 0", result);
  return context;
}

rudnn::Result<Context> rudnn::cuda::primaryContext(int ordinal) {
  auto driver = getDriver();
  if (!driver)
    return driver.status();
  static std::mutex mutex;
  static auto *contexts = new std::map<int, Context>;
  std::lock_guard<std::mutex> lock(mutex);
  Context &context = (*contexts)[ordinal];
  if (context)
    return context;
  std::string about = "device " + std::to_string(ordinal);
  Device device = 0;
  if (cuda::Result result = (*driver)->deviceGet(&device, ordinal))
    return driverError(**driver, "cuDeviceGet", about.c_str(), result);
  if (cuda::Result result = (*driver)->primaryContextRetain(&context, device)) {
    context = nullptr;
    return driverError(**driver, "cuDevicePrimaryCtxRetain", about.c_str(), result);
  }
  return context;
}

ContextScope::~ContextScope() {
  if (driver)
    (void)driver->contextSetCurrent(previous);
}

cuda::Result ContextScope::enter(const Driver &on, Context context) {
  Context current = nullptr;
  (void)on.contextGetCurrent(&current);
  if (current == context)
    return 0;
  if (cuda::Result result = on.contextSetCurrent(context))
    return result;
  previous = current;
  driver = &on;
  return 0;
}

Status ContextScope::enter(int ordinal) {
  auto context = primaryContext(ordinal);
  if (!context)
    return context.status();
  const Driver *on = *getDriver();
  if (cuda::Result result = enter(*on, *context))
    return driverError(*on, "cuCtxSetCurrent",
                       ("device " + std::to_string(ordinal)).c_str(), result);
  return {};
}
