func.func @attention(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>,
    %v: tensor<2x2x?x64xbf16>, %init: tensor<2x8x?x64xbf16>,
    %lse_init: tensor<2x8x?xf32>) -> (tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>) {
  %out, %lse = rudnn.attention
      ins(%q, %k, %v : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>)
      outs(%init, %lse_init : tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>)
      {causal = #rudnn.causal<bottom_right>, window_left = 1023}
      -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>
  return %out, %lse : tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>
}
