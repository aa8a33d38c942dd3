#!/usr/bin/env python3
"""Time from MLIR to cubins on one core.

    compile_bench.py [--compile PATH/rudnn-compile] [--out results/cpu/compile.json] [--repeat N]

Each case is compiled N times by a process of its own that is bound to one core; the times are
those of the whole process and its ptxas (parsing, kernels, host code, linking): by the clock, and
as CPU time, which means the same on a busy machine. `limit_s` is the CPU time that a case may
take; exit status 1 when a median is above it. The passes that take longest come from one more run
with --time-passes.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def attention(dim, causal):
    t = f"tensor<1x16x?x{dim}xbf16>"
    mask = " {causal = #rudnn.causal<bottom_right>}" if causal else ""
    return f"""
func.func @attention(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q, %c2 : {t}
  %e = tensor.empty(%n) : {t}
  %o = rudnn.attention ins(%q, %k, %v : {t}, {t}, {t}) outs(%e : {t}){mask} -> {t}
  return %o : {t}
}}"""


def gemm():
    a, b, d = "tensor<?x1024xbf16>", "tensor<1024x4096xbf16>", "tensor<?x4096xbf16>"
    return f"""
func.func @gemm(%a: {a}, %b: {b}) -> {d} {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : {a}
  %e = tensor.empty(%n) : {d}
  %d = rudnn_tile.gemm ins(%a, %b : {a}, {b}) outs(%e : {d}) epilogue {{
  ^bb0(%s: f32):
    %t = arith.truncf %s : f32 to bf16
    rudnn_tile.yield %t : bf16
  }} -> {d}
  return %d : {d}
}}"""


def rms_norm():
    t = "tensor<?x4096xbf16>"
    return f"""
func.func @rms_norm(%x: {t}, %g: tensor<4096xf32>) -> {t} {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : {t}
  %e = tensor.empty(%n) : {t}
  %y = rudnn.rms_norm ins(%x, %g : {t}, tensor<4096xf32>) outs(%e : {t}) -> {t}
  return %y : {t}
}}"""


# Name, text, target, limit in seconds.
CASES = [
    ("decoder_layer_bf16", (ROOT / "examples/decoder_layer_bf16.mlir").read_text(), "sm_90a", 5.0),
    ("attention_128", attention(128, False), "sm_90a", 1.5),
    ("attention_128_causal", attention(128, True), "sm_90a", 1.5),
    ("attention_256", attention(256, False), "sm_90a", 1.5),
    ("attention_128_causal", attention(128, True), "sm_80", 1.5),
    ("gemm", gemm(), "sm_90a", 1.5),
    ("gemm", gemm(), "sm_80", 1.5),
    ("rms_norm", rms_norm(), "sm_90a", 1.5),
]


def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def run(command):
    """Wall and CPU seconds, and what it printed."""
    before = os.times()
    start = time.perf_counter()
    done = subprocess.run(command, preexec_fn=one_core, text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE)
    wall = time.perf_counter() - start
    after = os.times()
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, done.stdout


def longest_passes(text, count=4):
    """The passes without nested ones, summed by name."""
    seconds = {}
    for line in text.splitlines():
        match = re.match(r"\s+(?:[\d.]+ \([ \d.]+%\)\s+)?([\d.]+) \([ \d.]+%\)\s+(\(A\) )?([A-Za-z]\w+)$", line)
        if match and not match[2] and match[3] not in ("Total", "Rest"):
            seconds[match[3]] = seconds.get(match[3], 0) + float(match[1])
    best = sorted(seconds.items(), key=lambda item: -item[1])[:count]
    return {name: round(value, 3) for name, value in best}


def version(command):
    try:
        lines = subprocess.run(command, text=True, capture_output=True).stdout.splitlines()
    except OSError:
        return None
    return next((line.strip() for line in lines if "release" in line or "version" in line), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile", default=ROOT / "build/bin/rudnn-compile")
    parser.add_argument("--out", default=ROOT / "bench/results/cpu/compile.json")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source.mlir"
        for name, text, target, limit in CASES:
            source.write_text(text)
            command = [options.compile, source, f"--target={target}", "-o",
                       pathlib.Path(folder) / "out.so"]
            times = [run(command)[:2] for _ in range(options.repeat)]
            wall, cpu = (statistics.median(t) for t in zip(*times))
            passes = longest_passes(run([*command, "--time-passes"])[2])
            rows.append({"case": name, "target": target, "median_s": round(wall, 3),
                         "min_s": round(min(t[0] for t in times), 3), "cpu_s": round(cpu, 3),
                         "limit_s": limit, "longest_passes_s": passes})
            print(f"{name:24} {target:8} {wall:6.2f} s, CPU {cpu:.2f} s (limit {limit}), {passes}")
    result = {"command": "bench/compile_bench.py", "machine": platform.processor() or
              platform.machine(), "cores": 1, "load_before": load, "repeat": options.repeat,
              "ptxas": version(["/usr/local/cuda/bin/ptxas", "--version"]), "cases": rows}
    pathlib.Path(options.out).write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(any(row["cpu_s"] > row["limit_s"] for row in rows))


if __name__ == "__main__":
    main()
