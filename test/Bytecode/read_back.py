# RUN: %python %s %rudnn_src %rudnn_build
"""Stored bytecode, one file per op and version of the dialect, reads back as the text
beside it; an op without a file fails (scripts/gen-bytecode stores it), and so does a
file that this version would not write the same text for. A file of a version that is
newer than ours is refused."""

import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
folder = root / "test" / "Bytecode"


def opt(*arguments):
    return subprocess.run(["rudnn-opt", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def ops_of_dialect():
    """What the build generated from the .td files, whatever the pages say."""
    ops = set()
    for path in (pathlib.Path(sys.argv[2]) / "include" / "rudnn").glob("*Ops.h.inc"):
        ops |= set(re.findall(r'StringLiteral\("rudnn\.([a-z_.]+)"\)', path.read_text()))
    assert len(ops) >= 27, sorted(ops)
    return ops


def test_every_op_has_a_file():
    check = subprocess.run([root / "scripts" / "gen-bytecode", "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr
    newest = max(folder.glob("v*"), key=lambda path: int(path.name[1:]))
    missing = ops_of_dialect() - {path.stem for path in newest.glob("*.mlirbc")}
    assert not missing, f"{newest.name} has no file for {sorted(missing)}: run scripts/gen-bytecode"


def test_read_back():
    count = 0
    for stored in sorted(folder.glob("v*/*.mlirbc")):
        text, read = opt(stored.with_suffix(".mlir")), opt(stored)
        assert read.returncode == 0 and not read.stderr, f"{stored}: {read.stderr}"
        assert text.returncode == 0, text.stderr
        assert read.stdout == text.stdout, f"{stored}:\n{read.stdout}\nexpected\n{text.stdout}"
        assert f"rudnn.{stored.stem} " in read.stdout, f"{stored} does not hold the op"
        count += 1
    print(f"{count} files")


def versions(data):
    """Places of the version in a file: a section (id 7) of one varint."""
    return [i + 2 for i in range(len(data) - 2) if data[i] == 7 and data[i + 1] == 3 and data[i + 2] == 3]


def test_newer_version_is_refused():
    for op in ("softmax", "paged.plan"):
        data = bytearray((folder / "v1" / f"{op}.mlirbc").read_bytes())
        places = versions(data)
        assert len(places) == 1, f"{op}: a version is at {places}"
        data[places[0]] = 5  # 2, as the varints of the format go
        with tempfile.NamedTemporaryFile(suffix=".mlirbc") as newer:
            newer.write(data)
            newer.flush()
            done = opt(newer.name)
        assert done.returncode == 1, f"{op}: exit status {done.returncode}"
        assert "rudnn bytecode version 2 is newer than the supported version 1" in done.stderr, done.stderr


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"{name} passed")
