// One decoding step of a layer for a batch of sequences, one new token of each:
//
//   k, v -> paged cache;  h = x + paged_attention(rms_norm(x)),  y = h + experts(rms_norm(h))
//
// Hidden size 256, 8 query heads and 2 key/value heads of 32, rotary position embedding, pages of 16
// tokens, 8 SwiGLU experts of width 512, 2 of them per token. The lengths already count the new
// tokens, and row r is the token at positions[r] of sequence sequence_ids[r]. `@decode_step` returns
// the layer's output and both caches.

// Rotates the pairs (x[i], x[i + 16]) of every head by the angle of the token's position.
// cos, sin: [Q, 16]. (Su et al., 2021, "RoFormer"; halves as in Llama.)
func.func private @rotary(%x: tensor<?x10x32xf32>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>)
    -> tensor<?x10x32xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x10x32xf32>
  %first = tensor.extract_slice %x[0, 0, 0] [%rows, 10, 16] [1, 1, 1] : tensor<?x10x32xf32> to tensor<?x10x16xf32>
  %second = tensor.extract_slice %x[0, 0, 16] [%rows, 10, 16] [1, 1, 1] : tensor<?x10x32xf32> to tensor<?x10x16xf32>
  %half = tensor.empty(%rows) : tensor<?x10x16xf32>
  %rotated:2 = linalg.generic {
      indexing_maps = [affine_map<(r, h, i) -> (r, h, i)>, affine_map<(r, h, i) -> (r, h, i)>,
                       affine_map<(r, h, i) -> (r, i)>, affine_map<(r, h, i) -> (r, i)>,
                       affine_map<(r, h, i) -> (r, h, i)>, affine_map<(r, h, i) -> (r, h, i)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%first, %second, %cos, %sin : tensor<?x10x16xf32>, tensor<?x10x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>)
      outs(%half, %half : tensor<?x10x16xf32>, tensor<?x10x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %o0: f32, %o1: f32):
    %ac = arith.mulf %a, %c : f32
    %bs = arith.mulf %b, %s : f32
    %bc = arith.mulf %b, %c : f32
    %as = arith.mulf %a, %s : f32
    %lo = arith.subf %ac, %bs : f32
    %hi = arith.addf %bc, %as : f32
    linalg.yield %lo, %hi : f32, f32
  } -> (tensor<?x10x16xf32>, tensor<?x10x16xf32>)
  %init = tensor.empty(%rows) : tensor<?x10x32xf32>
  %low = tensor.insert_slice %rotated#0 into %init[0, 0, 0] [%rows, 10, 16] [1, 1, 1]
      : tensor<?x10x16xf32> into tensor<?x10x32xf32>
  %both = tensor.insert_slice %rotated#1 into %low[0, 0, 16] [%rows, 10, 16] [1, 1, 1]
      : tensor<?x10x16xf32> into tensor<?x10x32xf32>
  return %both : tensor<?x10x32xf32>
}

// x + (rms_norm(x) -> q, k, v -> rotary -> append -> paged attention -> output projection)
func.func private @attention_block(%x: tensor<?x256xf32>, %gamma: tensor<256xf32>, %wqkv: tensor<256x384xf32>,
    %wo: tensor<256x256xf32>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>, %tables: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %ids: tensor<?xi32>, %positions: tensor<?xi32>, %k_cache: tensor<?x16x2x32xf32>,
    %v_cache: tensor<?x16x2x32xf32>) -> (tensor<?x256xf32>, tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x256xf32>
  %hidden = tensor.empty(%rows) : tensor<?x256xf32>
  %normed = rudnn.rms_norm ins(%x, %gamma : tensor<?x256xf32>, tensor<256xf32>)
      outs(%hidden : tensor<?x256xf32>) {eps = 1.0e-6 : f64} -> tensor<?x256xf32>
  %qkv_init = tensor.empty(%rows) : tensor<?x384xf32>
  %qkv_zero = linalg.fill ins(%zero : f32) outs(%qkv_init : tensor<?x384xf32>) -> tensor<?x384xf32>
  %qkv = linalg.matmul ins(%normed, %wqkv : tensor<?x256xf32>, tensor<256x384xf32>)
      outs(%qkv_zero : tensor<?x384xf32>) -> tensor<?x384xf32>

  // 8 query heads, 2 key heads (both rotated), 2 value heads.
  %heads = tensor.expand_shape %qkv [[0], [1, 2]] output_shape [%rows, 12, 32] : tensor<?x384xf32> into tensor<?x12x32xf32>
  %qk = tensor.extract_slice %heads[0, 0, 0] [%rows, 10, 32] [1, 1, 1] : tensor<?x12x32xf32> to tensor<?x10x32xf32>
  %qk_rotated = func.call @rotary(%qk, %cos, %sin)
      : (tensor<?x10x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x10x32xf32>
  %q = tensor.extract_slice %qk_rotated[0, 0, 0] [%rows, 8, 32] [1, 1, 1] : tensor<?x10x32xf32> to tensor<?x8x32xf32>
  %k = tensor.extract_slice %qk_rotated[0, 8, 0] [%rows, 2, 32] [1, 1, 1] : tensor<?x10x32xf32> to tensor<?x2x32xf32>
  %v = tensor.extract_slice %heads[0, 10, 0] [%rows, 2, 32] [1, 1, 1] : tensor<?x12x32xf32> to tensor<?x2x32xf32>

  %new_k, %new_v = rudnn.paged.append ins(%k, %v : tensor<?x2x32xf32>, tensor<?x2x32xf32>)
      pages(%tables, %lengths, %ids, %positions : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%k_cache, %v_cache : tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>)
      -> tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>
  %attended_init = tensor.empty(%rows) : tensor<?x8x32xf32>
  %attended = rudnn.paged.attention ins(%q, %new_k, %new_v : tensor<?x8x32xf32>, tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>)
      pages(%tables, %lengths, %ids, %positions : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%attended_init : tensor<?x8x32xf32>) {causal} -> tensor<?x8x32xf32>
  %flat = tensor.collapse_shape %attended [[0], [1, 2]] : tensor<?x8x32xf32> into tensor<?x256xf32>
  // The residual is what the projection adds to.
  %y = linalg.matmul ins(%flat, %wo : tensor<?x256xf32>, tensor<256x256xf32>)
      outs(%x : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y, %new_k, %new_v : tensor<?x256xf32>, tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>
}

// h + (rms_norm(h) -> route to 2 of 8 experts -> SwiGLU -> weighted sum)
func.func private @experts_block(%h: tensor<?x256xf32>, %gamma: tensor<256xf32>, %router: tensor<256x8xf32>,
    %gate: tensor<8x512x256xf32>, %up: tensor<8x512x256xf32>, %down: tensor<8x256x512xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %h, %c0 : tensor<?x256xf32>
  %slots = arith.muli %rows, %c2 : index
  %hidden = tensor.empty(%rows) : tensor<?x256xf32>
  %normed = rudnn.rms_norm ins(%h, %gamma : tensor<?x256xf32>, tensor<256xf32>)
      outs(%hidden : tensor<?x256xf32>) {eps = 1.0e-6 : f64} -> tensor<?x256xf32>
  %logits_init = tensor.empty(%rows) : tensor<?x8xf32>
  %logits_zero = linalg.fill ins(%zero : f32) outs(%logits_init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %logits = linalg.matmul ins(%normed, %router : tensor<?x256xf32>, tensor<256x8xf32>)
      outs(%logits_zero : tensor<?x8xf32>) -> tensor<?x8xf32>
  %chosen_init = tensor.empty(%rows) : tensor<?x2xi32>
  %weights_init = tensor.empty(%rows) : tensor<?x2xf32>
  %chosen, %weights = rudnn.moe.route ins(%logits : tensor<?x8xf32>)
      outs(%chosen_init, %weights_init : tensor<?x2xi32>, tensor<?x2xf32>) {renormalize}
      -> tensor<?x2xi32>, tensor<?x2xf32>
  %values_init = tensor.empty(%slots) : tensor<?x256xf32>
  %offsets_init = tensor.empty() : tensor<9xi32>
  %row_slots_init = tensor.empty(%slots) : tensor<?xi32>
  %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch
      ins(%normed, %chosen : tensor<?x256xf32>, tensor<?x2xi32>)
      outs(%values_init, %offsets_init, %chosen_init, %row_slots_init
          : tensor<?x256xf32>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>)
      -> tensor<?x256xf32>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>
  %outputs = rudnn.moe.experts ins(%values, %offsets : tensor<?x256xf32>, tensor<9xi32>)
      weights(%gate, %up, %down : tensor<8x512x256xf32>, tensor<8x512x256xf32>, tensor<8x256x512xf32>)
      outs(%values_init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %mixed = rudnn.moe.combine ins(%outputs, %slot_rows, %weights : tensor<?x256xf32>, tensor<?x2xi32>, tensor<?x2xf32>)
      outs(%hidden : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.add ins(%h, %mixed : tensor<?x256xf32>, tensor<?x256xf32>)
      outs(%hidden : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

func.func @decode_step(%x: tensor<?x256xf32>, %gamma1: tensor<256xf32>, %wqkv: tensor<256x384xf32>,
    %wo: tensor<256x256xf32>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>, %tables: tensor<?x?xi32>,
    %lengths: tensor<?xi32>, %ids: tensor<?xi32>, %positions: tensor<?xi32>, %k_cache: tensor<?x16x2x32xf32>,
    %v_cache: tensor<?x16x2x32xf32>, %gamma2: tensor<256xf32>, %router: tensor<256x8xf32>,
    %gate: tensor<8x512x256xf32>, %up: tensor<8x512x256xf32>, %down: tensor<8x256x512xf32>)
    -> (tensor<?x256xf32>, tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>) {
  %h, %new_k, %new_v = func.call @attention_block(%x, %gamma1, %wqkv, %wo, %cos, %sin, %tables, %lengths, %ids,
      %positions, %k_cache, %v_cache)
      : (tensor<?x256xf32>, tensor<256xf32>, tensor<256x384xf32>, tensor<256x256xf32>, tensor<?x16xf32>,
         tensor<?x16xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x16x2x32xf32>,
         tensor<?x16x2x32xf32>) -> (tensor<?x256xf32>, tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>)
  %y = func.call @experts_block(%h, %gamma2, %router, %gate, %up, %down)
      : (tensor<?x256xf32>, tensor<256xf32>, tensor<256x8xf32>, tensor<8x512x256xf32>, tensor<8x512x256xf32>,
         tensor<8x256x512xf32>) -> tensor<?x256xf32>
  return %y, %new_k, %new_v : tensor<?x256xf32>, tensor<?x16x2x32xf32>, tensor<?x16x2x32xf32>
}
