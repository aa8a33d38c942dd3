func.func @combine(%y: tensor<32x64xbf16>, %s: tensor<16x2xi32>, %w: tensor<16x2xf32>,
    %i: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
  %out = rudnn.moe.combine ins(%y, %s, %w : tensor<32x64xbf16>, tensor<16x2xi32>, tensor<16x2xf32>)
      outs(%i : tensor<16x64xbf16>) -> tensor<16x64xbf16>
  return %out : tensor<16x64xbf16>
}
