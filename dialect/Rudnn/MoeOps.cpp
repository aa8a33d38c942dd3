//===- MoeOps.cpp - Verifiers and loops of the mixture-of-experts ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/MoeOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/MoeOps.cpp.inc"

void RudnnDialect::registerMoeOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/MoeOps.cpp.inc"
      >();
}
