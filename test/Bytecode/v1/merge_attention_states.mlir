func.func @merge_attention_states(%o0: tensor<1x8x4x64xf32>, %o1: tensor<1x8x4x64xf32>,
    %l0: tensor<1x8x4xf32>, %l1: tensor<1x8x4xf32>, %init: tensor<1x8x4x64xf32>,
    %lse_init: tensor<1x8x4xf32>) -> (tensor<1x8x4x64xf32>, tensor<1x8x4xf32>) {
  %out, %lse = rudnn.merge_attention_states
      states(%o0, %o1 : tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>)
      lses(%l0, %l1 : tensor<1x8x4xf32>, tensor<1x8x4xf32>)
      outs(%init, %lse_init : tensor<1x8x4x64xf32>, tensor<1x8x4xf32>)
      -> tensor<1x8x4x64xf32>, tensor<1x8x4xf32>
  return %out, %lse : tensor<1x8x4x64xf32>, tensor<1x8x4xf32>
}
