//===- MergeKernels.cpp - The kernels of a module in one image -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNMERGEKERNELS
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;

namespace {

struct MergeKernels : public rudnn::impl::RudnnMergeKernelsBase<MergeKernels> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    if (modules.size() < 2)
      return;
    gpu::GPUModuleOp target = modules.front();
    SymbolTable symbols(target);
    for (gpu::GPUModuleOp source : ArrayRef(modules).drop_front())
      if (failed(merge(source, target, symbols)))
        return signalPassFailure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](SymbolRefAttr reference) {
      auto found = moved.find(reference);
      return found == moved.end() ? reference : found->second;
    });
    replacer.recursivelyReplaceElementsIn(getOperation());
  }

private:
  static bool isDeclaration(Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    return function && function.isExternal();
  }

  LogicalResult merge(gpu::GPUModuleOp source, gpu::GPUModuleOp target,
                      SymbolTable &symbols) {
    SymbolTable own(source);
    for (Operation &op : llvm::make_early_inc_range(*source.getBody())) {
      StringAttr name = SymbolTable::getSymbolName(&op);
      Operation *same = symbols.lookup(name);
      if (same && isDeclaration(same) && isDeclaration(&op)) {
        op.erase();
        continue;
      }
      if (same && failed(own.renameToUnique(&op, {&symbols})))
        return op.emitOpError("can't be renamed");
      auto refer = [](gpu::GPUModuleOp module, StringAttr name) {
        return SymbolRefAttr::get(module.getNameAttr(),
                                  {FlatSymbolRefAttr::get(name)});
      };
      moved[refer(source, name)] = refer(target, own.getSymbolName(&op));
      op.remove();
      symbols.insert(&op);
    }
    source.erase();
    return success();
  }

  DenseMap<SymbolRefAttr, SymbolRefAttr> moved;
};

} // namespace
