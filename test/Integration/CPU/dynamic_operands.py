# RUN: %python %s
"""Any operand of an op may have dynamic extents where another one shows them: the result is that
of static operands. Where the clauses ask for a static extent the op doesn't verify."""

import pathlib
import subprocess
import sys

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import rudnn_test
from op_cases import cases, untiled

text, calls, refused, seen = "", [], 0, set()
for case in cases + untiled:
    if case.op in seen:
        continue
    seen.add(case.op)
    text += case.text.replace("@whole", f"@whole{len(seen)}")
    for operand in range(len(case.arrays)):
        function = case.dynamic(operand)
        done = subprocess.run([rudnn_test.tool("rudnn-opt"), "-"], input=function, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            assert f"'rudnn.{case.op}' op {case.op.replace('.', '_')}_c" in done.stderr, f"{function}\n{done.stderr}"
            refused += 1
            continue
        text += function.replace("@dynamic", f"@dynamic{len(calls)}")
        calls.append((case, f"whole{len(seen)}", operand))
module = rudnn_test.Module(text, options=["-O0"])
for i, (case, whole, operand) in enumerate(calls):
    expected, actual = module.call(whole, case.arrays), module.call(f"dynamic{i}", case.arrays)
    for n, (a, e) in enumerate(zip(actual, expected)):
        rudnn_test.assert_close(a, e, 1e-5, 1e-5, f"{case.op}, operand {operand} dynamic: result {n}")
print(f"{len(calls)} cases, {refused} refused")
assert len(seen) == 27 and len(calls) > 100
