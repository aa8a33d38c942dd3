"""The decoder layer of examples/ for static and dynamic numbers of tokens."""

# RUN: %python %s

import os
import pathlib
import sys

sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[1]))
import rudnn_test as rt  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
sys.path.insert(0, os.fspath(EXAMPLES))
import decoder_layer as layer  # noqa: E402


def main():
    module = rt.load((EXAMPLES / "decoder_layer.mlir").read_text())
    for entry, tokens in [("decoder_layer_64", 64), ("decoder_layer", 64), ("decoder_layer", 1),
                          ("decoder_layer", 0), ("decoder_layer", 130)]:
        args = layer.inputs(tokens, seed=tokens)
        given = [a.copy() for a in args]
        y, = module.call(entry, args)
        rt.assert_close(y, layer.reference(args), 1e-4, 1e-4, label=f"{entry}, {tokens} tokens")
        for index, (before, after) in enumerate(zip(given, args)):
            assert (before == after).all(), f"{entry}: argument {index} was overwritten"
    print("decoder layer passed")


if __name__ == "__main__":
    main()
