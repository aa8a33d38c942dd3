"""Row operators in bf16: norms, the sum of two tensors with its norm, softmax."""

WIDTHS = (1024, 2048, 4096, 8192, 16384, 32768)
ROWS = [(op, width) for op in ("rms_norm", "add_rms_norm", "layer_norm", "softmax") for width in WIDTHS]
ROW_COUNT = 8192


def _text(op, width):
    t, w = f"tensor<{ROW_COUNT}x{width}xbf16>", f"tensor<{width}xbf16>"
    args = {"rms_norm": f"(%x, %g : {t}, {w})", "add_rms_norm": f"(%x, %r, %g : {t}, {t}, {w})",
            "layer_norm": f"(%x, %g : {t}, {w}) beta(%b : {w})", "softmax": f"(%x : {t})"}[op]
    count = 2 if op == "add_rms_norm" else 1
    outs, types = (", ".join([part] * count) for part in ("%i", t))
    results = ", ".join(f"%y#{i}" for i in range(count))
    return f"""
func.func @{op}_{width}(%x: {t}, %g: {w}, %b: {w}, %r: {t}) -> ({types}) {{
  %i = tensor.empty() : {t}
  %y:{count} = rudnn.{op} ins{args} outs({outs} : {types}) -> {types}
  return {results} : {types}
}}"""


def sources():
    return {"rows": "".join(_text(*case) for case in ROWS)}


def _reference(op, x, g, b, r):
    import torch
    if op == "softmax":
        return [torch.softmax(x, -1)]
    if op == "layer_norm":
        return [torch.nn.functional.layer_norm(x, x.shape[-1:], g, b, 1e-5)]
    total = x + r if op == "add_rms_norm" else x
    y = total / torch.sqrt((total * total).mean(-1, keepdim=True) + 1e-5) * g
    return [y, total] if op == "add_rms_norm" else [y]


def _operands(width):
    from runner import randn
    return randn(ROW_COUNT, width), randn(width), randn(width), randn(ROW_COUNT, width)


def _check(folder, checker):
    import torch
    from artifact import Artifact
    rows = Artifact(folder / "rows.so")
    for op, width in ROWS:
        operands = _operands(width)
        results = rows.bind(f"{op}_{width}", *operands)()
        torch.cuda.synchronize()
        expected = _reference(op, *(operand.double() for operand in operands))
        for y, exact in zip(results, expected):
            checker.compare(f"{op}_{width}", y, exact, 8e-2)


def _bench(folder, results, sustained):
    import peers
    from artifact import Artifact
    from runner import interleaved, report
    rows = Artifact(folder / "rows.so")
    for op, width in ROWS:
        x, g, b, r = _operands(width)
        adds = op == "add_rms_norm"
        contestants = {"rudnn": rows.bind(f"{op}_{width}", x, g, b, r),
                       "copy": peers.copy_two(x, r) if adds else peers.copy(x),
                       **peers.row(op, x, g, b, r)}
        times = interleaved(contestants, sustained=sustained)
        report(results, f"{op}_{width}", times, (4 if adds else 2) * x.numel() * 2 / 1e9, "GB/s")


CHECKS = {"rows": _check}
BENCHES = {"rows": _bench}
