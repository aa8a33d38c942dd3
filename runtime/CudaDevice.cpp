//===- CudaDevice.cpp - The CUDA back end of Device -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Support.h"
#include "rudnn/Runtime/Device.h"
#include "rudnn/Runtime/Launch.h"

#include <algorithm>
#include <map>
#include <mutex>

using namespace rudnn;

namespace {

constexpr char kKernels[] =
#include "PlanKernels.inc"
    ;
RudnnKernelImage kernels = {kKernels, sizeof(kKernels) - 1, nullptr};

cuda::Pointer pointer(const void *memory) {
  return cuda::Pointer(reinterpret_cast<uintptr_t>(memory));
}

class CudaDevice final : public Device {
public:
  CudaDevice(const cuda::Driver &driver, int number, cuda::Context context)
      : driver(driver), number(number), context(context) {}

  DeviceKind kind() const override { return DeviceKind::Cuda; }
  int ordinal() const override { return number; }
  std::string name() const override { return "cuda:" + std::to_string(number); }

  Result<void *> allocate(size_t bytes) override {
    cuda::Pointer memory = 0;
    cuda::Result result = in(
        [&] { return driver.memAlloc(&memory, std::max<size_t>(bytes, 256)); });
    if (result == cuda::kOutOfMemory)
      return {RUDNN_OUT_OF_MEMORY,
              text("%s: no memory for %zu bytes", name().c_str(), bytes)};
    if (result)
      return error("cuMemAlloc", result);
    return reinterpret_cast<void *>(uintptr_t(memory));
  }
  void deallocate(void *memory) override {
    if (memory)
      (void)in([&] { return driver.memFree(pointer(memory)); });
  }

  Status upload(void *target, const void *source, size_t bytes,
                Queue queue) override {
    return call("cuMemcpyHtoDAsync", bytes, [&] {
      return driver.memcpyToDevice(pointer(target), source, bytes,
                                   stream(queue));
    });
  }
  Status download(void *target, const void *source, size_t bytes,
                  Queue queue) override {
    if (Status status = call("cuMemcpyDtoHAsync", bytes,
                             [&] {
                               return driver.memcpyToHost(target,
                                                          pointer(source),
                                                          bytes, stream(queue));
                             });
        !status)
      return status;
    return synchronize(queue);
  }
  Status copy(void *target, const void *source, size_t bytes,
              Queue queue) override {
    return call("cuMemcpyDtoDAsync", bytes, [&] {
      return driver.memcpyOnDevice(pointer(target), pointer(source), bytes,
                                   stream(queue));
    });
  }
  Status synchronize(Queue queue) override {
    return call("cuStreamSynchronize", 1,
                [&] { return driver.streamSynchronize(stream(queue)); });
  }

  Status advance(uint32_t *words, const uint32_t *queried, uint32_t queries,
                 uint32_t sequences, uint32_t steps, Queue queue) override {
    void *params[] = {&words, &queried, &queries, &sequences, &steps};
    uint64_t threads = std::max(queries, sequences);
    return launch("rudnn_plan_advance", ceilDiv(threads, 256), 256, params, 5,
                  queue);
  }

  Status scatterRows(const ScatterRows &in, Queue queue) override {
    ScatterRows args = in;
    uint64_t bits = reinterpret_cast<uintptr_t>(in.rows) |
                    reinterpret_cast<uintptr_t>(in.cache) | in.rowBytes;
    bool wide = bits % 16 == 0;
    uint64_t units = wide ? in.rowBytes / 16 : in.rowBytes;
    void *params[] = {&args.words,   &args.pageSize,   &args.sequences,
                      &args.queries, &args.tableWidth, &units,
                      &args.rows,    &args.cache};
    return launch(wide ? "rudnn_plan_scatter16" : "rudnn_plan_scatter1",
                  in.queries, 128, params, 8, queue);
  }

private:
  static cuda::Stream stream(Queue queue) {
    return static_cast<cuda::Stream>(queue);
  }

  template <typename F>
  cuda::Result in(F body) {
    cuda::ContextScope scope;
    cuda::Result result = scope.enter(driver, context);
    return result ? result : body();
  }
  Status error(const char *what, cuda::Result result) const {
    return cuda::driverError(driver, what, name().c_str(), result);
  }
  template <typename F>
  Status call(const char *what, size_t bytes, F body) {
    if (bytes == 0)
      return {};
    if (cuda::Result result = in(body))
      return error(what, result);
    return {};
  }
  Status launch(const char *kernel, uint64_t blocks, int64_t threads,
                void **params, int32_t count, Queue queue) {
    cuda::ContextScope scope;
    if (cuda::Result result = scope.enter(driver, context))
      return error("cuCtxSetCurrent", result);
    // An error that compiled code left behind is not ours.
    (void)rudnn_rt_take_status();
    int32_t code = rudnn_rt_launch(&kernels, kernel, int64_t(blocks), 1, 1,
                                   threads, 1, 1, 0, params, count, queue);
    if (code == RUDNN_OK)
      return {};
    (void)rudnn_rt_take_status();
    return {RudnnStatusCode(code), rudnn_rt_error_text()};
  }

  const cuda::Driver &driver;
  int number;
  cuda::Context context; ///< Retained for the life of the process.
};

} // namespace

int Device::cudaCount() {
  auto driver = cuda::getDriver();
  int count = 0;
  if (!driver || (*driver)->deviceGetCount(&count))
    return 0;
  return count;
}

Result<std::shared_ptr<Device>> Device::cuda(int ordinal) {
  auto driver = cuda::getDriver();
  if (!driver)
    return driver.status();
  int count = cudaCount();
  if (ordinal < 0 || ordinal >= count)
    return {RUDNN_UNAVAILABLE,
            text("there is no CUDA device %d; this machine has %d", ordinal,
                 count)};
  static std::mutex mutex;
  static auto *devices = new std::map<int, std::shared_ptr<Device>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Device> &device = (*devices)[ordinal];
  if (device)
    return device;
  auto context = cuda::primaryContext(ordinal);
  if (!context)
    return context.status();
  device = std::make_shared<CudaDevice>(**driver, ordinal, *context);
  return device;
}
