/*===- artifact.c - An artifact written by hand after Abi.h -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "rudnn/Runtime/Abi.h"

#include <stddef.h>

typedef struct {
  void *allocated;
  void *aligned;
  int64_t offset;
  int64_t sizes[2];
  int64_t strides[2];
} Matrix;

/* result[i, j] = scale * x[i, j] through the workspace; count[i] = i. */
static int32_t run(void *const *args, void *workspace, void *stream) {
  const Matrix *x = args[0], *y = args[2];
  const float *in = (const float *)x->aligned + x->offset;
  float *out = (float *)y->aligned + y->offset, *scratch = workspace;
  float scale = *(const float *)args[1];
  (void)stream;
  if (scale < 0)
    return 77;
  for (int64_t i = 0; i < x->sizes[0] * x->sizes[1]; ++i)
    scratch[i] = scale * in[i];
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < x->sizes[1]; ++j)
      out[i * y->strides[0] + j * y->strides[1]] = scratch[i * x->strides[0] + j];
  const struct {
    void *allocated, *aligned;
    int64_t offset, size, stride;
  } *count = args[3];
  for (int64_t i = 0; i < count->size; ++i)
    ((int32_t *)count->aligned)[i] = (int32_t)i;
  return 0;
}

__attribute__((unused)) static void shapes(void *const *args, int64_t *extents) {
  const Matrix *x = args[0];
  extents[0] = x->sizes[0];
  extents[1] = x->sizes[1];
  extents[2] = x->sizes[0];
}

static int64_t bytes(void *const *args) {
  const Matrix *x = args[0];
  return 4 * x->sizes[0] * x->sizes[1];
}

static const int64_t shape[] = {RUDNN_DYNAMIC, 4};
static const int64_t vector[] = {RUDNN_DYNAMIC};
static const RudnnArgInfo arguments[] = {
    {"x", RUDNN_F32, 2, shape},
    {"scale", RUDNN_F32, -1, NULL},
    {"y", RUDNN_F32, 2, shape},
    {"count", RUDNN_I32, 1, vector},
};
#ifndef ARTIFACT_VERSION
#define ARTIFACT_VERSION RUDNN_ABI_VERSION
#endif
#ifdef ARTIFACT_MALFORMED
static const RudnnFunctionInfo functions[] = {
    {"scale", 2, 2, arguments, run, NULL, bytes}};
#else
static const RudnnFunctionInfo functions[] = {
    {"scale", 2, 2, arguments, run, shapes, bytes}};
#endif
static const RudnnModuleInfo module = {ARTIFACT_VERSION, "cpu", 1, functions};

#ifndef ARTIFACT_WITHOUT_SYMBOL
const RudnnModuleInfo *rudnn_module(void) { return &module; }
#else
const RudnnModuleInfo *another_symbol(void) { return &module; }
#endif
