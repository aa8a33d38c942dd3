func.func @grow(%n: tensor<1xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.extract %n[%c0] : tensor<1xindex>
  %e = tensor.empty(%d) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
