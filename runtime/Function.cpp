//===- Function.cpp - Checked calls of compiled functions -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "DType.h"
#include "Support.h"
#include "rudnn/Runtime/Launch.h"
#include "rudnn/Runtime/Module.h"

#include <cstring>

using namespace rudnn;

namespace {

long long ll(int64_t value) { return static_cast<long long>(value); }

std::string describe(DLDataType type) {
  static const char *const codes[] = {"int",    "uint",    "float", "handle",
                                      "bfloat", "complex", "bool"};
  std::string out = type.code < std::size(codes) ? codes[type.code]
                                                 : text("code %u", type.code);
  out += std::to_string(type.bits);
  if (type.lanes != 1)
    out += "x" + std::to_string(type.lanes);
  return out;
}

bool hasType(const DLTensor &tensor, int32_t dtype) {
  constexpr uint8_t kBool = 6; // kDLBool, newer than DLPack 0.6.
  DLDataType type = tensor.dtype;
  if (type.lanes != 1 || type.bits != 8 * dtypeBytes(dtype))
    return false;
  if (dtype == RUDNN_BF16)
    return type.code == kDLBfloat;
  if (isFloat(dtype))
    return type.code == kDLFloat;
  return type.code == kDLInt || type.code == kDLUInt ||
         (dtype == RUDNN_I1 && type.code == kBool);
}

/// Collects the tensors of a call: checks each and makes the descriptors that
/// the compiled function reads.
class Call {
public:
  Call(const RudnnFunctionInfo &info, const char *target)
      : info(info), onCpu(std::strcmp(target, "cpu") == 0) {}

  /// `withMemory`: also device, strides, data and alignment.
  Status add(Tensors tensors, const RudnnArgInfo *specs, int32_t count,
             const char *kind, bool withMemory) {
    if (tensors.size() != size_t(count))
      return {RUDNN_CALL_COUNT, text("function %s takes %d %ss, got %zu",
                                     info.name, count, kind, tensors.size())};
    for (int32_t i = 0; i < count; ++i)
      if (Status status = addOne(tensors[i], specs[i], kind, i, withMemory);
          !status)
        return status;
    return {};
  }

  /// The array that compiled functions take. Valid until the next add().
  void *const *args() {
    pointers.clear();
    for (const Entry &entry : entries)
      pointers.push_back(entry.scalar ? entry.scalar
                                      : words.data() + entry.descriptor);
    return pointers.data();
  }

  Status checkResultShapes(Tensors results) {
    std::vector<int64_t> extents(resultRanks() + 1);
    info.result_shapes(args(), extents.data());
    size_t at = 0;
    for (int32_t i = 0; i < info.num_results; ++i) {
      const RudnnArgInfo &spec = info.args[info.num_args + i];
      for (int32_t d = 0; d < spec.rank; ++d, ++at)
        if (results[i]->shape[d] != extents[at])
          return fail(RUDNN_CALL_SHAPE, spec, "result", i,
                      text("dimension %d is %lld; these arguments give %lld", d,
                           ll(results[i]->shape[d]), ll(extents[at])));
    }
    return {};
  }

  std::vector<std::vector<int64_t>> resultShapes() {
    std::vector<int64_t> extents(resultRanks() + 1);
    info.result_shapes(args(), extents.data());
    std::vector<std::vector<int64_t>> shapes;
    auto at = extents.begin();
    for (int32_t i = 0; i < info.num_results; ++i) {
      int32_t rank = info.args[info.num_args + i].rank;
      shapes.emplace_back(at, at + rank);
      at += rank;
    }
    return shapes;
  }

  /// No result, nor the workspace, may share memory with another tensor.
  Status checkOverlap(const void *workspace, uint64_t bytes) const {
    auto overlap = [](uintptr_t a, uint64_t sizeA, uintptr_t b,
                      uint64_t sizeB) {
      return sizeA != 0 && sizeB != 0 && a < b + sizeB && b < a + sizeA;
    };
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry &a = entries[i];
      if (overlap(a.begin, a.bytes, reinterpret_cast<uintptr_t>(workspace),
                  bytes))
        return {RUDNN_CALL_OVERLAP,
                text("function %s: the workspace shares memory with %s",
                     info.name, info.args[i].name)};
      if (i < size_t(info.num_args))
        continue;
      for (size_t j = 0; j < i; ++j)
        if (overlap(a.begin, a.bytes, entries[j].begin, entries[j].bytes))
          return {RUDNN_CALL_OVERLAP,
                  text("function %s: result %zu (%s) shares memory with %s",
                       info.name, i - info.num_args, info.args[i].name,
                       info.args[j].name)};
    }
    return {};
  }

  /// The CUDA device of the tensors, -1 when there are none on one.
  int cudaDevice() const { return device; }

private:
  struct Entry {
    void *scalar = nullptr;
    size_t descriptor = 0; ///< In `words`.
    uintptr_t begin = 0;
    uint64_t bytes = 0;
  };

  size_t resultRanks() const {
    size_t ranks = 0;
    for (int32_t i = 0; i < info.num_results; ++i)
      ranks += size_t(info.args[info.num_args + i].rank);
    return ranks;
  }

  Status fail(RudnnStatusCode code, const RudnnArgInfo &spec, const char *kind,
              int32_t index, const std::string &what) const {
    return {code, text("function %s: %s %d (%s): ", info.name, kind, index,
                       spec.name) +
                      what};
  }

  Status addOne(const DLTensor *tensor, const RudnnArgInfo &spec,
                const char *kind, int32_t index, bool withMemory) {
    auto refuse = [&](RudnnStatusCode code, const std::string &what) {
      return fail(code, spec, kind, index, what);
    };
    if (!tensor)
      return refuse(RUDNN_CALL_NULL, "the tensor is null");
    if (!hasType(*tensor, spec.dtype))
      return refuse(RUDNN_CALL_DTYPE, text("dtype is %s; it must be %s",
                                           describe(tensor->dtype).c_str(),
                                           dtypeName(spec.dtype)));
    int32_t rank = spec.rank < 0 ? 0 : spec.rank;
    if (tensor->ndim != rank)
      return refuse(RUDNN_CALL_RANK,
                    text("rank is %d; it must be %d%s", tensor->ndim, rank,
                         spec.rank < 0 ? ", a scalar" : ""));
    if (rank > 0 && !tensor->shape)
      return refuse(RUDNN_CALL_NULL, "the shape is null");
    uint64_t elements = 1;
    bool overflow = false;
    for (int32_t d = 0; d < rank; ++d) {
      int64_t extent = tensor->shape[d];
      if (extent < 0 ||
          (spec.shape[d] != RUDNN_DYNAMIC && extent != spec.shape[d]))
        return refuse(
            RUDNN_CALL_SHAPE,
            spec.shape[d] == RUDNN_DYNAMIC
                ? text("dimension %d is %lld; it must not be negative", d,
                       ll(extent))
                : text("dimension %d is %lld; it must be %lld", d, ll(extent),
                       ll(spec.shape[d])));
      overflow |= __builtin_mul_overflow(elements, uint64_t(extent), &elements);
    }
    Entry entry;
    entry.begin =
        reinterpret_cast<uintptr_t>(tensor->data) + tensor->byte_offset;
    overflow |=
        __builtin_mul_overflow(elements, dtypeBytes(spec.dtype), &entry.bytes);
    if (overflow)
      return refuse(RUDNN_CALL_SHAPE, "it has more than 2^64 bytes");
    // The value of a scalar is read also where tensors need no data.
    if (withMemory || spec.rank < 0)
      if (Status status = checkMemory(*tensor, spec, entry, refuse); !status)
        return status;
    if (spec.rank < 0)
      entry.scalar = reinterpret_cast<void *>(entry.begin);
    else
      describeTensor(*tensor, entry);
    entries.push_back(entry);
    return {};
  }

  template <typename F>
  Status checkMemory(const DLTensor &tensor, const RudnnArgInfo &spec,
                     const Entry &entry, F refuse) {
    int type = tensor.device.device_type;
    bool host = type == kDLCPU || type == kDLCUDAHost;
    bool cuda = type == kDLCUDA || type == kDLCUDAManaged;
    bool wantsHost = onCpu || spec.rank < 0;
    if (wantsHost ? !host : !cuda)
      return refuse(RUDNN_CALL_DEVICE,
                    text("it is on a device of type %d; it must be on %s", type,
                         wantsHost ? "the CPU (1)" : "a CUDA device (2)"));
    if (!wantsHost) {
      if (device >= 0 && tensor.device.device_id != device)
        return refuse(RUDNN_CALL_DEVICE,
                      text("it is on cuda:%d, an earlier tensor on cuda:%d",
                           tensor.device.device_id, device));
      device = tensor.device.device_id;
    }
    if (entry.bytes == 0)
      return {};
    int64_t dense = 1;
    for (int d = tensor.ndim; tensor.strides && d-- > 0;) {
      if (tensor.shape[d] != 1 && tensor.strides[d] != dense)
        return refuse(RUDNN_CALL_STRIDE,
                      text("stride %d is %lld; the tensor must be dense, %lld",
                           d, ll(tensor.strides[d]), ll(dense)));
      dense *= tensor.shape[d];
    }
    if (!tensor.data)
      return refuse(RUDNN_CALL_NULL, "the data is null");
    uint32_t align =
        !wantsHost && isFloat(spec.dtype) ? 16 : dtypeBytes(spec.dtype);
    if (entry.begin % align != 0)
      return refuse(
          RUDNN_CALL_ALIGNMENT,
          text("the data is at 0x%llx; it must be aligned to %u bytes",
               ull(entry.begin), align));
    return {};
  }

  void describeTensor(const DLTensor &tensor, Entry &entry) {
    entry.descriptor = words.size();
    size_t rank = size_t(tensor.ndim);
    words.resize(words.size() + 3 + 2 * rank);
    int64_t *out = words.data() + entry.descriptor;
    out[0] = out[1] = int64_t(entry.begin);
    out[2] = 0;
    uint64_t stride = 1;
    for (size_t d = rank; d-- > 0;) {
      out[3 + d] = tensor.shape[d];
      out[3 + rank + d] = int64_t(stride);
      stride *= uint64_t(tensor.shape[d]);
    }
  }

  const RudnnFunctionInfo &info;
  bool onCpu;
  int device = -1;
  std::vector<Entry> entries;
  std::vector<int64_t> words;
  std::vector<void *> pointers;
};

} // namespace

Result<std::vector<std::vector<int64_t>>>
Function::resultShapes(Tensors arguments) const {
  Call call(*info, target);
  if (Status status =
          call.add(arguments, info->args, info->num_args, "argument", false);
      !status)
    return status;
  return call.resultShapes();
}

Result<uint64_t> Function::workspaceBytes(Tensors arguments) const {
  Call call(*info, target);
  if (Status status =
          call.add(arguments, info->args, info->num_args, "argument", false);
      !status)
    return status;
  int64_t bytes = info->workspace_bytes(call.args());
  if (bytes < 0)
    return {
        RUDNN_CALL_SHAPE,
        text("function %s: the workspace for these sizes exceeds 2^63 bytes",
             info->name)};
  return uint64_t(bytes);
}

Status Function::run(Tensors arguments, Tensors results, void *workspace,
                     uint64_t workspaceSize, Queue queue) const {
  Call call(*info, target);
  if (Status status =
          call.add(arguments, info->args, info->num_args, "argument", true);
      !status)
    return status;
  if (Status status = call.add(results, info->args + info->num_args,
                               info->num_results, "result", true);
      !status)
    return status;
  if (Status status = call.checkResultShapes(results); !status)
    return status;
  int64_t needed = info->workspace_bytes(call.args());
  if (needed < 0 || workspaceSize < uint64_t(needed) ||
      (needed > 0 && !workspace))
    return {RUDNN_CALL_WORKSPACE,
            text("function %s: the workspace has %llu bytes%s; %lld are needed",
                 info->name, ull(workspaceSize),
                 workspace ? "" : " and is null", ll(needed))};
  if (needed > 0 && reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return {RUDNN_CALL_WORKSPACE, text("function %s: the workspace is at %p; "
                                       "it must be aligned to 256 bytes",
                                       info->name, workspace)};
  if (Status status = call.checkOverlap(workspace, uint64_t(needed)); !status)
    return status;

  cuda::ContextScope scope;
  if (call.cudaDevice() >= 0)
    if (Status status = scope.enter(call.cudaDevice()); !status)
      return status;
  (void)rudnn_rt_take_status(); // Of an earlier caller on this thread.
  int32_t code = info->run(call.args(), workspace, queue);
  if (code == RUDNN_OK)
    return {};
  bool launched = rudnn_rt_take_status() != RUDNN_OK ||
                  code == RUDNN_DRIVER_ERROR || code == RUDNN_UNAVAILABLE;
  std::string message = text(
      "function %s: the compiled code reported status %d", info->name, code);
  if (!launched)
    return {RUDNN_CALL_FAILED, message};
  return {RudnnStatusCode(code),
          text("function %s: ", info->name) + rudnn_rt_error_text()};
}
