//===- AttentionOps.cpp - Verifiers and loops of the dense attention ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/AttentionOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/AttentionOps.cpp.inc"

void RudnnDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/AttentionOps.cpp.inc"
      >();
}
