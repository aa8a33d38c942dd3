# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a:1 RUDNN_TEST_REPEAT=2 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80 RUDNN_TEST_SAMPLE=3 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86:1 RUDNN_TEST_SAMPLE=5 %python %s
"""The schedules of attention over packed sequences in the emulator, against float64.

Rows and keys behind the last sequence are NaN, and so is a whole sequence in one case: tiles
must end where their sequence does, in what they read and in what they write.
"""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import attention_reference as ref
from attention_reference import Options
from ragged_reference import Problem

cases = ref.Cases()
BOTTOM, TOP = "bottom_right", "top_left"


def check(queries, keys=None, head=64, value=None, causal="none", **more):
    options = more.pop("options", Options(causal))
    small = dict(q_heads=2, kv_heads=1, dtype="bf16", strategy="schedule", dynamic=True)
    Problem(queries, keys, head=head, value=value or head, options=options, **{**small, **more}).add_forward(cases)


# Lengths around the tiles; sequences that start anywhere.
check((130, 1, 63, 65), (300, 5, 127, 128))
check((130, 1, 63, 65), (300, 5, 127, 128), causal=BOTTOM, dtype="f16")
check((192, 128, 64), causal=BOTTOM, dynamic=False)
check((65, 40), (65, 200), causal=TOP)
for head, value in ((96, 96), (128, 128), (192, 128), (256, 256)):
    check((70, 9), (140, 30), head, value, causal=BOTTOM if head > 96 else "none")
# Decode steps beside a prompt; rows that see no key.
check((1, 1, 100, 1), (200, 1, 100, 65), causal=BOTTOM, q_heads=6, kv_heads=2)
check((100, 30), (40, 30), causal=BOTTOM)
# T4, T6: sequences without rows or keys, and nothing else than such.
check((3, 0, 0, 70), (0, 7, 0, 90), causal=BOTTOM)
check((0, 0, 300), causal=BOTTOM)
check((5, 9), (0, 0))
check((0, 0), (3, 4))
# Buffers larger than the batch.
check((40, 0, 70), (50, 9, 90), more_queries=150, more_keys=70)
check((), (), more_queries=3, more_keys=2)
check((40, 70), more_queries=20, more_keys=30, sinks=True, options=Options(BOTTOM, base="two"))
# More sequences than the bisection's first steps see.
check(tuple(range(1, 20)), tuple(range(20, 1, -1)), q_heads=1)
# Options.
check((100, 33), (420, 40), options=Options(BOTTOM, left=150))
check((130, 20), (130, 30), options=Options(left=5, right=40))
check((70, 20), (140, 30), options=Options(BOTTOM, softcap=5.0, scale=0.3), spread=4.0, sinks=True)
check((70, 20), (140, 30), lse=False, q_heads=3, kv_heads=3)


def test_neighbours():
    """NaN in one sequence reaches no other one."""
    for causal in ("none", BOTTOM):
        p = Problem((40, 30, 50), (60, 30, 70), q_heads=2, kv_heads=1, head=64, value=64, dtype="bf16",
                    strategy="schedule", dynamic=True, options=Options(causal))
        a = p.arrays()
        clean, lse = p.forward(a)
        a["q"][40:70], a["k"][60:90], a["v"][60:90] = np.nan, np.nan, np.nan
        keep = np.r_[0:40, 70:120]
        cases.add(
            "neighbours", p.forward_text(), p.operands(a),
            [lambda x, e=clean: ref.close("out", np.asarray(x, np.float64)[keep], e[keep], "bf16", rounded_weights=True),
             lambda x, e=lse: ref.close("lse", x[:, keep], e[:, keep], "f32")])


test_neighbours()
sys.exit(cases.run())
