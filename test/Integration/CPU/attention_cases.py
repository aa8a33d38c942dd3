# RUN: %python %s
"""Known results of dense attention, and the public bug reports that concern it (T..)."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Inputs"))
import attention_reference as ref
from attention_reference import Options, Problem

cases = ref.Cases(["-O0"])


def equals(expected, tolerance=0.0):
    """Equal to `expected` (broadcast), exactly unless there is a tolerance."""

    def check(actual):
        wide = np.asarray(actual, np.float64)
        with np.errstate(invalid="ignore"):
            same = (wide == expected) | (np.abs(wide - expected) <= tolerance)
        assert same.all(), f"{wide.ravel()[:8]} instead of {np.ravel(expected)[:8]}"

    return check


def known(label, problem, arrays, checks):
    cases.add(label, problem.forward_text(), problem.stored_arrays(arrays), checks)


def one_head(rows, keys, head=8, value=1, **more):
    return Problem(batch=1, q_heads=1, kv_heads=1, rows=rows, keys=keys, head=head, value=value, **more)


def counting(problem):
    """Equal scores, and value j at key j."""
    q = np.ones((1, 1, problem.rows, problem.head))
    k = np.zeros((1, 1, problem.keys, problem.head))
    return {"q": q, "k": k, "v": np.arange(problem.keys, dtype=float).reshape(1, 1, -1, 1)}


# Means over the keys that are seen.
for label, problem, expected in (
    ("128 equal scores", one_head(1, 128), [63.5]),
    ("100 keys, part of a block", one_head(1, 100), [49.5]),
    ("causal 4 x 128", one_head(4, 128, options=Options("bottom_right")), [62, 62.5, 63, 63.5]),
    ("first 64 keys masked", one_head(1, 128, mask="k"), [95.5]),
):
    a = counting(problem)
    if problem.mask:
        a["mask"] = (np.arange(128) < 64).reshape(1, 1, 1, 128)
    known(label, problem, a, [equals(np.reshape(expected, (1, 1, -1, 1)), 1e-4)])
p = one_head(1, 128)
a = counting(p)
a["k"] = np.repeat([0.1, 5.0], 64)[None, None, :, None] * np.ones(8)
a["v"] = np.repeat([0.0, 1.0], 64).reshape(1, 1, -1, 1)
known("the second half wins", p, a, [equals(1.0, 0.01)])
p = one_head(2, 2, head=2)
a = {"q": np.eye(2)[None, None], "k": np.eye(2)[None, None], "v": np.array([[[[10.0], [20.0]]]])}
known("identity", p, a, [equals(np.array([13.302, 16.698]).reshape(1, 1, 2, 1), 1e-3)])

# T1: causal, 8 queries over 4 keys: rows 0..3 see nothing.
p = Problem(rows=8, keys=4, lse=True, options=Options("bottom_right"))
blind_out = lambda x: equals(0.0)(x[:, :, :4])
blind_lse = lambda x: equals(-np.inf)(x[:, :, :4])
known("T1", p, p.arrays(), [blind_out, blind_lse])
p.add_forward(cases, "T1, all rows")
p.add_backward(cases, "T1, gradients")
# T4: no keys.
for dynamic in (False, True):
    p = Problem(rows=3, keys=0, lse=True, dynamic=dynamic)
    known("T4", p, p.arrays(), [equals(0.0), equals(-np.inf)])
    # T15: no keys but sinks.
    p = Problem(rows=3, keys=0, lse=True, sinks=True, dynamic=dynamic)
    a = p.arrays()
    sinks = np.float32(a["sinks"])[None, :, None]
    known("T15, no keys", p, a, [equals(0.0), equals(sinks, 1e-6)])
    # T7: no queries: the gradients of keys and values are 0.
    p = Problem(rows=0, keys=5, dynamic=dynamic)
    p.add_backward(cases, "T7")
# T6: batches of 0, 0 and 1023 queries through one function, forward and backward.
for rows in (0, 0, 1023):
    p = Problem(batch=1, q_heads=2, kv_heads=1, rows=rows, keys=rows, dynamic=True, lse=True, options=Options("bottom_right"))
    p.add_forward(cases, f"T6, {rows} rows")
    p.add_backward(cases, f"T6, {rows} rows")
# T8: long queries, no keys beside many: finite, and 0 where there are no keys.
for rows, keys in ((270, 2022), (6898, 0), (1785, 540)):
    p = Problem(batch=1, q_heads=1, kv_heads=1, rows=rows, keys=keys, head=8, value=8, dynamic=True, lse=True)
    p.add_forward(cases, f"T8, {rows} x {keys}")
    p.add_backward(cases, f"T8, {rows} x {keys}")
Problem(rows=65, keys=130, sinks=True, lse=True, options=Options("bottom_right", left=20)).add_forward(cases, "T15, window")
# T10: rows whose lse is far below -88.7, 704 = 5 blocks and a half.
p = Problem(batch=1, q_heads=2, rows=704, keys=704, head=64, value=64, mask="qk", bias="q", lse=True)
a = p.arrays()
a["bias"] = a["bias"] - 300
# Scores near -300 are only good to 2e-5 in f32.
out, lse = ref.forward(a["q"], a["k"], a["v"], p.options, a["mask"], a["bias"])
known("T10, forward", p, a, [ref.is_close("out", out, "f32", 64), ref.is_close("lse", lse, "f32")])
p.add_backward(cases, "T10", arrays=a)
# T11: a tail of one row and one key, with a mask.
p = Problem(batch=1, q_heads=1, kv_heads=1, rows=1025, keys=1025, mask="k", options=Options("bottom_right"))
p.add_backward(cases, "T11")
# T13: scores in the thousands saturate at the cap.
p = Problem(rows=5, keys=70, spread=3000.0, lse=True, options=Options(softcap=50.0))
p.add_forward(cases, "T13")
# Large scores without a cap: one key wins.
Problem(rows=5, keys=300, spread=300.0).add_forward(cases, "large scores")
# T31: head dims that kernels refuse elsewhere.
for head, value in ((512, 512), (256, 192), (96, 96), (576, 512), (7, 5)):
    Problem(batch=1, q_heads=2, kv_heads=1, rows=3, keys=130, head=head, value=value).add_forward(cases, "T31")
# T17: 192 score dims and 128 value dims, 99 tokens, 16 heads.
for dtype in ("f32", "f16", "bf16"):
    p = Problem(batch=1, q_heads=16, kv_heads=16, rows=99, keys=99, head=192, value=128, dtype=dtype, options=Options("bottom_right"))
    p.add_forward(cases, f"T17 {dtype}")
# T26: more (batch, head) pairs than a 16-bit grid has, forward and backward.
p = Problem(batch=8300, q_heads=16, kv_heads=16, rows=1, keys=1, head=4, value=4, dynamic=True)
p.add_forward(cases, "T26")
p.add_backward(cases, "T26")
# T32: any ratio of heads.
for ratio in (5, 6, 7, 16):
    Problem(batch=1, q_heads=2 * ratio, kv_heads=2, rows=9, keys=20).add_forward(cases, "T32")
    Problem(batch=1, q_heads=2 * ratio, kv_heads=2, rows=9, keys=20).add_backward(cases, "T32")


def merge(label, base, parts, checks):
    """merge_attention_states of (state, lse) parts."""
    b, h, s, d = parts[0][0].shape
    t, l = f"tensor<{b}x{h}x?x{d}xf32>", f"tensor<{b}x{h}x?xf32>"
    n = range(len(parts))
    arguments = ", ".join([f"%s{i}: {t}" for i in n] + [f"%l{i}: {l}" for i in n])
    text = f"""func.func @NAME({arguments}) -> ({t}, {l}) {{
  %c2 = arith.constant 2 : index
  %n = tensor.dim %s0, %c2 : {t}
  %e = tensor.empty(%n) : {t}
  %f = tensor.empty(%n) : {l}
  %r:2 = rudnn.merge_attention_states states({', '.join(f'%s{i}' for i in n)} : {', '.join([t] * len(parts))})
      lses({', '.join(f'%l{i}' for i in n)} : {', '.join([l] * len(parts))}) outs(%e, %f : {t}, {l})
      {{lse_base = #rudnn.log_base<{base}>}} -> {t}, {l}
  return %r#0, %r#1 : {t}, {l}
}}
"""
    arrays = [np.float32(x) for x, _ in parts] + [np.float32(x) for _, x in parts]
    cases.add(label, text, arrays, checks)


def merge_typed(label, dtype, rows):
    """Three states of `dtype`, the shapes static, against float64."""
    rng = np.random.default_rng(rows)
    states = [ref.round_to(rng.standard_normal((2, 3, rows, 5)), dtype) for _ in range(3)]
    lses = [np.float32(rng.standard_normal((2, 3, rows)) * 3) for _ in range(3)]
    t, l = f"tensor<2x3x{rows}x5x{dtype}>", f"tensor<2x3x{rows}xf32>"
    arguments = ", ".join([f"%s{i}: {t}" for i in range(3)] + [f"%l{i}: {l}" for i in range(3)])
    text = f"""func.func @NAME({arguments}) -> ({t}, {l}) {{
  %e = tensor.empty() : {t}
  %f = tensor.empty() : {l}
  %r:2 = rudnn.merge_attention_states states(%s0, %s1, %s2 : {t}, {t}, {t}) lses(%l0, %l1, %l2 : {l}, {l}, {l})
      outs(%e, %f : {t}, {l}) -> {t}, {l}
  return %r#0, %r#1 : {t}, {l}
}}
"""
    wide = np.stack(lses).astype(np.float64)
    top = wide.max(0) if rows else wide.sum(0)
    weights = np.exp(wide - top)
    out = (weights[..., None] * np.stack(states)).sum(0) / weights.sum(0)[..., None]
    checks = [ref.is_close("out", out, dtype), ref.is_close("lse", top + np.log(weights.sum(0)), "f32")]
    cases.add(label, text, [ref.stored(x, dtype) for x in states] + lses, checks)


rng = np.random.default_rng(3)
state, lse = rng.standard_normal((1, 2, 3, 4)).astype(np.float32), rng.standard_normal((1, 2, 3)).astype(np.float32)
empty = (np.zeros_like(state), np.full_like(lse, -np.inf))
for base in ("e", "two"):
    merge("T3, two empty states", base, [empty, empty], [equals(0.0), equals(-np.inf)])
    merge("T3, one empty state", base, [empty, (state, lse)], [equals(state), equals(lse)])
    nothing = (np.full_like(state, np.nan), empty[1])
    merge("T3, an empty state holds NaN", base, [(state, lse), nothing], [equals(state), equals(lse)])
    # T14: parts of the keys, merged, are attention over all of them, in either base.
    options = Options(base=base)
    p = Problem(rows=6, keys=50, options=options)
    a = p.arrays()
    split = [ref.forward(a["q"], a["k"][:, :, i:j], a["v"][:, :, i:j], options) for i, j in ((0, 7), (7, 30), (30, 50))]
    out, whole = ref.forward(a["q"], a["k"], a["v"], options)
    merge("T14", base, split, [ref.is_close("out", out, "f32"), ref.is_close("lse", whole, "f32")])

# f16 and bf16, static and dynamic, no rows, one row, tails.
for dtype in ("f16", "bf16"):
    for rows in (0, 1, 65):
        merge_typed(f"merge {dtype} {rows}", dtype, rows)

# T36: gradients of 8 query heads a key head have the same bits in every run.
p = Problem(batch=1, q_heads=16, kv_heads=2, rows=300, keys=300, options=Options("bottom_right"))
a = p.arrays()
out, lse = ref.forward(a["q"], a["k"], a["v"], p.options)
operands = p.stored_arrays(a) + [np.float32(out), np.float32(a["q"]), np.float32(lse)]
runs = []


def repeats(name):
    def check(actual):
        runs.append((name, np.array(actual).tobytes()))
        first = next(bits for known_name, bits in runs if known_name == name)
        assert runs[-1][1] == first, f"{name} differs between two runs"

    return check


for run in range(3):
    cases.add(f"T36, run {run}", p.backward_text(False, False), operands, [repeats(n) for n in ("dq", "dk", "dv")])

sys.exit(cases.run())
