func.func @backward(%l: tensor<?x8xf16>, %ids: tensor<?x2xi32>, %g: tensor<?x2xf32>,
    %i: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %dl = rudnn.moe.router_backward ins(%l, %ids, %g : tensor<?x8xf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      outs(%i : tensor<?x8xf16>) {renormalize} -> tensor<?x8xf16>
  return %dl : tensor<?x8xf16>
}
