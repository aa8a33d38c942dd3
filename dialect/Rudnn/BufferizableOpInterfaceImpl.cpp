//===- BufferizableOpInterfaceImpl.cpp - How rudnn ops bufferize -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Rudnn.h"
#include "rudnn/Tile/TileDialect.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {

/// The op on memrefs: same operands and attributes, buffers for tensors, no
/// results (they are the buffers of the outs).
template <typename OpTy>
struct DestinationStyle
    : DstBufferizableOpInterfaceExternalModel<DestinationStyle<OpTy>, OpTy> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    auto dps = cast<DestinationStyleOpInterface>(op);
    SmallVector<Value> results;
    for (OpResult result : op->getResults())
      results.push_back(
          operands[dps.getTiedOpOperand(result)->getOperandNumber()]);
    mlir::clone(rewriter, op, TypeRange{}, operands);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

template <typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<DestinationStyle<Ops>>(*context), ...);
}

} // namespace

void rudnn::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RudnnDialect *) {
    attach<
#define GET_OP_LIST
#include "rudnn/NormOps.cpp.inc"
        >(context);
    attach<
#define GET_OP_LIST
#include "rudnn/AttentionOps.cpp.inc"
        >(context);
    attach<
#define GET_OP_LIST
#include "rudnn/PagedOps.cpp.inc"
        >(context);
    attach<
#define GET_OP_LIST
#include "rudnn/MoeOps.cpp.inc"
        >(context);
    attach<
#define GET_OP_LIST
#include "rudnn/DeltaOps.cpp.inc"
        >(context);
    attach<
#define GET_OP_LIST
#include "rudnn/ConvOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, tile::TileDialect *) {
    attach<tile::GemmOp>(context);
  });
}
