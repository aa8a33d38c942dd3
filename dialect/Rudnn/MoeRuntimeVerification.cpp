//===- MoeRuntimeVerification.cpp - Run-time checks of MoE indices -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/MoeOps.h"

#include "MoeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// Emits the checks of one op, on tensors or memrefs, in front of it.
class Checks {
public:
  using Message = function_ref<std::string(Operation *, StringRef)>;

  Checks(OpBuilder &b, Location loc, Operation *op, Message message)
      : b(b), loc(loc), op(op), message(message) {}

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value extent(Value shaped, int64_t dim) {
    if (isa<TensorType>(shaped.getType()))
      return tensor::DimOp::create(b, loc, shaped, dim);
    return memref::DimOp::create(b, loc, shaped, dim);
  }
  Value load(Value shaped, ValueRange at) {
    Value element = isa<TensorType>(shaped.getType())
                        ? Value(tensor::ExtractOp::create(b, loc, shaped, at))
                        : Value(memref::LoadOp::create(b, loc, shaped, at));
    return toIndex(b, loc, element);
  }
  Value times(Value value, int64_t factor) {
    return arith::MulIOp::create(b, loc, value, index(factor));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
  }
  void require(Value condition, StringRef text) {
    cf::AssertOp::create(b, loc, condition, message(op, text));
  }

  /// lhs's extent is rhs's times `factor`.
  void requireExtent(Value lhs, int64_t lhsDim, Value rhs, int64_t rhsDim,
                     int64_t factor, StringRef text) {
    if (!ShapedType::isDynamic(shapeOf(lhs)[lhsDim]) &&
        !ShapedType::isDynamic(shapeOf(rhs)[rhsDim]))
      return; // the verifier's business
    Value expected = times(extent(rhs, rhsDim), factor);
    require(compare(arith::CmpIPredicate::eq, extent(lhs, lhsDim), expected),
            text);
  }

  /// Every element of `indices` is below `bound`; when `orNone`, or -1; when
  /// `orBound`, or the bound itself.
  void requireBelow(Value indices, Value bound, bool orNone, bool orBound,
                    StringRef text) {
    int64_t rank = shapeOf(indices).size();
    SmallVector<Value> lower(rank, index(0)), upper, step(rank, index(1));
    for (int64_t dim = 0; dim < rank; ++dim)
      upper.push_back(extent(indices, dim));
    scf::buildLoopNest(
        b, loc, lower, upper, step,
        [&](OpBuilder &nested, Location nestedLoc, ValueRange at) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(nested.getInsertionBlock(),
                              nested.getInsertionPoint());
          Value value = load(indices, at);
          auto predicate =
              orBound ? arith::CmpIPredicate::ule : arith::CmpIPredicate::ult;
          Value good = compare(predicate, value, bound);
          if (orNone) {
            Value none =
                compare(arith::CmpIPredicate::eq, value, index(UINT32_MAX));
            good = arith::OrIOp::create(b, loc, good, none);
          }
          require(good, text);
        });
  }

  /// Offsets [E+1] start at 0, ascend and end at most at `rows`.
  void requireOffsets(Value offsets, Value rows) {
    int64_t last = shapeOf(offsets)[0] - 1;
    require(
        compare(arith::CmpIPredicate::eq, load(offsets, index(0)), index(0)),
        "offsets[0] is not 0");
    scf::ForOp::create(
        b, loc, index(0), index(last), index(1), ValueRange{},
        [&](OpBuilder &nested, Location, Value at, ValueRange) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(nested.getInsertionBlock(),
                              nested.getInsertionPoint());
          Value next = arith::AddIOp::create(b, loc, at, index(1));
          require(compare(arith::CmpIPredicate::ule, load(offsets, at),
                          load(offsets, next)),
                  "offsets descend, expected them to ascend");
          scf::YieldOp::create(b, loc);
        });
    require(
        compare(arith::CmpIPredicate::ule, load(offsets, index(last)), rows),
        "the last of offsets is above the number of rows");
  }

private:
  OpBuilder &b;
  Location loc;
  Operation *op;
  Message message;
};

template <typename Model, typename OpTy>
struct Verifiable : RuntimeVerifiableOpInterface::ExternalModel<Model, OpTy> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &b, Location loc,
      function_ref<std::string(Operation *, StringRef)> message) const {
    Checks checks(b, loc, op, message);
    Model::check(checks, cast<OpTy>(op));
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
    c.requireBelow(op.getIds(), c.index(experts), /*orNone=*/true,
                   /*orBound=*/true,
                   "an expert id in ids is out of range, expected 0 to E-1, or "
                   "-1 or E for none");
  }
};

struct Experts : Verifiable<Experts, MoeExpertsOp> {
  static void check(Checks &c, MoeExpertsOp op) {
    c.requireExtent(op.getOuts()[0], 0, op.getX(), 0, 1,
                    "the output and x have different numbers of rows");
    c.requireOffsets(op.getOffsets(), c.extent(op.getX(), 0));
  }
};

struct ExpertsBackward : Verifiable<ExpertsBackward, MoeExpertsBackwardOp> {
  static void check(Checks &c, MoeExpertsBackwardOp op) {
    c.requireExtent(op.getDy(), 0, op.getX(), 0, 1,
                    "dy and x have different numbers of rows");
    c.requireExtent(op.getOuts()[0], 0, op.getX(), 0, 1,
                    "dx and x have different numbers of rows");
    c.requireOffsets(op.getOffsets(), c.extent(op.getX(), 0));
  }
};

/// slot_rows is the row of each slot, or -1.
void requireSlotRows(Checks &c, Value slotRows, Value rows) {
  c.requireBelow(slotRows, c.extent(rows, 0), /*orNone=*/true,
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
    c.requireBelow(op.getRowSlots(), slots, /*orNone=*/true, /*orBound=*/false,
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

/// router_weights and router_backward.
template <typename OpTy>
struct Router : Verifiable<Router<OpTy>, OpTy> {
  static void check(Checks &c, OpTy op) {
    c.requireExtent(op.getIds(), 0, op.getLogits(), 0, 1,
                    "ids and logits have different numbers of tokens");
    c.requireBelow(op.getIds(), c.index(shapeOf(op.getLogits())[1]),
                   /*orNone=*/false, /*orBound=*/false,
                   "an expert id in ids is out of range, expected 0 to E-1");
  }
};

} // namespace

void rudnn::registerMoeRuntimeVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
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
                         tensor::TensorDialect>();
  });
}
