func.func @decode(%q: tensor<?x16x512xbf16>, %qp: tensor<?x16x64xbf16>,
    %latent: tensor<?x64x1x512xbf16>, %kp: tensor<?x64x1x64xbf16>,
    %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>, %ids: tensor<?xi32>,
    %positions: tensor<?xi32>, %init: tensor<?x16x512xbf16>) -> tensor<?x16x512xbf16> {
  %out = rudnn.paged.mla
      ins(%q, %qp, %latent, %kp : tensor<?x16x512xbf16>, tensor<?x16x64xbf16>,
        tensor<?x64x1x512xbf16>, tensor<?x64x1x64xbf16>)
      pages(%tables, %lengths, %ids, %positions
        : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%init : tensor<?x16x512xbf16>) {causal, scale = 0.0721687836 : f64}
      -> tensor<?x16x512xbf16>
  return %out : tensor<?x16x512xbf16>
}
