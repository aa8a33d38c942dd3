//===- ExtentVerification.cpp - Run-time checks of extents -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the clauses of an op make two extents equal and one of them is dynamic,
// the verifier can't compare them: the code in front of the op does.
//
//===----------------------------------------------------------------------===//

#include "RuntimeChecks.h"

#include "rudnn/IR/AttentionOps.h"
#include "rudnn/IR/ConvOps.h"
#include "rudnn/IR/DeltaOps.h"
#include "rudnn/IR/NormOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace rudnn;

namespace {

/// Calls OpTy-specific `listDims` and checks what it names.
template <typename OpTy, void (*listDims)(ExtentChecks &, OpTy)>
struct Model
    : RuntimeVerifiableOpInterface::ExternalModel<Model<OpTy, listDims>, OpTy> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    RuntimeChecks checks(b, loc, op, message);
    ExtentChecks extents(checks);
    listDims(extents, cast<OpTy>(op));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Norm
//===----------------------------------------------------------------------===//

/// Letters A, B, .. for the dims before the last, which is h.
static std::string rowLetters(Value x) {
  std::string letters;
  for (size_t d = 1; d < shapeOf(x).size(); ++d)
    letters += char('A' + d - 1);
  return letters + "h";
}

static void listRmsNorm(ExtentChecks &c, RmsNormOp op) {
  c.add("x", op.getX(), rowLetters(op.getX()));
  c.add("gamma", op.getGamma(), "h");
  c.addAll("outs", op.getOuts(), rowLetters(op.getX()));
}

static void listLayerNorm(ExtentChecks &c, LayerNormOp op) {
  c.add("x", op.getX(), rowLetters(op.getX()));
  c.add("gamma", op.getGamma(), "h");
  c.add("beta", op.getBeta(), "h");
  c.addAll("outs", op.getOuts(), rowLetters(op.getX()));
}

static void listSoftmax(ExtentChecks &c, SoftmaxOp op) {
  c.add("x", op.getX(), rowLetters(op.getX()));
  c.addAll("outs", op.getOuts(), rowLetters(op.getX()));
}

//===----------------------------------------------------------------------===//
// Attention: b batch, h and g heads, q and k rows, d and e head dims
//===----------------------------------------------------------------------===//

/// q, k, v and the options; a static 1 of mask and bias is broadcast.
template <typename OpTy>
static void listScores(ExtentChecks &c, OpTy op) {
  c.add("q", op.getQ(), "bhqd");
  c.add("k", op.getK(), "bgkd");
  c.add("v", op.getV(), "bgke");
  c.addBroadcast("mask", op.getMask(), "bhqk");
  c.addBroadcast("bias", op.getBias(), "bhqk");
  c.add("sinks", op.getSinks(), "h");
}

static void listAttention(ExtentChecks &c, AttentionOp op) {
  listScores(c, op);
  c.add("out", op.getOuts()[0], "bhqe");
  c.add("lse", op.getLseOut(), "bhq");
}

static void listAttentionBackward(ExtentChecks &c, AttentionBackwardOp op) {
  listScores(c, op);
  c.add("out", op.getOut(), "bhqe");
  c.add("dout", op.getDout(), "bhqe");
  c.add("lse", op.getLse(), "bhq");
  c.add("dq", op.getOuts()[0], "bhqd");
  c.add("dk", op.getOuts()[1], "bgkd");
  c.add("dv", op.getOuts()[2], "bgke");
  if (op.getBiasGradient())
    c.addBroadcast("dbias", op.getOuts()[3], "bhqk");
}

static void listMerge(ExtentChecks &c, MergeAttentionStatesOp op) {
  c.addAll("states", op.getStates(), "bhqe");
  c.addAll("lses", op.getLses(), "bhq");
  c.add("out", op.getOuts()[0], "bhqe");
  c.add("lse", op.getLseOut(), "bhq");
}

//===----------------------------------------------------------------------===//
// Gated delta rule
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void listDelta(ExtentChecks &c, OpTy op) {
  c.add("q", op.getQ(), "bgtk");
  c.add("k", op.getK(), "bgtk");
  c.add("v", op.getV(), "bhtv");
  c.add("beta", op.getBeta(), "bht");
  c.add("log_decay", op.getLogDecay(), "bht");
  c.add("initial_state", op.getInitialState(), "bhkv");
  c.add("out", op.getOuts()[0], "bhtv");
  c.add("final_state", op.getOuts()[1], "bhkv");
}

//===----------------------------------------------------------------------===//
// Conv
//===----------------------------------------------------------------------===//

/// The batch of both, and of every axis the outputs that the input makes.
static void listConvDims(ExtentChecks &c, const ConvGeometry &geometry,
                         StringRef inputName, Value input, Value weight,
                         StringRef outputName, Value output) {
  std::string letters(shapeOf(input).size(), '.');
  letters[0] = 'b';
  c.add(inputName, input, letters);
  c.add(outputName, output, letters);
  RuntimeChecks &r = c.checks;
  for (unsigned axis = 0; axis < geometry.spatialRank(); ++axis) {
    unsigned dim = geometry.spatialDim(axis);
    int64_t kernel = shapeOf(weight)[dim];
    if (!ShapedType::isDynamic(shapeOf(input)[dim]) &&
        !ShapedType::isDynamic(shapeOf(output)[dim]))
      continue;
    int64_t reach = geometry.dilation[axis] * (kernel - 1) + 1;
    Value size = r.add(r.extent(input, dim),
                       r.index(geometry.low[axis] + geometry.high[axis]));
    std::string where = "[dim " + std::to_string(dim) + "]";
    c.require(r.compare(RuntimeChecks::Predicate::uge, size, r.index(reach)),
              "the kernel is larger than the padded input",
              {inputName.str() + where + " with its padding is ", size,
               ", expected at least ", r.index(reach),
               ", the reach of the kernel"});
    Value steps =
        arith::DivUIOp::create(r.b, r.loc, r.sub(size, r.index(reach)),
                               r.index(geometry.stride[axis]));
    Value expected = r.add(steps, r.index(1));
    Value actual = r.extent(output, dim);
    c.require(r.compare(RuntimeChecks::Predicate::eq, actual, expected),
              "an extent of the output does not follow from the input",
              {outputName.str() + where + " is ", actual, ", expected ",
               expected, ", what " + inputName.str() + where + " gives"});
  }
}

static void listConv(ExtentChecks &c, ConvOp op) {
  listConvDims(c, op.getGeometry(), "x", op.getX(), op.getWeight(), "y",
               op.getOuts()[0]);
}
static void listConvData(ExtentChecks &c, ConvDataBackwardOp op) {
  listConvDims(c, op.getGeometry(), "dx", op.getOuts()[0], op.getWeight(), "dy",
               op.getDy());
}
static void listConvWeight(ExtentChecks &c, ConvWeightBackwardOp op) {
  listConvDims(c, op.getGeometry(), "x", op.getX(), op.getOuts()[0], "dy",
               op.getDy());
}

void rudnn::registerExtentVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         tensor::TensorDialect, vector::VectorDialect>();
    RmsNormOp::attachInterface<Model<RmsNormOp, listRmsNorm>>(*context);
    LayerNormOp::attachInterface<Model<LayerNormOp, listLayerNorm>>(*context);
    SoftmaxOp::attachInterface<Model<SoftmaxOp, listSoftmax>>(*context);
    AttentionOp::attachInterface<Model<AttentionOp, listAttention>>(*context);
    AttentionBackwardOp::attachInterface<
        Model<AttentionBackwardOp, listAttentionBackward>>(*context);
    MergeAttentionStatesOp::attachInterface<
        Model<MergeAttentionStatesOp, listMerge>>(*context);
    GatedDeltaRuleOp::attachInterface<
        Model<GatedDeltaRuleOp, listDelta<GatedDeltaRuleOp>>>(*context);
    ChunkGatedDeltaRuleOp::attachInterface<
        Model<ChunkGatedDeltaRuleOp, listDelta<ChunkGatedDeltaRuleOp>>>(
        *context);
    ConvOp::attachInterface<Model<ConvOp, listConv>>(*context);
    ConvDataBackwardOp::attachInterface<
        Model<ConvDataBackwardOp, listConvData>>(*context);
    ConvWeightBackwardOp::attachInterface<
        Model<ConvWeightBackwardOp, listConvWeight>>(*context);
  });
}
