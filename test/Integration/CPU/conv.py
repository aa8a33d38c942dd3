"""Convolution and its gradients against NumPy float64."""

# RUN: %python %s

import itertools
import os
import pathlib
import sys

import numpy as np
sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[1]))
import rudnn_test as rt  # noqa: E402

RNG = np.random.default_rng(0)
TOLERANCE = {"f32": (1e-5, 1e-5), "f16": (1e-3, 2e-3), "bf16": (8e-3, 1e-2)}


def out_extent(size, kernel, stride, low, high, dilation):
    return (size + low + high - dilation * (kernel - 1) - 1) // stride + 1


def taps(shape, case):
    """For every tap: the slice of the padded input that it reads for all outputs."""
    kernel, stride, dilation = case["kernel"], case["stride"], case["dilation"]
    for tap in itertools.product(*map(range, kernel)):
        yield tap, tuple(
            slice(t * d, t * d + (o - 1) * s + 1, s)
            for t, d, s, o in zip(tap, dilation, stride, shape)
        )


def padded(x, case):
    return np.pad(x, [(0, 0), (0, 0)] + list(zip(case["low"], case["high"])))


def per_group(groups, x, y):
    """(group, input channels, output channels) for every group."""
    ci, co = x.shape[1] // groups, y.shape[1] // groups
    for g in range(groups):
        yield slice(g * ci, (g + 1) * ci), slice(g * co, (g + 1) * co)


def forward(x, w, bias, case):
    x = padded(x, case)
    extents = [out_extent(*a) for a in zip(case["size"], case["kernel"], case["stride"],
                                           case["low"], case["high"], case["dilation"])]
    y = np.zeros((x.shape[0], w.shape[0], *extents))
    if bias is not None:
        y += bias.reshape(-1, *[1] * len(extents))
    for tap, window in taps(extents, case):
        for ci, co in per_group(case["groups"], x, y):
            part = x[(slice(None), ci) + window]
            y[:, co] += np.einsum("bi...,oi->bo...", part, w[(co, slice(None)) + tap])
    return y


def data_backward(dy, w, case, channels):
    shape = [s + l + h for s, l, h in zip(case["size"], case["low"], case["high"])]
    dx = np.zeros((dy.shape[0], channels, *shape))
    for tap, window in taps(dy.shape[2:], case):
        for ci, co in per_group(case["groups"], dx, dy):
            dx[(slice(None), ci) + window] += np.einsum(
                "bo...,oi->bi...", dy[:, co], w[(co, slice(None)) + tap])
    inner = tuple(slice(l, l + s) for l, s in zip(case["low"], case["size"]))
    return dx[(slice(None), slice(None)) + inner]


def weight_backward(x, dy, case):
    x = padded(x, case)
    dw = np.zeros((dy.shape[1], x.shape[1] // case["groups"], *case["kernel"]))
    for tap, window in taps(dy.shape[2:], case):
        for ci, co in per_group(case["groups"], x, dy):
            part = x[(slice(None), ci) + window]
            dw[(co, slice(None)) + tap] = np.einsum("bix,box->oi", *(
                a.reshape(*a.shape[:2], int(np.prod(a.shape[2:]))) for a in (part, dy[:, co])))
    return dw


def last(a, nhwc):
    """[B, C, ...] or [Co, Ci, ...] in the layout of the case."""
    return np.ascontiguousarray(np.moveaxis(a, 1, -1)) if nhwc else a


def first(a, nhwc):
    return np.moveaxis(a, -1, 1) if nhwc else a


def case(name, size, kernel, ci=3, co=4, batch=2, groups=1, stride=1, low=0, high=None,
         dilation=1, bias=False, nhwc=False, dtype="f32", dynamic=False):
    n = len(size)

    def each(value):
        return list(value) if isinstance(value, (list, tuple)) else [value] * n

    return dict(name=name, size=list(size), kernel=list(kernel), ci=ci, co=co, batch=batch,
                groups=groups, stride=each(stride), low=each(low),
                high=each(low if high is None else high), dilation=each(dilation), bias=bias,
                nhwc=nhwc, dtype=dtype, dynamic=dynamic)


CASES = [
    case("plain_1d", [20], [3], ci=64, co=32, stride=2, bias=True),
    case("ones_4x4", [4, 4], [2, 2], ci=1, co=1, batch=1),
    case("padded", [8, 9], [3, 3], low=1, bias=True),
    case("one_sided", [11], [4], low=3, high=0),  # causal
    case("strided_dilated", [16, 16], [4, 3], ci=16, co=32, low=[3, 1], dilation=[3, 2], dtype="f16"),
    case("grouped", [7, 6], [3, 2], ci=6, co=9, groups=3, low=1, bias=True),
    case("depthwise", [10, 10], [5, 5], ci=8, co=8, groups=8, low=2, stride=2, bias=True),
    case("depthwise_double", [9], [3], ci=4, co=8, groups=4, low=1),
    case("nhwc", [6, 7], [3, 3], ci=5, co=17, low=1, nhwc=True, bias=True),
    case("nhwc_grouped", [6, 7], [3, 2], ci=4, co=6, groups=2, stride=2, low=1, nhwc=True),
    case("volume", [5, 6, 4], [3, 2, 2], low=1, stride=[1, 2, 1], bias=True),
    case("volume_nhwc", [5, 6, 4], [3, 2, 2], dilation=[2, 1, 1], nhwc=True),
    # Stride larger than the dilated kernel: inputs between the taps get gradient 0.
    case("downsample", [8, 8], [1, 1], ci=4, co=8, stride=2),
    case("wide_stride", [13], [2], stride=4, low=1),
    case("wide_stride_dilated", [14], [2], stride=5, dilation=2),
    # Outputs that see nothing but padding.
    case("wide_padding", [4, 4], [2, 2], low=3),
    case("tail_unused", [10], [3], stride=4),
    case("bf16", [12, 12], [3, 3], ci=16, co=8, low=1, dtype="bf16", bias=True),
    case("dynamic", [9, 7], [3, 3], low=1, stride=2, dynamic=True, bias=True),
    case("dynamic_nhwc", [9, 7], [3, 3], stride=2, low=[1, 0], nhwc=True, dynamic=True),
    case("dynamic_grouped", [9], [2], ci=4, co=4, groups=2, dynamic=True),
    case("dynamic_f16", [9, 7], [3, 3], low=1, stride=2, dynamic=True, bias=True, dtype="f16"),
    case("dynamic_bf16", [9], [2], ci=4, co=4, groups=2, nhwc=True, dynamic=True, dtype="bf16"),
    case("volume_f16", [5, 3, 4], [3, 2, 2], low=1, bias=True, dtype="f16"),
    case("volume_bf16", [5, 3, 4], [2, 2, 2], nhwc=True, dynamic=True, dtype="bf16"),
    case("no_batch_f16", [5], [3], batch=0, dtype="f16"),
    case("no_batch_bf16", [5, 5], [3, 3], batch=0, nhwc=True, dtype="bf16", dynamic=True),
    case("no_batch", [5, 5], [3, 3], batch=0, dynamic=True),
]


def tensor(shape, c, dynamic_dims):
    dims = ["?" if c["dynamic"] and d in dynamic_dims else str(s) for d, s in enumerate(shape)]
    return f"tensor<{'x'.join(dims)}x{c['dtype']}>"


def functions(c, x, w, y):
    space = range(1, 1 + len(c["size"])) if c["nhwc"] else range(2, 2 + len(c["size"]))
    free = {0, *space}
    tx, ty, tw = tensor(x.shape, c, free), tensor(y.shape, c, free), tensor(w.shape, c, ())
    attrs = "stride = array<i64: {}>, padding = array<i64: {}>, dilation = array<i64: {}>, " \
        "groups = {} : i64, layout = #rudnn.conv_layout<{}>".format(
            ", ".join(map(str, c["stride"])), ", ".join(map(str, c["low"] + c["high"])),
            ", ".join(map(str, c["dilation"])), c["groups"], "nhwc" if c["nhwc"] else "nchw")
    bias = f"bias(%b : tensor<{c['co']}xf32>)" if c["bias"] else ""
    n = c["name"]
    return f"""
func.func @{n}_forward(%x: {tx}, %w: {tw}, %b: tensor<{c['co']}xf32>, %i: {ty}) -> {ty} {{
  %y = rudnn.conv ins(%x, %w : {tx}, {tw}) {bias} outs(%i : {ty}) {{{attrs}}} -> {ty}
  return %y : {ty}
}}
func.func @{n}_data(%dy: {ty}, %w: {tw}, %i: {tx}) -> {tx} {{
  %dx = rudnn.conv_data_backward ins(%dy, %w : {ty}, {tw}) outs(%i : {tx}) {{{attrs}}} -> {tx}
  return %dx : {tx}
}}
func.func @{n}_weight(%x: {tx}, %dy: {ty}, %i: {tw}) -> {tw} {{
  %dw = rudnn.conv_weight_backward ins(%x, %dy : {tx}, {ty}) outs(%i : {tw}) {{{attrs}}} -> {tw}
  return %dw : {tw}
}}"""


def operands(c):
    def values(*shape):
        return rt.cast(RNG.uniform(-1, 1, shape), c["dtype"])

    x = values(c["batch"], c["ci"], *c["size"])
    w = values(c["co"], c["ci"] // c["groups"], *c["kernel"])
    extents = [out_extent(*a) for a in zip(c["size"], c["kernel"], c["stride"], c["low"],
                                           c["high"], c["dilation"])]
    dy = values(c["batch"], c["co"], *extents)
    bias = RNG.uniform(-1, 1, c["co"]).astype(np.float32)
    if c["name"] == "ones_4x4":
        x[:] = np.arange(1, 17).reshape(x.shape)
        w[:] = 1
    return x, w, dy, bias


def main():
    cases = [(c, operands(c)) for c in CASES]
    cases = [(c, arrays) for c, arrays in cases if rt.is_selected(arrays)]
    text = "\n".join(functions(c, last(x, c["nhwc"]), last(w, c["nhwc"]), last(dy, c["nhwc"]))
                     for c, (x, w, dy, _) in cases)
    module = rt.load(text)
    for c, (x, w, dy, bias) in cases:
        nhwc, name, tolerance = c["nhwc"], c["name"], TOLERANCE[c["dtype"]]
        x64, w64, dy64 = (a.astype(np.float64) for a in (x, w, dy))
        lx, lw, ldy = (last(a, nhwc) for a in (x, w, dy))
        poison = np.full_like(ldy, np.nan)
        y, = module.call(f"{name}_forward", [lx, lw, bias, poison])
        expected = forward(x64, w64, bias.astype(np.float64) if c["bias"] else None, c)
        rt.assert_close(first(y, nhwc), expected, *tolerance, label=f"{name}: y")
        dx, = module.call(f"{name}_data", [ldy, lw, np.full_like(lx, np.nan)])
        expected_dx = data_backward(dy64, w64, c, c["ci"])
        rt.assert_close(first(dx, nhwc), expected_dx, *tolerance, label=f"{name}: dx")
        dw, = module.call(f"{name}_weight", [lx, ldy, np.full_like(lw, np.nan)])
        expected_dw = weight_backward(x64, dy64, c)
        rt.assert_close(first(dw, nhwc), expected_dw, *tolerance, label=f"{name}: dw")
        # The adjoint identities: <conv(x, w), dy> = <x, dx> = <w, dw>, of the references and
        # of what the compiled functions gave.
        linear = forward(x64, w64, None, c)
        results = [first(y, nhwc) - (bias.reshape(-1, *[1] * len(c["size"])) if c["bias"] else 0),
                   first(dx, nhwc), first(dw, nhwc)]
        for limit, (ry, rdx, rdw) in ((1e-9, (linear, expected_dx, expected_dw)), (10 * tolerance[0], results)):
            forms = [(a.astype(np.float64) * b).sum() for a, b in ((ry, dy64), (rdx, x64), (rdw, w64))]
            size = max(1, np.abs(linear * dy64).sum())
            assert max(forms) - min(forms) <= limit * size, f"{name}: {forms}"
        if name == "ones_4x4":
            assert y.reshape(-1).tolist() == [14, 18, 22, 30, 34, 38, 46, 50, 54], y
        # A stride beyond the dilated kernel leaves inputs without a tap, and not all of them.
        if any(s > d * k for s, d, k in zip(c["stride"], c["dilation"], c["kernel"])):
            assert (dx == 0).any() and (dx != 0).any(), name
    print(f"{len(cases)} cases passed")


if __name__ == "__main__":
    main()
