//===- DeltaOps.cpp - Verifiers and loops of the gated delta rule ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/DeltaOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/DeltaOps.cpp.inc"

void RudnnDialect::registerDeltaOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/DeltaOps.cpp.inc"
      >();
}
