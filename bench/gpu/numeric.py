"""The numeric tests of all ops on one GPU, and the kernels under compute-sanitizer.

    numeric.py package FOLDER            FOLDER/package.tar.xz: tools that need no LLVM (made by
                                         scripts/package), the tests and what they read
    numeric.py check FOLDER [TEST ...]   runs the tests of test/Integration for target cuda
    numeric.py sanitize FOLDER [RUN ...] runs small cases of each family of kernels under
                                         compute-sanitizer

Tools and tests come from the package in FOLDER; without one, from build-static/rudnn or build/ and
this source tree. Every test is a process of its own under a wall-clock limit (RUDNN_TEST_SECONDS),
as many at a time as RUDNN_TEST_JOBS says. What can't run is skipped, with the reason.
"""

import concurrent.futures
import ctypes
import dataclasses
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("RUDNN_TEST_SECONDS", "300"))
JOBS = int(os.environ.get("RUDNN_TEST_JOBS", "0")) or max(2, min(12, os.cpu_count() or 2))
# Where the tests of the op set and those of the schedules' kernels are.
FOLDERS = ["CPU", "Emulator"]


@dataclasses.dataclass
class Outcome:
    name: str
    status: str  # passed, failed or skipped
    note: str = ""
    seconds: float = 0.0

    def show(self):
        head, *more = (self.note or "").strip().splitlines() or [""]
        print(f"{self.status:7} {self.name} ({self.seconds:.0f} s)" + (f": {head}" if head else ""))
        for line in more:
            print(f"        {line}")
        sys.stdout.flush()


@dataclasses.dataclass
class Job:
    """A command of Python, relative to the root of tests and tools."""

    name: str
    arguments: list
    environment: dict


# -- The package ---------------------------------------------------------------


def package(folder):
    """Writes FOLDER/package.tar.xz."""
    built = pathlib.Path(os.environ.get("RUDNN_PACKAGE", SOURCES / "build-static" / "rudnn"))
    tools = [built / "bin" / name for name in ("rudnn-compile", "rudnn-run")]
    missing = [tool for tool in tools if not tool.exists()]
    if missing:
        print(f"numeric.py package: no {missing[0]}; scripts/package makes it", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "package.tar.xz"
    # Instructions first, by the filter for x86, in one dictionary: the tools have much in common.
    filters = ["xz", "--x86", "--lzma2=preset=6,dict=256MiB", "--stdout"]
    with path.open("wb") as out:
        xz = subprocess.Popen(filters, stdin=subprocess.PIPE, stdout=out)
        with tarfile.open(fileobj=xz.stdin, mode="w|") as archive:
            for tool in tools:
                archive.add(tool, f"bin/{tool.name}")
            archive.add(built / "lib", "lib")
            for name in ("test/Integration", "examples"):
                archive.add(SOURCES / name, name, filter=is_source)
        xz.stdin.close()
        if xz.wait():
            return 1
    print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")
    return 0


def is_source(entry):
    """Leaves out what running the tests left."""
    return None if "__pycache__" in entry.name or entry.name.endswith(".pyc") else entry


def find_root(folder):
    """(folder of test/ and examples/, folder of bin/ and lib/), or why there is none."""
    archive, unpacked = folder / "package.tar.xz", folder.resolve() / "package"
    if archive.exists() and not (unpacked / "unpacked").exists():
        unpacked.mkdir(exist_ok=True)
        with tarfile.open(archive) as entries:
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            entries.extractall(unpacked, **safe)
        (unpacked / "unpacked").touch()
    if (unpacked / "unpacked").exists():
        return unpacked, unpacked
    for tools in (SOURCES / "build-static" / "rudnn", SOURCES / "build"):
        if (tools / "bin" / "rudnn-run").exists():
            return SOURCES, tools
    return None, f"no {archive}, and rudnn-run is not built here"


# -- Running -------------------------------------------------------------------


def environment_of(root, tools, more=()):
    environment = dict(os.environ, RUDNN_BIN=os.fspath(tools / "bin"), RUDNN_TEST_TARGET="cuda",
                       PYTHONPATH=os.fspath(root / "test" / "Integration"))
    environment.update(more)
    return environment


def run(job, root, tools, seconds=None):
    """Runs a job in a process group of its own, which is ended with it."""
    seconds = seconds or SECONDS
    start = time.time()
    process = subprocess.Popen([sys.executable, *job.arguments], cwd=root, text=True,
                               env=environment_of(root, tools, job.environment),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Outcome(job.name, "failed", f"still running after {seconds:.0f} s\n{tail(output)}",
                       time.time() - start)
    spent = time.time() - start
    if process.returncode:
        return Outcome(job.name, "failed", f"status {process.returncode}\n{tail(output)}", spent)
    last = output.strip().splitlines()[-1:] or [""]
    if last[0].startswith("skipped: "):
        return Outcome(job.name, "skipped", last[0].removeprefix("skipped: "), spent)
    return Outcome(job.name, "passed", last[0], spent)


def tail(text, lines=12):
    return "\n".join(line[:400] for line in text.strip().splitlines()[-lines:])


def run_all(jobs, work):
    """The outcomes of work(job), several at a time, each shown when it is there."""
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for done in concurrent.futures.as_completed([pool.submit(work, job) for job in jobs]):
            outcomes.append(done.result())
            outcomes[-1].show()
    return outcomes


def whole_skip(name, why):
    outcome = Outcome(name, "skipped", why)
    outcome.show()
    return [outcome]


def has_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value


def why_nothing_runs():
    if not has_gpu():
        return "no GPU on this machine"
    if importlib.util.find_spec("numpy") is None:
        return f"{sys.executable} has no numpy, which the references need"
    return ""


# -- The tests -----------------------------------------------------------------


def read_jobs(root, tools):
    """A job for each way in which lit would run a Python test (its RUN lines), and what is no
    such test as skipped outcomes."""
    jobs, skipped = [], []
    for folder in FOLDERS:
        for path in sorted((root / "test" / "Integration" / folder).iterdir()):
            if path.suffix in (".mlir", ".test") and folder == "CPU":
                skipped.append(Outcome(f"{folder}/{path.name}", "skipped",
                                       "a lit test, for machines with LLVM"))
            if path.suffix != ".py":
                continue
            text = path.read_text()
            if 'tool("rudnn-opt")' in text and not (tools / "bin" / "rudnn-opt").exists():
                skipped.append(Outcome(f"{folder}/{path.stem}", "skipped", "needs rudnn-opt"))
                continue
            for line in re.findall(r"^# RUN: (.*)$", text, re.M):
                job = read_job(folder, path, line, root, tools)
                if job and all(job.name != other.name.split(": ")[0] for other in jobs):
                    jobs += in_parts(job, text)
    return jobs, skipped


def in_parts(job, text):
    """A job for each function of a test that compiles many: they compile side by side."""
    if "program.run(" not in text:
        return [job]
    return [Job(f"{job.name}: {name}", job.arguments, dict(job.environment, RUDNN_TEST_ONLY=name))
            for name in re.findall(r"^def (test_\w+)", text, re.M)]


def read_job(folder, path, line, root, tools):
    words = shlex.split(line)
    environment = {}
    if words[0] == "env":
        words = words[1:]
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words[0] != "%python" or "|" in words:
        return None
    target = environment.pop("RUDNN_TEST_TARGET", "")
    # The kernels of older chips, as this GPU takes them.
    if re.match("emulate:sm_(8|90($|:))", target):
        environment["RUDNN_TEST_TARGET"] = "sm_90"
    arguments = [word.replace("%s", os.fspath(path.relative_to(root)))
                 .replace("%rudnn_build", os.fspath(tools)) for word in words[1:]]
    note = " ".join([*(pathlib.Path(a).name for a in arguments[1:]),
                     *(f"{k}={v}" for k, v in environment.items())])
    return Job(f"{folder}/{path.stem}" + (f" {note}" if note else ""), arguments, environment)


def demo_jobs(root, tools):
    """The decoder layer in bf16 as scripts/demo makes it: ahead of time, with the report."""
    if not (tools / "bin" / "rudnn-compile").exists():
        return []
    return [Job("examples/decoder_layer_bf16, ahead of time",
                [os.path.abspath(__file__), "--demo", os.fspath(root), os.fspath(tools)], {})]


def demo(root, tools):
    """Compiles with --report, runs, compares with float64."""
    import tempfile
    layer = root / "examples" / "decoder_layer_bf16.mlir"
    script = [sys.executable, root / "examples" / "decoder_layer.py"]
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)

        def step(*command):
            print("+", " ".join(map(str, command)), flush=True)
            subprocess.run(command, check=True)

        step(*script, "write", out / "inputs", "64", "bf16")
        step(tools / "bin" / "rudnn-compile", layer, "--target=cuda", "--report",
             "-o", out / "layer.so")
        arguments = [f"--arg={i}:{out / 'inputs' / f'arg{i}.npy'}" for i in range(11)]
        step(tools / "bin" / "rudnn-run", layer, "--entry=decoder_layer_bf16", "--target=cuda",
             *arguments, f"--out={out}")
        step(*script, "compare", out / "result0.npy", out / "inputs" / "expected.npy")


def check(folder, names=()):
    """The outcomes of the tests whose names contain one of `names` (all without any)."""
    why = why_nothing_runs()
    root, tools = find_root(folder)
    if why or root is None:
        return whole_skip("numeric tests", why or tools)
    jobs, skipped = read_jobs(root, tools)
    jobs += demo_jobs(root, tools)
    if names:
        jobs = [job for job in jobs if any(name in job.name for name in names)]
        skipped = []
    for outcome in skipped:
        outcome.show()
    # The long ones first.
    jobs.sort(key=lambda job: all(word not in job.name for word in ("backward", "pairs")))
    return skipped + run_all(jobs, lambda job: run(job, root, tools))


# -- compute-sanitizer ---------------------------------------------------------

# Family, test, and what selects small cases of it.
GENERIC = [
    ("norm", ["CPU/norm.py"], {"RUDNN_TEST_LIMIT": "1500", "RUDNN_TEST_SAMPLE": "8"}),
    ("attention", ["CPU/attention_cases.py"], {"RUDNN_TEST_LIMIT": "1500", "RUDNN_TEST_SAMPLE": "6"}),
    ("attention backward", ["CPU/attention_pairs.py", "backward"],
     {"RUDNN_TEST_LIMIT": "4000", "RUDNN_TEST_SAMPLE": "8"}),
    ("ragged attention", ["CPU/ragged_attention.py"],
     {"RUDNN_TEST_LIMIT": "4000", "RUDNN_TEST_SAMPLE": "8"}),
    ("paged attention", ["CPU/paged_attention.py"], {"RUDNN_TEST_ONLY": "test_rows_that_see_nothing"}),
    ("paged backward", ["CPU/paged_backward.py"], {"RUDNN_TEST_ONLY": "test_no_rows,test_order"}),
    ("paged append", ["CPU/paged_append.py"], {}),
    ("moe", ["CPU/moe.py"], {"RUDNN_TEST_LIMIT": "1500", "RUDNN_TEST_SAMPLE": "8"}),
    ("moe training", ["CPU/moe_training.py"], {"RUDNN_TEST_LIMIT": "1500", "RUDNN_TEST_SAMPLE": "6"}),
    ("gated delta rule", ["CPU/delta.py"], {"RUDNN_TEST_LIMIT": "1000", "RUDNN_TEST_SAMPLE": "3"}),
    ("conv", ["CPU/conv.py"], {"RUDNN_TEST_LIMIT": "1000", "RUDNN_TEST_SAMPLE": "6"}),
]
SCHEDULES = [
    ("schedule of rows", ["Emulator/rows.py"], {"RUDNN_TEST_LIMIT": "20000", "RUDNN_TEST_SAMPLE": "2"}),
    ("schedule of attention", ["Emulator/attention.py"], {"RUDNN_TEST_SAMPLE": "8"}),
    ("schedule of ragged attention", ["Emulator/ragged_attention.py"], {"RUDNN_TEST_SAMPLE": "6"}),
    ("schedule of products", ["Emulator/gemm.py"], {"RUDNN_TEST_SAMPLE": "4"}),
    # What GPUs before sm_90a run: mma.sync and cp.async.
    ("portable schedule of attention", ["Emulator/attention.py"],
     {"RUDNN_TEST_SAMPLE": "8", "RUDNN_TEST_TARGET": "sm_90"}),
    ("portable schedule of products", ["Emulator/gemm.py"],
     {"RUDNN_TEST_SAMPLE": "4", "RUDNN_TEST_TARGET": "sm_90"}),
]
# Generic kernels have no shared memory and no barriers, which is what the other two look at.
SANITIZE = [("memcheck", GENERIC + SCHEDULES), ("racecheck", SCHEDULES), ("synccheck", SCHEDULES)]
CLEAN = re.compile(r"(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards displayed)")
SUMMARY = re.compile(r"(ERROR|RACECHECK) SUMMARY: .*")
UNSUPPORTED = re.compile(r".*(not supported|[Uu]nsupported|not available on).*")


def find_sanitizer():
    found = shutil.which("compute-sanitizer")
    usual = pathlib.Path("/usr/local/cuda/bin/compute-sanitizer")
    return found or (os.fspath(usual) if usual.exists() else None)


def sanitize_one(job, checker, tool, root, tools, logs):
    """A test whose rudnn-run is under the checker; its reports say how it went."""
    stem = re.sub(r"\W+", "_", job.name)
    launcher = [checker, "--tool", tool, "--log-file", os.fspath(logs / f"{stem}-%p.log")]
    job.environment["RUDNN_TEST_LAUNCHER"] = shlex.join(launcher)
    outcome = run(job, root, tools)
    reports = [path.read_text(errors="replace") for path in sorted(logs.glob(f"{stem}-*.log"))]
    if not reports:
        if outcome.status != "skipped":
            outcome.status, outcome.note = "failed", f"no report of {tool}\n{outcome.note}"
        return outcome
    summaries = [SUMMARY.search(report) for report in reports]
    notes = [line for report in reports for line in report.splitlines() if UNSUPPORTED.match(line)]
    if any(match and not CLEAN.match(match.group()) for match in summaries):
        bad = next(r for r, m in zip(reports, summaries) if m and not CLEAN.match(m.group()))
        outcome.status, outcome.note = "failed", f"{tool} reports\n{head(bad)}"
    elif notes:
        outcome.status, outcome.note = "skipped", f"{tool} can't look at these kernels: {notes[0]}"
    elif outcome.status == "passed" and not all(summaries):
        outcome.status, outcome.note = "failed", f"{tool} did not finish\n{head(reports[0])}"
    elif outcome.status == "passed":
        outcome.note = f"{outcome.note}; {summaries[0].group()}"
    return outcome


def head(text, lines=16):
    return "\n".join(line[:300] for line in text.strip().splitlines()[:lines])


def sanitize(folder, names=()):
    why = why_nothing_runs()
    root, tools = find_root(folder)
    checker = find_sanitizer()
    if why or root is None or checker is None:
        return whole_skip("compute-sanitizer",
                          why or (tools if root is None else "not found (CUDA toolkit)"))
    logs = folder.resolve() / "sanitizer"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    jobs = []
    for tool, families in SANITIZE:
        for family, (test, *arguments), environment in families:
            name = f"{tool}, {family}"
            if not names or any(word in name for word in names):
                path = os.fspath(pathlib.Path("test", "Integration", test))
                jobs.append((tool, Job(name, [path, *arguments], dict(environment))))
    return run_all(jobs, lambda each: sanitize_one(each[1], checker, each[0], root, tools, logs))


# -- Command line --------------------------------------------------------------


def closing_line(outcomes):
    counts = {status: sum(o.status == status for o in outcomes)
              for status in ("passed", "failed", "skipped")}
    return ", ".join(f"{count} {status}" for status, count in counts.items())


def main(arguments):
    if arguments[:1] == ["--demo"]:
        return demo(*map(pathlib.Path, arguments[1:]))
    verbs = {"check": check, "sanitize": sanitize}
    if len(arguments) < 2 or arguments[0] not in ("package", *verbs):
        print(__doc__, file=sys.stderr)
        return 2
    verb, folder, names = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    if verb == "package":
        return package(folder)
    outcomes = verbs[verb](folder, names)
    print(f"{verb}: {closing_line(outcomes)}")
    return 1 if any(outcome.status == "failed" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
