// Attention of one decode step over a paged cache: 4 query heads, 2 key/value heads of 8,
// any number of rows, sequences, pages and tokens per page.
func.func @paged_attention(%q: tensor<?x4x8xf32>, %k: tensor<?x?x2x8xf32>,
    %v: tensor<?x?x2x8xf32>, %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>,
    %ids: tensor<?xi32>, %positions: tensor<?xi32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x4x8xf32>
  %init = tensor.empty(%rows) : tensor<?x4x8xf32>
  %out = rudnn.paged.attention
      ins(%q, %k, %v : tensor<?x4x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>)
      pages(%tables, %lengths, %ids, %positions
        : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%init : tensor<?x4x8xf32>) {causal} -> tensor<?x4x8xf32>
  return %out : tensor<?x4x8xf32>
}
