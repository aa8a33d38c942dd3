//===- MoeOps.td - Mixture-of-experts ops -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_MOE_OPS_TD
#define RUDNN_MOE_OPS_TD

include "RudnnBase.td"

// Letters of the shapes: T tokens, E experts, K experts per token, R = T*K
// packed rows, H hidden width, I width inside an expert, W width of a row.
// Slot s = t*K + j is choice j of token t.

/// An op of the family whose tiles follow TilingLoops.
class Rudnn_MoeTiledOp<string mnemonic, list<Trait> traits = []>
    : Rudnn_TiledOp<"moe." # mnemonic, traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCanonicalizer = 1;
}

/// An op of the family that is decomposed whole.
class Rudnn_MoeOp<string mnemonic, list<Trait> traits = []>
    : Rudnn_Op<"moe." # mnemonic, traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCanonicalizer = 1;
}

def Rudnn_MoeRouteOp : Rudnn_MoeTiledOp<"route"> {
  let summary = "Softmax top-k routing";
  let description = [{
    For every token `t`, with the softmax over all `E` experts in f32:

    ```
    p[e] = exp(logits[t, e] - m) / sum_f exp(logits[t, f] - m),  m = max_e logits[t, e]
    ids[t, 0..K-1] = the K largest p, in descending order
    weights[t, j] = p[ids[t, j]]                                 without renormalize
    weights[t, j] = p[ids[t, j]] / sum_i p[ids[t, i]]            with renormalize
    ```

    (Shazeer et al., 2017, "Outrageously Large Neural Networks"; renormalized as
    in Mixtral.) The weights are rounded once, from f32.

    Equal `p` (compared in f32) are taken in ascending order of the expert. The
    ids of a token are always distinct. An expert whose logit is -inf has weight
    0 and is chosen after every expert with a positive `p`. A token whose logits
    hold a NaN or a +inf, or are all -inf, gets the ids 0, 1, .., K-1 and NaN
    weights.

    Shapes: `logits` `[T, E]`; outs `ids` `[T, K]` of i32, read as unsigned, and
    `weights` `[T, K]` of f32 or of the type of `logits`. `K` is the extent of
    the outs. `T` may be 0.

    Tiling: the loop over tokens.

    Clauses:
    - `moe_route_c1`: `logits` has rank 2 with a static `E` of at least 1.
    - `moe_route_c2`: `ids` is `[T, K]` of i32 with a static `K`, 1 <= `K` <= `E`.
    - `moe_route_c3`: `weights` is `[T, K]` and f32 or of the type of `logits`.
    - `moe_route_c4`: two outs; on tensors one result of each out's type, on
      memrefs none.

    Example:

    ```mlir
    func.func @route(%logits: tensor<?x8xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xbf16>)
        -> (tensor<?x2xi32>, tensor<?x2xbf16>) {
      %ids, %weights = rudnn.moe.route ins(%logits : tensor<?x8xbf16>)
          outs(%i, %w : tensor<?x2xi32>, tensor<?x2xbf16>) {renormalize}
          -> tensor<?x2xi32>, tensor<?x2xbf16>
      return %ids, %weights : tensor<?x2xi32>, tensor<?x2xbf16>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$logits, Variadic<Rudnn_AnyShaped>:$outs,
      UnitAttr:$renormalize);
  let assemblyFormat = [{
    `ins` `(` $logits `:` type($logits) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeRouteSigmoidGroupedOp
    : Rudnn_MoeTiledOp<"route_sigmoid_grouped", [AttrSizedOperandSegments]> {
  let summary = "Sigmoid top-k routing limited to the best groups of experts";
  let description = [{
    The experts stand in `groups` consecutive blocks of `E / groups`. For every
    token `t`, in f32:

    ```
    p[e] = sigmoid(logits[t, e]);  c[e] = p[e] + bias[e]
    score of a group = max of its c, or the sum of its two largest c (group_top_two)
    keep the selected_groups groups of largest score
    ids[t, 0..K-1] = the K largest c among the experts of kept groups, descending
    weights[t, j] = scale * p[ids[t, j]] [/ sum_i p[ids[t, i]]  with renormalize]
    ```

    (DeepSeek-AI, 2024, "DeepSeek-V3 Technical Report", section 2.1.2: the bias
    balances the load and moves the choice only, never the weight.) The weights
    are rounded once, from f32.

    Ties go to the lower group and the lower expert; the ids of a token are
    distinct. Experts of other groups are never chosen, however negative the
    kept `c` are. A NaN `c` counts as -inf in the choice, so ids are always in
    bounds; its weight is what `p` gives. A zero sum under `renormalize` gives
    NaN or an infinity: nothing is added to it.

    Shapes: `logits` `[T, E]`, `bias` `[E]` of f32; outs `ids` `[T, K]` of i32 and
    `weights` `[T, K]` of f32 or of the type of `logits`. `T` may be 0.

    Tiling: the loop over tokens.

    Clauses:
    - `moe_route_sigmoid_grouped_c1`: `logits` has rank 2 with a static `E`,
      1 <= `E` <= 1024.
    - `moe_route_sigmoid_grouped_c2`: 1 <= `groups` <= 128 and `groups` divides `E`.
    - `moe_route_sigmoid_grouped_c3`: 1 <= `selected_groups` <= `groups`.
    - `moe_route_sigmoid_grouped_c4`: `group_top_two` needs at least 2 experts in
      a group.
    - `moe_route_sigmoid_grouped_c5`: `ids` is `[T, K]` of i32 with a static `K`,
      1 <= `K` <= min(64, `selected_groups` * `E` / `groups`).
    - `moe_route_sigmoid_grouped_c6`: `weights` is `[T, K]` and f32 or of the type
      of `logits`.
    - `moe_route_sigmoid_grouped_c7`: `bias` is `[E]` of f32.
    - `moe_route_sigmoid_grouped_c8`: `scale` is finite and greater than 0.
    - `moe_route_sigmoid_grouped_c9`: two outs; on tensors one result of each
      out's type, on memrefs none.

    Example:

    ```mlir
    func.func @route(%logits: tensor<?x64xf32>, %bias: tensor<64xf32>,
        %i: tensor<?x6xi32>, %w: tensor<?x6xf32>) -> (tensor<?x6xi32>, tensor<?x6xf32>) {
      %ids, %weights = rudnn.moe.route_sigmoid_grouped ins(%logits : tensor<?x64xf32>)
          bias(%bias : tensor<64xf32>) outs(%i, %w : tensor<?x6xi32>, tensor<?x6xf32>)
          {groups = 8 : i64, selected_groups = 4 : i64, group_top_two, renormalize,
           scale = 2.5 : f64} -> tensor<?x6xi32>, tensor<?x6xf32>
      return %ids, %weights : tensor<?x6xi32>, tensor<?x6xf32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$logits, Optional<Rudnn_F32Shaped>:$bias,
      Variadic<Rudnn_AnyShaped>:$outs, I64Attr:$groups, I64Attr:$selected_groups,
      UnitAttr:$group_top_two, UnitAttr:$renormalize,
      DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let assemblyFormat = [{
    `ins` `(` $logits `:` type($logits) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeDispatchOp : Rudnn_MoeOp<"dispatch"> {
  let summary = "Token rows packed by expert";
  let description = [{
    Sorts the slots `s = t*K + j` by their expert `ids[t, j]`, stably, and copies
    each slot's token to its packed row:

    ```
    offsets[e] = number of slots whose expert is below e      (offsets[E]: of all experts)
    slot_rows[t, j] = row of slot s;  row_slots[row] = s      (inverse of each other)
    values[row, :] = x[row_slots[row] / K, :]
    row_experts[row] = expert of the row
    ```

    No capacity: no token is dropped; rows are not weighted. The rows of expert
    `e` are `offsets[e] .. offsets[e+1]-1` without padding or alignment, and empty
    experts repeat an offset. Stable order makes every result deterministic.

    A slot whose id, as unsigned, is not below `E` (by convention -1 or `E`, the
    marks of an expert that lives elsewhere) belongs to no expert: its
    `slot_rows` is -1, and `offsets[E]` counts the slots that do. The rows from
    `offsets[E]` on have `row_slots` and `row_experts` -1 and `values` 0.
    `moe.experts` gives zeros there and `moe.combine` adds nothing.

    Shapes: `x` `[T, H]`, `ids` `[T, K]` of i32; outs `values` `[T*K, H]` of the
    type of `x`, `offsets` `[E+1]`, `slot_rows` `[T, K]`, `row_slots` `[T*K]` and,
    optional, `row_experts` `[T*K]`, all of i32. `E` is the extent of `offsets`
    less 1. With `T` = 0 the offsets are 0.

    Under `-generate-runtime-verification` an id that is neither below `E` nor
    one of the marks -1 and `E`, or rows that are not `T*K`, abort the program
    with a message that names the op.

    Tiling: none. A row's place depends on every slot before it, so a range of
    rows or tokens is no smaller problem of the same kind; a range of columns is,
    but each tile would sort all slots again and write the whole index results.
    Once the indices stand, the decomposition copies the rows in a parallel loop
    over rows and columns, which tiles and fuses like any `linalg.generic`.

    Clauses:
    - `moe_dispatch_c1`: `x` has rank 2 and `H` is not 0.
    - `moe_dispatch_c2`: `ids` is `[T, K]` with a static `K` of at least 1, and
      `T*K` is below 2^32.
    - `moe_dispatch_c3`: `values` is `[T*K, H]` of the type of `x`.
    - `moe_dispatch_c4`: `offsets` is i32 of rank 1, static, with at least 2 elements.
    - `moe_dispatch_c5`: `slot_rows` is `[T, K]` of i32.
    - `moe_dispatch_c6`: `row_slots` is `[T*K]` of i32.
    - `moe_dispatch_c7`: `row_experts`, when there, is `[T*K]` of i32.
    - `moe_dispatch_c8`: four or five outs; on tensors one result of each out's
      type, on memrefs none.

    Example:

    ```mlir
    func.func @dispatch(%x: tensor<16x64xf16>, %ids: tensor<16x2xi32>, %v: tensor<32x64xf16>,
        %o: tensor<9xi32>, %s: tensor<16x2xi32>, %r: tensor<32xi32>)
        -> (tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>) {
      %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch
          ins(%x, %ids : tensor<16x64xf16>, tensor<16x2xi32>)
          outs(%v, %o, %s, %r : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>)
          -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>
      return %values, %offsets, %slot_rows, %row_slots
          : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$x, Rudnn_IndexShaped:$ids,
      Variadic<Rudnn_AnyShaped>:$outs);
  let assemblyFormat = [{
    `ins` `(` $x `,` $ids `:` type($x) `,` type($ids) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeExpertsOp : Rudnn_MoeTiledOp<"experts"> {
  let summary = "SwiGLU feed-forward of every expert over its packed rows";
  let description = [{
    For every packed row `r` of expert `e` (`offsets[e] <= r < offsets[e+1]`):

    ```
    g = gate[e] x[r];  u = up[e] x[r]                        [I]
    y[r] = down[e] (silu(g) * u),  silu(g) = g / (1 + exp(-g))
    ```

    (Shazeer, 2020, "GLU Variants Improve Transformer".) Everything up to `y` is
    in f32, and `y` is rounded once. Rows of no expert (from `offsets[E]` on) are
    0.

    Shapes: `x` and `y` `[R, H]`, `offsets` `[E+1]` of i32 as `moe.dispatch` gives
    it, `gate` and `up` `[E, I, H]`, `down` `[E, H, I]`, all but `offsets` of one
    element type. `R` may be 0.

    Offsets must ascend and end at most at `R`. They are clamped, so that wrong
    ones read and write nothing out of bounds; what the rows then hold is not
    specified. Under `-generate-runtime-verification` they abort the program with
    a message that names the op.

    `strategy`: `per_expert` is one product after the other, each spread over the
    machine; `grouped` computes the experts in parallel; `auto` lets the target
    choose.

    Tiling: the loop over packed rows; a tile gets the offsets of its own rows.

    Clauses:
    - `moe_experts_c1`: `x` has rank 2 and a static `H` of at least 1.
    - `moe_experts_c2`: `gate` is `[E, I, H]` of the type of `x`, with static `E`
      and `I` of at least 1.
    - `moe_experts_c3`: `up` has the shape and type of `gate`.
    - `moe_experts_c4`: `down` is `[E, H, I]` of the type of `x`.
    - `moe_experts_c5`: `offsets` is `[E+1]`.
    - `moe_experts_c6`: `y` has the shape and type of `x`.
    - `moe_experts_c7`: one out; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @experts(%x: tensor<?x64xf32>, %o: tensor<9xi32>, %g: tensor<8x128x64xf32>,
        %u: tensor<8x128x64xf32>, %d: tensor<8x64x128xf32>, %i: tensor<?x64xf32>) -> tensor<?x64xf32> {
      %y = rudnn.moe.experts ins(%x, %o : tensor<?x64xf32>, tensor<9xi32>)
          weights(%g, %u, %d : tensor<8x128x64xf32>, tensor<8x128x64xf32>, tensor<8x64x128xf32>)
          outs(%i : tensor<?x64xf32>) {strategy = #rudnn.experts_strategy<grouped>}
          -> tensor<?x64xf32>
      return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$x, Rudnn_IndexShaped:$offsets,
      Rudnn_FloatShaped:$gate, Rudnn_FloatShaped:$up, Rudnn_FloatShaped:$down,
      Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<Rudnn_ExpertsStrategyAttr, "::rudnn::ExpertsStrategy::Auto">:$strategy);
  let assemblyFormat = [{
    `ins` `(` $x `,` $offsets `:` type($x) `,` type($offsets) `)`
    `weights` `(` $gate `,` $up `,` $down `:` type($gate) `,` type($up) `,` type($down) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDefinition = baseDefinition;
}

def Rudnn_MoeCombineOp : Rudnn_MoeTiledOp<"combine"> {
  let summary = "Weighted sum of a token's expert rows";
  let description = [{
    For every token `t` and column `c`:

    ```
    out[t, c] = sum_j weights[t, j] * y[slot_rows[t, j], c]
    ```

    in f32, over `j` in ascending order (which makes the result independent of
    where the rows stand), rounded once. A slot whose row, as unsigned, is not
    below `R` adds nothing, whatever its weight.

    Shapes: `y` `[R, W]`, `slot_rows` `[T, K]` of i32, `weights` `[T, K]` of any
    float type; `out` `[T, W]` of the type of `y`. `T` and `R` may be 0.

    Under `-generate-runtime-verification` a row that is neither below `R` nor -1
    aborts the program with a message that names the op.

    Tiling: the loops over tokens and columns.

    Clauses:
    - `moe_combine_c1`: `y` has rank 2 and `W` is not 0.
    - `moe_combine_c2`: `slot_rows` has rank 2 and a static `K` of at least 1.
    - `moe_combine_c3`: `weights` is `[T, K]`.
    - `moe_combine_c4`: `out` is `[T, W]` of the type of `y`.
    - `moe_combine_c5`: one out; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @combine(%y: tensor<32x64xbf16>, %s: tensor<16x2xi32>, %w: tensor<16x2xf32>,
        %i: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
      %out = rudnn.moe.combine ins(%y, %s, %w : tensor<32x64xbf16>, tensor<16x2xi32>, tensor<16x2xf32>)
          outs(%i : tensor<16x64xbf16>) -> tensor<16x64xbf16>
      return %out : tensor<16x64xbf16>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$y, Rudnn_IndexShaped:$slot_rows,
      Rudnn_FloatShaped:$weights, Variadic<Rudnn_FloatShaped>:$outs);
  let assemblyFormat = [{
    `ins` `(` $y `,` $slot_rows `,` $weights `:`
      type($y) `,` type($slot_rows) `,` type($weights) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

include "MoeTrainingOps.td"

#endif // RUDNN_MOE_OPS_TD
