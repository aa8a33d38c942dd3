"""Tables and plots of docs/performance.md from the JSON in bench/results.

    report.py            rewrites the marked parts of docs/performance.md and the plots beside it
    report.py --check    exit status 1 when a table is stale (the plots are not compared)

Needs matplotlib (python3-matplotlib) for the plots.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
RESULTS = ROOT / "bench/results/h200"


def load(name):
    return json.loads((RESULTS / name).read_text())["cases"]


def attention_cases():
    """(name, FLOP, times by clock) of the attention rows; 16k tokens, hidden 2048 or, with grouped
    heads, 4096."""
    for name, times in load("kernels.json").items():
        match = re.fullmatch(r"attention_d(\d+)_s(\d+)(_causal)?(_gqa)?", name)
        if match:
            hidden = 4096 if match[4] else 2048
            flop = 4 * 16384 * int(match[2]) * hidden / (2 if match[3] else 1)
            yield name.removeprefix("attention_"), flop, times


def row_cases():
    for name, times in load("kernels.json").items():
        if re.fullmatch(r"(rms_norm|add_rms_norm|layer_norm|softmax)_\d+", name):
            yield name, times


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def ratio(times, ours, peer):
    return f"{times[peer] / times[ours]:.2f}" if times and peer in times else "-"


def attention_table():
    rows = []
    for name, flop, times in attention_cases():
        burst = times["burst"]
        rows.append([name] + [f"{burst[k] * 1e6:.1f}" if k in burst else "-"
                              for k in ("rudnn", "cudnn", "flash")]
                    + [f"{flop / burst['rudnn'] / 1e12:.0f}", ratio(burst, "rudnn", "cudnn"),
                       ratio(times.get("sustained"), "rudnn", "cudnn")])
    return table(["case", "rudnn us", "cuDNN us", "flash us", "rudnn TFLOP/s", "cuDNN / rudnn",
                  "the same, sustained"], rows)


def row_table():
    rows = []
    for name, times in row_cases():
        burst = times["burst"]
        rows.append([name] + [f"{burst[k] * 1e6:.1f}" if k in burst else "-"
                              for k in ("rudnn", "torch", "compile", "triton", "copy")]
                    + [f"{100 * burst['copy'] / burst['rudnn']:.0f} %"])
    return table(["case", "rudnn us", "torch us", "torch.compile us", "Triton us", "copy us",
                  "share of the copy's bandwidth"], rows)


def gemm_cases(pattern):
    for name, times in load("kernels.json").items():
        if match := re.fullmatch("gemm_" + pattern, name):
            yield match, times


def best_peer(times):
    """The fastest of cuBLAS with torch's kernel and cuBLAS with torch.compile's."""
    return min((p for p in ("torch", "mm_compile") if p in times), key=times.get)


def gemm_table():
    rows = []
    for match, times in gemm_cases(r"((nt|nn|silu|gelu|residual|swiglu)_\d+)"):
        burst, sustained = times["burst"], times.get("sustained")
        rows.append([match[1]] + [f"{burst[k] * 1e6:.1f}" if k in burst else "-"
                                  for k in ("rudnn", "torch", "mm_compile")]
                    + [ratio(burst, "rudnn", best_peer(burst)),
                       ratio(sustained, "rudnn", best_peer(sustained)) if sustained else "-"])
    return table(["case", "rudnn us", "cuBLAS us", "cuBLAS and torch.compile us",
                  "best peer / rudnn", "the same, sustained"], rows)


def shapes_table():
    rows = []
    for match, times in gemm_cases(r"(bf16|f16|batch)_(\d+)_(\d+)_(\d+)"):
        kind, *extents = match.groups()
        burst = times["burst"]
        if kind == "batch":
            what = f"{extents[0]} of {extents[1]} x {extents[1]} x {extents[2]}, bf16"
        else:
            what = f"{' x '.join(extents)}, {kind}"
        rows.append([what, f"{burst['rudnn'] * 1e6:.1f}", f"{burst['torch'] * 1e6:.1f}",
                     ratio(burst, "rudnn", "torch")])
    return table(["rows x columns x depth", "rudnn us", "cuBLAS us", "cuBLAS / rudnn"], rows)


def experts_table():
    models = {"qwen3_30b": "128 experts, 8 a token, 2048 x 768", "mixtral": "8 experts, 2 a token, 4096 x 14336"}
    rows = []
    for name, times in load("experts.json").items():
        match, burst = re.fullmatch(r"experts_(\w+)_(\d+)", name), times["burst"]
        rows.append([models[match[1]], match[2]]
                    + [f"{burst[k] * 1e6:.1f}" for k in ("rudnn", "torch_grouped", "torch_loop")]
                    + [f"{min(burst['torch_grouped'], burst['torch_loop']) / burst['rudnn']:.2f}"])
    return table(["experts", "tokens", "rudnn us", "torch._grouped_mm us", "product by product us",
                  "best peer / rudnn"], rows)


TABLES = {"attention": attention_table, "rows": row_table, "gemm": gemm_table,
          "gemm_shapes": shapes_table, "experts": experts_table}


def bars(axis, labels, series, unit):
    width = 0.8 / len(series)
    for i, (name, values) in enumerate(series.items()):
        places = [x + (i - (len(series) - 1) / 2) * width for x in range(len(labels))]
        axis.bar(places, values, width, label=name)
    axis.set_xticks(range(len(labels)), labels, rotation=45, ha="right", fontsize=8)
    axis.set_ylabel(unit)
    axis.grid(axis="y", alpha=0.3)
    axis.legend()


def plots():
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "rudnn"
    import matplotlib.pyplot as plt

    def save(figure, name):
        path = PAGE.parent / "images" / name
        path.parent.mkdir(exist_ok=True)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)

    cases = list(attention_cases())
    figure, axis = plt.subplots(figsize=(11, 4))
    bars(axis, [name for name, _, _ in cases],
         {peer: [flop / t["burst"][peer] / 1e12 if peer in t["burst"] else 0 for _, flop, t in cases]
          for peer in ("rudnn", "cudnn", "flash")}, "TFLOP/s, burst")
    save(figure, "attention.svg")
    cases = list(row_cases())
    figure, axis = plt.subplots(figsize=(11, 4))
    bars(axis, [name for name, _ in cases],
         {peer: [100 * t["burst"]["copy"] / t["burst"][peer] if peer in t["burst"] else 0
                 for _, t in cases]
          for peer in ("rudnn", "torch", "compile", "triton")}, "% of a copy kernel's bandwidth")
    save(figure, "rows.svg")


def main():
    old = text = PAGE.read_text()
    for name, make in TABLES.items():
        begin, end = f"<!-- {name}: made by bench/report.py -->\n", f"<!-- end of {name} -->"
        if begin not in text or end not in text:
            sys.exit(f"{PAGE}: no marks of the table '{name}'")
        before, rest = text.split(begin)
        text = before + begin + make() + "\n" + rest[rest.index(end):]
    if "--check" in sys.argv[1:]:
        if text != old:
            sys.exit(f"{PAGE} is stale: run bench/report.py")
        return
    PAGE.write_text(text)
    plots()


if __name__ == "__main__":
    main()
