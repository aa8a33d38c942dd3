func.func @conv_data_backward(%dy: tensor<2x8x4x4xf32>, %w: tensor<8x3x1x1xf32>,
    %init: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> {
  %dx = rudnn.conv_data_backward ins(%dy, %w : tensor<2x8x4x4xf32>, tensor<8x3x1x1xf32>)
      outs(%init : tensor<2x3x8x8xf32>) {stride = array<i64: 2, 2>} -> tensor<2x3x8x8xf32>
  return %dx : tensor<2x3x8x8xf32>
}
