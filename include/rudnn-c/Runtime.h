/*===- Runtime.h - librudnn_rt for C -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM
 * Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * The classes of include/rudnn/Runtime/ as handles; rules, orders and codes are
 * documented there. Every function that can fail returns RUDNN_OK or a code,
 * and then rudnnLastError() has the text. A null pointer where a value is
 * expected gives RUDNN_INVALID_ARGUMENT with the parameter's name. Handles are
 * made by ...Create,
 * ...Upload, ...Build or ...Load and given back by ...Destroy, which takes NULL
 * too. `queue` is a CUstream or NULL.
 *
 *===----------------------------------------------------------------------===*/
#ifndef RUDNN_C_RUNTIME_H
#define RUDNN_C_RUNTIME_H

#include "rudnn-c/Status.h"
#include "rudnn/Runtime/Abi.h"

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RudnnDevice RudnnDevice;
typedef struct RudnnHostPlan RudnnHostPlan;
typedef struct RudnnDevicePlan RudnnDevicePlan;
typedef struct RudnnWorkList RudnnWorkList;
typedef struct RudnnSplitWorkspace RudnnSplitWorkspace;
typedef struct RudnnOrderedWorkspace RudnnOrderedWorkspace;
typedef struct RudnnTensor RudnnTensor;
typedef struct RudnnModule RudnnModule;

/* Text of the last failed call of this thread; "" before the first. */
const char *rudnnLastError(void);

/* Devices (Device.h). */
RudnnStatusCode rudnnDeviceCreateHost(RudnnDevice **device);
RudnnStatusCode rudnnDeviceCreateCuda(int ordinal, RudnnDevice **device);
void rudnnDeviceDestroy(RudnnDevice *device);

/* Plans (HostPlan.h). `tables[s]` has `table_sizes[s]` entries. */
RudnnStatusCode rudnnHostPlanCreate(uint64_t page_size, uint64_t pages,
                                    const uint32_t *const *tables,
                                    const uint64_t *table_sizes,
                                    const uint32_t *lengths, uint64_t sequences,
                                    const uint32_t *sequence_ids,
                                    const uint32_t *positions, uint64_t queries,
                                    RudnnHostPlan **plan);
RudnnStatusCode rudnnHostPlanCreatePacked(uint64_t page_size, uint64_t pages,
                                          uint64_t sequences, uint64_t queries,
                                          uint64_t table_width,
                                          const uint32_t *words,
                                          uint64_t num_words,
                                          RudnnHostPlan **plan);
void rudnnHostPlanDestroy(RudnnHostPlan *plan);
RudnnStatusCode rudnnHostPlanValidateWrites(const RudnnHostPlan *plan);
/* false when either is NULL. */
bool rudnnHostPlanEqual(const RudnnHostPlan *a, const RudnnHostPlan *b);
uint64_t rudnnHostPlanFingerprint(const RudnnHostPlan *plan);

/* Plans on a device (DevicePlan.h). */
RudnnStatusCode rudnnDevicePlanUpload(const RudnnHostPlan *plan,
                                      const RudnnDevice *device, void *queue,
                                      RudnnDevicePlan **out);
void rudnnDevicePlanDestroy(RudnnDevicePlan *plan);
RudnnStatusCode rudnnDevicePlanAdvance(RudnnDevicePlan *plan, uint32_t steps);
RudnnStatusCode rudnnDevicePlanAdvanceHost(RudnnDevicePlan *plan,
                                           uint32_t steps);
RudnnStatusCode rudnnDevicePlanAdvanceDevice(RudnnDevicePlan *plan,
                                             uint32_t steps, void *queue);
RudnnStatusCode rudnnDevicePlanValidateWrites(const RudnnDevicePlan *plan);
/* The operands of the paged ops: tables [S, width], lengths [S], sequence ids
 * [Q], positions [Q], as unsigned 32-bit tensors that live as long as the plan.
 */
typedef struct RudnnPlanTensors {
  DLTensor tables, lengths, sequence_ids, positions;
} RudnnPlanTensors;
RudnnStatusCode rudnnDevicePlanTensors(const RudnnDevicePlan *plan,
                                       RudnnPlanTensors *out);

/* Work lists (WorkList.h). */
typedef struct RudnnWorkListOptions {
  uint32_t parts, tile_tokens, fixed_cost, fixed_split;
  bool causal;
} RudnnWorkListOptions;
RudnnStatusCode rudnnWorkListBuild(const RudnnDevicePlan *plan,
                                   const RudnnWorkListOptions *options,
                                   RudnnWorkList **list);
void rudnnWorkListDestroy(RudnnWorkList *list);
/* parts x 5 words of ranges, then merges x 3; they live as long as the list. */
RudnnStatusCode rudnnWorkListGet(const RudnnWorkList *list,
                                 const uint32_t **words, uint64_t *num_words,
                                 uint64_t *merges, uint32_t *slots);

/* Workspaces (SplitWorkspace.h, OrderedBackwardWorkspace.h). */
RudnnStatusCode rudnnSplitWorkspaceBytes(uint64_t rows, uint64_t heads,
                                         uint64_t head_dim, uint64_t splits,
                                         uint64_t *bytes);
RudnnStatusCode rudnnSplitWorkspaceCreate(const RudnnDevice *device,
                                          void *queue, uint64_t rows,
                                          uint64_t heads, uint64_t head_dim,
                                          uint64_t splits,
                                          RudnnSplitWorkspace **workspace);
void rudnnSplitWorkspaceDestroy(RudnnSplitWorkspace *workspace);
RudnnStatusCode rudnnSplitWorkspaceMatches(const RudnnSplitWorkspace *workspace,
                                           const RudnnDevice *device,
                                           void *queue, uint64_t rows,
                                           uint64_t heads, uint64_t head_dim,
                                           uint64_t splits);
void *rudnnSplitWorkspaceData(const RudnnSplitWorkspace *workspace);

RudnnStatusCode rudnnOrderedWorkspaceCreate(const RudnnDevicePlan *plan,
                                            const RudnnDevice *device,
                                            void *queue, const int64_t *q_shape,
                                            int32_t q_rank,
                                            RudnnOrderedWorkspace **workspace);
void rudnnOrderedWorkspaceDestroy(RudnnOrderedWorkspace *workspace);
RudnnStatusCode
rudnnOrderedWorkspaceMatches(const RudnnOrderedWorkspace *workspace,
                             const RudnnDevicePlan *plan,
                             const RudnnDevice *device, void *queue,
                             const int64_t *q_shape, int32_t q_rank);
RudnnStatusCode
rudnnOrderedWorkspaceSetCompaction(RudnnOrderedWorkspace *workspace, bool on);
uint64_t rudnnOrderedWorkspaceBytes(const RudnnOrderedWorkspace *workspace);

/* Tensors in shared memory of a device (Append.h), dense, at most rank 8,
 * filled with zero bytes. Share gives another handle of the same memory. */
RudnnStatusCode rudnnTensorCreate(const RudnnDevice *device, RudnnDType dtype,
                                  const int64_t *shape, int32_t rank,
                                  RudnnTensor **tensor);
RudnnStatusCode rudnnTensorShare(const RudnnTensor *tensor,
                                 RudnnTensor **other);
void rudnnTensorDestroy(RudnnTensor *tensor);
/* A view that lives as long as the handle and until an append replaces its
 * memory. */
RudnnStatusCode rudnnTensorView(const RudnnTensor *tensor, DLTensor *view);

typedef struct RudnnAppendReport {
  bool key_copied, value_copied;
  uint64_t copied_bytes;
} RudnnAppendReport;
/* `report` may be NULL. */
RudnnStatusCode rudnnAppend(const RudnnDevicePlan *plan,
                            const RudnnTensor *new_k, const RudnnTensor *new_v,
                            RudnnTensor *k_cache, RudnnTensor *v_cache,
                            RudnnAppendReport *report);

/* Artifacts (Module.h). */
RudnnStatusCode rudnnModuleLoad(const char *path, RudnnModule **module);
void rudnnModuleDestroy(RudnnModule *module);
/* Target, functions, argument shapes and element types. */
const RudnnModuleInfo *rudnnModuleInfo(const RudnnModule *module);
/* RUDNN_MODULE_NO_FUNCTION when there is no `function`, here and below. Writes
 * all extents of all results one after the other; `capacity` of them fit. */
RudnnStatusCode rudnnModuleResultShapes(const RudnnModule *module,
                                        const char *function,
                                        const DLTensor *const *args,
                                        uint64_t num_args, int64_t *extents,
                                        uint64_t capacity);
RudnnStatusCode rudnnModuleWorkspaceBytes(const RudnnModule *module,
                                          const char *function,
                                          const DLTensor *const *args,
                                          uint64_t num_args, uint64_t *bytes);
RudnnStatusCode rudnnModuleRun(const RudnnModule *module, const char *function,
                               const DLTensor *const *args, uint64_t num_args,
                               const DLTensor *const *results,
                               uint64_t num_results, void *workspace,
                               uint64_t workspace_bytes, void *queue);

#ifdef __cplusplus
}
#endif
#endif /* RUDNN_C_RUNTIME_H */
