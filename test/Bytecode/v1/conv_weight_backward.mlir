func.func @conv_weight_backward(%x: tensor<?x3x8x8xf32>, %dy: tensor<?x8x6x6xf32>,
    %init: tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32> {
  %dw = rudnn.conv_weight_backward ins(%x, %dy : tensor<?x3x8x8xf32>, tensor<?x8x6x6xf32>)
      outs(%init : tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32>
  return %dw : tensor<8x3x3x3xf32>
}
