"""Inputs of examples/decode_step.mlir and the same step in NumPy float64.

As a program it writes the inputs and the expected results as .npy files, or compares a result:

    decode_step.py write FOLDER LENGTH...      FOLDER/arg0.npy .. arg16.npy, expected0.npy .. expected2.npy
    decode_step.py compare ACTUAL EXPECTED     prints the largest error; exit status 1 above 1e-4

LENGTH are the lengths of the sequences, the new token included.
"""

import pathlib
import sys

import numpy as np

HIDDEN, QUERY_HEADS, KEY_HEADS, HEAD_DIM, PAGE = 256, 8, 2, 32, 16
EXPERTS, CHOSEN, WIDTH = 8, 2, 512
EPS = 1e-6


def inputs(lengths, seed=0):
    """The arguments of @decode_step, in order: f32 and i32 arrays.

    The rows are the sequences in shuffled order. Pages are scattered over the cache, and every
    slot that no token stands in holds NaN."""
    rng = np.random.default_rng(seed)

    def weight(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    lengths = np.asarray(lengths, np.int32)
    used = (lengths + PAGE - 1) // PAGE
    pages = int(used.sum()) + 2
    free = iter(rng.permutation(pages))
    tables = np.full((len(lengths), int(used.max(initial=0)) + 1), pages - 1, np.int32)
    k_cache = np.full((pages, PAGE, KEY_HEADS, HEAD_DIM), np.nan, np.float32)
    v_cache = k_cache.copy()
    for s, length in enumerate(lengths):
        tables[s, : used[s]] = [next(free) for _ in range(used[s])]
        for t in range(length - 1):
            for cache in (k_cache, v_cache):
                cache[tables[s, t // PAGE], t % PAGE] = rng.standard_normal((KEY_HEADS, HEAD_DIM))
    ids = rng.permutation(len(lengths)).astype(np.int32)
    positions = lengths[ids] - 1
    frequency = 10000.0 ** (-np.arange(HEAD_DIM // 2) / (HEAD_DIM // 2))
    angle = positions[:, None] * frequency
    return [
        rng.standard_normal((len(ids), HIDDEN)).astype(np.float32),
        1 + 0.1 * rng.standard_normal(HIDDEN).astype(np.float32),
        weight(HIDDEN, (QUERY_HEADS + 2 * KEY_HEADS) * HEAD_DIM),
        weight(QUERY_HEADS * HEAD_DIM, HIDDEN),
        np.cos(angle).astype(np.float32),
        np.sin(angle).astype(np.float32),
        tables,
        lengths,
        ids,
        positions.astype(np.int32),
        k_cache,
        v_cache,
        1 + 0.1 * rng.standard_normal(HIDDEN).astype(np.float32),
        weight(HIDDEN, EXPERTS),
        weight(EXPERTS, WIDTH, HIDDEN),
        weight(EXPERTS, WIDTH, HIDDEN),
        weight(EXPERTS, HIDDEN, WIDTH),
    ]


def rms_norm(x, gamma):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPS) * gamma


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rotary(x, cos, sin):
    """x: [Q, heads, HEAD_DIM]."""
    a, b = np.split(x, 2, axis=-1)
    cos, sin = cos[:, None], sin[:, None]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def attention_block(x, gamma, wqkv, wo, cos, sin, tables, lengths, ids, positions, k_cache, v_cache):
    k_cache, v_cache = k_cache.copy(), v_cache.copy()
    heads = (rms_norm(x, gamma) @ wqkv).reshape(len(x), QUERY_HEADS + 2 * KEY_HEADS, HEAD_DIM)
    q = rotary(heads[:, :QUERY_HEADS], cos, sin)
    k = rotary(heads[:, QUERY_HEADS : QUERY_HEADS + KEY_HEADS], cos, sin)
    v = heads[:, QUERY_HEADS + KEY_HEADS :]
    rows = np.empty((len(x), QUERY_HEADS, HEAD_DIM))
    for r, (s, p) in enumerate(zip(ids, positions)):
        k_cache[tables[s, p // PAGE], p % PAGE] = k[r]
        v_cache[tables[s, p // PAGE], p % PAGE] = v[r]
    for r, (s, p) in enumerate(zip(ids, positions)):
        t = np.arange(min(lengths[s], p + 1))
        keys, values = (cache[tables[s, t // PAGE], t % PAGE] for cache in (k_cache, v_cache))
        for head in range(QUERY_HEADS):
            group = head // (QUERY_HEADS // KEY_HEADS)
            scores = keys[:, group] @ q[r, head] / np.sqrt(HEAD_DIM)
            rows[r, head] = softmax(scores) @ values[:, group]
    return x + rows.reshape(len(x), HIDDEN) @ wo, k_cache, v_cache


def experts_block(h, gamma, router, gate, up, down):
    x = rms_norm(h, gamma)
    y = h.copy()
    for token, p in enumerate(softmax(x @ router)):
        chosen = np.argsort(-p, kind="stable")[:CHOSEN]
        for expert in chosen:
            g, u = gate[expert] @ x[token], up[expert] @ x[token]
            weight = p[expert] / p[chosen].sum()
            y[token] += weight * (down[expert] @ (g / (1 + np.exp(-g)) * u))
    return y


def reference(args):
    """The step's output and the caches for `inputs(...)`, in float64."""
    args = [a if a.dtype == np.int32 else a.astype(np.float64) for a in args]
    h, k_cache, v_cache = attention_block(*args[:12])
    return experts_block(h, *args[12:]), k_cache, v_cache


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "write":
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        args = inputs([int(length) for length in sys.argv[3:]])
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
        if (np.isnan(actual) != np.isnan(expected)).any():
            print("NaN where the reference has none, or the other way round")
            return 1
        error = np.nan_to_num(np.abs(actual - expected)).max(initial=0.0)
        print(f"max abs error {error:.2e} against NumPy float64 (values up to "
              f"{np.nan_to_num(np.abs(expected)).max(initial=0.0):.2f})")
        return 0 if error <= 1e-4 else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
