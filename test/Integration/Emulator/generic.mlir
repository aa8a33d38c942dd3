// The generic kernels of an operator, run by the kernel emulator on their LLVM IR.
// RUN: rudnn-run %s --entry=softmax --target=emulate --arg=0:normal:1@4x100 --arg=1:const:0@4x100 --compare=cpu --rtol=1e-4 --atol=1e-6
// RUN: rudnn-run %s --entry=softmax --target=emulate:3 --arg=0:normal:1@3x7 --arg=1:const:0@3x7 --compare=cpu --rtol=1e-4 --atol=1e-6
// RUN: not rudnn-run %s --entry=softmax --target=emulate:x --arg=0:normal:1@4x100 --arg=1:const:0@4x100 2>&1 | FileCheck %s
// CHECK: target 'emulate:x': the seed is not a number
func.func @softmax(%x: tensor<?x?xf32>, %i: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = rudnn.softmax ins(%x : tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
