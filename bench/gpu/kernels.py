"""Kernels against float64 and against torch on one GPU.

    kernels.py prepare FOLDER     compiles the artifacts (needs rudnn-compile on PATH or in RUDNN_BIN)
    kernels.py check FOLDER       compares with float64; exit status 1 when something is off
    kernels.py bench FOLDER       times ours and torch's, interleaved, in CUDA graphs; writes JSON

`check` and `bench` need a GPU, torch and the folder, nothing else of rudnn.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

# Attention: name, batch, query heads, key heads, sequence, head dim, causal. 16k tokens in all,
# hidden size 2048.
ATTENTION = [(f"attention_d{d}_s{s}{'_causal' if causal else ''}{'_gqa' if hk != h else ''}",
              16384 // s, h, hk, s, d, causal)
             for d, h, hk in ((128, 16, 16), (64, 32, 32), (256, 8, 8), (128, 32, 8))
             for s in ((1024, 4096, 16384) if h == hk else (4096,))
             for causal in (False, True)]
# Sizes that are no multiple of a tile, for the function with dynamic sizes.
TAILS = [(1, 1), (1, 300), (63, 63), (65, 127), (127, 65), (128, 128), (1000, 1000), (1025, 1025)]
ROWS = [("rms_norm", 2048), ("rms_norm", 8192), ("layer_norm", 4096), ("softmax", 4096),
        ("softmax", 16384)]
ROW_COUNT = 8192


def attention_text(name, b, h, hk, s, d, causal):
    q, k = f"tensor<{b}x{h}x{s}x{d}xbf16>", f"tensor<{b}x{hk}x{s}x{d}xbf16>"
    attrs = "{causal = #rudnn.causal<bottom_right>}" if causal else ""
    return f"""
func.func @{name}(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %i = tensor.empty() : {q}
  %o = rudnn.attention ins(%q, %k, %v : {q}, {k}, {k}) outs(%i : {q}) {attrs} -> {q}
  return %o : {q}
}}"""


def dynamic_text(name, d, causal):
    t, lse = f"tensor<2x4x?x{d}xbf16>", "tensor<2x4x?xf32>"
    k = f"tensor<2x2x?x{d}xbf16>"
    attrs = "{causal = #rudnn.causal<bottom_right>}" if causal else ""
    return f"""
func.func @{name}(%q: {t}, %k: {k}, %v: {k}) -> ({t}, {lse}) {{
  %c2 = arith.constant 2 : index
  %s = tensor.dim %q, %c2 : {t}
  %i = tensor.empty(%s) : {t}
  %l = tensor.empty(%s) : {lse}
  %o, %e = rudnn.attention ins(%q, %k, %v : {t}, {k}, {k}) outs(%i, %l : {t}, {lse}) {attrs} -> {t}, {lse}
  return %o, %e : {t}, {lse}
}}"""


def row_text(op, width):
    t, w = f"tensor<{ROW_COUNT}x{width}xbf16>", f"tensor<{width}xbf16>"
    args = {"rms_norm": f"(%x, %g : {t}, {w})", "layer_norm": f"(%x, %g : {t}, {w}) beta(%b : {w})",
            "softmax": f"(%x : {t})"}[op]
    return f"""
func.func @{op}_{width}(%x: {t}, %g: {w}, %b: {w}) -> {t} {{
  %i = tensor.empty() : {t}
  %y = rudnn.{op} ins{args} outs(%i : {t}) -> {t}
  return %y : {t}
}}"""


def prepare(folder):
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "attention": "".join(attention_text(*case) for case in ATTENTION),
        "tails": "".join(dynamic_text(f"tails_d{d}{'_causal' if causal else ''}", d, causal)
                         for d in (64, 80, 128, 192, 256) for causal in (False, True)),
        "rows": "".join(row_text(*case) for case in ROWS),
    }
    tools = pathlib.Path(os.environ.get("RUDNN_BIN", "build/bin"))
    for name, text in texts.items():
        source = folder / f"{name}.mlir"
        source.write_text(text)
        start = time.time()
        subprocess.run([tools / "rudnn-compile", source, "--target=sm_90a", "--cpu=x86-64-v3",
                        "-o", folder / f"{name}.so"], check=True)
        print(f"{name}: {text.count('func.func')} functions compiled in {time.time() - start:.1f} s")
    shutil.copy(tools.parent / "lib" / "librudnn_rt.so", folder / "librudnn_rt.so")


def reference(q, k, v, causal):
    """Attention and its log-sum-exp in float64, one head at a time."""
    import torch
    group = q.shape[1] // k.shape[1]
    out = torch.empty(*q.shape[:3], v.shape[3], dtype=torch.float64, device="cuda")
    lse = torch.empty(q.shape[:3], dtype=torch.float64, device="cuda")
    rows, keys = q.shape[2], k.shape[2]
    later = torch.ones(rows, keys, dtype=torch.bool, device="cuda").triu(keys - rows + 1)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            s = q[b, h].double() @ k[b, h // group].double().T / q.shape[3] ** 0.5
            if causal:
                s.masked_fill_(later, float("-inf"))
            lse[b, h] = torch.logsumexp(s, -1)
            p = torch.exp(s - lse[b, h][:, None])
            out[b, h] = torch.nan_to_num(p) @ v[b, h // group].double()
    return out, lse


def check(folder):
    import torch
    from artifact import Artifact
    torch.manual_seed(0)
    failures = 0

    def compare(label, actual, expected, limit):
        nonlocal failures
        same = (actual.double() == expected) | (actual.isnan() & expected.isnan())
        error = torch.where(same, 0.0, (actual.double() - expected).abs())
        worst = error.nan_to_num(nan=float("inf")).max().item() if error.numel() else 0.0
        good = worst <= limit
        failures += not good
        print(f"{'ok    ' if good else 'FAILED'} {label}: max abs error {worst:.2e}")

    def randn(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    tails = Artifact(folder / "tails.so")
    for d in (64, 80, 128, 192, 256):
        for causal in (False, True):
            for rows, keys in TAILS:
                q, k, v = randn(2, 4, rows, d), randn(2, 2, keys, d), randn(2, 2, keys, d)
                call = tails.bind(f"tails_d{d}{'_causal' if causal else ''}", q, k, v)
                out, lse = call()
                torch.cuda.synchronize()
                expected, expected_lse = reference(q, k, v, causal)
                label = f"attention d={d} rows={rows} keys={keys} causal={causal}"
                compare(label, out, expected, 2e-2)
                compare(label + " lse", lse, expected_lse, 1e-2)
                first = out.clone()
                call()
                if not torch.equal(first.view(torch.int16), call.results[0].view(torch.int16)):
                    failures += 1
                    print(f"FAILED {label}: two runs differ")
    attention = Artifact(folder / "attention.so")
    for name, b, h, hk, s, d, causal in ATTENTION:
        if s > 4096:
            continue
        q, k, v = randn(b, h, s, d), randn(b, hk, s, d), randn(b, hk, s, d)
        out, = attention.bind(name, q, k, v)()
        torch.cuda.synchronize()
        compare(name, out, reference(q, k, v, causal)[0], 2e-2)
    rows = Artifact(folder / "rows.so")
    for op, width in ROWS:
        x, g, b = randn(ROW_COUNT, width), randn(width), randn(width)
        y, = rows.bind(f"{op}_{width}", x, g, b)()
        torch.cuda.synchronize()
        compare(f"{op}_{width}", y, row_reference(op, x.double(), g.double(), b.double()), 8e-2)
    print(f"{failures} failed")
    return failures


def row_reference(op, x, g, b):
    import torch
    if op == "softmax":
        return torch.softmax(x, -1)
    if op == "rms_norm":
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * g
    return torch.nn.functional.layer_norm(x, x.shape[-1:], g, b, 1e-5)


def graph_of(function):
    import torch
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph


def time_graph(graph, replays):
    import torch
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(replays):
        graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / replays * 1e-3


def interleaved(contestants, rounds=7, burst=0.004):
    """Median seconds of each, at burst clocks (a pause before every measurement)."""
    graphs = {name: graph_of(function) for name, function in contestants.items()}
    replays = {name: max(1, int(burst / max(time_graph(graph, 3), 1e-6)))
               for name, graph in graphs.items()}
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, graph in graphs.items():
            time.sleep(0.05)
            times[name].append(time_graph(graph, replays[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def bench(folder):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from artifact import Artifact
    results = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
               "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
               "unit": "seconds, median of 7 bursts of about 4 ms after 50 ms idle", "cases": {}}

    def randn(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    attention = Artifact(folder / "attention.so")
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for name, b, h, hk, s, d, causal in ATTENTION:
        q, k, v = randn(b, h, s, d), randn(b, hk, s, d), randn(b, hk, s, d)
        call = attention.bind(name, q, k, v)

        def peer(backend):
            def run():
                with sdpa_kernel(backend):
                    return sdpa(q, k, v, is_causal=causal, enable_gqa=h != hk)
            return run

        contestants = {"rudnn": call}
        for label, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION),
                               ("flash", SDPBackend.FLASH_ATTENTION)):
            try:
                peer(backend)()
                contestants[label] = peer(backend)
            except RuntimeError as error:
                print(f"{name}: torch {label} refuses: {str(error).splitlines()[0][:80]}")
        times = interleaved(contestants)
        flops = 4 * b * h * s * s * d / (2 if causal else 1)
        report(results, name, times, flops / 1e12, "TFLOP/s")
    rows = Artifact(folder / "rows.so")
    for op, width in ROWS:
        x, g, b = randn(ROW_COUNT, width), randn(width), randn(width)
        out = torch.empty_like(x)
        peers = {"rms_norm": lambda: torch.nn.functional.rms_norm(x, (width,), g, 1e-5),
                 "layer_norm": lambda: torch.nn.functional.layer_norm(x, (width,), g, b, 1e-5),
                 "softmax": lambda: torch.softmax(x, -1)}
        times = interleaved({"rudnn": rows.bind(f"{op}_{width}", x, g, b), "torch": peers[op],
                             "copy": lambda: out.copy_(x)})
        report(results, f"{op}_{width}", times, 2 * x.numel() * 2 / 1e9, "GB/s")
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


def report(results, name, times, work, unit):
    results["cases"][name] = {k: round(t, 9) for k, t in times.items()}
    print(f"{name}: " + ", ".join(f"{k} {t * 1e6:.1f} us ({work / t:.0f} {unit})"
                                  for k, t in times.items()), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("prepare", "check", "bench"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parent))
    outcome = {"prepare": prepare, "check": check, "bench": bench}[sys.argv[1]](
        pathlib.Path(sys.argv[2]))
    sys.exit(1 if outcome else 0)
