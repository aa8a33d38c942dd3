# RUN: %python %s
"""A tiled op computes what the whole op does: every op with loops is tiled by the transform
dialect, with tiles that don't divide the extents, outside of the project's pipelines."""

import pathlib
import re
import subprocess
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import rudnn_test
from op_cases import cases

SCRIPT = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %op = transform.structured.match ops{{["rudnn.{op}"]}} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:{count} = transform.structured.tile_using_for %op tile_sizes [{sizes}]
        : (!transform.any_op) -> (!transform.any_op{handles})
    transform.yield
  }}
}}
"""


def tile(case):
    """The function @whole with the op in tiles."""
    script = SCRIPT.format(op=case.op, count=len(case.tiles), sizes=", ".join(map(str, case.tiles)),
                           handles=", !transform.any_op" * len(case.tiles))
    done = subprocess.run(
        [rudnn_test.tool("rudnn-opt"), "-", "-transform-interpreter", "-canonicalize", "-verify-each",
         "-mlir-print-local-scope"], input=case.text + script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{case.op}: {done.stderr}"
    function = re.search(r"^  func\.func.*?^  \}$", done.stdout, flags=re.M | re.S).group(0)
    assert 0 < function.count("scf.for ") <= len(case.tiles), f"{case.op}: {function}"
    assert function.index("scf.for ") < function.index(f"rudnn.{case.op} "), f"{case.op}: {function}"
    return function


text = ""
for i, case in enumerate(cases):
    text += case.text.replace("@whole", f"@whole{i}") + tile(case).replace("@whole", f"@tiled{i}") + "\n"
module = rudnn_test.Module(text)
for i, case in enumerate(cases):
    whole, tiled = (module.call(f"{name}{i}", case.arrays) for name in ("whole", "tiled"))
    for n, (a, b) in enumerate(zip(whole, tiled)):
        assert np.any(a != -7) and not np.isnan(a).any(), f"{case.op}: result {n} of the whole op"
        rudnn_test.assert_close(b, a, 2e-6, 2e-6, f"{case.op} in tiles of {case.tiles}: result {n}")
print(f"{len(cases)} cases")
