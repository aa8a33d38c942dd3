//===- CudaDriver.h - The CUDA driver, opened at run time -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few driver functions that the runtime uses, found with dlopen, so that it
// builds and loads on machines without CUDA. Types and values follow the
// driver's documented ABI.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_CUDADRIVER_H
#define RUDNN_RUNTIME_CUDADRIVER_H

#include "rudnn/Runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace rudnn::cuda {

using Result = int; // CUresult, 0 is success
using Device = int;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Pointer = unsigned long long; // CUdeviceptr

/// CUlaunchAttribute: an id and 64 bytes of value at offset 8.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  };
};
inline constexpr int kLaunchAttributeCluster = 4;

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kFunctionNonPortableCluster = 14;

struct Driver {
  Result (*init)(unsigned);
  Result (*deviceGetCount)(int *);
  Result (*deviceGet)(Device *, int);
  Result (*primaryContextRetain)(Context *, Device);
  Result (*contextGetCurrent)(Context *);
  Result (*contextSetCurrent)(Context);
  Result (*moduleLoadData)(Module *, const void *);
  Result (*moduleGetFunction)(Function *, Module, const char *);
  Result (*functionSetAttribute)(Function, int, int);
  Result (*launchKernel)(const LaunchConfig *, Function, void **, void **);
  Result (*getErrorName)(Result, const char **);
  Result (*getErrorString)(Result, const char **);
  Result (*memAlloc)(Pointer *, size_t);
  Result (*memFree)(Pointer);
  Result (*memcpyToDevice)(Pointer, const void *, size_t, Stream);
  Result (*memcpyToHost)(void *, Pointer, size_t, Stream);
  Result (*memcpyOnDevice)(Pointer, Pointer, size_t, Stream);
  Result (*streamCreate)(Stream *, unsigned);
  Result (*streamDestroy)(Stream);
  Result (*streamSynchronize)(Stream);
  /// cuTensorMapEncodeTiled.
  Result (*tensorMapEncodeTiled)(void *map, int dtype, unsigned rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides,
                                 const unsigned *box, const unsigned *steps,
                                 int interleave, int swizzle, int l2, int fill);
};

inline constexpr int kOutOfMemory = 2; // CUDA_ERROR_OUT_OF_MEMORY

/// The driver, initialized; opened once per process: libcuda.so.1, or the library
/// that the environment variable RUDNN_CUDA_DRIVER names. The status says what is
/// missing.
rudnn::Result<const Driver *> getDriver();

/// A status with the name of the call, what it was about, and the driver's
/// text.
Status driverError(const Driver &driver, const char *call, const char *about,
                   Result result);

/// Makes the primary context of device 0 current when the thread has none.
rudnn::Result<Context> currentContext(const Driver &driver);

/// The primary context of a device, retained for the life of the process.
rudnn::Result<Context> primaryContext(int ordinal);

/// Makes a context current and puts the caller's back at the end.
class ContextScope {
public:
  ContextScope() = default;
  ContextScope(const ContextScope &) = delete;
  ~ContextScope();
  Status enter(int ordinal);
  Result enter(const Driver &driver, Context context);

private:
  const Driver *driver = nullptr; ///< Set when there is something to put back.
  Context previous = nullptr;
};

} // namespace rudnn::cuda

#endif // RUDNN_RUNTIME_CUDADRIVER_H
