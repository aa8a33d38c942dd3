// The layer of decoder_layer.mlir in bf16, as it runs on a GPU: products, attention and norms sum in f32
// and round once; rotation, router and routing weights are f32.
//
//   h = x + attention(rms_norm(x)),   y = h + experts(rms_norm(h))
//
// Hidden size 256, 8 query heads and 2 key/value heads of 32, rotary position embedding, 8 SwiGLU
// experts of width 512, 2 of them per token. `@decoder_layer_bf16` takes any number of tokens,
// `@decoder_layer_bf16_64` is the same compiled for 64.

// Rotates the pairs (x[i], x[i + 16]) of every head by the angle of the token's position.
// cos, sin: [T, 16]. (Su et al., 2021, "RoFormer"; halves as in Llama.)
func.func private @rotary(%x: tensor<?x?x32xbf16>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>)
    -> tensor<?x?x32xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x?x32xbf16>
  %heads = tensor.dim %x, %c1 : tensor<?x?x32xbf16>
  %first = tensor.extract_slice %x[0, 0, 0] [%tokens, %heads, 16] [1, 1, 1]
      : tensor<?x?x32xbf16> to tensor<?x?x16xbf16>
  %second = tensor.extract_slice %x[0, 0, 16] [%tokens, %heads, 16] [1, 1, 1]
      : tensor<?x?x32xbf16> to tensor<?x?x16xbf16>
  %half = tensor.empty(%tokens, %heads) : tensor<?x?x16xbf16>
  %rotated:2 = linalg.generic {
      indexing_maps = [affine_map<(t, h, i) -> (t, h, i)>, affine_map<(t, h, i) -> (t, h, i)>,
                       affine_map<(t, h, i) -> (t, i)>, affine_map<(t, h, i) -> (t, i)>,
                       affine_map<(t, h, i) -> (t, h, i)>, affine_map<(t, h, i) -> (t, h, i)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%first, %second, %cos, %sin : tensor<?x?x16xbf16>, tensor<?x?x16xbf16>, tensor<?x16xf32>, tensor<?x16xf32>)
      outs(%half, %half : tensor<?x?x16xbf16>, tensor<?x?x16xbf16>) {
  ^bb0(%x0: bf16, %x1: bf16, %c: f32, %s: f32, %o0: bf16, %o1: bf16):
    %a = arith.extf %x0 : bf16 to f32
    %b = arith.extf %x1 : bf16 to f32
    %ac = arith.mulf %a, %c : f32
    %bs = arith.mulf %b, %s : f32
    %bc = arith.mulf %b, %c : f32
    %as = arith.mulf %a, %s : f32
    %lo = arith.subf %ac, %bs : f32
    %hi = arith.addf %bc, %as : f32
    %y0 = arith.truncf %lo : f32 to bf16
    %y1 = arith.truncf %hi : f32 to bf16
    linalg.yield %y0, %y1 : bf16, bf16
  } -> (tensor<?x?x16xbf16>, tensor<?x?x16xbf16>)
  %init = tensor.empty(%tokens, %heads) : tensor<?x?x32xbf16>
  %low = tensor.insert_slice %rotated#0 into %init[0, 0, 0] [%tokens, %heads, 16] [1, 1, 1]
      : tensor<?x?x16xbf16> into tensor<?x?x32xbf16>
  %both = tensor.insert_slice %rotated#1 into %low[0, 0, 16] [%tokens, %heads, 16] [1, 1, 1]
      : tensor<?x?x16xbf16> into tensor<?x?x32xbf16>
  return %both : tensor<?x?x32xbf16>
}

// x + (rms_norm(x) -> q, k, v -> rotary -> causal attention -> output projection)
func.func private @attention_block(%x: tensor<?x256xbf16>, %gamma: tensor<256xbf16>, %wqkv: tensor<256x384xbf16>,
    %wo: tensor<256x256xbf16>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %tokens = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %hidden = tensor.empty(%tokens) : tensor<?x256xbf16>
  %normed = rudnn.rms_norm ins(%x, %gamma : tensor<?x256xbf16>, tensor<256xbf16>)
      outs(%hidden : tensor<?x256xbf16>) {eps = 1.0e-6 : f64} -> tensor<?x256xbf16>

  %qkv_init = tensor.empty(%tokens) : tensor<?x384xbf16>
  %qkv_zero = linalg.fill ins(%zero : bf16) outs(%qkv_init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %qkv = linalg.matmul ins(%normed, %wqkv : tensor<?x256xbf16>, tensor<256x384xbf16>)
      outs(%qkv_zero : tensor<?x384xbf16>) -> tensor<?x384xbf16>

  // 8 query heads, 2 key heads (both rotated), 2 value heads.
  %heads = tensor.expand_shape %qkv [[0], [1, 2]] output_shape [%tokens, 12, 32]
      : tensor<?x384xbf16> into tensor<?x12x32xbf16>
  %qk = tensor.extract_slice %heads[0, 0, 0] [%tokens, 10, 32] [1, 1, 1]
      : tensor<?x12x32xbf16> to tensor<?x10x32xbf16>
  %qk_any = tensor.cast %qk : tensor<?x10x32xbf16> to tensor<?x?x32xbf16>
  %qk_rotated = func.call @rotary(%qk_any, %cos, %sin)
      : (tensor<?x?x32xbf16>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x?x32xbf16>
  %q_rows = tensor.extract_slice %qk_rotated[0, 0, 0] [%tokens, 8, 32] [1, 1, 1]
      : tensor<?x?x32xbf16> to tensor<?x8x32xbf16>
  %k_rows = tensor.extract_slice %qk_rotated[0, 8, 0] [%tokens, 2, 32] [1, 1, 1]
      : tensor<?x?x32xbf16> to tensor<?x2x32xbf16>
  %v_rows = tensor.extract_slice %heads[0, 10, 0] [%tokens, 2, 32] [1, 1, 1]
      : tensor<?x12x32xbf16> to tensor<?x2x32xbf16>

  // [T, heads, 32] -> [1, heads, T, 32]
  %q_init = tensor.empty(%tokens) : tensor<8x?x32xbf16>
  %kv_init = tensor.empty(%tokens) : tensor<2x?x32xbf16>
  %q_heads = linalg.transpose ins(%q_rows : tensor<?x8x32xbf16>) outs(%q_init : tensor<8x?x32xbf16>) permutation = [1, 0, 2]
  %k_heads = linalg.transpose ins(%k_rows : tensor<?x2x32xbf16>) outs(%kv_init : tensor<2x?x32xbf16>) permutation = [1, 0, 2]
  %v_heads = linalg.transpose ins(%v_rows : tensor<?x2x32xbf16>) outs(%kv_init : tensor<2x?x32xbf16>) permutation = [1, 0, 2]
  %q = tensor.expand_shape %q_heads [[0, 1], [2], [3]] output_shape [1, 8, %tokens, 32]
      : tensor<8x?x32xbf16> into tensor<1x8x?x32xbf16>
  %k = tensor.expand_shape %k_heads [[0, 1], [2], [3]] output_shape [1, 2, %tokens, 32]
      : tensor<2x?x32xbf16> into tensor<1x2x?x32xbf16>
  %v = tensor.expand_shape %v_heads [[0, 1], [2], [3]] output_shape [1, 2, %tokens, 32]
      : tensor<2x?x32xbf16> into tensor<1x2x?x32xbf16>

  %attended_init = tensor.empty(%tokens) : tensor<1x8x?x32xbf16>
  %attended = rudnn.attention ins(%q, %k, %v : tensor<1x8x?x32xbf16>, tensor<1x2x?x32xbf16>, tensor<1x2x?x32xbf16>)
      outs(%attended_init : tensor<1x8x?x32xbf16>) {causal = #rudnn.causal<bottom_right>} -> tensor<1x8x?x32xbf16>

  %by_head = tensor.collapse_shape %attended [[0, 1], [2], [3]] : tensor<1x8x?x32xbf16> into tensor<8x?x32xbf16>
  %by_token_init = tensor.empty(%tokens) : tensor<?x8x32xbf16>
  %by_token = linalg.transpose ins(%by_head : tensor<8x?x32xbf16>) outs(%by_token_init : tensor<?x8x32xbf16>) permutation = [1, 0, 2]
  %rows = tensor.collapse_shape %by_token [[0], [1, 2]] : tensor<?x8x32xbf16> into tensor<?x256xbf16>
  // The residual is what the projection adds to.
  %y = linalg.matmul ins(%rows, %wo : tensor<?x256xbf16>, tensor<256x256xbf16>)
      outs(%x : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

// h + (rms_norm(h) -> route to 2 of 8 experts -> SwiGLU -> weighted sum)
func.func private @experts_block(%h: tensor<?x256xbf16>, %gamma: tensor<256xbf16>, %router: tensor<256x8xbf16>,
    %gate: tensor<8x512x256xbf16>, %up: tensor<8x512x256xbf16>, %down: tensor<8x256x512xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %tokens = tensor.dim %h, %c0 : tensor<?x256xbf16>
  %slots = arith.muli %tokens, %c2 : index
  %hidden = tensor.empty(%tokens) : tensor<?x256xbf16>
  %normed = rudnn.rms_norm ins(%h, %gamma : tensor<?x256xbf16>, tensor<256xbf16>)
      outs(%hidden : tensor<?x256xbf16>) {eps = 1.0e-6 : f64} -> tensor<?x256xbf16>

  %logits_init = tensor.empty(%tokens) : tensor<?x8xf32>
  %logits_zero = linalg.fill ins(%zero : f32) outs(%logits_init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %logits = linalg.matmul ins(%normed, %router : tensor<?x256xbf16>, tensor<256x8xbf16>)
      outs(%logits_zero : tensor<?x8xf32>) -> tensor<?x8xf32>
  %ids_init = tensor.empty(%tokens) : tensor<?x2xi32>
  %weights_init = tensor.empty(%tokens) : tensor<?x2xf32>
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<?x8xf32>)
      outs(%ids_init, %weights_init : tensor<?x2xi32>, tensor<?x2xf32>) {renormalize}
      -> tensor<?x2xi32>, tensor<?x2xf32>

  %values_init = tensor.empty(%slots) : tensor<?x256xbf16>
  %offsets_init = tensor.empty() : tensor<9xi32>
  %row_slots_init = tensor.empty(%slots) : tensor<?xi32>
  %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch
      ins(%normed, %ids : tensor<?x256xbf16>, tensor<?x2xi32>)
      outs(%values_init, %offsets_init, %ids_init, %row_slots_init
          : tensor<?x256xbf16>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>)
      -> tensor<?x256xbf16>, tensor<9xi32>, tensor<?x2xi32>, tensor<?xi32>
  %outputs = rudnn.moe.experts ins(%values, %offsets : tensor<?x256xbf16>, tensor<9xi32>)
      weights(%gate, %up, %down : tensor<8x512x256xbf16>, tensor<8x512x256xbf16>, tensor<8x256x512xbf16>)
      outs(%values_init : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %mixed = rudnn.moe.combine ins(%outputs, %slot_rows, %weights : tensor<?x256xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      outs(%hidden : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = linalg.add ins(%h, %mixed : tensor<?x256xbf16>, tensor<?x256xbf16>)
      outs(%hidden : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

func.func @decoder_layer_bf16(%x: tensor<?x256xbf16>, %gamma1: tensor<256xbf16>, %wqkv: tensor<256x384xbf16>,
    %wo: tensor<256x256xbf16>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>, %gamma2: tensor<256xbf16>,
    %router: tensor<256x8xbf16>, %gate: tensor<8x512x256xbf16>, %up: tensor<8x512x256xbf16>,
    %down: tensor<8x256x512xbf16>) -> tensor<?x256xbf16> {
  %h = func.call @attention_block(%x, %gamma1, %wqkv, %wo, %cos, %sin)
      : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256x384xbf16>, tensor<256x256xbf16>,
         tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x256xbf16>
  %y = func.call @experts_block(%h, %gamma2, %router, %gate, %up, %down)
      : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256x8xbf16>, tensor<8x512x256xbf16>,
         tensor<8x512x256xbf16>, tensor<8x256x512xbf16>) -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

func.func @decoder_layer_bf16_64(%x: tensor<64x256xbf16>, %gamma1: tensor<256xbf16>, %wqkv: tensor<256x384xbf16>,
    %wo: tensor<256x256xbf16>, %cos: tensor<64x16xf32>, %sin: tensor<64x16xf32>, %gamma2: tensor<256xbf16>,
    %router: tensor<256x8xbf16>, %gate: tensor<8x512x256xbf16>, %up: tensor<8x512x256xbf16>,
    %down: tensor<8x256x512xbf16>) -> tensor<64x256xbf16> {
  %any_x = tensor.cast %x : tensor<64x256xbf16> to tensor<?x256xbf16>
  %any_cos = tensor.cast %cos : tensor<64x16xf32> to tensor<?x16xf32>
  %any_sin = tensor.cast %sin : tensor<64x16xf32> to tensor<?x16xf32>
  %y = func.call @decoder_layer_bf16(%any_x, %gamma1, %wqkv, %wo, %any_cos, %any_sin, %gamma2, %router, %gate, %up, %down)
      : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256x384xbf16>, tensor<256x256xbf16>, tensor<?x16xf32>,
         tensor<?x16xf32>, tensor<256xbf16>, tensor<256x8xbf16>, tensor<8x512x256xbf16>, tensor<8x512x256xbf16>,
         tensor<8x256x512xbf16>) -> tensor<?x256xbf16>
  %fixed = tensor.cast %y : tensor<?x256xbf16> to tensor<64x256xbf16>
  return %fixed : tensor<64x256xbf16>
}
