// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse | FileCheck %s

// A product of few rows: its depth in four parts, a batch with f32 results, and a kernel that adds them and applies the
// epilogue. Of a only the rows that are there are loaded.
func.func @few_rows(%a: memref<16x4096xbf16>, %b: memref<4096x4096xbf16>, %bias: memref<4096xbf16>,
                    %d: memref<16x4096xbf16>) {
  rudnn_tile.gemm ins(%a, %b : memref<16x4096xbf16>, memref<4096x4096xbf16>) extras(%bias : memref<4096xbf16>)
      outs(%d : memref<16x4096xbf16>) transpose_b epilogue {
  ^bb0(%sum: f32, %x: bf16):
    %w = arith.extf %x : bf16 to f32
    %r = arith.addf %sum, %w : f32
    %y = arith.truncf %r : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// CHECK-LABEL: func.func @few_rows
// CHECK-DAG:  %[[A:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [4, 16, 1024], strides: [1024, 4096, 1]
// CHECK-DAG:  %[[B:.*]] = memref.reinterpret_cast %arg1 to offset: [0], sizes: [4, 4096, 1024], strides: [1024, 4096, 1]
// CHECK-DAG:  %[[PARTS:.*]] = memref.alloc() : memref<4x16x4096xf32>
// CHECK:      rudnn_tile.launch @rudnn_kernels::@gemm_parts
// CHECK:      rudnn_tile.launch @rudnn_kernels::@gemm_sum blocks({{.*}}) args(%[[PARTS]], %arg3, %arg2 :
// CHECK-LABEL: rudnn_tile.kernel @gemm_parts
// CHECK:      rudnn_tile.tma_load {{.*}} : <1x16x64xbf16, swizzle = 128>
// CHECK-LABEL: rudnn_tile.kernel @gemm_sum
// CHECK-COUNT-4: rudnn_tile.load {{.*}} : memref<?xf32>
// CHECK:      rudnn_tile.load {{.*}} : memref<?xbf16>
// CHECK:      rudnn_tile.store {{.*}} : {{.*}}memref<?xbf16>
