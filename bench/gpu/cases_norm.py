"""Row operators in bf16: rms_norm, layer_norm, softmax."""

WIDTHS = (1024, 2048, 4096, 8192, 16384, 32768)
ROWS = [(op, width) for op in ("rms_norm", "layer_norm", "softmax") for width in WIDTHS]
ROW_COUNT = 8192


def _text(op, width):
    t, w = f"tensor<{ROW_COUNT}x{width}xbf16>", f"tensor<{width}xbf16>"
    args = {"rms_norm": f"(%x, %g : {t}, {w})", "layer_norm": f"(%x, %g : {t}, {w}) beta(%b : {w})",
            "softmax": f"(%x : {t})"}[op]
    return f"""
func.func @{op}_{width}(%x: {t}, %g: {w}, %b: {w}) -> {t} {{
  %i = tensor.empty() : {t}
  %y = rudnn.{op} ins{args} outs(%i : {t}) -> {t}
  return %y : {t}
}}"""


def sources():
    return {"rows": "".join(_text(*case) for case in ROWS)}


def _reference(op, x, g, b):
    import torch
    if op == "softmax":
        return torch.softmax(x, -1)
    if op == "rms_norm":
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * g
    return torch.nn.functional.layer_norm(x, x.shape[-1:], g, b, 1e-5)


def _check(folder, checker):
    import torch
    from artifact import Artifact
    from runner import randn
    rows = Artifact(folder / "rows.so")
    for op, width in ROWS:
        x, g, b = randn(ROW_COUNT, width), randn(width), randn(width)
        y, = rows.bind(f"{op}_{width}", x, g, b)()
        torch.cuda.synchronize()
        checker.compare(f"{op}_{width}", y, _reference(op, x.double(), g.double(), b.double()),
                        8e-2)


def _bench(folder, results, sustained):
    import peers
    from artifact import Artifact
    from runner import interleaved, randn, report
    rows = Artifact(folder / "rows.so")
    for op, width in ROWS:
        x, g, b = randn(ROW_COUNT, width), randn(width), randn(width)
        contestants = {"rudnn": rows.bind(f"{op}_{width}", x, g, b), "copy": peers.copy(x),
                       **peers.row(op, x, g, b)}
        times = interleaved(contestants, sustained=sustained)
        report(results, f"{op}_{width}", times, 2 * x.numel() * 2 / 1e9, "GB/s")


CHECKS = {"rows": _check}
BENCHES = {"rows": _bench}
