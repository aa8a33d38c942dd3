// RUN: rudnn-opt %s -rudnn-schedule -split-input-file -verify-diagnostics

func.func @f32(%x: memref<9x8xf32>, %o: memref<3xi32>, %up: memref<2x16x8xf32>, %down: memref<2x8x16xf32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the weights are neither f16 nor bf16}}
  rudnn.moe.experts ins(%x, %o : memref<9x8xf32>, memref<3xi32>)
      weights(%up, %up, %down : memref<2x16x8xf32>, memref<2x16x8xf32>, memref<2x8x16xf32>)
      outs(%x : memref<9x8xf32>)
  return
}

// -----

func.func @inner(%x: memref<9x8xf16>, %o: memref<3xi32>, %up: memref<2x12x8xf16>, %down: memref<2x8x12xf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: a width of the experts is not a multiple of 8}}
  rudnn.moe.experts ins(%x, %o : memref<9x8xf16>, memref<3xi32>)
      weights(%up, %up, %down : memref<2x12x8xf16>, memref<2x12x8xf16>, memref<2x8x12xf16>)
      outs(%x : memref<9x8xf16>)
  return
}
