// RUN: rudnn-opt %s -allow-unregistered-dialect -rudnn-plan-workspace -canonicalize -cse -verify-each | FileCheck %s

// A buffer that shrinks from one iteration to the next gets room for the largest.
// CHECK-LABEL: func.func @tail(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: scf.for
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: memref.view %{{.*}}[%{{.*}}][%[[SIZE]]] : memref<?xi8> to memref<?xf32>
// CHECK-LABEL: func.func @tail__workspace_bytes(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>) -> i64
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: arith.minsi
// CHECK: return %{{.*}} : i64
func.func @tail(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c32 {
    %size = affine.min affine_map<()[s0, s1] -> (32, s1 - s0)>()[%i, %n]
    %tmp = memref.alloc(%size) : memref<?xf32>
    "test.use"(%tmp) : (memref<?xf32>) -> ()
  }
  return
}

// The extents of reshaped buffers are those of what they view.
// CHECK-LABEL: func.func @reshaped__workspace_bytes(
// CHECK: memref.dim
// CHECK-NOT: memref.alloc
// CHECK: return %{{.*}} : i64
func.func @reshaped(%x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  %flat = memref.collapse_shape %a [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  %m = memref.dim %flat, %c0 : memref<?xf32>
  %b = memref.alloc(%m) : memref<?xf32>
  "test.use"(%flat, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}
