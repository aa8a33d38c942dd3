"""Mixture of experts: the expert products, against torch._grouped_mm."""

# Name, experts, experts per token, hidden width, width inside an expert.
MODELS = [("qwen3_30b", 128, 8, 2048, 768), ("mixtral", 8, 2, 4096, 14336)]
TOKENS = (1, 16, 64, 512, 4096)
# Widths inside and outside, type, rows of each expert; in some cases rows of no expert behind them.
CHECK = [(72, 40, "bf16", [1, 0, 17, 5], 0), (512, 256, "bf16", [16] * 8, 0), (64, 64, "f16", [0, 0, 33, 0], 9),
         (136, 264, "bf16", [100, 0, 65, 1, 0, 0, 3], 70), (8, 8, "bf16", [0, 1], 0), (8, 8, "bf16", [0, 0], 5),
         (72, 264, "bf16", [128, 130, 65], 0), (136, 72, "f16", [200, 0, 1], 300),
         (768, 2048, "bf16", [(7 * e) % 11 for e in range(128)], 0),
         (768, 2048, "bf16", [(37 * e) % 301 for e in range(64)], 0), (24, 16, "bf16", [0, 0, 0], 0)]


def text(name, experts, inner, width, dtype="bf16", rows="?"):
    x, offsets = f"tensor<{rows}x{width}x{dtype}>", f"tensor<{experts + 1}xi32>"
    wide, down = f"tensor<{experts}x{inner}x{width}x{dtype}>", f"tensor<{experts}x{width}x{inner}x{dtype}>"
    size = "%r" if rows == "?" else ""
    return f"""
func.func @{name}(%x: {x}, %o: {offsets}, %gate: {wide}, %up: {wide}, %down: {down}) -> {x} {{
  %c0 = arith.constant 0 : index
  %r = tensor.dim %x, %c0 : {x}
  %i = tensor.empty({size}) : {x}
  %y = rudnn.moe.experts ins(%x, %o : {x}, {offsets})
      weights(%gate, %up, %down : {wide}, {wide}, {down}) outs(%i : {x}) {{rudnn.strategy = "schedule"}} -> {x}
  return %y : {x}
}}"""


def sources():
    return {"experts": "".join(text(f"experts_{i}", len(lengths), inner, width, dtype)
                               for i, (inner, width, dtype, lengths, _) in enumerate(CHECK)),
            "experts_bench": "".join(text(name, experts, inner, width)
                                     for name, experts, _, width, inner in MODELS)}


def operands(lengths, others, inner, width, dtype):
    import torch
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]

    def weights(*shape):
        return (torch.randn(*shape, device="cuda") / shape[-1] ** 0.5).to(kind)

    experts = len(lengths)
    offsets = torch.tensor([0] + lengths).cumsum(0).int().cuda()
    x = torch.randn(sum(lengths) + others, width, device="cuda").to(kind)
    return [x, offsets, weights(experts, inner, width), weights(experts, inner, width),
            weights(experts, width, inner)]


def reference(x, lengths, gate, up, down):
    """One expert after the other, in float64."""
    import torch
    y, start = torch.zeros_like(x, dtype=torch.float64), 0
    for e, length in enumerate(lengths):
        rows = x[start : start + length].double()
        h = torch.nn.functional.silu(rows @ gate[e].double().t()) * (rows @ up[e].double().t())
        y[start : start + length] = h @ down[e].double().t()
        start += length
    return y


def _check(folder, checker):
    import torch
    from artifact import Artifact
    artifact = Artifact(folder / "experts.so")
    for i, (inner, width, dtype, lengths, others) in enumerate(CHECK):
        x, offsets, *weights = operands(lengths, others, inner, width, dtype)
        call = artifact.bind(f"experts_{i}", x, offsets, *weights)
        out, = call()
        torch.cuda.synchronize()
        expected = reference(x, lengths, *weights)
        scale = expected.abs().max().item() if expected.numel() else 0.0
        label = f"experts {len(lengths)} x {inner} x {width} {dtype}, {x.shape[0]} rows"
        # The activated rows are rounded once, the result once.
        checker.compare(label, out, expected, scale * 2.0 ** -(10 if dtype == "f16" else 7) + 1e-5)
        checker.repeats(label, call)


def routed(tokens, experts, chosen):
    """Rows of each expert when every token chooses `chosen` of them at random."""
    import torch
    ids = torch.rand(tokens, experts).topk(chosen, dim=1).indices
    return torch.bincount(ids.flatten(), minlength=experts).tolist()


def peers(x, offsets, lengths, gate, up, down):
    """torch's grouped product, which has no epilogue, and one product after the other."""
    import torch
    silu, inner = torch.nn.functional.silu, gate.shape[1]
    both = torch.cat([gate, up], 1)
    ends = offsets[1:].contiguous()

    def grouped():
        h = torch._grouped_mm(x, both.transpose(-2, -1), offs=ends)
        return torch._grouped_mm(silu(h[:, :inner]) * h[:, inner:], down.transpose(-2, -1), offs=ends)

    def loop():
        y, start = torch.empty_like(x), 0
        for e, length in enumerate(lengths):
            if length:
                h = x[start : start + length] @ both[e].t()
                torch.mm(silu(h[:, :inner]) * h[:, inner:], down[e].t(), out=y[start : start + length])
            start += length
        return y

    found = {"torch_loop": loop}
    try:
        grouped()
        found["torch_grouped"] = grouped
    except (AttributeError, RuntimeError) as error:
        print(f"torch._grouped_mm refuses: {str(error).splitlines()[0][:80]}")
    return found


def _bench(folder, results, sustained):
    import torch
    from artifact import Artifact
    from runner import interleaved, report
    artifact = Artifact(folder / "experts_bench.so")
    for name, experts, chosen, width, inner in MODELS:
        weights = operands([0] * experts, 0, inner, width, "bf16")[2:]
        for tokens in TOKENS:
            lengths = routed(tokens, experts, chosen)
            x, offsets = operands(lengths, 0, 8, width, "bf16")[:2]
            call = artifact.bind(name, x, offsets, *weights)
            others = peers(x, offsets, lengths, *weights)
            worst = max((call()[0].float() - other().float()).abs().max().item() for other in others.values())
            print(f"{name} tokens={tokens}: {sum(n > 0 for n in lengths)} experts have rows, "
                  f"largest difference to torch {worst:.3f}", flush=True)
            times = interleaved({"rudnn": call, **others}, sustained=sustained)
            bytes_ = sum(n > 0 for n in lengths) * 6 * width * inner
            if tokens < 1000:
                report(results, f"experts_{name}_{tokens}", times, bytes_ / 1e9, "GB/s of weights")
            else:
                report(results, f"experts_{name}_{tokens}", times, 6e-12 * tokens * chosen * width * inner, "TFLOP/s")
            torch.cuda.empty_cache()


CHECKS = {"experts": _check}
BENCHES = {"experts": _bench}
