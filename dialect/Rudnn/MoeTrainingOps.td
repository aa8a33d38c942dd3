//===- MoeTrainingOps.td - Gradients of the mixture-of-experts ops -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_MOE_TRAINING_OPS_TD
#define RUDNN_MOE_TRAINING_OPS_TD

// Included by MoeOps.td, whose classes and letters of shapes it uses. The
// choice of experts and a correction bias have no gradient.

def Rudnn_ExpertIdsShaped : AnyTypeOf<[RankedTensorOf<[I32, I64]>, MemRefOf<[I32, I64]>],
    "ranked tensor or memref of i32 or i64">;

def Rudnn_MoeRouterWeightsOp : Rudnn_MoeTiledOp<"router_weights"> {
  let summary = "Router weights of given experts, in f32";
  let description = [{
    The weights of the routing ops for expert ids that are chosen already:

    ```
    p[e] = softmax(logits[t, :])[e]  or  sigmoid(logits[t, e])       (scoring)
    weights[t, j] = scale * p[ids[t, j]] [/ sum_i p[ids[t, i]]  with renormalize]
    ```

    in f32 throughout. An id that occurs several times in a token counts every
    time. A token with an id that is not in 0 .. E-1 has NaN weights; other tokens
    do not change, and nothing out of bounds is read.

    Shapes: `logits` `[T, E]`, `ids` `[T, K]` of i32 or i64; out `[T, K]` of f32.

    Under `-generate-runtime-verification` an id out of range aborts the program
    with a message that names the op.

    Tiling: the loop over tokens.

    Clauses:
    - `moe_router_weights_c1`: `logits` has rank 2 with a static `E` of at least 1.
    - `moe_router_weights_c2`: `ids` is `[T, K]` with a static `K`,
      1 <= `K` <= min(64, `E`).
    - `moe_router_weights_c3`: the out is `[T, K]` of f32.
    - `moe_router_weights_c4`: `scale` is finite and greater than 0.
    - `moe_router_weights_c5`: one out; on tensors one result of its type, on
      memrefs none.

    Example:

    ```mlir
    func.func @weights(%l: tensor<?x8xbf16>, %ids: tensor<?x2xi32>, %i: tensor<?x2xf32>) -> tensor<?x2xf32> {
      %w = rudnn.moe.router_weights ins(%l, %ids : tensor<?x8xbf16>, tensor<?x2xi32>)
          outs(%i : tensor<?x2xf32>)
          {scoring = #rudnn.router_scoring<sigmoid>, renormalize, scale = 2.5 : f64} -> tensor<?x2xf32>
      return %w : tensor<?x2xf32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$logits, Rudnn_ExpertIdsShaped:$ids,
      Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<Rudnn_RouterScoringAttr, "::rudnn::RouterScoring::Softmax">:$scoring,
      UnitAttr:$renormalize, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let assemblyFormat = [{
    `ins` `(` $logits `,` $ids `:` type($logits) `,` type($ids) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeRouterBackwardOp : Rudnn_MoeTiledOp<"router_backward"> {
  let summary = "Gradient of the router weights with respect to the logits";
  let description = [{
    The gradient of `moe.router_weights` (and so of the routing ops) for the
    gradient `g` of its result. With `S = sum_j p[ids[t, j]]`,
    `D = sum_j p[ids[t, j]] * g[t, j]`, `G[e]` the sum of `g[t, j]` over the slots
    whose id is `e` and `n[e]` their number:

    ```
    renormalize:  dp[e] = scale * (G[e] - n[e] * D / S) / S
                  dlogits[t, e] = p[e] * dp[e]                     softmax
                  dlogits[t, e] = p[e] * (1 - p[e]) * dp[e]        sigmoid
    else:         dlogits[t, e] = scale * p[e] * (G[e] - D)        softmax
                  dlogits[t, e] = scale * p[e] * (1 - p[e]) * G[e] sigmoid
    ```

    in f32, rounded once. Without `renormalize` a softmax gives experts that were
    not chosen a gradient too. A token with an id that is not in 0 .. E-1 gets NaN
    in its whole row; other tokens do not change.

    Shapes: `logits` `[T, E]`, `ids` `[T, K]` of i32 or i64, `grad` `[T, K]` of f32;
    out `[T, E]` of the type of `logits`.

    Under `-generate-runtime-verification` an id out of range aborts the program
    with a message that names the op.

    Tiling: the loop over tokens.

    Clauses:
    - `moe_router_backward_c1`: `logits` has rank 2 with a static `E` of at least 1.
    - `moe_router_backward_c2`: `ids` is `[T, K]` with a static `K`,
      1 <= `K` <= min(64, `E`).
    - `moe_router_backward_c3`: `grad` is `[T, K]` of f32.
    - `moe_router_backward_c4`: the out has the shape and type of `logits`.
    - `moe_router_backward_c5`: `scale` is finite and greater than 0.
    - `moe_router_backward_c6`: one out; on tensors one result of its type, on
      memrefs none.

    Example:

    ```mlir
    func.func @backward(%l: tensor<?x8xf16>, %ids: tensor<?x2xi32>, %g: tensor<?x2xf32>,
        %i: tensor<?x8xf16>) -> tensor<?x8xf16> {
      %dl = rudnn.moe.router_backward ins(%l, %ids, %g : tensor<?x8xf16>, tensor<?x2xi32>, tensor<?x2xf32>)
          outs(%i : tensor<?x8xf16>) {renormalize} -> tensor<?x8xf16>
      return %dl : tensor<?x8xf16>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$logits, Rudnn_ExpertIdsShaped:$ids,
      Rudnn_FloatShaped:$grad, Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<Rudnn_RouterScoringAttr, "::rudnn::RouterScoring::Softmax">:$scoring,
      UnitAttr:$renormalize, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let assemblyFormat = [{
    `ins` `(` $logits `,` $ids `,` $grad `:` type($logits) `,` type($ids) `,` type($grad) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeCombineBackwardOp : Rudnn_MoeOp<"combine_backward"> {
  let summary = "Gradients of the combined rows and of their weights";
  let description = [{
    The gradients of `moe.combine` for the gradient `grad` of its result, with the
    two maps of the `moe.dispatch` that packed the rows (`row_slots` is the inverse
    of `slot_rows`):

    ```
    dy[r, c] = weights[t, j] * grad[t, c]      for the slot t*K + j = row_slots[r]
    dweights[t, j] = sum_c grad[t, c] * y[slot_rows[t, j], c]
    ```

    in f32; `dy` is rounded once. A row without a slot and a slot without a row
    (the index, as unsigned, is out of range) have gradient 0.

    Shapes: `grad` `[T, W]` and `y` `[R, W]` of one type, `slot_rows` `[T, K]` and
    `row_slots` `[R]` of i32, `weights` `[T, K]` of any float type; outs `dy`
    `[R, W]` of the type of `y`, `dweights` `[T, K]` of f32. `T` and `R` may be 0.

    Under `-generate-runtime-verification` an index that is neither in range nor
    -1 aborts the program with a message that names the op.

    Tiling: none. `dy` runs over packed rows and `dweights` over tokens, which a
    permutation known only at run time connects, and the columns that they share
    are a sum for one of them. Its decomposition is two `linalg.generic` ops, each
    with loops of its own to tile.

    Clauses:
    - `moe_combine_backward_c1`: `y` has rank 2 and `W` is not 0.
    - `moe_combine_backward_c2`: `slot_rows` has rank 2 and a static `K` of at least 1.
    - `moe_combine_backward_c3`: `grad` is `[T, W]` of the type of `y`.
    - `moe_combine_backward_c4`: `row_slots` is `[R]`.
    - `moe_combine_backward_c5`: `weights` is `[T, K]`.
    - `moe_combine_backward_c6`: `dy` has the shape and type of `y`.
    - `moe_combine_backward_c7`: `dweights` is `[T, K]` of f32.
    - `moe_combine_backward_c8`: two outs; on tensors one result of each out's
      type, on memrefs none.

    Example:

    ```mlir
    func.func @backward(%g: tensor<16x64xbf16>, %y: tensor<32x64xbf16>, %s: tensor<16x2xi32>,
        %r: tensor<32xi32>, %w: tensor<16x2xf32>, %i: tensor<32x64xbf16>, %j: tensor<16x2xf32>)
        -> (tensor<32x64xbf16>, tensor<16x2xf32>) {
      %dy, %dw = rudnn.moe.combine_backward ins(%g, %y, %s, %r, %w : tensor<16x64xbf16>,
          tensor<32x64xbf16>, tensor<16x2xi32>, tensor<32xi32>, tensor<16x2xf32>)
          outs(%i, %j : tensor<32x64xbf16>, tensor<16x2xf32>) -> tensor<32x64xbf16>, tensor<16x2xf32>
      return %dy, %dw : tensor<32x64xbf16>, tensor<16x2xf32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$grad, Rudnn_FloatShaped:$y,
      Rudnn_IndexShaped:$slot_rows, Rudnn_IndexShaped:$row_slots,
      Rudnn_FloatShaped:$weights, Variadic<Rudnn_FloatShaped>:$outs);
  let assemblyFormat = [{
    `ins` `(` $grad `,` $y `,` $slot_rows `,` $row_slots `,` $weights `:`
      type($grad) `,` type($y) `,` type($slot_rows) `,` type($row_slots) `,` type($weights) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeExpertsBackwardOp : Rudnn_MoeOp<"experts_backward"> {
  let hasCanonicalizer = 0;
  let summary = "Gradients of the SwiGLU experts";
  let description = [{
    The gradients of `moe.experts` for the gradient `dy` of its result. `g` and `u`
    are computed again. For every packed row of expert `e`, with
    `s = sigmoid(g)` and `a = g * s * u`:

    ```
    da = down[e]^T dy
    dg = da * u * s * (1 + g * (1 - s));  du = da * g * s
    dx = gate[e]^T dg + up[e]^T du
    dgate[e] = sum_rows dg x^T;  dup[e] = sum_rows du x^T;  ddown[e] = sum_rows dy a^T
    ```

    in f32; `dx` is rounded once, the weight gradients stay f32. An expert without
    rows has weight gradients of exactly 0, a row of no expert has `dx` 0.

    Shapes: `dy`, `x` and `dx` `[R, H]`, `offsets` `[E+1]` of i32, `gate` and `up`
    `[E, I, H]`, `down` `[E, H, I]`, all but `offsets` of one type; `dgate`, `dup`
    `[E, I, H]` and `ddown` `[E, H, I]` of f32. Offsets as in `moe.experts`.

    `strategy` as in `moe.experts`.

    Tiling: none. Packed rows are parallel for `dx` but a sum for the weight
    gradients; the experts are parallel for those but cut `dx` at offsets known
    only at run time, with rows of no expert in none of them. The decomposition is
    the loop over experts, parallel with `grouped`, of matrix products that tile.

    Clauses:
    - `moe_experts_backward_c1`: `x` has rank 2 and a static `H` of at least 1.
    - `moe_experts_backward_c2`: `gate` is `[E, I, H]` of the type of `x`, with static
      `E` and `I` of at least 1.
    - `moe_experts_backward_c3`: `up` has the shape and type of `gate`.
    - `moe_experts_backward_c4`: `down` is `[E, H, I]` of the type of `x`.
    - `moe_experts_backward_c5`: `offsets` is `[E+1]`.
    - `moe_experts_backward_c6`: `dy` has the shape and type of `x`.
    - `moe_experts_backward_c7`: `dx` has the shape and type of `x`.
    - `moe_experts_backward_c8`: `dgate`, `dup` and `ddown` have the shapes of
      `gate`, `up` and `down` and are f32.
    - `moe_experts_backward_c9`: four outs; on tensors one result of each out's
      type, on memrefs none.

    Example:

    ```mlir
    func.func @backward(%dy: tensor<?x4xf32>, %x: tensor<?x4xf32>, %o: tensor<3xi32>,
        %g: tensor<2x6x4xf32>, %u: tensor<2x6x4xf32>, %d: tensor<2x4x6xf32>, %i: tensor<?x4xf32>)
        -> (tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>) {
      %dx, %dg, %du, %dd = rudnn.moe.experts_backward
          ins(%dy, %x, %o : tensor<?x4xf32>, tensor<?x4xf32>, tensor<3xi32>)
          weights(%g, %u, %d : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
          outs(%i, %g, %u, %d : tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>)
          -> tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
      return %dx, %dg, %du, %dd
          : tensor<?x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x6xf32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$dy, Rudnn_FloatShaped:$x,
      Rudnn_IndexShaped:$offsets, Rudnn_FloatShaped:$gate, Rudnn_FloatShaped:$up,
      Rudnn_FloatShaped:$down, Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<Rudnn_ExpertsStrategyAttr, "::rudnn::ExpertsStrategy::Auto">:$strategy);
  let assemblyFormat = [{
    `ins` `(` $dy `,` $x `,` $offsets `:` type($dy) `,` type($x) `,` type($offsets) `)`
    `weights` `(` $gate `,` $up `,` $down `:` type($gate) `,` type($up) `,` type($down) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_MoeDispatchBackwardOp : Rudnn_MoeTiledOp<"dispatch_backward"> {
  let summary = "Gradient of the dispatched tokens";
  let description = [{
    The gradient of `moe.dispatch` with respect to its tokens, for the gradient
    `grad` of its values:

    ```
    dx[t, h] = sum_j grad[slot_rows[t, j], h]
    ```

    in f32, over `j` in ascending order, rounded once. A slot whose row, as
    unsigned, is not below `R` adds nothing.

    Shapes: `grad` `[R, H]`, `slot_rows` `[T, K]` of i32; `dx` `[T, H]` of the type
    of `grad`. `T` and `R` may be 0.

    Under `-generate-runtime-verification` a row that is neither below `R` nor -1
    aborts the program with a message that names the op.

    Tiling: the loops over tokens and columns.

    Clauses:
    - `moe_dispatch_backward_c1`: `grad` has rank 2 and `H` is not 0.
    - `moe_dispatch_backward_c2`: `slot_rows` has rank 2 and a static `K` of at least 1.
    - `moe_dispatch_backward_c3`: `dx` is `[T, H]` of the type of `grad`.
    - `moe_dispatch_backward_c4`: one out; on tensors one result of its type, on
      memrefs none.

    Example:

    ```mlir
    func.func @backward(%g: tensor<32x64xf16>, %s: tensor<16x2xi32>, %i: tensor<16x64xf16>) -> tensor<16x64xf16> {
      %dx = rudnn.moe.dispatch_backward ins(%g, %s : tensor<32x64xf16>, tensor<16x2xi32>)
          outs(%i : tensor<16x64xf16>) -> tensor<16x64xf16>
      return %dx : tensor<16x64xf16>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$grad, Rudnn_IndexShaped:$slot_rows,
      Variadic<Rudnn_FloatShaped>:$outs);
  let assemblyFormat = [{
    `ins` `(` $grad `,` $slot_rows `:` type($grad) `,` type($slot_rows) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

#endif // RUDNN_MOE_TRAINING_OPS_TD
