//===- NormOps.td - Normalization and softmax ops ----------*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_NORM_OPS_TD
#define RUDNN_NORM_OPS_TD

include "RudnnBase.td"

/// An op over the rows (last axis) of its first operand; the other axes are
/// parallel loops.
class Rudnn_RowOp<string mnemonic, list<Trait> traits = []>
    : Rudnn_TiledOp<mnemonic, traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
}

def Rudnn_RmsNormOp : Rudnn_RowOp<"rms_norm"> {
  let summary = "Root-mean-square normalization of the last axis";
  let description = [{
    For every row `x` of length `H` (the last axis of the input):

    ```
    y[i] = x[i] / sqrt(mean(x^2) + eps) * gamma[i]
    ```

    in f32, rounded once to the element type of the output. (Zhang and Sennrich,
    2019, "Root Mean Square Layer Normalization".)

    Shapes: `x` and `y` `[..., H]` of the same shape and element type, `gamma`
    `[H]`. Any axis but the last may be empty.

    Tiles: every axis but the last is a parallel loop.

    Clauses:
    - `rms_norm_c1`: `x` has rank at least 1 and `H` is not 0.
    - `rms_norm_c2`: `y` has the shape and element type of `x`.
    - `rms_norm_c3`: `gamma` has shape `[H]` and is f32 or of the type of `x`.
    - `rms_norm_c4`: `eps` is finite and greater than 0.
    - `rms_norm_c5`: one output; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @rms_norm(%x: tensor<?x512xbf16>, %gamma: tensor<512xf32>,
        %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      %y = rudnn.rms_norm ins(%x, %gamma : tensor<?x512xbf16>, tensor<512xf32>)
          outs(%init : tensor<?x512xbf16>) {eps = 1.0e-6 : f64} -> tensor<?x512xbf16>
      return %y : tensor<?x512xbf16>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$x, Rudnn_FloatShaped:$gamma,
      Variadic<Rudnn_FloatShaped>:$outs, DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let assemblyFormat = [{
    `ins` `(` $x `,` $gamma `:` type($x) `,` type($gamma) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_AddRmsNormOp : Rudnn_RowOp<"add_rms_norm"> {
  let summary = "Sum of two tensors and its root-mean-square normalization";
  let description = [{
    What a transformer's residual connection and the norm behind it compute, in one
    pass. For every row, in f32:

    ```
    h[i] = x[i] + residual[i]
    y[i] = h[i] / sqrt(mean(h^2) + eps) * gamma[i]
    ```

    The first output is `y`, the second `h`, each rounded once to its element type:
    `y` is computed from the sum before it is rounded.

    Shapes: `x`, `residual`, `y` and `h` `[..., H]` of the same shape and element
    type, `gamma` `[H]`. Any axis but the last may be empty.

    Clauses:
    - `add_rms_norm_c1`: `x` has rank at least 1 and `H` is not 0.
    - `add_rms_norm_c2`: `residual` has the shape and element type of `x`.
    - `add_rms_norm_c3`: `y` and `h` have the shape and element type of `x`.
    - `add_rms_norm_c4`: `gamma` has shape `[H]` and is f32 or of the type of `x`.
    - `add_rms_norm_c5`: `eps` is finite and greater than 0.
    - `add_rms_norm_c6`: two outs; on tensors one result for each, on memrefs none.

    Example:

    ```mlir
    func.func @add_rms_norm(%x: tensor<?x512xbf16>, %residual: tensor<?x512xbf16>,
        %gamma: tensor<512xf32>, %y: tensor<?x512xbf16>, %h: tensor<?x512xbf16>)
        -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
      %0:2 = rudnn.add_rms_norm
          ins(%x, %residual, %gamma : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<512xf32>)
          outs(%y, %h : tensor<?x512xbf16>, tensor<?x512xbf16>) {eps = 1.0e-6 : f64}
          -> tensor<?x512xbf16>, tensor<?x512xbf16>
      return %0#0, %0#1 : tensor<?x512xbf16>, tensor<?x512xbf16>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$x, Rudnn_FloatShaped:$residual,
      Rudnn_FloatShaped:$gamma, Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let assemblyFormat = [{
    `ins` `(` $x `,` $residual `,` $gamma `:` type($x) `,` type($residual) `,` type($gamma) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_LayerNormOp : Rudnn_RowOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "Layer normalization of the last axis";
  let description = [{
    For every row `x` of length `H` (the last axis of the input):

    ```
    mu = mean(x);  var = mean((x - mu)^2)
    y[i] = (x[i] - mu) / sqrt(var + eps) * gamma[i] + beta[i]
    ```

    in f32 with the variance about the mean (not `E[x^2] - E[x]^2`, which
    cancels), rounded once. (Ba, Kiros and Hinton, 2016.) Without `beta` nothing
    is added.

    Shapes: `x` and `y` `[..., H]`, `gamma` and `beta` `[H]`.

    Tiles: every axis but the last is a parallel loop.

    Clauses:
    - `layer_norm_c1`: `x` has rank at least 1 and `H` is not 0.
    - `layer_norm_c2`: `y` has the shape and element type of `x`.
    - `layer_norm_c3`: `gamma` has shape `[H]` and is f32 or of the type of `x`.
    - `layer_norm_c4`: `beta` likewise.
    - `layer_norm_c5`: `eps` is finite and greater than 0.
    - `layer_norm_c6`: one output; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @layer_norm(%x: tensor<8x384xf32>, %gamma: tensor<384xf32>,
        %beta: tensor<384xf32>, %init: tensor<8x384xf32>) -> tensor<8x384xf32> {
      %y = rudnn.layer_norm ins(%x, %gamma : tensor<8x384xf32>, tensor<384xf32>)
          beta(%beta : tensor<384xf32>) outs(%init : tensor<8x384xf32>) {eps = 1.0e-12 : f64}
          -> tensor<8x384xf32>
      return %y : tensor<8x384xf32>
    }
    ```
  }];
  let arguments = (ins Rudnn_FloatShaped:$x, Rudnn_FloatShaped:$gamma,
      Optional<Rudnn_FloatShaped>:$beta, Variadic<Rudnn_FloatShaped>:$outs,
      DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let assemblyFormat = [{
    `ins` `(` $x `,` $gamma `:` type($x) `,` type($gamma) `)`
    (`beta` `(` $beta^ `:` type($beta) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_SoftmaxOp : Rudnn_RowOp<"softmax"> {
  let summary = "Softmax of the last axis";
  let description = [{
    For every row `x`: `y[i] = exp(x[i] - m) / sum_j exp(x[j] - m)` with
    `m = max(x)`, in f32, rounded once. An element of -inf in a row with a finite
    maximum gives exactly 0. A row with a NaN, a +inf, or only -inf gives NaN
    everywhere.

    Shapes: `x` and `y` `[..., H]` of the same shape and element type.

    Tiles: every axis but the last is a parallel loop.

    Clauses:
    - `softmax_c1`: `x` has rank at least 1 and `H` is not 0.
    - `softmax_c2`: `y` has the shape and element type of `x`.
    - `softmax_c3`: one output; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @softmax(%x: tensor<4x?xf32>, %init: tensor<4x?xf32>) -> tensor<4x?xf32> {
      %y = rudnn.softmax ins(%x : tensor<4x?xf32>) outs(%init : tensor<4x?xf32>)
          -> tensor<4x?xf32>
      return %y : tensor<4x?xf32>
    }
    ```
  }];
  let hasCanonicalizer = 1;
  let arguments = (ins Rudnn_FloatShaped:$x, Variadic<Rudnn_FloatShaped>:$outs);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

#endif // RUDNN_NORM_OPS_TD
