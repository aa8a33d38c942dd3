// The encoder of all-MiniLM-L6-v2: token ids to sentence embeddings.
//
// BERT with 6 layers, 12 heads of 32, hidden size 384, then the mean over the tokens that are not
// padding, of length 1. Weights are arguments; those of the layers are stacked, and matrices stand
// as [in, out] (minilm.py writes them so). B sentences, padded to S tokens.

#tokens = affine_map<(b, s, h) -> (b, s, h)>
#token = affine_map<(b, s, h) -> (b, s)>
#column = affine_map<(b, s, h) -> (h)>
#sentence = affine_map<(b, s, h) -> (b, h)>
#row = affine_map<(n, h) -> (n, h)>
#left = affine_map<(b, s, n, k) -> (b, s, k)>
#right = affine_map<(b, s, n, k) -> (k, n)>
#product = affine_map<(b, s, n, k) -> (b, s, n)>
#heads = affine_map<(b, n, s, d) -> (b, n, s, d)>
#by_token = affine_map<(b, n, s, d) -> (b, s, n, d)>

// x w + bias
func.func private @dense(%x: tensor<?x?x384xf32>, %w: tensor<384x384xf32>, %bias: tensor<384xf32>) -> tensor<?x?x384xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x?x384xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x384xf32>
  %pe = tensor.empty(%batch, %length) : tensor<?x?x384xf32>
  %pz = linalg.fill ins(%zero : f32) outs(%pe : tensor<?x?x384xf32>) -> tensor<?x?x384xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x384xf32>, tensor<384x384xf32>) outs(%pz : tensor<?x?x384xf32>) {
  ^bb0(%a: f32, %c: f32, %acc: f32):
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?x384xf32>
  %y = linalg.generic {indexing_maps = [#tokens, #column, #tokens], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %bias : tensor<?x?x384xf32>, tensor<384xf32>) outs(%pe : tensor<?x?x384xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x?x384xf32>
  return %y : tensor<?x?x384xf32>
}

// [B, S, 384] to [B, 12, S, 32]
func.func private @to_heads(%x: tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x384xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x384xf32>
  %split = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%batch, %length, 12, 32]
      : tensor<?x?x384xf32> into tensor<?x?x12x32xf32>
  %e = tensor.empty(%batch, %length) : tensor<?x12x?x32xf32>
  %y = linalg.generic {indexing_maps = [#by_token, #heads], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split : tensor<?x?x12x32xf32>) outs(%e : tensor<?x12x?x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x12x?x32xf32>
  return %y : tensor<?x12x?x32xf32>
}

// [B, 12, S, 32] to [B, S, 384]
func.func private @from_heads(%x: tensor<?x12x?x32xf32>) -> tensor<?x?x384xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %x, %c0 : tensor<?x12x?x32xf32>
  %length = tensor.dim %x, %c2 : tensor<?x12x?x32xf32>
  %e = tensor.empty(%batch, %length) : tensor<?x?x12x32xf32>
  %y = linalg.generic {indexing_maps = [#heads, #by_token], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x12x?x32xf32>) outs(%e : tensor<?x?x12x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?x12x32xf32>
  %joined = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<?x?x12x32xf32> into tensor<?x?x384xf32>
  return %joined : tensor<?x?x384xf32>
}

// layer_norm(x + y)
func.func private @add_norm(%x: tensor<?x?x384xf32>, %y: tensor<?x?x384xf32>, %gamma: tensor<384xf32>, %beta: tensor<384xf32>)
    -> tensor<?x?x384xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x384xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x384xf32>
  %e = tensor.empty(%batch, %length) : tensor<?x?x384xf32>
  %sum = linalg.add ins(%x, %y : tensor<?x?x384xf32>, tensor<?x?x384xf32>) outs(%e : tensor<?x?x384xf32>) -> tensor<?x?x384xf32>
  %r = rudnn.layer_norm ins(%sum, %gamma : tensor<?x?x384xf32>, tensor<384xf32>) beta(%beta : tensor<384xf32>)
      outs(%e : tensor<?x?x384xf32>) {eps = 1.0e-12 : f64} -> tensor<?x?x384xf32>
  return %r : tensor<?x?x384xf32>
}

// gelu(x w1 + b1) w2 + b2, with the exact (erf) form of GELU
func.func private @feed_forward(%x: tensor<?x?x384xf32>, %w1: tensor<384x1536xf32>, %b1: tensor<1536xf32>,
    %w2: tensor<1536x384xf32>, %b2: tensor<384xf32>) -> tensor<?x?x384xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x?x384xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x384xf32>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678118654752 : f32
  %upe = tensor.empty(%batch, %length) : tensor<?x?x1536xf32>
  %upz = linalg.fill ins(%zero : f32) outs(%upe : tensor<?x?x1536xf32>) -> tensor<?x?x1536xf32>
  %up = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w1 : tensor<?x?x384xf32>, tensor<384x1536xf32>) outs(%upz : tensor<?x?x1536xf32>) {
  ^bb0(%a: f32, %c: f32, %acc: f32):
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?x1536xf32>
  %act = linalg.generic {indexing_maps = [#tokens, #column, #tokens], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%up, %b1 : tensor<?x?x1536xf32>, tensor<1536xf32>) outs(%upe : tensor<?x?x1536xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = arith.mulf %s, %root : f32
    %erf = math.erf %t : f32
    %u = arith.addf %erf, %one : f32
    %v = arith.mulf %s, %half : f32
    %g = arith.mulf %v, %u : f32
    linalg.yield %g : f32
  } -> tensor<?x?x1536xf32>
  %downe = tensor.empty(%batch, %length) : tensor<?x?x384xf32>
  %downz = linalg.fill ins(%zero : f32) outs(%downe : tensor<?x?x384xf32>) -> tensor<?x?x384xf32>
  %down = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%act, %w2 : tensor<?x?x1536xf32>, tensor<1536x384xf32>) outs(%downz : tensor<?x?x384xf32>) {
  ^bb0(%a: f32, %c: f32, %acc: f32):
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?x384xf32>
  %y = linalg.generic {indexing_maps = [#tokens, #column, #tokens], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%down, %b2 : tensor<?x?x384xf32>, tensor<384xf32>) outs(%downe : tensor<?x?x384xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x?x384xf32>
  return %y : tensor<?x?x384xf32>
}

// word + position + type embedding of every token, [B, S, 384]
func.func private @embed(%ids: tensor<?x?xi32>, %words: tensor<30522x384xf32>, %positions: tensor<512x384xf32>,
    %types: tensor<2x384xf32>) -> tensor<?x?x384xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %ids, %c0 : tensor<?x?xi32>
  %length = tensor.dim %ids, %c1 : tensor<?x?xi32>
  %e = tensor.empty(%batch, %length) : tensor<?x?x384xf32>
  %x = linalg.generic {indexing_maps = [#token, #tokens], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<?x?xi32>) outs(%e : tensor<?x?x384xf32>) {
  ^bb0(%id: i32, %o: f32):
    %s = linalg.index 1 : index
    %h = linalg.index 2 : index
    %i = arith.index_cast %id : i32 to index
    %word = tensor.extract %words[%i, %h] : tensor<30522x384xf32>
    %position = tensor.extract %positions[%s, %h] : tensor<512x384xf32>
    %type = tensor.extract %types[%c0, %h] : tensor<2x384xf32>
    %wp = arith.addf %word, %position : f32
    %sum = arith.addf %wp, %type : f32
    linalg.yield %sum : f32
  } -> tensor<?x?x384xf32>
  return %x : tensor<?x?x384xf32>
}

// The mean over the tokens that are not padding, divided by its length: [B, 384].
func.func private @pool(%x: tensor<?x?x384xf32>, %padding: tensor<?x?xi1>) -> tensor<?x384xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %tiny = arith.constant 1.0e-12 : f32
  %batch = tensor.dim %padding, %c0 : tensor<?x?xi1>
  %e = tensor.empty(%batch) : tensor<?x384xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x384xf32>) -> tensor<?x384xf32>
  // Divided by its length, the sum gives what the mean gives.
  %sum = linalg.generic {indexing_maps = [#token, #tokens, #sentence], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%padding, %x : tensor<?x?xi1>, tensor<?x?x384xf32>) outs(%z : tensor<?x384xf32>) {
  ^bb0(%skip: i1, %a: f32, %acc: f32):
    %v = arith.select %skip, %zero, %a : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x384xf32>
  %be = tensor.empty(%batch) : tensor<?xf32>
  %bz = linalg.fill ins(%zero : f32) outs(%be : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#row, affine_map<(n, h) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%sum : tensor<?x384xf32>) outs(%bz : tensor<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#row, affine_map<(n, h) -> (n)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %squares : tensor<?x384xf32>, tensor<?xf32>) outs(%e : tensor<?x384xf32>) {
  ^bb0(%a: f32, %q: f32, %o: f32):
    %root = math.sqrt %q : f32
    %norm = arith.maximumf %root, %tiny : f32
    %d = arith.divf %a, %norm : f32
    linalg.yield %d : f32
  } -> tensor<?x384xf32>
  return %y : tensor<?x384xf32>
}

// ids and padding (true where there is no token): [B, S]. The result is [B, 384].
func.func @encode(%ids: tensor<?x?xi32>, %padding: tensor<?x?xi1>,
    %words: tensor<30522x384xf32>, %positions: tensor<512x384xf32>, %types: tensor<2x384xf32>,
    %gamma: tensor<384xf32>, %beta: tensor<384xf32>,
    %wq: tensor<6x384x384xf32>, %bq: tensor<6x384xf32>, %wk: tensor<6x384x384xf32>, %bk: tensor<6x384xf32>,
    %wv: tensor<6x384x384xf32>, %bv: tensor<6x384xf32>, %wo: tensor<6x384x384xf32>, %bo: tensor<6x384xf32>,
    %gamma1: tensor<6x384xf32>, %beta1: tensor<6x384xf32>,
    %w1: tensor<6x384x1536xf32>, %b1: tensor<6x1536xf32>, %w2: tensor<6x1536x384xf32>, %b2: tensor<6x384xf32>,
    %gamma2: tensor<6x384xf32>, %beta2: tensor<6x384xf32>) -> tensor<?x384xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %batch = tensor.dim %ids, %c0 : tensor<?x?xi32>
  %length = tensor.dim %ids, %c1 : tensor<?x?xi32>
  // The padding excludes keys, for every head and query row alike.
  %mask = tensor.expand_shape %padding [[0, 1, 2], [3]] output_shape [%batch, 1, 1, %length]
      : tensor<?x?xi1> into tensor<?x1x1x?xi1>
  %embedded = call @embed(%ids, %words, %positions, %types)
      : (tensor<?x?xi32>, tensor<30522x384xf32>, tensor<512x384xf32>, tensor<2x384xf32>) -> tensor<?x?x384xf32>
  %xe = tensor.empty(%batch, %length) : tensor<?x?x384xf32>
  %first = rudnn.layer_norm ins(%embedded, %gamma : tensor<?x?x384xf32>, tensor<384xf32>) beta(%beta : tensor<384xf32>)
      outs(%xe : tensor<?x?x384xf32>) {eps = 1.0e-12 : f64} -> tensor<?x?x384xf32>

  %last = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %first) -> (tensor<?x?x384xf32>) {
    %wqi = tensor.extract_slice %wq[%i, 0, 0] [1, 384, 384] [1, 1, 1] : tensor<6x384x384xf32> to tensor<384x384xf32>
    %wki = tensor.extract_slice %wk[%i, 0, 0] [1, 384, 384] [1, 1, 1] : tensor<6x384x384xf32> to tensor<384x384xf32>
    %wvi = tensor.extract_slice %wv[%i, 0, 0] [1, 384, 384] [1, 1, 1] : tensor<6x384x384xf32> to tensor<384x384xf32>
    %woi = tensor.extract_slice %wo[%i, 0, 0] [1, 384, 384] [1, 1, 1] : tensor<6x384x384xf32> to tensor<384x384xf32>
    %w1i = tensor.extract_slice %w1[%i, 0, 0] [1, 384, 1536] [1, 1, 1] : tensor<6x384x1536xf32> to tensor<384x1536xf32>
    %w2i = tensor.extract_slice %w2[%i, 0, 0] [1, 1536, 384] [1, 1, 1] : tensor<6x1536x384xf32> to tensor<1536x384xf32>
    %bqi = tensor.extract_slice %bq[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %bki = tensor.extract_slice %bk[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %bvi = tensor.extract_slice %bv[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %boi = tensor.extract_slice %bo[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %b1i = tensor.extract_slice %b1[%i, 0] [1, 1536] [1, 1] : tensor<6x1536xf32> to tensor<1536xf32>
    %b2i = tensor.extract_slice %b2[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %g1i = tensor.extract_slice %gamma1[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %h1i = tensor.extract_slice %beta1[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %g2i = tensor.extract_slice %gamma2[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>
    %h2i = tensor.extract_slice %beta2[%i, 0] [1, 384] [1, 1] : tensor<6x384xf32> to tensor<384xf32>

    %q = func.call @dense(%x, %wqi, %bqi) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %k = func.call @dense(%x, %wki, %bki) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %v = func.call @dense(%x, %wvi, %bvi) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %qh = func.call @to_heads(%q) : (tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32>
    %kh = func.call @to_heads(%k) : (tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32>
    %vh = func.call @to_heads(%v) : (tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32>
    %ae = tensor.empty(%batch, %length) : tensor<?x12x?x32xf32>
    %a = rudnn.attention ins(%qh, %kh, %vh : tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>)
        mask(%mask : tensor<?x1x1x?xi1>) outs(%ae : tensor<?x12x?x32xf32>) -> tensor<?x12x?x32xf32>
    %af = func.call @from_heads(%a) : (tensor<?x12x?x32xf32>) -> tensor<?x?x384xf32>
    %o = func.call @dense(%af, %woi, %boi) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %x1 = func.call @add_norm(%x, %o, %g1i, %h1i) : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %f = func.call @feed_forward(%x1, %w1i, %b1i, %w2i, %b2i)
        : (tensor<?x?x384xf32>, tensor<384x1536xf32>, tensor<1536xf32>, tensor<1536x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %x2 = func.call @add_norm(%x1, %f, %g2i, %h2i) : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    scf.yield %x2 : tensor<?x?x384xf32>
  }
  %r = call @pool(%last, %padding) : (tensor<?x?x384xf32>, tensor<?x?xi1>) -> tensor<?x384xf32>
  return %r : tensor<?x384xf32>
}
