func.func @chunk_gated_delta_rule(%q: tensor<1x4x130x16xf32>,
    %k: tensor<1x4x130x16xf32>, %v: tensor<1x4x130x32xf32>, %beta: tensor<1x4x130xf32>,
    %g: tensor<1x4x130xf32>, %s0: tensor<1x4x16x32xf32>, %oi: tensor<1x4x130x32xf32>,
    %si: tensor<1x4x16x32xf32>) -> (tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>) {
  %o, %s = rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %beta, %g, %s0
      : tensor<1x4x130x16xf32>, tensor<1x4x130x16xf32>, tensor<1x4x130x32xf32>,
        tensor<1x4x130xf32>, tensor<1x4x130xf32>, tensor<1x4x16x32xf32>)
      outs(%oi, %si : tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>)
      {chunk_size = 64 : i64} -> tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>
  return %o, %s : tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>
}
