# RUN: %python %s
"""Routing, dispatch, experts and combine against NumPy in float64."""

import itertools
import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import moe_reference as ref
import rudnn_test

rng = np.random.default_rng(11)
suite = rudnn_test.Suite()
seen = set()
DTYPES = ("f32", "f16", "bf16")
INF, NAN = np.inf, np.nan


def add(label, text, arrays, expected, dtype, exact=()):
    """Results whose index is in `exact` (indices) are compared without tolerance."""
    floats = [None if i in exact else e for i, e in enumerate(expected)]
    indices = [e if i in exact else None for i, e in enumerate(expected)]
    for name, variant in ref.variants(seen, label, text, arrays, expected, dtype):
        suite.add(name, variant, arrays, floats, rudnn_test.RTOL[dtype], rudnn_test.ATOL[dtype])
        if exact:
            suite.add(name + " (indices)", variant, arrays, indices, 0, 0)


def normal(shape, dtype, scale=1.0):
    return rudnn_test.cast(rng.standard_normal(shape) * scale, dtype)


# --- route ------------------------------------------------------------------------


def add_route(label, logits, k, renormalize, dtype, static=False, weights=None):
    logits = rudnn_test.cast(logits, dtype)
    tokens, experts = logits.shape
    out = weights or dtype
    rows, count = (tokens, tokens) if static else ("?", (0, 0))
    text = ref.function("route", [((rows, experts), dtype)],
                        [((count, k), "i32"), ((count, k), out)],
                        "renormalize" if renormalize else "")
    add(f"route {label} {dtype} {logits.shape} top {k}", text, [logits],
        ref.route(logits, k, renormalize), out, exact=(0,))


for dtype, renormalize in itertools.product(DTYPES, (False, True)):
    for tokens in (0, 1, 3, 64, 257):
        add_route("dynamic", rng.standard_normal((tokens, 8)) * 2, 2, renormalize, dtype)
for tokens, experts, k in ((1, 1, 1), (5, 7, 7), (17, 65, 8), (3, 129, 64)):
    add_route("static", rng.standard_normal((tokens, experts)), k, True, "f32", static=True)
add_route("f32 weights", rng.standard_normal((9, 8)), 2, True, "bf16", weights="f32")

# The worked examples of the definition.
LOGS = np.log([[1.0, 2.0, 4.0, 8.0]])
add_route("weights 8/15, 4/15", LOGS, 2, False, "f32")
add_route("weights 2/3, 1/3", LOGS, 2, True, "f32")
# T49: ties go to the lower expert, ids are distinct also where fewer than K logits are
# finite. Rows with NaN, +inf or only -inf give ids 0, 1, .. and NaN.
SPECIAL = np.array([[3.0, 3.0, 3.0, 3.0], [1.0, -INF, 0.0, -INF], [0.0, NAN, 2.0, 1.0],
                    [0.0, 1.0, INF, 2.0], [-INF, -INF, -INF, -INF]])
for dtype, renormalize in itertools.product(DTYPES, (False, True)):
    add_route("T49", SPECIAL, 4, renormalize, dtype)
add_route("T49 large logits", np.array([[1e4, -1e4, 1e4, 0.0], [-3e4, -3e4, -3e4, -3e4]]), 3,
          True, "f32")


# --- route_sigmoid_grouped ----------------------------------------------------------


def add_grouped(label, logits, bias, k, groups, selected, top_two, renormalize, scale, dtype):
    logits = rudnn_test.cast(logits, dtype)
    experts = logits.shape[1]
    ins, arrays = [(("?", experts), dtype)], [logits]
    if bias is not None:
        bias = rudnn_test.cast(bias, "f32")
        ins.append(((experts,), "f32"))
        arrays.append(bias)
    attributes = f"groups = {groups}, selected_groups = {selected}, scale = {scale:e}"
    attributes += ", group_top_two" if top_two else ""
    attributes += ", renormalize" if renormalize else ""
    text = ref.function("route_sigmoid_grouped", ins,
                        [(((0, 0), k), "i32"), (((0, 0), k), dtype)], attributes,
                        bias=bias is not None)
    expected = ref.route_sigmoid_grouped(logits, bias, k, groups, selected, top_two,
                                         renormalize, scale)
    add(f"route_sigmoid_grouped {label} {dtype} {logits.shape}", text, arrays, expected,
        dtype, exact=(0,))


add_grouped("definition", np.arange(8.0)[None], np.array([10.0] + [0.0] * 7), 2, 2, 1, True,
            True, 2.0, "f32")
for dtype in DTYPES:
    for tokens in (0, 1, 33):
        add_grouped("random", rng.standard_normal((tokens, 32)), rng.standard_normal(32) * 0.1,
                    6, 8, 4, True, True, 2.5, dtype)
add_grouped("one group", rng.standard_normal((7, 12)), None, 5, 1, 1, False, False, 1.0, "f32")
add_grouped("max score", rng.standard_normal((19, 30)), rng.standard_normal(30), 4, 10, 3,
            False, False, 0.5, "f32")
# T47: a bias of -2 makes every kept score negative; dropped groups must not win.
add_grouped("T47", rng.standard_normal((16, 32)), np.full(32, -2.0), 8, 8, 2, True, True, 2.5,
            "f32")
# T49: ties to the lower group and expert; a NaN score is chosen last.
add_grouped("T49 ties", np.zeros((3, 16)), None, 4, 4, 2, True, True, 1.0, "f32")
poisoned = rng.standard_normal((4, 16))
poisoned[:, 3] = NAN
add_grouped("T49 NaN", poisoned, None, 4, 4, 2, True, False, 1.0, "f32")
add_grouped("T49 -inf bias", rng.standard_normal((4, 8)), np.array([-INF] * 6 + [0.0, 0.0]), 4,
            4, 2, True, False, 1.0, "f32")


# --- dispatch -----------------------------------------------------------------------


def add_dispatch(label, ids, experts, width, dtype, static=False, row_experts=True):
    ids = np.asarray(ids, np.int32)
    tokens, k = ids.shape
    x = normal((tokens, width), dtype)
    count = tokens if static else "?"
    one = tokens if static else (1, 0)
    rows = tokens * k if static else (1, 0, k)
    outs = [((rows, width), dtype), ((experts + 1,), "i32"), ((one, k), "i32"),
            ((rows,), "i32"), ((rows,), "i32")]
    if not row_experts:
        outs.pop()
    text = ref.function("dispatch", [((count, width), dtype), ((count, k), "i32")], outs)
    expected = list(ref.dispatch(x, ids, experts))[:len(outs)]
    label = f"dispatch {label} {dtype} {ids.shape} of {experts}"
    for name, variant in ref.variants(seen, label, text, [x, ids], expected, dtype):
        suite.add(name, variant, [x, ids], expected, 0, 0)


def random_ids(tokens, k, experts):
    return np.argsort(rng.random((tokens, experts)), axis=1)[:, :k]


for dtype in DTYPES:
    for tokens in (0, 1, 5, 100):
        add_dispatch("dynamic", random_ids(tokens, 2, 8), 8, 19, dtype)
add_dispatch("static", random_ids(6, 3, 4), 4, 16, "f32", static=True)
add_dispatch("four results", random_ids(6, 3, 4), 4, 16, "bf16", row_experts=False)
add_dispatch("definition", [[0, 1], [1, 0], [0, 1]], 4, 5, "f32")
add_dispatch("two of four", [[0, 1]] * 257, 4, 3, "f32")
# T50: ids -1 and E (and any other out of range) belong to no expert.
add_dispatch("T50", [[0, -1], [4, 2], [-1, -1], [3, 1000], [-(2**31), 2]], 4, 7, "f32")
add_dispatch("T50 none valid", [[-1, 4]] * 5, 4, 7, "f16")
# T52: group sizes that no tile divides; the offsets are exact, without alignment.
sizes = np.repeat(np.arange(3), [128, 130, 65])[:, None]
add_dispatch("T52", rng.permutation(sizes), 3, 4, "f32")
# T30: more than 65536 tokens.
add_dispatch("T30", rng.integers(0, 5, (70001, 1)), 5, 1, "f32")


# --- experts ------------------------------------------------------------------------


def add_experts(label, lengths, inner, width, dtype, rows=None, strategy="auto", static=False):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    experts, rows = len(lengths), rows or int(offsets[-1])
    x = normal((rows, width), dtype)
    gate = normal((experts, inner, width), dtype, width**-0.5)
    up = normal((experts, inner, width), dtype, width**-0.5)
    down = normal((experts, width, inner), dtype, inner**-0.5)
    count, out = (rows, rows) if static else ("?", (0, 0))
    text = ref.function(
        "experts", [((count, width), dtype), ((experts + 1,), "i32"),
                    ((experts, inner, width), dtype), ((experts, inner, width), dtype),
                    ((experts, width, inner), dtype)],
        [((out, width), dtype)], f"strategy = #rudnn.experts_strategy<{strategy}>", weights=3)
    add(f"experts {label} {dtype} {list(lengths)} I {inner} H {width} {strategy}", text,
        [x, offsets, gate, up, down], [ref.experts(x, offsets, gate, up, down)], dtype)


for dtype in DTYPES:
    for lengths in ([1, 0, 17, 5], [16, 32, 0, 0], [0, 0, 17, 0], [0, 0, 0, 0], [65, 1, 2, 3]):
        add_experts("ragged", lengths, 33, 35, dtype)
    for strategy in ("grouped", "per_expert"):
        add_experts("strategy", [9, 0, 3], 24, 16, dtype, strategy=strategy)
add_experts("static", [7, 9], 32, 64, "f32", static=True)
add_experts("one row", [0, 1], 8, 8, "f32")
add_experts("T50 rows of no expert", [3, 2], 8, 8, "f32", rows=9)
add_experts("T50 rows of no expert", [3, 2], 8, 8, "f32", rows=9, strategy="grouped")
add_experts("T52", [128, 130, 65], 20, 12, "f32")


# --- combine ------------------------------------------------------------------------


def add_combine(label, slot_rows, rows, width, dtype, weight_dtype, weights=None):
    slot_rows = np.asarray(slot_rows, np.int32)
    k = slot_rows.shape[1]
    y = normal((rows, width), dtype)
    if weights is None:
        weights = normal(slot_rows.shape, weight_dtype)
    text = ref.function("combine", [(("?", width), dtype), (("?", k), "i32"),
                                    (("?", k), weight_dtype)], [(((1, 0), width), dtype)])
    add(f"combine {label} {dtype} {slot_rows.shape} weights {weight_dtype}", text,
        [y, slot_rows, weights], [ref.combine(y, slot_rows, weights)], dtype)


for dtype, weight_dtype in (("f32", "f32"), ("bf16", "f32"), ("f16", "bf16"), ("bf16", "bf16")):
    for tokens in (0, 1, 33):
        add_combine("random", rng.permutation(tokens * 3).reshape(tokens, 3), tokens * 3, 65,
                    dtype, weight_dtype)
# T50: a slot without a row adds nothing, not even a NaN weight times 0.
add_combine("T50", [[0, -1], [9, 1], [-1, -1]], 2, 5, "f32", "f32",
            np.array([[1.5, NAN], [INF, 2.0], [NAN, NAN]], np.float32))
add_combine("T50 no rows", [[-1, -1], [0, 7]], 0, 5, "f32", "f32")

suite.run()
