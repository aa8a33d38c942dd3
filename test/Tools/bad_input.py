# RUN: %python %s %S/Inputs
"""Bad arguments of rudnn-run and rudnn-compile: the exit status, one clear line, no crash."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

INPUTS = pathlib.Path(sys.argv[1])
TWO = str(INPUTS / "two.mlir")
failures = count = 0


def expect(status, message, *command):
    """The command ends with `status` and says `message`; bad arguments in one line."""
    global failures, count
    count += 1
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    good = done.returncode == status and message in done.stderr
    if status == 2:
        good = good and len(done.stderr.strip().splitlines()) == 1
    if not good:
        failures += 1
        print(f"FAILED: {' '.join(command)}\n  status {done.returncode}, expected {status} "
              f"and '{message}'\n  {done.stderr[:2000]}")


def run(status, message, *options):
    expect(status, message, "rudnn-run", *options)


def scale(message, *args, status=2):
    run(status, message, TWO, "--entry=scale", *args)


def narrow(message, *args):
    run(2, message, TWO, "--entry=narrow", *args)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    # The command line.
    run(2, "FILE", "--entry=scale")
    run(2, "--nonsense", TWO, "--nonsense")
    run(2, "no such file", str(folder / "absent.mlir"))
    run(2, "unknown target 'tpu'", TWO, "--entry=scale", "--target=tpu")
    run(2, "choose one of scale, narrow", TWO)
    run(2, "no public function 'other'; there are scale, narrow", TWO, "--entry=other")
    run(2, "-O", TWO, "--entry=scale", "-O", "7")
    run(2, "--rtol", TWO, "--entry=scale", "--rtol=-1")
    run(2, "--batch excludes", TWO, "--entry=scale", "--batch=x")
    run(2, "--batch=" + str(folder / "absent"), TWO, f"--batch={folder / 'absent'}")

    # Number and form of arguments.
    scale("no value for argument 1 of @scale(arg0: tensor<?x4xf32>, arg1: f32)", "--arg=0:iota@1x4")
    scale("has 2 arguments", "--arg=0:iota@1x4", "--arg=1:const:1", "--arg=2:iota")
    scale("argument 0 is given twice", "--arg=0:iota@1x4", "--arg=0:iota@1x4")
    scale("expected I:SPEC", "--arg=iota")
    scale("expected I:SPEC", "--arg=0:")
    scale("give its extents", "--arg=0:iota", "--arg=1:const:1")
    scale("not of shape [4]", "--arg=0:iota@4", "--arg=1:const:1")
    scale("not of shape [2, 5]", "--arg=0:iota@2x5", "--arg=1:const:1")
    scale("expected extents like", "--arg=0:iota@2xy", "--arg=1:const:1")
    scale("too large", "--arg=0:iota@999999999999999x4", "--arg=1:const:1")
    scale("too large: the machine has a memory of", "--arg=0:iota@99999999999x4", "--arg=1:const:1")
    scale("expected normal:SEED", "--arg=0:normal@1x4", "--arg=1:const:1")
    scale("LO must be less than HI", "--arg=0:uniform:1:2:2@1x4", "--arg=1:const:1")
    scale("expected uniform:SEED:LO:HI", "--arg=0:uniform:1:2@1x4", "--arg=1:const:1")
    scale("no integer in", "--arg=0:randint:1:0.2:0.3@1x4", "--arg=1:const:1")
    scale("expected const:X", "--arg=0:iota@1x4", "--arg=1:const:two")
    scale("expected a .npy file", "--arg=0:ones@1x4", "--arg=1:const:1")
    narrow("only for floats", "--arg=0:iota", "--arg=1:normal:1")
    narrow("not a value of i32", "--arg=0:iota", "--arg=1:const:0.5")

    # .npy files.
    good = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(folder / "good.npy", good)
    np.save(folder / "double.npy", good.astype(np.float64))
    np.save(folder / "fortran.npy", np.asfortranarray(good))
    np.save(folder / "big.npy", good.astype(">f4"))
    np.save(folder / "complex.npy", good.astype(np.complex64))
    np.save(folder / "rank.npy", good.reshape(-1))
    np.save(folder / "object.npy", np.array([{}]), allow_pickle=True)
    raw = (folder / "good.npy").read_bytes()
    (folder / "short.npy").write_bytes(raw[:-5])
    (folder / "long.npy").write_bytes(raw + b"12345")
    (folder / "header.npy").write_bytes(raw[:60])
    (folder / "magic.npy").write_bytes(b"\x92" + raw[1:])
    (folder / "empty.npy").write_bytes(b"")
    (folder / "version.npy").write_bytes(raw[:6] + b"\x09" + raw[7:])
    (folder / "garbage.npy").write_bytes(raw[:10] + b"x" * 118 + raw[128:])
    (folder / "huge.npy").write_bytes(raw.replace(b"(2, 4), }", b"(9223372036854775807, 4), }", 1))
    for file, message in [
            ("absent", "No such file"), ("double", "has elements of type '<f8'"),
            ("fortran", "Fortran order"), ("big", "big-endian"), ("complex", "'<c8'"),
            ("rank", "not of shape [8]"), ("object", "elements of type"),
            ("short", "needs 32 bytes of data, the file has 27"),
            ("long", "needs 32 bytes of data, the file has 37"),
            ("header", "truncated .npy header"), ("magic", "wrong magic"),
            ("empty", "wrong magic"), ("version", "version 9"),
            ("garbage", "malformed .npy header"), ("huge", "header")]:
        if file == "huge":
            message = ""  # either the header's length or its extents are wrong
        scale(message, f"--arg=0:{folder / file}.npy", "--arg=1:const:1")
    narrow("needs '<i4'", "--arg=0:iota", f"--arg=1:{folder / 'good.npy'}")

    # Outputs.
    (folder / "file").write_text("")
    values = ["--arg=0:iota@1x4", "--arg=1:const:1"]
    scale("--out=", *values, f"--out={folder / 'file' / 'out'}")
    scale("--compare", *values, f"--compare={folder / 'absent'}")
    for output, message in [
            (folder / "absent" / "x.so", "no folder"), (folder / "x.exe", "target 'cpu' writes"),
            (folder / "x", "target 'cpu' writes"), (folder / "x.cubin", "target 'cpu' writes")]:
        expect(2, message, "rudnn-compile", TWO, "-o", str(output))
    expect(2, "unknown target", "rudnn-compile", TWO, "--target=tpu", "-o", str(folder / "x.so"))
    expect(2, "give an output", "rudnn-compile", TWO)
    expect(2, "no kernels to report", "rudnn-compile", TWO, "--report")
    expect(1, "unknown CPU 'z80'", "rudnn-compile", TWO, "--cpu=z80", "-o", str(folder / "x.so"))
    (folder / "locked.so").mkdir()
    expect(2, "Is a directory", "rudnn-compile", TWO, "-o", str(folder / "locked.so"))

    # Modules.
    for text, message in [
            ("func.func @f(", "not a valid module"),
            ("module {}", "no public function"),
            ("func.func @f(%x: tensor<*xf32>) { return }", "arg0"),
            ("func.func @f(%x: tensor<4xi7>) { return }", "which no caller can pass"),
            ("func.func @f(%x: complex<f32>) { return }", "which no caller can pass"),
            ('func.func @f() { "other.op"() : () -> () return }', "other")]:
        (folder / "bad.mlir").write_text(text)
        run(1, message, str(folder / "bad.mlir"))
    # A result larger than the memory; checks on a target without them.
    (folder / "bad.mlir").write_text("""func.func @f(%n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}""")
    run(1, "too large: the machine has a memory of", str(folder / "bad.mlir"), "--arg=0:const:1e12")
    expect(1, "target cpu only", "rudnn-compile", TWO, "--check", "--target=sm_90a", "-o", str(folder / "x.so"))
    (folder / "bad.mlir").write_bytes(bytes(range(256)))
    run(1, "not a valid module", str(folder / "bad.mlir"))
    run(1, "depends on the data of a tensor", str(INPUTS / "data_dependent.mlir"), "--arg=0:const:3")

print(f"{count} cases, {failures} failed")
sys.exit(failures != 0)
