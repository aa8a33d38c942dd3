# RUN: %python %s
"""Gradients of the mixture-of-experts ops against NumPy in float64."""

import itertools
import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import moe_reference as ref
import rudnn_test

rng = np.random.default_rng(13)
suite = rudnn_test.Suite()
seen = set()
DTYPES = ("f32", "f16", "bf16")
# Of gradients in f32 and of those rounded to a storage type.
RTOL = {"f32": 5e-5, "f16": 2e-3, "bf16": 1e-2}
ATOL = {"f32": 2e-5, "f16": 1e-3, "bf16": 8e-3}


def normal(shape, dtype, scale=1.0):
    return rudnn_test.cast(rng.standard_normal(shape) * scale, dtype)


def add(label, text, arrays, expected, dtypes):
    """A tolerance per result."""
    for name, variant in ref.variants(seen, label, text, arrays, expected, dtypes[0] + str(arrays[0].dtype)):
        for i, dtype in enumerate(dtypes):
            only = [e if i == n else None for n, e in enumerate(expected)]
            suite.add(f"{name} result {i}", variant, arrays, only, RTOL[dtype], ATOL[dtype])


# --- router_weights, router_backward ------------------------------------------------


def add_router(label, logits, ids, grad, scoring, renormalize, scale, dtype, id_type="i32",
               weights=None, dlogits=None):
    logits = rudnn_test.cast(logits, dtype)
    ids = np.asarray(ids, {"i32": np.int32, "i64": np.int64}[id_type])
    grad = np.asarray(grad, np.float32).reshape(ids.shape)
    experts, k = logits.shape[1], ids.shape[1]
    attributes = f"scoring = #rudnn.router_scoring<{scoring}>, scale = {scale:e}"
    attributes += ", renormalize" if renormalize else ""
    ins = [(("?", experts), dtype), (("?", k), id_type), (("?", k), "f32")]
    expected = ref.router(logits, ids, grad, scoring, renormalize, scale)
    for i, given in enumerate((weights, dlogits)):
        if given is not None:
            np.testing.assert_allclose(expected[i], given, rtol=1e-6, atol=1e-7)
    label = f"{label} {dtype} {logits.shape} top {k} {scoring} renormalize {renormalize}"
    add(f"router_weights {label}",
        ref.function("router_weights", ins[:2], [(((0, 0), k), "f32")], attributes),
        [logits, ids], expected[:1], ["f32"])
    add(f"router_backward {label}",
        ref.function("router_backward", ins, [(((0, 0), experts), dtype)], attributes),
        [logits, ids, grad], expected[1:], [dtype])


KINDS = list(itertools.product(("softmax", "sigmoid"), (False, True)))
for scoring, renormalize in KINDS:
    for tokens, experts, k in ((1, 7, 1), (3, 65, 8), (0, 7, 1)):
        logits = rng.standard_normal((tokens, experts))
        ids = np.argsort(rng.random((tokens, experts)), axis=1)[:, :k]
        add_router("grid", logits, ids, rng.standard_normal((tokens, k)), scoring, renormalize,
                   1.5, "f32")
    for dtype in ("f16", "bf16"):
        add_router("grid", rng.standard_normal((9, 16)), rng.integers(0, 16, (9, 4)),
                   rng.standard_normal((9, 4)), scoring, renormalize, 1.0, dtype)
    # T50: a token with an id that is no expert is NaN as a whole, the others are not;
    # 2^40 is not 0.
    bad = [[0, 3], [-1, 1], [4, 1], [2, 2]]
    add_router("T50", rng.standard_normal((4, 4)), bad, rng.standard_normal((4, 2)), scoring,
               renormalize, 1.0, "f32")
    add_router("T50", rng.standard_normal((4, 4)), [[0, 3], [-1, 1], [4, 1], [2, 1 << 40]],
               rng.standard_normal((4, 2)), scoring, renormalize, 1.0, "f32", "i64")
add_router("2 x 129 top 64", rng.standard_normal((2, 129)), rng.integers(0, 129, (2, 64)),
           rng.standard_normal((2, 64)), "softmax", True, 2.5, "f32")

# The worked examples of the definition.
LOGS = np.log([[1.0, 2.0, 4.0, 8.0]])
add_router("two of four", LOGS, [[3, 2]], [1, -2], "softmax", False, 2.5, "f32",
           weights=[[2.5 * 8 / 15, 2.5 * 4 / 15]],
           dlogits=[[0, 0, -2.5 * 8 / 15, 2.5 * 8 / 15]])
add_router("one of four", LOGS, [[3]], [3], "softmax", True, 2.5,
           "f32", weights=[[2.5]], dlogits=[[0, 0, 0, 0]])
add_router("repeated", np.zeros((1, 4)), [[1, 1, 2]], [1, 2, 4], "sigmoid", False, 2.0, "f32",
           weights=[[1, 1, 1]], dlogits=[[0, 1.5, 2, 0]])
add_router("repeated", np.zeros((1, 4)), [[1, 1, 2]], [1, 2, 4], "softmax", True, 2.0, "f32")
add_router("NaN logits", [[0.0, np.nan, 1.0]], [[0, 2]], [1, 1], "softmax", True, 1.0, "f32")


# --- combine_backward, dispatch_backward -----------------------------------------------


def add_rows(label, ids, experts, width, dtype, weight_dtype="f32"):
    """The backward of combine and of dispatch, with the maps of a dispatch."""
    ids = np.asarray(ids, np.int32)
    tokens, k = ids.shape
    _, _, slot_rows, row_slots, _ = ref.dispatch(np.zeros((tokens, 1)), ids, experts)
    grad, y = normal((tokens, width), dtype), normal((ids.size, width), dtype)
    weights = normal(ids.shape, weight_dtype)
    text = ref.function(
        "combine_backward", [(("?", width), dtype), (("?", width), dtype), (("?", k), "i32"),
                             (("?",), "i32"), (("?", k), weight_dtype)],
        [(((1, 0), width), dtype), (((0, 0), k), "f32")])
    label = f"{label} {dtype} {ids.shape} width {width}"
    add(f"combine_backward {label}", text, [grad, y, slot_rows, row_slots, weights],
        ref.combine_backward(grad, y, slot_rows, row_slots, weights), [dtype, "f32"])
    text = ref.function("dispatch_backward", [(("?", width), dtype), (("?", k), "i32")],
                        [(((1, 0), width), dtype)])
    add(f"dispatch_backward {label}", text, [y, slot_rows], [ref.combine(y, slot_rows, None)],
        [dtype])


for dtype in DTYPES:
    for tokens in (0, 3, 40):
        add_rows("random", np.argsort(rng.random((tokens, 8)), axis=1)[:, :2], 8, 65, dtype)
add_rows("bf16 weights", [[0, 1], [2, 0]], 3, 16, "f16", "bf16")
add_rows("repeated ids", [[1, 1], [0, 1], [0, 0]], 2, 9, "f32")
add_rows("T50", [[0, -1], [4, 2], [-1, -1]], 4, 9, "f32")
# dispatch_backward of the dispatched values is K times the tokens.
x, ids = normal((7, 12), "f32"), np.argsort(rng.random((7, 5)), axis=1)[:, :2].astype(np.int32)
values, _, slot_rows, _, _ = ref.dispatch(x, ids, 5)
suite.add("dispatch_backward of dispatch",
          ref.function("dispatch_backward", [(("?", 12), "f32"), (("?", 2), "i32")],
                       [(((1, 0), 12), "f32")]),
          [values.astype(np.float32), slot_rows], [2 * x], 0, 0)


# --- experts_backward --------------------------------------------------------------


def add_experts(label, lengths, inner, width, dtype, rows=None, strategy="auto"):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    experts, rows = len(lengths), rows or int(offsets[-1])
    x, dy = normal((rows, width), dtype), normal((rows, width), dtype)
    gate = normal((experts, inner, width), dtype, width**-0.5)
    up = normal((experts, inner, width), dtype, width**-0.5)
    down = normal((experts, width, inner), dtype, inner**-0.5)
    shapes = [((experts, inner, width), dtype)] * 2 + [((experts, width, inner), dtype)]
    text = ref.function(
        "experts_backward",
        [(("?", width), dtype), (("?", width), dtype), ((experts + 1,), "i32"), *shapes],
        [(((1, 0), width), dtype), *[(shape, "f32") for shape, _ in shapes]],
        f"strategy = #rudnn.experts_strategy<{strategy}>", weights=3)
    expected = ref.experts_backward(dy, x, offsets, gate, up, down)
    for gradient in expected[1:]:  # an expert without rows has gradients of exactly 0
        assert all((gradient[e] == 0).all() for e, n in enumerate(lengths) if n == 0)
    add(f"experts_backward {label} {dtype} {list(lengths)} I {inner} H {width} {strategy}",
        text, [dy, x, offsets, gate, up, down], expected, [dtype, "f32", "f32", "f32"])


for dtype in DTYPES:
    for lengths in ([1, 0, 17], [1, 3, 17], [0, 0, 0], [3, 0, 19]):
        add_experts("ragged", lengths, 33, 19, dtype)
for strategy in ("grouped", "per_expert"):
    add_experts("strategy", [1, 65, 2, 0], 24, 16, "f32", strategy=strategy)
    add_experts("T50 rows of no expert", [3, 2], 8, 8, "f32", rows=9, strategy=strategy)

# T25: sums over many rows are not rounded to the type of the operands on the way: 32768
# equal terms in bf16, which stops growing at 256 of them.
rows = 32768
ones = [np.ones((rows, 4)), np.zeros((1, 4, 4)), np.ones((1, 4, 4)), np.ones((1, 4, 4))]
x, gate, up, down = (rudnn_test.cast(a, "bf16") for a in ones)
offsets = np.array([0, rows], np.int32)
expected = ref.experts_backward(x, x, offsets, gate, up, down)
assert abs(expected[1][0, 0, 0]) > rows
text = ref.function(
    "experts_backward", [(("?", 4), "bf16"), (("?", 4), "bf16"), ((2,), "i32"), *[((1, 4, 4), "bf16")] * 3],
    [(((1, 0), 4), "bf16"), *[((1, 4, 4), "f32")] * 3], "", weights=3)
add("T25", text, [x, x, offsets, gate, up, down], expected, ["bf16", "f32", "f32", "f32"])

suite.run()
