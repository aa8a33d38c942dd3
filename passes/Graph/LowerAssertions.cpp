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
// standard error with `write`, which holds nothing back. What a check prints
// before its assertion, text and index values (`vector.print`), goes the same
// way; upstream's lowering of it calls a library that a compiled module has
// not.
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
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
    SmallVector<vector::PrintOp> prints;
    getOperation()->walk([&](vector::PrintOp op) {
      bool isText = bool(op.getStringLiteral());
      bool isIndex =
          op.getSource() && op.getSource().getType().isIndex() &&
          op.getPunctuation() == vector::PrintPunctuation::NoPunctuation;
      if (isText || isIndex)
        prints.push_back(op);
    });
    for (vector::PrintOp op : prints)
      if (failed(lower(op)))
        return signalPassFailure();
  }

  /// Text or an index value, read as unsigned, to the standard error.
  LogicalResult lower(vector::PrintOp op) {
    Operation *module = LLVM::parentLLVMModule(op);
    if (!module)
      return op.emitOpError(
          "is not in a module, expected one to hold its text");
    OpBuilder b(op);
    Location loc = op.getLoc();
    if (std::optional<StringRef> text = op.getStringLiteral()) {
      FailureOr<LLVM::LLVMFuncOp> write = declareWrite(b, module);
      if (failed(write))
        return op.emitOpError("can't be lowered: the module defines `write` "
                              "with another type");
      writeText(b, loc, module, *write, text->str());
    } else {
      auto pointer = LLVM::LLVMPointerType::get(op.getContext());
      FailureOr<LLVM::LLVMFuncOp> print = LLVM::lookupOrCreateFn(
          b, module, "dprintf", {b.getI32Type(), pointer}, b.getI32Type(),
          /*isVarArg=*/true);
      if (failed(print))
        return op.emitOpError("can't be lowered: the module defines `dprintf` "
                              "with another type");
      Value format = messagePointer(b, loc, module, std::string("%llu", 5));
      Value file = LLVM::ConstantOp::create(
          b, loc, b.getI32Type(), b.getI32IntegerAttr(kStandardError));
      Value word =
          arith::IndexCastUIOp::create(b, loc, b.getI64Type(), op.getSource());
      LLVM::CallOp::create(b, loc, *print, ValueRange{file, format, word});
    }
    op.erase();
    return success();
  }

  FailureOr<LLVM::LLVMFuncOp> declareWrite(OpBuilder &b, Operation *module) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::lookupOrCreateFn(b, module, "write",
                                  {b.getI32Type(), pointer, b.getI64Type()},
                                  b.getI64Type());
  }

  void writeText(OpBuilder &b, Location loc, Operation *module,
                 LLVM::LLVMFuncOp write, const std::string &text) {
    Value message = messagePointer(b, loc, module, text);
    Value file = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                          b.getI32IntegerAttr(kStandardError));
    Value size = LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                          b.getI64IntegerAttr(text.size()));
    LLVM::CallOp::create(b, loc, write, ValueRange{file, message, size});
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
    OpBuilder b(op);
    FailureOr<LLVM::LLVMFuncOp> write = declareWrite(b, module);
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
    writeText(b, loc, module, *write, op.getMsg().str() + "\n");
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
