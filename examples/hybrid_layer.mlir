// One layer of a hybrid language model, for T tokens of one sequence:
//
//   h = x + gated_delta(rms_norm(x)),   y = h + experts(n) + shared_expert(n),  n = rms_norm(h)
//
// Hidden size 256; a gated delta rule with 4 key heads and 8 value heads of 32, run in chunks of 64
// tokens from a given state; 16 SwiGLU experts of width 128 in 4 groups, chosen by sigmoid scores
// with a correction bias (2 groups, 4 experts), and one shared expert of width 256 that sees every
// token. `@hybrid_layer` returns the layer's output and the state after the last token.

// out[t, n] = sum_k x[t, k] w[k, n]
func.func private @project(%x: tensor<?x256xf32>, %w: tensor<256x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %tokens = tensor.dim %x, %c0 : tensor<?x256xf32>
  %width = tensor.dim %w, %c1 : tensor<256x?xf32>
  %init = tensor.empty(%tokens, %width) : tensor<?x?xf32>
  %cleared = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x256xf32>, tensor<256x?xf32>)
      outs(%cleared : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Every head's row divided by its length: x / sqrt(sum(x^2) + 1e-6).
func.func private @normalize_heads(%x: tensor<?x4x32xf32>) -> tensor<?x4x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %tokens = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %sums_init = tensor.empty(%tokens) : tensor<?x4xf32>
  %sums_zero = linalg.fill ins(%zero : f32) outs(%sums_init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(t, h, i) -> (t, h, i)>, affine_map<(t, h, i) -> (t, h)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x4x32xf32>) outs(%sums_zero : tensor<?x4xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %square = arith.mulf %v, %v : f32
    %next = arith.addf %sum, %square : f32
    linalg.yield %next : f32
  } -> tensor<?x4xf32>
  %init = tensor.empty(%tokens) : tensor<?x4x32xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, h, i) -> (t, h, i)>, affine_map<(t, h, i) -> (t, h)>,
                       affine_map<(t, h, i) -> (t, h, i)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sums : tensor<?x4x32xf32>, tensor<?x4xf32>) outs(%init : tensor<?x4x32xf32>) {
  ^bb0(%v: f32, %sum: f32, %out: f32):
    %eps = arith.constant 1.0e-6 : f32
    %shifted = arith.addf %sum, %eps : f32
    %length = math.sqrt %shifted : f32
    %quotient = arith.divf %v, %length : f32
    linalg.yield %quotient : f32
  } -> tensor<?x4x32xf32>
  return %y : tensor<?x4x32xf32>
}

// The gates of every value head, [T, 8] to [1, 8, T]:
//   beta = sigmoid(b),   log_decay = -exp(a_log) * softplus(a + dt_bias)
func.func private @gates(%b: tensor<?x8xf32>, %a: tensor<?x8xf32>, %a_log: tensor<8xf32>, %dt_bias: tensor<8xf32>)
    -> (tensor<1x8x?xf32>, tensor<1x8x?xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %b, %c0 : tensor<?x8xf32>
  %init = tensor.empty(%tokens) : tensor<8x?xf32>
  %gates:2 = linalg.generic {
      indexing_maps = [affine_map<(h, t) -> (t, h)>, affine_map<(h, t) -> (t, h)>, affine_map<(h, t) -> (h)>,
                       affine_map<(h, t) -> (h)>, affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h, t)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%b, %a, %a_log, %dt_bias : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
      outs(%init, %init : tensor<8x?xf32>, tensor<8x?xf32>) {
  ^bb0(%bv: f32, %av: f32, %log: f32, %bias: f32, %o0: f32, %o1: f32):
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %minus_b = arith.negf %bv : f32
    %e = math.exp %minus_b : f32
    %denominator = arith.addf %one, %e : f32
    %beta = arith.divf %one, %denominator : f32
    // softplus(z) = max(z, 0) + log1p(exp(-|z|))
    %z = arith.addf %av, %bias : f32
    %positive = arith.maximumf %z, %zero : f32
    %magnitude = math.absf %z : f32
    %minus = arith.negf %magnitude : f32
    %ez = math.exp %minus : f32
    %log1p = math.log1p %ez : f32
    %softplus = arith.addf %positive, %log1p : f32
    %rate = math.exp %log : f32
    %product = arith.mulf %rate, %softplus : f32
    %log_decay = arith.negf %product : f32
    linalg.yield %beta, %log_decay : f32, f32
  } -> (tensor<8x?xf32>, tensor<8x?xf32>)
  %beta = tensor.expand_shape %gates#0 [[0, 1], [2]] output_shape [1, 8, %tokens] : tensor<8x?xf32> into tensor<1x8x?xf32>
  %decay = tensor.expand_shape %gates#1 [[0, 1], [2]] output_shape [1, 8, %tokens] : tensor<8x?xf32> into tensor<1x8x?xf32>
  return %beta, %decay : tensor<1x8x?xf32>, tensor<1x8x?xf32>
}

// rms_norm of every head of o, times silu(z).
func.func private @gated_norm(%o: tensor<?x8x32xf32>, %z: tensor<?x8x32xf32>, %gamma: tensor<32xf32>)
    -> tensor<?x8x32xf32> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %o, %c0 : tensor<?x8x32xf32>
  %init = tensor.empty(%tokens) : tensor<?x8x32xf32>
  %normed = rudnn.rms_norm ins(%o, %gamma : tensor<?x8x32xf32>, tensor<32xf32>)
      outs(%init : tensor<?x8x32xf32>) {eps = 1.0e-6 : f64} -> tensor<?x8x32xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, h, i) -> (t, h, i)>, affine_map<(t, h, i) -> (t, h, i)>,
                       affine_map<(t, h, i) -> (t, h, i)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%normed, %z : tensor<?x8x32xf32>, tensor<?x8x32xf32>) outs(%init : tensor<?x8x32xf32>) {
  ^bb0(%n: f32, %zv: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %zv : f32
    %e = math.exp %minus : f32
    %denominator = arith.addf %one, %e : f32
    %silu = arith.divf %zv, %denominator : f32
    %product = arith.mulf %n, %silu : f32
    linalg.yield %product : f32
  } -> tensor<?x8x32xf32>
  return %y : tensor<?x8x32xf32>
}

// x + (rms_norm(x) -> q, k, v, gates -> gated delta rule -> gated norm -> output projection)
// wqkv: 4 query and 4 key heads, 8 value heads. wgates: 8 columns for beta, 8 for the decay.
func.func private @delta_block(%x: tensor<?x256xf32>, %gamma: tensor<256xf32>, %wqkv: tensor<256x512xf32>,
    %wgates: tensor<256x16xf32>, %a_log: tensor<8xf32>, %dt_bias: tensor<8xf32>, %wz: tensor<256x256xf32>,
    %gamma_o: tensor<32xf32>, %wo: tensor<256x256xf32>, %state: tensor<1x8x32x32xf32>)
    -> (tensor<?x256xf32>, tensor<1x8x32x32xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x256xf32>
  %hidden = tensor.empty(%tokens) : tensor<?x256xf32>
  %normed = rudnn.rms_norm ins(%x, %gamma : tensor<?x256xf32>, tensor<256xf32>)
      outs(%hidden : tensor<?x256xf32>) {eps = 1.0e-6 : f64} -> tensor<?x256xf32>

  %wqkv_any = tensor.cast %wqkv : tensor<256x512xf32> to tensor<256x?xf32>
  %qkv_any = func.call @project(%normed, %wqkv_any) : (tensor<?x256xf32>, tensor<256x?xf32>) -> tensor<?x?xf32>
  %qkv = tensor.cast %qkv_any : tensor<?x?xf32> to tensor<?x512xf32>
  %heads = tensor.expand_shape %qkv [[0], [1, 2]] output_shape [%tokens, 16, 32]
      : tensor<?x512xf32> into tensor<?x16x32xf32>
  %q_rows = tensor.extract_slice %heads[0, 0, 0] [%tokens, 4, 32] [1, 1, 1] : tensor<?x16x32xf32> to tensor<?x4x32xf32>
  %k_rows = tensor.extract_slice %heads[0, 4, 0] [%tokens, 4, 32] [1, 1, 1] : tensor<?x16x32xf32> to tensor<?x4x32xf32>
  %v_rows = tensor.extract_slice %heads[0, 8, 0] [%tokens, 8, 32] [1, 1, 1] : tensor<?x16x32xf32> to tensor<?x8x32xf32>
  %q_unit = func.call @normalize_heads(%q_rows) : (tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %k_unit = func.call @normalize_heads(%k_rows) : (tensor<?x4x32xf32>) -> tensor<?x4x32xf32>

  %wgates_any = tensor.cast %wgates : tensor<256x16xf32> to tensor<256x?xf32>
  %gates_any = func.call @project(%normed, %wgates_any) : (tensor<?x256xf32>, tensor<256x?xf32>) -> tensor<?x?xf32>
  %b = tensor.extract_slice %gates_any[0, 0] [%tokens, 8] [1, 1] : tensor<?x?xf32> to tensor<?x8xf32>
  %a = tensor.extract_slice %gates_any[0, 8] [%tokens, 8] [1, 1] : tensor<?x?xf32> to tensor<?x8xf32>
  %beta, %log_decay = func.call @gates(%b, %a, %a_log, %dt_bias)
      : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<1x8x?xf32>, tensor<1x8x?xf32>)

  // [T, heads, 32] -> [1, heads, T, 32]
  %k_init = tensor.empty(%tokens) : tensor<4x?x32xf32>
  %v_init = tensor.empty(%tokens) : tensor<8x?x32xf32>
  %q_heads = linalg.transpose ins(%q_unit : tensor<?x4x32xf32>) outs(%k_init : tensor<4x?x32xf32>) permutation = [1, 0, 2]
  %k_heads = linalg.transpose ins(%k_unit : tensor<?x4x32xf32>) outs(%k_init : tensor<4x?x32xf32>) permutation = [1, 0, 2]
  %v_heads = linalg.transpose ins(%v_rows : tensor<?x8x32xf32>) outs(%v_init : tensor<8x?x32xf32>) permutation = [1, 0, 2]
  %q = tensor.expand_shape %q_heads [[0, 1], [2], [3]] output_shape [1, 4, %tokens, 32]
      : tensor<4x?x32xf32> into tensor<1x4x?x32xf32>
  %k = tensor.expand_shape %k_heads [[0, 1], [2], [3]] output_shape [1, 4, %tokens, 32]
      : tensor<4x?x32xf32> into tensor<1x4x?x32xf32>
  %v = tensor.expand_shape %v_heads [[0, 1], [2], [3]] output_shape [1, 8, %tokens, 32]
      : tensor<8x?x32xf32> into tensor<1x8x?x32xf32>
  %o_init = tensor.empty(%tokens) : tensor<1x8x?x32xf32>
  %state_init = tensor.empty() : tensor<1x8x32x32xf32>
  %o, %new_state = rudnn.chunk_gated_delta_rule
      ins(%q, %k, %v, %beta, %log_decay, %state : tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32>, tensor<1x8x?x32xf32>,
          tensor<1x8x?xf32>, tensor<1x8x?xf32>, tensor<1x8x32x32xf32>)
      outs(%o_init, %state_init : tensor<1x8x?x32xf32>, tensor<1x8x32x32xf32>) {chunk_size = 64 : i64}
      -> tensor<1x8x?x32xf32>, tensor<1x8x32x32xf32>

  %by_head = tensor.collapse_shape %o [[0, 1], [2], [3]] : tensor<1x8x?x32xf32> into tensor<8x?x32xf32>
  %by_token_init = tensor.empty(%tokens) : tensor<?x8x32xf32>
  %by_token = linalg.transpose ins(%by_head : tensor<8x?x32xf32>) outs(%by_token_init : tensor<?x8x32xf32>) permutation = [1, 0, 2]
  %wz_any = tensor.cast %wz : tensor<256x256xf32> to tensor<256x?xf32>
  %z_any = func.call @project(%normed, %wz_any) : (tensor<?x256xf32>, tensor<256x?xf32>) -> tensor<?x?xf32>
  %z_rows = tensor.cast %z_any : tensor<?x?xf32> to tensor<?x256xf32>
  %z = tensor.expand_shape %z_rows [[0], [1, 2]] output_shape [%tokens, 8, 32] : tensor<?x256xf32> into tensor<?x8x32xf32>
  %gated = func.call @gated_norm(%by_token, %z, %gamma_o)
      : (tensor<?x8x32xf32>, tensor<?x8x32xf32>, tensor<32xf32>) -> tensor<?x8x32xf32>
  %rows = tensor.collapse_shape %gated [[0], [1, 2]] : tensor<?x8x32xf32> into tensor<?x256xf32>
  // The residual is what the projection adds to.
  %y = linalg.matmul ins(%rows, %wo : tensor<?x256xf32>, tensor<256x256xf32>)
      outs(%x : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y, %new_state : tensor<?x256xf32>, tensor<1x8x32x32xf32>
}

// 4 of 16 experts for every token.
func.func private @routed_experts(%n: tensor<?x256xf32>, %router: tensor<256x16xf32>, %bias: tensor<16xf32>,
    %gate: tensor<16x128x256xf32>, %up: tensor<16x128x256xf32>, %down: tensor<16x256x128xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %tokens = tensor.dim %n, %c0 : tensor<?x256xf32>
  %slots = arith.muli %tokens, %c4 : index
  %router_any = tensor.cast %router : tensor<256x16xf32> to tensor<256x?xf32>
  %logits_any = func.call @project(%n, %router_any) : (tensor<?x256xf32>, tensor<256x?xf32>) -> tensor<?x?xf32>
  %logits = tensor.cast %logits_any : tensor<?x?xf32> to tensor<?x16xf32>
  %ids_init = tensor.empty(%tokens) : tensor<?x4xi32>
  %weights_init = tensor.empty(%tokens) : tensor<?x4xf32>
  %ids, %weights = rudnn.moe.route_sigmoid_grouped ins(%logits : tensor<?x16xf32>) bias(%bias : tensor<16xf32>)
      outs(%ids_init, %weights_init : tensor<?x4xi32>, tensor<?x4xf32>)
      {groups = 4, selected_groups = 2, group_top_two, renormalize, scale = 2.5}
      -> tensor<?x4xi32>, tensor<?x4xf32>

  %values_init = tensor.empty(%slots) : tensor<?x256xf32>
  %offsets_init = tensor.empty() : tensor<17xi32>
  %row_slots_init = tensor.empty(%slots) : tensor<?xi32>
  %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch
      ins(%n, %ids : tensor<?x256xf32>, tensor<?x4xi32>)
      outs(%values_init, %offsets_init, %ids_init, %row_slots_init
          : tensor<?x256xf32>, tensor<17xi32>, tensor<?x4xi32>, tensor<?xi32>)
      -> tensor<?x256xf32>, tensor<17xi32>, tensor<?x4xi32>, tensor<?xi32>
  %outputs = rudnn.moe.experts ins(%values, %offsets : tensor<?x256xf32>, tensor<17xi32>)
      weights(%gate, %up, %down : tensor<16x128x256xf32>, tensor<16x128x256xf32>, tensor<16x256x128xf32>)
      outs(%values_init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %mixed_init = tensor.empty(%tokens) : tensor<?x256xf32>
  %mixed = rudnn.moe.combine ins(%outputs, %slot_rows, %weights : tensor<?x256xf32>, tensor<?x4xi32>, tensor<?x4xf32>)
      outs(%mixed_init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %mixed : tensor<?x256xf32>
}

// The expert that every token passes through: an expert whose rows are all tokens.
func.func private @shared_expert(%n: tensor<?x256xf32>, %gate: tensor<1x256x256xf32>, %up: tensor<1x256x256xf32>,
    %down: tensor<1x256x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %tokens = tensor.dim %n, %c0 : tensor<?x256xf32>
  %all = arith.index_cast %tokens : index to i32
  %offsets = tensor.from_elements %none, %all : tensor<2xi32>
  %init = tensor.empty(%tokens) : tensor<?x256xf32>
  %y = rudnn.moe.experts ins(%n, %offsets : tensor<?x256xf32>, tensor<2xi32>)
      weights(%gate, %up, %down : tensor<1x256x256xf32>, tensor<1x256x256xf32>, tensor<1x256x256xf32>)
      outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

func.func @hybrid_layer(%x: tensor<?x256xf32>, %gamma1: tensor<256xf32>, %wqkv: tensor<256x512xf32>,
    %wgates: tensor<256x16xf32>, %a_log: tensor<8xf32>, %dt_bias: tensor<8xf32>, %wz: tensor<256x256xf32>,
    %gamma_o: tensor<32xf32>, %wo: tensor<256x256xf32>, %state: tensor<1x8x32x32xf32>, %gamma2: tensor<256xf32>,
    %router: tensor<256x16xf32>, %bias: tensor<16xf32>, %gate: tensor<16x128x256xf32>, %up: tensor<16x128x256xf32>,
    %down: tensor<16x256x128xf32>, %shared_gate: tensor<1x256x256xf32>, %shared_up: tensor<1x256x256xf32>,
    %shared_down: tensor<1x256x256xf32>) -> (tensor<?x256xf32>, tensor<1x8x32x32xf32>) {
  %h, %new_state = func.call @delta_block(%x, %gamma1, %wqkv, %wgates, %a_log, %dt_bias, %wz, %gamma_o, %wo, %state)
      : (tensor<?x256xf32>, tensor<256xf32>, tensor<256x512xf32>, tensor<256x16xf32>, tensor<8xf32>, tensor<8xf32>,
         tensor<256x256xf32>, tensor<32xf32>, tensor<256x256xf32>, tensor<1x8x32x32xf32>)
      -> (tensor<?x256xf32>, tensor<1x8x32x32xf32>)
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x256xf32>
  %init = tensor.empty(%tokens) : tensor<?x256xf32>
  %n = rudnn.rms_norm ins(%h, %gamma2 : tensor<?x256xf32>, tensor<256xf32>)
      outs(%init : tensor<?x256xf32>) {eps = 1.0e-6 : f64} -> tensor<?x256xf32>
  %routed = func.call @routed_experts(%n, %router, %bias, %gate, %up, %down)
      : (tensor<?x256xf32>, tensor<256x16xf32>, tensor<16xf32>, tensor<16x128x256xf32>, tensor<16x128x256xf32>,
         tensor<16x256x128xf32>) -> tensor<?x256xf32>
  %shared = func.call @shared_expert(%n, %shared_gate, %shared_up, %shared_down)
      : (tensor<?x256xf32>, tensor<1x256x256xf32>, tensor<1x256x256xf32>, tensor<1x256x256xf32>) -> tensor<?x256xf32>
  %sum = linalg.add ins(%routed, %shared : tensor<?x256xf32>, tensor<?x256xf32>)
      outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.add ins(%h, %sum : tensor<?x256xf32>, tensor<?x256xf32>)
      outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y, %new_state : tensor<?x256xf32>, tensor<1x8x32x32xf32>
}
