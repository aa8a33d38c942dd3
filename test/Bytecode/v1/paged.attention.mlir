func.func @decode(%q: tensor<?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>,
    %v: tensor<?x16x2x64xbf16>, %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>,
    %ids: tensor<?xi32>, %positions: tensor<?xi32>, %init: tensor<?x8x64xbf16>)
    -> tensor<?x8x64xbf16> {
  %out = rudnn.paged.attention
      ins(%q, %k, %v : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>)
      pages(%tables, %lengths, %ids, %positions
        : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%init : tensor<?x8x64xbf16>) {causal, scale = 0.125 : f64}
      -> tensor<?x8x64xbf16>
  return %out : tensor<?x8x64xbf16>
}
