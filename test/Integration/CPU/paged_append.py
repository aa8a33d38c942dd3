# RUN: %python %s
"""paged.append: which slots change, bit for bit, and which keep what they hold."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import paged_reference as ref

rng = np.random.default_rng(23)
program = ref.Program()


def append(label, pages, heads, d, dv, dtype="f32", dynamic=False, skipped=()):
    """Runs an append into random caches; rows in `skipped` have no place."""
    new = [ref.stored(rng.standard_normal((pages.rows, heads, x)), dtype) for x in (d, dv)]
    caches = [ref.stored(rng.standard_normal((pages.pages, pages.page_size, heads, x)), dtype) for x in (d, dv)]
    for cache in caches:
        cache[:, -1:] = np.nan  # what a slot holds is copied, not computed with
    expected = [cache.copy() for cache in caches]
    for row in range(pages.rows):
        if row not in skipped:
            for cache, rows in zip(expected, new):
                cache[pages.slot(pages.ids[row], pages.positions[row])] = rows[row]
    text = ref.op_text("append", [(x, dtype) for x in new], pages, [(x, dtype) for x in caches], dynamic=dynamic)
    before = [x.copy() for x in caches]
    results = program.call(text, new + pages.operands() + caches, [(x, dtype) for x in caches])
    for name, actual, wanted in zip(("keys", "values"), results, expected):
        program.require(np.array_equal(actual, wanted, equal_nan=True), f"{label} {name}")
    # Results are other tensors than the arguments, which stay as they were.
    program.require(all(np.array_equal(a, b, equal_nan=True) for a, b in zip(caches, before)), f"{label}: arguments")


def test_shapes_and_types():
    batch = ref.ragged(4, [13, 1, 0, 8, 30], [3, 1, 0, 8, 1], 1)
    for dtype in ("f32", "f16", "bf16"):
        for dynamic in (False, True):
            append(f"{dtype} dynamic={dynamic}", batch, 2, 33, 17, dtype, dynamic)
    append("page of one", ref.ragged(1, [5, 3], [2, 3], 2), 1, 8, 8)
    append("page of 512", ref.ragged(512, [5, 700], [2, 3], 3), 2, 4, 4)
    append("latent cache", batch, 1, 512, 64, "bf16")


def test_nothing_to_write():
    append("no rows", ref.Pages(4, 3, [[1]], [3], [], []), 2, 8, 6, dynamic=True)
    append("no pages", ref.Pages(4, 0, [[]], [0], [], []), 2, 8, 6, dynamic=True)


def test_rows_without_a_place():
    """A sequence, a table entry or a page that doesn't exist: not written."""
    pages = ref.Pages(2, 3, [[0, 2], [1]], [4, 2], [0, 0, 0, 1], [3, 0, 9, 2], width=2)
    pages.ids[1] = 7
    pages.tables[1, 1] = 55
    append("no place", pages, 2, 3, 5, skipped=(1, 2, 3), dynamic=True)


program.run([test for name, test in list(globals().items()) if name.startswith("test_")])
