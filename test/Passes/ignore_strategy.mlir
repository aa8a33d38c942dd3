// RUN: rudnn-opt %s -rudnn-ignore-strategy -verify-each | FileCheck %s
// RUN: rudnn-opt %s -rudnn-to-cpu -verify-each | FileCheck %s --check-prefix=LLVM

// Ops of every dialect, with either value; also in nested regions.
// CHECK-NOT: rudnn.strategy
// CHECK: linalg.matmul
// CHECK-NOT: rudnn.strategy
// CHECK: rudnn.softmax
// CHECK-NOT: rudnn.strategy
// CHECK: scf.if
// CHECK-NOT: rudnn.strategy
// LLVM-LABEL: llvm.func @layer(
// LLVM-NOT: rudnn.
// LLVM-NOT: unrealized_conversion_cast
func.func @layer(%a: tensor<8x16xbf16>, %b: tensor<16x16xbf16>, %o: tensor<8x16xbf16>, %c: i1) -> tensor<8x16xbf16> {
  %p = linalg.matmul {rudnn.strategy = "fallback"} ins(%a, %b : tensor<8x16xbf16>, tensor<16x16xbf16>) outs(%o : tensor<8x16xbf16>) -> tensor<8x16xbf16>
  %s = rudnn.softmax ins(%p : tensor<8x16xbf16>) outs(%o : tensor<8x16xbf16>) {rudnn.strategy = "schedule"} -> tensor<8x16xbf16>
  %r = scf.if %c -> tensor<8x16xbf16> {
    %t = rudnn.softmax ins(%s : tensor<8x16xbf16>) outs(%o : tensor<8x16xbf16>) {rudnn.strategy = "schedule"} -> tensor<8x16xbf16>
    scf.yield %t : tensor<8x16xbf16>
  } else {
    scf.yield %s : tensor<8x16xbf16>
  }
  return %r : tensor<8x16xbf16>
}
