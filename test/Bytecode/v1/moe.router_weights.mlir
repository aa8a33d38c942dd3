func.func @weights(%l: tensor<?x8xbf16>, %ids: tensor<?x2xi32>, %i: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = rudnn.moe.router_weights ins(%l, %ids : tensor<?x8xbf16>, tensor<?x2xi32>)
      outs(%i : tensor<?x2xf32>)
      {scoring = #rudnn.router_scoring<sigmoid>, renormalize, scale = 2.5 : f64} -> tensor<?x2xf32>
  return %w : tensor<?x2xf32>
}
