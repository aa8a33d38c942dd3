//===- AttentionOps.td - Dense attention ops -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_ATTENTION_OPS_TD
#define RUDNN_ATTENTION_OPS_TD

include "RudnnBase.td"

/// What decides which keys a query sees and how a score is made: the same in
/// the forward and the backward op.
defvar Rudnn_AttentionScoreArguments = (ins
    Optional<Rudnn_BoolShaped>:$mask, Optional<Rudnn_FloatShaped>:$bias,
    Optional<Rudnn_FloatShaped>:$sinks, Optional<Index>:$query_offset,
    Variadic<Rudnn_FloatShaped>:$outs,
    DefaultValuedAttr<Rudnn_CausalAttr, "::rudnn::Causal::None">:$causal,
    OptionalAttr<F64Attr>:$scale, OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right,
    DefaultValuedAttr<Rudnn_LogBaseAttr, "::rudnn::LogBase::E">:$lse_base);

/// The same for packed sequences.
defvar Rudnn_RaggedScoreArguments = (ins
    Rudnn_IndexShaped:$query_offsets, Rudnn_IndexShaped:$key_offsets,
    Optional<Rudnn_FloatShaped>:$sinks, Variadic<Rudnn_FloatShaped>:$outs,
    DefaultValuedAttr<Rudnn_CausalAttr, "::rudnn::Causal::None">:$causal,
    OptionalAttr<F64Attr>:$scale, OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right,
    DefaultValuedAttr<Rudnn_LogBaseAttr, "::rudnn::LogBase::E">:$lse_base);

def Rudnn_AttentionOp : Rudnn_TiledOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    For every batch `b`, query head `h`, query row `i` and the keys `j` of the
    key/value head `h / G`, `G = Hq / Hkv` (grouped-query attention):

    ```
    s[j] = scale * sum_d q[i,d] * k[j,d]          scale: 1/sqrt(D) unless given
    s[j] = softcap * tanh(s[j] / softcap)         when softcap is given
    s[j] = s[j] + bias[i,j]                       when bias is given
    s[j] = -inf                                   when key j is excluded
    m = max(max_j s[j], sink[h])                  sink: -inf unless given
    den = sum_j exp(s[j] - m) + exp(sink[h] - m)
    out[i] = sum_j exp(s[j] - m) / den * v[j]
    lse[i] = m + log(den)                         in base 2: that times log2(e)
    ```

    in f32, rounded once to the type of `out`. A row that sees no key gives
    `out = 0` and `lse = sink[h]`, which is -inf without sinks. The sum is never
    formed for the whole matrix of scores: blocks of keys are folded into a
    running maximum, sum and output (Milakov and Gimelshein, 2018, "Online
    normalizer calculation for softmax"; Dao et al., 2022, "FlashAttention").

    Excluded keys. Row `i` stands at key position `p = i + offset`, where offset
    is `query_offset` when given, else `Sk - Sq` (so that the last query stands
    at the last key), or 0 with `causal = top_left`. Key `j` is excluded when
    - `mask[b,h,i,j]` is true;
    - `causal` is not `none` and `j > p`;
    - `window_left` is given and `j < p - window_left`;
    - `window_right` is given and `j > p + window_right`.

    Both windows count keys beside `p` itself; without the attribute that side is
    open. An excluded key has no weight whatever its score or bias; its value row
    is multiplied by 0 or not read at all, so whether a NaN or Inf stored there
    reaches the output is not specified.

    `query_offset` gives the absolute position of the first query row: a tile of
    query rows, a chunk of a prompt, or a decode step over a longer cache keeps
    its alignment. It may be negative.

    Shapes: `q` `[B,Hq,Sq,D]`, `k` `[B,Hkv,Sk,D]`, `v` `[B,Hkv,Sk,Dv]`, `out`
    `[B,Hq,Sq,Dv]`, `lse` `[B,Hq,Sq]` f32; `mask` (i1) and `bias` of rank 4, every
    extent that of `[B,Hq,Sq,Sk]` or a static 1, which is broadcast; `sinks`
    `[Hq]`. B, Sq and Sk may be dynamic and 0. The outs are `out` and, when the
    log-sum-exp is wanted, `lse`.

    Tiles: batch, query heads and query rows are parallel loops. A tile of heads
    lies within one group or is whole groups.

    Clauses:
    - `attention_c1`: `q`, `k`, `v` and `out` have rank 4.
    - `attention_c2`: the heads `Hq`, `Hkv` and the head dims `D`, `Dv` are static
      and at least 1, and `Hq` is a multiple of `Hkv`.
    - `attention_c3`: `k` is `[B,Hkv,Sk,D]` with `B` and `D` of `q`.
    - `attention_c4`: `v` is `[B,Hkv,Sk,Dv]` with `B`, `Hkv` and `Sk` of `k`.
    - `attention_c5`: `out` is `[B,Hq,Sq,Dv]`.
    - `attention_c6`: `k`, `v` and `out` have the element type of `q`.
    - `attention_c7`: `lse` is f32 `[B,Hq,Sq]`.
    - `attention_c8`: `mask` has rank 4 and each extent is that of
      `[B,Hq,Sq,Sk]` or 1.
    - `attention_c9`: `bias` likewise, f32 or of the type of `q`.
    - `attention_c10`: `sinks` is `[Hq]`, f32 or of the type of `q`.
    - `attention_c11`: `softcap` is finite and greater than 0.
    - `attention_c12`: `window_left` and `window_right` are 0 to 2^31 - 1.
    - `attention_c13`: `query_offset` needs `causal` or a window to act on.
    - `attention_c14`: `lse_base` other than `e` needs an `lse` result.
    - `attention_c15`: one or two outs; on tensors one result each of its type, on
      memrefs none.

    Example:

    ```mlir
    func.func @attention(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>,
        %v: tensor<2x2x?x64xbf16>, %init: tensor<2x8x?x64xbf16>,
        %lse_init: tensor<2x8x?xf32>) -> (tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>) {
      %out, %lse = rudnn.attention
          ins(%q, %k, %v : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>)
          outs(%init, %lse_init : tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>)
          {causal = #rudnn.causal<bottom_right>, window_left = 1023}
          -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>
      return %out, %lse : tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k,
      Rudnn_FloatShaped:$v), Rudnn_AttentionScoreArguments);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`query_offset` `(` $query_offset^ `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
  let tileFunction = "::rudnn::tileAttention";
  let extraClassDeclaration = tilingDeclaration # [{
    /// The lse out, or null.
    ::mlir::Value getLseOut() {
      return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value();
    }
  }];
}

def Rudnn_AttentionBackwardOp
    : Rudnn_TiledOp<"attention_backward", [AttrSizedOperandSegments]> {
  let summary = "Gradients of scaled dot-product attention";
  let description = [{
    Given the operands and options of `rudnn.attention`, its results `out` and
    `lse`, and the gradient `dout` of `out`, for every query row `i`, key `j` and
    head:

    ```
    p[i,j] = exp(s[i,j] - lse[i])                     0 for an excluded key
    delta[i] = sum_d dout[i,d] * out[i,d]
    ds[i,j] = p[i,j] * (sum_d dout[i,d] * v[j,d] - delta[i])
    dv[j] = sum_i p[i,j] * dout[i]
    dbias[i,j] = ds[i,j]                              summed over broadcast dims
    dx[i,j] = ds[i,j] * scale * (1 - tanh(scale * q[i].k[j] / softcap)^2)
    dq[i] = sum_j dx[i,j] * k[j]                      the last factor only when
    dk[j] = sum_i dx[i,j] * q[i]                      softcap is given
    dsinks[h] = -sum_{b,i} exp(sinks[h] - lse[i]) * delta[i]
    ```

    in f32, each gradient rounded once to its type. `dk` and `dv` are summed over
    the query heads of the group. A row with `lse = -inf` saw nothing and adds
    nothing. (Dao et al., 2022, "FlashAttention", appendix B.) The matrices of
    probabilities are made again for one block of keys at a time.

    Shapes: as in `rudnn.attention`; `dout` that of `out`, `dq`, `dk`, `dv`,
    `dbias` and `dsinks` those of `q`, `k`, `v`, `bias` and `sinks`. The outs are
    `dq`, `dk`, `dv`, then `dbias` with the attribute `bias_gradient`, then
    `dsinks` with `sinks_gradient`.

    Tiles: batch and key/value heads are parallel loops, except one along which
    `dbias` or `dsinks` is a sum.

    Clauses:
    - `attention_backward_c1` to `attention_backward_c13`: those of
      `rudnn.attention` with the same number.
    - `attention_backward_c14`: `dout` has the shape and element type of `out`.
    - `attention_backward_c15`: `bias_gradient` needs `bias`, `sinks_gradient`
      needs `sinks`.
    - `attention_backward_c16`: each gradient has the shape of its operand and is
      f32 or of its type.
    - `attention_backward_c17`: three outs and one more per gradient asked for; on
      tensors one result each of its type, on memrefs none.

    Example:

    ```mlir
    func.func @attention_backward(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>,
        %v: tensor<2x2x?x64xbf16>, %out: tensor<2x8x?x64xbf16>,
        %dout: tensor<2x8x?x64xbf16>, %lse: tensor<2x8x?xf32>,
        %dq_init: tensor<2x8x?x64xbf16>, %dk_init: tensor<2x2x?x64xbf16>,
        %dv_init: tensor<2x2x?x64xbf16>)
        -> (tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>) {
      %dq, %dk, %dv = rudnn.attention_backward
          ins(%q, %k, %v, %out, %dout, %lse : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>,
              tensor<2x2x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>)
          outs(%dq_init, %dk_init, %dv_init : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>,
              tensor<2x2x?x64xbf16>) {causal = #rudnn.causal<bottom_right>}
          -> tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>
      return %dq, %dk, %dv : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k,
      Rudnn_FloatShaped:$v, Rudnn_FloatShaped:$out, Rudnn_FloatShaped:$dout,
      Rudnn_F32Shaped:$lse), Rudnn_AttentionScoreArguments,
      (ins UnitAttr:$bias_gradient, UnitAttr:$sinks_gradient));
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `,` $out `,` $dout `,` $lse `:` type($q) `,`
      type($k) `,` type($v) `,` type($out) `,` type($dout) `,` type($lse) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`query_offset` `(` $query_offset^ `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
  let tileFunction = "::rudnn::tileAttentionBackward";
  let extraClassDeclaration = tilingDeclaration # [{
    /// The gradient outs that were asked for, or null.
    ::mlir::Value getDbiasOut() {
      return getBiasGradient() ? getOuts()[3] : ::mlir::Value();
    }
    ::mlir::Value getDsinksOut() {
      return getSinksGradient() ? getOuts().back() : ::mlir::Value();
    }
  }];
}

def Rudnn_RaggedAttentionOp : Rudnn_TiledOp<"ragged_attention", [AttrSizedOperandSegments]> {
  let summary = "Attention over sequences of different lengths, packed without padding";
  let description = [{
    `B` sequences lie one behind the other. Sequence `s` has the query rows
    `query_offsets[s] .. query_offsets[s+1]` and the keys
    `key_offsets[s] .. key_offsets[s+1]`; its rows see keys of its own only. Within
    a sequence the result is that of `rudnn.attention` with the same options: row
    `i` of its `n` rows stands at key position `i + m - n` with `m` keys (at `i`
    with `causal = top_left`), so that its last query stands at its last key.
    (The packed form of Dao et al., 2022, "FlashAttention".)

    A sequence may have no rows, or no keys: its rows then give `out = 0` and
    `lse = sinks[h]`, which is -inf without sinks. So do the rows behind the last
    offset, which belong to no sequence: a batch may be smaller than its buffers,
    as in a captured graph. Keys behind the last offset are seen by no row.

    Nothing of another sequence reaches a row: a NaN or Inf stored there has no
    effect. Inside of a sequence the rule of `rudnn.attention` for excluded keys
    holds. A mask or a bias has no packed form; attention with one is
    `rudnn.attention` for each sequence.

    Offsets are read as unsigned. Required of the values: the first is 0, none is
    below the one before it, and the last is at most `Tq` (`Tk` for keys).
    `-generate-runtime-verification` checks these. Unchecked, an offset is cut to
    the number of rows and a sequence that ends before it starts is empty, so that
    nothing outside of the operands is read or written; which values the rows
    concerned get is then not specified.

    Shapes: `q` `[Tq,Hq,D]`, `k` `[Tk,Hkv,D]`, `v` `[Tk,Hkv,Dv]`, `query_offsets`
    and `key_offsets` i32 `[B+1]`, `sinks` `[Hq]`, `out` `[Tq,Hq,Dv]`, `lse`
    `[Hq,Tq]` f32, each head's rows together as in `rudnn.attention`. Tq, Tk and B
    may be dynamic and 0. The outs are `out` and, when the log-sum-exp is wanted,
    `lse`. Self-attention passes one tensor of offsets twice.

    Tiles: the key/value heads, with their query heads, are a parallel loop.

    Clauses:
    - `ragged_attention_c1`: `q`, `k`, `v` and `out` have rank 3.
    - `ragged_attention_c2`: the heads `Hq`, `Hkv` and the head dims `D`, `Dv` are
      static and at least 1, and `Hq` is a multiple of `Hkv`.
    - `ragged_attention_c3`: `k` is `[Tk,Hkv,D]` with the `D` of `q`.
    - `ragged_attention_c4`: `v` is `[Tk,Hkv,Dv]` with `Tk` and `Hkv` of `k`.
    - `ragged_attention_c5`: `out` is `[Tq,Hq,Dv]`.
    - `ragged_attention_c6`: `k`, `v` and `out` have the element type of `q`.
    - `ragged_attention_c7`: `lse` is f32 `[Hq,Tq]`.
    - `ragged_attention_c8`: `query_offsets` and `key_offsets` have rank 1 and at
      least one element.
    - `ragged_attention_c9`: `query_offsets` and `key_offsets` have the same extent.
    - `ragged_attention_c10`: `sinks` is `[Hq]`, f32 or of the type of `q`.
    - `ragged_attention_c11`: `softcap` is finite and greater than 0.
    - `ragged_attention_c12`: `window_left` and `window_right` are 0 to 2^31 - 1.
    - `ragged_attention_c13`: `lse_base` other than `e` needs an `lse` result.
    - `ragged_attention_c14`: one or two outs; on tensors one result each of its
      type, on memrefs none.

    Example:

    ```mlir
    func.func @ragged_attention(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>,
        %v: tensor<?x2x64xbf16>, %query_offsets: tensor<?xi32>, %key_offsets: tensor<?xi32>,
        %init: tensor<?x8x64xbf16>, %lse_init: tensor<8x?xf32>)
        -> (tensor<?x8x64xbf16>, tensor<8x?xf32>) {
      %out, %lse = rudnn.ragged_attention
          ins(%q, %k, %v : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>)
          offsets(%query_offsets, %key_offsets : tensor<?xi32>, tensor<?xi32>)
          outs(%init, %lse_init : tensor<?x8x64xbf16>, tensor<8x?xf32>)
          {causal = #rudnn.causal<bottom_right>}
          -> tensor<?x8x64xbf16>, tensor<8x?xf32>
      return %out, %lse : tensor<?x8x64xbf16>, tensor<8x?xf32>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k,
      Rudnn_FloatShaped:$v), Rudnn_RaggedScoreArguments);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    `offsets` `(` $query_offsets `,` $key_offsets `:`
      type($query_offsets) `,` type($key_offsets) `)`
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
  let tileFunction = "::rudnn::tileRaggedAttention";
  let extraClassDeclaration = tilingDeclaration # [{
    /// The lse out, or null.
    ::mlir::Value getLseOut() {
      return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value();
    }
  }];
}

def Rudnn_RaggedAttentionBackwardOp
    : Rudnn_TiledOp<"ragged_attention_backward", [AttrSizedOperandSegments]> {
  let summary = "Gradients of attention over packed sequences";
  let description = [{
    Given the operands and options of `rudnn.ragged_attention`, its results `out`
    and `lse`, and the gradient `dout` of `out`: for each sequence the gradients
    that `rudnn.attention_backward` defines. `dsinks` is summed over the rows of
    all sequences. Rows and keys of no sequence, those of a sequence that has no
    keys and those of one that has no rows get gradients of 0.

    Shapes: as in `rudnn.ragged_attention`; `dout` that of `out`, `dq`, `dk`, `dv`
    and `dsinks` those of `q`, `k`, `v` and `sinks`. The outs are `dq`, `dk`, `dv`,
    then `dsinks` with the attribute `sinks_gradient`. What is required of the
    offsets is said there.

    Tiles: the key/value heads, with their query heads, are a parallel loop.

    Clauses:
    - `ragged_attention_backward_c1` to `ragged_attention_backward_c12`: those of
      `rudnn.ragged_attention` with the same number.
    - `ragged_attention_backward_c13`: `dout` has the shape and element type of
      `out`.
    - `ragged_attention_backward_c14`: `sinks_gradient` needs `sinks`.
    - `ragged_attention_backward_c15`: each gradient has the shape of its operand
      and is f32 or of its type.
    - `ragged_attention_backward_c16`: three outs and one more with
      `sinks_gradient`; on tensors one result each of its type, on memrefs none.

    Example:

    ```mlir
    func.func @ragged_attention_backward(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>,
        %v: tensor<?x2x64xbf16>, %out: tensor<?x8x64xbf16>, %dout: tensor<?x8x64xbf16>,
        %lse: tensor<8x?xf32>, %offsets: tensor<?xi32>, %dq_init: tensor<?x8x64xbf16>,
        %dk_init: tensor<?x2x64xbf16>, %dv_init: tensor<?x2x64xbf16>)
        -> (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) {
      %dq, %dk, %dv = rudnn.ragged_attention_backward
          ins(%q, %k, %v, %out, %dout, %lse : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>,
              tensor<?x2x64xbf16>, tensor<?x8x64xbf16>, tensor<?x8x64xbf16>, tensor<8x?xf32>)
          offsets(%offsets, %offsets : tensor<?xi32>, tensor<?xi32>)
          outs(%dq_init, %dk_init, %dv_init : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>,
              tensor<?x2x64xbf16>) {causal = #rudnn.causal<bottom_right>}
          -> tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>
      return %dq, %dk, %dv : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k,
      Rudnn_FloatShaped:$v, Rudnn_FloatShaped:$out, Rudnn_FloatShaped:$dout,
      Rudnn_F32Shaped:$lse), Rudnn_RaggedScoreArguments,
      (ins UnitAttr:$sinks_gradient));
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `,` $out `,` $dout `,` $lse `:` type($q) `,`
      type($k) `,` type($v) `,` type($out) `,` type($dout) `,` type($lse) `)`
    `offsets` `(` $query_offsets `,` $key_offsets `:`
      type($query_offsets) `,` type($key_offsets) `)`
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
  let tileFunction = "::rudnn::tileRaggedAttention";
  let extraClassDeclaration = tilingDeclaration # [{
    /// The gradient of the sinks, or null when it was not asked for.
    ::mlir::Value getDsinksOut() {
      return getSinksGradient() ? getOuts().back() : ::mlir::Value();
    }
  }];
}

def Rudnn_MergeAttentionStatesOp
    : Rudnn_TiledOp<"merge_attention_states", [AttrSizedOperandSegments]> {
  let summary = "One attention result from results over parts of the keys";
  let description = [{
    Attention over the union of disjoint sets of keys, from the output and the
    log-sum-exp of attention over each set (split keys, a shared prefix, a ring of
    devices):

    ```
    m = max_n lse_n;   w_n = exp(lse_n - m)           exp2 with lse_base = two
    out = sum_n w_n * state_n / sum_n w_n
    lse = m + log(sum_n w_n)                          log2 with lse_base = two
    ```

    in f32, rounded once to the type of `out`. A state of weight 0 adds nothing,
    whatever it holds; so a state with lse = -inf leaves the others unchanged, bit
    for bit when one is left. When all have lse = -inf, `out` is 0 and `lse` -inf.
    With sinks, only one of the partial results may have counted them.

    Shapes: each `states` operand and `out` `[B,H,S,Dv]`, each `lses` operand and
    `lse` `[B,H,S]` f32. The outs are `out` and, when wanted, `lse`.

    Clauses:
    - `merge_attention_states_c1`: at least one state, and one lse per state.
    - `merge_attention_states_c2`: every state has rank 4 and the shape of `out`,
      and all have one element type.
    - `merge_attention_states_c3`: every lse and the `lse` out are f32 `[B,H,S]`.
    - `merge_attention_states_c4`: `out` is f32 or of the type of the states.
    - `merge_attention_states_c5`: an lse that is the result of a rudnn op has its
      base, `lse_base`.
    - `merge_attention_states_c6`: one or two outs; on tensors one result each of
      its type, on memrefs none.

    Example:

    ```mlir
    func.func @merge_attention_states(%o0: tensor<1x8x4x64xf32>, %o1: tensor<1x8x4x64xf32>,
        %l0: tensor<1x8x4xf32>, %l1: tensor<1x8x4xf32>, %init: tensor<1x8x4x64xf32>,
        %lse_init: tensor<1x8x4xf32>) -> (tensor<1x8x4x64xf32>, tensor<1x8x4xf32>) {
      %out, %lse = rudnn.merge_attention_states
          states(%o0, %o1 : tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>)
          lses(%l0, %l1 : tensor<1x8x4xf32>, tensor<1x8x4xf32>)
          outs(%init, %lse_init : tensor<1x8x4x64xf32>, tensor<1x8x4xf32>)
          -> tensor<1x8x4x64xf32>, tensor<1x8x4xf32>
      return %out, %lse : tensor<1x8x4x64xf32>, tensor<1x8x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Rudnn_FloatShaped>:$states,
      Variadic<Rudnn_F32Shaped>:$lses, Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<Rudnn_LogBaseAttr, "::rudnn::LogBase::E">:$lse_base);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `states` `(` $states `:` type($states) `)` `lses` `(` $lses `:` type($lses) `)`
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

#endif // RUDNN_ATTENTION_OPS_TD
