// RUN: rudnn-opt %s -allow-unregistered-dialect -rudnn-outline-kernels -verify-diagnostics

func.func @unbounded(%counts: memref<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %count = memref.load %counts[%i] : memref<?xi32>
    %size = arith.index_castui %count : i32 to index
    // expected-error @below {{is a temporary of a kernel whose extent has no bound that the host knows}}
    %tmp = memref.alloc(%size) : memref<?xf32>
    "test.use"(%tmp) : (memref<?xf32>) -> ()
  }
  return
}
