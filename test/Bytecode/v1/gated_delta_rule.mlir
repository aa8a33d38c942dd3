func.func @gated_delta_rule(%q: tensor<2x4x?x16xbf16>, %k: tensor<2x4x?x16xbf16>,
    %v: tensor<2x8x?x32xbf16>, %beta: tensor<2x8x?xbf16>, %g: tensor<2x8x?xf32>,
    %s0: tensor<2x8x16x32xf32>, %oi: tensor<2x8x?x32xbf16>, %si: tensor<2x8x16x32xf32>)
    -> (tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>) {
  %o, %s = rudnn.gated_delta_rule ins(%q, %k, %v, %beta, %g, %s0
      : tensor<2x4x?x16xbf16>, tensor<2x4x?x16xbf16>, tensor<2x8x?x32xbf16>,
        tensor<2x8x?xbf16>, tensor<2x8x?xf32>, tensor<2x8x16x32xf32>)
      outs(%oi, %si : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>)
      -> tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
  return %o, %s : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
}
