//===- MoeRuntimeVerification.cpp - Run-time checks of MoE indices -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"
#include "RuntimeChecks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// The checks of one op.
class Checks : public RuntimeChecks {
public:
  using RuntimeChecks::RuntimeChecks;

  Value times(Value value, int64_t factor) { return mul(value, index(factor)); }

  /// lhs's extent is rhs's times `factor`.
  void requireExtent(Value lhs, int64_t lhsDim, Value rhs, int64_t rhsDim,
                     int64_t factor, StringRef text) {
    if (!ShapedType::isDynamic(shapeOf(lhs)[lhsDim]) &&
        !ShapedType::isDynamic(shapeOf(rhs)[rhsDim]))
      return; // the verifier's business
    Value expected = times(extent(rhs, rhsDim), factor);
    Value actual = extent(lhs, lhsDim);
    require(compare(Predicate::eq, actual, expected), text,
            {op->getName().getStringRef().str() + ": " + text.str() +
                 ": the extent is ",
             actual, ", expected ", expected});
  }

  /// Every element of `indices` (called `name`) is below `bound`; when
  /// `orNone`, or -1; when `orBound`, or the bound itself.
  void requireBelow(Value indices, StringRef name, Value bound, bool orNone,
                    bool orBound, StringRef text) {
    SmallVector<Value> at;
    requireBelow(indices, name, bound, orNone, orBound, text, at);
  }

  /// Offsets [E+1] start at 0, ascend and end at most at `rows`.
  void requireExpertOffsets(Value offsets, int64_t experts, Value rows) {
    if (ShapedType::isDynamic(shapeOf(offsets)[0])) {
      Value count = extent(offsets, 0);
      require(compare(Predicate::eq, count, index(experts + 1)),
              "offsets has not E+1 elements",
              {op->getName().getStringRef().str() + ": offsets[dim 0] is ",
               count, ", expected ", index(experts + 1),
               ", the number of experts and one"});
    }
    requireOffsets(offsets, "offsets", rows);
  }

private:
  /// One loop per dim of `indices`, from dim `at.size()` on.
  void requireBelow(Value indices, StringRef name, Value bound, bool orNone,
                    bool orBound, StringRef text, SmallVector<Value> &at) {
    if (at.size() < shapeOf(indices).size()) {
      forEach(extent(indices, at.size()), [&](Value i) {
        at.push_back(i);
        requireBelow(indices, name, bound, orNone, orBound, text, at);
        at.pop_back();
      });
      return;
    }
    Value value = load(indices, at);
    Value good =
        compare(orBound ? Predicate::ule : Predicate::ult, value, bound);
    Line expected{orBound ? "at most " : "less than ", bound};
    if (orNone) {
      Value none = compare(Predicate::eq, value, index(UINT32_MAX));
      good = arith::OrIOp::create(b, loc, good, none);
      expected.push_back(" or -1 (4294967295) for none");
    }
    requireElement(good, text, name, at, value, expected);
  }
};

template <typename Model, typename OpTy>
struct Verifiable : RuntimeVerifiableOpInterface::ExternalModel<Model, OpTy> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &b, Location loc,
      function_ref<std::string(Operation *, StringRef)> message) const {
    Checks checks(b, loc, op, message);
    Model::check(checks, cast<OpTy>(op));
    ExtentChecks extents(checks);
    visitExtents(op, extents);
  }
};

struct Dispatch : Verifiable<Dispatch, MoeDispatchOp> {
  static void check(Checks &c, MoeDispatchOp op) {
    int64_t k = shapeOf(op.getIds())[1];
    int64_t experts = shapeOf(op.getOuts()[1])[0] - 1;
    c.requireExtent(op.getIds(), 0, op.getX(), 0, 1,
                    "ids and x have different numbers of tokens");
    c.requireExtent(op.getOuts()[0], 0, op.getIds(), 0, k,
                    "values has not T*K rows");
    c.requireExtent(op.getOuts()[2], 0, op.getIds(), 0, 1,
                    "slot_rows and ids have different numbers of tokens");
    c.requireExtent(op.getOuts()[3], 0, op.getIds(), 0, k,
                    "row_slots has not T*K elements");
    if (op.getOuts().size() > 4)
      c.requireExtent(op.getOuts()[4], 0, op.getIds(), 0, k,
                      "row_experts has not T*K elements");
    c.requireBelow(op.getIds(), "ids", c.index(experts), /*orNone=*/true,
                   /*orBound=*/true,
                   "an expert id in ids is out of range, expected 0 to E-1, or "
                   "-1 or E for none");
  }
};

struct Experts : Verifiable<Experts, MoeExpertsOp> {
  static void check(Checks &c, MoeExpertsOp op) {
    c.requireExtent(op.getOuts()[0], 0, op.getX(), 0, 1,
                    "the output and x have different numbers of rows");
    c.requireExpertOffsets(op.getOffsets(), shapeOf(op.getGate())[0],
                     c.extent(op.getX(), 0));
  }
};

struct ExpertsBackward : Verifiable<ExpertsBackward, MoeExpertsBackwardOp> {
  static void check(Checks &c, MoeExpertsBackwardOp op) {
    c.requireExtent(op.getDy(), 0, op.getX(), 0, 1,
                    "dy and x have different numbers of rows");
    c.requireExtent(op.getOuts()[0], 0, op.getX(), 0, 1,
                    "dx and x have different numbers of rows");
    c.requireExpertOffsets(op.getOffsets(), shapeOf(op.getGate())[0],
                     c.extent(op.getX(), 0));
  }
};

/// slot_rows is the row of each slot, or -1.
void requireSlotRows(Checks &c, Value slotRows, Value rows) {
  c.requireBelow(slotRows, "slot_rows", c.extent(rows, 0), /*orNone=*/true,
                 /*orBound=*/false,
                 "a row in slot_rows is out of range, expected 0 to R-1, or -1 "
                 "for none");
}

struct Combine : Verifiable<Combine, MoeCombineOp> {
  static void check(Checks &c, MoeCombineOp op) {
    c.requireExtent(op.getWeights(), 0, op.getSlotRows(), 0, 1,
                    "weights and slot_rows have different numbers of tokens");
    c.requireExtent(
        op.getOuts()[0], 0, op.getSlotRows(), 0, 1,
        "the output and slot_rows have different numbers of tokens");
    requireSlotRows(c, op.getSlotRows(), op.getY());
  }
};

struct CombineBackward : Verifiable<CombineBackward, MoeCombineBackwardOp> {
  static void check(Checks &c, MoeCombineBackwardOp op) {
    c.requireExtent(op.getGrad(), 0, op.getSlotRows(), 0, 1,
                    "grad and slot_rows have different numbers of tokens");
    c.requireExtent(op.getWeights(), 0, op.getSlotRows(), 0, 1,
                    "weights and slot_rows have different numbers of tokens");
    c.requireExtent(op.getRowSlots(), 0, op.getY(), 0, 1,
                    "row_slots and y have different numbers of rows");
    requireSlotRows(c, op.getSlotRows(), op.getY());
    Value slots =
        c.times(c.extent(op.getGrad(), 0), shapeOf(op.getSlotRows())[1]);
    c.requireBelow(op.getRowSlots(), "row_slots", slots, /*orNone=*/true,
                   /*orBound=*/false,
                   "a slot in row_slots is out of range, expected 0 to T*K-1, "
                   "or -1 for none");
  }
};

struct DispatchBackward : Verifiable<DispatchBackward, MoeDispatchBackwardOp> {
  static void check(Checks &c, MoeDispatchBackwardOp op) {
    c.requireExtent(op.getOuts()[0], 0, op.getSlotRows(), 0, 1,
                    "dx and slot_rows have different numbers of tokens");
    requireSlotRows(c, op.getSlotRows(), op.getGrad());
  }
};

/// route and route_sigmoid_grouped: they have no index operands.
template <typename OpTy>
struct Route : Verifiable<Route<OpTy>, OpTy> {
  static void check(Checks &, OpTy) {}
};

/// router_weights and router_backward.
template <typename OpTy>
struct Router : Verifiable<Router<OpTy>, OpTy> {
  static void check(Checks &c, OpTy op) {
    c.requireExtent(op.getIds(), 0, op.getLogits(), 0, 1,
                    "ids and logits have different numbers of tokens");
    c.requireBelow(op.getIds(), "ids", c.index(shapeOf(op.getLogits())[1]),
                   /*orNone=*/false, /*orBound=*/false,
                   "an expert id in ids is out of range, expected 0 to E-1");
  }
};

} // namespace

void rudnn::registerMoeRuntimeVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    MoeRouteOp::attachInterface<Route<MoeRouteOp>>(*context);
    MoeRouteSigmoidGroupedOp::attachInterface<Route<MoeRouteSigmoidGroupedOp>>(
        *context);
    MoeDispatchOp::attachInterface<Dispatch>(*context);
    MoeExpertsOp::attachInterface<Experts>(*context);
    MoeCombineOp::attachInterface<Combine>(*context);
    MoeRouterWeightsOp::attachInterface<Router<MoeRouterWeightsOp>>(*context);
    MoeRouterBackwardOp::attachInterface<Router<MoeRouterBackwardOp>>(*context);
    MoeCombineBackwardOp::attachInterface<CombineBackward>(*context);
    MoeExpertsBackwardOp::attachInterface<ExpertsBackward>(*context);
    MoeDispatchBackwardOp::attachInterface<DispatchBackward>(*context);
    // What the checks are made of.
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         tensor::TensorDialect, vector::VectorDialect>();
  });
}
