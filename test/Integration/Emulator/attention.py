# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a:1 RUDNN_TEST_REPEAT=3 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80 RUDNN_TEST_SAMPLE=3 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80:1 RUDNN_TEST_REPEAT=2 RUDNN_TEST_SAMPLE=3 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86 RUDNN_TEST_SAMPLE=5 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86:1 RUDNN_TEST_REPEAT=2 RUDNN_TEST_SAMPLE=5 %python %s
"""The attention schedule's kernels in the emulator, against float64.

The first run completes copies and products in order, the others late and in an order drawn from
the seed and the number of the launch; all of one case must agree bit for bit.
"""

import pathlib
import sys

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import attention_reference as ref
from attention_reference import Options, Problem

cases = ref.Cases()


def check(rows, keys, head=64, value=None, options=Options(), **more):
    """One case; small where it is not said otherwise."""
    small = dict(batch=1, q_heads=2, kv_heads=1, dtype="bf16", lse=True, strategy="schedule")
    Problem(rows=rows, keys=keys, head=head, value=value or head, options=options,
            **{**small, **more}).add_forward(cases)


BOTTOM, TOP = "bottom_right", "top_left"
# Every head dim, with tails of rows and keys.
for head, value in ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256)):
    check(130, 300, head, value, Options(BOTTOM if head == 96 else "none"))
# Sizes around the tiles.
for rows, keys in ((1, 1), (1, 300), (63, 63), (65, 127), (127, 65), (128, 256)):
    check(rows, keys)
    check(rows, keys, options=Options(BOTTOM), dtype="f16", dynamic=True)
check(200, 65, options=Options(BOTTOM))  # rows without a key
check(3, 0, dynamic=True)
check(70, 0, options=Options(BOTTOM), sinks=True, dynamic=True)
check(0, 70, dynamic=True)
check(65, 200, options=Options(TOP), batch=2)
check(65, 200, options=Options(BOTTOM, offset=3))
# Grouped heads, and more tiles than one.
check(300, 300, 128, q_heads=6, kv_heads=2, options=Options(BOTTOM))
check(40, 90, q_heads=3, kv_heads=3, batch=2)
check(320, 320, options=Options(BOTTOM))  # warp groups that end in different blocks
check(320, 448, options=Options(BOTTOM), batch=2)
check(70, 70, q_heads=68, kv_heads=68, batch=4, options=Options(BOTTOM))  # pairs more than blocks
# Windows.
check(100, 420, options=Options(BOTTOM, left=150))
check(130, 130, options=Options("none", left=5, right=40))
check(130, 130, options=Options("none", right=3), dynamic=True)
# What changes the scores.
check(70, 140, options=Options(BOTTOM, softcap=5.0, scale=0.3), spread=4.0)
check(70, 140, sinks=True, options=Options(base="two"))
check(5, 300, spread=300.0)
check(70, 600, spread=6.0, dtype="f16")  # maxima that rise by more and by less than the slack
for bias, dtype in (("bhqk", None), ("hk", "f32"), ("qk", None)):
    check(70, 140, bias=bias, bias_dtype=dtype)
for mask in ("bhqk", "bk", "q"):
    check(70, 140, mask=mask, batch=2)
check(70, 200, 128, mask="k", bias="h", sinks=True, options=Options(BOTTOM, softcap=0.8, left=60))
check(70, 140, lse=False, dtype="f16")

sys.exit(cases.run())
