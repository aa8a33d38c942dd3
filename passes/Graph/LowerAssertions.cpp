//===- LowerAssertions.cpp - cf.assert to a message and an abort -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's lowering prints through `puts`; when the output is a pipe or a
// file, the abort loses what stdio holds. Here the message is written to the
// standard error with `write`, which holds nothing back.
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNLOWERASSERTIONS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

constexpr int32_t kStandardError = 2;

struct LowerAssertions
    : rudnn::impl::RudnnLowerAssertionsBase<LowerAssertions> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation()->walk([&](cf::AssertOp op) { asserts.push_back(op); });
    for (cf::AssertOp op : asserts)
      if (failed(lower(op)))
        return signalPassFailure();
  }

  LogicalResult lower(cf::AssertOp op) {
    Operation *module = LLVM::parentLLVMModule(op);
    if (!module)
      return op.emitOpError("is not in a module, expected one to hold its "
                            "message");
    if (op->getParentOp()->hasTrait<OpTrait::SingleBlock>())
      return op.emitOpError("stands in '")
             << op->getParentOp()->getName()
             << "', which has no branches, expected it in their form (run "
                "convert-scf-to-cf before)";
    MLIRContext *context = op.getContext();
    auto pointer = LLVM::LLVMPointerType::get(context);
    OpBuilder b(op);
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    FailureOr<LLVM::LLVMFuncOp> write =
        LLVM::lookupOrCreateFn(b, module, "write", {i32, pointer, i64}, i64);
    FailureOr<LLVM::LLVMFuncOp> abort = LLVM::lookupOrCreateFn(
        b, module, "abort", {}, LLVM::LLVMVoidType::get(context));
    if (failed(write) || failed(abort))
      return op.emitOpError("can't be lowered: the module defines `write` or "
                            "`abort` with another type");

    Location loc = op.getLoc();
    Block *head = op->getBlock();
    Block *rest = head->splitBlock(op->getNextNode());
    Block *fail =
        b.createBlock(rest->getParent(), std::next(Region::iterator(head)));
    std::string text = op.getMsg().str() + "\n";
    Value message = messagePointer(b, loc, module, text);
    Value file = LLVM::ConstantOp::create(b, loc, i32,
                                          b.getI32IntegerAttr(kStandardError));
    Value size =
        LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(text.size()));
    LLVM::CallOp::create(b, loc, *write, ValueRange{file, message, size});
    LLVM::CallOp::create(b, loc, *abort, ValueRange{});
    LLVM::UnreachableOp::create(b, loc);

    b.setInsertionPointToEnd(head);
    cf::CondBranchOp::create(b, loc, op.getArg(), rest, fail);
    op.erase();
    return success();
  }

  /// The address of `text`, which equal messages share.
  Value messagePointer(OpBuilder &b, Location loc, Operation *module,
                       const std::string &text) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    LLVM::GlobalOp &global = messages[{module, text}];
    if (!global) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&module->getRegion(0).front());
      SymbolTable symbols(module);
      unsigned number = 0;
      SmallString<32> name = SymbolTable::generateSymbolName<32>(
          "rudnn_assert_message",
          [&](StringRef candidate) { return symbols.lookup(candidate); },
          number);
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
      global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::Internal, name,
                                      b.getStringAttr(text));
    }
    return LLVM::AddressOfOp::create(b, loc, pointer, global.getSymName());
  }

  std::map<std::pair<Operation *, std::string>, LLVM::GlobalOp> messages;
};

} // namespace
