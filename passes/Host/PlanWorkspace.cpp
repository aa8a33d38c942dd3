//===- PlanWorkspace.cpp - Intermediates in one buffer of the caller -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Fallback/HostBounds.h"

#include "rudnn/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNPLANWORKSPACE
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

/// Every place starts at a multiple of this, which suits every kernel.
constexpr int64_t kAlignment = 256;

/// A buffer of the function with the ops of the entry block between which it is
/// in use.
struct Buffer {
  memref::AllocOp alloc;
  Operation *last;
};

/// Buffers that are never in use together share a slot.
using Slot = SmallVector<Buffer>;

class WorkspacePlanner {
public:
  explicit WorkspacePlanner(func::FuncOp func)
      : func(func), entry(func.getBody().front()) {}
  LogicalResult run(SymbolTable &symbols);

private:
  void collect();
  void assignSlots();
  Value bytesOf(OpBuilder &b, rudnn::HostBounds &bounds, memref::AllocOp alloc);
  FailureOr<SmallVector<Value>> emitOffsets(OpBuilder &b);
  void replaceAllocs(ArrayRef<Value> offsets, Value workspace);
  LogicalResult emitSizeFunction(SymbolTable &symbols, Value total);

  func::FuncOp func;
  Block &entry;
  SmallVector<Buffer> buffers;
  SmallVector<Slot> slots;
};

} // namespace

/// The allocations, in order, with the last op of the entry block that uses
/// each.
void WorkspacePlanner::collect() {
  BufferViewFlowAnalysis aliases(func);
  DenseMap<Operation *, unsigned> position;
  for (auto [index, op] : llvm::enumerate(entry))
    position[&op] = index;
  func.walk([&](memref::AllocOp alloc) {
    Operation *last = entry.findAncestorOpInBlock(*alloc);
    auto use = [&](Operation *user) {
      Operation *ancestor = entry.findAncestorOpInBlock(*user);
      if (ancestor && position[ancestor] > position[last])
        last = ancestor;
    };
    for (Value alias : aliases.resolve(alloc.getResult()))
      for (Operation *user : alias.getUsers()) {
        use(user);
        // A kernel reads the buffer through its descriptor.
        if (isa<rudnn::tile::TmaDescriptorOp>(user))
          llvm::for_each(user->getUsers(), use);
      }
    buffers.push_back({alloc, last});
  });
}

/// First fit in program order. An alloc in a loop is in use for the whole loop.
void WorkspacePlanner::assignSlots() {
  for (Buffer &buffer : buffers) {
    Operation *first = entry.findAncestorOpInBlock(*buffer.alloc);
    auto *slot = llvm::find_if(slots, [&](const Slot &slot) {
      return slot.back().last != first &&
             slot.back().last->isBeforeInBlock(first);
    });
    if (slot == slots.end()) {
      slots.emplace_back();
      slot = std::prev(slots.end());
    }
    slot->push_back(buffer);
  }
}

/// Rounded up to the alignment; extents below 0 count as 0. An extent that
/// depends on a loop counts with its greatest value. Null if there is none.
Value WorkspacePlanner::bytesOf(OpBuilder &b, rudnn::HostBounds &bounds,
                                memref::AllocOp alloc) {
  Location loc = alloc.getLoc();
  MemRefType type = alloc.getType();
  int64_t bytes = type.getElementType().isIndex()
                      ? 8
                      : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent))
      bytes *= extent;
  Value size = arith::ConstantIndexOp::create(b, loc, bytes);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (Value extent : alloc.getDynamicSizes()) {
    Value greatest = bounds.upper(extent);
    if (!greatest)
      return {};
    Value valid = arith::MaxSIOp::create(b, loc, greatest, zero);
    size = arith::MulIOp::create(b, loc, size, valid);
  }
  Value unit = arith::ConstantIndexOp::create(b, loc, kAlignment);
  Value units = arith::CeilDivSIOp::create(b, loc, size, unit);
  return arith::MulIOp::create(b, loc, units, unit);
}

/// The offset of every slot, then the size of all.
FailureOr<SmallVector<Value>> WorkspacePlanner::emitOffsets(OpBuilder &b) {
  Location loc = func.getLoc();
  rudnn::HostBounds bounds(b, loc, [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &entry;
  });
  SmallVector<Value> offsets{arith::ConstantIndexOp::create(b, loc, 0)};
  for (Slot &slot : slots) {
    Value size;
    for (Buffer &buffer : slot) {
      Value bytes = bytesOf(b, bounds, buffer.alloc);
      if (!bytes)
        return buffer.alloc.emitOpError(
            "has an extent without a bound that is a function of the "
            "arguments' extents and scalars alone");
      size = size ? arith::MaxSIOp::create(b, loc, size, bytes).getResult()
                  : bytes;
    }
    offsets.push_back(arith::AddIOp::create(b, loc, offsets.back(), size));
  }
  return offsets;
}

void WorkspacePlanner::replaceAllocs(ArrayRef<Value> offsets, Value workspace) {
  for (auto [slot, offset] : llvm::zip(slots, offsets))
    for (Buffer &buffer : slot) {
      OpBuilder b(buffer.alloc);
      Value view = memref::ViewOp::create(
          b, buffer.alloc.getLoc(), buffer.alloc.getType(), workspace, offset,
          buffer.alloc.getDynamicSizes());
      buffer.alloc.replaceAllUsesWith(view);
      buffer.alloc.erase();
    }
}

/// The extents of the results one after another, as `shapes` writes them.
static Value callShapeFunction(OpBuilder &b, Location loc, func::FuncOp shapes,
                               ValueRange inputs, int64_t count) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value number = LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                          b.getI64IntegerAttr(count));
  Value extents =
      LLVM::AllocaOp::create(b, loc, pointer, b.getI64Type(), number);
  SmallVector<Value> args(inputs);
  args.push_back(extents);
  func::CallOp::create(b, loc, shapes, args);
  return extents;
}

/// `@f__workspace_bytes(arguments of f) -> i64`, without the buffers of
/// results: their extents come from the function of the shapes.
LogicalResult WorkspacePlanner::emitSizeFunction(SymbolTable &symbols,
                                                 Value total) {
  OpBuilder b(func.getContext());
  Location loc = func.getLoc();
  std::string name = func.getSymName().str();
  // The function of the extents has the same arguments and one pointer.
  unsigned count = entry.getNumArguments();
  auto shapes = symbols.lookup<func::FuncOp>(name + "__result_shapes");
  if (shapes)
    count = shapes.getNumArguments() - 1;
  ArrayRef<Type> inputs = func.getArgumentTypes().take_front(count);
  auto size = func::FuncOp::create(loc, name + "__workspace_bytes",
                                   b.getFunctionType(inputs, b.getI64Type()));
  size->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
  symbols.insert(size, std::next(func->getIterator()));
  Block *block = size.addEntryBlock();
  b.setInsertionPointToStart(block);
  IRMapping mapping;
  mapping.map(entry.getArguments().take_front(count), block->getArguments());
  // Where the extents of a result's buffer start.
  DenseMap<Value, int64_t> places;
  int64_t numExtents = 0;
  for (Value result : entry.getArguments().drop_front(count)) {
    places[result] = numExtents;
    if (auto type = dyn_cast<MemRefType>(result.getType()))
      numExtents += type.getRank();
  }
  Value extents;
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  (void)getBackwardSlice(total, &slice, options);
  for (Operation *op : topologicalSort(slice)) {
    if (op == func.getOperation())
      continue;
    auto dim = dyn_cast<memref::DimOp>(op);
    auto place = dim ? places.find(dim.getSource()) : places.end();
    if (place == places.end()) {
      b.clone(*op, mapping);
      continue;
    }
    if (!extents)
      extents =
          callShapeFunction(b, loc, shapes, block->getArguments(), numExtents);
    int32_t at = place->second + *dim.getConstantIndex();
    Value address =
        LLVM::GEPOp::create(b, loc, extents.getType(), b.getI64Type(), extents,
                            ArrayRef<LLVM::GEPArg>{at});
    Value extent = LLVM::LoadOp::create(b, loc, b.getI64Type(), address);
    mapping.map(dim.getResult(),
                arith::IndexCastOp::create(b, loc, b.getIndexType(), extent)
                    .getResult());
  }
  Value bytes =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), mapping.lookup(total));
  func::ReturnOp::create(b, loc, bytes);
  return success();
}

/// The bytes at `pointer` as a memref.
static Value byteBuffer(OpBuilder &b, Location loc, MemRefType type,
                        Value pointer, Value size) {
  Type index = b.getI64Type(), array = LLVM::LLVMArrayType::get(index, 1);
  Value zero = LLVM::ConstantOp::create(b, loc, index, b.getI64IntegerAttr(0));
  Value one = LLVM::ConstantOp::create(b, loc, index, b.getI64IntegerAttr(1));
  Value extent = arith::IndexCastOp::create(b, loc, index, size);
  auto structType = LLVM::LLVMStructType::getLiteral(
      b.getContext(),
      {pointer.getType(), pointer.getType(), index, array, array});
  Value value = LLVM::UndefOp::create(b, loc, structType);
  auto set = [&](Value element, ArrayRef<int64_t> at) {
    value = LLVM::InsertValueOp::create(b, loc, value, element, at);
  };
  set(pointer, 0);
  set(pointer, 1);
  set(zero, 2);
  set(extent, {3, 0});
  set(one, {4, 0});
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

LogicalResult WorkspacePlanner::run(SymbolTable &symbols) {
  collect();
  assignSlots();
  // The sizes come first in the function.
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  FailureOr<SmallVector<Value>> offsets = emitOffsets(b);
  if (failed(offsets))
    return failure();
  if (failed(emitSizeFunction(symbols, offsets->back())))
    return failure();

  MLIRContext *context = func.getContext();
  auto workspaceType = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  auto pointer = LLVM::LLVMPointerType::get(context);
  Value workspacePointer = entry.addArgument(pointer, func.getLoc());
  entry.addArgument(pointer, func.getLoc()); // the stream
  func.setFunctionType(
      FunctionType::get(context, llvm::to_vector(entry.getArgumentTypes()),
                        func.getResultTypes()));
  Value workspace = byteBuffer(b, func.getLoc(), workspaceType,
                               workspacePointer, offsets->back());
  replaceAllocs(*offsets, workspace);
  return success();
}

namespace {

struct PlanWorkspace
    : public rudnn::impl::RudnnPlanWorkspaceBase<PlanWorkspace> {
  using Base::Base;

  void runOnOperation() override {
    auto module = dyn_cast<ModuleOp>(getOperation());
    if (!module) {
      getOperation()->emitError("rudnn-plan-workspace runs on a module");
      return signalPassFailure();
    }
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> entries;
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal() &&
          !func.getSymName().ends_with("__result_shapes"))
        entries.push_back(func);
    for (func::FuncOp func : entries)
      if (failed(WorkspacePlanner(func).run(symbols)))
        return signalPassFailure();
  }
};

} // namespace
