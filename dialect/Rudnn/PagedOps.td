//===- PagedOps.td - Paged attention ops -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_PAGED_OPS_TD
#define RUDNN_PAGED_OPS_TD

include "RudnnBase.td"

/// The page tables and the rows of a batch: operands of every op that touches a
/// paged cache. Written `pages(%tables, %lengths, %sequence_ids, %positions)`.
defvar Rudnn_PageArguments = (ins
    Rudnn_IndexShaped:$tables, Rudnn_IndexShaped:$lengths,
    Rudnn_IndexShaped:$sequence_ids, Rudnn_IndexShaped:$positions);

/// Which tokens a row sees and how a score is made.
defvar Rudnn_PagedScoreArguments = (ins
    UnitAttr:$causal, OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right);

/// Base of the family's tiled ops.
class Rudnn_PagedTiledOp<string mnemonic, list<Trait> traits = []>
    : Rudnn_TiledOp<mnemonic, traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let tileFunction = "::rudnn::tilePaged";
  code pagesFormat = [{
    `pages` `(` $tables `,` $lengths `,` $sequence_ids `,` $positions `:`
      type($tables) `,` type($lengths) `,` type($sequence_ids) `,` type($positions) `)`
  }];
}

def Rudnn_PagedPlanOp : Rudnn_Op<"paged.plan"> {
  let summary = "Deal the tiles of a paged batch to a constant number of parts";
  let description = [{
    Makes the work list of a batch, the same words as `WorkList::build` of the
    runtime (include/rudnn/Runtime/WorkList.h): the history of every sequence is
    cut into tiles of `tile_tokens` tokens, the tiles of all sequences are laid end
    to end, and each of `P` parts (thread blocks) gets one contiguous range of
    them, possibly empty. The list depends on lengths, rows and the attributes
    only, not on heads, head dims, scale or softcap, so that one plan serves all
    layers. It is computed where the op runs: nothing is read by the host.

    With `v` the largest number of tokens that a row of sequence `s` sees (those
    below `lengths[s]`, with `causal` those up to the row's position; 0 without
    rows), `s` has `tiles[s] = ceil(v / tile_tokens)`.

    Greedy rule (`fixed_split = 0`). A piece, a run of tiles of one sequence, costs
    its tiles plus `fixed_cost`. With `T` the cost of all sequences in one piece
    each, every part takes pieces up to a cost of `ceil(T / P) + fixed_cost`: a
    sequence that fits is taken whole; else, if more than `fixed_cost` is left, as
    many of its tiles as fit; else the part ends. (The rule of FlashMLA's tile
    scheduler, DeepSeek-AI, 2025.)

    Fixed split (`fixed_split = c`). Every sequence is cut into chunks of `c`
    tiles, the last may be shorter: a function of its own tiles only, so that its
    bits do not depend on the rest of the batch. A chunk costs its tiles plus
    `fixed_cost`; one whose cost starts at `x` in the sum `T` over all chunks goes
    to part `floor(x * P / T)`. The sum must be below 2^64.

    A sequence in one piece is written directly. Each piece of a cut sequence is a
    partial result with a slot of its own, in order.

    ```
    ranges[p] = begin sequence, begin tile, end sequence, end tile,
                slot of the part's first piece of a cut sequence
    merges[i] = sequence, first slot, number of pieces     for i < counts[0]
    counts = number of merges, number of slots
    ```

    The end of a range is not part of it; its tile is 0 when the range ends with
    the last tile of the sequence before. Begin equals end in an empty range.
    Merges ascend by sequence; one with 0 pieces is of a sequence whose rows see
    nothing and whose result is 0. Rows of `merges` past the count are -1. Under the
    greedy rule there are at most `2 * (P - 1)` slots.

    Index values are subject to the rules of `paged.attention`: the sequence ids
    are below S and positions below a length that is not 0
    (`-generate-runtime-verification` checks them). Unchecked, a row with a bad
    sequence id is left out and a position is taken as it is.

    Shapes: `lengths` i32 `[S]`, `sequence_ids` and `positions` i32 `[Q]`, `ranges`
    i32 `[P,5]`, `merges` i32 `[S,3]`, `counts` i32 `[2]`. S and Q may be dynamic
    and 0. Values are read and written as unsigned.

    Tiling: none. It is one list; each entry depends on those before it.

    Clauses:
    - `paged_plan_c1`: three outs; on tensors one result each of its type, on
      memrefs none.
    - `paged_plan_c2`: `lengths`, `sequence_ids` and `positions` have rank 1;
      `sequence_ids` and `positions` agree in Q.
    - `paged_plan_c3`: `ranges` is `[P,5]` with a static P of 1 to 65535.
    - `paged_plan_c4`: `merges` is `[S,3]` with the S of `lengths`.
    - `paged_plan_c5`: `counts` is `[2]`.
    - `paged_plan_c6`: `tile_tokens` is 1 to 4294967295.
    - `paged_plan_c7`: `fixed_cost` is 0 to 65535.
    - `paged_plan_c8`: `fixed_split` is 0 to 4294967295.

    Example:

    ```mlir
    func.func @plan(%lengths: tensor<?xi32>, %ids: tensor<?xi32>, %positions: tensor<?xi32>,
        %ranges: tensor<132x5xi32>, %merges: tensor<?x3xi32>, %counts: tensor<2xi32>)
        -> (tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {
      %0:3 = rudnn.paged.plan
          ins(%lengths, %ids, %positions : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
          outs(%ranges, %merges, %counts : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>)
          {causal, tile_tokens = 64}
          -> tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
      return %0#0, %0#1, %0#2 : tensor<132x5xi32>, tensor<?x3xi32>, tensor<2xi32>
    }
    ```
  }];
  let arguments = (ins Rudnn_IndexShaped:$lengths, Rudnn_IndexShaped:$sequence_ids,
      Rudnn_IndexShaped:$positions, Variadic<Rudnn_IndexShaped>:$outs, UnitAttr:$causal,
      DefaultValuedAttr<I64Attr, "64">:$tile_tokens,
      DefaultValuedAttr<I64Attr, "5">:$fixed_cost,
      DefaultValuedAttr<I64Attr, "0">:$fixed_split);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $lengths `,` $sequence_ids `,` $positions `:`
      type($lengths) `,` type($sequence_ids) `,` type($positions) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_PagedAttentionOp : Rudnn_PagedTiledOp<"paged.attention", [AttrSizedOperandSegments]> {
  let summary = "Attention over a paged key/value cache";
  let description = [{
    Row `r` of the batch belongs to sequence `s = sequence_ids[r]` and stands at
    the absolute, zero-based position `p = positions[r]` in it. Token `t` of a
    sequence is stored in slot `t % page_size` of page
    `tables[s, t / page_size]`. Query head `h` reads key/value head
    `h / (Hq / Hkv)`. Row `r` sees token `t` when

    ```
    t < lengths[s]
    t <= p                    with causal
    t >= p - window_left      when window_left is given
    t <= p + window_right     when window_right is given
    ```

    and, over the tokens it sees,

    ```
    x[t] = scale * sum_d q[r,h,d] * k[page,slot,h',d]   scale: 1/sqrt(D) unless given
    x[t] = softcap * tanh(x[t] / softcap)               when softcap is given
    m = max(max_t x[t], sinks[h])                       sinks: -inf unless given
    den = sum_t exp(x[t] - m) + exp(sinks[h] - m)
    out[r,h] = sum_t exp(x[t] - m) / den * v[page,slot,h']
    lse[r,h] = m + log(den)                             in base 2: that times log2(e)
    ```

    in f32, rounded once to the type of `out`. A row that sees nothing (a
    sequence of length 0, for example) gives exactly 0 and `lse = sinks[h]`,
    which is -inf without sinks. Slots that no row sees are never read: a NaN
    there reaches nothing. (Kwon et al., 2023, "Efficient Memory Management for
    Large Language Model Serving with PagedAttention".)

    `num_splits = n` cuts each row's visible range `[lo, hi)` into `n` parts whose
    sizes differ by at most one, the larger ones first, computes each by itself
    and merges the states in order; parts that hold nothing are skipped. Split and
    unsplit results differ by rounding only.

    Index operands are read as unsigned. Several rows of one sequence, in any
    order, equal positions, sequences without rows and pages shared by sequences
    are all allowed. Required of the values: `lengths[s] <= W * page_size`;
    `positions[r] < lengths[s]` unless that length is 0; `sequence_ids[r] < S`;
    page ids of the first `ceil(lengths[s] / page_size)` entries `< pages`.
    `-generate-runtime-verification` checks these. Unchecked, a row with a bad
    sequence id sees nothing, a length is cut to the table and a page id to the
    cache, so that nothing outside of the operands is read; the values of the rows
    concerned are then not specified.

    Shapes: `q` `[Q,Hq,D]`, `k` `[pages,page_size,Hkv,D]`, `v`
    `[pages,page_size,Hkv,Dv]`, `tables` `[S,W]`, `lengths` `[S]`, `sequence_ids`
    and `positions` `[Q]`, `sinks` `[Hq]`, `out` `[Q,Hq,Dv]`, `lse` `[Q,Hq]` f32.
    Q, S, W, pages and page_size may be dynamic; Q, S and pages may be 0. The outs
    are `out` and, when the log-sum-exp is wanted, `lse`.

    Tiles: query rows and cache heads, with their query heads, are parallel loops.

    Clauses:
    - `paged_attention_c1`: one or two outs; on tensors one result each of its
      type, on memrefs none.
    - `paged_attention_c2`: `q` has rank 3, `k` and `v` have rank 4, `tables` has
      rank 2 and `lengths`, `sequence_ids` and `positions` have rank 1.
    - `paged_attention_c3`: the heads `Hq`, `Hkv` and the head dims `D`, `Dv` are
      static and at least 1, the dims at most 1024.
    - `paged_attention_c4`: `Hq` is a multiple of `Hkv`.
    - `paged_attention_c5`: `k` has the `D` of `q`; `v` has the pages, page size and
      heads of `k`; the page size is not 0.
    - `paged_attention_c6`: `k`, `v` and `out` have the element type of `q`.
    - `paged_attention_c7`: `tables` and `lengths` agree in S; `sequence_ids` and
      `positions` have the Q of `q`.
    - `paged_attention_c8`: `out` is `[Q,Hq,Dv]`.
    - `paged_attention_c9`: `lse` is f32 `[Q,Hq]`.
    - `paged_attention_c10`: `scale` is finite and greater than 0.
    - `paged_attention_c11`: `softcap` is finite and greater than 0.
    - `paged_attention_c12`: `window_left` and `window_right` are not negative.
    - `paged_attention_c13`: `sinks` is `[Hq]`, f32 or of the type of `q`.
    - `paged_attention_c14`: `num_splits` is 1 to 32.
    - `paged_attention_c15`: `lse_base` other than `e` needs an `lse` result.

    Example:

    ```mlir
    func.func @decode(%q: tensor<?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>,
        %v: tensor<?x16x2x64xbf16>, %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>,
        %ids: tensor<?xi32>, %positions: tensor<?xi32>, %init: tensor<?x8x64xbf16>)
        -> tensor<?x8x64xbf16> {
      %out = rudnn.paged.attention
          ins(%q, %k, %v : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>)
          pages(%tables, %lengths, %ids, %positions
            : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
          outs(%init : tensor<?x8x64xbf16>) {causal, scale = 0.125 : f64}
          -> tensor<?x8x64xbf16>
      return %out : tensor<?x8x64xbf16>
    }
    ```
  }];
  let arguments = !con(
      (ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k, Rudnn_FloatShaped:$v),
      Rudnn_PageArguments,
      (ins Optional<Rudnn_FloatShaped>:$sinks, Variadic<Rudnn_FloatShaped>:$outs,
           OptionalAttr<F64Attr>:$scale),
      Rudnn_PagedScoreArguments,
      (ins DefaultValuedAttr<I64Attr, "1">:$num_splits,
           DefaultValuedAttr<Rudnn_LogBaseAttr, "::rudnn::LogBase::E">:$lse_base));
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
  }] # pagesFormat # [{
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
  let extraClassDeclaration = tilingDeclaration # [{
    /// The lse out, or null.
    ::mlir::Value getLseOut() {
      return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value();
    }
  }];
}

def Rudnn_PagedMlaOp : Rudnn_PagedTiledOp<"paged.mla"> {
  let summary = "Multi-head latent attention over a paged cache";
  let description = [{
    As `paged.attention`, with one cache head that all query heads read, a score
    of two parts and the latent as the value (DeepSeek-AI, 2024, "DeepSeek-V2",
    in its absorbed form):

    ```
    x[t] = scale * (sum_d q[r,h,d] * latent[t,d] + sum_e qp[r,h,e] * kp[t,e])
    out[r,h] = softmax(x) . latent
    ```

    Visibility, softcap, windows, splits, lse, empty rows and the rules for index
    values are those of `paged.attention`. `scale` has no default: it follows from
    the head size before absorption, which the operands do not show.

    Shapes: `q` `[Q,H,R]`, `qp` `[Q,H,P]`, `latent` `[pages,page_size,1,R]`, `kp`
    `[pages,page_size,1,P]`, `out` `[Q,H,R]`, `lse` `[Q,H]` f32; the page operands
    as in `paged.attention`.

    Tiles: query rows and heads are parallel loops.

    Clauses:
    - `paged_mla_c1`: one or two outs; on tensors one result each of its type, on
      memrefs none.
    - `paged_mla_c2`: `q` and `qp` have rank 3, `latent` and `kp` have rank 4,
      `tables` has rank 2 and `lengths`, `sequence_ids` and `positions` have rank 1.
    - `paged_mla_c3`: `H`, `R` and `P` are static and at least 1, `R` at most 1024,
      `P` at most 256.
    - `paged_mla_c4`: `latent` and `kp` have one head.
    - `paged_mla_c5`: `latent` has the `R` of `q`; `kp` has the pages and page size
      of `latent` and the `P` of `qp`; `qp` has the rows and heads of `q`; the page
      size is not 0.
    - `paged_mla_c6`: `qp`, `latent`, `kp` and `out` have the element type of `q`.
    - `paged_mla_c7`: `tables` and `lengths` agree in S; `sequence_ids` and
      `positions` have the Q of `q`.
    - `paged_mla_c8`: `out` is `[Q,H,R]`.
    - `paged_mla_c9`: `lse` is f32 `[Q,H]`.
    - `paged_mla_c10`: `scale` is finite and greater than 0.
    - `paged_mla_c11`: `softcap` is finite and greater than 0.
    - `paged_mla_c12`: `window_left` and `window_right` are not negative.
    - `paged_mla_c13`: `num_splits` is 1 to 32.
    - `paged_mla_c14`: `lse_base` other than `e` needs an `lse` result.

    Example:

    ```mlir
    func.func @decode(%q: tensor<?x16x512xbf16>, %qp: tensor<?x16x64xbf16>,
        %latent: tensor<?x64x1x512xbf16>, %kp: tensor<?x64x1x64xbf16>,
        %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>, %ids: tensor<?xi32>,
        %positions: tensor<?xi32>, %init: tensor<?x16x512xbf16>) -> tensor<?x16x512xbf16> {
      %out = rudnn.paged.mla
          ins(%q, %qp, %latent, %kp : tensor<?x16x512xbf16>, tensor<?x16x64xbf16>,
            tensor<?x64x1x512xbf16>, tensor<?x64x1x64xbf16>)
          pages(%tables, %lengths, %ids, %positions
            : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
          outs(%init : tensor<?x16x512xbf16>) {causal, scale = 0.0721687836 : f64}
          -> tensor<?x16x512xbf16>
      return %out : tensor<?x16x512xbf16>
    }
    ```
  }];
  let arguments = !con(
      (ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$qp, Rudnn_FloatShaped:$latent,
           Rudnn_FloatShaped:$kp),
      Rudnn_PageArguments,
      (ins Variadic<Rudnn_FloatShaped>:$outs, F64Attr:$scale),
      Rudnn_PagedScoreArguments,
      (ins DefaultValuedAttr<I64Attr, "1">:$num_splits,
           DefaultValuedAttr<Rudnn_LogBaseAttr, "::rudnn::LogBase::E">:$lse_base));
  let assemblyFormat = [{
    `ins` `(` $q `,` $qp `,` $latent `,` $kp `:`
      type($q) `,` type($qp) `,` type($latent) `,` type($kp) `)`
  }] # pagesFormat # [{
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
  let extraClassDeclaration = tilingDeclaration # [{
    /// The lse out, or null.
    ::mlir::Value getLseOut() {
      return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value();
    }
  }];
}

/// Base of the backward ops: one out per gradient that is asked for.
class Rudnn_PagedBackwardOp<string mnemonic, list<Trait> traits = []>
    : Rudnn_PagedTiledOp<mnemonic, traits> {
  let hasCanonicalizer = 1;
  let extraClassDeclaration = tilingDeclaration # [{
    /// The outs of the gradients that are asked for, in their order.
    ::llvm::SmallVector<::rudnn::PagedGradients> getGradientList();
    /// What a gradient is the gradient of.
    ::mlir::Value getGradientSource(::rudnn::PagedGradients gradient);
  }];
}

def Rudnn_PagedAttentionBackwardOp
    : Rudnn_PagedBackwardOp<"paged.attention_backward", [AttrSizedOperandSegments]> {
  let summary = "Gradients of attention over a paged key/value cache";
  let description = [{
    With `p[t]`, `x[t]` and visibility as in `paged.attention`, recomputed here,
    and `g = grad_out[r,h]`, every row `r` and query head `h` adds

    ```
    dp[t] = sum_d g[d] * v[t,d]
    e = sum_t p[t] * dp[t]
    ds[t] = p[t] * (dp[t] - e) * scale * (1 - (x[t] / softcap)^2)   last factor with softcap
    dq[r,h] = sum_t ds[t] * k[t]
    dk[t] += ds[t] * q[r,h]
    dv[t] += p[t] * g
    dsinks[h] += -exp(sinks[h] - m) / den * e
    ```

    in f32; each gradient is rounded once. `dk` and `dv` have the shape of the
    caches and sum over the query heads of a group, the rows and the sequences
    that share a physical slot. A slot that no row sees gets exactly 0; a row that
    sees nothing adds nothing; without rows everything is 0. `k` and `v` may be
    one tensor: the caller adds `dk` and `dv` then.

    `gradients` says which gradients are computed: one out each, in the order
    `dq`, `dk`, `dv`, `dsinks`.

    `history` says how `dk` and `dv` are summed. `ordered`: for every slot over
    the table entries that name its page by (sequence, place in the table), for
    each over the rows of the sequence in the order of the batch, for each over
    the heads of the group, one fused multiply-add a term, so that equal inputs
    give equal bits; gradients that one row owns (`dq`) are repeatable either way.
    `atomic`: in any order. The CPU target sums in the order of `ordered` in both
    cases.

    Index values are subject to the rules of `paged.attention`.

    Shapes: as in `paged.attention`; `grad_out` `[Q,Hq,Dv]`; each out has the
    shape and element type of what it is the gradient of.

    Tiles: cache heads, with their query heads, are a parallel loop; when `dq` is
    the only gradient, query rows are one before it.

    Clauses:
    - `paged_attention_backward_c1`: on tensors one result for each out of its
      type, on memrefs none.
    - `paged_attention_backward_c2`: `q` and `grad_out` have rank 3, `k` and `v`
      have rank 4, `tables` has rank 2 and `lengths`, `sequence_ids` and
      `positions` have rank 1.
    - `paged_attention_backward_c3`: the heads `Hq`, `Hkv` and the head dims `D`,
      `Dv` are static and at least 1, the dims at most 1024.
    - `paged_attention_backward_c4`: `Hq` is a multiple of `Hkv`.
    - `paged_attention_backward_c5`: `k` has the `D` of `q`; `v` has the pages, page
      size and heads of `k`; the page size is not 0; `grad_out` is `[Q,Hq,Dv]`.
    - `paged_attention_backward_c6`: `k`, `v` and `grad_out` have the element type
      of `q`.
    - `paged_attention_backward_c7`: `tables` and `lengths` agree in S;
      `sequence_ids` and `positions` have the Q of `q`.
    - `paged_attention_backward_c8`: `gradients` is one or more of `dq`, `dk`, `dv`
      and `dsinks`, with one out each.
    - `paged_attention_backward_c9`: each out has the shape and element type of
      what it is the gradient of.
    - `paged_attention_backward_c10`: `scale` is finite and greater than 0.
    - `paged_attention_backward_c11`: `softcap` is finite and greater than 0.
    - `paged_attention_backward_c12`: `window_left` and `window_right` are not
      negative.
    - `paged_attention_backward_c13`: `sinks` is `[Hq]`, f32 or of the type of `q`;
      `dsinks` needs it.

    Example:

    ```mlir
    func.func @gradients(%q: tensor<?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>,
        %v: tensor<?x16x2x64xbf16>, %g: tensor<?x8x64xbf16>, %tables: tensor<?x?xi32>,
        %lengths: tensor<?xi32>, %ids: tensor<?xi32>, %positions: tensor<?xi32>,
        %dk: tensor<?x16x2x64xbf16>, %dv: tensor<?x16x2x64xbf16>)
        -> (tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>) {
      %0:2 = rudnn.paged.attention_backward
          ins(%q, %k, %v, %g : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>,
            tensor<?x16x2x64xbf16>, tensor<?x8x64xbf16>)
          pages(%tables, %lengths, %ids, %positions
            : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
          outs(%dk, %dv : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>)
          {causal, gradients = #rudnn.paged_gradients<dk|dv>,
           history = #rudnn.history_gradient<ordered>}
          -> tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
      return %0#0, %0#1 : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
    }
    ```
  }];
  let arguments = !con(
      (ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k, Rudnn_FloatShaped:$v,
           Rudnn_FloatShaped:$grad_out),
      Rudnn_PageArguments,
      (ins Optional<Rudnn_FloatShaped>:$sinks, Variadic<Rudnn_FloatShaped>:$outs,
           OptionalAttr<F64Attr>:$scale),
      Rudnn_PagedScoreArguments,
      (ins DefaultValuedAttr<Rudnn_PagedGradientsAttr,
             "::rudnn::PagedGradients::Dq | ::rudnn::PagedGradients::Dk | "
             "::rudnn::PagedGradients::Dv">:$gradients,
           DefaultValuedAttr<Rudnn_HistoryGradientAttr,
             "::rudnn::HistoryGradient::Atomic">:$history));
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `,` $grad_out `:`
      type($q) `,` type($k) `,` type($v) `,` type($grad_out) `)`
  }] # pagesFormat # [{
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_PagedMlaBackwardOp : Rudnn_PagedBackwardOp<"paged.mla_backward"> {
  let summary = "Gradients of multi-head latent attention over a paged cache";
  let description = [{
    As `paged.attention_backward` for `paged.mla`: with `g = grad_out[r,h]`, every
    row and head adds

    ```
    dq[r,h] = sum_t ds[t] * latent[t]
    dqp[r,h] = sum_t ds[t] * kp[t]
    dlatent[t] += ds[t] * q[r,h]; dlatent[t] += p[t] * g
    dkp[t] += ds[t] * qp[r,h]
    ```

    The latent is key and value, so its gradient has both terms, always. `history`
    orders the sums of `dlatent` and `dkp`; of the two terms of one head the key
    term comes first. `gradients` are in the order `dq`, `dqp`, `dlatent`, `dkp`.

    Shapes: as in `paged.mla`; `grad_out` `[Q,H,R]`; each out has the shape and
    element type of what it is the gradient of.

    Tiles: query rows and heads are parallel loops when only `dq` and `dqp` are
    asked for. The other gradients sum over both: with them there are none.

    Clauses:
    - `paged_mla_backward_c1`: on tensors one result for each out of its type, on
      memrefs none.
    - `paged_mla_backward_c2`: `q`, `qp` and `grad_out` have rank 3, `latent` and
      `kp` have rank 4, `tables` has rank 2 and `lengths`, `sequence_ids` and
      `positions` have rank 1.
    - `paged_mla_backward_c3`: `H`, `R` and `P` are static and at least 1, `R` at
      most 1024, `P` at most 256.
    - `paged_mla_backward_c4`: `latent` and `kp` have one head.
    - `paged_mla_backward_c5`: `latent` has the `R` of `q`; `kp` has the pages and
      page size of `latent` and the `P` of `qp`; `qp` has the rows and heads of `q`;
      the page size is not 0; `grad_out` has the shape of `q`.
    - `paged_mla_backward_c6`: `qp`, `latent`, `kp` and `grad_out` have the element
      type of `q`.
    - `paged_mla_backward_c7`: `tables` and `lengths` agree in S; `sequence_ids` and
      `positions` have the Q of `q`.
    - `paged_mla_backward_c8`: `gradients` is one or more of `dq`, `dqp`, `dlatent`
      and `dkp`, with one out each.
    - `paged_mla_backward_c9`: each out has the shape and element type of what it
      is the gradient of.
    - `paged_mla_backward_c10`: `scale` is finite and greater than 0.
    - `paged_mla_backward_c11`: `softcap` is finite and greater than 0.
    - `paged_mla_backward_c12`: `window_left` and `window_right` are not negative.

    Example:

    ```mlir
    func.func @gradients(%q: tensor<4x16x64xf32>, %qp: tensor<4x16x8xf32>,
        %latent: tensor<9x16x1x64xf32>, %kp: tensor<9x16x1x8xf32>, %g: tensor<4x16x64xf32>,
        %tables: tensor<2x4xi32>, %lengths: tensor<2xi32>, %ids: tensor<4xi32>,
        %positions: tensor<4xi32>, %init: tensor<9x16x1x64xf32>) -> tensor<9x16x1x64xf32> {
      %0 = rudnn.paged.mla_backward
          ins(%q, %qp, %latent, %kp, %g : tensor<4x16x64xf32>, tensor<4x16x8xf32>,
            tensor<9x16x1x64xf32>, tensor<9x16x1x8xf32>, tensor<4x16x64xf32>)
          pages(%tables, %lengths, %ids, %positions
            : tensor<2x4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>)
          outs(%init : tensor<9x16x1x64xf32>)
          {causal, scale = 0.1 : f64, gradients = #rudnn.paged_gradients<dlatent>}
          -> tensor<9x16x1x64xf32>
      return %0 : tensor<9x16x1x64xf32>
    }
    ```
  }];
  let arguments = !con(
      (ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$qp, Rudnn_FloatShaped:$latent,
           Rudnn_FloatShaped:$kp, Rudnn_FloatShaped:$grad_out),
      Rudnn_PageArguments,
      (ins Variadic<Rudnn_FloatShaped>:$outs, F64Attr:$scale),
      Rudnn_PagedScoreArguments,
      (ins DefaultValuedAttr<Rudnn_PagedGradientsAttr,
             "::rudnn::PagedGradients::Dq | ::rudnn::PagedGradients::Dqp | "
             "::rudnn::PagedGradients::Dlatent | ::rudnn::PagedGradients::Dkp">:$gradients,
           DefaultValuedAttr<Rudnn_HistoryGradientAttr,
             "::rudnn::HistoryGradient::Atomic">:$history));
  let assemblyFormat = [{
    `ins` `(` $q `,` $qp `,` $latent `,` $kp `,` $grad_out `:`
      type($q) `,` type($qp) `,` type($latent) `,` type($kp) `,` type($grad_out) `)`
  }] # pagesFormat # [{
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_PagedAppendOp : Rudnn_PagedTiledOp<"paged.append"> {
  let summary = "Write new keys and values into a paged cache";
  let description = [{
    Row `r` is copied, all heads, bit for bit, to slot `p % page_size` of page
    `tables[s, p / page_size]` with `s = sequence_ids[r]`, `p = positions[r]`:

    ```
    k_out = k_cache;  k_out[page, slot] = new_k[r]
    v_out = v_cache;  v_out[page, slot] = new_v[r]
    ```

    The outs are the caches. They are read and written: slots that no row is
    written to keep what they hold, and the results are the caches after the
    write. Bufferization writes in place when the old cache has no later reader
    and copies the whole cache when it has one. With a latent cache, `new_k` and
    `new_v` are the latent and its rotary part.

    Index operands are read as unsigned. Lengths count the tokens of this call:
    set the new length first. Required of the values, and checked by
    `-generate-runtime-verification`: everything that `paged.attention` requires,
    `positions[r] < lengths[s]` without exception, and no slot written twice; that
    the page a row is written to stands in one table only (a shared prefix is
    copied by its owner first) is checked on the host (`HostPlan::validateWrites`).
    Unchecked, a row whose sequence, table entry or page does not exist is not
    written, and of two rows for one slot either stays.

    Shapes: `new_k` `[Q,Hkv,D]`, `new_v` `[Q,Hkv,Dv]`, caches
    `[pages,page_size,Hkv,D]` and `[pages,page_size,Hkv,Dv]`; the page operands as
    in `paged.attention`. Any extent but the page size may be 0.

    Tiles: heads are a parallel loop.

    Clauses:
    - `paged_append_c1`: two outs; on tensors one result each of its type, on
      memrefs none.
    - `paged_append_c2`: `new_k` and `new_v` have rank 3, the caches have rank 4,
      `tables` has rank 2 and `lengths`, `sequence_ids` and `positions` have rank 1.
    - `paged_append_c3`: `Hkv`, `D` and `Dv` are static.
    - `paged_append_c4`: `new_v` has the rows and heads of `new_k`.
    - `paged_append_c5`: each cache has the heads and head dim of its new rows, both
      have the same pages and page size, and the page size is not 0.
    - `paged_append_c6`: `new_v` and the caches have the element type of `new_k`.
    - `paged_append_c7`: `tables` and `lengths` agree in S; `sequence_ids` and
      `positions` have the Q of `new_k`.

    Example:

    ```mlir
    func.func @append(%k: tensor<?x2x64xbf16>, %v: tensor<?x2x64xbf16>,
        %tables: tensor<?x?xi32>, %lengths: tensor<?xi32>, %ids: tensor<?xi32>,
        %positions: tensor<?xi32>, %kc: tensor<?x16x2x64xbf16>,
        %vc: tensor<?x16x2x64xbf16>)
        -> (tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>) {
      %caches:2 = rudnn.paged.append
          ins(%k, %v : tensor<?x2x64xbf16>, tensor<?x2x64xbf16>)
          pages(%tables, %lengths, %ids, %positions
            : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
          outs(%kc, %vc : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>)
          -> tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
      return %caches#0, %caches#1 : tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>
    }
    ```
  }];
  let arguments = !con(
      (ins Rudnn_FloatShaped:$new_k, Rudnn_FloatShaped:$new_v), Rudnn_PageArguments,
      (ins Variadic<Rudnn_FloatShaped>:$outs));
  let assemblyFormat = [{
    `ins` `(` $new_k `,` $new_v `:` type($new_k) `,` type($new_v) `)`
  }] # pagesFormat # [{
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
}

#endif // RUDNN_PAGED_OPS_TD
