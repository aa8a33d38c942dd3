func.func @experts(%x: tensor<?x64xf32>, %o: tensor<9xi32>, %g: tensor<8x128x64xf32>,
    %u: tensor<8x128x64xf32>, %d: tensor<8x64x128xf32>, %i: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rudnn.moe.experts ins(%x, %o : tensor<?x64xf32>, tensor<9xi32>)
      weights(%g, %u, %d : tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x64x128xf32>)
      outs(%i : tensor<?x64xf32>) {strategy = #rudnn.experts_strategy<grouped>}
      -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
