// RUN: rudnn-opt %s -rudnn-schedule -split-input-file -verify-diagnostics

func.func @dynamic_depth(%a: memref<?x?xbf16>, %b: memref<4096x?xbf16>, %d: memref<?x4096xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the depth of the product is not a static multiple of 8}}
  rudnn_tile.gemm ins(%a, %b : memref<?x?xbf16>, memref<4096x?xbf16>) outs(%d : memref<?x4096xbf16>) transpose_b epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @columns(%a: memref<64x64xbf16>, %b: memref<64x60xbf16>, %d: memref<64x60xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the rows of b are not a static multiple of 8 long}}
  rudnn_tile.gemm ins(%a, %b : memref<64x64xbf16>, memref<64x60xbf16>) outs(%d : memref<64x60xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @f64_result(%a: memref<64x64xbf16>, %d: memref<64x64xf64>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the result is neither f16, bf16 nor f32}}
  rudnn_tile.gemm ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xf64>) epilogue {
  ^bb0(%x: f32):
    %y = arith.extf %x : f32 to f64
    rudnn_tile.yield %y : f64
  }
  return
}

// -----

func.func @outside(%a: memref<64x64xbf16>, %d: memref<64x64xf32>, %s: f32) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the epilogue uses a value from outside}}
  rudnn_tile.gemm ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xf32>) epilogue {
  ^bb0(%x: f32):
    %y = arith.mulf %x, %s : f32
    rudnn_tile.yield %y : f32
  }
  return
}

// -----

func.func @staged(%a: memref<64x64xbf16>, %d: memref<64x64xf32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the epilogue has a 'arith.truncf' that is not computed in f32}}
  rudnn_tile.gemm ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xf32>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    %z = arith.extf %y : bf16 to f32
    rudnn_tile.yield %z : f32
  }
  return
}

// -----

func.func @epilogue(%a: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the epilogue has a 'math.sin'}}
  rudnn_tile.gemm ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>) epilogue {
  ^bb0(%x: f32):
    %s = math.sin %x : f32
    %y = arith.truncf %s : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @softmax_row(%x: memref<4x?xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the row length is dynamic}}
  rudnn.softmax ins(%x : memref<4x?xbf16>) outs(%x : memref<4x?xbf16>)
  return
}

// -----

func.func @attention_type(%q: memref<1x1x8x64xf32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the elements are neither f16 nor bf16}}
  rudnn.attention ins(%q, %q, %q : memref<1x1x8x64xf32>, memref<1x1x8x64xf32>, memref<1x1x8x64xf32>) outs(%q : memref<1x1x8x64xf32>)
  return
}

// -----

func.func @attention_dim(%q: memref<1x1x8x264xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: a head dim is more than 256}}
  rudnn.attention ins(%q, %q, %q : memref<1x1x8x264xbf16>, memref<1x1x8x264xbf16>, memref<1x1x8x264xbf16>) outs(%q : memref<1x1x8x264xbf16>)
  return
}
