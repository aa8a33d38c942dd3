// RUN: rudnn-opt %s -rudnn-form-gemm -rudnn-select-strategy -split-input-file -verify-diagnostics

// A strategy that is asked for and does not apply says why, whether a gemm was formed or not.
func.func @depth(%a: tensor<8x12xbf16>, %b: tensor<12x32xbf16>, %o: tensor<8x32xf32>) -> tensor<8x32xf32> {
  // expected-error @+1 {{'rudnn_tile.gemm' op rudnn.strategy is "schedule", which is not possible: the depth of the product is not a static multiple of 8}}
  %r = linalg.matmul {rudnn.strategy = "schedule"} ins(%a, %b : tensor<8x12xbf16>, tensor<12x32xbf16>) outs(%o : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

func.func @columns(%a: tensor<8x16xbf16>, %b: tensor<16x?xbf16>, %o: tensor<8x?xf32>) -> tensor<8x?xf32> {
  // expected-error @+1 {{'rudnn_tile.gemm' op rudnn.strategy is "schedule", which is not possible: the rows of b are not a static multiple of 8 long}}
  %r = linalg.matmul {rudnn.strategy = "schedule"} ins(%a, %b : tensor<8x16xbf16>, tensor<16x?xbf16>) outs(%o : tensor<8x?xf32>) -> tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}

// -----

func.func @f32(%a: tensor<8x16xf32>, %b: tensor<16x16xf32>, %o: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{'linalg.matmul' op rudnn.strategy is "schedule", which is not possible: no schedule makes kernels of this op}}
  %r = linalg.matmul {rudnn.strategy = "schedule"} ins(%a, %b : tensor<8x16xf32>, tensor<16x16xf32>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

func.func @unknown(%a: tensor<8x16xbf16>, %b: tensor<16x16xbf16>, %o: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{rudnn.strategy is "fast", expected "schedule" or "fallback"}}
  %r = linalg.matmul {rudnn.strategy = "fast"} ins(%a, %b : tensor<8x16xbf16>, tensor<16x16xbf16>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
