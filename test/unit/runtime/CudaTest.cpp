//===- CudaTest.cpp - The CUDA back end over a fake driver -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Append.h"
#include "rudnn/Runtime/Launch.h"
#include "rudnn/Runtime/TensorMapCache.h"

#include "CudaDriver.h"
#include "Plans.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <thread>

#if __has_include(<cuda.h>)
#include <cuda.h>
static_assert(sizeof(rudnn::cuda::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(sizeof(rudnn::cuda::LaunchAttribute) ==
              sizeof(CUlaunchAttribute));
static_assert(offsetof(rudnn::cuda::LaunchAttribute, bytes) ==
              offsetof(CUlaunchAttribute, value));
static_assert(offsetof(rudnn::cuda::LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(sizeof(rudnn::TensorMap) == sizeof(CUtensorMap));
#endif

using namespace rudnn;
using namespace rudnn::test;

namespace {

/// Before the driver is first opened.
const int useFake =
    setenv("RUDNN_CUDA_DRIVER", RUDNN_TEST_ARTIFACTS "/fake_cuda.so", 1);

int stat(const char *name) {
  void *library = dlopen(RUDNN_TEST_ARTIFACTS "/fake_cuda.so", RTLD_NOW);
  return reinterpret_cast<int (*)()>(dlsym(library, name))();
}

std::shared_ptr<Device> cuda(int ordinal) {
  auto device = Device::cuda(ordinal);
  EXPECT_TRUE(device) << device.message();
  return *device;
}

TEST(Cuda, Devices) {
  ASSERT_EQ(useFake, 0);
  EXPECT_EQ(Device::cudaCount(), 2);
  EXPECT_EQ(cuda(1)->name(), "cuda:1");
  EXPECT_EQ(cuda(1), cuda(1));
  EXPECT_NE(cuda(0), cuda(1));
  auto none = Device::cuda(2);
  EXPECT_EQ(none.code(), RUDNN_UNAVAILABLE);
  EXPECT_EQ(none.message(), "there is no CUDA device 2; this machine has 2");
  EXPECT_EQ(Device::cuda(-1).code(), RUDNN_UNAVAILABLE);
}

TEST(Cuda, AllocationFailure) {
  auto buffer = DeviceBuffer::allocate(cuda(0), size_t(1) << 41);
  EXPECT_EQ(buffer.code(), RUDNN_OUT_OF_MEMORY);
  EXPECT_EQ(buffer.message(), "cuda:0: no memory for 2199023255552 bytes");
}

/// One device's plan and caches through upload, append and advance.
void decode(int ordinal) {
  std::shared_ptr<Device> device = cuda(ordinal);
  Input in{2, 4, {{1, 3}, {0, 2}}, {2, 1}, {0, 1}, {1, 0}};
  auto plan = DevicePlan::upload(*in.create(), device);
  ASSERT_TRUE(plan) << plan.message();
  for (int64_t width : {3, 8}) { // Rows of 12 bytes and of 32.
    auto tensor = [&](std::vector<int64_t> shape, int64_t count, float first) {
      Tensor out;
      out.shape = std::move(shape);
      std::vector<float> values(count);
      std::iota(values.begin(), values.end(), first);
      out.buffer = *DeviceBuffer::allocate(device, count * 4);
      EXPECT_TRUE(
          device->upload(out.buffer.data(), values.data(), count * 4, nullptr)
              .ok());
      return out;
    };
    Tensor k = tensor({4, 2, 1, width}, 8 * width, 0);
    Tensor v = tensor({4, 2, 1, width}, 8 * width, 0), snapshot = v;
    AppendReport report;
    Status status =
        append(*plan, tensor({2, 1, width}, 2 * width, 100),
               tensor({2, 1, width}, 2 * width, 200), k, v, &report);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(report, (AppendReport{false, true, uint64_t(32 * width)}));
    std::vector<float> values(8 * width);
    ASSERT_TRUE(
        device->download(values.data(), k.data(), 32 * width, nullptr).ok());
    EXPECT_EQ(values[3 * width], 100);        // Page 1, slot 1.
    EXPECT_EQ(values[0], 100 + float(width)); // Page 0, slot 0.
    EXPECT_EQ(values[width], float(width));
  }
  ASSERT_TRUE(plan->advance(1).ok());
  U32s words(plan->view().wordCount());
  ASSERT_TRUE(
      device->download(words.data(), plan->words(), 4 * words.size(), nullptr)
          .ok());
  EXPECT_EQ(words, U32s(plan->view().words, plan->view().words + words.size()));
  EXPECT_EQ(words[2], 2u);
}

TEST(Cuda, DecodeOnTwoDevices) {
  decode(0);
  EXPECT_EQ(stat("fakeCudaDevice"), 0);
  decode(1);
  EXPECT_EQ(stat("fakeCudaDevice"), 1);
}

TEST(Cuda, DecodeInThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] { decode(t % 2); });
  for (std::thread &thread : threads)
    thread.join();
}

RudnnKernelImage image = {"image", 5, nullptr};

int32_t launch(RudnnKernelImage &image, const char *kernel, int shared = 0,
               int cluster = 1, int64_t grid = 4) {
  return rudnn_rt_launch_cluster(&image, kernel, grid, 1, 1, 128, 1, 1, cluster,
                                 1, 1, shared, nullptr, 0, nullptr);
}

TEST(CudaLaunch, LoadsOncePerContext) {
  static RudnnKernelImage fresh = {"fresh", 5, nullptr};
  int before = stat("fakeCudaModules");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      cuda::ContextScope scope;
      EXPECT_TRUE(scope.enter(t % 2).ok());
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(launch(fresh, "kernel"), RUDNN_OK) << rudnn_rt_error_text();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(stat("fakeCudaModules"), before + 2);
}

TEST(CudaLaunch, SharedMemoryAndClusters) {
  EXPECT_EQ(launch(image, "big", 200 * 1024), RUDNN_OK)
      << rudnn_rt_error_text();
  EXPECT_EQ(launch(image, "big", 16), RUDNN_OK);
  EXPECT_EQ(launch(image, "pair", 0, 2), RUDNN_OK);
  EXPECT_EQ(stat("fakeCudaCluster"), 2);
  EXPECT_EQ(launch(image, "pair"), RUDNN_OK);
  EXPECT_EQ(stat("fakeCudaCluster"), 1);
  int before = stat("fakeCudaLaunches");
  EXPECT_EQ(launch(image, "pair", 0, 1, 0), RUDNN_OK);
  EXPECT_EQ(stat("fakeCudaLaunches"), before);
}

void expectError(RudnnStatusCode code, const char *text) {
  EXPECT_EQ(rudnn_rt_take_status(), code);
  EXPECT_STREQ(rudnn_rt_error_text(), text);
  EXPECT_EQ(rudnn_rt_take_status(), RUDNN_OK);
}

TEST(CudaLaunch, ErrorsNameTheCallAndTheKernel) {
  launch(image, "missing");
  expectError(
      RUDNN_DRIVER_ERROR,
      "cuModuleGetFunction for missing: CUDA_ERROR_NOT_FOUND (500), fake");
  launch(image, "huge", 1 << 20);
  expectError(RUDNN_DRIVER_ERROR, "cuFuncSetAttribute for huge with 1048576 "
                                  "bytes of dynamic shared memory: "
                                  "CUDA_ERROR_INVALID_VALUE (1), fake");
  static RudnnKernelImage broken = {"broken", 6, nullptr};
  launch(broken, "kernel");
  expectError(
      RUDNN_DRIVER_ERROR,
      "cuModuleLoadData for kernel: CUDA_ERROR_INVALID_VALUE (1), fake");
  launch(image, "refused");
  expectError(
      RUDNN_DRIVER_ERROR,
      "cuLaunchKernelEx for refused: CUDA_ERROR_INVALID_VALUE (1), fake");
  launch(image, "wide", 0, 17);
  expectError(RUDNN_INVALID_ARGUMENT,
              "launch of wide: cluster[0] is 17, allowed are 0 to 16");
}

TEST(CudaLaunch, ErrorsBelongToTheirThread) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        int32_t status = launch(image, t % 2 ? "missing" : "kernel");
        EXPECT_EQ(status, t % 2 ? RUDNN_DRIVER_ERROR : RUDNN_OK);
        EXPECT_EQ(rudnn_rt_take_status(), status);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(rudnn_rt_take_status(), RUDNN_OK);
}

TEST(CudaLaunch, OneThreadOnTwoDevices) {
  static RudnnKernelImage fresh = {"alternating", 11, nullptr};
  int before = stat("fakeCudaModules");
  for (int i = 0; i < 6; ++i) {
    cuda::ContextScope scope;
    ASSERT_TRUE(scope.enter(i % 2).ok());
    EXPECT_EQ(launch(fresh, "kernel"), RUDNN_OK) << rudnn_rt_error_text();
    EXPECT_EQ(stat("fakeCudaDevice"), i % 2);
  }
  EXPECT_EQ(stat("fakeCudaModules"), before + 2);
}

TEST(CudaTensorMap, RefusedByTheDriver) {
  TensorMapDesc desc;
  desc.address = reinterpret_cast<void *>(uintptr_t(0x1000));
  desc.sizes[0] = 13;
  desc.box[0] = 64;
  auto map = TensorMapCache::global().get(desc);
  EXPECT_EQ(map.code(), RUDNN_DRIVER_ERROR);
  EXPECT_EQ(map.message(),
            "cuTensorMapEncodeTiled for f32 tensor of rank 1, box 64 x 1: "
            "CUDA_ERROR_INVALID_VALUE (1), fake");
}

TEST(CudaTensorMap, FromTheDriver) {
  TensorMapDesc desc;
  desc.address = reinterpret_cast<void *>(uintptr_t(0x1000));
  desc.sizes[0] = desc.box[0] = 64;
  auto map = TensorMapCache::global().get(desc);
  ASSERT_TRUE(map) << map.message();
  EXPECT_EQ(map->bytes[127], 7);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&*map) % 64, 0u);
}

TEST(CudaTensorMap, OfAnEmptyTensor) {
  alignas(64) char map[128] = {};
  const int64_t extents[2] = {0, 64}, strides[2] = {64, 1};
  const int32_t box[2] = {16, 64};
  EXPECT_EQ(rudnn_rt_tensor_map(map, RUDNN_BF16, 2, nullptr, extents, strides,
                                box, 128),
            RUDNN_OK)
      << rudnn_rt_error_text();
  EXPECT_EQ(map[127], 7);
}

TEST(CudaTensorMap, OnAThreadWithoutAContext) {
  std::thread([] {
    TensorMapDesc desc;
    desc.address = reinterpret_cast<void *>(uintptr_t(0x2000));
    desc.sizes[0] = desc.box[0] = 64;
    auto map = TensorMapCache::global().get(desc);
    EXPECT_TRUE(map) << map.message();
  }).join();
}

} // namespace
