func.func @conv(%x: tensor<?x64x?x?xbf16>, %w: tensor<128x32x3x3xbf16>,
    %b: tensor<128xf32>, %init: tensor<?x128x?x?xbf16>) -> tensor<?x128x?x?xbf16> {
  %y = rudnn.conv ins(%x, %w : tensor<?x64x?x?xbf16>, tensor<128x32x3x3xbf16>)
      bias(%b : tensor<128xf32>) outs(%init : tensor<?x128x?x?xbf16>)
      {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, groups = 2 : i64}
      -> tensor<?x128x?x?xbf16>
  return %y : tensor<?x128x?x?xbf16>
}
