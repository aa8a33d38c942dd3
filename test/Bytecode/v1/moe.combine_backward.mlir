func.func @backward(%g: tensor<16x64xbf16>, %y: tensor<32x64xbf16>, %s: tensor<16x2xi32>,
    %r: tensor<32xi32>, %w: tensor<16x2xf32>, %i: tensor<32x64xbf16>, %j: tensor<16x2xf32>)
    -> (tensor<32x64xbf16>, tensor<16x2xf32>) {
  %dy, %dw = rudnn.moe.combine_backward ins(%g, %y, %s, %r, %w : tensor<16x64xbf16>,
      tensor<32x64xbf16>, tensor<16x2xi32>, tensor<32xi32>, tensor<16x2xf32>)
      outs(%i, %j : tensor<32x64xbf16>, tensor<16x2xf32>) -> tensor<32x64xbf16>, tensor<16x2xf32>
  return %dy, %dw : tensor<32x64xbf16>, tensor<16x2xf32>
}
