// RUN: rudnn-opt %s -allow-unregistered-dialect -rudnn-outline-kernels -canonicalize -cse -verify-each | FileCheck %s

// The temporary of a thread is as large as the count from the buffer may be: at
// most %most.
// CHECK-LABEL: @bounded_by_minimum
// CHECK-SAME: %[[MOST:arg[0-9]+]]: index
// CHECK: %[[AREA:.*]] = memref.alloc({{.*}}) : memref<?xi8>
// CHECK: gpu.launch
// CHECK: memref.load
// CHECK: %[[SIZE:.*]] = arith.minui
// CHECK: memref.view %[[AREA]][%{{.*}}][%[[SIZE]]] : memref<?xi8> to memref<?xf32>
func.func @bounded_by_minimum(%counts: memref<?xi32>, %most: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %count = memref.load %counts[%i] : memref<?xi32>
    %wide = arith.index_castui %count : i32 to index
    %size = arith.minui %wide, %most : index
    %tmp = memref.alloc(%size) : memref<?xf32>
    "test.use"(%tmp) : (memref<?xf32>) -> ()
  }
  return
}

// At most 48 / 3 elements of 4 bytes.
// CHECK-LABEL: @bounded_by_ops
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: memref.alloc({{.*}}) : memref<?xi8>
// CHECK: gpu.launch
// CHECK: %[[PLACE:.*]] = arith.muli %{{.*}}, %[[C64]]
// CHECK: memref.view %{{.*}}[%[[PLACE]]]
func.func @bounded_by_ops(%counts: memref<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %count = memref.load %counts[%i] : memref<?xi32>
    %wide = arith.index_castui %count : i32 to index
    %all = arith.minui %wide, %c48 : index
    %size = arith.divui %all, %c3 : index
    %tmp = memref.alloc(%size) : memref<?xf32>
    "test.use"(%tmp) : (memref<?xf32>) -> ()
  }
  return
}
