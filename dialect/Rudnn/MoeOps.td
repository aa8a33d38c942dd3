//===- MoeOps.td - Mixture-of-experts ops -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_MOE_OPS_TD
#define RUDNN_MOE_OPS_TD

include "RudnnBase.td"

#endif // RUDNN_MOE_OPS_TD
