# RUN: %python %s %rudnn_src
"""docs/cases.md names the tests that have its labels, and every label of a test."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
LABEL = re.compile(r"(?<![\w%@#^!])T\d+b?(?![\w(])")
known = {}
for line in (root / "docs" / "cases.md").read_text().splitlines():
    row = re.match(r"\| (T\d+b?) \|.*\| ([^|]*) \|$", line)
    if row:
        known[row.group(1)] = row.group(2).split(", ")
assert len(known) > 30
for label, files in known.items():
    for file in files:
        assert label in LABEL.findall((root / "test" / file).read_text()), f"{label} is not in {file}"
used = {}
for folder in ("Integration/CPU", "Dialect/Rudnn"):
    for path in sorted((root / "test" / folder).glob("*.*")):
        for label in LABEL.findall(path.read_text()):
            used.setdefault(label, path.name)
missing = {label: name for label, name in used.items() if label not in known}
assert not missing, f"docs/cases.md lacks {missing}"
print(f"{len(known)} cases")
