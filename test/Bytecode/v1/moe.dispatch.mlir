func.func @dispatch(%x: tensor<16x64xf16>, %ids: tensor<16x2xi32>, %v: tensor<32x64xf16>,
    %o: tensor<9xi32>, %s: tensor<16x2xi32>, %r: tensor<32xi32>)
    -> (tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>) {
  %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch
      ins(%x, %ids : tensor<16x64xf16>, tensor<16x2xi32>)
      outs(%v, %o, %s, %r : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>)
      -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>
  return %values, %offsets, %slot_rows, %row_slots
      : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>
}
