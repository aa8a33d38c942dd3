func.func @layer_norm(%x: tensor<8x384xf32>, %gamma: tensor<384xf32>,
    %beta: tensor<384xf32>, %init: tensor<8x384xf32>) -> tensor<8x384xf32> {
  %y = rudnn.layer_norm ins(%x, %gamma : tensor<8x384xf32>, tensor<384xf32>)
      beta(%beta : tensor<384xf32>) outs(%init : tensor<8x384xf32>) {eps = 1.0e-12 : f64}
      -> tensor<8x384xf32>
  return %y : tensor<8x384xf32>
}
