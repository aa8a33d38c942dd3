// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

func.func @descriptor_rank(%x: memref<4x64x64xbf16>) {
  // expected-error @+1 {{with boxes of another rank or element type}}
  %t = rudnn_tile.tma_descriptor %x : memref<4x64x64xbf16> -> !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @descriptor_stride(%x: memref<64x64xbf16, strided<[1, 64]>>) {
  // expected-error @+1 {{is not contiguous}}
  %t = rudnn_tile.tma_descriptor %x : memref<64x64xbf16, strided<[1, 64]>> -> !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @launch_type(%n: index) {
  // expected-error @+1 {{argument 0 has type 'index', the kernel takes 'f32'}}
  rudnn_tile.launch @kernels::@k blocks(%n, %n, %n) args(%n : index)
  return
}
gpu.module @kernels {
  rudnn_tile.kernel @k(%x: f32) attributes {threads = 128 : i32} {
    rudnn_tile.yield
  }
}

// -----

func.func @launch_count(%n: index) {
  // expected-error @+1 {{passes 0 arguments, @kernels::@k takes 1}}
  rudnn_tile.launch @kernels::@k blocks(%n, %n, %n) args()
  return
}
gpu.module @kernels {
  rudnn_tile.kernel @k(%x: f32) attributes {threads = 128 : i32} {
    rudnn_tile.yield
  }
}

// -----

func.func @gemm_shapes(%a: memref<8x16xbf16>, %b: memref<8x16xbf16>, %d: memref<8x16xbf16>) {
  // expected-error @+1 {{shapes don't form a product}}
  rudnn_tile.gemm ins(%a, %b : memref<8x16xbf16>, memref<8x16xbf16>) outs(%d : memref<8x16xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @gemm_yield(%a: memref<16x16xbf16>) {
  // expected-error @+1 {{the epilogue must yield one 'bf16'}}
  rudnn_tile.gemm ins(%a, %a : memref<16x16xbf16>, memref<16x16xbf16>) outs(%a : memref<16x16xbf16>) epilogue {
  ^bb0(%x: f32):
    rudnn_tile.yield %x : f32
  }
  return
}

// -----

func.func @gemm_extra(%a: memref<16x16xbf16>, %e: memref<8xf32>) {
  // expected-error @+1 {{extra 0 is 'memref<8xf32>', expected the shape of}}
  rudnn_tile.gemm ins(%a, %a : memref<16x16xbf16>, memref<16x16xbf16>) extras(%e : memref<8xf32>) outs(%a : memref<16x16xbf16>) epilogue {
  ^bb0(%x: f32, %z: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @gemm_rank(%a: memref<16x16xbf16>, %b: memref<2x16x16xbf16>) {
  // expected-error @+1 {{a, b and d must all have rank 2 or all rank 3, got}}
  rudnn_tile.gemm ins(%a, %b : memref<16x16xbf16>, memref<2x16x16xbf16>) outs(%a : memref<16x16xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @gemm_element(%a: memref<16x16xbf16>, %b: memref<16x16xf16>) {
  // expected-error @+1 {{a and b must both be f16 or both bf16, got 'bf16' and 'f16'}}
  rudnn_tile.gemm ins(%a, %b : memref<16x16xbf16>, memref<16x16xf16>) outs(%a : memref<16x16xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @gemm_arguments(%a: memref<16x16xbf16>, %e: memref<16xf32>) {
  // expected-error @+1 {{the epilogue must take an f32 and one element of each extra}}
  rudnn_tile.gemm ins(%a, %a : memref<16x16xbf16>, memref<16x16xbf16>) extras(%e : memref<16xf32>) outs(%a : memref<16x16xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @gemm_outs(%a: memref<16x16xbf16>, %d: memref<16x16xbf16>) {
  // expected-error @+1 {{has 2 outs, expected 1}}
  rudnn_tile.gemm ins(%a, %a : memref<16x16xbf16>, memref<16x16xbf16>) outs(%a, %d : memref<16x16xbf16>, memref<16x16xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @gemm_result(%a: tensor<16x16xbf16>) {
  // expected-error @+1 {{must have the type of the tensor it writes as its only result, and none for memrefs}}
  rudnn_tile.gemm ins(%a, %a : tensor<16x16xbf16>, tensor<16x16xbf16>) outs(%a : tensor<16x16xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}
