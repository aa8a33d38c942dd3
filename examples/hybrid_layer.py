"""Inputs of examples/hybrid_layer.mlir and the same layer in NumPy float64.

As a program it writes the inputs and the expected results as .npy files, or compares a result:

    hybrid_layer.py write FOLDER TOKENS        FOLDER/arg0.npy .. arg18.npy, expected0.npy, expected1.npy
    hybrid_layer.py compare ACTUAL EXPECTED    prints the largest error; exit status 1 above 1e-4
"""

import pathlib
import sys

import numpy as np

HIDDEN, KEY_HEADS, VALUE_HEADS, HEAD_DIM = 256, 4, 8, 32
EXPERTS, GROUPS, KEPT_GROUPS, CHOSEN, WIDTH, SCALE = 16, 4, 2, 4, 128, 2.5
EPS = 1e-6


def inputs(tokens, seed=0):
    """The arguments of @hybrid_layer, in order, as float32 arrays."""
    rng = np.random.default_rng(seed)

    def weight(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    def vector(size, mean, spread):
        return (mean + spread * rng.standard_normal(size)).astype(np.float32)

    return [
        rng.standard_normal((tokens, HIDDEN)).astype(np.float32),
        vector(HIDDEN, 1, 0.1),
        weight(HIDDEN, (2 * KEY_HEADS + VALUE_HEADS) * HEAD_DIM),
        weight(HIDDEN, 2 * VALUE_HEADS),
        vector(VALUE_HEADS, 0, 0.5),
        vector(VALUE_HEADS, -2, 0.5),
        weight(HIDDEN, VALUE_HEADS * HEAD_DIM),
        vector(HEAD_DIM, 1, 0.1),
        weight(VALUE_HEADS * HEAD_DIM, HIDDEN),
        weight(1, VALUE_HEADS, HEAD_DIM, HEAD_DIM),
        vector(HIDDEN, 1, 0.1),
        weight(HIDDEN, EXPERTS),
        vector(EXPERTS, 0, 0.1),
        weight(EXPERTS, WIDTH, HIDDEN),
        weight(EXPERTS, WIDTH, HIDDEN),
        weight(EXPERTS, HIDDEN, WIDTH),
        weight(1, HIDDEN, HIDDEN),
        weight(1, HIDDEN, HIDDEN),
        weight(1, HIDDEN, HIDDEN),
    ]


def rms_norm(x, gamma):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPS) * gamma


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def swiglu(x, gate, up, down):
    return down @ (silu(gate @ x) * (up @ x))


def gated_delta(q, k, v, beta, log_decay, state):
    """Token by token. q, k: [T, KEY_HEADS, D]; v: [T, VALUE_HEADS, D]."""
    state, out = state.copy(), np.empty(v.shape)
    for t in range(len(v)):
        for head in range(VALUE_HEADS):
            key = head // (VALUE_HEADS // KEY_HEADS)
            s = np.exp(log_decay[t, head]) * state[0, head]
            delta = beta[t, head] * (v[t, head] - s.T @ k[t, key])
            state[0, head] = s + np.outer(k[t, key], delta)
            out[t, head] = state[0, head].T @ q[t, key] / np.sqrt(HEAD_DIM)
    return out, state


def delta_block(x, gamma, wqkv, wgates, a_log, dt_bias, wz, gamma_o, wo, state):
    tokens, n = len(x), rms_norm(x, gamma)
    heads = (n @ wqkv).reshape(tokens, 2 * KEY_HEADS + VALUE_HEADS, HEAD_DIM)
    q, k = heads[:, :KEY_HEADS], heads[:, KEY_HEADS : 2 * KEY_HEADS]
    v = heads[:, 2 * KEY_HEADS :]
    q, k = (a / np.sqrt((a * a).sum(axis=-1, keepdims=True) + 1e-6) for a in (q, k))
    b, a = np.split(n @ wgates, 2, axis=1)
    log_decay = -np.exp(a_log) * np.logaddexp(0, a + dt_bias)
    o, state = gated_delta(q, k, v, sigmoid(b), log_decay, state)
    z = (n @ wz).reshape(tokens, VALUE_HEADS, HEAD_DIM)
    return x + (rms_norm(o, gamma_o) * silu(z)).reshape(tokens, HIDDEN) @ wo, state


def choose(p, bias):
    """The experts of one token."""
    choice = p + bias
    score = np.sort(choice.reshape(GROUPS, -1), axis=1)[:, -2:].sum(axis=1)
    kept = np.argsort(-score, kind="stable")[:KEPT_GROUPS]
    allowed = np.isin(np.arange(EXPERTS) // (EXPERTS // GROUPS), kept)
    return np.argsort(np.where(allowed, -choice, np.inf), kind="stable")[:CHOSEN]


def experts_block(h, gamma, router, bias, gate, up, down, shared_gate, shared_up, shared_down):
    n, y = rms_norm(h, gamma), h.copy()
    for t, p in enumerate(sigmoid(n @ router)):
        chosen = choose(p, bias)
        for e in chosen:
            y[t] += SCALE * p[e] / p[chosen].sum() * swiglu(n[t], gate[e], up[e], down[e])
        y[t] += swiglu(n[t], shared_gate[0], shared_up[0], shared_down[0])
    return y


def reference(args):
    """The layer's output and last state for `inputs(...)`, in float64."""
    args = [a.astype(np.float64) for a in args]
    h, state = delta_block(*args[:10])
    return experts_block(h, *args[10:]), state


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "write":
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        args = inputs(int(sys.argv[3]))
        for index, arg in enumerate(args):
            np.save(folder / f"arg{index}.npy", arg)
        for index, result in enumerate(reference(args)):
            np.save(folder / f"expected{index}.npy", result)
        return 0
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        actual, expected = (np.load(name).astype(np.float64) for name in sys.argv[2:])
        if actual.shape != expected.shape:
            print(f"shape {actual.shape}, expected {expected.shape}")
            return 1
        error = np.abs(actual - expected).max(initial=0.0)
        print(f"max abs error {error:.2e} against NumPy float64 (values up to "
              f"{np.abs(expected).max(initial=0.0):.2f})")
        return 0 if error <= 1e-4 else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
