// RUN: rudnn-opt %s -rudnn-to-cpu=vector-bytes=32 -verify-each | FileCheck %s
// RUN: rudnn-opt %s -rudnn-to-cpu=vector-bytes=64 -verify-each | FileCheck %s

// Tiles over threads, vector code, the result in a buffer of the caller, and no
// call of a runtime library but malloc, free and the C library.
// CHECK-DAG: llvm.func @malloc
// CHECK-LABEL: llvm.func @layer(
// CHECK: omp.parallel
// CHECK: omp.wsloop schedule(dynamic)
// CHECK: llvm.intr.fma{{.*}} vector<
// CHECK-NOT: memrefCopy
// CHECK-NOT: rudnn.
// CHECK-NOT: unrealized_conversion_cast
func.func @layer(%x: tensor<?x256xbf16>, %gamma: tensor<256xf32>, %w: tensor<256x512xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%n) : tensor<?x256xbf16>
  %y = rudnn.rms_norm ins(%x, %gamma : tensor<?x256xbf16>, tensor<256xf32>) outs(%e : tensor<?x256xbf16>) {eps = 1.0e-6 : f64} -> tensor<?x256xbf16>
  %f = tensor.empty(%n) : tensor<?x512xbf16>
  %i = linalg.fill ins(%zero : bf16) outs(%f : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  %r = linalg.matmul ins(%y, %w : tensor<?x256xbf16>, tensor<256x512xbf16>) outs(%i : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  %s = rudnn.softmax ins(%r : tensor<?x512xbf16>) outs(%f : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %s : tensor<?x512xbf16>
}
