//===- CApi.cpp - librudnn_rt for C -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn-c/Runtime.h"

#include "DType.h"
#include "Support.h"
#include "rudnn/Runtime/Append.h"
#include "rudnn/Runtime/Module.h"
#include "rudnn/Runtime/OrderedBackwardWorkspace.h"
#include "rudnn/Runtime/SplitWorkspace.h"
#include "rudnn/Runtime/WorkList.h"

#include <cstring>

using namespace rudnn;

struct RudnnDevice {
  std::shared_ptr<Device> device;
};
struct RudnnHostPlan {
  HostPlan plan;
};
struct RudnnDevicePlan {
  DevicePlan plan;
  int64_t tables[2], sequences[1], queries[1];
};
struct RudnnWorkList {
  WorkList list;
  std::vector<uint32_t> words;
};
struct RudnnSplitWorkspace {
  SplitWorkspace workspace;
};
struct RudnnOrderedWorkspace {
  OrderedBackwardWorkspace workspace;
};
struct RudnnTensor {
  Tensor tensor;
};
struct RudnnModule {
  Module module;
};

static thread_local std::string lastError;

static RudnnStatusCode report(const Status &status) {
  if (!status)
    lastError = status.message();
  return status.code();
}

static RudnnStatusCode refuseNull(const char *function, const char *parameter) {
  return report({RUDNN_INVALID_ARGUMENT,
                 std::string(function) + ": " + parameter + " is null"});
}

#define REQUIRE(parameter)                                                     \
  do {                                                                         \
    if (!(parameter))                                                          \
      return refuseNull(__func__, #parameter);                                 \
  } while (false)

/// A handle of a Result's value.
template <typename Handle, typename T>
static RudnnStatusCode give(Result<T> &&result, Handle **out) {
  if (!result)
    return report(result.status());
  *out = new Handle{*std::move(result)};
  return RUDNN_OK;
}

extern "C" {

const char *rudnnLastError(void) { return lastError.c_str(); }

//===-- Devices -----------------------------------------------------------===//

RudnnStatusCode rudnnDeviceCreateHost(RudnnDevice **device) {
  REQUIRE(device);
  *device = new RudnnDevice{Device::host()};
  return RUDNN_OK;
}

RudnnStatusCode rudnnDeviceCreateCuda(int ordinal, RudnnDevice **device) {
  REQUIRE(device);
  return give(Device::cuda(ordinal), device);
}

void rudnnDeviceDestroy(RudnnDevice *device) { delete device; }

//===-- Plans -------------------------------------------------------------===//

RudnnStatusCode rudnnHostPlanCreate(uint64_t page_size, uint64_t pages,
                                    const uint32_t *const *tables,
                                    const uint64_t *table_sizes,
                                    const uint32_t *lengths, uint64_t sequences,
                                    const uint32_t *sequence_ids,
                                    const uint32_t *positions, uint64_t queries,
                                    RudnnHostPlan **plan) {
  REQUIRE(plan);
  if (sequences > 0) {
    REQUIRE(tables);
    REQUIRE(table_sizes);
    REQUIRE(lengths);
  }
  if (queries > 0) {
    REQUIRE(sequence_ids);
    REQUIRE(positions);
  }
  std::vector<std::span<const uint32_t>> rows(sequences);
  for (uint64_t s = 0; s < sequences; ++s) {
    if (table_sizes[s] > 0)
      REQUIRE(tables[s]);
    rows[s] = {tables[s], size_t(table_sizes[s])};
  }
  return give(HostPlan::create(page_size, pages, rows,
                               {lengths, size_t(sequences)},
                               {sequence_ids, size_t(queries)},
                               {positions, size_t(queries)}),
              plan);
}

RudnnStatusCode rudnnHostPlanCreatePacked(uint64_t page_size, uint64_t pages,
                                          uint64_t sequences, uint64_t queries,
                                          uint64_t table_width,
                                          const uint32_t *words,
                                          uint64_t num_words,
                                          RudnnHostPlan **plan) {
  REQUIRE(plan);
  if (num_words > 0)
    REQUIRE(words);
  return give(HostPlan::fromPacked(page_size, pages, sequences, queries,
                                   table_width, {words, size_t(num_words)}),
              plan);
}

void rudnnHostPlanDestroy(RudnnHostPlan *plan) { delete plan; }

RudnnStatusCode rudnnHostPlanValidateWrites(const RudnnHostPlan *plan) {
  REQUIRE(plan);
  return report(plan->plan.validateWrites());
}

bool rudnnHostPlanEqual(const RudnnHostPlan *a, const RudnnHostPlan *b) {
  return a && b && a->plan == b->plan;
}

uint64_t rudnnHostPlanFingerprint(const RudnnHostPlan *plan) {
  return plan ? plan->plan.fingerprint() : 0;
}

RudnnStatusCode rudnnDevicePlanUpload(const RudnnHostPlan *plan,
                                      const RudnnDevice *device, void *queue,
                                      RudnnDevicePlan **out) {
  REQUIRE(plan);
  REQUIRE(device);
  REQUIRE(out);
  auto made = DevicePlan::upload(plan->plan, device->device, queue);
  if (!made)
    return report(made.status());
  const PlanView view = made->view();
  *out = new RudnnDevicePlan{*std::move(made),
                             {view.sequences, view.tableWidth},
                             {view.sequences},
                             {view.queries}};
  return RUDNN_OK;
}

void rudnnDevicePlanDestroy(RudnnDevicePlan *plan) { delete plan; }

RudnnStatusCode rudnnDevicePlanAdvance(RudnnDevicePlan *plan, uint32_t steps) {
  REQUIRE(plan);
  return report(plan->plan.advance(steps));
}

RudnnStatusCode rudnnDevicePlanAdvanceHost(RudnnDevicePlan *plan,
                                           uint32_t steps) {
  REQUIRE(plan);
  return report(plan->plan.advanceHost(steps));
}

RudnnStatusCode rudnnDevicePlanAdvanceDevice(RudnnDevicePlan *plan,
                                             uint32_t steps, void *queue) {
  REQUIRE(plan);
  return report(plan->plan.advanceDevice(steps, queue));
}

RudnnStatusCode rudnnDevicePlanValidateWrites(const RudnnDevicePlan *plan) {
  REQUIRE(plan);
  return report(plan->plan.validateWrites());
}

static DLDevice dlDevice(const Device &device) {
  return {device.kind() == DeviceKind::Host ? kDLCPU : kDLCUDA,
          device.kind() == DeviceKind::Host ? 0 : device.ordinal()};
}

RudnnStatusCode rudnnDevicePlanTensors(const RudnnDevicePlan *plan,
                                       RudnnPlanTensors *out) {
  REQUIRE(plan);
  REQUIRE(out);
  const PlanView &view = plan->plan.view();
  auto tensor = [&](uint64_t offset, int rank,
                    const int64_t *shape) -> DLTensor {
    return {const_cast<uint32_t *>(plan->plan.words() + offset),
            dlDevice(*plan->plan.device()),
            rank,
            {kDLUInt, 32, 1},
            const_cast<int64_t *>(shape),
            nullptr,
            0};
  };
  uint64_t queries = view.queries;
  out->sequence_ids = tensor(0, 1, plan->queries);
  out->positions = tensor(queries, 1, plan->queries);
  out->lengths = tensor(2 * queries, 1, plan->sequences);
  out->tables = tensor(2 * queries + view.sequences, 2, plan->tables);
  return RUDNN_OK;
}

//===-- Work lists and workspaces -----------------------------------------===//

RudnnStatusCode rudnnWorkListBuild(const RudnnDevicePlan *plan,
                                   const RudnnWorkListOptions *options,
                                   RudnnWorkList **list) {
  REQUIRE(plan);
  REQUIRE(options);
  REQUIRE(list);
  auto built = WorkList::build(plan->plan.view(),
                               {options->parts, options->tile_tokens,
                                options->fixed_cost, options->fixed_split,
                                options->causal});
  if (!built)
    return report(built.status());
  std::vector<uint32_t> words = built->words();
  *list = new RudnnWorkList{*std::move(built), std::move(words)};
  return RUDNN_OK;
}

void rudnnWorkListDestroy(RudnnWorkList *list) { delete list; }

RudnnStatusCode rudnnWorkListGet(const RudnnWorkList *list,
                                 const uint32_t **words, uint64_t *num_words,
                                 uint64_t *merges, uint32_t *slots) {
  REQUIRE(list);
  REQUIRE(words);
  REQUIRE(num_words);
  REQUIRE(merges);
  REQUIRE(slots);
  *words = list->words.data();
  *num_words = list->words.size();
  *merges = list->list.merges().size();
  *slots = list->list.slots();
  return RUDNN_OK;
}

RudnnStatusCode rudnnSplitWorkspaceBytes(uint64_t rows, uint64_t heads,
                                         uint64_t head_dim, uint64_t splits,
                                         uint64_t *bytes) {
  REQUIRE(bytes);
  auto required =
      SplitWorkspace::requiredBytes({rows, heads, head_dim, splits});
  if (!required)
    return report(required.status());
  *bytes = *required;
  return RUDNN_OK;
}

RudnnStatusCode rudnnSplitWorkspaceCreate(const RudnnDevice *device,
                                          void *queue, uint64_t rows,
                                          uint64_t heads, uint64_t head_dim,
                                          uint64_t splits,
                                          RudnnSplitWorkspace **workspace) {
  REQUIRE(device);
  REQUIRE(workspace);
  return give(SplitWorkspace::create(device->device, queue,
                                     {rows, heads, head_dim, splits}),
              workspace);
}

void rudnnSplitWorkspaceDestroy(RudnnSplitWorkspace *workspace) {
  delete workspace;
}

RudnnStatusCode rudnnSplitWorkspaceMatches(const RudnnSplitWorkspace *workspace,
                                           const RudnnDevice *device,
                                           void *queue, uint64_t rows,
                                           uint64_t heads, uint64_t head_dim,
                                           uint64_t splits) {
  REQUIRE(workspace);
  REQUIRE(device);
  return report(workspace->workspace.matches(*device->device, queue,
                                             {rows, heads, head_dim, splits}));
}

void *rudnnSplitWorkspaceData(const RudnnSplitWorkspace *workspace) {
  return workspace ? workspace->workspace.data() : nullptr;
}

static std::span<const int64_t> shapeOf(const int64_t *shape, int32_t rank) {
  return {shape, size_t(rank < 0 ? 0 : rank)};
}

RudnnStatusCode rudnnOrderedWorkspaceCreate(const RudnnDevicePlan *plan,
                                            const RudnnDevice *device,
                                            void *queue, const int64_t *q_shape,
                                            int32_t q_rank,
                                            RudnnOrderedWorkspace **workspace) {
  REQUIRE(plan);
  REQUIRE(device);
  REQUIRE(q_shape);
  REQUIRE(workspace);
  return give(OrderedBackwardWorkspace::create(
                  plan->plan, shapeOf(q_shape, q_rank), device->device, queue),
              workspace);
}

void rudnnOrderedWorkspaceDestroy(RudnnOrderedWorkspace *workspace) {
  delete workspace;
}

RudnnStatusCode
rudnnOrderedWorkspaceMatches(const RudnnOrderedWorkspace *workspace,
                             const RudnnDevicePlan *plan,
                             const RudnnDevice *device, void *queue,
                             const int64_t *q_shape, int32_t q_rank) {
  REQUIRE(workspace);
  REQUIRE(plan);
  REQUIRE(device);
  REQUIRE(q_shape);
  return report(workspace->workspace.matches(
      plan->plan, shapeOf(q_shape, q_rank), *device->device, queue));
}

RudnnStatusCode
rudnnOrderedWorkspaceSetCompaction(RudnnOrderedWorkspace *workspace, bool on) {
  REQUIRE(workspace);
  return report(workspace->workspace.setHistoryCompaction(on));
}

uint64_t rudnnOrderedWorkspaceBytes(const RudnnOrderedWorkspace *workspace) {
  return workspace ? workspace->workspace.bytes() : 0;
}

//===-- Tensors and append ------------------------------------------------===//

RudnnStatusCode rudnnTensorCreate(const RudnnDevice *device, RudnnDType dtype,
                                  const int64_t *shape, int32_t rank,
                                  RudnnTensor **tensor) {
  REQUIRE(device);
  REQUIRE(tensor);
  if (rank < 0 || rank > 8)
    return report(
        {RUDNN_INVALID_ARGUMENT,
         text("rudnnTensorCreate: rank is %d; it must be 0 to 8", rank)});
  if (rank > 0)
    REQUIRE(shape);
  if (!isDType(dtype))
    return report(
        {RUDNN_INVALID_ARGUMENT,
         text("rudnnTensorCreate: dtype is %d; it must be 0 to 9", dtype)});
  uint64_t bytes = dtypeBytes(dtype);
  for (int32_t d = 0; d < rank; ++d)
    if (shape[d] < 0 ||
        __builtin_mul_overflow(bytes, uint64_t(shape[d]), &bytes))
      return report(
          {RUDNN_INVALID_ARGUMENT,
           text("rudnnTensorCreate: shape[%d] is %lld; it must not be "
                "negative and the tensor must fit into 64 bits of bytes",
                d, static_cast<long long>(shape[d]))});
  auto buffer = DeviceBuffer::allocate(device->device, bytes);
  if (!buffer)
    return report(buffer.status());
  HostArray<char> zeros;
  if (!zeros.allocateZeroed(bytes))
    return report({RUDNN_OUT_OF_MEMORY,
                   text("no host memory for %llu bytes", ull(bytes))});
  if (Status status =
          device->device->upload(buffer->data(), zeros.data(), bytes, nullptr);
      !status)
    return report(status);
  *tensor = new RudnnTensor{{*std::move(buffer),
                             dtype,
                             std::vector<int64_t>(shape, shape + rank),
                             {},
                             0}};
  return RUDNN_OK;
}

RudnnStatusCode rudnnTensorShare(const RudnnTensor *tensor,
                                 RudnnTensor **other) {
  REQUIRE(tensor);
  REQUIRE(other);
  *other = new RudnnTensor(*tensor);
  return RUDNN_OK;
}

void rudnnTensorDestroy(RudnnTensor *tensor) { delete tensor; }

RudnnStatusCode rudnnTensorView(const RudnnTensor *tensor, DLTensor *view) {
  REQUIRE(tensor);
  REQUIRE(view);
  const Tensor &t = tensor->tensor;
  uint8_t code = t.dtype == RUDNN_BF16 ? kDLBfloat
                 : isFloat(t.dtype)    ? kDLFloat
                 : t.dtype == RUDNN_I1 ? kDLUInt
                                       : kDLInt;
  *view = {t.data(),
           dlDevice(*t.buffer.device()),
           int(t.shape.size()),
           {code, uint8_t(8 * dtypeBytes(t.dtype)), 1},
           const_cast<int64_t *>(t.shape.data()),
           nullptr,
           0};
  return RUDNN_OK;
}

RudnnStatusCode rudnnAppend(const RudnnDevicePlan *plan,
                            const RudnnTensor *new_k, const RudnnTensor *new_v,
                            RudnnTensor *k_cache, RudnnTensor *v_cache,
                            RudnnAppendReport *out) {
  REQUIRE(plan);
  REQUIRE(new_k);
  REQUIRE(new_v);
  REQUIRE(k_cache);
  REQUIRE(v_cache);
  if (k_cache == v_cache)
    return report({RUDNN_INVALID_ARGUMENT,
                   "rudnnAppend: k_cache and v_cache are one "
                   "handle; use rudnnTensorShare"});
  AppendReport done;
  Status status = append(plan->plan, new_k->tensor, new_v->tensor,
                         k_cache->tensor, v_cache->tensor, &done);
  if (status.ok() && out)
    *out = {done.keyCopied, done.valueCopied, done.copiedBytes};
  return report(status);
}

//===-- Artifacts ---------------------------------------------------------===//

RudnnStatusCode rudnnModuleLoad(const char *path, RudnnModule **module) {
  REQUIRE(path);
  REQUIRE(module);
  return give(Module::load(path), module);
}

void rudnnModuleDestroy(RudnnModule *module) { delete module; }

const RudnnModuleInfo *rudnnModuleInfo(const RudnnModule *module) {
  return module ? &module->module.description() : nullptr;
}

static const Function *find(const RudnnModule *module, const char *name) {
  const Function *function = module->module.find(name);
  if (!function)
    report({RUDNN_MODULE_NO_FUNCTION,
            std::string("the module has no function ") + name});
  return function;
}

RudnnStatusCode rudnnModuleResultShapes(const RudnnModule *module,
                                        const char *function,
                                        const DLTensor *const *args,
                                        uint64_t num_args, int64_t *extents,
                                        uint64_t capacity) {
  REQUIRE(module);
  REQUIRE(function);
  if (num_args > 0)
    REQUIRE(args);
  if (capacity > 0)
    REQUIRE(extents);
  const Function *found = find(module, function);
  if (!found)
    return RUDNN_MODULE_NO_FUNCTION;
  auto shapes = found->resultShapes({args, size_t(num_args)});
  if (!shapes)
    return report(shapes.status());
  uint64_t needed = 0;
  for (const auto &shape : *shapes)
    needed += shape.size();
  if (needed > capacity)
    return report(
        {RUDNN_INVALID_ARGUMENT,
         text("rudnnModuleResultShapes: capacity is %llu; the results of %s "
              "have %llu extents",
              ull(capacity), function, ull(needed))});
  for (const auto &shape : *shapes)
    extents = std::copy(shape.begin(), shape.end(), extents);
  return RUDNN_OK;
}

RudnnStatusCode rudnnModuleWorkspaceBytes(const RudnnModule *module,
                                          const char *function,
                                          const DLTensor *const *args,
                                          uint64_t num_args, uint64_t *bytes) {
  REQUIRE(module);
  REQUIRE(function);
  REQUIRE(bytes);
  if (num_args > 0)
    REQUIRE(args);
  const Function *found = find(module, function);
  if (!found)
    return RUDNN_MODULE_NO_FUNCTION;
  auto needed = found->workspaceBytes({args, size_t(num_args)});
  if (!needed)
    return report(needed.status());
  *bytes = *needed;
  return RUDNN_OK;
}

RudnnStatusCode rudnnModuleRun(const RudnnModule *module, const char *function,
                               const DLTensor *const *args, uint64_t num_args,
                               const DLTensor *const *results,
                               uint64_t num_results, void *workspace,
                               uint64_t workspace_bytes, void *queue) {
  REQUIRE(module);
  REQUIRE(function);
  if (num_args > 0)
    REQUIRE(args);
  if (num_results > 0)
    REQUIRE(results);
  const Function *found = find(module, function);
  if (!found)
    return RUDNN_MODULE_NO_FUNCTION;
  return report(found->run({args, size_t(num_args)},
                           {results, size_t(num_results)}, workspace,
                           workspace_bytes, queue));
}

} // extern "C"
