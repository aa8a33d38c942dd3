func.func @softmax(%x: tensor<4x?xf32>, %init: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = rudnn.softmax ins(%x : tensor<4x?xf32>) outs(%init : tensor<4x?xf32>)
      -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}
