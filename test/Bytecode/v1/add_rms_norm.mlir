func.func @add_rms_norm(%x: tensor<?x512xbf16>, %residual: tensor<?x512xbf16>,
    %gamma: tensor<512xf32>, %y: tensor<?x512xbf16>, %h: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  %0:2 = rudnn.add_rms_norm
      ins(%x, %residual, %gamma : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<512xf32>)
      outs(%y, %h : tensor<?x512xbf16>, tensor<?x512xbf16>) {eps = 1.0e-6 : f64}
      -> tensor<?x512xbf16>, tensor<?x512xbf16>
  return %0#0, %0#1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}
