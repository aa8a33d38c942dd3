// RUN: rudnn-opt %s -rudnn-expand-shapes -verify-each | FileCheck %s
// RUN: rudnn-opt %s -rudnn-expand-shapes -expand-strided-metadata -verify-each -o /dev/null

// Strides are products of the extents behind a dim, times that of the source.
// CHECK-LABEL: @two_dynamic
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>, %[[A:.*]]: index, %[[B:.*]]: index)
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[OUTER:.*]] = affine.apply #{{.*}}()[%[[B]]]
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[A]], %[[B]], 4], strides: [%[[OUTER]], 4, 1]
// CHECK-SAME: memref<f32> to memref<?x?x4xf32>
// CHECK-NOT: memref.expand_shape
func.func @two_dynamic(%x: memref<?x4xf32>, %a: index, %b: index) -> memref<?x?x4xf32> {
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 4] : memref<?x4xf32> into memref<?x?x4xf32>
  return %e : memref<?x?x4xf32>
}

// The stride and the offset of the source are kept.
// CHECK-LABEL: @strided
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: %[[MIDDLE:.*]] = affine.apply #{{.*}}()[%[[STRIDE]], %arg2]
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%arg1, 3, %arg2], strides: [%{{.*}}, %[[MIDDLE]], %[[STRIDE]]]
func.func @strided(%x: memref<?xf32, strided<[?], offset: ?>>, %a: index, %b: index)
    -> memref<?x3x?xf32, strided<[?, ?, ?], offset: ?>> {
  %e = memref.expand_shape %x [[0, 1, 2]] output_shape [%a, 3, %b]
    : memref<?xf32, strided<[?], offset: ?>> into memref<?x3x?xf32, strided<[?, ?, ?], offset: ?>>
  return %e : memref<?x3x?xf32, strided<[?, ?, ?], offset: ?>>
}

// One dynamic extent in a group is upstream's.
// CHECK-LABEL: @one_dynamic
// CHECK: memref.expand_shape
func.func @one_dynamic(%x: memref<?x?xf32>, %a: index, %b: index) -> memref<?x4x?xf32> {
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, 4, %b] : memref<?x?xf32> into memref<?x4x?xf32>
  return %e : memref<?x4x?xf32>
}
