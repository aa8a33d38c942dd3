/*===- Abi.h - Interface between compiled artifacts and the runtime -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * What an artifact made by rudnn-compile exports and what librudnn_rt reads.
 * Plain C, no dependency, so that a program can also call an artifact without
 * the runtime.
 *
 * An artifact (.so) exports one symbol, RUDNN_MODULE_SYMBOL, a function that
 * returns a description of everything in it. Each public function of the
 * compiled module appears once.
 *
 * Calling convention of a function. `args` has one pointer per argument and
 * then one per result, in order:
 *   - tensor: pointer to a strided memref descriptor
 *       { void *allocated; void *aligned; int64_t offset;
 *         int64_t sizes[rank]; int64_t strides[rank]; }
 *     offset and strides count elements. Arguments and results are dense
 *     row-major (identity layout);
 *   - scalar: pointer to its value (index is int64_t).
 * Results are buffers of the caller, written in full; their shapes for given
 * arguments come from `result_shapes`. No result may overlap an argument.
 *
 *===----------------------------------------------------------------------===*/
#ifndef RUDNN_RUNTIME_ABI_H
#define RUDNN_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUDNN_ABI_VERSION 1
#define RUDNN_MODULE_SYMBOL "rudnn_module"

/* A dimension whose extent is known only at run time. */
#define RUDNN_DYNAMIC INT64_MIN

/* Element types. The value is part of the ABI. */
typedef enum RudnnDType {
  RUDNN_F32 = 0,
  RUDNN_F16 = 1,
  RUDNN_BF16 = 2,
  RUDNN_F64 = 3,
  RUDNN_I1 = 4, /* one byte per element, 0 or 1 */
  RUDNN_I8 = 5,
  RUDNN_I16 = 6,
  RUDNN_I32 = 7,
  RUDNN_I64 = 8,
  RUDNN_INDEX = 9 /* 64 bits */
} RudnnDType;

typedef struct RudnnArgInfo {
  const char *name;     /* "arg0", "result0", or the name given in the source */
  int32_t dtype;        /* RudnnDType */
  int32_t rank;         /* -1: scalar */
  const int64_t *shape; /* `rank` extents, RUDNN_DYNAMIC where unknown */
} RudnnArgInfo;

typedef struct RudnnFunctionInfo {
  const char *name;
  int32_t num_args;
  int32_t num_results;
  const RudnnArgInfo *args; /* arguments, then results */

  /* Runs the function. `workspace` holds at least workspace_bytes(args) bytes,
   * aligned to 256, on the target's device (NULL is fine when that is 0).
   * `stream` is a CUstream on cuda targets, ignored on the CPU. Returns 0, or a
   * RudnnStatusCode of the runtime. */
  int32_t (*run)(void *const *args, void *workspace, void *stream);

  /* Writes the extents of all results one after the other; reads only the
   * descriptors (sizes) and scalars of the arguments, never tensor data. */
  void (*result_shapes)(void *const *args, int64_t *extents);

  /* Bytes of workspace that run() needs for these arguments. */
  int64_t (*workspace_bytes)(void *const *args);
} RudnnFunctionInfo;

typedef struct RudnnModuleInfo {
  int32_t abi_version; /* RUDNN_ABI_VERSION */
  const char *target;  /* "cpu" or "sm_90a", ... */
  int32_t num_functions;
  const RudnnFunctionInfo *functions;
} RudnnModuleInfo;

/* Type of the exported symbol. */
typedef const RudnnModuleInfo *(*RudnnModuleFn)(void);

#ifdef __cplusplus
}
#endif
#endif /* RUDNN_RUNTIME_ABI_H */
