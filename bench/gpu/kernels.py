"""Kernels against float64 and against torch on one GPU.

    kernels.py prepare FOLDER            compiles the artifacts (rudnn-compile from RUDNN_BIN, build/bin)
                                         for RUDNN_TARGET (sm_90a; sm_90 takes the portable schedules)
    kernels.py check FOLDER [GROUP ...]  compares with float64; exit status 1 when something is off
    kernels.py bench FOLDER [GROUP ...]  times ours and the peers', interleaved, in CUDA graphs

`check` and `bench` need a GPU, torch and the folder, nothing else of rudnn. Each group runs in a
child process under a wall-clock limit, so that a kernel that hangs costs seconds. `bench` writes
FOLDER/results.json; with RUDNN_SUSTAINED=SECONDS it also times at sustained clocks.
A family of kernels is a module `cases_*.py` with `sources()` (artifact name -> MLIR text) and the
tables CHECKS and BENCHES (group name -> function), and `companions()` when files travel along.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import cases_attention
import cases_attention_options
import cases_attention_varlen
import cases_decoder
import cases_experts
import cases_gemm
import cases_norm

FAMILIES = [cases_attention, cases_attention_options, cases_attention_varlen, cases_gemm, cases_norm, cases_decoder,
            cases_experts]
# For one group; sustained clocks take longer.
SECONDS = 180 if float(os.environ.get("RUDNN_SUSTAINED", "0")) == 0 else 300


def prepare(folder):
    folder.mkdir(parents=True, exist_ok=True)
    tools = pathlib.Path(os.environ.get("RUDNN_BIN", "build/bin"))
    target = os.environ.get("RUDNN_TARGET", "sm_90a")
    for family in FAMILIES:
        for name, text in family.sources().items():
            source = folder / f"{name}.mlir"
            source.write_text(text)
            start = time.time()
            subprocess.run([tools / "rudnn-compile", source, f"--target={target}", "--cpu=x86-64-v3",
                            "-o", folder / f"{name}.so"], check=True)
            print(f"{name}: {text.count('func.func')} functions compiled in "
                  f"{time.time() - start:.1f} s", flush=True)
        for path in getattr(family, "companions", list)():
            shutil.copy(path, folder)
    shutil.copy(tools.parent / "lib" / "librudnn_rt.so", folder / "librudnn_rt.so")


def table(verb):
    attribute = {"check": "CHECKS", "bench": "BENCHES"}[verb]
    return {name: function for family in FAMILIES
            for name, function in getattr(family, attribute).items()}


def in_children(verb, folder, groups):
    """Runs each group in a process of its own; the groups that failed."""
    failed = []
    for group in groups:
        command = [sys.executable, __file__, "--child", verb, os.fspath(folder), group]
        try:
            status = subprocess.run(command, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            print(f"FAILED {verb} {group}: still running after {SECONDS} s", flush=True)
            status = 1
        if status:
            failed.append(group)
    print(f"{verb}: {len(groups) - len(failed)} groups passed, {len(failed)} failed"
          + (f" ({', '.join(failed)})" if failed else ""))
    return failed


def check_group(folder, group):
    import torch
    from runner import Checker
    torch.manual_seed(0)
    checker = Checker()
    table("check")[group](folder, checker)
    print(f"{group}: {checker.passed} passed, {checker.failures} failed", flush=True)
    return 1 if checker.failures else 0


def bench_group(folder, group):
    import torch
    results = {"cases": {}}
    table("bench")[group](folder, results, float(os.environ.get("RUDNN_SUSTAINED", "0")))
    path = folder / "results.json"
    everything = json.loads(path.read_text()) if path.exists() else {"cases": {}}
    everything.update({
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
        "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
        "command": "scripts/gpu-bench",
        "burst": "seconds, median of 7 bursts of about 4 ms after 50 ms idle",
        "sustained": "seconds, median of 3 after as much warming up"})
    everything["cases"].update(results["cases"])
    path.write_text(json.dumps(everything, indent=1) + "\n")
    return 0


def main(arguments):
    child = arguments[:1] == ["--child"]
    arguments = arguments[child:]
    if len(arguments) < 2 or arguments[0] not in ("prepare", "check", "bench"):
        print(__doc__, file=sys.stderr)
        return 2
    verb, folder, groups = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    if verb == "prepare":
        return prepare(folder)
    unknown = [group for group in groups if group not in table(verb)]
    if unknown:
        print(f"kernels.py {verb}: no group '{unknown[0]}', there are {', '.join(table(verb))}",
              file=sys.stderr)
        return 2
    if child:
        return {"check": check_group, "bench": bench_group}[verb](folder, *groups)
    return 1 if in_children(verb, folder, groups or list(table(verb))) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
