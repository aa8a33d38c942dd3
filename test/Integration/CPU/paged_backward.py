# RUN: %python %s
"""Gradients of paged attention against NumPy float64."""

import itertools
import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import paged_reference as ref

LIMIT = {"f32": 7e-4, "f16": 7e-3, "bf16": 4e-2}
rng = np.random.default_rng(17)
program = ref.Program()
check, require = program.check, program.require


def run(name, ins, pages, sources, gradients, attributes, dtype, sinks=None, dynamic=False, history="ordered"):
    """Gradients in the order of `gradients`; sources: name to array."""
    outs = [(np.zeros_like(sources[g]), "f32" if g == "dsinks" else dtype) for g in gradients]
    attributes += f", gradients = #rudnn.paged_gradients<{'|'.join(gradients)}>, history = #rudnn.history_gradient<{history}>"
    text = ref.op_text(name, [(a, dtype) for a in ins], pages, outs, attributes, sinks, dynamic)
    arrays = ins + pages.operands() + ([] if sinks is None else [sinks]) + [np.full_like(a, np.nan) for a, _ in outs]
    return dict(zip(gradients, program.call(text, arrays, outs)))


def gqa_data(pages, hq, hkv, d, dv, dtype, **visible):
    shapes = (pages.rows, hq, d), (pages.pages, pages.page_size, hkv, d), (pages.pages, pages.page_size, hkv, dv), (pages.rows, hq, dv)
    q, k, v, g = (ref.stored(rng.standard_normal(s), dtype) for s in shapes)
    return [q, pages.poison(k, **visible), pages.poison(v, **visible), g]


def gqa(label, pages, data, gradients=("dq", "dk", "dv"), dtype="f32", scale=0.37, sinks=None, dynamic=False, history="ordered", **visible):
    q, k, v, g = data
    results = run("attention_backward", data, pages, dict(dq=q, dk=k, dv=v, dsinks=sinks), gradients,
                  ref.attributes(scale, **visible), dtype, sinks, dynamic, history)
    (dq,), (dk,), dv, dsinks = ref.gradients([(q, k)], v, g, pages, scale, sinks=sinks, **visible)
    live = pages.live(**visible)
    for name, expected in dict(dq=dq, dk=dk, dv=dv, dsinks=dsinks).items():
        if name not in gradients:
            continue
        check(f"{label} {name}", results[name], expected, LIMIT[dtype], LIMIT[dtype])
        if name in ("dk", "dv"):
            require(results[name][~live] == 0, f"{label} {name} of slots that no row sees")
    return results


def mla(label, pages, data, gradients=("dq", "dqp", "dlatent", "dkp"), dtype="f32", scale=0.37, dynamic=False, **visible):
    q, qp, latent, kp, g = data
    results = run("mla_backward", data, pages, dict(dq=q, dqp=qp, dlatent=latent, dkp=kp), gradients,
                  ref.attributes(scale, **visible), dtype, dynamic=dynamic)
    (dq, dqp), (dlatent, dkp), dvalues, _ = ref.gradients([(q, latent), (qp, kp)], latent, g, pages, scale, **visible)
    for name, expected in dict(dq=dq, dqp=dqp, dlatent=dlatent + dvalues, dkp=dkp).items():
        if name in gradients:
            check(f"{label} {name}", results[name], expected, LIMIT[dtype], LIMIT[dtype])
            if name in ("dlatent", "dkp"):
                require(results[name][~pages.live(**visible)] == 0, f"{label} {name} of slots that no row sees")
    return results


def mla_data(pages, heads, r, p, dtype, **visible):
    shapes = (pages.rows, heads, r), (pages.rows, heads, p), (pages.pages, pages.page_size, 1, r), (pages.pages, pages.page_size, 1, p), (pages.rows, heads, r)
    q, qp, latent, kp, g = (ref.stored(rng.standard_normal(s), dtype) for s in shapes)
    return [q, qp, pages.poison(latent, **visible), pages.poison(kp, **visible), g]


# A page shared at different places, an empty history, rows out of order.
SHARED = ref.Pages(3, 4, [[2, 0], [2, 3], []], [5, 4, 0], [0, 1, 0, 2], [1, 3, 4, 0])


def subsets(names):
    return [s for n in range(1, len(names) + 1) for s in itertools.combinations(names, n)]


def test_every_subset():
    for causal in (False, True):
        data = gqa_data(SHARED, 4, 2, 5, 7, "f32", causal=causal)
        whole = gqa("all", SHARED, data, causal=causal)
        for subset in subsets(("dq", "dk", "dv")):
            part = gqa(f"{subset}", SHARED, data, subset, causal=causal)
            for name in subset:
                require(part[name] == whole[name], f"{name} of {subset} has the bits of the full call")
        data = mla_data(SHARED, 4, 5, 3, "f32", causal=causal)
        whole = mla("all", SHARED, data, causal=causal)
        for subset in subsets(("dq", "dqp", "dlatent", "dkp")):
            part = mla(f"{subset}", SHARED, data, subset, causal=causal)
            for name in subset:
                require(part[name] == whole[name], f"{name} of {subset} has the bits of the full call")


def test_types():
    for dtype in ("f32", "f16", "bf16"):
        for dynamic in (False, True):
            gqa(f"{dtype}", SHARED, gqa_data(SHARED, 4, 2, 5, 7, dtype, causal=True), dtype=dtype, dynamic=dynamic, causal=True)
            mla(f"{dtype}", SHARED, mla_data(SHARED, 4, 5, 3, dtype, causal=True), dtype=dtype, dynamic=dynamic, causal=True)


def test_no_rows():
    """T6, T7: sequences without rows; no rows at all: every gradient is 0."""
    empty = ref.Pages(4, 3, [[1]], [3], [], [])
    for results in (gqa("no rows", empty, gqa_data(empty, 4, 2, 8, 6, "f32"), dynamic=True),
                    mla("no rows", empty, mla_data(empty, 4, 8, 6, "f32"), dynamic=True)):
        for name, value in results.items():
            require(value == 0, f"{name} without rows")
    some = ref.ragged(16, [0, 0, 1023], [0, 0, 5], 3)
    gqa("only the last sequence has rows", some, gqa_data(some, 2, 1, 8, 8, "f32", causal=True), causal=True)
    no_pages = ref.Pages(4, 0, [[]], [0], [0], [0])
    gqa("no pages", no_pages, gqa_data(no_pages, 2, 1, 8, 8, "f32"), dynamic=True)


def test_heads_and_dims():
    pages = ref.ragged(7, [25, 9, 0, 13], [3, 9, 1, 2], 5)
    for heads, kv, d, dv in ((3, 1, 33, 65), (6, 3, 65, 37), (4, 2, 129, 129)):
        gqa(f"{heads}/{kv}", pages, gqa_data(pages, heads, kv, d, dv, "f32", causal=True), causal=True, scale=d**-0.5)
    mla("512", pages, mla_data(pages, 2, 512, 64, "f32", causal=True), causal=True, scale=0.05)


def test_one_tensor_as_keys_and_values():
    q, k, _, g = gqa_data(SHARED, 4, 2, 6, 6, "f32")
    gqa("k is v", SHARED, [q, k, k, g])


def test_options():
    pages = ref.ragged(4, [13, 1, 0, 30], [3, 1, 2, 6], 11)
    sinks = np.array([0.5, -1.0, 3.0, -np.inf], np.float32)
    for options in (dict(softcap=2.0, causal=True), dict(left=3, right=1), dict(left=0, causal=True)):
        visible = {key: options[key] for key in ("left", "right", "causal") if key in options}
        gqa(f"{options}", pages, gqa_data(pages, 4, 2, 16, 8, "f32", **visible), **options)
        mla(f"{options}", pages, mla_data(pages, 3, 16, 8, "f32", **visible), scale=0.2, **options)
    data = gqa_data(pages, 4, 2, 16, 8, "f32", causal=True)
    gqa("sinks", pages, data, ("dq", "dk", "dv", "dsinks"), sinks=sinks, causal=True)
    gqa("dsinks alone", pages, data, ("dsinks",), sinks=sinks, causal=True, softcap=3.0)


def test_large_scores():
    """T10: probabilities far below the smallest float stay finite."""
    pages = ref.Pages(8, 1, [[0]], [8], [0, 0], [7, 3])
    q, k, v, g = gqa_data(pages, 2, 1, 4, 4, "f32")
    gqa("large", pages, [q * 40, k * 40, v, g], causal=True, scale=1.0)


def test_analytic():
    """q = k = 0, v = grad = 1: dv is 2 heads x 1/2 in the two live slots."""
    pages = ref.Pages(4, 3, [[2]], [2], [0], [1])
    q, k, v, g = (np.zeros((1, 4, 8), np.float32), np.zeros((3, 4, 2, 8), np.float32), np.ones((3, 4, 2, 8), np.float32), np.ones((1, 4, 8), np.float32))
    results = gqa("analytic", pages, [q, k, v, g], causal=True)
    expected = np.zeros((3, 4, 2, 8))
    expected[2, :2] = 1
    require(results["dq"] == 0, "dq"), require(results["dk"] == 0, "dk"), require(results["dv"] == expected, "dv")


def ordered_sum(pages, terms, shape):
    """Sums of terms (row, head of the group, token) -> [Hkv,X] float32 in the
    order of the contract, each rounded once (float64 fused multiply-add)."""
    sums = np.zeros(shape, np.float32)
    for page in range(pages.pages):
        for sequence, table in enumerate(pages.tables):
            need = -(-pages.lengths[sequence] // pages.page_size)
            for place in range(need):
                if table[place] != page:
                    continue
                for row in np.flatnonzero(pages.ids == sequence):
                    for member in range(2):
                        for token in range(place * pages.page_size, min((place + 1) * pages.page_size, pages.lengths[sequence])):
                            if token <= pages.positions[row]:
                                slot = page, token % pages.page_size
                                sums[slot] = (sums[slot].astype(np.float64) + terms(row, member, token)).astype(np.float32)
    return sums


def test_order():
    """T36: the order of the sum is fixed, not only repeatable. One visible token
    per row has p = 1, so that dv is a sum of the rows' gradients."""
    count = 40
    pages = ref.Pages(2, 3, [[1], [1], [2]], [1, 1, 1], list(np.random.default_rng(3).integers(0, 3, count)), [0] * count)
    q, k, v, g = gqa_data(pages, 4, 2, 3, 5, "f32", causal=True)
    g = g * 10.0 ** rng.integers(-4, 5, (count, 4, 1)).astype(np.float32)
    g = g.astype(np.float32)
    expected = ordered_sum(pages, lambda row, member, token: g[row].reshape(2, 2, 5)[:, member].astype(np.float64), v.shape)
    for history in ("ordered", "atomic"):
        results = gqa(history, pages, [q, k, v, g], ("dv",), causal=True, history=history)
        if history == "ordered":
            require(results["dv"] == expected, "dv in the fixed order")


def test_repeatable():
    length = 53
    positions = [i * 37 % length for i in range(65)]
    pages = ref.Pages(8, 12, [list(range(3, 10)), [3, 11]], [length, 9], [0] * 60 + [1] * 5, positions[:60] + [8, 0, 3, 8, 8])
    data = gqa_data(pages, 4, 2, 12, 20, "f32", causal=True)
    first, second = (gqa("ordered", pages, data, causal=True) for _ in range(2))
    for name in first:
        require(first[name] == second[name], f"{name} twice")


program.run([test for name, test in list(globals().items()) if name.startswith("test_")])
