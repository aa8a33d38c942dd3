//===- fake_cuda.cpp - A CUDA driver in host memory -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What librudnn_rt uses of libcuda.so.1, for two devices: checks contexts and
// sizes, counts, and runs the runtime's own kernels by name. Opened through
// RUDNN_CUDA_DRIVER.
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace rudnn::cuda;

struct rudnn::cuda::ContextTag {
  int device;
};
struct rudnn::cuda::ModuleTag {
  Context context;
};
struct rudnn::cuda::FunctionTag {
  Module module;
  std::string name;
  int shared = 48 * 1024;
};

static ContextTag contexts[2] = {{0}, {1}};
static thread_local Context current;
static std::atomic<int> modulesLoaded, launches, lastCluster, lastDevice;
static const int kInvalidValue = 1, kInvalidContext = 201, kNotFound = 500;

template <typename T>
static T param(void **params, int i) {
  T value;
  std::memcpy(&value, params[i], sizeof(T));
  return value;
}

static void advance(void **p) {
  auto *words = param<uint32_t *>(p, 0);
  auto *queried = param<const uint32_t *>(p, 1);
  uint32_t queries = param<uint32_t>(p, 2), sequences = param<uint32_t>(p, 3);
  for (uint32_t r = 0; r < queries; ++r)
    words[queries + r] += param<uint32_t>(p, 4);
  for (uint32_t s = 0; s < sequences; ++s)
    words[2 * queries + s] += param<uint32_t>(p, 4) * queried[s];
}

static void scatter(void **p, size_t unit) {
  auto *words = param<const uint32_t *>(p, 0);
  uint32_t size = param<uint32_t>(p, 1), sequences = param<uint32_t>(p, 2);
  uint32_t queries = param<uint32_t>(p, 3), width = param<uint32_t>(p, 4);
  size_t bytes = param<uint64_t>(p, 5) * unit;
  for (uint32_t r = 0; r < queries; ++r) {
    uint32_t position = words[queries + r];
    uint32_t page =
        words[2 * queries + sequences + words[r] * width + position / size];
    std::memcpy(param<char *>(p, 7) +
                    (size_t(page) * size + position % size) * bytes,
                param<const char *>(p, 6) + r * bytes, bytes);
  }
}

extern "C" {

int fakeCudaModules() { return modulesLoaded; }
int fakeCudaLaunches() { return launches; }
int fakeCudaCluster() { return lastCluster; }
int fakeCudaDevice() { return lastDevice; }

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDevicePrimaryCtxRetain(Context *context, int device) {
  return *context = &contexts[device], 0;
}
int cuCtxGetCurrent(Context *context) { return *context = current, 0; }
int cuCtxSetCurrent(Context context) { return current = context, 0; }
int cuModuleLoadData(Module *module, const void *image) {
  if (!current)
    return kInvalidContext;
  if (!image || std::strcmp(static_cast<const char *>(image), "broken") == 0)
    return kInvalidValue;
  ++modulesLoaded;
  *module = new ModuleTag{current};
  return 0;
}
int cuModuleGetFunction(Function *function, Module module, const char *name) {
  if (std::strcmp(name, "missing") == 0)
    return kNotFound;
  *function = new FunctionTag{module, name};
  return 0;
}
int cuFuncSetAttribute(Function function, int attribute, int value) {
  if (attribute == kFunctionMaxDynamicShared) {
    if (value > 227 * 1024)
      return kInvalidValue;
    function->shared = value;
  }
  return 0;
}
int cuLaunchKernelEx(const LaunchConfig *config, Function function,
                     void **params, void **) {
  if (function->module->context != current)
    return kInvalidContext;
  if (int(config->sharedBytes) > function->shared ||
      function->name == "refused")
    return kInvalidValue;
  ++launches;
  lastDevice = current->device;
  lastCluster =
      config->numAttributes ? int(config->attributes[0].cluster[0]) : 1;
  if (function->name == "rudnn_plan_advance")
    advance(params);
  else if (function->name == "rudnn_plan_scatter16")
    scatter(params, 16);
  else if (function->name == "rudnn_plan_scatter1")
    scatter(params, 1);
  return 0;
}
int cuGetErrorName(int result, const char **name) {
  *name = result == kNotFound         ? "CUDA_ERROR_NOT_FOUND"
          : result == kInvalidContext ? "CUDA_ERROR_INVALID_CONTEXT"
                                      : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuGetErrorString(int, const char **text) { return *text = "fake", 0; }
int cuMemAlloc_v2(Pointer *memory, size_t bytes) {
  if (!current)
    return kInvalidContext;
  if (bytes > (size_t(1) << 40))
    return kOutOfMemory;
  *memory =
      Pointer(uintptr_t(std::aligned_alloc(256, (bytes + 255) / 256 * 256)));
  return 0;
}
int cuMemFree_v2(Pointer memory) {
  return std::free((void *)uintptr_t(memory)), 0;
}
static int move(uintptr_t to, uintptr_t from, size_t bytes) {
  if (!current)
    return kInvalidContext;
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
              bytes);
  return 0;
}
int cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Stream) {
  return move(to, reinterpret_cast<uintptr_t>(from), bytes);
}
int cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Stream) {
  return move(reinterpret_cast<uintptr_t>(to), from, bytes);
}
int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, Stream) {
  return move(to, from, bytes);
}
int cuStreamCreate(Stream *stream, unsigned) { return *stream = nullptr, 0; }
int cuStreamDestroy_v2(Stream) { return 0; }
int cuStreamSynchronize(Stream) { return current ? 0 : kInvalidContext; }
int cuTensorMapEncodeTiled(void *map, int, unsigned, void *,
                           const uint64_t *sizes, const uint64_t *,
                           const unsigned *, const unsigned *, int, int, int,
                           int) {
  if (!current)
    return kInvalidContext;
  if (sizes[0] == 13)
    return kInvalidValue;
  std::memset(map, 7, 128);
  return 0;
}

} // extern "C"
