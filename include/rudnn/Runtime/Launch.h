/*===- Launch.h - What compiled GPU host code calls -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * The functions of librudnn_rt that the host code of a GPU artifact calls, and
 * that a program with its own cubins may call too. The CUDA driver is opened
 * with dlopen at the first call.
 *
 * All calls are asynchronous on the caller's stream, in the caller's current
 * context; a thread without one gets the primary context of device 0. Nothing
 * but the first launch of an image in a context allocates or synchronizes, so
 * that later calls can be captured in a CUDA graph. The functions may be called
 * from several threads, also for one image.
 *
 * Errors: a failed call returns a RudnnStatusCode and makes the later calls of
 * this thread return at once, until rudnn_rt_take_status is called. The text
 * (function, kernel, CUresult) is rudnn_rt_error_text().
 *
 *===----------------------------------------------------------------------===*/
#ifndef RUDNN_RUNTIME_LAUNCH_H
#define RUDNN_RUNTIME_LAUNCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A cubin or PTX text (which ends with a 0 byte). One static object per image;
 * `state` starts as NULL and belongs to the runtime. */
typedef struct RudnnKernelImage {
  const void *data;
  int64_t size; /* bytes, without the 0 byte of PTX */
  void *state;
} RudnnKernelImage;

/* Launches `kernel` of `image` on a grid of grid_x * grid_y * grid_z blocks; an
 * empty grid launches nothing. `shared_bytes` is the dynamic shared memory, up
 * to what a block of the device may have (the attribute for more than 48 KiB is
 * set). `params[i]` points to the value of kernel parameter i; a tensor map is
 * its 128 bytes, aligned to 64. `stream` is a CUstream. */
int32_t rudnn_rt_launch(RudnnKernelImage *image, const char *kernel,
                        int64_t grid_x, int64_t grid_y, int64_t grid_z,
                        int64_t block_x, int64_t block_y, int64_t block_z,
                        int32_t shared_bytes, void **params, int32_t num_params,
                        void *stream);

/* The same with clusters of cluster_x * cluster_y * cluster_z blocks. */
int32_t rudnn_rt_launch_cluster(RudnnKernelImage *image, const char *kernel,
                                int64_t grid_x, int64_t grid_y, int64_t grid_z,
                                int64_t block_x, int64_t block_y,
                                int64_t block_z, int64_t cluster_x,
                                int64_t cluster_y, int64_t cluster_z,
                                int32_t shared_bytes, void **params,
                                int32_t num_params, void *stream);

/* Bytes of a tensor map, which is aligned to 64. */
#define RUDNN_TENSOR_MAP_BYTES 128

/* Writes the tensor map of a tensor in device memory to `map`: `dtype` is a
 * RudnnDType, `extents`, `strides` (in elements) and `box` have `rank` entries,
 * the outermost first; the innermost stride is 1. `swizzle` is 0, 32, 64 or 128
 * bytes. The map of an empty tensor is that of one element, a zero: every tile
 * copied from it is zero. The first one in a context allocates that element,
 * which is an error while a stream is captured. */
int32_t rudnn_rt_tensor_map(void *map, int32_t dtype, int32_t rank,
                            const void *address, const int64_t *extents,
                            const int64_t *strides, const int32_t *box,
                            int32_t swizzle);

/* The first error of this thread since the last call, 0 when there was none;
 * forgets it (its text stays until the next error). */
int32_t rudnn_rt_take_status(void);

/* The text of this thread's last error, "" when there was none. */
const char *rudnn_rt_error_text(void);

#ifdef __cplusplus
}
#endif
#endif /* RUDNN_RUNTIME_LAUNCH_H */
