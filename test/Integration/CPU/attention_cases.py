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
    # T7, T8: no queries: the gradients of keys and values are 0.
    p = Problem(rows=0, keys=5, dynamic=dynamic)
    p.add_backward(cases, "T7")
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

sys.exit(cases.run())
