//===- ConvOps.cpp - Verifiers and loops of the convolution ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/ConvOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/ConvOps.cpp.inc"

void RudnnDialect::registerConvOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/ConvOps.cpp.inc"
      >();
}
