// RUN: rudnn-opt %s -allow-unregistered-dialect -rudnn-carry-in-place -canonicalize -verify-each | FileCheck %s

// A new buffer in each iteration is copied to the place of the old one.
// CHECK-LABEL: @new_buffer
// CHECK-SAME: %[[INIT:.*]]: memref<4xf32>
// CHECK: %[[PLACE:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[INIT]], %[[PLACE]]
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: %[[NEXT:.*]] = memref.alloc() : memref<4xf32>
// CHECK: "test.step"(%[[PLACE]], %[[NEXT]])
// CHECK: memref.copy %[[NEXT]], %[[PLACE]]
// CHECK: return %[[PLACE]]
func.func @new_buffer(%init: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (memref<4xf32>) {
    %next = memref.alloc() : memref<4xf32>
    "test.step"(%s, %next) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %next : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// What is allocated for the loop is the place.
// CHECK-LABEL: @own_start
// CHECK: %[[PLACE:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[PLACE]]
// CHECK-NEXT: scf.for
// CHECK: memref.copy %{{.*}}, %[[PLACE]]
func.func @own_start(%x: f32, %m: index, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = memref.alloc(%m) : memref<?xf32>
  linalg.fill ins(%x : f32) outs(%init : memref<?xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (memref<?xf32>) {
    %next = memref.alloc(%m) : memref<?xf32>
    "test.step"(%s, %next) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %next : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// Two buffers that change places: each old value is read before both are written.
// CHECK-LABEL: @swap
// CHECK: scf.for
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[Q:.*]], %[[A]]
// CHECK-NEXT: %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[P:.*]], %[[B]]
// CHECK-NEXT: memref.copy %[[A]], %[[P]]
// CHECK-NEXT: memref.copy %[[B]], %[[Q]]
func.func @swap(%a: memref<4xf32>, %b: memref<4xf32>, %n: index) -> (memref<4xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %t, %s : memref<4xf32>, memref<4xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}
