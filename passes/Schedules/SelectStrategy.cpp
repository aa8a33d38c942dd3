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

std::string whyNotWgmmaAttention(Operation *op, const Machine &) {
  return whyNotAttention(op);
}

std::string whyNotRows(Operation *op, const Machine &) { return whyNotRow(op); }

using Kernels = gpu::GPUModuleOp;

/// The schedules of one op in the order of preference.
const ScheduleRow kTable[] = {
    {"rudnn.add_rms_norm", /*needsWgmma=*/false, whyNotRows, scheduleRow},
    {"rudnn.attention", /*needsWgmma=*/true, whyNotWgmmaAttention,
     scheduleAttention},
    {"rudnn.attention", /*needsWgmma=*/false, whyNotAttentionMma,
     scheduleAttentionMma},
    {"rudnn.layer_norm", /*needsWgmma=*/false, whyNotRows, scheduleRow},
    {"rudnn.moe.combine", /*needsWgmma=*/false,
     [](Operation *op, const Machine &) {
       return whyNotCombine(cast<rudnn::MoeCombineOp>(op));
     },
     [](Operation *op, Kernels, const Machine &) {
       return scheduleCombine(cast<rudnn::MoeCombineOp>(op));
     }},
    {"rudnn.moe.dispatch", /*needsWgmma=*/false,
     [](Operation *op, const Machine &) {
       return whyNotDispatch(cast<rudnn::MoeDispatchOp>(op));
     },
     [](Operation *op, Kernels, const Machine &) {
       return scheduleDispatch(cast<rudnn::MoeDispatchOp>(op));
     }},
    {"rudnn.moe.experts", /*needsWgmma=*/false,
     [](Operation *op, const Machine &) {
       return whyNotExperts(cast<rudnn::MoeExpertsOp>(op));
     },
     [](Operation *op, Kernels kernels, const Machine &machine) {
       return scheduleExperts(cast<rudnn::MoeExpertsOp>(op), kernels, machine);
     }},
    {"rudnn.moe.route", /*needsWgmma=*/false,
     [](Operation *op, const Machine &) {
       return whyNotRoute(cast<rudnn::MoeRouteOp>(op));
     },
     [](Operation *op, Kernels, const Machine &) {
       return scheduleRoute(cast<rudnn::MoeRouteOp>(op));
     }},
    {"rudnn.ragged_attention", /*needsWgmma=*/true, whyNotWgmmaAttention,
     scheduleAttention},
    {"rudnn.ragged_attention", /*needsWgmma=*/false, whyNotAttentionMma,
     scheduleAttentionMma},
    {"rudnn.rms_norm", /*needsWgmma=*/false, whyNotRows, scheduleRow},
    {"rudnn.softmax", /*needsWgmma=*/false, whyNotRows, scheduleRow},
    {"rudnn_tile.gemm", /*needsWgmma=*/true,
     [](Operation *op, const Machine &) {
       return whyNotGemm(cast<GemmOp>(op));
     },
     [](Operation *op, Kernels kernels, const Machine &machine) {
       return scheduleGemm(cast<GemmOp>(op), kernels, machine);
     }},
    {"rudnn_tile.gemm", /*needsWgmma=*/false,
     [](Operation *op, const Machine &machine) {
       return whyNotGemmMma(cast<GemmOp>(op), machine);
     },
     [](Operation *op, Kernels kernels, const Machine &machine) {
       return scheduleGemmMma(cast<GemmOp>(op), kernels, machine);
     }},
};

struct SelectStrategy : rudnn::impl::RudnnSelectStrategyBase<SelectStrategy> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Attribute> rows;
    WalkResult result = getOperation().walk([&](Operation *op) {
      // Any other op may still ask for a strategy.
      bool given = op->hasAttr(kStrategy);
      if (!isa_and_nonnull<rudnn::RudnnDialect>(op->getDialect()) &&
          !isa<GemmOp>(op) && !given)
        return WalkResult::advance();
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
    if (failed(rudnn::verifyStrategy(op)))
      return failure();
    std::string why = reason(op);
    auto wanted = op->getAttrOfType<StringAttr>(kStrategy);
    if (!wanted) {
      op->setAttr(kStrategy,
                  StringAttr::get(op->getContext(),
                                  why.empty() ? "schedule" : "fallback"));
      return success();
    }
    if (wanted.getValue() == "fallback" || why.empty())
      return success();
    return op->emitOpError()
           << kStrategy << " is \"schedule\", which is not possible: " << why;
  }

  std::string reason(Operation *op) {
    std::string why = "no schedule makes kernels of this op";
    if (!hasSchedule(op))
      return why;
    std::optional<Machine> machine = getMachine(chip);
    if (!machine)
      return "no schedule is for the chip " + chip;
    return findSchedule(op, *machine, why) ? "" : why;
  }
};

} // namespace

bool rudnn::tile::hasSchedule(Operation *op) {
  return llvm::any_of(kTable, [&](const ScheduleRow &row) {
    return row.op == op->getName().getStringRef();
  });
}

const ScheduleRow *rudnn::tile::findSchedule(Operation *op,
                                             const Machine &machine,
                                             std::string &why) {
  std::string first;
  for (const ScheduleRow &row : kTable) {
    if (row.op != op->getName().getStringRef())
      continue;
    if (row.needsWgmma && !machine.hasWgmma) {
      why = "its schedule is for sm_90a, the chip is " + machine.chip.str();
      continue;
    }
    std::string reason = row.whyNot(op, machine);
    if (reason.empty())
      return &row;
    if (first.empty())
      first = reason;
  }
  if (!first.empty())
    why = first;
  return nullptr;
}
