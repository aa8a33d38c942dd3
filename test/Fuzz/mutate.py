# RUN: %python %s %rudnn_src
"""Mutated texts of every op: rudnn-opt answers each with IR or a diagnostic, never a signal.

The seeds are the functions of test/Dialect and test/Integration that are valid. A mutation edits
characters, tokens, types, attributes or lines; the generator's seed is fixed, so a failure comes back.
"""

import pathlib
import random
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 2400
PER_PROCESS = 150
OPTIONS = ["-split-input-file", "-canonicalize", "-cse"]

TYPES = ["f32", "bf16", "f16", "f64", "i1", "i8", "i32", "i64", "index", "i7", "complex<f32>",
         "tensor<4xf32>", "tensor<?xf32>", "tensor<*xf32>", "memref<4xf32>", "vector<4xf32>",
         "tensor<f32>", "none", "tuple<>"]
NUMBERS = ["0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808", "1.0e+400",
           "0x7FF8000000000000", "4294967296", "99999999999999999999"]
EXTENTS = ["0", "1", "2", "3", "?", "17", "4294967296", "1152921504606846976"]
NOISE = list("%@#!<>(){}[]:,=-+*\"'\\/?x0 \n\t") + ["->", "::", "//", "\x00", "\xff"]


def seeds():
    """The functions of the valid tests of the dialect, each on its own."""
    found = []
    for path in sorted((SOURCE / "test" / "Dialect" / "Rudnn").glob("*.mlir")):
        text = path.read_text()
        if "_invalid" in path.name:
            # Nearly valid: one violation each.
            found += [chunk for chunk in text.split("// -----") if "rudnn." in chunk]
            continue
        for chunk in text.split("// -----"):
            found += re.findall(r"^func\.func[^\n]*\{\n.*?^\}", chunk, re.S | re.M)
    found = [re.sub(r"^\s*//.*\n", "", seed, flags=re.M) for seed in found]
    return [seed for seed in found if "rudnn." in seed and len(seed) < 4000]


def choose(rng, text, pattern):
    matches = list(re.finditer(pattern, text))
    return rng.choice(matches) if matches else None


def replace(text, match, new):
    return text[:match.start()] + new + text[match.end():] if match else text


def edit(rng, text, donor):
    kind = rng.randrange(12)
    if kind == 0:  # an element type or a whole type
        return replace(text, choose(rng, text, r"\b(bf16|f16|f32|f64|i1|i32|i64|index)\b"), rng.choice(TYPES))
    if kind == 1:
        return replace(text, choose(rng, text, r"(tensor|memref)<[^>]*>"), rng.choice(TYPES))
    if kind == 2:  # an extent
        return replace(text, choose(rng, text, r"(?<=[<x])(\d+|\?)(?=x)"), rng.choice(EXTENTS))
    if kind == 3:  # a rank
        return replace(text, choose(rng, text, r"(?<=<)(\d+|\?)x"), rng.choice(["", "2x3x", "?x?x?x"]))
    if kind == 4:  # a number of an attribute
        return replace(text, choose(rng, text, r"(?<== )-?\d[\d.e+-]*"), rng.choice(NUMBERS))
    if kind == 5:  # an attribute goes, or gets another type
        match = choose(rng, text, r"\w+ = [^,}\n]+(, )?")
        return replace(text, match, rng.choice(["", "x = 1 : i3, ", 'eps = "a", ', "scale = unit, "]))
    if kind == 6:  # an operand
        names = re.findall(r"%\w+", text) or ["%x"]
        return replace(text, choose(rng, text, r"%\w+"), rng.choice(names))
    if kind == 7:  # an op or keyword
        words = re.findall(r"[a-z_]{3,}(?:\.[a-z_]+)*", donor) or ["ins"]
        return replace(text, choose(rng, text, r"[a-z_]{3,}(?:\.[a-z_]+)*"), rng.choice(words))
    if kind == 8:  # a token goes or is doubled
        match = choose(rng, text, r"[%\w.]+|[^\s\w]")
        return replace(text, match, rng.choice(["", match.group() * 2])) if match else text
    if kind == 9:  # a line goes, or one of another op comes
        lines = text.split("\n")
        position = rng.randrange(len(lines))
        lines[position:position + 1] = rng.choice([[], [rng.choice(donor.split("\n"))]])
        return "\n".join(lines)
    if kind == 10:  # noise
        position = rng.randrange(len(text) + 1)
        return text[:position] + rng.choice(NOISE) + text[position + rng.randrange(3):]
    return text[:rng.randrange(len(text) + 1)] if rng.randrange(3) == 0 else text  # the end is missing


def mutate(rng, texts):
    text = rng.choice(texts)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
        text = edit(rng, text, rng.choice(texts)) or " "
    # MLIR's own parser asks for the width of the element type of array<...> before it
    # looks whether that is a number, and crashes on `array<index: 0>`.
    text = re.sub(r"\barray<(?!i\d|f\d|bf16)[^:<>]*", "array<i32", text)
    # A split marker within would count as several cases.
    return text.replace("// -----", "")


def run(texts):
    data = "\n// -----\n".join(texts).encode("utf-8", "surrogateescape")
    return subprocess.run(["rudnn-opt", *OPTIONS], input=data, capture_output=True, timeout=120)


def is_crash(done):
    # 0: all valid, 1: diagnostics. A signal is negative, the handlers of LLVM exit with 128 or more.
    return done.returncode not in (0, 1) or b"PLEASE submit" in done.stderr or b"runtime error:" in done.stderr


def first_crash(texts):
    """The smallest list, by halving, that still crashes."""
    while len(texts) > 1:
        half = len(texts) // 2
        texts = texts[:half] if is_crash(run(texts[:half])) else texts[half:]
    return texts[0]


def main():
    rng = random.Random(20)
    originals = seeds()
    if len(originals) < 40:
        sys.exit(f"only {len(originals)} seed texts found under {SOURCE}/test/Dialect")
    cases = [mutate(rng, originals) for _ in range(CASES)]
    crashes, refused = [], 0
    for start in range(0, CASES, PER_PROCESS):
        group = cases[start:start + PER_PROCESS]
        done = run(group)
        refused += done.stderr.count(b": error: ")
        if is_crash(done):
            text = first_crash(group)
            crashes.append(text)
            print(f"CRASH:\n{text}\n{run([text]).stderr.decode(errors='replace')[:3000]}")
        elif (done.returncode == 1) != (b": error: " in done.stderr):
            crashes.append(group)
            print(f"cases {start}..: status {done.returncode} without a matching diagnostic")
    print(f"{CASES} mutated texts of {len(originals)}, {refused} diagnostics, {len(crashes)} failures")
    sys.exit(bool(crashes))


main()
