func.func @backward(%g: tensor<32x64xf16>, %s: tensor<16x2xi32>, %i: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %dx = rudnn.moe.dispatch_backward ins(%g, %s : tensor<32x64xf16>, tensor<16x2xi32>)
      outs(%i : tensor<16x64xf16>) -> tensor<16x64xf16>
  return %dx : tensor<16x64xf16>
}
