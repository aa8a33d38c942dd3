func.func @gradients(%q: tensor<4x16x64xf32>, %qp: tensor<4x16x8xf32>,
    %latent: tensor<9x16x1x64xf32>, %kp: tensor<9x16x1x8xf32>, %g: tensor<4x16x64xf32>,
    %tables: tensor<2x4xi32>, %lengths: tensor<2xi32>, %ids: tensor<4xi32>,
    %positions: tensor<4xi32>, %init: tensor<9x16x1x64xf32>) -> tensor<9x16x1x64xf32> {
  %0 = rudnn.paged.mla_backward
      ins(%q, %qp, %latent, %kp, %g : tensor<4x16x64xf32>, tensor<4x16x8xf32>,
        tensor<9x16x1x64xf32>, tensor<9x16x1x8xf32>, tensor<4x16x64xf32>)
      pages(%tables, %lengths, %ids, %positions
        : tensor<2x4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>)
      outs(%init : tensor<9x16x1x64xf32>)
      {causal, scale = 0.1 : f64, gradients = #rudnn.paged_gradients<dlatent>}
      -> tensor<9x16x1x64xf32>
  return %0 : tensor<9x16x1x64xf32>
}
