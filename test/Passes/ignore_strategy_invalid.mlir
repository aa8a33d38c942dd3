// RUN: rudnn-opt %s -split-input-file -verify-diagnostics -rudnn-ignore-strategy

// An op of another dialect, in a module without rudnn ops.
func.func @other(%a: tensor<8x16xf32>, %b: tensor<16x16xf32>, %o: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{'linalg.matmul' op rudnn.strategy is "fast", expected "schedule" or "fallback"}}
  %r = linalg.matmul {rudnn.strategy = "fast"} ins(%a, %b : tensor<8x16xf32>, tensor<16x16xf32>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

func.func @word(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'rudnn.softmax' op rudnn.strategy is "", expected "schedule" or "fallback"}}
  %r = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {rudnn.strategy = ""} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @number(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'rudnn.softmax' op rudnn.strategy is 1 : i64, expected "schedule" or "fallback"}}
  %r = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {rudnn.strategy = 1} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
