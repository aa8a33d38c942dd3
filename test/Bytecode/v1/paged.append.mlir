func.func @append(%k: tensor<?x2x64xbf16>, %v: tensor<?x2x64xbf16>,
    %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>, %ids: tensor<?xi32>,
    %positions: tensor<?xi32>, %kc: tensor<?x16x2x64xbf16>,
    %vc: tensor<?x16x2x64xbf16>)
    -> (tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>) {
  %caches:2 = rudnn.paged.append
      ins(%k, %v : tensor<?x2x64xbf16>, tensor<?x2x64xbf16>)
      pages(%tables, %lengths, %ids, %positions
        : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%kc, %vc : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>)
      -> tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
  return %caches#0, %caches#1 : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
}
