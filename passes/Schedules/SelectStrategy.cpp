//===- SelectStrategy.cpp - Which schedule makes an op's kernels -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "rudnn/Passes.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNSELECTSTRATEGY
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn::tile;

namespace {

constexpr llvm::StringLiteral kStrategy = "rudnn.strategy";

/// Why the row's schedule can't do an op; empty when it can.
using WhyNot = std::string (*)(Operation *);

template <typename OpTy, std::string (*Why)(OpTy)>
std::string whyNot(Operation *op) {
  return Why(cast<OpTy>(op));
}

/// A schedule: the op that it makes kernels of, the chips that it is for, and
/// what it can't do.
struct Row {
  StringRef op;
  StringRef chip;
  WhyNot whyNot;
};

const Row kTable[] = {
    {"rudnn.attention", "sm_90a", whyNot<rudnn::AttentionOp, whyNotAttention>},
    {"rudnn.layer_norm", "sm_90a", whyNotRow},
    {"rudnn.rms_norm", "sm_90a", whyNotRow},
    {"rudnn.softmax", "sm_90a", whyNotRow},
};

struct SelectStrategy : rudnn::impl::RudnnSelectStrategyBase<SelectStrategy> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Attribute> rows;
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<rudnn::RudnnDialect>(op->getDialect()))
        return WalkResult::advance();
      bool given = op->hasAttr(kStrategy);
      if (failed(select(op)))
        return WalkResult::interrupt();
      rows.push_back(describe(op, given));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (!rows.empty())
      getOperation()->setAttr("rudnn.strategies",
                              ArrayAttr::get(&getContext(), rows));
  }

private:
  /// A row of `rudnn.strategies`.
  Attribute describe(Operation *op, bool given) {
    Builder b(op->getContext());
    auto strategy = op->getAttrOfType<StringAttr>(kStrategy);
    std::string why = "the attribute of the op";
    if (!given)
      why = strategy.getValue() == "schedule" ? "the schedule for " + chip + " applies"
                                              : reason(op);
    NamedAttribute fields[] = {
        b.getNamedAttr("location", LocationAttr(op->getLoc())),
        b.getNamedAttr("op", b.getStringAttr(op->getName().getStringRef())),
        b.getNamedAttr("strategy", strategy),
        b.getNamedAttr("why", b.getStringAttr(why))};
    return b.getDictionaryAttr(fields);
  }

  LogicalResult select(Operation *op) {
    std::string why = reason(op);
    auto wanted = op->getAttrOfType<StringAttr>(kStrategy);
    if (!wanted) {
      op->setAttr(kStrategy,
                  StringAttr::get(op->getContext(),
                                  why.empty() ? "schedule" : "fallback"));
      return success();
    }
    if (wanted.getValue() == "fallback" ||
        (wanted.getValue() == "schedule" && why.empty()))
      return success();
    if (wanted.getValue() == "schedule")
      return op->emitOpError()
             << kStrategy << " is \"schedule\", which is not possible: " << why;
    return op->emitOpError() << kStrategy << " is " << wanted
                             << ", expected \"schedule\" or \"fallback\"";
  }

  std::string reason(Operation *op) {
    std::string why = "no schedule makes kernels of this op";
    for (const Row &row : kTable) {
      if (row.op != op->getName().getStringRef())
        continue;
      if (row.chip != chip) {
        why =
            ("its schedule is for " + row.chip + ", the chip is " + chip).str();
        continue;
      }
      why = row.whyNot(op);
      if (why.empty())
        return why;
    }
    return why;
  }
};

} // namespace
