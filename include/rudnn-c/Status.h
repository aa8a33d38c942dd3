/*===- Status.h - Result codes of the runtime -*- C -*-===//
 *
 * Part of the rudnn project, under the Apache License v2.0 with LLVM
 * Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * One code per rule, so that a program can tell refusals apart; the text that
 * comes with a code (rudnnLastError, Status::message) names the argument, its
 * value and what is allowed. Values are stable.
 *
 *===----------------------------------------------------------------------===*/
#ifndef RUDNN_C_STATUS_H
#define RUDNN_C_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RudnnStatusCode {
  RUDNN_OK = 0,

  /* General. */
  RUDNN_INVALID_ARGUMENT = 1, /* null pointer or a value outside of its range */
  RUDNN_OUT_OF_MEMORY = 2,    /* host or device memory */
  RUDNN_UNAVAILABLE = 3,      /* no driver, no such device, symbol missing */
  RUDNN_DRIVER_ERROR = 4,     /* the CUDA driver refused a call */
  RUDNN_UNSUPPORTED = 5,      /* not possible on this device */

  /* Plans: HostPlan::create in the order of its checks. */
  RUDNN_PLAN_PAGE_SIZE_ZERO = 100,
  RUDNN_PLAN_PAGES_ZERO = 101,
  RUDNN_PLAN_NO_SEQUENCES = 102,
  RUDNN_PLAN_LENGTH_COUNT = 103,    /* as many lengths as tables */
  RUDNN_PLAN_POSITION_COUNT = 104,  /* as many positions as sequence ids */
  RUDNN_PLAN_PAGE_SIZE_RANGE = 105, /* above 2^32 - 1 */
  RUDNN_PLAN_PAGES_RANGE = 106,     /* above 2^32 - 1 */
  RUDNN_PLAN_TOO_LARGE = 107,       /* 2Q + S + S * width above 2^32 - 1 */
  RUDNN_PLAN_TABLE_SHORT = 108,     /* fewer entries than the length needs */
  RUDNN_PLAN_PAGE_RANGE = 109,      /* a page id not below the page count */
  RUDNN_PLAN_PAGE_REPEATED = 110,   /* a page twice in one history */
  RUDNN_PLAN_SEQUENCE_ID = 111,     /* a sequence id not below S */
  RUDNN_PLAN_POSITION = 112,        /* a position not below the length */
  /* Packed input only, before the checks above. */
  RUDNN_PLAN_WORD_COUNT = 113, /* not 2Q + S + S * width words */
  RUDNN_PLAN_TABLE_WIDTH_ZERO = 114,
  RUDNN_PLAN_TABLE_WIDTH_SHORT =
      115, /* a length needs more than `width` pages */

  /* Appending: HostPlan::validateWrites in the order of its checks. */
  RUDNN_WRITE_OUTSIDE_LENGTH = 120,
  RUDNN_WRITE_SHARED_PAGE = 121,
  RUDNN_WRITE_DUPLICATE_SLOT = 122,

  /* DevicePlan::advance. */
  RUDNN_ADVANCE_EMPTY_HISTORY = 130, /* a queried sequence of length 0 */
  RUDNN_ADVANCE_OVERFLOW = 131,      /* a length or position above 2^32 - 1 */
  RUDNN_ADVANCE_CAPACITY = 132,      /* the table has no page left */
  RUDNN_ADVANCE_PAGE_REPEATED = 133, /* the next page is in the history */

  /* WorkList::build. */
  RUDNN_WORK_PARTS = 140,
  RUDNN_WORK_TILE = 141,
  RUDNN_WORK_FIXED_COST = 142,
  RUDNN_WORK_TOO_LARGE = 143,

  /* SplitWorkspace. */
  RUDNN_SPLIT_COUNT = 150,    /* splits outside of 2..32 */
  RUDNN_SPLIT_HEADS = 151,    /* no heads */
  RUDNN_SPLIT_HEAD_DIM = 152, /* head dim outside of 1..1024 */
  RUDNN_SPLIT_ELEMENTS = 153, /* elements above 2^32 - 1 */
  RUDNN_SPLIT_BYTES = 154,    /* more than 64 MiB */
  RUDNN_SPLIT_GRID = 155,     /* beyond the device's launch grid */
  RUDNN_SPLIT_MISMATCH = 156, /* made for another shape, device or queue */

  /* OrderedBackwardWorkspace. */
  RUDNN_ORDERED_RANK = 160,   /* q is not [Q, H, D] */
  RUDNN_ORDERED_ROWS = 161,   /* q's rows are not the plan's */
  RUDNN_ORDERED_HEADS = 162,  /* no heads */
  RUDNN_ORDERED_DEVICE = 163, /* plan and q on different devices or queues */
  RUDNN_ORDERED_ENVIRONMENT = 164, /* an option is neither "0" nor "1" */
  RUDNN_ORDERED_STATISTICS = 165,  /* the statistics do not fit */
  RUDNN_ORDERED_INDEX = 166,       /* the index does not fit beside them */
  RUDNN_ORDERED_COMPACTION = 167,  /* the compaction map does not fit */
  RUDNN_ORDERED_MISMATCH =
      168, /* made for another plan, Q, H, device or queue */

  /* append. */
  RUDNN_APPEND_LAYOUT = 180, /* not contiguous */
  RUDNN_APPEND_DTYPE = 181,  /* not the element type of new_k */
  RUDNN_APPEND_DEVICE = 182, /* on another device */
  RUDNN_APPEND_RANK = 183,
  RUDNN_APPEND_SHAPE =
      184, /* heads, head dims, pages, page size or rows differ */

  /* Module and Function. */
  RUDNN_MODULE_OPEN = 200, /* the file is no loadable library */
  RUDNN_MODULE_SYMBOL_MISSING = 201,
  RUDNN_MODULE_VERSION = 202,   /* another version of the interface */
  RUDNN_MODULE_MALFORMED = 203, /* a table of the artifact makes no sense */
  RUDNN_MODULE_NO_FUNCTION = 204,
  RUDNN_CALL_COUNT = 210, /* number of arguments or results */
  RUDNN_CALL_RANK = 211,
  RUDNN_CALL_DTYPE = 212,
  RUDNN_CALL_DEVICE = 213,
  RUDNN_CALL_SHAPE = 214,
  RUDNN_CALL_STRIDE = 215,
  RUDNN_CALL_ALIGNMENT = 216,
  RUDNN_CALL_NULL = 217,      /* no data where elements are expected */
  RUDNN_CALL_OVERLAP = 218,   /* a result shares memory with another tensor */
  RUDNN_CALL_WORKSPACE = 219, /* too small, misaligned or missing */
  RUDNN_CALL_FAILED = 220     /* the compiled function reported an error */
} RudnnStatusCode;

#ifdef __cplusplus
}
#endif
#endif /* RUDNN_C_STATUS_H */
