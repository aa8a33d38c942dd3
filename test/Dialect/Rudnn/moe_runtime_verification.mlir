// RUN: rudnn-opt %s -generate-runtime-verification -canonicalize -cse -verify-each | FileCheck %s

// Every id is below E, or -1 or E; dynamic extents agree.
// CHECK-LABEL: @dispatch
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.dispatch{{.*}}ids and x have different numbers of tokens
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.dispatch{{.*}}values has not T*K rows
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.dispatch{{.*}}slot_rows and ids have different numbers of tokens
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.dispatch{{.*}}row_slots has not T*K elements
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[ID:.*]] = tensor.extract %arg1
// CHECK: %[[INDEX:.*]] = arith.index_castui %[[ID]]
// CHECK: arith.cmpi ule, %[[INDEX]], %c8
// CHECK: arith.cmpi eq, %[[INDEX]], %c4294967295
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.dispatch{{.*}}an expert id in ids is out of range, expected 0 to E-1, or -1 or E for none
// CHECK: rudnn.moe.dispatch
func.func @dispatch(%x: tensor<?x4xf32>, %ids: tensor<?x2xi32>, %v: tensor<?x4xf32>, %o: tensor<9xi32>,
    %s: tensor<?x2xi32>, %r: tensor<?xi32>) -> tensor<9xi32> {
  %v1, %o1, %s1, %r1 = rudnn.moe.dispatch ins(%x, %ids : tensor<?x4xf32>, tensor<?x2xi32>)
      outs(%v, %o, %s, %r : tensor<?x4xf32>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>)
      -> tensor<?x4xf32>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>
  return %o1 : tensor<9xi32>
}

// On memrefs too.
// CHECK-LABEL: @experts
// CHECK: memref.load %arg1
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.experts{{.*}}offsets[0] is not 0
// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.experts{{.*}}offsets descend, expected them to ascend
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.experts{{.*}}the last of offsets is above the number of rows
// CHECK: rudnn.moe.experts
func.func @experts(%x: memref<6x4xf32>, %o: memref<4xi32>, %g: memref<3x7x4xf32>, %d: memref<3x4x7xf32>, %y: memref<6x4xf32>) {
  rudnn.moe.experts ins(%x, %o : memref<6x4xf32>, memref<4xi32>)
      weights(%g, %g, %d : memref<3x7x4xf32>, memref<3x7x4xf32>, memref<3x4x7xf32>) outs(%y : memref<6x4xf32>)
  return
}

// CHECK-LABEL: @experts_backward
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.experts_backward{{.*}}dy and x have different numbers of rows
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.experts_backward{{.*}}the last of offsets is above the number of rows
// CHECK: rudnn.moe.experts_backward
func.func @experts_backward(%dy: memref<?x4xf32>, %x: memref<?x4xf32>, %o: memref<4xi32>, %g: memref<3x7x4xf32>, %d: memref<3x4x7xf32>,
    %dx: memref<?x4xf32>) {
  rudnn.moe.experts_backward ins(%dy, %x, %o : memref<?x4xf32>, memref<?x4xf32>, memref<4xi32>)
      weights(%g, %g, %d : memref<3x7x4xf32>, memref<3x7x4xf32>, memref<3x4x7xf32>)
      outs(%dx, %g, %g, %d : memref<?x4xf32>, memref<3x7x4xf32>, memref<3x7x4xf32>, memref<3x4x7xf32>)
  return
}

// CHECK-LABEL: @combine
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.combine ins{{.*}}a row in slot_rows is out of range, expected 0 to R-1, or -1 for none
// CHECK: rudnn.moe.combine
func.func @combine(%y: memref<8x6xf32>, %s: memref<4x2xi32>, %w: memref<4x2xf32>, %out: memref<4x6xf32>) {
  rudnn.moe.combine ins(%y, %s, %w : memref<8x6xf32>, memref<4x2xi32>, memref<4x2xf32>) outs(%out : memref<4x6xf32>)
  return
}

// CHECK-LABEL: @combine_backward
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.combine_backward{{.*}}a row in slot_rows is out of range
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.combine_backward{{.*}}a slot in row_slots is out of range, expected 0 to T*K-1, or -1 for none
// CHECK: rudnn.moe.combine_backward
func.func @combine_backward(%g: memref<4x6xf32>, %y: memref<8x6xf32>, %s: memref<4x2xi32>, %r: memref<8xi32>, %w: memref<4x2xf32>) {
  rudnn.moe.combine_backward ins(%g, %y, %s, %r, %w : memref<4x6xf32>, memref<8x6xf32>, memref<4x2xi32>, memref<8xi32>, memref<4x2xf32>)
      outs(%y, %w : memref<8x6xf32>, memref<4x2xf32>)
  return
}

// CHECK-LABEL: @dispatch_backward
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.dispatch_backward{{.*}}a row in slot_rows is out of range
// CHECK: rudnn.moe.dispatch_backward
func.func @dispatch_backward(%g: memref<8x6xf32>, %s: memref<4x2xi32>, %dx: memref<4x6xf32>) {
  rudnn.moe.dispatch_backward ins(%g, %s : memref<8x6xf32>, memref<4x2xi32>) outs(%dx : memref<4x6xf32>)
  return
}

// An id of a router op is an expert's, also as i64.
// CHECK-LABEL: @router
// CHECK: arith.cmpi ult, %{{.*}}, %c8
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.router_weights{{.*}}an expert id in ids is out of range, expected 0 to E-1
// CHECK: rudnn.moe.router_weights
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.moe.router_backward{{.*}}an expert id in ids is out of range, expected 0 to E-1
// CHECK: rudnn.moe.router_backward
func.func @router(%l: tensor<4x8xf32>, %ids: tensor<4x2xi64>, %i: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %w = rudnn.moe.router_weights ins(%l, %ids : tensor<4x8xf32>, tensor<4x2xi64>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = rudnn.moe.router_backward ins(%l, %ids, %w : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) outs(%l : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
