# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a:1 RUDNN_TEST_REPEAT=3 RUDNN_TEST_SAMPLE=2 %python %s
"""The schedule of expert products in the emulator against float64."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import moe_reference as ref
import rudnn_test

rng = np.random.default_rng(17)
suite = rudnn_test.Suite()


def check(label, lengths, inner, width, dtype="bf16", rows=None, static=False, offsets=None):
    """Experts with `lengths` rows each; `rows` in all, those behind the last expert of none."""
    if offsets is None:
        offsets = np.concatenate([[0], np.cumsum(lengths)])
    offsets = np.asarray(offsets, np.int32)
    experts, rows = len(offsets) - 1, rows or int(offsets[-1])

    def normal(shape, scale=1.0):
        return rudnn_test.cast(rng.standard_normal(shape) * scale, dtype)

    x = normal((rows, width))
    used = np.arange(rows)
    # What no expert takes may be anything.
    x[(used < offsets[0]) | (used >= offsets[-1])] = np.nan
    gate, up = (normal((experts, inner, width), width**-0.5) for _ in range(2))
    down = normal((experts, width, inner), inner**-0.5)
    count, out = (rows, rows) if static else ("?", (0, 0))
    text = ref.function(
        "experts", [((count, width), dtype), ((experts + 1,), "i32"),
                    ((experts, inner, width), dtype), ((experts, inner, width), dtype),
                    ((experts, width, inner), dtype)], [((out, width), dtype)], weights=3)
    text = text.replace("{strategy", '{rudnn.strategy = "schedule", strategy') \
        if "{strategy" in text else text
    suite.hint = [np.shape(x)]
    # The activated rows are rounded before the second product.
    suite.add(f"{label} {dtype} {list(lengths)} I {inner} H {width}", text,
              [x, offsets, gate, up, down], [ref.experts(x, offsets, gate, up, down)],
              rudnn_test.RTOL[dtype], 2 * rudnn_test.ATOL[dtype])


# Tiles of 64 rows: up to 64 rows an expert on average.
check("ragged", [1, 0, 17, 5], 72, 40)
check("empty", [0, 0, 33, 0], 64, 64, "f16")
check("several tiles", [100, 0, 65, 1, 0, 0, 3], 136, 264)
check("no rows of experts", [0, 0], 8, 8, rows=3)
check("one row", [0, 1], 8, 8)
check("of no expert", [3, 2], 136, 72, rows=70)
check("of no expert in front", [3, 2], 24, 72, offsets=[5, 8, 10], rows=12)
check("static", [7, 9], 32, 64, static=True)
# Tiles of 128 rows.
check("many", [128, 130, 65], 72, 264)
check("many", [200, 0, 1], 136, 72, "f16", rows=210)
check("many, static", [150], 200, 136, static=True)
# No rows at all.
check("no rows", [0, 0, 0], 16, 16, offsets=[0, 0, 0, 0])

suite.run()
