func.func @ragged_attention_backward(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>,
    %v: tensor<?x2x64xbf16>, %out: tensor<?x8x64xbf16>, %dout: tensor<?x8x64xbf16>,
    %lse: tensor<8x?xf32>, %offsets: tensor<?xi32>, %dq_init: tensor<?x8x64xbf16>,
    %dk_init: tensor<?x2x64xbf16>, %dv_init: tensor<?x2x64xbf16>)
    -> (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) {
  %dq, %dk, %dv = rudnn.ragged_attention_backward
      ins(%q, %k, %v, %out, %dout, %lse : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>,
          tensor<?x2x64xbf16>, tensor<?x8x64xbf16>, tensor<?x8x64xbf16>, tensor<8x?xf32>)
      offsets(%offsets, %offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%dq_init, %dk_init, %dv_init : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>,
          tensor<?x2x64xbf16>) {causal = #rudnn.causal<bottom_right>}
      -> tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>
  return %dq, %dk, %dv : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>
}
