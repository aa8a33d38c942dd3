//===- HostRuntime.cpp - Compiled host code on the emulator -----*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn-c/Status.h"
#include "rudnn/EmulatorRuntime.h"
#include "rudnn/Runtime/Abi.h"
#include "rudnn/Runtime/Launch.h"

#include <cstring>
#include <mutex>

using namespace llvm;
using namespace rudnn::emulator;

namespace {

struct ThreadState {
  Session *session = nullptr;
  int32_t status = RUDNN_OK; ///< The first failure that nobody has taken.
  std::string text;

  int32_t fail(int32_t code, std::string message) {
    if (status == RUDNN_OK) {
      status = code;
      text = std::move(message);
    }
    return code;
  }
};
thread_local ThreadState state;

/// What tensor maps of empty tensors point to.
alignas(256) const char zeros[256] = {};

/// The image's program, which lives as long as the image's static object: that
/// is, as the process.
Expected<const Program *> programOf(RudnnKernelImage &image) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!image.state) {
    auto made = Program::parse(
        StringRef(static_cast<const char *>(image.data), image.size));
    if (!made)
      return made.takeError();
    image.state = made->release();
  }
  return static_cast<const Program *>(image.state);
}

Error runKernel(RudnnKernelImage &image, const char *kernel, Launch &launch,
                void **params, int32_t count) {
  Expected<const Program *> program = programOf(image);
  if (!program)
    return program.takeError();
  Expected<std::vector<uint32_t>> sizes = (*program)->argumentBytes(kernel);
  if (!sizes)
    return sizes.takeError();
  if (count != int32_t(sizes->size()))
    return createStringError("kernel '" + Twine(kernel) + "': it takes " +
                             Twine(sizes->size()) + " arguments, not " +
                             Twine(count));
  Session *session = state.session;
  if (session) {
    launch.options = session->options;
    // Each launch of a call draws its own order.
    launch.options.seed += 1000003 * session->launches++;
    launch.buffers = session->buffers;
    if (!launch.buffers.empty())
      launch.buffers.push_back({zeros, sizeof(zeros), false, "zeros"});
  }
  std::vector<rudnn::emulator::Argument> arguments;
  for (int32_t i = 0; i < count; ++i)
    arguments.push_back(
        rudnn::emulator::Argument::bytes(params[i], (*sizes)[i]));
  Statistics counts;
  Error error = (*program)->launch(kernel, launch, arguments, &counts);
  if (session) {
    session->totals.threads += counts.threads;
    session->totals.switches += counts.switches;
    session->totals.asyncCopies += counts.asyncCopies;
    session->totals.matrixOps += counts.matrixOps;
    session->totals.seconds += counts.seconds;
  }
  return error;
}

// The functions of Launch.h.

int32_t launchCluster(RudnnKernelImage *image, const char *kernel,
                      int64_t gridX, int64_t gridY, int64_t gridZ,
                      int64_t blockX, int64_t blockY, int64_t blockZ,
                      int64_t clusterX, int64_t clusterY, int64_t clusterZ,
                      int32_t sharedBytes, void **params, int32_t numParams,
                      void *) {
  if (state.status != RUDNN_OK)
    return state.status;
  if (!image || !kernel)
    return state.fail(RUDNN_INVALID_ARGUMENT,
                      "rudnn_rt_launch: the image or kernel name is null");
  if (!gridX || !gridY || !gridZ)
    return RUDNN_OK;
  Launch launch;
  auto dims = [&](Dim3 &to, int64_t x, int64_t y, int64_t z) {
    to = {uint32_t(x), uint32_t(y), uint32_t(z)};
    return to.x == x && to.y == y && to.z == z;
  };
  if (!dims(launch.grid, gridX, gridY, gridZ) ||
      !dims(launch.block, blockX, blockY, blockZ) ||
      !dims(launch.cluster, clusterX, clusterY, clusterZ) || sharedBytes < 0)
    return state.fail(RUDNN_INVALID_ARGUMENT,
                      "kernel '" + std::string(kernel) +
                          "': a negative or too large launch dimension");
  launch.dynamicSharedBytes = sharedBytes;
  if (Error error = runKernel(*image, kernel, launch, params, numParams))
    return state.fail(RUDNN_DRIVER_ERROR, toString(std::move(error)));
  return RUDNN_OK;
}

int32_t launchGrid(RudnnKernelImage *image, const char *kernel, int64_t gridX,
                   int64_t gridY, int64_t gridZ, int64_t blockX, int64_t blockY,
                   int64_t blockZ, int32_t sharedBytes, void **params,
                   int32_t numParams, void *stream) {
  return launchCluster(image, kernel, gridX, gridY, gridZ, blockX, blockY,
                       blockZ, 1, 1, 1, sharedBytes, params, numParams, stream);
}

Expected<ElementType> elementType(int32_t dtype) {
  switch (dtype) {
  case RUDNN_F32:
    return ElementType::F32;
  case RUDNN_F16:
    return ElementType::F16;
  case RUDNN_BF16:
    return ElementType::BF16;
  }
  return createStringError("rudnn_rt_tensor_map: dtype is " + Twine(dtype) +
                           ", allowed are f32, f16 and bf16");
}

/// The parameters of the driver: innermost dim first, strides in bytes.
Expected<rudnn::emulator::TensorMap>
makeTensorMap(int32_t dtype, int32_t rank, const void *address,
              const int64_t *extents, const int64_t *strides,
              const int32_t *box, int32_t swizzle) {
  Expected<ElementType> type = elementType(dtype);
  if (!type)
    return type.takeError();
  int64_t bytes = dtype == RUDNN_F32 ? 4 : 2;
  TiledMap map;
  map.type = *type;
  map.globalAddress = const_cast<void *>(address);
  map.swizzle = swizzle == 128  ? Swizzle::B128
                : swizzle == 64 ? Swizzle::B64
                : swizzle == 32 ? Swizzle::B32
                                : Swizzle::None;
  for (int32_t from = rank - 1; from >= 0; --from) {
    map.globalDim.push_back(extents[from]);
    map.boxDim.push_back(box[from]);
    if (from == rank - 1)
      continue;
    // The stride of a dim of one element is never used, but must be valid.
    uint64_t stride = uint64_t(strides[from]) * bytes;
    if (extents[from] == 1)
      stride = alignTo(stride, 16);
    map.globalStrides.push_back(stride == 0 ? 16 : stride);
  }
  return encodeTiled(map);
}

int32_t tensorMap(void *map, int32_t dtype, int32_t rank, const void *address,
                  const int64_t *extents, const int64_t *strides,
                  const int32_t *box, int32_t swizzle) {
  if (state.status != RUDNN_OK)
    return state.status;
  // As the runtime does: an empty tensor is one element, a zero.
  const int64_t one[5] = {1, 1, 1, 1, 1};
  bool empty = llvm::is_contained(ArrayRef(extents, rank), 0);
  auto made = empty ? makeTensorMap(dtype, rank, zeros, one, one, box, swizzle)
                    : makeTensorMap(dtype, rank, address, extents, strides, box,
                                    swizzle);
  if (!made)
    return state.fail(RUDNN_INVALID_ARGUMENT, toString(made.takeError()));
  std::memcpy(map, made->bytes, sizeof(made->bytes));
  return RUDNN_OK;
}

int32_t takeStatus() {
  int32_t status = state.status;
  state.status = RUDNN_OK;
  return status;
}

const char *errorText() { return state.text.c_str(); }

} // namespace

void rudnn::emulator::setSession(Session *session) { state.session = session; }

std::string rudnn::emulator::lastError() { return state.text; }

ArrayRef<RuntimeSymbol> rudnn::emulator::runtimeSymbols() {
  // Of the declared types, so that a change of Launch.h does not go unnoticed.
  static decltype(&rudnn_rt_launch) launch = &launchGrid;
  static decltype(&rudnn_rt_launch_cluster) cluster = &launchCluster;
  static decltype(&rudnn_rt_tensor_map) map = &tensorMap;
  static decltype(&rudnn_rt_take_status) take = &takeStatus;
  static decltype(&rudnn_rt_error_text) text = &errorText;
  static const RuntimeSymbol symbols[] = {
      {"rudnn_rt_launch", reinterpret_cast<void *>(launch)},
      {"rudnn_rt_launch_cluster", reinterpret_cast<void *>(cluster)},
      {"rudnn_rt_tensor_map", reinterpret_cast<void *>(map)},
      {"rudnn_rt_take_status", reinterpret_cast<void *>(take)},
      {"rudnn_rt_error_text", reinterpret_cast<void *>(text)},
  };
  return symbols;
}
