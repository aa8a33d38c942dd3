//===- Append.cpp - Write new keys and values into a paged cache -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Append.h"

#include "DType.h"
#include "Support.h"

using namespace rudnn;

namespace {

struct Operand {
  const char *name;
  const Tensor &tensor;
  size_t rank;
};

/// Bytes of a dense tensor; false on a negative extent or an overflow.
bool denseBytes(const Tensor &tensor, uint64_t &bytes) {
  bytes = dtypeBytes(tensor.dtype);
  bool empty = false;
  for (int64_t extent : tensor.shape) {
    if (extent < 0)
      return false;
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      return false;
  }
  if (empty)
    bytes = 0;
  return true;
}

Status checkStorage(const Operand &operand, int32_t dtype,
                    const Device *device) {
  const Tensor &tensor = operand.tensor;
  uint64_t stride = 1, bytes = 0;
  if (!tensor.strides.empty()) {
    if (tensor.strides.size() != tensor.shape.size())
      return {RUDNN_APPEND_LAYOUT,
              text("%s has %zu strides for rank %zu", operand.name,
                   tensor.strides.size(), tensor.shape.size())};
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      if (tensor.shape[i] != 1 && tensor.strides[i] != int64_t(stride))
        return {
            RUDNN_APPEND_LAYOUT,
            text("%s has stride %lld in dimension %zu; it must be dense, %llu",
                 operand.name, static_cast<long long>(tensor.strides[i]), i,
                 ull(stride))};
      stride *= uint64_t(tensor.shape[i]);
    }
  }
  if (tensor.dtype != dtype || !isDType(dtype))
    return {RUDNN_APPEND_DTYPE,
            text("%s is %s, new_k is %s", operand.name, dtypeName(tensor.dtype),
                 dtypeName(dtype))};
  if (!tensor.buffer || tensor.buffer.device().get() != device)
    return {RUDNN_APPEND_DEVICE,
            text("%s is on %s, the plan on %s", operand.name,
                 tensor.buffer ? tensor.buffer.device()->name().c_str()
                               : "no device",
                 device->name().c_str())};
  if (!denseBytes(tensor, bytes) || tensor.byteOffset > tensor.buffer.size() ||
      bytes > tensor.buffer.size() - tensor.byteOffset)
    return {RUDNN_APPEND_LAYOUT,
            text("%s does not fit into its buffer of %zu bytes at offset %llu",
                 operand.name, tensor.buffer.size(), ull(tensor.byteOffset))};
  return {};
}

Status checkShapes(const PlanView &plan, const Operand (&operands)[4]) {
  for (const Operand &operand : operands)
    if (operand.tensor.shape.size() != operand.rank)
      return {RUDNN_APPEND_RANK,
              text("%s has rank %zu; it must be %zu", operand.name,
                   operand.tensor.shape.size(), operand.rank)};
  auto expect = [](const Operand &operand, size_t dim, const char *what,
                   int64_t expected) -> Status {
    int64_t extent = operand.tensor.shape[dim];
    if (extent == expected)
      return {};
    return {RUDNN_APPEND_SHAPE,
            text("%s has %lld %s; %lld are expected", operand.name,
                 static_cast<long long>(extent), what,
                 static_cast<long long>(expected))};
  };
  const Operand &newK = operands[0], &newV = operands[1];
  const char *names[] = {"rows", "heads", "elements per head"};
  for (const Operand *operand : {&newK, &newV})
    for (size_t dim : {1, 2})
      if (operand->tensor.shape[dim] < 1)
        return {RUDNN_APPEND_SHAPE,
                text("%s has %lld %s; it must have at least 1", operand->name,
                     static_cast<long long>(operand->tensor.shape[dim]),
                     names[dim])};
  if (Status status = expect(newV, 1, "heads", newK.tensor.shape[1]); !status)
    return status;
  for (int i : {0, 1}) {
    const Operand &cache = operands[2 + i], &rows = operands[i];
    const std::pair<const char *, int64_t> expected[] = {
        {"pages", plan.pages},
        {"tokens per page", plan.pageSize},
        {"heads", rows.tensor.shape[1]},
        {"elements per head", rows.tensor.shape[2]}};
    for (size_t dim = 0; dim < 4; ++dim)
      if (Status status =
              expect(cache, dim, expected[dim].first, expected[dim].second);
          !status)
        return status;
  }
  for (const Operand *operand : {&newK, &newV})
    if (Status status = expect(*operand, 0, "rows", plan.queries); !status)
      return status;
  return {};
}

/// A copy of `tensor` in memory of its own.
Result<Tensor> clone(const Tensor &tensor, Queue queue) {
  uint64_t bytes = 0;
  (void)denseBytes(tensor, bytes);
  const std::shared_ptr<Device> &device = tensor.buffer.device();
  auto buffer = DeviceBuffer::allocate(device, bytes);
  if (!buffer)
    return buffer.status();
  if (Status status = device->copy(buffer->data(), tensor.data(), bytes, queue);
      !status)
    return status;
  Tensor out = tensor;
  out.buffer = *std::move(buffer);
  out.byteOffset = 0;
  return out;
}

Status scatter(const DevicePlan &plan, const Tensor &rows,
               const Tensor &cache) {
  const PlanView &view = plan.view();
  ScatterRows args{plan.words(),
                   view.pageSize,
                   view.sequences,
                   view.queries,
                   view.tableWidth,
                   uint64_t(rows.shape[1]) * uint64_t(rows.shape[2]) *
                       dtypeBytes(rows.dtype),
                   rows.data(),
                   cache.data()};
  return plan.device()->scatterRows(args, plan.queue());
}

} // namespace

Status rudnn::append(const DevicePlan &plan, const Tensor &newKeys,
                     const Tensor &newValues, Tensor &keyCache,
                     Tensor &valueCache, AppendReport *report) {
  AppendReport done;
  if (Status status = plan.validateWrites(); !status)
    return status;
  const Operand operands[4] = {{"new_k", newKeys, 3},
                               {"new_v", newValues, 3},
                               {"k_cache", keyCache, 4},
                               {"v_cache", valueCache, 4}};
  for (const Operand &operand : operands)
    if (Status status =
            checkStorage(operand, newKeys.dtype, plan.device().get());
        !status)
      return status;
  if (Status status = checkShapes(plan.view(), operands); !status)
    return status;
  if (report)
    *report = done;
  if (plan.view().queries == 0)
    return {};

  done.keyCopied = !keyCache.buffer.unique();
  done.valueCopied = !valueCache.buffer.unique();
  // Handles of their own would count as holders: only copies are held here.
  Tensor keyCopy, valueCopy;
  for (auto [copied, cache, copy] :
       {std::tuple(done.keyCopied, &keyCache, &keyCopy),
        std::tuple(done.valueCopied, &valueCache, &valueCopy)}) {
    if (!copied)
      continue;
    auto made = clone(*cache, plan.queue());
    if (!made)
      return made.status();
    *copy = *std::move(made);
    done.copiedBytes += copy->buffer.size();
  }
  Tensor &key = done.keyCopied ? keyCopy : keyCache;
  Tensor &value = done.valueCopied ? valueCopy : valueCache;
  if (Status status = scatter(plan, newKeys, key); !status)
    return status;
  if (Status status = scatter(plan, newValues, value); !status)
    return status;
  if (done.keyCopied)
    keyCache = std::move(keyCopy);
  if (done.valueCopied)
    valueCache = std::move(valueCopy);
  if (report)
    *report = done;
  return {};
}
