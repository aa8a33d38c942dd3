# RUN: %python %s %rudnn_src
"""The example in the description of every op parses and compiles for the CPU."""

import pathlib
import re
import subprocess
import sys

count = 0
for page in sorted((pathlib.Path(sys.argv[1]) / "docs" / "reference").glob("*.md")):
    sections = re.split(r"^### `rudnn\.([a-z_.]+)`", page.read_text(), flags=re.M)
    for op, text in zip(sections[1::2], sections[2::2]):
        example = re.search(r"^Example:\n+```mlir\n(.*?)^```", text, flags=re.M | re.S)
        assert example, f"rudnn.{op} in {page.name} has no example"
        assert f"rudnn.{op}" in example.group(1), f"the example of rudnn.{op} is of another op"
        done = subprocess.run(
            ["rudnn-opt", "-", "-rudnn-to-cpu"], input=example.group(1), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"the example of rudnn.{op}:\n{done.stderr}"
        count += 1
print(f"{count} examples")
assert count >= 27
