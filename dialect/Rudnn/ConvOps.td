//===- ConvOps.td - Convolution and its gradients -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_CONV_OPS_TD
#define RUDNN_CONV_OPS_TD

include "RudnnBase.td"

/// What the three ops share: the geometry, as attributes.
class Rudnn_ConvBase<string mnemonic, list<Trait> traits = []>
    : Rudnn_TiledOp<mnemonic, traits> {
  dag geometry = (ins
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$stride,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$padding,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilation,
      DefaultValuedAttr<I64Attr, "1">:$groups,
      DefaultValuedAttr<Rudnn_ConvLayoutAttr, "::rudnn::ConvLayout::ChannelsFirst">:$layout);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = tilingDeclaration # [{
    /// The geometry with defaults filled in; valid once the op has verified.
    ::rudnn::ConvGeometry getGeometry();
  }];
}

def Rudnn_ConvOp : Rudnn_ConvBase<"conv", [AttrSizedOperandSegments]> {
  let summary = "Convolution over 1, 2 or 3 spatial axes";
  let description = [{
    ```
    y[b, co, o] = bias[co] + sum over ci, t of
        x[b, g * (Ci/groups) + ci, o * stride + t * dilation - low] * weight[co, ci, t]
    ```

    with `g = co / (Co/groups)`, `o` and `t` positions along the N spatial axes
    and `low` the padding before the first element; taps outside of `x` count 0.
    (A cross-correlation, as in every deep-learning library.) Summed in f32,
    rounded once.

    Shapes with `layout = nchw` (the default): `x` `[B, Ci, s...]`, weight
    `[Co, Ci/groups, k...]`, `y` `[B, Co, o...]`; with `nhwc`: `x` `[B, s..., Ci]`,
    weight `[Co, k..., Ci/groups]`, `y` `[B, o..., Co]`. The output extent of an
    axis is `(s + low + high - dilation * (k - 1) - 1) / stride + 1`, rounded down.
    `padding` has one entry per axis (both sides), or all `low` then all `high`.
    Batch and spatial extents may be dynamic.

    Tiles: the batch and, with one group, the output channels are parallel loops.

    Clauses:
    - `conv_c1`: `x` has rank 3, 4 or 5.
    - `conv_c2`: the weight has the rank of `x`; channel counts and kernel extents
      are static and at least 1.
    - `conv_c3`: `stride` and `dilation` have one entry per spatial axis (or none:
      all 1), each at least 1.
    - `conv_c4`: `padding` has N or 2N entries (or none: all 0), each at least 0.
    - `conv_c5`: `groups` is at least 1 and divides `Ci` and `Co`.
    - `conv_c6`: the weight has `Ci / groups` input channels.
    - `conv_c7`: `bias` has shape `[Co]` and is f32 or of the type of `x`.
    - `conv_c8`: `y` has the batch of `x`, `Co` channels and the output extents
      above; the dilated kernel fits into the padded input.
    - `conv_c9`: `x`, weight and `y` have one element type.
    - `conv_c10`: one output; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @conv(%x: tensor<?x64x?x?xbf16>, %w: tensor<128x32x3x3xbf16>,
        %b: tensor<128xf32>, %init: tensor<?x128x?x?xbf16>) -> tensor<?x128x?x?xbf16> {
      %y = rudnn.conv ins(%x, %w : tensor<?x64x?x?xbf16>, tensor<128x32x3x3xbf16>)
          bias(%b : tensor<128xf32>) outs(%init : tensor<?x128x?x?xbf16>)
          {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, groups = 2 : i64}
          -> tensor<?x128x?x?xbf16>
      return %y : tensor<?x128x?x?xbf16>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$x, Rudnn_FloatShaped:$weight,
      Optional<Rudnn_FloatShaped>:$bias, Variadic<Rudnn_FloatShaped>:$outs), geometry);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `:` type($x) `,` type($weight) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_ConvDataBackwardOp : Rudnn_ConvBase<"conv_data_backward"> {
  let summary = "Gradient of a convolution with respect to its input";
  let description = [{
    The adjoint of `rudnn.conv` in `x`:

    ```
    dx[b, ci, i] = sum over co, t, o with o * stride + t * dilation - low == i of
        dy[b, co, o] * weight[co, ci, t]
    ```

    Inputs that no tap reads (for example when the stride is larger than the
    dilated kernel) get 0. Summed in f32, rounded once. Also the transposed
    convolution: the extents of `dx` come from `outs`.

    Shapes, layouts and attributes as in `rudnn.conv`; `dy` has the shape of `y`,
    `dx` that of `x` (both called so in the messages).

    Tiles: the batch and, with one group, the input channels are parallel loops.

    Clauses:
    - `conv_data_backward_c1`: `x` has rank 3, 4 or 5.
    - `conv_data_backward_c2`: the weight has the rank of `x`; channel counts and kernel extents
      are static and at least 1.
    - `conv_data_backward_c3`: `stride` and `dilation` have one entry per spatial axis (or none:
      all 1), each at least 1.
    - `conv_data_backward_c4`: `padding` has N or 2N entries (or none: all 0), each at least 0.
    - `conv_data_backward_c5`: `groups` is at least 1 and divides `Ci` and `Co`.
    - `conv_data_backward_c6`: the weight has `Ci / groups` input channels.
    - `conv_data_backward_c8`: `y` has the batch of `x`, `Co` channels and the output extents
      above; the dilated kernel fits into the padded input.
    - `conv_data_backward_c9`: `x`, weight and `y` have one element type.
    - `conv_data_backward_c10`: one output; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @conv_data_backward(%dy: tensor<2x8x4x4xf32>, %w: tensor<8x3x1x1xf32>,
        %init: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> {
      %dx = rudnn.conv_data_backward ins(%dy, %w : tensor<2x8x4x4xf32>, tensor<8x3x1x1xf32>)
          outs(%init : tensor<2x3x8x8xf32>) {stride = array<i64: 2, 2>} -> tensor<2x3x8x8xf32>
      return %dx : tensor<2x3x8x8xf32>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$dy, Rudnn_FloatShaped:$weight,
      Variadic<Rudnn_FloatShaped>:$outs), geometry);
  let assemblyFormat = [{
    `ins` `(` $dy `,` $weight `:` type($dy) `,` type($weight) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

def Rudnn_ConvWeightBackwardOp : Rudnn_ConvBase<"conv_weight_backward"> {
  let summary = "Gradient of a convolution with respect to its weight";
  let description = [{
    The adjoint of `rudnn.conv` in the weight:

    ```
    dw[co, ci, t] = sum over b, o of
        dy[b, co, o] * x[b, g * (Ci/groups) + ci, o * stride + t * dilation - low]
    ```

    Summed in f32, rounded once. (The gradient of the bias is the sum of `dy` over
    batch and space, an ordinary reduction.)

    Shapes, layouts and attributes as in `rudnn.conv`; `dw` has the shape of the
    weight.

    Tiles: with one group, the output and the input channels are parallel loops;
    with more there are none.

    Clauses:
    - `conv_weight_backward_c1`: `x` has rank 3, 4 or 5.
    - `conv_weight_backward_c2`: the weight has the rank of `x`; channel counts and kernel extents
      are static and at least 1.
    - `conv_weight_backward_c3`: `stride` and `dilation` have one entry per spatial axis (or none:
      all 1), each at least 1.
    - `conv_weight_backward_c4`: `padding` has N or 2N entries (or none: all 0), each at least 0.
    - `conv_weight_backward_c5`: `groups` is at least 1 and divides `Ci` and `Co`.
    - `conv_weight_backward_c6`: the weight has `Ci / groups` input channels.
    - `conv_weight_backward_c8`: `y` has the batch of `x`, `Co` channels and the output extents
      above; the dilated kernel fits into the padded input.
    - `conv_weight_backward_c9`: `x`, weight and `y` have one element type.
    - `conv_weight_backward_c10`: one output; on tensors one result of its type, on memrefs none.

    Example:

    ```mlir
    func.func @conv_weight_backward(%x: tensor<?x3x8x8xf32>, %dy: tensor<?x8x6x6xf32>,
        %init: tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32> {
      %dw = rudnn.conv_weight_backward ins(%x, %dy : tensor<?x3x8x8xf32>, tensor<?x8x6x6xf32>)
          outs(%init : tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32>
      return %dw : tensor<8x3x3x3xf32>
    }
    ```
  }];
  let arguments = !con((ins Rudnn_FloatShaped:$x, Rudnn_FloatShaped:$dy,
      Variadic<Rudnn_FloatShaped>:$outs), geometry);
  let assemblyFormat = [{
    `ins` `(` $x `,` $dy `:` type($x) `,` type($dy) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

#endif // RUDNN_CONV_OPS_TD
