# RUN: %python %s %rudnn_src
"""Every clause that the description of an op names is violated by a test."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
clauses = set()
for path in (root / "dialect" / "Rudnn").glob("*Ops.td"):
    clauses |= set(re.findall(r"^ *- `([a-z_]+_c\d+)`:", path.read_text(), flags=re.M))
tests = "".join(path.read_text() for path in (root / "test" / "Dialect" / "Rudnn").glob("*_invalid.mlir"))
missing = sorted(clause for clause in clauses if not re.search(rf"expected-error.*{clause}\b", tests))
assert not missing, f"no test in test/Dialect/Rudnn/*_invalid.mlir violates {', '.join(missing)}"
print(f"{len(clauses)} clauses")
assert len(clauses) > 200
