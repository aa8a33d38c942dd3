# RUN: %python %s
"""examples/decode_step.mlir against its NumPy float64 reference."""

import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
examples = here.parents[2] / "examples"
sys.path[:0] = [str(here.parent), str(examples)]
import decode_step
import rudnn_test

text = (examples / "decode_step.mlir").read_text()
# No sequence, a first token, and lengths around the ends of pages.
for lengths in ([], [1], [5, 16, 17, 1, 100], [33] * 9):
    args = decode_step.inputs(lengths, seed=len(lengths))
    expected = decode_step.reference(args)
    actual = rudnn_test.run(text, "decode_step", args)
    for name, a, e in zip(("output", "key cache", "value cache"), actual, expected):
        rudnn_test.assert_close(a, e, 1e-4, 1e-4, f"{name} for lengths {lengths}")
