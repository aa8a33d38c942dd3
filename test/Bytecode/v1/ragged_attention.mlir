func.func @ragged_attention(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>,
    %v: tensor<?x2x64xbf16>, %query_offsets: tensor<?xi32>, %key_offsets: tensor<?xi32>,
    %init: tensor<?x8x64xbf16>, %lse_init: tensor<8x?xf32>)
    -> (tensor<?x8x64xbf16>, tensor<8x?xf32>) {
  %out, %lse = rudnn.ragged_attention
      ins(%q, %k, %v : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>)
      offsets(%query_offsets, %key_offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%init, %lse_init : tensor<?x8x64xbf16>, tensor<8x?xf32>)
      {causal = #rudnn.causal<bottom_right>}
      -> tensor<?x8x64xbf16>, tensor<8x?xf32>
  return %out, %lse : tensor<?x8x64xbf16>, tensor<8x?xf32>
}
