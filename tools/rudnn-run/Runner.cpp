//===- Runner.cpp - Calls of compiled functions -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llvm;
using namespace rudnn;

/// The extents after `@` in a spec, e.g. 4x128.
static Expected<std::vector<int64_t>> parseExtents(StringRef text) {
  std::vector<int64_t> extents;
  SmallVector<StringRef> fields;
  if (!text.empty())
    text.split(fields, 'x');
  for (StringRef field : fields) {
    int64_t extent;
    if (field.getAsInteger(10, extent) || extent < 0)
      return createStringError("'@" + text + "': expected extents like @4x128");
    extents.push_back(extent);
  }
  return extents;
}

static Error checkShape(const ArgSignature &arg, ArrayRef<int64_t> shape) {
  bool same = shape.size() == arg.shape.size();
  for (size_t d = 0; same && d < shape.size(); ++d)
    same = arg.shape[d] == RUDNN_DYNAMIC || arg.shape[d] == shape[d];
  if (same)
    return Error::success();
  return createStringError(arg.name + " is " + arg.str() + ", not of shape " +
                           formatShape(shape));
}

Expected<HostTensor> rudnn::makeArgument(const ArgSignature &arg, StringRef spec) {
  if (spec.ends_with(".npy")) {
    Expected<HostTensor> tensor = readNpy(spec, arg.dtype);
    if (!tensor)
      return tensor;
    if (Error error = checkShape(arg, tensor->getShape()))
      return createStringError(spec + ": " + toString(std::move(error)));
    return tensor;
  }
  auto [values, extents] = spec.split('@');
  std::vector<int64_t> shape = arg.shape;
  if (spec.contains('@')) {
    Expected<std::vector<int64_t>> given = parseExtents(extents);
    if (!given)
      return given.takeError();
    if (Error error = checkShape(arg, *given))
      return error;
    shape = *given;
  }
  if (is_contained(shape, RUDNN_DYNAMIC))
    return createStringError(arg.name + " is " + arg.str() +
                             ": give its extents, e.g. " + values + "@4x128");
  Expected<HostTensor> tensor = HostTensor::create(arg.dtype, shape);
  if (!tensor)
    return createStringError(arg.name + ": " + toString(tensor.takeError()));
  if (Error error = fill(*tensor, values))
    return error;
  return tensor;
}

Call::~Call() {
  for (void *buffer : buffers)
    device.release(buffer);
}

Error Call::addBuffer(const HostTensor &host, bool isScalar) {
  numBytes += host.getNumBytes();
  int64_t rank = host.getShape().size();
  // allocated, aligned, offset, sizes, strides; or a scalar.
  auto descriptor = std::make_unique<int64_t[]>(3 + 2 * rank);
  if (isScalar) {
    std::memcpy(descriptor.get(), host.data(), host.getNumBytes());
  } else {
    Expected<void *> buffer = device.allocate(host.getNumBytes());
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(*buffer);
    if (Error error = device.copyToDevice(*buffer, host.data(), host.getNumBytes()))
      return error;
    descriptor[0] = descriptor[1] = reinterpret_cast<int64_t>(*buffer);
    int64_t stride = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      descriptor[3 + d] = host.getShape()[d];
      descriptor[3 + rank + d] = stride;
      stride *= host.getShape()[d];
    }
  }
  pointers.push_back(descriptor.get());
  descriptors.push_back(std::move(descriptor));
  return Error::success();
}

Error Call::addArguments(const std::vector<HostTensor> &args) {
  for (auto [i, arg] : enumerate(args))
    if (Error error = addBuffer(arg, function.args[i].rank < 0))
      return error;
  return Error::success();
}

Error Call::addResults() {
  ArrayRef<RudnnArgInfo> infos(function.args + function.num_args,
                               function.num_results);
  size_t numExtents = 0;
  for (const RudnnArgInfo &info : infos)
    numExtents += std::max(info.rank, 0);
  std::vector<int64_t> extents(numExtents);
  function.result_shapes(pointers.data(), extents.data());
  ArrayRef<int64_t> left = extents;
  for (const RudnnArgInfo &info : infos) {
    ArrayRef<int64_t> shape = left.take_front(std::max(info.rank, 0));
    left = left.drop_front(shape.size());
    if (any_of(shape, [](int64_t extent) { return extent < 0; }))
      return createStringError(StringRef(info.name) + " would have shape " +
                               formatShape(shape));
    auto result =
        HostTensor::create(static_cast<RudnnDType>(info.dtype), shape.vec());
    if (!result)
      return createStringError(StringRef(info.name) + ": " +
                               toString(result.takeError()));
    result->poison();
    if (Error error = addBuffer(*result, info.rank < 0))
      return error;
    results.push_back(std::move(*result));
  }
  return Error::success();
}

Expected<std::unique_ptr<Call>> Call::create(const RudnnFunctionInfo &function,
                                             TargetDevice &device,
                                             const std::vector<HostTensor> &args) {
  std::unique_ptr<Call> call(new Call(function, device));
  if (Error error = call->addArguments(args))
    return error;
  if (Error error = call->addResults())
    return error;
  if (int64_t bytes = function.workspace_bytes(call->pointers.data())) {
    Expected<void *> workspace = device.allocate(bytes);
    if (!workspace)
      return workspace.takeError();
    call->workspace = *workspace;
    call->buffers.push_back(*workspace);
  }
  return call;
}

Error Call::launch() {
  int32_t status = function.run(pointers.data(), workspace, device.getStream());
  if (status) {
    std::string text = device.getErrorText();
    return createStringError("@" + StringRef(function.name) + " failed with status " +
                             std::to_string(status) +
                             (text.empty() ? "" : ": " + text));
  }
  return Error::success();
}

Error Call::run() {
  if (Error error = launch())
    return error;
  return device.synchronize();
}

Expected<std::vector<HostTensor>> Call::getResults() {
  for (auto [i, result] : enumerate(results)) {
    const int64_t *descriptor = descriptors[function.num_args + i].get();
    if (function.args[function.num_args + i].rank < 0)
      std::memcpy(result.data(), descriptor, result.getNumBytes());
    else if (Error error = device.copyToHost(
                 result.data(), reinterpret_cast<const void *>(descriptor[1]),
                 result.getNumBytes()))
      return error;
  }
  return results;
}
