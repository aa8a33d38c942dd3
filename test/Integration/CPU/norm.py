# RUN: %python %s
"""rms_norm, add_rms_norm, layer_norm and softmax against NumPy in float64."""

import itertools
import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import rudnn_test
from norm_reference import layer_norm, rms_norm, softmax

rng = np.random.default_rng(7)
suite = rudnn_test.Suite()


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{d}x" for d in shape) + dtype + ">"


def dims(shape, value, static):
    """A tensor.empty like the argument, its dynamic extents read from it."""
    lines, names = [], []
    for i, d in enumerate(static):
        if d == "?":
            lines.append(f"%c{i} = arith.constant {i} : index")
            lines.append(f"%d{i} = tensor.dim {value}, %c{i} : {shape}")
            names.append(f"%d{i}")
    lines.append(f"%init = tensor.empty({', '.join(names)}) : {shape}")
    return "\n  ".join(lines)


def add(op, shape, static, dtype, x=None):
    if x is None:
        x = rng.standard_normal(shape) * 2
    x = rudnn_test.cast(x, dtype)
    wide = x.astype(np.float64)
    width = shape[-1]
    t, row = tensor(static, dtype), tensor(static[-1:], "f32")
    g = rudnn_test.cast(rng.standard_normal(width), "f32")
    b = rudnn_test.cast(rng.standard_normal(width), "f32")
    if op == "rms_norm":
        args, arrays = f"%x: {t}, %g: {row}", [x, g]
        body = f"rudnn.rms_norm ins(%x, %g : {t}, {row}) outs(%init : {t}) {{eps = 1.0e-6 : f64}}"
        expected = rms_norm(wide, g.astype(np.float64), 1e-6)
    elif op == "add_rms_norm":
        r = rudnn_test.cast(rng.standard_normal(shape), dtype)
        args, arrays = f"%x: {t}, %r: {t}, %g: {row}", [x, r, g]
        body = (f"rudnn.add_rms_norm ins(%x, %r, %g : {t}, {t}, {row}) outs(%init, %init : {t}, {t}) "
                "{eps = 1.0e-6 : f64}")
        total = wide + r.astype(np.float64)
        text = f"""func.func @NAME({args}) -> ({t}, {t}) {{
  {dims(t, '%x', static)}
  %y:2 = {body} -> {t}, {t}
  return %y#0, %y#1 : {t}, {t}
}}"""
        suite.add(f"{op} {dtype} {shape} as {static}", text, arrays,
                  [rms_norm(total, g.astype(np.float64), 1e-6), total],
                  rudnn_test.RTOL[dtype], rudnn_test.ATOL[dtype])
        return
    elif op == "layer_norm":
        args, arrays = f"%x: {t}, %g: {row}, %b: {row}", [x, g, b]
        body = (f"rudnn.layer_norm ins(%x, %g : {t}, {row}) beta(%b : {row}) "
                f"outs(%init : {t}) {{eps = 1.0e-5 : f64}}")
        expected = layer_norm(wide, g.astype(np.float64), b.astype(np.float64), 1e-5)
    else:
        args, arrays = f"%x: {t}", [x]
        body = f"rudnn.softmax ins(%x : {t}) outs(%init : {t})"
        expected = softmax(wide)
    text = f"""func.func @NAME({args}) -> {t} {{
  {dims(t, '%x', static)}
  %y = {body} -> {t}
  return %y : {t}
}}"""
    suite.add(f"{op} {dtype} {shape} as {static}", text, arrays, [expected],
              rudnn_test.RTOL[dtype], rudnn_test.ATOL[dtype])


SHAPES = [
    ((4, 64), (4, 64)),        # static
    ((5, 64), ("?", 64)),      # dynamic rows
    ((3, 37), ("?", "?")),     # dynamic row length, a tail
    ((2, 3, 17), (2, "?", 17)),
    ((0, 64), ("?", 64)),      # empty
    ((1, 1), (1, 1)),
    ((1, 1000), ("?", 1000)),
]
for op, dtype, (shape, static) in itertools.product(
        ("rms_norm", "add_rms_norm", "layer_norm", "softmax"), ("f32", "f16", "bf16"), SHAPES):
    add(op, shape, static, dtype)

# The variance is taken about the mean: a large common offset does not cancel it.
add("layer_norm", (2, 64), (2, 64), "f32", 1000 + rng.standard_normal((2, 64)))
# Large scores, and rows where some or all scores are -inf (all: NaN).
add("softmax", (2, 8), (2, 8), "f32", np.array([[1e4, 1e4 - 1, *[-1e4] * 6], [80.0] * 8]))
some = rng.standard_normal((2, 8))
some[:, ::2] = -np.inf
some[1] = -np.inf
add("softmax", (2, 8), (2, 8), "f32", some)

suite.run()
