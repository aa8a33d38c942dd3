func.func @f(%q: tensor<1x2x40x64xbf16>) -> tensor<1x2x40x64xbf16> {
  %e = tensor.empty() : tensor<1x2x40x64xbf16>
  %r = rudnn.attention ins(%q, %q, %q : tensor<1x2x40x64xbf16>, tensor<1x2x40x64xbf16>, tensor<1x2x40x64xbf16>) outs(%e : tensor<1x2x40x64xbf16>) {rudnn.strategy = "schedule"} -> tensor<1x2x40x64xbf16>
  return %r : tensor<1x2x40x64xbf16>
}
