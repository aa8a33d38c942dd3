//===- IgnoreStrategy.cpp - No choice of GPU kernels -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNIGNORESTRATEGY
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

LogicalResult rudnn::verifyStrategy(Operation *op) {
  Attribute strategy = op->getAttr("rudnn.strategy");
  auto value = dyn_cast_or_null<StringAttr>(strategy);
  if (!strategy || (value && (value.getValue() == "schedule" ||
                              value.getValue() == "fallback")))
    return success();
  return op->emitOpError() << "rudnn.strategy is " << strategy
                           << ", expected \"schedule\" or \"fallback\"";
}

namespace {

struct IgnoreStrategy : rudnn::impl::RudnnIgnoreStrategyBase<IgnoreStrategy> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (failed(rudnn::verifyStrategy(op)))
        return WalkResult::interrupt();
      op->removeAttr("rudnn.strategy");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
