//===- DeltaOps.td - Gated delta rule -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_DELTA_OPS_TD
#define RUDNN_DELTA_OPS_TD

include "RudnnBase.td"

/// Operands, results and syntax of both forms.
class Rudnn_DeltaBase<string mnemonic> : Rudnn_TiledOp<mnemonic> {
  dag deltaArguments = (ins Rudnn_FloatShaped:$q, Rudnn_FloatShaped:$k,
      Rudnn_FloatShaped:$v, Rudnn_FloatShaped:$beta, Rudnn_F32Shaped:$log_decay,
      Rudnn_F32Shaped:$initial_state, Variadic<Rudnn_FloatShaped>:$outs,
      OptionalAttr<F64Attr>:$scale);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `,` $beta `,` $log_decay `,` $initial_state `:`
      type($q) `,` type($k) `,` type($v) `,` type($beta) `,` type($log_decay) `,`
      type($initial_state) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_GatedDeltaRuleOp : Rudnn_DeltaBase<"gated_delta_rule"> {
  let summary = "Gated delta rule, token by token";
  let description = [{
    A linear attention whose state `S` (one `K x V` matrix per head) decays and is
    corrected towards each new value. For every batch and value head, in order of
    the tokens:

    ```
    S     = exp(log_decay[t]) * S
    delta = beta[t] * (v[t] - S^T k[t])
    S     = S + k[t] delta^T
    o[t]  = S^T (scale * q[t])
    ```

    The decay comes before the prediction, the output after the update. (Yang,
    Kautz and Hatamizadeh, 2024, "Gated Delta Networks".) All in f32, the output
    rounded once; the state stays f32. `initial_state` is never overwritten. With
    no tokens the final state is the initial one.

    Shapes: `q`, `k` `[B, Hk, T, K]`, `v` `[B, Hv, T, V]`, `beta` and `log_decay`
    (f32) `[B, Hv, T]`, `initial_state` (f32) `[B, Hv, K, V]`; outs: the output
    `[B, Hv, T, V]` and the final state `[B, Hv, K, V]` (f32). Value head `h` uses
    key head `h / (Hv / Hk)`. `q` and `k` are used as they are (no normalization).
    `log_decay` may have any sign. `scale` defaults to `1 / sqrt(K)`.

    Tiles: the batch and key heads, each with its value heads, are parallel loops.

    Clauses:
    - `gated_delta_rule_c1`: `q` and `v` have rank 4; `B`, `Hk`, `Hv`, `K` and `V` are not 0.
    - `gated_delta_rule_c2`: `k` has the shape of `q`.
    - `gated_delta_rule_c3`: `v` has the batch and tokens of `q`, and `Hv` is a multiple of `Hk`;
      heads, `K` and `V` are static.
    - `gated_delta_rule_c4`: `beta` has shape `[B, Hv, T]`.
    - `gated_delta_rule_c5`: `log_decay` has shape `[B, Hv, T]`.
    - `gated_delta_rule_c6`: `initial_state` has shape `[B, Hv, K, V]`.
    - `gated_delta_rule_c7`: `k`, `v`, `beta` and the output have the element type of `q`.
    - `gated_delta_rule_c8`: the output has the shape of `v`, the final state that of
      `initial_state` and type f32.
    - `gated_delta_rule_c9`: `scale` is finite.
    - `gated_delta_rule_c10`: two outs; on tensors one result for each, on memrefs none.

    Example:

    ```mlir
    func.func @gated_delta_rule(%q: tensor<2x4x?x16xbf16>, %k: tensor<2x4x?x16xbf16>,
        %v: tensor<2x8x?x32xbf16>, %beta: tensor<2x8x?xbf16>, %g: tensor<2x8x?xf32>,
        %s0: tensor<2x8x16x32xf32>, %oi: tensor<2x8x?x32xbf16>, %si: tensor<2x8x16x32xf32>)
        -> (tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>) {
      %o, %s = rudnn.gated_delta_rule ins(%q, %k, %v, %beta, %g, %s0
          : tensor<2x4x?x16xbf16>, tensor<2x4x?x16xbf16>, tensor<2x8x?x32xbf16>,
            tensor<2x8x?xbf16>, tensor<2x8x?xf32>, tensor<2x8x16x32xf32>)
          outs(%oi, %si : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>)
          -> tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
      return %o, %s : tensor<2x8x?x32xbf16>, tensor<2x8x16x32xf32>
    }
    ```
  }];
  let arguments = deltaArguments;
}

def Rudnn_ChunkGatedDeltaRuleOp : Rudnn_DeltaBase<"chunk_gated_delta_rule"> {
  let summary = "Gated delta rule, chunk by chunk with matrix products";
  let description = [{
    The same result as `rudnn.gated_delta_rule`, computed for `chunk_size` tokens
    at a time. With `c[i]` the sum of `log_decay` over the chunk up to and
    including token `i`, `e[i, j] = exp(c[i] - c[j])` and `S` the state before the
    chunk:

    ```
    A[i, j] = -beta[i] (k[i] . k[j]) e[i, j]             for i > j, else 0
    X       = beta (v - exp(c) (K S))
    R       = (I - A)^-1 X                               by forward substitution
    O       = scale exp(c) (Q S) + scale [(q[i] . k[j]) e[i, j]]_{i >= j} R
    S'      = exp(c[last]) S + sum_i exp(c[last] - c[i]) k[i] R[i]^T
    ```

    `c[i] - c[j]` is summed from `j + 1` to `i`, never taken as a difference of
    long sums, so that a strong decay neither overflows nor cancels. The last chunk
    is padded with tokens that change nothing (beta 0, decay 1) and whose outputs
    are not written.

    Shapes, types and errors as in `rudnn.gated_delta_rule`.

    Tiles: the batch and key heads, each with its value heads, are parallel loops.

    Clauses:
    - `chunk_gated_delta_rule_c1`: `q` and `v` have rank 4; `B`, `Hk`, `Hv`, `K` and `V` are not 0.
    - `chunk_gated_delta_rule_c2`: `k` has the shape of `q`.
    - `chunk_gated_delta_rule_c3`: `v` has the batch and tokens of `q`, and `Hv` is a multiple of `Hk`;
      heads, `K` and `V` are static.
    - `chunk_gated_delta_rule_c4`: `beta` has shape `[B, Hv, T]`.
    - `chunk_gated_delta_rule_c5`: `log_decay` has shape `[B, Hv, T]`.
    - `chunk_gated_delta_rule_c6`: `initial_state` has shape `[B, Hv, K, V]`.
    - `chunk_gated_delta_rule_c7`: `k`, `v`, `beta` and the output have the element type of `q`.
    - `chunk_gated_delta_rule_c8`: the output has the shape of `v`, the final state that of
      `initial_state` and type f32.
    - `chunk_gated_delta_rule_c9`: `scale` is finite.
    - `chunk_gated_delta_rule_c10`: two outs; on tensors one result for each, on memrefs none.
    - `chunk_gated_delta_rule_c11`: `chunk_size` is 1 to 4096.

    Example:

    ```mlir
    func.func @chunk_gated_delta_rule(%q: tensor<1x4x130x16xf32>,
        %k: tensor<1x4x130x16xf32>, %v: tensor<1x4x130x32xf32>, %beta: tensor<1x4x130xf32>,
        %g: tensor<1x4x130xf32>, %s0: tensor<1x4x16x32xf32>, %oi: tensor<1x4x130x32xf32>,
        %si: tensor<1x4x16x32xf32>) -> (tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>) {
      %o, %s = rudnn.chunk_gated_delta_rule ins(%q, %k, %v, %beta, %g, %s0
          : tensor<1x4x130x16xf32>, tensor<1x4x130x16xf32>, tensor<1x4x130x32xf32>,
            tensor<1x4x130xf32>, tensor<1x4x130xf32>, tensor<1x4x16x32xf32>)
          outs(%oi, %si : tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>)
          {chunk_size = 64 : i64} -> tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>
      return %o, %s : tensor<1x4x130x32xf32>, tensor<1x4x16x32xf32>
    }
    ```
  }];
  let arguments = !con(deltaArguments, (ins DefaultValuedAttr<I64Attr, "64">:$chunk_size));
}

#endif // RUDNN_DELTA_OPS_TD
