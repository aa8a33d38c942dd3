//===- ConvertTileToNVVM.cpp - Kernels to llvm.func, roles, barriers -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvvmUtils.h"

#include "rudnn/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNCONVERTTILETONVVM
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn::tile;

static constexpr StringLiteral kSharedWindow = "rudnn_shared";

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The dynamic window. Internal linkage would become a static one-byte
/// variable.
static void declareSharedWindow(Operation *symbolTable, Location loc) {
  if (SymbolTable::lookupSymbolIn(symbolTable, kSharedWindow))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&symbolTable->getRegion(0).front());
  LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         kSharedWindow, Attribute(), /*alignment=*/1024,
                         /*addrSpace=*/3);
}

/// Attributes of one argument: descriptors lie in the parameter space.
static void describeArgument(LLVM::LLVMFuncOp func, unsigned i, Type type) {
  Builder b(func.getContext());
  if (isa<TmaType>(type)) {
    func.setArgAttr(
        i, LLVM::LLVMDialect::getByValAttrName(),
        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128)));
    func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                    b.getI64IntegerAttr(64));
    func.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                    b.getUnitAttr());
  } else if (isGlobalBuffer(type)) {
    func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                    b.getI64IntegerAttr(16));
  }
}

/// Replaces the kernel by an llvm.func whose body still works on tile types.
static FailureOr<LLVM::LLVMFuncOp> outline(KernelOp kernel,
                                           const TypeConverter &converter) {
  MLIRContext *context = kernel.getContext();
  OpBuilder b(kernel);
  Location loc = kernel.getLoc();
  SmallVector<Type> inputs;
  for (Type type : kernel.getArgumentTypes()) {
    Type converted =
        isa<IndexType>(type) ? b.getI32Type() : converter.convertType(type);
    if (!converted)
      return kernel.emitOpError("argument type ")
             << type << " has no conversion";
    inputs.push_back(converted);
  }
  auto func = LLVM::LLVMFuncOp::create(
      b, loc, kernel.getName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), inputs));
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  int32_t threads = kernel.getThreads();
  if (kernel.getCluster() && *kernel.getCluster() > 1) {
    func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({threads, 1, 1}));
    func->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        b.getDenseI32ArrayAttr({int32_t(*kernel.getCluster()), 1, 1}));
  } else {
    func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                  b.getDenseI32ArrayAttr({threads}));
  }
  if (kernel.getMinBlocks())
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(*kernel.getMinBlocks()));
  func->setAttr("rudnn.shared_bytes",
                b.getI32IntegerAttr(kernel.getSharedBytes().value_or(0)));

  func.getBody().takeBody(kernel.getBody());
  Block &entry = func.getBody().front();
  b.setInsertionPointToStart(&entry);
  for (auto [i, arg] : llvm::enumerate(entry.getArguments())) {
    Type type = arg.getType();
    describeArgument(func, i, type);
    if (type == inputs[i])
      continue;
    arg.setType(inputs[i]);
    Value inside = isa<IndexType>(type)
                       ? Value(arith::IndexCastOp::create(b, loc, type, arg))
                       : UnrealizedConversionCastOp::create(b, loc, type, arg)
                             .getResult(0);
    arg.replaceAllUsesExcept(inside, inside.getDefiningOp());
  }
  Operation *yield = entry.getTerminator();
  b.setInsertionPoint(yield);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  yield->erase();
  kernel.erase();
  return func;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

namespace {

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
};

/// Moves a region's block to before an op that goes away, without its
/// terminator.
static void inlineRegion(Region &region, Block *dest, ValueRange args,
                         ConversionPatternRewriter &rewriter) {
  rewriter.eraseOp(region.front().getTerminator());
  rewriter.inlineBlockBefore(&region.front(), dest,
                             dest->getTerminator()->getIterator(), args);
}

/// A chain of scf.if on the number of the warp group, the same in a whole warp.
struct WarpGroupsPattern : Pattern<WarpGroupsOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(WarpGroupsOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value group = nvvm.uniform(nvvm.shr(nvvm.tid(), 7));
    int64_t entry = entryRegisters(op);
    int32_t first = 0;
    for (auto [i, role] : llvm::enumerate(op.getRoles())) {
      int32_t end = first + op.getGroups()[i];
      bool last = i + 1 == op.getRoles().size();
      Block *dest;
      if (last) {
        dest = rewriter.getInsertionBlock();
      } else {
        Value mine = arith::CmpIOp::create(rewriter, op.getLoc(),
                                           arith::CmpIPredicate::ult, group,
                                           nvvm.i32(end));
        auto branch = scf::IfOp::create(rewriter, op.getLoc(), mine,
                                        /*withElseRegion=*/true);
        dest = branch.thenBlock();
        rewriter.setInsertionPoint(dest->getTerminator());
        emitRole(op, i, role, group, first, entry, dest, rewriter);
        rewriter.setInsertionPoint(branch.elseBlock()->getTerminator());
        first = end;
        continue;
      }
      emitRole(op, i, role, group, first, entry, dest, rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// What the hardware gives each thread at the start.
  static int64_t entryRegisters(WarpGroupsOp op) {
    int64_t threads = 0;
    for (int32_t n : op.getGroups())
      threads += n * kGroupThreads;
    return std::min<int64_t>(255, kRegisterFile / threads / 8 * 8);
  }

  static void emitRole(WarpGroupsOp op, unsigned i, Region &role, Value group,
                       int32_t first, int64_t entry, Block *dest,
                       ConversionPatternRewriter &rewriter) {
    Nvvm nvvm(rewriter, op.getLoc());
    int32_t registers = op.getRegisters()[i];
    if (registers != entry)
      NVVM::SetMaxRegisterOp::create(
          rewriter, op.getLoc(), registers,
          registers > entry ? NVVM::SetMaxRegisterAction::increase
                            : NVVM::SetMaxRegisterAction::decrease);
    Value mine = nvvm.add(group, -int64_t(first));
    Value number = arith::IndexCastOp::create(rewriter, op.getLoc(),
                                              rewriter.getIndexType(), mine);
    rewriter.eraseOp(role.front().getTerminator());
    rewriter.inlineBlockBefore(&role.front(), dest,
                               rewriter.getInsertionPoint(), {number});
  }
};

struct SingleThreadPattern : Pattern<SingleThreadOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(SingleThreadOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value warp = nvvm.andi(nvvm.uniform(nvvm.shr(nvvm.tid(), 5)), 3);
    auto first = scf::IfOp::create(rewriter, op.getLoc(), nvvm.equal(warp, 0));
    rewriter.setInsertionPointToStart(first.thenBlock());
    Value elected = NVVM::ElectSyncOp::create(rewriter, op.getLoc(),
                                              rewriter.getI1Type(), Value());
    auto one = scf::IfOp::create(rewriter, op.getLoc(), elected);
    inlineRegion(op.getBody(), one.thenBlock(), {}, rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

struct RingPattern : Pattern<RingOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(RingOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return op.emitOpError(
          "has no place in shared memory: run rudnn-plan-smem");
    Nvvm nvvm(rewriter, op.getLoc());
    Value base = LLVM::AddressOfOp::create(
        rewriter, op.getLoc(), LLVM::LLVMPointerType::get(getContext(), 3),
        kSharedWindow);
    rewriter.replaceOp(op, nvvm.offset(base, *op.getOffset()));
    return success();
  }
};

struct AllocPattern : Pattern<AllocOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(AllocOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return op.emitOpError(
          "has no place in shared memory: run rudnn-plan-smem");
    Nvvm nvvm(rewriter, op.getLoc());
    Value base = LLVM::AddressOfOp::create(
        rewriter, op.getLoc(), LLVM::LLVMPointerType::get(getContext(), 3),
        kSharedWindow);
    rewriter.replaceOp(op, nvvm.offset(base, *op.getOffset()));
    return success();
  }
};

struct RingInitPattern : Pattern<RingInitOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(RingInitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    auto first = scf::IfOp::create(rewriter, loc, nvvm.equal(nvvm.tid(), 0));
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      for (auto [ring, original] :
           llvm::zip(adaptor.getRings(), op.getRings())) {
        auto type = cast<RingType>(original.getType());
        for (unsigned i = 0; i < 2 * type.getStages(); ++i)
          NVVM::MBarrierInitOp::create(
              rewriter, loc, nvvm.offset(ring.front(), 8 * i),
              nvvm.i32(i < type.getStages() ? 1 : type.getEmptyArrivals()),
              Value());
      }
      NVVM::FenceMbarrierInitOp::create(rewriter, loc);
    }
    NVVM::Barrier0Op::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierWaitPattern : Pattern<BarrierWaitOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(BarrierWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value barrier =
        nvvm.barrier(adaptor.getRing().front(), op.getRing().getType(),
                     op.getBarrier(), adaptor.getSlot().front());
    NVVM::MBarrierTryWaitParityOp::create(rewriter, op.getLoc(), barrier,
                                          adaptor.getParity().front(),
                                          nvvm.i32(10000000));
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierArrivePattern : Pattern<BarrierArriveOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(BarrierArriveOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value barrier =
        nvvm.barrier(adaptor.getRing().front(), op.getRing().getType(),
                     op.getBarrier(), adaptor.getSlot().front());
    if (op.getBarrier() == Barrier::Full)
      NVVM::MBarrierArriveExpectTxOp::create(
          rewriter, op.getLoc(), Type(), barrier,
          nvvm.i32(op.getBytes().value_or(0)), NVVM::MemScopeKind::CTA,
          /*relaxed=*/false, Value());
    else {
      // One lane arrives for all of the warp: after all have seen the stage. A
      // wait does not keep them together, and not every step has a product.
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(), nvvm.i32(-1));
      // predicated, not branched: consumers stay uniform
      nvvm.assembly("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b",
                    {barrier, nvvm.equal(nvvm.lane(), 0)}, {});
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct GroupBarrierPattern : Pattern<GroupBarrierOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(GroupBarrierOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    nvvm.namedBarrier(nvvm.add(nvvm.toI32(adaptor.getGroup().front()), 8),
                      kGroupThreads);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Named barrier 1 + g is the turn of group g: the group before arrives at it.
struct TurnTakePattern : Pattern<TurnTakeOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(TurnTakeOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    nvvm.namedBarrier(nvvm.add(nvvm.toI32(adaptor.getGroup().front()), 1),
                      2 * kGroupThreads);
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnPassPattern : Pattern<TurnPassOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(TurnPassOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value group = nvvm.toI32(adaptor.getGroup().front());
    Value id;
    if (op.getOf() == 2) {
      id = arith::SubIOp::create(rewriter, op.getLoc(), nvvm.i32(2), group);
    } else {
      Value last = nvvm.equal(group, op.getOf() - 1);
      id = arith::SelectOp::create(rewriter, op.getLoc(), last, nvvm.i32(1),
                                   nvvm.add(group, 2));
    }
    nvvm.namedArrive(id, 2 * kGroupThreads);
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnEdgePattern : Pattern<TurnEdgeOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(TurnEdgeOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value group = nvvm.toI32(adaptor.getGroup().front());
    Value mine = nvvm.equal(group, op.getFirst() ? op.getOf() - 1 : 0);
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), mine);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    if (op.getFirst())
      nvvm.namedArrive(nvvm.i32(1), 2 * kGroupThreads);
    else
      nvvm.namedBarrier(nvvm.i32(1), 2 * kGroupThreads);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ProxyFencePattern : Pattern<ProxyFenceOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(ProxyFenceOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::FenceProxyOp::create(
        rewriter, op.getLoc(), NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(getContext(),
                                   NVVM::SharedSpace::shared_cta));
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Places in the grid
//===----------------------------------------------------------------------===//

/// x of the block or grid (kernels here have one grid dim).
template <typename Op, typename Register>
struct GridPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getDimension() != gpu::Dimension::x)
      return op.emitOpError("kernels use dimension x only");
    Value x = Register::create(rewriter, op.getLoc(), rewriter.getI32Type());
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                    x);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct ConvertTileToNVVM
    : rudnn::impl::RudnnConvertTileToNVVMBase<ConvertTileToNVVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TileTypeConverter converter(context);
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels) {
      declareSharedWindow(
          SymbolTable::getNearestSymbolTable(kernel->getParentOp()),
          kernel.getLoc());
      FailureOr<LLVM::LLVMFuncOp> func = outline(kernel, converter);
      if (failed(func) || failed(convert(*func, converter)))
        return signalPassFailure();
    }
  }

  static LogicalResult convert(LLVM::LLVMFuncOp func,
                               const TypeConverter &converter) {
    MLIRContext *context = func.getContext();
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<TileDialect>();
    target.addDynamicallyLegalOp<memref::CastOp, memref::SubViewOp>(
        [](Operation *op) {
          return !isSharedTile(op->getResult(0).getType());
        });
    target
        .addIllegalOp<gpu::BlockIdOp, gpu::GridDimOp, math::ExpOp, math::Exp2Op,
                      memref::LoadOp, math::Log2Op, math::RsqrtOp>();
    target.addDynamicallyLegalOp<arith::DivFOp>(
        [](arith::DivFOp op) { return !op.getType().isF32(); });
    RewritePatternSet patterns(context);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    populateKernelPatterns(converter, patterns);
    populateMemoryPatterns(converter, patterns);
    populateMatrixPatterns(converter, patterns);
    populateMmaPatterns(converter, patterns);
    populateFragmentPatterns(converter, patterns);
    if (failed(applyPartialConversion(func, target, std::move(patterns))))
      return failure();
    SmallVector<UnrealizedConversionCastOp> casts;
    func.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
    reconcileUnrealizedCasts(casts);
    return success();
  }
};

} // namespace

void rudnn::tile::populateKernelPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<AllocPattern, BarrierArrivePattern, BarrierWaitPattern,
               GroupBarrierPattern, ProxyFencePattern, RingInitPattern,
               RingPattern, SingleThreadPattern, TurnEdgePattern,
               TurnPassPattern, TurnTakePattern, WarpGroupsPattern,
               GridPattern<gpu::BlockIdOp, NVVM::BlockIdXOp>,
               GridPattern<gpu::GridDimOp, NVVM::GridDimXOp>>(
      converter, patterns.getContext());
}
