"""Inputs of examples/decoder_layer.mlir and decoder_layer_bf16.mlir, and the layer in NumPy float64.

As a program it writes the inputs and the expected result as .npy files, or compares a result:

    decoder_layer.py write FOLDER TOKENS [bf16]   FOLDER/arg0.npy .. arg10.npy (rounded to bf16), expected.npy
    decoder_layer.py compare ACTUAL EXPECTED      prints the largest error; exit status 1 above 1e-4, or
                                                  above 6e-2 when the inputs are bf16

In bf16 a token whose second and third expert are close may get the other one: only tokens with a clear
choice are compared (FOLDER/clear.npy).
"""

import pathlib
import sys

import numpy as np

HIDDEN, QUERY_HEADS, KEY_HEADS, HEAD_DIM = 256, 8, 2, 32
EXPERTS, CHOSEN, WIDTH = 8, 2, 512
EPS = 1e-6
# Difference of logits from which on bf16 chooses the same experts.
CLEAR_CHOICE = 0.05


def inputs(tokens, seed=0):
    """The arguments of @decoder_layer, in order, as float32 arrays."""
    rng = np.random.default_rng(seed)

    def weight(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    frequency = 10000.0 ** (-np.arange(HEAD_DIM // 2) / (HEAD_DIM // 2))
    angle = np.arange(tokens)[:, None] * frequency
    return [
        rng.standard_normal((tokens, HIDDEN)).astype(np.float32),
        1 + 0.1 * rng.standard_normal(HIDDEN).astype(np.float32),
        weight(HIDDEN, (QUERY_HEADS + 2 * KEY_HEADS) * HEAD_DIM),
        weight(QUERY_HEADS * HEAD_DIM, HIDDEN),
        np.cos(angle).astype(np.float32),
        np.sin(angle).astype(np.float32),
        1 + 0.1 * rng.standard_normal(HIDDEN).astype(np.float32),
        weight(HIDDEN, EXPERTS),
        weight(EXPERTS, WIDTH, HIDDEN),
        weight(EXPERTS, WIDTH, HIDDEN),
        weight(EXPERTS, HIDDEN, WIDTH),
    ]


def rounded(args):
    """The arguments of @decoder_layer_bf16: all but the rotation tables rounded to bf16, as float32."""
    def to_bf16(a):
        bits = a.view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return [a if i in (4, 5) else to_bf16(a) for i, a in enumerate(args)]


def clear_choice(args):
    """Tokens whose choice of experts does not hang on a rounding."""
    x, gamma1, wqkv, wo, cos, sin, gamma2, router, *_ = [a.astype(np.float64) for a in args]
    h = attention_block(x, gamma1, wqkv, wo, cos, sin)
    logits = np.sort(rms_norm(h, gamma2) @ router, axis=-1)
    return logits[:, -CHOSEN] - logits[:, -CHOSEN - 1] > CLEAR_CHOICE


def rms_norm(x, gamma):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPS) * gamma


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rotary(x, cos, sin):
    """x: [T, heads, HEAD_DIM]."""
    a, b = np.split(x, 2, axis=-1)
    cos, sin = cos[:, None], sin[:, None]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def attention_block(x, gamma, wqkv, wo, cos, sin):
    tokens = len(x)
    heads = (rms_norm(x, gamma) @ wqkv).reshape(tokens, -1, HEAD_DIM)
    q = rotary(heads[:, :QUERY_HEADS], cos, sin)
    k = rotary(heads[:, QUERY_HEADS : QUERY_HEADS + KEY_HEADS], cos, sin)
    v = heads[:, QUERY_HEADS + KEY_HEADS :]
    later = np.triu(np.ones((tokens, tokens), bool), 1)
    rows = np.empty((tokens, QUERY_HEADS, HEAD_DIM))
    for head in range(QUERY_HEADS):
        group = head // (QUERY_HEADS // KEY_HEADS)
        scores = q[:, head] @ k[:, group].T / np.sqrt(HEAD_DIM)
        rows[:, head] = softmax(np.where(later, -np.inf, scores)) @ v[:, group]
    return x + rows.reshape(tokens, -1) @ wo


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
    """The layer's result for `inputs(...)`, in float64."""
    x, gamma1, wqkv, wo, cos, sin, gamma2, *experts = [a.astype(np.float64) for a in args]
    if len(x) == 0:
        return x
    h = attention_block(x, gamma1, wqkv, wo, cos, sin)
    return experts_block(h, gamma2, *experts)


def main():
    bf16 = sys.argv[4:] == ["bf16"]
    if sys.argv[1:2] == ["write"] and len(sys.argv) == 4 + bf16:
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        args = inputs(int(sys.argv[3]))
        if bf16:
            args = rounded(args)
            np.save(folder / "clear.npy", clear_choice(args))
        for index, arg in enumerate(args):
            np.save(folder / f"arg{index}.npy", arg)
        np.save(folder / "expected.npy", reference(args))
        return 0
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        actual, expected = (np.load(name).astype(np.float64) for name in sys.argv[2:])
        if actual.shape != expected.shape:
            print(f"shape {actual.shape}, expected {expected.shape}")
            return 1
        clear, limit = pathlib.Path(sys.argv[3]).parent / "clear.npy", 1e-4
        if clear.exists():
            tokens, limit = np.load(clear), 6e-2
            print(f"{tokens.sum()} of {len(tokens)} tokens have a clear choice of experts")
            actual, expected = actual[tokens], expected[tokens]
        error = np.abs(actual - expected).max(initial=0.0)
        print(f"max abs error {error:.2e} against NumPy float64 (values up to "
              f"{np.abs(expected).max(initial=0.0):.2f})")
        return 0 if error <= limit else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
