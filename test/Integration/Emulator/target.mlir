// The target of the kernel emulator: the kernels of an operator run on their LLVM IR.

// Generic kernels (a row of unknown length), for both chips; in order and with a seed.
// RUN: rudnn-run %s --entry=generic --target=emulate --arg=0:normal:1@4x100 --compare=cpu | FileCheck %s
// RUN: rudnn-run %s --entry=generic --target=emulate:3 --arg=0:normal:1@3x7 --compare=cpu | FileCheck %s
// RUN: rudnn-run %s --entry=generic --target=emulate:sm_80:3 --arg=0:normal:1@3x7 --compare=cpu | FileCheck %s
// The kernel of a schedule.
// RUN: rudnn-run %s --entry=row --target=emulate --arg=0:normal:1@4x128 --compare=cpu | FileCheck %s
// RUN: rudnn-run %s --entry=row --target=emulate:sm_90a:7 --arg=0:normal:1@4x128 --compare=cpu | FileCheck %s
// CHECK: max abs error {{[0-9.]+}}e-0{{[789]}}

// RUN: not rudnn-run %s --entry=row --target=emulate:x --arg=0:const:0@4x128 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: --target: target 'emulate:x': expected emulate[:CHIP][:SEED] with a number as the seed
// RUN: not rudnn-run %s --entry=row --target=emulate:sm_70 --arg=0:const:0@4x128 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: --target: target 'emulate:sm_70': unknown chip 'sm_70'; known: sm_80, sm_86, sm_89, sm_90, sm_90a
// RUN: not rudnn-compile %s --target=emulate -o %t.so 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: target 'emulate' writes files that end in .ll

func.func @generic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %i = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = rudnn.softmax ins(%x : tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @row(%x: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %i = tensor.empty(%m) : tensor<?x128xf32>
  %y = rudnn.softmax ins(%x : tensor<?x128xf32>) outs(%i : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
