# RUN: %python %s
"""ragged_attention and its gradients against NumPy float64, sequence by sequence."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Inputs"))
import attention_reference as ref
from attention_reference import Options
from ragged_reference import Problem

cases = ref.Cases(["-O0"])
BOTTOM, TOP = "bottom_right", "top_left"


def both(queries, keys=None, **more):
    for dynamic in (False, True):
        p = Problem(queries, keys, dynamic=dynamic, **more)
        p.add_forward(cases)
        p.add_backward(cases)


# Lengths around the tiles, more rows than keys, more keys than rows, one sequence, decode steps.
both((65, 1, 64, 129, 3))
both((65, 1, 64, 130, 3), (1, 130, 64, 65, 300), options=Options(BOTTOM))
both((70,), (200,), options=Options(TOP))
both((1, 1, 1, 1), (1, 90, 128, 300), options=Options(BOTTOM))
# T4, T7: sequences without keys, without rows, without either; none at all; no sequences.
both((3, 0, 0, 5), (0, 7, 0, 9), options=Options(BOTTOM))
both((3, 2), (0, 0))
both((0, 0), (4, 3))
both((0, 0), (0, 0))
both((), ())
# T6.
both((0, 0, 1023), q_heads=2, kv_heads=1, head=8, value=8, options=Options(BOTTOM))
# T8, shorter.
both((27, 689, 178), (202, 0, 54), q_heads=1, kv_heads=1, head=8, value=8)
# Buffers larger than the batch: rows of no sequence give 0, whatever is stored there.
both((5, 0, 70), (9, 3, 40), more_queries=67, more_keys=130, options=Options(BOTTOM))
both((5, 9), more_queries=3, more_keys=2, sinks=True)
both((), (), more_queries=3, more_keys=2)
# Options.
batch = dict(queries=(33, 0, 150, 9), keys=(40, 12, 150, 4))
both(**batch, sinks=True, options=Options(BOTTOM, left=20))
both(**batch, options=Options(left=5, right=40))
both(**batch, options=Options(right=3, softcap=5.0, scale=0.3), spread=4.0)
both(**batch, sinks=True, options=Options(TOP, softcap=2.0, base="two"))
# Heads, head dims.
for heads in ((5, 1), (3, 3), (12, 2)):
    both((9, 20), q_heads=heads[0], kv_heads=heads[1], head=7, value=5, options=Options(BOTTOM))
# Types.
for dtype in ("f16", "bf16"):
    both(**batch, dtype=dtype, sinks=True, options=Options(BOTTOM))
    both((1, 64, 0, 65), dtype=dtype, head=64, value=32, lse=False)


def test_neighbours():
    """NaN and Inf in one sequence reach no other one."""
    for options in (Options(), Options(BOTTOM), Options(left=30, right=30)):
        p = Problem((40, 30, 50), (60, 30, 70), options=options)
        a = p.arrays()
        clean, lse = p.forward(a)
        for name, rows in (("q", slice(40, 70)), ("k", slice(60, 90)), ("v", slice(60, 90))):
            a[name][rows] = np.nan
        a["v"][60] = np.inf

        def others(expected, dtype, axis):
            keep = np.r_[0:40, 70:120]
            return lambda actual: ref.close("others", np.take(actual, keep, axis), np.take(expected, keep, axis), dtype)

        cases.add("neighbours", p.forward_text(), p.operands(a), [others(clean, "f32", 0), others(lse, "f32", 1)])


test_neighbours()
sys.exit(cases.run())
