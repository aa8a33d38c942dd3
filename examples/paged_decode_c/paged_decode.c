/*===- paged_decode.c - Paged attention from C -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM
 * Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * Decodes four steps of two sequences on the host: each step appends a key and
 * a value per sequence to a paged cache, runs the compiled attention, and
 * advances the plan. Only rudnn-c/Runtime.h is used.
 *
 *   rudnn-compile paged_attention.mlir --target=cpu -o paged_attention.so
 *   paged_decode paged_attention.so
 *
 * The queries are zero, so that every visible token weighs the same: the result
 * is the mean of the values, which the program checks.
 *
 *===----------------------------------------------------------------------===*/
#include "rudnn-c/Runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  Sequences = 2,
  PageSize = 2,
  Pages = 8,
  Heads = 4,
  KvHeads = 2,
  Dim = 8
};
enum { Steps = 4 };

static void check(RudnnStatusCode code, const char *what) {
  if (code == RUDNN_OK)
    return;
  fprintf(stderr, "%s: %s\n", what, rudnnLastError());
  exit(1);
}

static RudnnTensor *tensor(RudnnDevice *device, int32_t rank,
                           const int64_t *shape) {
  RudnnTensor *out = NULL;
  check(rudnnTensorCreate(device, RUDNN_F32, shape, rank, &out), "tensor");
  return out;
}

static DLTensor view(const RudnnTensor *of) {
  DLTensor out;
  check(rudnnTensorView(of, &out), "view");
  return out;
}

static void fill(const RudnnTensor *of, size_t count, float value) {
  DLTensor dl = view(of);
  for (size_t i = 0; i < count; ++i)
    ((float *)dl.data)[i] = value;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s ARTIFACT.so\n", argv[0]);
    return 2;
  }
  RudnnDevice *device = NULL;
  RudnnModule *module = NULL;
  check(rudnnDeviceCreateHost(&device), "device");
  check(rudnnModuleLoad(argv[1], &module), "module");

  /* Each sequence begins with one token and has room for six. */
  const uint32_t table0[] = {5, 0, 3}, table1[] = {1, 7, 2};
  const uint32_t *tables[] = {table0, table1};
  const uint64_t sizes[] = {3, 3};
  const uint32_t lengths[] = {1, 1}, ids[] = {0, 1}, positions[] = {0, 0};
  RudnnHostPlan *host = NULL;
  RudnnDevicePlan *plan = NULL;
  check(rudnnHostPlanCreate(PageSize, Pages, tables, sizes, lengths, Sequences,
                            ids, positions, Sequences, &host),
        "plan");
  check(rudnnDevicePlanUpload(host, device, NULL, &plan), "upload");
  rudnnHostPlanDestroy(host);

  const int64_t qShape[] = {Sequences, Heads, Dim};
  const int64_t newShape[] = {Sequences, KvHeads, Dim};
  const int64_t cacheShape[] = {Pages, PageSize, KvHeads, Dim};
  RudnnTensor *q = tensor(device, 3, qShape), *out = tensor(device, 3, qShape);
  RudnnTensor *newK = tensor(device, 3, newShape),
              *newV = tensor(device, 3, newShape);
  RudnnTensor *k = tensor(device, 4, cacheShape),
              *v = tensor(device, 4, cacheShape);
  /* Slots that no row sees are not read. */
  fill(k, Pages * PageSize * KvHeads * Dim, NAN);
  fill(v, Pages * PageSize * KvHeads * Dim, NAN);

  void *workspace = NULL;
  uint64_t workspaceBytes = 0;
  for (int step = 0; step < Steps; ++step) {
    if (step > 0)
      check(rudnnDevicePlanAdvance(plan, 1), "advance");
    fill(newV, Sequences * KvHeads * Dim, (float)(10 * step));
    RudnnAppendReport report;
    check(rudnnAppend(plan, newK, newV, k, v, &report), "append");

    RudnnPlanTensors pages;
    check(rudnnDevicePlanTensors(plan, &pages), "plan tensors");
    DLTensor dq = view(q), dk = view(k), dv = view(v), dout = view(out);
    const DLTensor *args[] = {&dq,
                              &dk,
                              &dv,
                              &pages.tables,
                              &pages.lengths,
                              &pages.sequence_ids,
                              &pages.positions};
    const DLTensor *results[] = {&dout};
    uint64_t needed = 0;
    check(
        rudnnModuleWorkspaceBytes(module, "paged_attention", args, 7, &needed),
        "workspace");
    if (needed > workspaceBytes) {
      free(workspace);
      workspaceBytes = (needed + 255) / 256 * 256;
      workspace = aligned_alloc(256, workspaceBytes);
    }
    check(rudnnModuleRun(module, "paged_attention", args, 7, results, 1,
                         workspace, workspaceBytes, NULL),
          "run");

    float expected = 5.0f * (float)step;
    for (int i = 0; i < Sequences * Heads * Dim; ++i)
      if (!(fabsf(((float *)dout.data)[i] - expected) <= 1e-5f)) {
        fprintf(stderr, "step %d: out[%d] is %g, not %g\n", step, i,
                ((float *)dout.data)[i], expected);
        return 1;
      }
    printf("step %d: %d tokens, mean value %g, %s\n", step, step + 1, expected,
           report.key_copied ? "cache copied" : "cache in place");
  }

  free(workspace);
  RudnnTensor *tensors[] = {q, out, newK, newV, k, v};
  for (int i = 0; i < 6; ++i)
    rudnnTensorDestroy(tensors[i]);
  rudnnDevicePlanDestroy(plan);
  rudnnModuleDestroy(module);
  rudnnDeviceDestroy(device);
  return 0;
}
