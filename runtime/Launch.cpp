//===- Launch.cpp - Kernels of compiled artifacts -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Launch.h"

#include "CudaDriver.h"
#include "DType.h"
#include "rudnn/Runtime/TensorMapCache.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

using namespace rudnn;

namespace {

/// The calling thread's first error since it was last asked for.
struct ThreadError {
  int32_t pending = RUDNN_OK;
  std::string text;
};
thread_local ThreadError threadError;

int32_t report(const Status &status) {
  threadError.pending = status.code();
  threadError.text = status.message();
  return status.code();
}

struct LoadedKernel {
  cuda::Function function = nullptr;
  int32_t sharedBytes = 0; // the limit that was set
};

/// What is loaded of one image, by context: contexts come and go, and two
/// devices may use one image.
class ImageState {
public:
  rudnn::Result<cuda::Function> get(const cuda::Driver &driver,
                                    const RudnnKernelImage &image,
                                    const char *kernel, int32_t sharedBytes,
                                    bool cluster) {
    Result<cuda::Context> context = cuda::currentContext(driver);
    if (!context)
      return context.status();
    Key key(*context, kernel);
    {
      std::shared_lock<std::shared_mutex> lock(mutex);
      auto it = kernels.find(key);
      if (it != kernels.end() && sharedBytes <= it->second.sharedBytes)
        return it->second.function;
    }
    std::unique_lock<std::shared_mutex> lock(mutex);
    return load(driver, image, key, sharedBytes, cluster);
  }

private:
  using Key = std::pair<cuda::Context, std::string>;

  rudnn::Result<cuda::Function> load(const cuda::Driver &driver,
                                     const RudnnKernelImage &image,
                                     const Key &key, int32_t sharedBytes,
                                     bool cluster) {
    const char *name = key.second.c_str();
    cuda::Module &module = modules[key.first];
    if (!module)
      if (cuda::Result result = driver.moduleLoadData(&module, image.data)) {
        module = nullptr;
        return cuda::driverError(driver, "cuModuleLoadData", name, result);
      }
    LoadedKernel &kernel = kernels[key];
    if (!kernel.function)
      if (cuda::Result result =
              driver.moduleGetFunction(&kernel.function, module, name)) {
        kernels.erase(key);
        return cuda::driverError(driver, "cuModuleGetFunction", name, result);
      }
    if (cluster)
      (void)driver.functionSetAttribute(kernel.function,
                                        cuda::kFunctionNonPortableCluster, 1);
    if (sharedBytes > kernel.sharedBytes) {
      if (cuda::Result result = driver.functionSetAttribute(
              kernel.function, cuda::kFunctionMaxDynamicShared, sharedBytes))
        return cuda::driverError(driver, "cuFuncSetAttribute",
                                 (key.second + " with " +
                                  std::to_string(sharedBytes) +
                                  " bytes of dynamic shared memory")
                                     .c_str(),
                                 result);
      kernel.sharedBytes = sharedBytes;
    }
    return kernel.function;
  }

  std::shared_mutex mutex;
  std::map<cuda::Context, cuda::Module> modules;
  std::map<Key, LoadedKernel> kernels;
};

ImageState &stateOf(RudnnKernelImage *image) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  // Lives as long as the image's static object, that is, as the process.
  if (!image->state)
    image->state = new ImageState;
  return *static_cast<ImageState *>(image->state);
}

Status checkDims(const char *kernel, const char *what, const int64_t (&dims)[3],
                 const int64_t (&most)[3]) {
  for (int i = 0; i < 3; ++i)
    if (dims[i] < 0 || dims[i] > most[i])
      return Status(RUDNN_INVALID_ARGUMENT,
                    std::string("launch of ") + kernel + ": " + what + "[" +
                        std::to_string(i) + "] is " + std::to_string(dims[i]) +
                        ", allowed are 0 to " + std::to_string(most[i]));
  return Status::success();
}

} // namespace

int32_t rudnn_rt_launch_cluster(RudnnKernelImage *image, const char *kernel,
                                int64_t grid_x, int64_t grid_y, int64_t grid_z,
                                int64_t block_x, int64_t block_y,
                                int64_t block_z, int64_t cluster_x,
                                int64_t cluster_y, int64_t cluster_z,
                                int32_t shared_bytes, void **params,
                                int32_t num_params, void *stream) {
  (void)num_params;
  if (threadError.pending != RUDNN_OK)
    return threadError.pending;
  if (!image || !image->data || !kernel)
    return report(Status(RUDNN_INVALID_ARGUMENT,
                         "rudnn_rt_launch: the image or kernel name is null"));
  const int64_t grid[3] = {grid_x, grid_y, grid_z};
  const int64_t block[3] = {block_x, block_y, block_z};
  const int64_t cluster[3] = {cluster_x, cluster_y, cluster_z};
  // Limits of every device since compute capability 3.0.
  if (Status status =
          checkDims(kernel, "grid", grid, {INT32_MAX, 65535, 65535});
      !status)
    return report(status);
  if (Status status = checkDims(kernel, "block", block, {1024, 1024, 64});
      !status)
    return report(status);
  if (Status status = checkDims(kernel, "cluster", cluster, {16, 16, 16});
      !status)
    return report(status);
  if (grid_x == 0 || grid_y == 0 || grid_z == 0)
    return RUDNN_OK;
  Result<const cuda::Driver *> driver = cuda::getDriver();
  if (!driver)
    return report(driver.status());
  bool clustered = cluster_x * cluster_y * cluster_z > 1;
  Result<cuda::Function> function =
      stateOf(image).get(**driver, *image, kernel, shared_bytes, clustered);
  if (!function)
    return report(function.status());
  cuda::LaunchAttribute attribute{};
  attribute.id = cuda::kLaunchAttributeCluster;
  cuda::LaunchConfig config{};
  for (int i = 0; i < 3; ++i) {
    config.grid[i] = unsigned(grid[i]);
    config.block[i] = unsigned(block[i]);
    attribute.cluster[i] = unsigned(cluster[i]);
  }
  config.sharedBytes = unsigned(shared_bytes);
  config.stream = static_cast<cuda::Stream>(stream);
  config.attributes = &attribute;
  config.numAttributes = clustered ? 1 : 0;
  if (cuda::Result result =
          (*driver)->launchKernel(&config, *function, params, nullptr))
    return report(
        cuda::driverError(**driver, "cuLaunchKernelEx", kernel, result));
  return RUDNN_OK;
}

int32_t rudnn_rt_launch(RudnnKernelImage *image, const char *kernel,
                        int64_t grid_x, int64_t grid_y, int64_t grid_z,
                        int64_t block_x, int64_t block_y, int64_t block_z,
                        int32_t shared_bytes, void **params, int32_t num_params,
                        void *stream) {
  return rudnn_rt_launch_cluster(image, kernel, grid_x, grid_y, grid_z, block_x,
                                 block_y, block_z, 1, 1, 1, shared_bytes,
                                 params, num_params, stream);
}

/// Zeros in the memory of the current context, made once in each.
static Result<const void *> zeros() {
  Result<const cuda::Driver *> driver = cuda::getDriver();
  if (!driver)
    return driver.status();
  Result<cuda::Context> context = cuda::currentContext(**driver);
  if (!context)
    return context.status();
  static std::mutex mutex;
  static auto *made = new std::map<cuda::Context, const void *>;
  static const char content[256] = {};
  std::lock_guard<std::mutex> lock(mutex);
  const void *&memory = (*made)[*context];
  if (memory)
    return memory;
  cuda::Pointer fresh = 0;
  if (cuda::Result result = (*driver)->memAlloc(&fresh, sizeof(content)))
    return cuda::driverError(**driver, "cuMemAlloc", "256 bytes", result);
  if (cuda::Result result =
          (*driver)->memcpyToDevice(fresh, content, sizeof(content), nullptr))
    return cuda::driverError(**driver, "cuMemcpyHtoDAsync", "256 bytes",
                             result);
  if (cuda::Result result = (*driver)->streamSynchronize(nullptr))
    return cuda::driverError(**driver, "cuStreamSynchronize", "", result);
  memory = reinterpret_cast<const void *>(uintptr_t(fresh));
  return memory;
}

int32_t rudnn_rt_tensor_map(void *map, int32_t dtype, int32_t rank,
                            const void *address, const int64_t *extents,
                            const int64_t *strides, const int32_t *box,
                            int32_t swizzle) {
  if (threadError.pending != RUDNN_OK)
    return threadError.pending;
  if (rank < 1 || rank > 5)
    return report(Status(RUDNN_INVALID_ARGUMENT,
                         "rudnn_rt_tensor_map: rank is " +
                             std::to_string(rank) + ", allowed are 1 to 5"));
  TensorMapDesc desc;
  desc.dtype = dtype;
  desc.rank = rank;
  desc.address = address;
  desc.l2 = TensorMapL2::B256;
  desc.swizzle = swizzle == 128  ? TensorMapSwizzle::B128
                 : swizzle == 64 ? TensorMapSwizzle::B64
                 : swizzle == 32 ? TensorMapSwizzle::B32
                                 : TensorMapSwizzle::None;
  // A kernel may copy a tile of an empty tensor, and no map has a size of zero:
  // one element, a zero, stands for it.
  bool empty = std::find(extents, extents + rank, 0) != extents + rank;
  if (empty) {
    Result<const void *> zero = zeros();
    if (!zero)
      return report(zero.status());
    desc.address = *zero;
  }
  for (int32_t i = 0; i < rank; ++i) {
    int32_t from = rank - 1 - i;
    desc.sizes[i] = empty ? 1 : uint64_t(extents[from]);
    desc.box[i] = uint32_t(box[from]);
    if (i > 0 && empty)
      desc.strides[i - 1] = 16;
    if (i == 0 || empty)
      continue;
    // The stride of a dim of one element is never used, but must be valid.
    uint64_t bytes = uint64_t(strides[from]) * dtypeBytes(dtype);
    if (extents[from] == 1)
      bytes = (bytes + 15) / 16 * 16;
    desc.strides[i - 1] = bytes == 0 ? 16 : bytes;
  }
  Result<TensorMap> encoded = TensorMapCache::global().get(desc);
  if (!encoded)
    return report(encoded.status());
  std::memcpy(map, encoded->bytes, sizeof(encoded->bytes));
  return RUDNN_OK;
}

int32_t rudnn_rt_take_status(void) {
  return std::exchange(threadError.pending, RUDNN_OK);
}

const char *rudnn_rt_error_text(void) { return threadError.text.c_str(); }
