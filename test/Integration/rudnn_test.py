"""Numeric tests: compile MLIR text, call its functions with NumPy arrays.

    import rudnn_test
    out, = rudnn_test.run(text, "f", [x, gamma])

All functions of a text are compiled once per process; put the functions of many
cases in one text (or use `Suite`) and a test of 50 cases takes seconds.

Arguments are arrays of the element type of the function's argument: bf16 as
float32, f16 as float16, i1 as bool, index as int64; scalars as Python numbers.
Results come back the same way (bf16 as float32).
"""

import ctypes
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import weakref

import numpy as np

# The target of the tests of this process: cpu, cuda or emulate[:CHIP][:SEED].
TARGET = os.environ.get("RUDNN_TEST_TARGET", "cpu")
# How often each call is made through rudnn-run; all results must be the same bit for bit.
REPEAT = int(os.environ.get("RUDNN_TEST_REPEAT", "1"))
# Take the cases whose arguments have at most so many elements in all, and of those every nth.
LIMIT = int(os.environ.get("RUDNN_TEST_LIMIT", "0"))
SAMPLE = int(os.environ.get("RUDNN_TEST_SAMPLE", "1"))
# Take these test functions, where a test is made of functions: names with commas between.
ONLY = [name for name in os.environ.get("RUDNN_TEST_ONLY", "").split(",") if name]
_small_cases = 0
# What starts rudnn-run, for example a checker of memory accesses, with its arguments.
LAUNCHER = shlex.split(os.environ.get("RUDNN_TEST_LAUNCHER", ""))
# "library" calls a shared library made by rudnn-compile in this process, "run"
# goes through rudnn-run (the only way for targets other than cpu).
MODE = os.environ.get("RUDNN_TEST_MODE", "library")

DYNAMIC = -(2**63)
# numpy type of the ABI's element types, and how it is named in MLIR.
_DTYPES = [
    ("f32", np.float32), ("f16", np.float16), ("bf16", np.uint16), ("f64", np.float64),
    ("i1", np.bool_), ("i8", np.int8), ("i16", np.int16), ("i32", np.int32),
    ("i64", np.int64), ("index", np.int64),
]
_NUMPY = {"f32": np.float32, "f16": np.float16, "bf16": np.float32, "f64": np.float64,
          "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "index": np.int64}


def to_bf16_bits(x):
    """Rounds float32 to bf16 (nearest, ties to even), as uint16 bits."""
    x = np.ascontiguousarray(x, np.float32)
    bits = x.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded).astype(np.uint16)


def from_bf16_bits(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def bf16(x):
    """Rounds to bf16 values, kept as float32."""
    return from_bf16_bits(to_bf16_bits(np.asarray(x, np.float32)).reshape(np.shape(x)))


def cast(x, dtype):
    """x rounded to an MLIR element type ("f32", "bf16", ...), as run() takes it."""
    return bf16(x) if dtype == "bf16" else np.asarray(x).astype(_NUMPY[dtype])


def numpy_type(dtype):
    """The numpy type that stands for an MLIR element type."""
    return _NUMPY[dtype]


def is_selected(arrays):
    """Whether the environment selects a case with these arguments."""
    global _small_cases
    if LIMIT and sum(np.size(a) for a in arrays) > LIMIT:
        return False
    _small_cases += 1
    return _small_cases % SAMPLE == 1 % SAMPLE


def selected_tests(functions):
    """The test functions that the environment selects."""
    unknown = set(ONLY) - {function.__name__ for function in functions}
    if unknown:
        sys.exit(f"RUDNN_TEST_ONLY: no test {', '.join(sorted(unknown))}")
    return [function for function in functions if not ONLY or function.__name__ in ONLY]


# Relative error that one final rounding and f32 accumulation leave.
RTOL = {"f32": 2e-5, "f16": 1.5e-3, "bf16": 1e-2, "f64": 1e-12}
ATOL = {"f32": 1e-5, "f16": 1e-3, "bf16": 1e-2, "f64": 1e-12}


class _ArgInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64))]


_POINTERS = ctypes.POINTER(ctypes.c_void_p)


class _FunctionInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("num_args", ctypes.c_int32),
        ("num_results", ctypes.c_int32), ("args", ctypes.POINTER(_ArgInfo)),
        ("run", ctypes.CFUNCTYPE(ctypes.c_int32, _POINTERS, ctypes.c_void_p,
                                 ctypes.c_void_p)),
        ("result_shapes", ctypes.CFUNCTYPE(None, _POINTERS,
                                           ctypes.POINTER(ctypes.c_int64))),
        ("workspace_bytes", ctypes.CFUNCTYPE(ctypes.c_int64, _POINTERS)),
    ]


class _ModuleInfo(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_int32), ("target", ctypes.c_char_p),
                ("num_functions", ctypes.c_int32),
                ("functions", ctypes.POINTER(_FunctionInfo))]


def _descriptor(array):
    """The strided memref descriptor of a dense array."""
    strides, stride = [], 1
    for extent in reversed(array.shape):
        strides.insert(0, stride)
        stride *= extent
    fields = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]
    return np.array(fields, np.int64)


class _Function:
    """A function of a loaded library."""

    def __init__(self, info):
        self.info = info
        self.name = info.name.decode()
        self.args = [info.args[i] for i in range(info.num_args)]
        self.results = [info.args[info.num_args + i] for i in range(info.num_results)]

    def __call__(self, arrays):
        if len(arrays) != len(self.args):
            raise TypeError(f"@{self.name} has {len(self.args)} arguments, not {len(arrays)}")
        keep = [self._pack(i, a) for i, a in enumerate(arrays)]
        pointers = (ctypes.c_void_p * (len(keep) + len(self.results)))()
        for i, (descriptor, _) in enumerate(keep):
            pointers[i] = descriptor.ctypes.data
        outs = self._make_results(pointers, len(keep))
        for i, (descriptor, _) in enumerate(outs):
            pointers[len(keep) + i] = descriptor.ctypes.data
        size = self.info.workspace_bytes(pointers)
        workspace = np.empty(size + 256, np.uint8)
        base = (workspace.ctypes.data + 255) // 256 * 256
        status = self.info.run(pointers, base if size else None, None)
        if status:
            raise RuntimeError(f"@{self.name}: status {status}")
        return [from_bf16_bits(array) if info.dtype == 2 else array
                for info, (_, array) in zip(self.results, outs)]

    def _pack(self, i, value):
        info = self.args[i]
        name, dtype = _DTYPES[info.dtype]
        wanted = _NUMPY[name]
        array = np.ascontiguousarray(value)
        if info.rank < 0:
            array = np.array(value, wanted).reshape(())
        elif np.ndim(value) != info.rank:
            raise TypeError(f"@{self.name}: argument {i} has rank {info.rank}, the array "
                            f"has shape {np.shape(value)}")
        array = array.reshape(np.shape(value))
        if array.dtype != wanted:
            raise TypeError(f"@{self.name}: argument {i} is {name}, give it as "
                            f"{np.dtype(wanted)}, not {array.dtype}")
        for d in range(max(info.rank, 0)):
            if info.shape[d] not in (DYNAMIC, array.shape[d]):
                raise TypeError(f"@{self.name}: argument {i} has extent {info.shape[d]} in "
                                f"dimension {d}, the array {array.shape[d]}")
        if name == "bf16":
            array = to_bf16_bits(array).reshape(array.shape)
        return (array if info.rank < 0 else _descriptor(array)), array

    def _make_results(self, pointers, num_args):
        ranks = [max(info.rank, 0) for info in self.results]
        extents = (ctypes.c_int64 * (sum(ranks) + 1))()
        self.info.result_shapes(pointers, extents)
        outs, position = [], 0
        for info, rank in zip(self.results, ranks):
            shape = tuple(extents[position:position + rank])
            position += rank
            array = np.empty(shape, _DTYPES[info.dtype][1])
            # What is not written shows: NaN, or -1.
            array.view(np.uint8).reshape(-1)[...] = 1 if info.dtype == 4 else 255
            if array.ndim == 0:
                array = array.reshape(())
            outs.append(((array if info.rank < 0 else _descriptor(array)), array))
        return outs


def tool(name):
    """Path of a tool, from the build folder that lit puts on PATH."""
    folder = os.environ.get("RUDNN_BIN")
    return os.path.join(folder, name) if folder else name


def _execute(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n"
                           f"{done.stdout}{done.stderr}")
    return done


def _finish(process):
    """Lets a rudnn-run end by itself: what launched it may have a report to write."""
    try:
        process.stdin.close()
        process.wait(timeout=60)
    except (BrokenPipeError, subprocess.TimeoutExpired):
        process.kill()


class Module:
    """A compiled text. `module.call(entry, arrays)` runs a function."""

    def __init__(self, text, target=None, options=()):
        self.target = target or TARGET
        self.options = list(options)
        self.folder = tempfile.TemporaryDirectory(prefix="rudnn-test-")
        self.source = os.path.join(self.folder.name, "module.mlir")
        pathlib.Path(self.source).write_text(text)
        self.text = text
        self.functions = self.process = None
        if self.target == "cpu" and MODE == "library":
            self._load()

    def _load(self):
        library = os.path.join(self.folder.name, "module.so")
        _execute([tool("rudnn-compile"), self.source, "-o", library, *self.options])
        self.library = ctypes.CDLL(library)
        self.library.rudnn_module.restype = ctypes.POINTER(_ModuleInfo)
        info = self.library.rudnn_module().contents
        self.functions = {}
        for i in range(info.num_functions):
            function = _Function(info.functions[i])
            self.functions[function.name] = function

    def call(self, entry, arrays):
        if self.functions is not None:
            return self.functions[entry](arrays)
        with tempfile.TemporaryDirectory(prefix="call-", dir=self.folder.name) as folder:
            args = []
            for i, array in enumerate(arrays):
                if np.ndim(array) == 0 and not isinstance(array, np.ndarray):
                    args.append(f"const:{float(array)!r}")
                    continue
                args.append(os.path.join(folder, f"arg{i}.npy"))
                np.save(args[-1], np.ascontiguousarray(array).reshape(np.shape(array)))
            first, *others = [self._run(entry, args, os.path.join(folder, f"out{n}"))
                              for n in range(REPEAT)]
        for other in others:
            for i, (x, y) in enumerate(zip(first, other)):
                if x.tobytes() != y.tobytes():
                    raise AssertionError(f"@{entry}: result {i} of two runs differs")
        return first

    def call_many(self, calls):
        """Results of a list of (entry, arrays)."""
        return [self.call(entry, arrays) for entry, arrays in calls]

    def _run(self, entry, args, out):
        """One line to the rudnn-run of this module, which has compiled it once."""
        if self.process is None:
            errors = open(os.path.join(self.folder.name, "stderr"), "w+")
            command = [*LAUNCHER, tool("rudnn-run"), self.source, f"--target={self.target}",
                       "--batch=-", *self.options]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=errors)
            weakref.finalize(self, _finish, self.process)
        line = json.dumps({"entry": entry, "args": args, "out": out})
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer != "done\n":
            status = self.process.wait()
            with open(os.path.join(self.folder.name, "stderr")) as errors:
                text = errors.read()
            raise RuntimeError(f"@{entry} with target {self.target}: status {status}\n{text}")
        return self._read_results(out)

    @staticmethod
    def _read_results(folder):
        count = len(os.listdir(folder))
        return [np.load(os.path.join(folder, f"result{i}.npy")) for i in range(count)]


_modules = {}


def load(text, target=None, options=()):
    """The compiled module of a text, compiled once per process."""
    target = target or TARGET
    key = (hashlib.sha256(text.encode()).hexdigest(), target, tuple(options))
    if key not in _modules:
        _modules[key] = Module(text, target, options)
    return _modules[key]


def run(mlir_text, entry, arrays, target=None, options=()):
    """Compiles a text (once) and calls a function of it; the list of its results."""
    return load(mlir_text, target, options).call(entry, arrays)


def assert_close(actual, expected, rtol, atol, label=""):
    """Fails with the first bad index unless |actual - expected| <= atol + rtol *
    |expected|; NaN equals NaN and infinities equal themselves."""
    actual = np.asarray(actual, np.float64)
    expected = np.asarray(expected, np.float64)
    if actual.shape != expected.shape:
        raise AssertionError(f"{label}: shape {actual.shape}, expected {expected.shape}")
    with np.errstate(invalid="ignore"):
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        error = np.where(same, 0.0, np.abs(actual - expected))
        bad = ~same & ~(error <= atol + rtol * np.abs(expected))
        bad |= np.isinf(expected) & ~same
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"{label}: {int(bad.sum())} of {bad.size} elements out of tolerance, first at "
            f"{index}: {actual[index]:.9g}, expected {expected[index]:.9g} (max abs error "
            f"{np.nanmax(error):.3g}, rtol {rtol:g}, atol {atol:g})")


class Suite:
    """Cases that are compiled as one module and run together.

        suite = rudnn_test.Suite()
        suite.add("softmax", "func.func @NAME(...) ...", [x], [expected], rtol, atol)
        suite.run()

    NAME in a text becomes a name of its own. run() prints the number of cases and
    exits with 1 after telling of every case that failed.
    """

    def __init__(self, target=None, options=()):
        self.cases, self.texts = [], {}
        self.target, self.options = target, options

    def add(self, label, text, arrays, expected, rtol, atol):
        """`text` is one function with the name @NAME (helper functions: @NAME_x);
        cases with the same text share a function. `expected`: one entry per
        result, None to not look at it."""
        if not is_selected(arrays):
            return
        entry = self.texts.setdefault(text, f"f{len(self.texts)}")
        self.cases.append((label, entry, arrays, expected, rtol, atol))

    def run(self):
        text = "\n".join(re.sub(r"@NAME\b", "@" + entry, text).replace("@NAME_", f"@{entry}_")
                         for text, entry in self.texts.items())
        module = Module(text, self.target, self.options)
        results = module.call_many([(case[1], case[2]) for case in self.cases])
        failures = 0
        for (label, _, _, expected, rtol, atol), actual in zip(self.cases, results):
            try:
                if len(actual) != len(expected):
                    raise AssertionError(f"{len(actual)} results, expected {len(expected)}")
                for i, (a, e) in enumerate(zip(actual, expected)):
                    if e is not None:
                        assert_close(a, e, rtol, atol, f"result {i}")
            except AssertionError as error:
                failures += 1
                print(f"FAILED {label}: {error}")
        print(f"{len(self.cases)} cases, {failures} failed")
        if failures:
            sys.exit(1)
