/*===- plan.c - Device code of plans -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * PlanKernels.inc is made from this file, and committed so that the build needs no
 * NVPTX compiler:
 *
 *   clang-22 --target=nvptx64-nvidia-cuda -march=sm_70 -O2 -fno-unroll-loops -S
 *     plan.c -o plan.ptx; then `.version 7.0`, which every driver since CUDA 11
 *     reads, and comments removed
 *
 *===----------------------------------------------------------------------===*/
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((device_kernel)) void

/* 16 bytes in one access. */
typedef struct {
  u32 x, y, z, w;
} Chunk __attribute__((aligned(16)));

/* One thread per row and sequence; see Device::advance. */
KERNEL rudnn_plan_advance(u32 GLOBAL *words, const u32 GLOBAL *queried, u32 queries,
                          u32 sequences, u32 steps) {
  u32 i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
          __nvvm_read_ptx_sreg_tid_x();
  if (i < queries)
    words[(u64)queries + i] += steps;
  if (i < sequences)
    words[2 * (u64)queries + i] += steps * queried[i];
}

/* One block per row; see Device::scatterRows. `units` T make one row. */
#define SCATTER(NAME, T)                                                           \
  KERNEL NAME(const u32 GLOBAL *words, u32 pageSize, u32 sequences, u32 queries,   \
              u32 width, u64 units, const T GLOBAL *rows, T GLOBAL *cache) {       \
    u64 r = __nvvm_read_ptx_sreg_ctaid_x();                                        \
    u32 s = words[r], p = words[queries + r];                                      \
    u32 page =                                                                     \
        words[2 * (u64)queries + sequences + (u64)s * width + p / pageSize];       \
    const T GLOBAL *from = rows + r * units;                                       \
    T GLOBAL *to = cache + ((u64)page * pageSize + p % pageSize) * units;          \
    for (u64 i = __nvvm_read_ptx_sreg_tid_x(); i < units;                          \
         i += __nvvm_read_ptx_sreg_ntid_x())                                       \
      to[i] = from[i];                                                             \
  }
SCATTER(rudnn_plan_scatter16, Chunk)
SCATTER(rudnn_plan_scatter1, u8)
