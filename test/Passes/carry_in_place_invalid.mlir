// RUN: rudnn-opt %s -allow-unregistered-dialect -rudnn-carry-in-place -verify-diagnostics

func.func @grows(%init: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{carries a buffer whose extents may change from one iteration to the next: number 0 of type 'memref<?xf32>'}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (memref<?xf32>) {
    %size = memref.dim %s, %c0 : memref<?xf32>
    %more = arith.addi %size, %c1 : index
    %next = memref.alloc(%more) : memref<?xf32>
    scf.yield %next : memref<?xf32>
  }
  return %r : memref<?xf32>
}
