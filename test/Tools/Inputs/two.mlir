func.func @scale(%x: tensor<?x4xf32>, %s: f32) -> (tensor<?x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%d) : tensor<?x4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%init : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %s : f32
    linalg.yield %c : f32
  } -> tensor<?x4xf32>
  return %y, %d : tensor<?x4xf32>, index
}
func.func @narrow(%x: tensor<2x4xbf16>, %n: tensor<2xi32>) -> tensor<2x4xbf16> {
  %i = tensor.empty() : tensor<2x4xbf16>
  %y = rudnn.softmax ins(%x : tensor<2x4xbf16>) outs(%i : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}
