// RUN: rudnn-opt %s -allow-unregistered-dialect -rudnn-plan-workspace -verify-diagnostics

func.func @from_contents(%counts: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %count = memref.load %counts[%c0] : memref<?xi32>
  %size = arith.index_cast %count : i32 to index
  // expected-error @below {{has an extent without a bound that is a function of the arguments' extents and scalars alone}}
  %tmp = memref.alloc(%size) : memref<?xf32>
  "test.use"(%tmp) : (memref<?xf32>) -> ()
  return
}
