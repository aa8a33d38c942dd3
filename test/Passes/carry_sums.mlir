// RUN: rudnn-opt %s -verify-each -rudnn-carry-sums | FileCheck %s

// A sum over two loops ends in registers: one read, one write.
func.func @sum(%x: memref<4x8x16xf32>, %d: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %v = memref.load %x[%i, %j, %k] : memref<4x8x16xf32>
        %s = memref.load %d[%i] : memref<4xf32>
        %t = arith.addf %s, %v : f32
        memref.store %t, %d[%i] : memref<4xf32>
      }
    }
  }
  return
}
// CHECK-LABEL: func.func @sum
// CHECK:       scf.parallel (%[[I:.*]]) =
// CHECK-NEXT:    %[[START:.*]] = memref.load %{{.*}}[%[[I]]] : memref<4xf32>
// CHECK-NEXT:    %[[OUTER:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[START]]) -> (f32) {
// CHECK-NEXT:      %[[INNER:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (f32) {
// CHECK-NEXT:        %[[V:.*]] = memref.load
// CHECK-NEXT:        %[[T:.*]] = arith.addf %[[B]], %[[V]]
// CHECK-NEXT:        scf.yield %[[T]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %[[INNER]]
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.store %[[OUTER]], %{{.*}}[%[[I]]]

// What stays: an element of each trip, a second read elsewhere, a view of the same memory, a loop of the host.
func.func @others(%x: memref<8xf32>, %d: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %view = memref.subview %d[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    scf.for %k = %c0 to %c8 step %c1 {
      %s = memref.load %d[%k] : memref<8xf32>
      memref.store %s, %d[%k] : memref<8xf32>
    }
    scf.for %k = %c0 to %c8 step %c1 {
      %s = memref.load %d[%i] : memref<8xf32>
      %t = memref.load %d[%k] : memref<8xf32>
      %u = arith.addf %s, %t : f32
      memref.store %u, %d[%i] : memref<8xf32>
    }
    scf.for %k = %c0 to %c8 step %c1 {
      %s = memref.load %d[%i] : memref<8xf32>
      %t = memref.load %view[%c0] : memref<4xf32, strided<[1], offset: 4>>
      %u = arith.addf %s, %t : f32
      memref.store %u, %d[%i] : memref<8xf32>
    }
  }
  scf.for %k = %c0 to %c8 step %c1 {
    %s = memref.load %d[%c0] : memref<8xf32>
    memref.store %s, %d[%c0] : memref<8xf32>
  }
  return
}
// CHECK-LABEL: func.func @others
// CHECK-NOT:   iter_args
