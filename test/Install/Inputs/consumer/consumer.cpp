// A compiler of someone else: registers rudnn, parses an op and decomposes it.
#include "rudnn/InitAll.h"
#include "rudnn/Passes.h"
#include "rudnn/Rudnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

static const char *const kSource = R"(
func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
})";

int main() {
  mlir::DialectRegistry registry;
  rudnn::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kSource, &context);
  if (!module)
    return 1;
  int before = 0, after = 0;
  module->walk([&](rudnn::SoftmaxOp) { ++before; });
  mlir::PassManager pm(&context);
  pm.addPass(rudnn::createRudnnDecompose());
  if (mlir::failed(pm.run(*module)))
    return 1;
  module->walk([&](mlir::linalg::GenericOp) { ++after; });
  llvm::outs() << before << " rudnn op, " << (after > 2 ? "several" : "few")
               << " linalg ops\n";
  return 0;
}
