func.func @route(%logits: tensor<?x64xf32>, %bias: tensor<64xf32>,
    %i: tensor<?x6xi32>, %w: tensor<?x6xf32>) -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %ids, %weights = rudnn.moe.route_sigmoid_grouped ins(%logits : tensor<?x64xf32>)
      bias(%bias : tensor<64xf32>) outs(%i, %w : tensor<?x6xi32>, tensor<?x6xf32>)
      {groups = 8 : i64, selected_groups = 4 : i64, group_top_two, renormalize,
       scale = 2.5 : f64} -> tensor<?x6xi32>, tensor<?x6xf32>
  return %ids, %weights : tensor<?x6xi32>, tensor<?x6xf32>
}
