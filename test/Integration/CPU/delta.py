"""The gated delta rule, token by token and in chunks, against NumPy float64."""

# RUN: %python %s

import os
import pathlib
import sys

import numpy as np
sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[1]))
import rudnn_test as rt  # noqa: E402

RNG = np.random.default_rng(0)


def recurrence(q, k, v, beta, log_decay, state, scale):
    """Outputs and final state; heads of q and k are repeated for grouped values."""
    q, k, v, beta, log_decay, state = (a.astype(np.float64) for a in (q, k, v, beta, log_decay, state))
    ratio = v.shape[1] // q.shape[1]
    q, k = np.repeat(q, ratio, 1), np.repeat(k, ratio, 1)
    out = np.zeros(v.shape)
    for t in range(v.shape[2]):
        state = np.exp(log_decay[:, :, t])[..., None, None] * state
        predicted = np.einsum("bhkv,bhk->bhv", state, k[:, :, t])
        delta = beta[:, :, t, None] * (v[:, :, t] - predicted)
        state = state + k[:, :, t, :, None] * delta[:, :, None]
        out[:, :, t] = np.einsum("bhkv,bhk->bhv", state, scale * q[:, :, t])
    return out, state


def function(name, dtype, b, hk, hv, t, k, v, scale, chunk):
    t = "?" if t is None else t
    q_type, v_type = f"tensor<{b}x{hk}x{t}x{k}x{dtype}>", f"tensor<{b}x{hv}x{t}x{v}x{dtype}>"
    beta_type, g_type = f"tensor<{b}x{hv}x{t}x{dtype}>", f"tensor<{b}x{hv}x{t}xf32>"
    s_type = f"tensor<{b}x{hv}x{k}x{v}xf32>"
    attrs = [] if scale is None else [f"scale = {scale:e} : f64"]
    op = "gated_delta_rule"
    if chunk:
        op = "chunk_gated_delta_rule"
        attrs.append(f"chunk_size = {chunk} : i64")
    return f"""
func.func @{name}(%q: {q_type}, %k: {q_type}, %v: {v_type}, %beta: {beta_type}, %g: {g_type},
    %s: {s_type}, %oi: {v_type}, %si: {s_type}) -> ({v_type}, {s_type}) {{
  %o, %f = rudnn.{op} ins(%q, %k, %v, %beta, %g, %s
      : {q_type}, {q_type}, {v_type}, {beta_type}, {g_type}, {s_type})
      outs(%oi, %si : {v_type}, {s_type}) {{{", ".join(attrs)}}} -> {v_type}, {s_type}
  return %o, %f : {v_type}, {s_type}
}}"""


def inputs(dtype, b, hk, hv, t, k, v, decay=(-1.0, 0.0), unit=False):
    def values(*shape):
        return rt.cast(RNG.uniform(-1, 1, shape), dtype)

    keys = RNG.uniform(-1, 1, (b, hk, t, k))
    if unit:
        keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    else:
        keys *= 0.5
    return [values(b, hk, t, k), rt.cast(keys, dtype), values(b, hv, t, v),
            rt.cast(RNG.uniform(0, 1, (b, hv, t)), dtype),
            RNG.uniform(*decay, (b, hv, t)).astype(np.float32),
            RNG.uniform(-1, 1, (b, hv, k, v)).astype(np.float32)]


# name, dtype, B, Hk, Hv, T, K, V, scale, chunk (None: token by token), dynamic, decay
CASES = [
    ("loop", "f32", 2, 2, 2, 3, 3, 5, 0.5, None, False, (-1, 0)),
    ("loop_bf16", "bf16", 1, 2, 4, 9, 8, 16, None, None, True, (-1, 0)),
    ("loop_f16", "f16", 2, 1, 3, 5, 4, 4, -0.25, None, True, (-1, 0)),
    ("loop_grown", "f32", 1, 1, 1, 6, 4, 4, None, None, False, (-0.1, 0.2)),
    ("loop_empty", "f32", 1, 2, 2, 0, 3, 5, None, None, True, (-1, 0)),
    ("chunk_1_1", "f32", 2, 2, 2, 1, 3, 5, 0.5, 1, False, (-1, 0)),
    ("chunk_3_4", "f32", 2, 2, 2, 3, 3, 5, 0.5, 4, False, (-1, 0)),
    ("chunk_7_3", "f32", 2, 2, 2, 7, 3, 5, 0.5, 3, True, (-1, 0)),
    ("chunk_67_33", "f32", 2, 2, 2, 67, 3, 5, 0.5, 33, False, (-1, 0)),
    ("chunk_64_64", "f16", 2, 2, 2, 64, 3, 5, 0.5, 64, False, (-1, 0)),
    ("chunk_65_64", "bf16", 2, 2, 2, 65, 3, 5, 0.5, 64, True, (-1, 0)),
    ("chunk_129_64", "f32", 2, 2, 2, 129, 3, 5, 0.5, 64, True, (-1, 0)),
    ("chunk_grouped", "bf16", 1, 2, 6, 70, 16, 32, None, 32, True, (-1, 0)),
    ("chunk_zero_scale", "f32", 1, 1, 1, 5, 4, 4, 0.0, 4, False, (-1, 0)),
    ("loop_static_f16", "f16", 1, 2, 2, 7, 5, 3, None, None, False, (-1, 0)),
    ("loop_empty_f16", "f16", 1, 2, 2, 0, 3, 5, None, None, True, (-1, 0)),
    ("loop_empty_bf16", "bf16", 1, 2, 2, 0, 3, 5, None, None, False, (-1, 0)),
    ("chunk_static_bf16", "bf16", 2, 2, 2, 37, 5, 3, None, 16, False, (-1, 0)),
    ("chunk_tail_f16", "f16", 1, 2, 4, 71, 16, 8, None, 32, True, (-1, 0)),
    ("chunk_empty_f16", "f16", 1, 2, 2, 0, 3, 5, None, 64, False, (-1, 0)),
    ("chunk_empty_bf16", "bf16", 1, 2, 2, 0, 3, 5, None, 64, True, (-1, 0)),
    ("chunk_empty", "f32", 1, 2, 2, 0, 3, 5, None, 64, True, (-1, 0)),
    # Sums of log_decay down to -2000 within a chunk: no overflow, no cancellation.
    ("chunk_strong", "f32", 1, 2, 2, 130, 16, 8, None, 64, False, (-30, 0)),
    ("chunk_model", "f32", 1, 2, 2, 148, 128, 128, None, 64, True, (-0.5, 0)),
]


def selected():
    """Cases with their arguments."""
    for case in CASES:
        _, dtype, b, hk, hv, t, k, v, _, _, _, decay = case
        args = inputs(dtype, b, hk, hv, t, k, v, decay, unit=k >= 16)
        if rt.is_selected(args):
            yield case, args


def main():
    cases = list(selected())
    text = "".join(function(n, d, b, hk, hv, None if dyn else t, k, v, s, c)
                   for (n, d, b, hk, hv, t, k, v, s, c, dyn, _), _ in cases)
    text += function("exact", "f32", 1, 1, 1, 1, 2, 1, 1.0, None)
    text += function("step", "f32", 2, 2, 2, None, 3, 5, 0.5, None)
    text += function("chunks", "f32", 2, 2, 2, None, 3, 5, 0.5, 4)
    text += function("exact_chunk", "f32", 1, 1, 1, 1, 2, 1, 1.0, 4)
    for dtype in ("f16", "bf16"):
        text += function(f"large_{dtype}", dtype, 1, 1, 1, 6, 4, 4, 1.0, None)
        text += function(f"large_chunk_{dtype}", dtype, 1, 1, 1, 6, 4, 4, 1.0, 4)
    module = rt.load(text)

    def run(name, args):
        v, s = args[2], args[5]
        given = s.copy()
        out, state = module.call(name, args + [np.full_like(v, np.nan), np.full_like(s, np.nan)])
        assert np.array_equal(given, s), f"{name}: the initial state was overwritten"
        return out, state

    for (name, dtype, b, hk, hv, t, k, v, scale, chunk, _, decay), args in cases:
        out, state = run(name, args)
        factor = 1 / np.sqrt(k) if scale is None else scale
        expected, expected_state = recurrence(*args, factor)
        rtol, atol = {"f32": (1e-5, 2e-5), "f16": (1e-3, 2e-3), "bf16": (8e-3, 1e-2)}[dtype]
        rt.assert_close(out, expected, rtol, atol, label=f"{name}: output")
        rt.assert_close(state, expected_state, 1e-5, 2e-5, label=f"{name}: state")
        if t == 0:
            assert np.array_equal(state, args[5]), f"{name}: the state must be the initial one"

    # One decayed, isolated large step (a sudden -1000 between small decays).
    args = inputs("f32", 2, 2, 2, 11, 3, 5)
    args[4][:, :, 1] = -1000.0
    for name in ("step", "chunks"):
        out, state = run(name, args)
        expected, expected_state = recurrence(*args, 0.5)
        rt.assert_close(out, expected, 1e-5, 1e-5, label=f"{name}: output after a sudden decay")
        rt.assert_close(state, expected_state, 1e-5, 1e-5, label=f"{name}: state after a sudden decay")

    # Continuation: two runs with the state handed over equal one; chunks then single tokens too.
    args = inputs("f32", 2, 2, 2, 11, 3, 5)
    whole, whole_state = run("step", args)
    for first, second in (("step", "step"), ("chunks", "chunks"), ("chunks", "step")):
        head = [np.ascontiguousarray(a[:, :, :6]) for a in args[:5]] + [args[5]]
        tail = [np.ascontiguousarray(a[:, :, 6:]) for a in args[:5]]
        out0, state = run(first, head)
        out1, state = run(second, tail + [state])
        rt.assert_close(np.concatenate([out0, out1], 2), whole, 1e-5, 1e-5, label=f"{first} then {second}")
        rt.assert_close(state, whole_state, 1e-5, 1e-5, label=f"{first} then {second}: state")

    # T23: the state decays before the error is taken: S = a (I - b k k^T) S + b k v^T. With k of
    # one element 1 and b = 1/2: S' = a S - (a S - v) / 2; the other order gives a (S - (S - v) / 2).
    args = [np.array(a, np.float32).reshape(s) for a, s in (
        ([1, 0], (1, 1, 1, 2)), ([1, 0], (1, 1, 1, 2)), ([3], (1, 1, 1, 1)), ([0.5], (1, 1, 1)),
        ([np.log(0.25)], (1, 1, 1)), ([8, 5], (1, 1, 2, 1)))]
    for name in ("exact", "exact_chunk"):
        out, state = run(name, args)
        rt.assert_close(out.reshape(-1), [2.5], 1e-6, 0, label=f"T23, {name}: output")
        rt.assert_close(state.reshape(-1), [2.5, 1.25], 1e-6, 0, label=f"T23, {name}: state")

    # T24: the state is f32 whatever the inputs are: an output beyond f16 is infinite for its token, bf16
    # holds it, and in both the state and later outputs are finite and right.
    for dtype in ("f16", "bf16"):
        for name in (f"large_{dtype}", f"large_chunk_{dtype}"):
            args = inputs(dtype, 1, 1, 1, 6, 4, 4, decay=(-3.0, -2.0), unit=True)
            args[5] = np.abs(args[5]) * 4e6
            args[0][:, :, 0] = 1
            out, state = run(name, args)
            expected, expected_state = recurrence(*args, 1.0)
            assert np.abs(expected[:, :, 0]).max() > 65504, "the case needs a large output"
            seen = np.abs(expected) < 65504 if dtype == "f16" else np.full(expected.shape, True)
            assert np.isinf(out[~seen]).all(), f"T24, {name}: rounding to f16"
            scale = np.abs(expected).max()
            rt.assert_close(out[seen], expected[seen], 8e-3, 1e-5 * scale, label=f"T24, {name}: output")
            rt.assert_close(state, expected_state, 1e-5, 1e-6 * scale, label=f"T24, {name}: state")

    # Products are not rounded before they are summed: -1*1 + (1+2^-23)(1-2^-23) = -2^-46.
    e = 2.0 ** -23
    args = [np.array(a, np.float32).reshape(s) for a, s in (
        ([1, 1 + e], (1, 1, 1, 2)), ([0, 0], (1, 1, 1, 2)), ([0], (1, 1, 1, 1)), ([0], (1, 1, 1)),
        ([0], (1, 1, 1)), ([-1, 1 - e], (1, 1, 2, 1)))]
    out, _ = run("exact", args)
    assert abs(out.item()) <= 2.0 ** -23, out  # within one rounding of the exact -2^-46
    print(f"{len(cases)} cases passed")


if __name__ == "__main__":
    main()
