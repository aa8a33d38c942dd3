#!/usr/bin/env python3
"""CPU kernels against NumPy, both in one process, runs interleaved.

    cpu_bench.py [--compile PATH/rudnn-compile] [--out results/cpu/pipeline.json] [--repeat N]

Each case is compiled to a .so by rudnn-compile, checked against NumPy and timed with 2 threads
on both sides. NumPy's matrix products must come from OpenBLAS (the wheel from PyPI has it; a
distribution's may not): the JSON says which library it was. Peak memory is that of a child
process that runs one call.
"""

import argparse
import ctypes
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = 2
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import numpy as np  # noqa: E402  (reads the variables above)


def matmul(m, n, k, dtype):
    """A product with f32 sums, m x k by k x n."""
    a, b, c = f"tensor<{m}x{k}x{dtype}>", f"tensor<{k}x{n}x{dtype}>", f"tensor<{m}x{n}xf32>"
    return f"""
func.func @f(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %i = linalg.fill ins(%zero : f32) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%i : {c}) -> {c}
  return %r : {c}
}}"""


def attention(batch, heads, length, dim):
    """Causal attention with as many key heads as query heads."""
    t = f"tensor<{batch}x{heads}x{length}x{dim}xf32>"
    return f"""
func.func @f(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
  %e = tensor.empty() : {t}
  %r = rudnn.attention ins(%q, %k, %v : {t}, {t}, {t}) outs(%e : {t})
      {{causal = #rudnn.causal<bottom_right>}} -> {t}
  return %r : {t}
}}"""


def softmax(rows, columns):
    t = f"tensor<{rows}x{columns}xf32>"
    return f"""
func.func @f(%x: {t}) -> {t} {{
  %e = tensor.empty() : {t}
  %r = rudnn.softmax ins(%x : {t}) outs(%e : {t}) -> {t}
  return %r : {t}
}}"""


def numpy_attention(q, k, v):
    scores = np.matmul(q, k.transpose(0, 1, 3, 2))
    scores *= q.dtype.type(1 / np.sqrt(q.shape[-1]))
    later = np.triu(np.ones(scores.shape[-2:], bool), 1)
    np.copyto(scores, q.dtype.type(-np.inf), where=later)
    return np.matmul(numpy_softmax(scores), v)


def numpy_softmax(x):
    e = x - x.max(axis=-1, keepdims=True)
    np.exp(e, out=e)
    e /= e.sum(axis=-1, keepdims=True)
    return e


def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


class ArgInfo(ctypes.Structure):
    pass


class FunctionInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("num_args", ctypes.c_int32),
        ("num_results", ctypes.c_int32),
        ("args", ctypes.POINTER(ArgInfo)),
        ("run", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
        ("result_shapes", ctypes.c_void_p),
        ("workspace_bytes", ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)),
    ]


class ModuleInfo(ctypes.Structure):
    _fields_ = [
        ("abi_version", ctypes.c_int32),
        ("target", ctypes.c_char_p),
        ("num_functions", ctypes.c_int32),
        ("functions", ctypes.POINTER(FunctionInfo)),
    ]


def descriptor(array):
    """The memref descriptor of a dense array."""

    class Memref(ctypes.Structure):
        _fields_ = [
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
            ("sizes", ctypes.c_int64 * array.ndim),
            ("strides", ctypes.c_int64 * array.ndim),
        ]

    dims = ctypes.c_int64 * array.ndim
    strides = [stride // array.itemsize for stride in array.strides]
    return Memref(array.ctypes.data, array.ctypes.data, 0, dims(*array.shape), dims(*strides))


class Artifact:
    """The only function of a .so made by rudnn-compile (include/rudnn/Runtime/Abi.h)."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.rudnn_module.restype = ctypes.POINTER(ModuleInfo)
        self.function = self.library.rudnn_module().contents.functions[0]

    def __call__(self, *arrays):
        descriptors = [descriptor(array) for array in arrays]
        pointers = (ctypes.c_void_p * len(arrays))(*[ctypes.addressof(d) for d in descriptors])
        workspace = np.empty(max(self.function.workspace_bytes(pointers), 1), np.uint8)
        status = self.function.run(pointers, workspace.ctypes.data, None)
        if status:
            raise RuntimeError(f"run returned status {status}")


def build(compiler, text, folder, name):
    """(.so, seconds)"""
    source, library = folder / f"{name}.mlir", folder / f"{name}.so"
    source.write_text(text)
    start = time.perf_counter()
    subprocess.run([compiler, source, "--target=cpu", "-o", library], check=True)
    return library, time.perf_counter() - start


def cases():
    """(name, MLIR, our inputs, NumPy's function, FLOP, largest allowed error)"""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    a, b = normal(1024, 1024), normal(1024, 1024)
    flop = 2 * 1024**3
    yield "matmul_f32_1024", matmul(1024, 1024, 1024, "f32"), [a, b], (
        lambda: np.matmul(a, b)), flop, 1e-3
    a16, b16 = to_bf16(a), to_bf16(b)
    wide = [from_bf16(a16), from_bf16(b16)]
    yield "matmul_bf16_1024", matmul(1024, 1024, 1024, "bf16"), [a16, b16], (
        lambda: np.matmul(*wide)), flop, 1e-3
    qkv = [normal(1, 8, 1024, 64) for _ in range(3)]
    yield "attention_causal_f32_b1_h8_s1024_d64", attention(1, 8, 1024, 64), qkv, (
        lambda: numpy_attention(*qkv)), 2 * 8 * 1024 * 1025 * 64, 1e-4
    x = normal(4096, 1024)
    yield "softmax_f32_4096x1024", softmax(4096, 1024), [x], (
        lambda: numpy_softmax(x)), 5 * x.size, 1e-5


def measure(artifact, arrays, out, peer, repeat):
    """Seconds of ours and of the peer, alternating."""
    ours, peers = [], []
    for _ in range(repeat):
        for times, call in ((ours, lambda: artifact(*arrays, out)), (peers, peer)):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return ours, peers


def peak_memory(library, length):
    """MiB that one causal call adds to the peak of a child process."""
    script = (
        "import re, sys, numpy as np\n"
        f"sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
        "from cpu_bench import Artifact\n"
        f"shape = (1, 8, {length}, 64)\n"
        "q, k, v, out = [np.full(shape, 0.01, np.float32) for _ in range(4)]\n"
        f"call = Artifact({str(library)!r})\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
        "before = peak()\n"
        "call(q, k, v, out)\n"
        "print((peak() - before) / 1024, peak() / 1024)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    added, total = map(float, run.stdout.split())
    return {"added_mib": round(added, 1), "process_mib": round(total, 1)}


def blas_name():
    try:
        return np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    except Exception:  # older NumPy prints only
        return "unknown"


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile", default="rudnn-compile", help="the compiler to measure")
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "results/cpu/pipeline.json")
    parser.add_argument("--repeat", type=int, default=15, help="timed calls of each side")
    options = parser.parse_args()

    report = {
        "cpu": cpu_name(), "threads": THREADS, "numpy": np.__version__, "blas": blas_name(),
        "load_at_start": os.getloadavg()[0], "repeat": options.repeat, "cases": {},
    }
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, text, arrays, peer, flop, tolerance in cases():
            library, seconds = build(options.compile, text, folder, name)
            artifact, expected = Artifact(library), peer()
            out = np.full(expected.shape, np.nan, np.float32)
            artifact(*arrays, out)
            error = float(np.abs(out - expected).max())
            ok = error <= tolerance
            good &= ok
            ours, peers = measure(artifact, arrays, out, peer, options.repeat)
            ratio = statistics.median(peers) / statistics.median(ours)
            report["cases"][name] = {
                "ours_ms": round(1e3 * statistics.median(ours), 3),
                "numpy_ms": round(1e3 * statistics.median(peers), 3),
                "ours_min_ms": round(1e3 * min(ours), 3),
                "numpy_min_ms": round(1e3 * min(peers), 3),
                "speed_relative_to_numpy": round(ratio, 3),
                "gflops": round(flop / statistics.median(ours) / 1e9, 1),
                "max_abs_difference": error, "compile_s": round(seconds, 2),
            }
            print(f"{name:40} {report['cases'][name]['ours_ms']:9.2f} ms, NumPy "
                  f"{report['cases'][name]['numpy_ms']:9.2f} ms, {ratio:5.2f} x, "
                  f"difference {error:.1e}{'' if ok else '  TOO LARGE'}")
        library, _ = build(options.compile, attention(1, 8, 8192, 64), folder, "long")
        report["attention_s8192_peak_memory"] = peak_memory(library, 8192)
        print("attention, S = 8192: peak memory", report["attention_s8192_peak_memory"])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
