func.func @rms_norm(%x: tensor<?x512xbf16>, %gamma: tensor<512xf32>,
    %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %y = rudnn.rms_norm ins(%x, %gamma : tensor<?x512xbf16>, tensor<512xf32>)
      outs(%init : tensor<?x512xbf16>) {eps = 1.0e-6 : f64} -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}
