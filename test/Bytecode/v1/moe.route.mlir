func.func @route(%logits: tensor<?x8xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xbf16>)
    -> (tensor<?x2xi32>, tensor<?x2xbf16>) {
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<?x8xbf16>)
      outs(%i, %w : tensor<?x2xi32>, tensor<?x2xbf16>) {renormalize}
      -> tensor<?x2xi32>, tensor<?x2xbf16>
  return %ids, %weights : tensor<?x2xi32>, tensor<?x2xbf16>
}
