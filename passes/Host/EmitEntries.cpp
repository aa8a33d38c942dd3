//===- EmitEntries.cpp - Entry functions of an artifact -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives every public function the calling convention of an artifact
// (include/rudnn/Runtime/Abi.h): arguments and results in buffers of the caller,
// and beside it a function that computes the extents of the results.
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNEMITENTRIES
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

constexpr llvm::StringLiteral kShapesSuffix = "__result_shapes";

bool isSupportedElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         type.isIndex() || type.isSignlessInteger(1) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// The ABI has dense row-major tensors and scalars only.
bool isSupportedType(Type type, bool allowMemRef) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding() && isSupportedElement(tensor.getElementType());
  if (auto memref = dyn_cast<MemRefType>(type))
    return allowMemRef && memref.getLayout().isIdentity() &&
           !memref.getMemorySpace() && isSupportedElement(memref.getElementType());
  return isSupportedElement(type);
}

MemRefType toMemRef(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

LogicalResult checkSignature(func::FuncOp func) {
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types))
      if (!isSupportedType(type, what == "argument"))
        return func.emitOpError()
               << "can't be an entry: " << what << " " << i << " has type " << type
               << "; allowed are ranked tensors without encoding and scalars of "
                  "f32, f16, bf16, f64, i1, i8, i16, i32, i64 or index";
    return success();
  };
  if (failed(check(func.getArgumentTypes(), "argument")))
    return failure();
  return check(func.getResultTypes(), "result");
}

/// Tensor arguments become memrefs that are read through to_tensor.
void convertArguments(func::FuncOp func) {
  Block &entry = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  for (BlockArgument arg : entry.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(arg.getType());
    if (!tensor)
      continue;
    arg.setType(toMemRef(tensor));
    auto toTensor = bufferization::ToTensorOp::create(b, arg.getLoc(), tensor, arg,
                                                      /*restrict=*/true);
    arg.replaceAllUsesExcept(toTensor, toTensor);
  }
}

/// Stores one scalar result at a pointer; an index is 64 bits wide there.
void storeScalar(OpBuilder &b, Location loc, Value value, Value pointer) {
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  else if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  LLVM::StoreOp::create(b, loc, value, pointer);
}

/// Results become arguments: a memref that is written in full, or a pointer.
void convertResults(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  Block &entry = func.getBody().front();
  SmallVector<Value> destinations;
  for (Type type : func.getResultTypes()) {
    Type destination = LLVM::LLVMPointerType::get(context);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      destination = toMemRef(tensor);
    destinations.push_back(entry.addArgument(destination, func.getLoc()));
  }
  for (func::ReturnOp ret :
       llvm::to_vector(func.getBody().getOps<func::ReturnOp>())) {
    OpBuilder b(ret);
    for (auto [value, destination] : llvm::zip(ret.getOperands(), destinations)) {
      if (!isa<RankedTensorType>(value.getType())) {
        storeScalar(b, ret.getLoc(), value, destination);
        continue;
      }
      bufferization::MaterializeInDestinationOp::create(
          b, ret.getLoc(), /*result=*/Type(), value, destination,
          /*restrict=*/true, /*writable=*/true);
    }
    func::ReturnOp::create(b, ret.getLoc());
    ret.erase();
  }
}

void updateType(func::FuncOp func) {
  Block &entry = func.getBody().front();
  func.setFunctionType(FunctionType::get(func.getContext(),
                                         llvm::to_vector(entry.getArgumentTypes()), {}));
  func.removeResAttrsAttr();
  func.removeArgAttrsAttr();
  func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                UnitAttr::get(func.getContext()));
}

/// Inlines calls of functions of this module, so that shapes can be followed
/// through them.
void inlineCalls(func::FuncOp func) {
  InlinerInterface interface(func.getContext());
  InlinerConfig config;
  bool changed = true;
  // Recursion would never end; a chain of calls this deep is one.
  for (int depth = 0; changed && depth < 64; ++depth) {
    changed = false;
    SmallVector<func::CallOp> calls;
    func.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (!callee || callee.isExternal() || callee == func)
        continue;
      if (failed(inlineCall(interface, config.getCloneCallback(), call, callee,
                            &callee.getBody(), /*shouldCloneInlinedRegion=*/true)))
        continue;
      call.erase();
      changed = true;
    }
  }
}

/// Writes the extents of the returned tensors to the pointer, in order.
void storeExtents(func::FuncOp func, Value pointer) {
  for (func::ReturnOp ret :
       llvm::to_vector(func.getBody().getOps<func::ReturnOp>())) {
    Location loc = ret.getLoc();
    OpBuilder b(ret);
    int32_t position = 0;
    for (Value value : ret.getOperands()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      for (int64_t d = 0; type && d < type.getRank(); ++d, ++position) {
        Value extent;
        if (type.isDynamicDim(d)) {
          extent = tensor::DimOp::create(b, loc, value, d);
          extent = arith::IndexCastOp::create(b, loc, b.getI64Type(), extent);
        } else {
          extent = arith::ConstantIntOp::create(b, loc, b.getI64Type(),
                                                type.getDimSize(d));
        }
        Value slot = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI64Type(),
                                         pointer, ArrayRef<LLVM::GEPArg>{position});
        LLVM::StoreOp::create(b, loc, extent, slot);
      }
    }
    func::ReturnOp::create(b, loc);
    ret.erase();
  }
}

/// Rewrites the extents in terms of the arguments' extents and removes what
/// computes the tensors themselves.
LogicalResult simplifyShapes(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
  return applyPatternsGreedily(func, std::move(patterns), config);
}

/// `@f__result_shapes`: the extents of the results of `func`, from the extents
/// and scalars of its arguments.
LogicalResult emitResultShapes(func::FuncOp func, SymbolTable &symbols) {
  std::string name = (func.getSymName() + kShapesSuffix).str();
  if (symbols.lookup(name))
    return func.emitOpError() << "can't be an entry: the name @" << name
                              << " is taken";
  auto shapes = cast<func::FuncOp>(func->clone());
  shapes.setSymName(name);
  symbols.insert(shapes, std::next(func->getIterator()));
  inlineCalls(shapes);
  convertArguments(shapes);
  Value pointer = shapes.getBody().front().addArgument(
      LLVM::LLVMPointerType::get(func.getContext()), func.getLoc());
  storeExtents(shapes, pointer);
  updateType(shapes);
  if (failed(simplifyShapes(shapes)))
    return func.emitOpError("the extents of the results did not simplify");

  WalkResult walk = shapes.walk([&](bufferization::ToTensorOp op) {
    InFlightDiagnostic error =
        func.emitOpError("can't be an entry: an extent of a result depends on "
                         "the data of a tensor, not only on extents and scalars");
    for (Operation *user : op->getUsers())
      error.attachNote(user->getLoc()) << "read here by '" << user->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

struct EmitEntries : public rudnn::impl::RudnnEmitEntriesBase<EmitEntries> {
  using Base::Base;

  void runOnOperation() override {
    auto module = dyn_cast<ModuleOp>(getOperation());
    if (!module) {
      getOperation()->emitError("rudnn-emit-entries runs on a module");
      return signalPassFailure();
    }
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal())
        entries.push_back(func);
    for (func::FuncOp func : entries) {
      if (failed(checkSignature(func)) || failed(keepForCallers(func, symbols)))
        return signalPassFailure();
    }
    for (func::FuncOp func : entries) {
      if (failed(emitResultShapes(func, symbols)))
        return signalPassFailure();
      convertArguments(func);
      convertResults(func);
      updateType(func);
    }
  }

  /// A function that others call keeps its signature in a private copy.
  LogicalResult keepForCallers(func::FuncOp func, SymbolTable &symbols) {
    if (SymbolTable::symbolKnownUseEmpty(func, getOperation()))
      return success();
    auto copy = cast<func::FuncOp>(func->clone());
    copy.setPrivate();
    StringAttr name = symbols.insert(copy);
    return SymbolTable::replaceAllSymbolUses(func, name, getOperation());
  }
};

} // namespace
