# RUN: %python %s
"""paged.attention and paged.mla against NumPy float64."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import paged_reference as ref

# (rtol, atol) against float64 for values rounded to the type.
TOLERANCE = {"f32": (2e-5, 2e-5), "f16": (3e-3, 1e-3), "bf16": (1.5e-2, 4e-3)}
rng = np.random.default_rng(7)
program = ref.Program()
check, require = program.check, program.require


def run(name, ins, pages, outs, attributes, sinks=None, dynamic=False):
    text = ref.op_text(name, ins, pages, outs, attributes, sinks, dynamic)
    arrays = [a for a, _ in ins] + pages.operands()
    arrays += [] if sinks is None else [np.asarray(sinks, np.float32)]
    # What the outs hold before must not matter.
    arrays += [np.full_like(a, np.nan) for a, _ in outs]
    return program.call(text, arrays, outs)


def gqa(pages, hq, hkv, d, dv, dtype="f32", scale=None, lse=True, dynamic=False, data=None, sinks=None,
        poison=True, base=None, splits=None, **visible):
    """Runs paged.attention on random data; returns (out, lse), expected."""
    q, k, v = data or [
        ref.stored(rng.standard_normal(shape), dtype)
        for shape in ((pages.rows, hq, d), (pages.pages, pages.page_size, hkv, d), (pages.pages, pages.page_size, hkv, dv))
    ]
    windows = {key: visible[key] for key in ("causal", "left", "right") if key in visible}
    if poison:
        k, v = pages.poison(k, **windows), pages.poison(v, **windows)
    outs = [(np.zeros((pages.rows, hq, dv), ref.NP_TYPES[dtype]), dtype)]
    if lse:
        outs.append((np.zeros((pages.rows, hq), np.float32), "f32"))
    more = {} if splits is None else {"num_splits": splits}
    if base:
        more["lse_base"] = f"#rudnn.log_base<{base}>"
    results = run("attention", [(q, dtype), (k, dtype), (v, dtype)], pages, outs,
                  ref.attributes(scale, **visible, **more), sinks, dynamic)
    expected = ref.attention([(q, k)], v, pages, d**-0.5 if scale is None else scale, sinks=sinks, **visible)
    return results, expected


def check_gqa(name, *args, dtype="f32", **options):
    results, expected = gqa(*args, dtype=dtype, **options)
    check(f"{name} out", results[0], expected[0], *TOLERANCE[dtype])
    if len(results) > 1:
        factor = np.log2(np.e) if options.get("base") == "two" else 1.0
        check(f"{name} lse", results[1], expected[1] * factor, 2e-6, 2e-5)
    return results


def slot_numbers(pages, heads, width):
    """Every slot holds its flat number."""
    numbers = np.arange(pages.pages * pages.page_size, dtype=np.float32)
    return np.broadcast_to(numbers.reshape(pages.pages, pages.page_size, 1, 1),
                           (pages.pages, pages.page_size, heads, width)).copy()


def test_mean_of_slots():
    """Zero scores: the output is the mean of the slots that a row sees."""
    pages = ref.Pages(4, 6, [[3, 0], [2]], [6, 2], [0, 1, 0], [4, 1, 5])
    zero_q, zero_k = np.zeros((3, 4, 33), np.float32), np.zeros((6, 4, 2, 33), np.float32)
    (out, lse), _ = gqa(pages, 4, 2, 33, 17, scale=0.1, causal=True, data=[zero_q, zero_k, slot_numbers(pages, 2, 17)])
    check("mean", out, np.broadcast_to(np.array([10.8, 8.5, 55 / 6])[:, None, None], (3, 4, 17)), 1e-5, 0)
    check("mean lse", lse, np.broadcast_to(np.log([5, 2, 6])[:, None], (3, 4)), 1e-6, 0)


def test_shapes_and_types():
    batch = dict(
        uneven=ref.ragged(4, [13, 1, 0, 8, 30], [3, 1, 2, 8, 1], 1),
        page_of_one=ref.ragged(1, [5, 3], [2, 3], 2),  # T33
        large_page=ref.ragged(512, [5, 700], [1, 2], 3),  # T33
        page_of_seven=ref.ragged(7, [25, 9, 0], [4, 2, 1], 4),
    )
    for name, pages in batch.items():
        for dynamic in (False, True):
            for causal in (False, True):
                check_gqa(f"{name} dynamic={dynamic} causal={causal}", pages, 4, 2, 33, 17, dynamic=dynamic, causal=causal)
    for dtype in ("f16", "bf16"):
        check_gqa(dtype, batch["uneven"], 8, 2, 64, 64, dtype=dtype, causal=True, dynamic=True)
    # T17: 192 score dims and 128 value dims, 99 tokens, 16 heads.
    for dtype in ("f32", "f16", "bf16"):
        check_gqa(f"T17 {dtype}", ref.ragged(16, [99], [3], 12), 16, 16, 192, 128, dtype=dtype, causal=True)
    # T31, T32: any group size and head dim.
    for heads in ((5, 1), (6, 1), (7, 1), (16, 1), (15, 3)):
        check_gqa(f"heads {heads}", batch["page_of_seven"], *heads, 16, 16, causal=True)
    for dims in ((512, 512), (256, 192), (192, 128), (96, 96), (576, 512), (1, 1), (1024, 3)):
        check_gqa(f"dims {dims}", batch["page_of_one"], 2, 1, *dims, causal=True, lse=False)


def test_rows_that_see_nothing():
    """T1, T4, T40: exactly 0 and -inf; the table of an empty history (all -1
    here) is not read."""
    pages = ref.Pages(4, 3, [[], [1]], [0, 4], [0, 1, 0, 0], [0, 2, 17, -1])
    (out, lse), expected = gqa(pages, 4, 2, 8, 8, causal=True, poison=True)
    require((out[[0, 2, 3]] == 0).all() and (lse[[0, 2, 3]] == -np.inf).all(), "empty history")
    check("beside empty rows", out, expected[0], 2e-5, 2e-5)
    # A window that lies behind the history; nothing of the cache is read.
    window = ref.Pages(4, 2, [[1]], [4], [0], [9])
    (out, lse), _ = gqa(window, 2, 1, 8, 8, causal=True, left=3, data=[
        np.ones((1, 2, 8), np.float32), np.full((2, 4, 1, 8), np.nan, np.float32), np.full((2, 4, 1, 8), np.nan, np.float32)])
    require((out == 0).all() and (lse == -np.inf).all(), "nothing seen")
    # No rows, no pages, no sequences.
    for empty in (ref.Pages(4, 3, [[1]], [3], [], []), ref.Pages(4, 0, [[]], [0], [0, 0], [0, 5]), ref.Pages(4, 1, [], [], [], [])):
        (out, lse), expected = gqa(empty, 4, 2, 8, 8, causal=True, dynamic=True)
        require(out.shape == expected[0].shape and (out == 0).all() and (lse == -np.inf).all(), "nothing there")


def test_graph_padding():
    """T40: a padding row whose sequence doesn't exist reads nothing."""
    pages = ref.Pages(4, 3, [[1, 2]], [6], [0, 0], [4, 5])
    q = rng.standard_normal((2, 2, 8)).astype(np.float32)
    cache = pages.poison(rng.standard_normal((3, 4, 1, 8)).astype(np.float32))
    (expected, _), _ = gqa(pages, 2, 1, 8, 8, causal=True, data=[q, cache, cache])
    padded = ref.Pages(4, 3, [[1, 2]], [6], [0, 0, 0], [4, 5, 0])
    padded.ids[2] = -1
    ins = [(np.concatenate([q, q[:1]]), "f32"), (cache, "f32"), (cache, "f32")]
    out, = run("attention", ins, padded, [(np.zeros((3, 2, 8), np.float32), "f32")], "causal")
    require((out[:2] == expected).all() and (out[2] == 0).all(), "padding row")


def test_shared_pages():
    """Sequences that share a prefix, at equal and at different logical places."""
    pages = ref.Pages(3, 5, [[2, 0], [2, 3], [4, 2]], [5, 4, 6], [0, 1, 2, 2, 0], [4, 3, 5, 1, 0])
    for causal in (False, True):
        check_gqa("shared", pages, 4, 2, 16, 16, causal=causal)


def test_options():
    pages = ref.ragged(4, [13, 1, 0, 30], [3, 1, 2, 6], 11)
    sinks = np.array([0.5, -1.0, 3.0, -np.inf], np.float32)
    for options in (
        dict(softcap=2.0, causal=True), dict(left=0), dict(left=3, causal=True), dict(right=2), dict(left=5, right=1),
        dict(sinks=sinks, causal=True), dict(sinks=sinks, left=2, right=0, softcap=5.0, splits=3), dict(base="two", causal=True),
    ):
        check_gqa(f"{options}", pages, 4, 2, 16, 8, scale=0.7, dynamic=True, **options)
    # T15: no keys and a sink: out 0, lse = sink.
    (out, lse), _ = gqa(ref.Pages(4, 1, [[]], [0], [0], [0]), 4, 2, 8, 8, sinks=sinks)
    require((out == 0).all() and (lse[0] == sinks).all(), "a sink alone")


def test_layers_share_the_pages():
    """T19, T20: one set of page operands serves layers of 48 and of 72 heads, with and
    without a cap, in one function: nothing of a layer is in them."""
    pages = ref.ragged(4, [13, 0, 30], [2, 1, 3], 41)
    layers = [(48, 8, None), (72, 8, 2.0), (48, 4, 2.0), (72, 9, None)]
    text, types, arrays, outs, expected = [], [], [], [], []
    for i, (hq, hkv, softcap) in enumerate(layers):
        q, k, v = (rng.standard_normal(s).astype(np.float32) for s in (
            (pages.rows, hq, 16), (pages.pages, 4, hkv, 16), (pages.pages, 4, hkv, 16)))
        out = np.zeros((pages.rows, hq, 16), np.float32)
        t = [ref.tensor_type(a, "f32") for a in (q, k, v, out)]
        types += [f"%{n}{i}: {x}" for n, x in zip("qkvo", t)]
        meta = ", ".join(ref.page_types(pages, False))
        text.append(f"""  %r{i} = rudnn.paged.attention ins(%q{i}, %k{i}, %v{i} : {t[0]}, {t[1]}, {t[2]})
      pages(%p0, %p1, %p2, %p3 : {meta}) outs(%o{i} : {t[3]}) {{{ref.attributes(0.25, causal=True, softcap=softcap)}}} -> {t[3]}
""")
        arrays += [q, k, v, np.full_like(out, np.nan)]
        outs.append((out, "f32"))
        expected.append(ref.attention([(q, k)], v, pages, 0.25, causal=True, softcap=softcap)[0])
    types += [f"%p{j}: {t}" for j, t in enumerate(ref.page_types(pages, False))]
    results = ", ".join(ref.tensor_type(a, "f32") for a, _ in outs)
    body = "".join(text) + f"  return {', '.join(f'%r{i}' for i in range(len(layers)))} : {results}\n"
    actual = program.call(f"func.func @NAME({', '.join(types)}) -> ({results}) {{\n{body}}}\n", arrays + pages.operands(), outs)
    for layer, a, e in zip(layers, actual, expected):
        check(f"layer {layer}", a, e, *TOLERANCE["f32"])


def test_softcap_saturates():
    """T13: scores far beyond the cap."""
    pages = ref.Pages(4, 1, [[0]], [4], [0], [3])
    q = np.full((1, 1, 2), 100.0, np.float32)
    k = np.array([50.0, -50.0, 30.0, 50.0], np.float32).reshape(1, 4, 1, 1) * np.ones((1, 4, 1, 2), np.float32)
    v = np.arange(8, dtype=np.float32).reshape(1, 4, 1, 2)
    check_gqa("softcap", pages, 1, 1, 2, 2, scale=1.0, softcap=50.0, data=[q, k, v])


def test_large_scores():
    pages = ref.Pages(3, 2, [[1, 0]], [6], [0, 0], [5, 3])
    q = np.ones((2, 1, 1), np.float32)
    k = np.zeros((2, 3, 1, 1), np.float32)
    k[[1, 1, 1, 0, 0, 0], [0, 1, 2, 0, 1, 2], 0, 0] = [1000, -1000, 999, 0, 1001, -500]
    v = slot_numbers(pages, 1, 3)
    for splits in (1, 2, 3, 32):
        check_gqa(f"splits {splits}", pages, 1, 1, 1, 3, scale=1.0, causal=True, splits=splits, data=[q, k, v])


def test_splits_agree():
    """Any number of splits gives the unsplit result up to rounding; a split
    count beyond the visible tokens leaves parts empty."""
    pages = ref.Pages(7, 7, [[4, 1, 6, 0], [5, 3], []], [25, 9, 0], [0, 1, 0, 2], [13, 8, 24, 0])
    for dtype in ("f32", "f16", "bf16"):
        data = [ref.stored(rng.standard_normal(s), dtype) for s in ((4, 4, 33), (7, 7, 2, 33), (7, 7, 2, 17))]
        for causal in (False, True):
            whole = check_gqa("unsplit", pages, 4, 2, 33, 17, dtype=dtype, causal=causal, data=data)
            for splits in (2, 3, 8, 32):
                parts = check_gqa(f"splits {splits}", pages, 4, 2, 33, 17, dtype=dtype, causal=causal, data=data, splits=splits)
                limit = 5e-5 if dtype == "f32" else 1e-2
                check("split against unsplit", parts[0], whole[0].astype(np.float64), 0, limit)
                require((parts[0][3] == 0).all() and (parts[1][3] == -np.inf).all(), "empty history in splits")
    # Tokens grow and shrink: 21, 1, 0.
    for length, mean in ((21, 10.0), (1, 14.0), (0, 0.0)):
        tables = {21: [0, 1, 2], 1: [2], 0: []}[length]
        pages = ref.Pages(7, 3, [tables], [length], [0], [max(length - 1, 0)])
        (out, _), _ = gqa(pages, 2, 1, 4, 4, splits=32, data=[np.zeros((1, 2, 4), np.float32), np.zeros((3, 7, 1, 4), np.float32), slot_numbers(pages, 1, 4)])
        check(f"mean of {length}", out, np.full((1, 2, 4), mean), 1e-6, 0)


def test_nan_in_visible_data_propagates():
    pages = ref.Pages(4, 2, [[1]], [4], [0, 0], [1, 3])
    q, k, v = (rng.standard_normal(s).astype(np.float32) for s in ((2, 1, 4), (2, 4, 1, 4), (2, 4, 1, 4)))
    v[1, 3] = np.nan
    (out, _), _ = gqa(pages, 1, 1, 4, 4, causal=True, data=[q, k, v])
    require(np.isfinite(out[0]).all() and np.isnan(out[1]).all(), "NaN where it is seen")


def mla(name, pages, heads, r, p, dtype="f32", scale=0.1, dynamic=False, data=None, lse=True, splits=None, tolerance=None, **visible):
    q, qp, latent, kp = data or [
        ref.stored(rng.standard_normal(s), dtype)
        for s in ((pages.rows, heads, r), (pages.rows, heads, p), (pages.pages, pages.page_size, 1, r), (pages.pages, pages.page_size, 1, p))
    ]
    latent, kp = pages.poison(latent, **visible), pages.poison(kp, **visible)
    outs = [(np.zeros((pages.rows, heads, r), ref.NP_TYPES[dtype]), dtype)]
    outs += [(np.zeros((pages.rows, heads), np.float32), "f32")] if lse else []
    more = {} if splits is None else {"num_splits": splits}
    results = run("mla", [(a, dtype) for a in (q, qp, latent, kp)], pages, outs, ref.attributes(scale, **visible, **more), dynamic=dynamic)
    expected = ref.attention([(q, latent), (qp, kp)], latent, pages, scale, **visible)
    check(f"{name} out", results[0], expected[0], *(tolerance or TOLERANCE[dtype]))
    if lse:
        check(f"{name} lse", results[1], expected[1], 1e-5, 1e-4)
    return results


def test_mla():
    pages = ref.Pages(4, 2, [[1, 0]], [6], [0, 0], [4, 5])
    zeros = [np.zeros(s, np.float16) for s in ((2, 3, 512), (2, 3, 64))]
    out = mla("mean", pages, 3, 512, 64, dtype="f16", causal=True, tolerance=(2e-3, 0),
              data=zeros + [slot_numbers(pages, 1, 512).astype(np.float16), np.zeros((2, 4, 1, 64), np.float16)])[0]
    check("mean", out, np.broadcast_to(np.array([4.4, 23 / 6])[:, None, None], (2, 3, 512)), 2e-3, 0)
    uneven = ref.ragged(4, [13, 1, 0, 8, 30], [3, 1, 2, 8, 1], 21)
    for dtype in ("f32", "f16", "bf16"):
        for splits in (None, 3):
            mla(f"{dtype} splits={splits}", uneven, 5, 40, 7, dtype=dtype, causal=True, dynamic=splits is None, splits=splits)
    mla("options", uneven, 2, 32, 8, softcap=3.0, left=4, lse=False)
    mla("no rows", ref.Pages(4, 3, [[1]], [3], [], []), 2, 8, 4, dynamic=True)


def test_repeatable():
    pages = ref.ragged(4, [40, 33], [2, 3], 31)
    data = [rng.standard_normal(s).astype(np.float32) for s in ((5, 4, 32), (pages.pages, 4, 2, 32), (pages.pages, 4, 2, 32))]
    first, _ = gqa(pages, 4, 2, 32, 32, causal=True, data=data)
    second, _ = gqa(pages, 4, 2, 32, 32, causal=True, data=data)
    # T37: a row alone has the bits that it has in the batch.
    alone = ref.Pages(4, pages.pages, [list(pages.tables[pages.ids[0]])], [pages.lengths[pages.ids[0]]], [0], [pages.positions[0]])
    single, _ = gqa(alone, 4, 2, 32, 32, causal=True, data=[data[0][:1]] + data[1:], dynamic=True)
    dynamic, _ = gqa(pages, 4, 2, 32, 32, causal=True, data=data, dynamic=True)
    for a, b in zip(first, second):
        require(a == b, "the same call twice")
    require(single[0][0] == dynamic[0][0], "a row alone and in a batch")


program.run([test for name, test in list(globals().items()) if name.startswith("test_")])
