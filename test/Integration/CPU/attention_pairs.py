# RUN: %python %s forward
# RUN: %python %s backward
"""Every pair of option values of rudnn.attention and of its backward op occurs in some problem."""

import itertools
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Inputs"))
import attention_reference as ref
from attention_reference import Options, Problem

SHAPES = [(1, 1), (1, 65), (1, 300), (63, 63), (65, 127), (127, 65), (64, 256), (130, 257), (3, 0), (0, 5)]
VALUES = {
    "shape": SHAPES,
    "dtype": ["f32", "f16", "bf16"],
    "dynamic": [False, True],
    "heads": [(2, 2), (4, 2), (3, 1), (6, 2)],
    "causal": ["none", "bottom_right", "top_left"],
    "window": [(None, None), (5, None), (None, 3), (40, 0)],
    "offset": [None, 0, -2, 70],
    "mask": [None, "bhqk", "bk", "q", "h"],
    "bias": [None, "bhqk", "hk", "qk", "b"],
    "bias_dtype": [None, "f32"],
    "sinks": [False, True],
    "softcap": [None, 0.8],
    "scale": [None, 0.3],
    "lse": [None, "e", "two"],
    "value": [16, 24],
}


def covering(values, seed):
    """Rows that hold every pair of values of two options (greedy)."""
    rng = random.Random(seed)
    names = list(values)
    wanted = {
        (a, i, b, j)
        for a, b in itertools.combinations(names, 2)
        for i in range(len(values[a]))
        for j in range(len(values[b]))
    }
    rows = []
    while wanted:
        best, best_pairs = None, set()
        for _ in range(40):
            a, i, b, j = rng.choice(sorted(wanted))
            row = {n: rng.randrange(len(values[n])) for n in names}
            row[a], row[b] = i, j
            pairs = {(x, row[x], y, row[y]) for x, y in itertools.combinations(names, 2)} & wanted
            if len(pairs) > len(best_pairs):
                best, best_pairs = row, pairs
        rows.append({n: values[n][i] for n, i in best.items()})
        wanted -= best_pairs
    return rows


def problem_of(row, seed):
    options = Options(
        causal=row["causal"],
        scale=row["scale"],
        softcap=row["softcap"],
        left=row["window"][0],
        right=row["window"][1],
        base=row["lse"] or "e",
    )
    if options.causal != "none" or row["window"] != (None, None):
        options.offset = row["offset"]  # refused where nothing depends on it
    return Problem(
        rows=row["shape"][0],
        keys=row["shape"][1],
        q_heads=row["heads"][0],
        kv_heads=row["heads"][1],
        value=row["value"],
        dtype=row["dtype"],
        dynamic=row["dynamic"],
        mask=row["mask"],
        bias=row["bias"],
        bias_dtype=row["bias_dtype"],
        sinks=row["sinks"],
        lse=row["lse"] is not None,
        seed=seed,
        options=options,
    )


def main():
    backward = sys.argv[1] == "backward"
    values = dict(VALUES, lse=["e", "two"]) if backward else VALUES
    # Optimizing this much code takes minutes and is not what is tested here.
    cases = ref.Cases(["-O0"])
    for index, row in enumerate(covering(values, seed=7)):
        problem = problem_of(row, index)
        (problem.add_backward if backward else problem.add_forward)(cases)
    sys.exit(cases.run())


main()
