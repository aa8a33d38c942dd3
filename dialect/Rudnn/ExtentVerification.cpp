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

/// Every op whose extents follow from letters alone.
template <typename OpTy>
struct Model : RuntimeVerifiableOpInterface::ExternalModel<Model<OpTy>, OpTy> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    RuntimeChecks checks(b, loc, op, message);
    ExtentChecks extents(checks);
    visitExtents(op, extents);
  }
};

} // namespace

/// Along every axis the outputs are those that the input makes.
static void checkGeometry(RuntimeChecks &r, ExtentChecks &c,
                          const ConvGeometry &geometry, StringRef inputName,
                          Value input, Value weight, StringRef outputName,
                          Value output) {
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

static void checkGeometry(RuntimeChecks &r, ExtentChecks &c, ConvOp op) {
  checkGeometry(r, c, op.getGeometry(), "x", op.getX(), op.getWeight(), "y",
                op.getOuts()[0]);
}
static void checkGeometry(RuntimeChecks &r, ExtentChecks &c,
                          ConvDataBackwardOp op) {
  checkGeometry(r, c, op.getGeometry(), "dx", op.getOuts()[0], op.getWeight(),
                "dy", op.getDy());
}
static void checkGeometry(RuntimeChecks &r, ExtentChecks &c,
                          ConvWeightBackwardOp op) {
  checkGeometry(r, c, op.getGeometry(), "x", op.getX(), op.getOuts()[0], "dy",
                op.getDy());
}

namespace {

template <typename OpTy>
struct ConvModel
    : RuntimeVerifiableOpInterface::ExternalModel<ConvModel<OpTy>, OpTy> {
  void generateRuntimeVerification(Operation *op, OpBuilder &b, Location loc,
                                   RuntimeChecks::Message message) const {
    RuntimeChecks checks(b, loc, op, message);
    ExtentChecks extents(checks);
    visitExtents(op, extents);
    checkGeometry(checks, extents, cast<OpTy>(op));
  }
};

template <template <typename> typename ModelTy, typename... Ops>
void attach(MLIRContext &context) {
  (Ops::template attachInterface<ModelTy<Ops>>(context), ...);
}

} // namespace

void rudnn::registerExtentVerification(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         tensor::TensorDialect, vector::VectorDialect>();
    attach<Model, RmsNormOp, LayerNormOp, SoftmaxOp, AttentionOp,
           AttentionBackwardOp, MergeAttentionStatesOp, GatedDeltaRuleOp,
           ChunkGatedDeltaRuleOp>(*context);
    attach<ConvModel, ConvOp, ConvDataBackwardOp, ConvWeightBackwardOp>(
        *context);
  });
}
