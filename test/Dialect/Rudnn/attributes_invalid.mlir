// RUN: rudnn-opt %s -verify-diagnostics -split-input-file

// An attribute with the prefix of the dialect is one that a pass reads, with a value that it knows.

func.func @value(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{rudnn.strategy is "auto", expected "schedule" or "fallback"}}
  %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {rudnn.strategy = "auto"} -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @type(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{rudnn.strategy is 7 : i32, expected "schedule" or "fallback"}}
  %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {rudnn.strategy = 7 : i32} -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @name(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{has the attribute rudnn.stategy, which no pass reads}}
  %y = linalg.matmul {rudnn.stategy = "fallback"} ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// Without a prefix it would be one of the op.
func.func @other(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{has no attribute 'strategy': it would be ignored}}
  %y = rudnn.softmax ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {strategy = "fallback"} -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Sizes in bytes must be countable.
func.func @large(%x: tensor<2305843009213693952x8xf32>) -> tensor<2305843009213693952x8xf32> {
  // expected-error @+1 {{operand 0 has type 'tensor<2305843009213693952x8xf32>', which is larger than 2^63 - 1 bytes}}
  %y = rudnn.softmax ins(%x : tensor<2305843009213693952x8xf32>) outs(%x : tensor<2305843009213693952x8xf32>) -> tensor<2305843009213693952x8xf32>
  return %y : tensor<2305843009213693952x8xf32>
}
