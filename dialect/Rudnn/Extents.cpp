//===- Extents.cpp - Which extents of an op are the same -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/Extents.h"

#include "rudnn/IR/AttentionOps.h"
#include "rudnn/IR/ConvOps.h"
#include "rudnn/IR/DeltaOps.h"
#include "rudnn/IR/MoeOps.h"
#include "rudnn/IR/NormOps.h"
#include "rudnn/IR/PagedOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rudnn;

ExtentVisitor::~ExtentVisitor() = default;

void ExtentVisitor::addAll(StringRef name, ValueRange values,
                           StringRef letters) {
  for (auto [i, value] : llvm::enumerate(values))
    add(name.str() + "[" + std::to_string(i) + "]", value, letters);
}

//===----------------------------------------------------------------------===//
// Norm: letters A, B, .. for the dims before the last, which is h
//===----------------------------------------------------------------------===//

static std::string rowLetters(Value x) {
  std::string letters;
  for (size_t d = 1; d < shapeOf(x).size(); ++d)
    letters += char('A' + d - 1);
  return letters + "h";
}

static void visit(RmsNormOp op, ExtentVisitor &v) {
  v.add("x", op.getX(), rowLetters(op.getX()));
  v.add("gamma", op.getGamma(), "h");
  v.addAll("outs", op.getOuts(), rowLetters(op.getX()));
}

static void visit(LayerNormOp op, ExtentVisitor &v) {
  v.add("x", op.getX(), rowLetters(op.getX()));
  v.add("gamma", op.getGamma(), "h");
  v.add("beta", op.getBeta(), "h");
  v.addAll("outs", op.getOuts(), rowLetters(op.getX()));
}

static void visit(SoftmaxOp op, ExtentVisitor &v) {
  v.add("x", op.getX(), rowLetters(op.getX()));
  v.addAll("outs", op.getOuts(), rowLetters(op.getX()));
}

//===----------------------------------------------------------------------===//
// Attention: b batch, h and g heads, q and k rows, d and e head dims
//===----------------------------------------------------------------------===//

/// q, k, v and the options.
template <typename OpTy>
static void visitScores(OpTy op, ExtentVisitor &v) {
  v.add("q", op.getQ(), "bhqd");
  v.add("k", op.getK(), "bgkd");
  v.add("v", op.getV(), "bgke");
  v.addBroadcast("mask", op.getMask(), "bhqk");
  v.addBroadcast("bias", op.getBias(), "bhqk");
  v.add("sinks", op.getSinks(), "h");
}

static void visit(AttentionOp op, ExtentVisitor &v) {
  visitScores(op, v);
  v.add("out", op.getOuts()[0], "bhqe");
  v.add("lse", op.getLseOut(), "bhq");
}

static void visit(AttentionBackwardOp op, ExtentVisitor &v) {
  visitScores(op, v);
  v.add("out", op.getOut(), "bhqe");
  v.add("dout", op.getDout(), "bhqe");
  v.add("lse", op.getLse(), "bhq");
  v.add("dq", op.getOuts()[0], "bhqd");
  v.add("dk", op.getOuts()[1], "bgkd");
  v.add("dv", op.getOuts()[2], "bgke");
  if (op.getBiasGradient())
    v.addBroadcast("dbias", op.getOuts()[3], "bhqk");
  if (op.getSinksGradient())
    v.add("dsinks", op.getOuts().back(), "h");
}

/// Packed rows: q and k count those of all s - 1 sequences.
template <typename OpTy>
static void visitRagged(OpTy op, ExtentVisitor &v) {
  v.add("q", op.getQ(), "qhd");
  v.add("k", op.getK(), "kgd");
  v.add("v", op.getV(), "kge");
  v.add("query_offsets", op.getQueryOffsets(), "s");
  v.add("key_offsets", op.getKeyOffsets(), "s");
  v.add("sinks", op.getSinks(), "h");
}

static void visit(RaggedAttentionOp op, ExtentVisitor &v) {
  visitRagged(op, v);
  v.add("out", op.getOuts()[0], "qhe");
  if (op.getOuts().size() > 1)
    v.add("lse", op.getOuts()[1], "hq");
}

static void visit(RaggedAttentionBackwardOp op, ExtentVisitor &v) {
  visitRagged(op, v);
  v.add("out", op.getOut(), "qhe");
  v.add("dout", op.getDout(), "qhe");
  v.add("lse", op.getLse(), "hq");
  v.add("dq", op.getOuts()[0], "qhd");
  v.add("dk", op.getOuts()[1], "kgd");
  v.add("dv", op.getOuts()[2], "kge");
  if (op.getSinksGradient())
    v.add("dsinks", op.getOuts().back(), "h");
}

static void visit(MergeAttentionStatesOp op, ExtentVisitor &v) {
  v.addAll("states", op.getStates(), "bhqe");
  v.addAll("lses", op.getLses(), "bhq");
  v.add("out", op.getOuts()[0], "bhqe");
  v.add("lse", op.getLseOut(), "bhq");
}

//===----------------------------------------------------------------------===//
// Paged: q rows, h and g heads, d and e head dims, p pages, s slots, n
// sequences
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void visitPages(OpTy op, ExtentVisitor &v) {
  PageOperands pages = getPageOperands(op);
  v.add("tables", pages.tables, "n.");
  v.add("lengths", pages.lengths, "n");
  v.add("sequence_ids", pages.sequenceIds, "q");
  v.add("positions", pages.positions, "q");
}

static void visit(PagedPlanOp op, ExtentVisitor &v) {
  v.add("lengths", op.getLengths(), "n");
  v.add("sequence_ids", op.getSequenceIds(), "q");
  v.add("positions", op.getPositions(), "q");
  v.add("merges", op.getOuts()[1], "n.");
}

static void visit(PagedAppendOp op, ExtentVisitor &v) {
  v.add("new_k", op.getNewK(), "qgd");
  v.add("new_v", op.getNewV(), "qge");
  visitPages(op, v);
  v.add("outs[0]", op.getOuts()[0], "psgd");
  v.add("outs[1]", op.getOuts()[1], "psge");
}

template <typename OpTy>
static void visitKeysAndValues(OpTy op, ExtentVisitor &v) {
  v.add("q", op.getQ(), "qhd");
  v.add("k", op.getK(), "psgd");
  v.add("v", op.getV(), "psge");
}

/// d of the latent, e of its rotary part.
template <typename OpTy>
static void visitLatent(OpTy op, ExtentVisitor &v) {
  v.add("q", op.getQ(), "qhd");
  v.add("qp", op.getQp(), "qhe");
  v.add("latent", op.getLatent(), "ps.d");
  v.add("kp", op.getKp(), "ps.e");
}

static void visit(PagedAttentionOp op, ExtentVisitor &v) {
  visitKeysAndValues(op, v);
  visitPages(op, v);
  v.add("sinks", op.getSinks(), "h");
  v.add("out", op.getOuts()[0], "qhe");
  v.add("lse", op.getLseOut(), "qh");
}

static void visit(PagedMlaOp op, ExtentVisitor &v) {
  visitLatent(op, v);
  visitPages(op, v);
  v.add("out", op.getOuts()[0], "qhd");
  v.add("lse", op.getLseOut(), "qh");
}

static StringRef gradientLetters(PagedGradients gradient) {
  switch (gradient) {
  case PagedGradients::Dq:
    return "qhd";
  case PagedGradients::Dqp:
    return "qhe";
  case PagedGradients::Dk:
    return "psgd";
  case PagedGradients::Dv:
    return "psge";
  case PagedGradients::Dlatent:
    return "ps.d";
  case PagedGradients::Dkp:
    return "ps.e";
  case PagedGradients::Dsinks:
    return "h";
  }
  llvm_unreachable("covered switch");
}

template <typename OpTy>
static void visitGradients(OpTy op, ExtentVisitor &v) {
  for (auto [i, gradient] : llvm::enumerate(op.getGradientList()))
    v.add("outs[" + std::to_string(i) + "]", op.getOuts()[i],
          gradientLetters(gradient));
}

static void visit(PagedAttentionBackwardOp op, ExtentVisitor &v) {
  visitKeysAndValues(op, v);
  v.add("grad_out", op.getGradOut(), "qhe");
  visitPages(op, v);
  v.add("sinks", op.getSinks(), "h");
  visitGradients(op, v);
}

static void visit(PagedMlaBackwardOp op, ExtentVisitor &v) {
  visitLatent(op, v);
  v.add("grad_out", op.getGradOut(), "qhd");
  visitPages(op, v);
  visitGradients(op, v);
}

//===----------------------------------------------------------------------===//
// Mixture of experts: t tokens, e experts, k choices, r rows, h, w and i widths
//===----------------------------------------------------------------------===//

static void visit(MoeRouteOp op, ExtentVisitor &v) {
  v.add("logits", op.getLogits(), "te");
  v.add("ids", op.getOuts()[0], "tk");
  v.add("weights", op.getOuts()[1], "tk");
}

static void visit(MoeRouteSigmoidGroupedOp op, ExtentVisitor &v) {
  v.add("logits", op.getLogits(), "te");
  v.add("bias", op.getBias(), "e");
  v.add("ids", op.getOuts()[0], "tk");
  v.add("weights", op.getOuts()[1], "tk");
}

/// R = T*K is no letter.
static void visit(MoeDispatchOp op, ExtentVisitor &v) {
  v.add("x", op.getX(), "th");
  v.add("ids", op.getIds(), "tk");
  v.add("values", op.getOuts()[0], ".h");
  v.add("slot_rows", op.getOuts()[2], "tk");
}

template <typename OpTy>
static void visitExperts(OpTy op, ExtentVisitor &v) {
  v.add("x", op.getX(), "rh");
  v.add("gate", op.getGate(), "eih");
  v.add("up", op.getUp(), "eih");
  v.add("down", op.getDown(), "ehi");
}

static void visit(MoeExpertsOp op, ExtentVisitor &v) {
  visitExperts(op, v);
  v.add("y", op.getOuts()[0], "rh");
}

static void visit(MoeExpertsBackwardOp op, ExtentVisitor &v) {
  visitExperts(op, v);
  v.add("dy", op.getDy(), "rh");
  v.add("dx", op.getOuts()[0], "rh");
  v.add("dgate", op.getOuts()[1], "eih");
  v.add("dup", op.getOuts()[2], "eih");
  v.add("ddown", op.getOuts()[3], "ehi");
}

static void visit(MoeCombineOp op, ExtentVisitor &v) {
  v.add("y", op.getY(), "rw");
  v.add("slot_rows", op.getSlotRows(), "tk");
  v.add("weights", op.getWeights(), "tk");
  v.add("out", op.getOuts()[0], "tw");
}

static void visit(MoeCombineBackwardOp op, ExtentVisitor &v) {
  v.add("y", op.getY(), "rw");
  v.add("slot_rows", op.getSlotRows(), "tk");
  v.add("grad", op.getGrad(), "tw");
  v.add("row_slots", op.getRowSlots(), "r");
  v.add("weights", op.getWeights(), "tk");
  v.add("dy", op.getOuts()[0], "rw");
  v.add("dweights", op.getOuts()[1], "tk");
}

static void visit(MoeDispatchBackwardOp op, ExtentVisitor &v) {
  v.add("grad", op.getGrad(), "rh");
  v.add("slot_rows", op.getSlotRows(), "tk");
  v.add("dx", op.getOuts()[0], "th");
}

static void visit(MoeRouterWeightsOp op, ExtentVisitor &v) {
  v.add("logits", op.getLogits(), "te");
  v.add("ids", op.getIds(), "tk");
  v.addAll("outs", op.getOuts(), "tk");
}

static void visit(MoeRouterBackwardOp op, ExtentVisitor &v) {
  v.add("logits", op.getLogits(), "te");
  v.add("ids", op.getIds(), "tk");
  v.add("grad", op.getGrad(), "tk");
  v.addAll("outs", op.getOuts(), "te");
}

//===----------------------------------------------------------------------===//
// Gated delta rule: b batch, g and h heads, t tokens, k and v head dims
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void visitDelta(OpTy op, ExtentVisitor &v) {
  v.add("q", op.getQ(), "bgtk");
  v.add("k", op.getK(), "bgtk");
  v.add("v", op.getV(), "bhtv");
  v.add("beta", op.getBeta(), "bht");
  v.add("log_decay", op.getLogDecay(), "bht");
  v.add("initial_state", op.getInitialState(), "bhkv");
  v.add("out", op.getOuts()[0], "bhtv");
  v.add("final_state", op.getOuts()[1], "bhkv");
}

//===----------------------------------------------------------------------===//
// Conv: b batch, i and o channels; spatial extents follow from the geometry
//===----------------------------------------------------------------------===//

static void visitConv(const ConvGeometry &geometry, ExtentVisitor &v,
                      StringRef xName, Value x, StringRef weightName,
                      Value weight, StringRef yName, Value y) {
  std::string input(shapeOf(x).size(), '.'), output = input, kernel = input;
  input[0] = output[0] = 'b';
  input[geometry.channelDim()] = 'i';
  output[geometry.channelDim()] = kernel[0] = 'o';
  v.add(weightName, weight, kernel);
  v.add(xName, x, input);
  v.add(yName, y, output);
}

static void visit(ConvOp op, ExtentVisitor &v) {
  visitConv(op.getGeometry(), v, "x", op.getX(), "the weight", op.getWeight(),
            "y", op.getOuts()[0]);
  v.add("bias", op.getBias(), "o");
}
static void visit(ConvDataBackwardOp op, ExtentVisitor &v) {
  visitConv(op.getGeometry(), v, "dx", op.getOuts()[0], "the weight",
            op.getWeight(), "dy", op.getDy());
}
static void visit(ConvWeightBackwardOp op, ExtentVisitor &v) {
  visitConv(op.getGeometry(), v, "x", op.getX(), "dw", op.getOuts()[0], "dy",
            op.getDy());
}

void rudnn::visitExtents(Operation *op, ExtentVisitor &v) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<RmsNormOp, LayerNormOp, SoftmaxOp, AttentionOp, AttentionBackwardOp,
            RaggedAttentionOp, RaggedAttentionBackwardOp,
            MergeAttentionStatesOp, PagedPlanOp, PagedAppendOp,
            PagedAttentionOp, PagedMlaOp, PagedAttentionBackwardOp,
            PagedMlaBackwardOp, MoeRouteOp, MoeRouteSigmoidGroupedOp,
            MoeDispatchOp, MoeExpertsOp, MoeExpertsBackwardOp, MoeCombineOp,
            MoeCombineBackwardOp, MoeDispatchBackwardOp, MoeRouterWeightsOp,
            MoeRouterBackwardOp, ConvOp, ConvDataBackwardOp,
            ConvWeightBackwardOp>([&](auto typed) { visit(typed, v); })
      .Case<GatedDeltaRuleOp, ChunkGatedDeltaRuleOp>(
          [&](auto typed) { visitDelta(typed, v); });
}

//===----------------------------------------------------------------------===//
// refineExtents
//===----------------------------------------------------------------------===//

namespace {

/// The static extent of every letter, then the types that operands may have.
struct StaticExtents : ExtentVisitor {
  void visit(StringRef, Value value, StringRef letters,
             bool isBroadcast) override {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, letter] : llvm::enumerate(letters)) {
      if (letter == '.' || (isBroadcast && shape[dim] == 1))
        continue;
      if (!ShapedType::isDynamic(shape[dim]))
        extents.try_emplace(letter, shape[dim]);
      else if (auto known = extents.find(letter); known != extents.end())
        shape[dim] = known->second;
    }
    if (type.getShape() != ArrayRef(shape))
      types[value] = type.clone(shape);
  }

  llvm::SmallDenseMap<char, int64_t> extents;
  llvm::SmallDenseMap<Value, RankedTensorType> types;
};

} // namespace

Operation *rudnn::refineExtents(RewriterBase &rewriter, Operation *op) {
  StaticExtents known;
  visitExtents(op, known); // collects the extents
  visitExtents(op, known); // and uses all of them
  if (known.types.empty())
    return op;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto type = known.types.find(operand);
    operands.push_back(
        type == known.types.end()
            ? operand
            : tensor::CastOp::create(rewriter, loc, type->second, operand));
  }
  auto dps = cast<DestinationStyleOpInterface>(op);
  SmallVector<Type> types;
  for (OpResult result : op->getResults())
    types.push_back(
        operands[dps.getTiedOpOperand(result)->getOperandNumber()].getType());
  Operation *refined = mlir::clone(rewriter, op, types, operands);
  SmallVector<Value> results;
  for (auto [old, result] :
       llvm::zip_equal(op->getResults(), refined->getResults()))
    results.push_back(
        old.getType() == result.getType()
            ? Value(result)
            : tensor::CastOp::create(rewriter, loc, old.getType(), result));
  rewriter.replaceOp(op, results);
  return refined;
}
