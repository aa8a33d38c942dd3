func.func @gradients(%q: tensor<?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>,
    %v: tensor<?x16x2x64xbf16>, %g: tensor<?x8x64xbf16>, %tables: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %ids: tensor<?xi32>, %positions: tensor<?xi32>,
    %dk: tensor<?x16x2x64xbf16>, %dv: tensor<?x16x2x64xbf16>)
    -> (tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>) {
  %0:2 = rudnn.paged.attention_backward
      ins(%q, %k, %v, %g : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>,
        tensor<?x16x2x64xbf16>, tensor<?x8x64xbf16>)
      pages(%tables, %lengths, %ids, %positions
        : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%dk, %dv : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>)
      {causal, gradients = #rudnn.paged_gradients<dk|dv>,
       history = #rudnn.history_gradient<ordered>}
      -> tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
  return %0#0, %0#1 : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
}
