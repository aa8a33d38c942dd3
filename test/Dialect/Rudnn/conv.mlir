// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s
// RUN: rudnn-opt %s -verify-each -mlir-print-op-generic | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: @conv
// CHECK: rudnn.conv ins(%{{.*}}, %{{.*}} : tensor<?x64x?x?xbf16>, tensor<128x32x3x3xbf16>) bias(%{{.*}} : tensor<128xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x128x?x?xbf16>) {groups = 2 : i64, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} -> tensor<?x128x?x?xbf16>
func.func @conv(%x: tensor<?x64x?x?xbf16>, %w: tensor<128x32x3x3xbf16>, %b: tensor<128xf32>,
    %i: tensor<?x128x?x?xbf16>) -> tensor<?x128x?x?xbf16> {
  %y = rudnn.conv ins(%x, %w : tensor<?x64x?x?xbf16>, tensor<128x32x3x3xbf16>)
      bias(%b : tensor<128xf32>) outs(%i : tensor<?x128x?x?xbf16>)
      {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, groups = 2 : i64} -> tensor<?x128x?x?xbf16>
  return %y : tensor<?x128x?x?xbf16>
}

// One axis, channels last, other padding on each side.
// CHECK-LABEL: @conv_nhwc
// CHECK: rudnn.conv ins(%{{.*}}, %{{.*}} : tensor<2x10x4xf32>, tensor<8x3x4xf32>)
// CHECK-SAME: layout = #rudnn.conv_layout<nhwc>, padding = array<i64: 2, 0>
func.func @conv_nhwc(%x: tensor<2x10x4xf32>, %w: tensor<8x3x4xf32>, %i: tensor<2x10x8xf32>) -> tensor<2x10x8xf32> {
  %y = rudnn.conv ins(%x, %w : tensor<2x10x4xf32>, tensor<8x3x4xf32>) outs(%i : tensor<2x10x8xf32>)
      {padding = array<i64: 2, 0>, layout = #rudnn.conv_layout<nhwc>} -> tensor<2x10x8xf32>
  return %y : tensor<2x10x8xf32>
}

// CHECK-LABEL: @conv_memref
// CHECK: rudnn.conv ins(%{{.*}}, %{{.*}} : memref<1x2x4x4x4xf16>, memref<2x2x2x2x2xf16>) outs(%{{.*}} : memref<1x2x3x3x3xf16>)
func.func @conv_memref(%x: memref<1x2x4x4x4xf16>, %w: memref<2x2x2x2x2xf16>, %y: memref<1x2x3x3x3xf16>) {
  rudnn.conv ins(%x, %w : memref<1x2x4x4x4xf16>, memref<2x2x2x2x2xf16>) outs(%y : memref<1x2x3x3x3xf16>)
  return
}

// CHECK-LABEL: @data_backward
// CHECK: rudnn.conv_data_backward ins(%{{.*}}, %{{.*}} : tensor<2x8x4x4xf32>, tensor<8x3x1x1xf32>) outs(%{{.*}} : tensor<2x3x8x8xf32>) {stride = array<i64: 2, 2>} -> tensor<2x3x8x8xf32>
func.func @data_backward(%dy: tensor<2x8x4x4xf32>, %w: tensor<8x3x1x1xf32>, %i: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> {
  %dx = rudnn.conv_data_backward ins(%dy, %w : tensor<2x8x4x4xf32>, tensor<8x3x1x1xf32>)
      outs(%i : tensor<2x3x8x8xf32>) {stride = array<i64: 2, 2>} -> tensor<2x3x8x8xf32>
  return %dx : tensor<2x3x8x8xf32>
}

// CHECK-LABEL: @weight_backward
// CHECK: rudnn.conv_weight_backward ins(%{{.*}}, %{{.*}} : tensor<?x3x8x8xf32>, tensor<?x8x6x6xf32>) outs(%{{.*}} : tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32>
func.func @weight_backward(%x: tensor<?x3x8x8xf32>, %dy: tensor<?x8x6x6xf32>, %i: tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32> {
  %dw = rudnn.conv_weight_backward ins(%x, %dy : tensor<?x3x8x8xf32>, tensor<?x8x6x6xf32>)
      outs(%i : tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32>
  return %dw : tensor<8x3x3x3xf32>
}
