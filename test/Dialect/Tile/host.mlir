// RUN: rudnn-opt %s -verify-each | rudnn-opt -verify-each | FileCheck %s

// CHECK-LABEL: func.func @gemm_tensor
// CHECK: rudnn_tile.gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xf16>, tensor<64x32xf16>) extras(%{{.*}} : tensor<?x32xf16>) outs(%{{.*}} : tensor<?x32xf16>) epilogue {
// CHECK: } -> tensor<?x32xf16>
func.func @gemm_tensor(%a: tensor<?x64xf16>, %b: tensor<64x32xf16>, %r: tensor<?x32xf16>, %d: tensor<?x32xf16>) -> tensor<?x32xf16> {
  %0 = rudnn_tile.gemm ins(%a, %b : tensor<?x64xf16>, tensor<64x32xf16>) extras(%r : tensor<?x32xf16>) outs(%d : tensor<?x32xf16>) epilogue {
  ^bb0(%s: f32, %x: f16):
    %e = arith.extf %x : f16 to f32
    %t = arith.addf %s, %e : f32
    %y = arith.truncf %t : f32 to f16
    rudnn_tile.yield %y : f16
  } -> tensor<?x32xf16>
  return %0 : tensor<?x32xf16>
}

// CHECK-LABEL: func.func @launch
// CHECK: %[[T:.*]] = rudnn_tile.tma_descriptor %{{.*}} : memref<64x64xbf16> -> <64x64xbf16, swizzle = 128>
// CHECK: rudnn_tile.launch @kernels::@k blocks(%{{.*}}, %{{.*}}, %{{.*}}) args(%[[T]], %{{.*}}, %{{.*}} : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<4x4xf32>, index)
func.func @launch(%x: memref<64x64xbf16>, %y: memref<4x4xf32>, %n: index) {
  %t = rudnn_tile.tma_descriptor %x : memref<64x64xbf16> -> !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  rudnn_tile.launch @kernels::@k blocks(%n, %n, %n) args(%t, %y, %n : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<4x4xf32>, index)
  return
}
gpu.module @kernels {
  rudnn_tile.kernel @k(%t: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %y: memref<?xf32>, %n: index) attributes {threads = 128 : i32} {
    rudnn_tile.yield
  }
}
