# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a:1 RUDNN_TEST_REPEAT=3 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80 RUDNN_TEST_SAMPLE=2 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80:1 RUDNN_TEST_REPEAT=2 RUDNN_TEST_SAMPLE=2 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86 RUDNN_TEST_SAMPLE=2 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86:1 RUDNN_TEST_REPEAT=2 RUDNN_TEST_SAMPLE=2 %python %s
"""The row schedules' kernels (norms and softmax) in the emulator, against float64."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import rudnn_test
from norm_reference import layer_norm, rms_norm, softmax

rng = np.random.default_rng(5)
suite = rudnn_test.Suite()


def check(op, rows, width, dtype, dynamic=False):
    t = f"tensor<{'?' if dynamic else rows}x{width}x{dtype}>"
    w = f"tensor<{width}xf32>"
    x = rudnn_test.cast(rng.standard_normal((rows, width)) * 2, dtype)
    g, b = (rudnn_test.cast(rng.standard_normal(width), "f32") for _ in range(2))
    r = rudnn_test.cast(rng.standard_normal((rows, width)), dtype)
    operands = {"rms_norm": f"(%x, %g : {t}, {w})",
                "add_rms_norm": f"(%x, %r, %g : {t}, {t}, {w})",
                "layer_norm": f"(%x, %g : {t}, {w}) beta(%b : {w})",
                "softmax": f"(%x : {t})"}[op]
    wide = x.astype(np.float64)
    total = wide + r.astype(np.float64)
    expected = {"rms_norm": lambda: [rms_norm(wide, g, 1e-5)],
                "add_rms_norm": lambda: [rms_norm(total, g, 1e-5), total],
                "layer_norm": lambda: [layer_norm(wide, g, b, 1e-5)],
                "softmax": lambda: [softmax(wide)]}[op]()
    count = len(expected)
    outs, types = (", ".join([part] * count) for part in ("%init", t))
    results = ", ".join(f"%y#{i}" for i in range(count))
    text = f"""func.func @NAME(%x: {t}, %g: {w}, %b: {w}, %r: {t}) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : {t}
  %init = tensor.empty({'%n' if dynamic else ''}) : {t}
  %y:{count} = rudnn.{op} ins{operands} outs({outs} : {types}) {{rudnn.strategy = "schedule"}} -> {types}
  return {results} : {types}
}}"""
    suite.add(f"{op} {rows} x {width} {dtype}", text, [x, g, b, r], expected,
              rudnn_test.RTOL[dtype], rudnn_test.ATOL[dtype])


for op in ("rms_norm", "add_rms_norm", "layer_norm", "softmax"):
    check(op, 3, 64, "bf16")
    check(op, 2, 4096, "bf16")
    check(op, 1, 32768, "f16")  # more elements than a thread keeps
    check(op, 2, 1000, "f16", dynamic=True)  # a tail
    check(op, 2, 2052, "f32")
    check(op, 1, 8, "bf16", dynamic=True)
    check(op, 2, 40000, "bf16")  # a long row
check("rms_norm", 0, 64, "bf16", dynamic=True)
check("softmax", 2200, 16, "bf16")  # more rows than blocks at a time

suite.run()
