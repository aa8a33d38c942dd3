"""The decoder layer of examples/decoder_layer_bf16.mlir on one GPU: against NumPy float64, and in a CUDA graph."""

import os
import pathlib
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
# Tokens of the function with any number of them.
TOKENS = (1, 63, 64, 200)
# Sums of bf16 products, rounded between the ops of the layer.
TOLERANCE = 6e-2


def sources():
    return {"decoder_layer_bf16": (REPOSITORY / "examples" / "decoder_layer_bf16.mlir").read_text()}


def companions():
    """The reference travels with the artifact."""
    return [REPOSITORY / "examples" / "decoder_layer.py"]


def _load(folder):
    sys.path.insert(0, os.fspath(folder))
    import decoder_layer
    return decoder_layer


def _inputs(layer, tokens):
    """On the GPU in bf16, and on the host."""
    import torch
    arrays = layer.rounded(layer.inputs(tokens))
    tensors = [torch.from_numpy(a).cuda() for a in arrays]
    # The rotation tables (arguments 4 and 5) are f32.
    tensors = [t if i in (4, 5) else t.bfloat16() for i, t in enumerate(tensors)]
    return tensors, arrays


def _check(folder, checker):
    import torch
    from artifact import Artifact
    layer = _load(folder)
    artifact = Artifact(folder / "decoder_layer_bf16.so")
    for name, tokens in [("decoder_layer_bf16", n) for n in TOKENS] + [("decoder_layer_bf16_64", 64)]:
        tensors, args = _inputs(layer, tokens)
        clear = torch.from_numpy(layer.clear_choice(args)).cuda()
        expected = torch.from_numpy(layer.reference(args)).cuda()
        call = artifact.bind(name, *tensors)
        out, = call()
        torch.cuda.synchronize()
        label = f"{name} tokens={tokens}"
        checker.compare(f"{label} ({int(clear.sum())} tokens with a clear choice)", out[clear], expected[clear],
                        TOLERANCE)
        first = out.clone()
        out.fill_(float("nan"))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        graph.replay()
        torch.cuda.synchronize()
        checker.compare(f"{label} in a CUDA graph", out, first.double(), 0.0)


def _bench(folder, results, sustained):
    from artifact import Artifact
    from runner import interleaved
    layer = _load(folder)
    artifact = Artifact(folder / "decoder_layer_bf16.so")
    for tokens in (64, 1024, 4096):
        tensors, _ = _inputs(layer, tokens)
        times = interleaved({"rudnn": artifact.bind("decoder_layer_bf16", *tensors)},
                            sustained=sustained)
        name = f"decoder_layer_{tokens}"
        results["cases"][name] = times
        print(f"{name}: {times['burst']['rudnn'] * 1e6:.1f} us", flush=True)


CHECKS = {"decoder": _check}
BENCHES = {"decoder": _bench}
