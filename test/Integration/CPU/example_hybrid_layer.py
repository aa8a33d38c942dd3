# RUN: %python %s
"""examples/hybrid_layer.mlir against its NumPy float64 reference."""

import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
examples = here.parents[2] / "examples"
sys.path[:0] = [str(here.parent), str(examples)]
import hybrid_layer
import rudnn_test

text = (examples / "hybrid_layer.mlir").read_text()
# No token, one, a chunk, and chunks with a tail.
for tokens in (0, 1, 7, 64, 130):
    args = hybrid_layer.inputs(tokens, seed=tokens)
    expected = hybrid_layer.reference(args)
    actual = rudnn_test.run(text, "hybrid_layer", args)
    for name, a, e in zip(("output", "state"), actual, expected):
        rudnn_test.assert_close(a, e, 1e-4, 1e-4, f"{name} for {tokens} tokens")
