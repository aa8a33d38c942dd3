func.func @plan(%lengths: tensor<?xi32>, %ids: tensor<?xi32>, %positions: tensor<?xi32>,
    %ranges: tensor<132x5xi32>, %merges: tensor<?x3xi32>, %counts: tensor<2xi32>)
    -> (tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {
  %0:3 = rudnn.paged.plan
      ins(%lengths, %ids, %positions : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%ranges, %merges, %counts : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>)
      {causal, tile_tokens = 64}
      -> tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
  return %0#0, %0#1, %0#2 : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
}
