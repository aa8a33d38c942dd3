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
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/BitVector.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNEMBEDKERNELS
#define GEN_PASS_DEF_RUDNNLAUNCHTORUNTIME
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

constexpr llvm::StringLiteral kImagePrefix = "rudnn_image_";

/// What the patterns share: calls of include/rudnn/Runtime/Launch.h.
class RuntimeCalls {
public:
  RuntimeCalls(ConversionPatternRewriter &b, Operation *op)
      : b(b), loc(op->getLoc()), func(op->getParentOfType<func::FuncOp>()),
        module(op->getParentOfType<ModuleOp>()),
        ptr(LLVM::LLVMPointerType::get(op->getContext())) {}

  Value i32(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(value));
  }
  Value i64(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }
  Value toI64(Value size) {
    if (size.getType().isInteger(64))
      return size;
    if (size.getType().isIndex())
      return arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), size);
  }

  /// Room on the stack of the function, once, also for launches in loops.
  Value stackSlot(Type type, unsigned alignment = 0) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&func.getBody().front());
    return LLVM::AllocaOp::create(b, loc, ptr, type, i64(1), alignment);
  }

  /// The values in an array on the stack.
  Value arrayOf(Type type, ValueRange values) {
    Value array = stackSlot(
        LLVM::LLVMArrayType::get(type, std::max<size_t>(1, values.size())));
    for (auto [index, value] : llvm::enumerate(values)) {
      int32_t position = index;
      Value slot = LLVM::GEPOp::create(b, loc, ptr, type, array,
                                       ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(b, loc, value, slot);
    }
    return array;
  }

  /// Addresses of parameter values; a pointer in `byAddress` is one already.
  Value parameters(ValueRange params, const llvm::BitVector &byAddress) {
    SmallVector<Value> addresses;
    for (auto [index, param] : llvm::enumerate(params)) {
      if (byAddress.test(index)) {
        addresses.push_back(param);
        continue;
      }
      Value slot = stackSlot(param.getType());
      LLVM::StoreOp::create(b, loc, param, slot);
      addresses.push_back(slot);
    }
    return arrayOf(ptr, addresses);
  }

  /// The address of a NUL-terminated text.
  Value text(StringRef value) {
    std::string symbol = ("rudnn_name_" + value).str();
    if (!module.lookupSymbol(symbol)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      std::string bytes = value.str() + '\0';
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
      LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, symbol,
                             b.getStringAttr(bytes));
    }
    return LLVM::AddressOfOp::create(b, loc, ptr, symbol);
  }

  /// The RudnnKernelImage of a gpu.module, defined by rudnn-embed-kernels.
  Value image(StringRef name) {
    std::string symbol = (kImagePrefix + name).str();
    if (!module.lookupSymbol(symbol)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(b, loc, imageType(b), /*isConstant=*/false,
                             LLVM::Linkage::External, symbol, Attribute());
    }
    return LLVM::AddressOfOp::create(b, loc, ptr, symbol);
  }

  /// A call of the runtime; its status is kept there.
  LogicalResult call(StringRef name, ValueRange arguments) {
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
        b, module, name, llvm::to_vector(arguments.getTypes()), b.getI32Type());
    if (failed(callee))
      return failure();
    LLVM::CallOp::create(b, loc, *callee, arguments);
    return success();
  }

  /// The stream is the entry's last argument (rudnn-plan-workspace).
  Value stream() { return func.getArguments().back(); }

  static LLVM::LLVMStructType imageType(OpBuilder &b) {
    auto ptr = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::LLVMStructType::getLiteral(b.getContext(),
                                            {ptr, b.getI64Type(), ptr});
  }

private:
  ConversionPatternRewriter &b;
  Location loc;
  func::FuncOp func;
  ModuleOp module;
  Type ptr;
};

/// Generic kernels: every part of a memref's descriptor is one parameter.
class LaunchFuncLowering : public ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
public:
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCalls calls(rewriter, op);
    SmallVector<Value> params = getTypeConverter()->promoteOperands(
        op.getLoc(), op.getKernelOperands(), adaptor.getKernelOperands(),
        rewriter);
    SmallVector<Value> arguments{
        calls.image(op.getKernelModuleName().getValue()),
        calls.text(op.getKernelName().getValue())};
    gpu::KernelDim3 grid = op.getGridSizeOperandValues();
    gpu::KernelDim3 block = op.getBlockSizeOperandValues();
    for (Value size : {grid.x, grid.y, grid.z, block.x, block.y, block.z})
      arguments.push_back(calls.toI64(size));
    Value shared = adaptor.getDynamicSharedMemorySize();
    arguments.push_back(shared ? shared : calls.i32(0));
    arguments.push_back(
        calls.parameters(params, llvm::BitVector(params.size())));
    arguments.push_back(calls.i32(params.size()));
    arguments.push_back(calls.stream());
    if (failed(calls.call("rudnn_rt_launch", arguments)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

/// Kernels of the kernel dialect: see rudnn-convert-tile-to-nvvm for their
/// parameters.
class TileLaunchLowering
    : public ConvertOpToLLVMPattern<rudnn::tile::LaunchOp> {
public:
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(rudnn::tile::LaunchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
        op, op.getKernel());
    if (!kernel)
      return op.emitOpError("launches ")
             << op.getKernel() << ", which is no converted kernel";
    RuntimeCalls calls(rewriter, op);
    Location loc = op.getLoc();
    SmallVector<Value> params;
    llvm::BitVector byAddress(op.getArgs().size());
    for (auto [index, original, value] :
         llvm::enumerate(op.getArgs(), adaptor.getArgs())) {
      if (isa<rudnn::tile::TmaType>(original.getType())) {
        byAddress.set(index);
        params.push_back(value);
      } else if (auto memref = dyn_cast<MemRefType>(original.getType())) {
        params.push_back(MemRefDescriptor(value).bufferPtr(
            rewriter, loc, *getTypeConverter(), memref));
      } else if (original.getType().isIndex()) {
        // Kernels count in 32 bits.
        params.push_back(
            LLVM::TruncOp::create(rewriter, loc, rewriter.getI32Type(), value));
      } else {
        params.push_back(value);
      }
    }
    int64_t threads = dims(kernel, NVVM::NVVMDialect::getMaxntidAttrName(), 0);
    if (threads == 0)
      threads = dims(kernel, NVVM::NVVMDialect::getReqntidAttrName(), 0);
    int64_t cluster = std::max<int64_t>(
        1, dims(kernel, NVVM::NVVMDialect::getClusterDimAttrName(), 0));
    auto shared = kernel->getAttrOfType<IntegerAttr>("rudnn.shared_bytes");
    SmallVector<Value> arguments{
        calls.image(op.getKernel().getRootReference().getValue()),
        calls.text(kernel.getName()),
        adaptor.getX(),
        adaptor.getY(),
        adaptor.getZ(),
        calls.i64(threads),
        calls.i64(1),
        calls.i64(1),
        calls.i64(cluster),
        calls.i64(1),
        calls.i64(1),
        calls.i32(shared ? shared.getInt() : 0),
        calls.parameters(params, byAddress),
        calls.i32(params.size()),
        calls.stream()};
    if (failed(calls.call("rudnn_rt_launch_cluster", arguments)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

private:
  static int64_t dims(LLVM::LLVMFuncOp kernel, StringRef name, unsigned dim) {
    auto values = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
    return values && !values.empty() ? values[dim] : 0;
  }
};

class TmaDescriptorLowering
    : public ConvertOpToLLVMPattern<rudnn::tile::TmaDescriptorOp> {
public:
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(rudnn::tile::TmaDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCalls calls(rewriter, op);
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getSource().getType());
    rudnn::tile::TmaType map = op.getType();
    if (int64_t(map.getBox().size()) != type.getRank())
      return op.emitOpError("has a box of rank ")
             << map.getBox().size() << " for a buffer of rank "
             << type.getRank();
    int64_t dtype = dtypeOf(type.getElementType());
    if (dtype < 0)
      return op.emitOpError("has element type ")
             << type.getElementType() << ", expected f32, f16 or bf16";
    MemRefDescriptor source(adaptor.getSource());
    SmallVector<Value> extents, strides, box;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      extents.push_back(source.size(rewriter, loc, dim));
      strides.push_back(source.stride(rewriter, loc, dim));
      box.push_back(calls.i32(map.getBox()[dim]));
    }
    Value out =
        calls.stackSlot(LLVM::LLVMArrayType::get(rewriter.getI8Type(), 128),
                        /*alignment=*/64);
    SmallVector<Value> arguments{
        out,
        calls.i32(dtype),
        calls.i32(type.getRank()),
        source.bufferPtr(rewriter, loc, *getTypeConverter(), type),
        calls.arrayOf(rewriter.getI64Type(), extents),
        calls.arrayOf(rewriter.getI64Type(), strides),
        calls.arrayOf(rewriter.getI32Type(), box),
        calls.i32(map.getSwizzle())};
    if (failed(calls.call("rudnn_rt_tensor_map", arguments)))
      return failure();
    rewriter.replaceOp(op, out);
    return success();
  }

private:
  /// The RudnnDType, -1 for others.
  static int64_t dtypeOf(Type type) {
    return type.isF32() ? 0 : type.isF16() ? 1 : type.isBF16() ? 2 : -1;
  }
};

/// A gpu.binary as a RudnnKernelImage: { data, size, state }.
void embedImage(ModuleOp module, gpu::BinaryOp binary) {
  OpBuilder b(binary);
  Location loc = binary.getLoc();
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  // PTX is text that the driver reads up to its end.
  std::string bytes = object.getObject().getValue().str() + '\0';
  std::string dataName = ("rudnn_data_" + binary.getSymName()).str();
  LLVM::GlobalOp::create(b, loc,
                         LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                         /*isConstant=*/true, LLVM::Linkage::Internal, dataName,
                         b.getStringAttr(bytes), /*alignment=*/16);
  std::string name = (kImagePrefix + binary.getSymName()).str();
  auto image = module.lookupSymbol<LLVM::GlobalOp>(name);
  binary.erase();
  if (!image) // nothing launches it
    return;
  image.setLinkage(LLVM::Linkage::Internal);
  b.createBlock(&image.getInitializerRegion());
  LLVM::LLVMStructType type = RuntimeCalls::imageType(b);
  Value value = LLVM::UndefOp::create(b, loc, type);
  Value fields[] = {
      LLVM::AddressOfOp::create(b, loc, ptr, dataName),
      LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                               b.getI64IntegerAttr(bytes.size() - 1)),
      LLVM::ZeroOp::create(b, loc, ptr)};
  for (auto [position, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(b, loc, value, field,
                                        ArrayRef<int64_t>{int64_t(position)});
  LLVM::ReturnOp::create(b, loc, value);
}

struct EmbedKernels : public rudnn::impl::RudnnEmbedKernelsBase<EmbedKernels> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto binary :
         llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      embedImage(module, binary);
  }
};

struct LaunchToRuntime
    : public rudnn::impl::RudnnLaunchToRuntimeBase<LaunchToRuntime> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    converter.addConversion([&](rudnn::tile::TmaType) -> Type {
      return LLVM::LLVMPointerType::get(context);
    });
    patterns.add<LaunchFuncLowering, TileLaunchLowering, TmaDescriptorLowering>(
        converter);
    ConversionTarget target(*context);
    target.addIllegalOp<gpu::LaunchFuncOp, rudnn::tile::LaunchOp,
                        rudnn::tile::TmaDescriptorOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
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
