//===- LaunchToRuntime.cpp - Launches as calls of the runtime -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNLAUNCHTORUNTIME
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

constexpr llvm::StringLiteral kImagePrefix = "rudnn_image_";

/// Calls of include/rudnn/Runtime/Launch.h.
class LaunchLowering : public ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
public:
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto func = op->getParentOfType<func::FuncOp>();
    auto module = op->getParentOfType<ModuleOp>();
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    auto ptr = LLVM::LLVMPointerType::get(context);

    // Arguments: every part of a descriptor is one parameter; the kernel gets
    // the addresses of all.
    SmallVector<Value> params = getTypeConverter()->promoteOperands(
        loc, op.getKernelOperands(), adaptor.getKernelOperands(), rewriter);
    SmallVector<Type> fields;
    for (Value param : params)
      fields.push_back(param.getType());
    Value slots = stackSlot(rewriter, func,
                         LLVM::LLVMStructType::getLiteral(context, fields));
    Value addresses = stackSlot(
        rewriter, func,
        LLVM::LLVMArrayType::get(ptr, std::max<size_t>(1, params.size())));
    auto structType = LLVM::LLVMStructType::getLiteral(context, fields);
    for (auto [index, param] : llvm::enumerate(params)) {
      int32_t position = index;
      Value slot = LLVM::GEPOp::create(rewriter, loc, ptr, structType, slots,
                                       ArrayRef<LLVM::GEPArg>{0, position});
      LLVM::StoreOp::create(rewriter, loc, param, slot);
      Value address = LLVM::GEPOp::create(rewriter, loc, ptr, ptr, addresses,
                                          ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(rewriter, loc, slot, address);
    }

    SmallVector<Value> arguments;
    arguments.push_back(LLVM::AddressOfOp::create(
        rewriter, loc, ptr,
        (kImagePrefix + op.getKernelModuleName().getValue()).str()));
    arguments.push_back(kernelName(rewriter, module, op));
    gpu::KernelDim3 grid = op.getGridSizeOperandValues();
    gpu::KernelDim3 block = op.getBlockSizeOperandValues();
    for (Value size : {grid.x, grid.y, grid.z, block.x, block.y, block.z})
      arguments.push_back(toI64(rewriter, loc, size));
    Value shared = adaptor.getDynamicSharedMemorySize();
    arguments.push_back(
        shared ? shared
               : LLVM::ConstantOp::create(rewriter, loc, i32,
                                          rewriter.getI32IntegerAttr(0))
                     .getResult());
    arguments.push_back(addresses);
    arguments.push_back(LLVM::ConstantOp::create(
        rewriter, loc, i32, rewriter.getI32IntegerAttr(params.size())));
    // The stream is the entry's last argument (rudnn-plan-workspace).
    arguments.push_back(func.getArguments().back());

    SmallVector<Type> types{ptr, ptr, i64, i64, i64, i64,
                            i64, i64, i32, ptr, i32, ptr};
    FailureOr<LLVM::LLVMFuncOp> callee =
        LLVM::lookupOrCreateFn(rewriter, module, "rudnn_rt_launch", types, i32);
    if (failed(callee))
      return failure();
    LLVM::CallOp::create(rewriter, loc, *callee, arguments);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// On the stack of the function, once, also for launches in loops.
  static Value stackSlot(ConversionPatternRewriter &rewriter, func::FuncOp func,
                      Type type) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&func.getBody().front());
    Value one =
        LLVM::ConstantOp::create(rewriter, func.getLoc(), rewriter.getI64Type(),
                                 rewriter.getI64IntegerAttr(1));
    return LLVM::AllocaOp::create(rewriter, func.getLoc(),
                                  LLVM::LLVMPointerType::get(func.getContext()),
                                  type, one);
  }

  static Value toI64(ConversionPatternRewriter &rewriter, Location loc,
                     Value size) {
    if (size.getType().isInteger(64))
      return size;
    if (size.getType().isIndex())
      return arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                        size);
    return arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(), size);
  }

  static Value kernelName(ConversionPatternRewriter &rewriter, ModuleOp module,
                          gpu::LaunchFuncOp op) {
    StringRef kernel = op.getKernelName().getValue();
    std::string symbol = ("rudnn_name_" + kernel).str();
    if (!module.lookupSymbol(symbol)) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      std::string text = kernel.str() + '\0';
      auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size());
      LLVM::GlobalOp::create(rewriter, op.getLoc(), type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, symbol,
                             rewriter.getStringAttr(text));
    }
    return LLVM::AddressOfOp::create(
        rewriter, op.getLoc(), LLVM::LLVMPointerType::get(op.getContext()),
        symbol);
  }
};

/// A gpu.binary as a RudnnKernelImage: { data, size, state }.
void embedImage(gpu::BinaryOp binary) {
  OpBuilder b(binary);
  Location loc = binary.getLoc();
  MLIRContext *context = binary.getContext();
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  StringRef data = object.getObject().getValue();
  // PTX is text that the driver reads up to its end.
  std::string bytes = data.str() + '\0';
  std::string dataName = ("rudnn_data_" + binary.getSymName()).str();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  auto global = LLVM::GlobalOp::create(
      b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, dataName,
      b.getStringAttr(bytes), /*alignment=*/16);
  (void)global;
  auto ptr = LLVM::LLVMPointerType::get(context);
  auto imageType =
      LLVM::LLVMStructType::getLiteral(context, {ptr, b.getI64Type(), ptr});
  auto image = LLVM::GlobalOp::create(
      b, loc, imageType, /*isConstant=*/false, LLVM::Linkage::Internal,
      (kImagePrefix + binary.getSymName()).str(), Attribute());
  Block *block = b.createBlock(&image.getInitializerRegion());
  b.setInsertionPointToStart(block);
  Value value = LLVM::UndefOp::create(b, loc, imageType);
  Value address = LLVM::AddressOfOp::create(b, loc, ptr, dataName);
  Value size = LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                        b.getI64IntegerAttr(data.size()));
  Value none = LLVM::ZeroOp::create(b, loc, ptr);
  value = LLVM::InsertValueOp::create(b, loc, value, address, ArrayRef<int64_t>{0});
  value = LLVM::InsertValueOp::create(b, loc, value, size, ArrayRef<int64_t>{1});
  value = LLVM::InsertValueOp::create(b, loc, value, none, ArrayRef<int64_t>{2});
  LLVM::ReturnOp::create(b, loc, value);
  binary.erase();
}

struct LaunchToRuntime
    : public rudnn::impl::RudnnLaunchToRuntimeBase<LaunchToRuntime> {
  using Base::Base;

  void runOnOperation() override {
    auto module = dyn_cast<ModuleOp>(getOperation());
    if (!module) {
      getOperation()->emitError("rudnn-launch-to-runtime runs on a module");
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    patterns.add<LaunchLowering>(converter);
    ConversionTarget target(*context);
    target.addIllegalOp<gpu::LaunchFuncOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    for (auto binary :
         llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      embedImage(binary);
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal() && func.getNumResults() == 0 &&
          !func.getSymName().ends_with("__result_shapes"))
        returnStatus(func, module);
  }

private:
  /// The entry returns the first error of its launches.
  void returnStatus(func::FuncOp func, ModuleOp module) {
    OpBuilder b(func.getContext());
    Type i32 = b.getI32Type();
    b.setInsertionPointToStart(module.getBody());
    FailureOr<LLVM::LLVMFuncOp> callee =
        LLVM::lookupOrCreateFn(b, module, "rudnn_rt_take_status", {}, i32);
    if (failed(callee))
      return signalPassFailure();
    func.setFunctionType(
        FunctionType::get(func.getContext(), func.getArgumentTypes(), {i32}));
    for (auto ret : llvm::make_early_inc_range(func.getOps<func::ReturnOp>())) {
      b.setInsertionPoint(ret);
      Value status =
          LLVM::CallOp::create(b, ret.getLoc(), *callee, ValueRange())
              .getResult();
      func::ReturnOp::create(b, ret.getLoc(), status);
      ret.erase();
    }
  }
};

} // namespace
