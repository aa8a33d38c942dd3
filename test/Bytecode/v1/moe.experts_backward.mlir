func.func @backward(%dy: tensor<?x4xf32>, %x: tensor<?x4xf32>, %o: tensor<3xi32>,
    %g: tensor<2x6x4xf32>, %u: tensor<2x6x4xf32>, %d: tensor<2x4x6xf32>, %i: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) {
  %dx, %dg, %du, %dd = rudnn.moe.experts_backward
      ins(%dy, %x, %o : tensor<?x4xf32>, tensor<?x4xf32>, tensor<3xi32>)
      weights(%g, %u, %d : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      outs(%i, %g, %u, %d : tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
      -> tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
  return %dx, %dg, %du, %dd
      : tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
}
