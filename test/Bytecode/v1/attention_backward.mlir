func.func @attention_backward(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>,
    %v: tensor<2x2x?x64xbf16>, %out: tensor<2x8x?x64xbf16>,
    %dout: tensor<2x8x?x64xbf16>, %lse: tensor<2x8x?xf32>,
    %dq_init: tensor<2x8x?x64xbf16>, %dk_init: tensor<2x2x?x64xbf16>,
    %dv_init: tensor<2x2x?x64xbf16>)
    -> (tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>) {
  %dq, %dk, %dv = rudnn.attention_backward
      ins(%q, %k, %v, %out, %dout, %lse : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>,
          tensor<2x2x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>)
      outs(%dq_init, %dk_init, %dv_init : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>,
          tensor<2x2x?x64xbf16>) {causal = #rudnn.causal<bottom_right>}
      -> tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>
  return %dq, %dk, %dv : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>
}
