# REQUIRES: uninstrumented
# RUN: %python %s %rudnn_build/lib/librudnn_rt.so
"""paged.plan: the work list of the runtime, word for word, on random batches.

The expected words come from WorkList::build of librudnn_rt through its C ABI;
test/unit/runtime/WorkListTest.cpp checks those against the rules. Independent of
both, the parts must cover every tile once and the slots every piece.
"""

import ctypes
import pathlib
import sys

import numpy as np

folder = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(folder), str(folder / "Inputs")]
import paged_reference as ref

rng = np.random.default_rng(71)
program = ref.Program()
runtime = ctypes.CDLL(sys.argv[1])
runtime.rudnnLastError.restype = ctypes.c_char_p


class Options(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("parts", "tile_tokens", "fixed_cost", "fixed_split")]
    _fields_ += [("causal", ctypes.c_bool)]


def succeed(status):
    assert status == 0, runtime.rudnnLastError().decode()


def words_of_runtime(lengths, ids, positions, options):
    """ranges, merges and the number of slots."""
    page = 4096
    needs = [-(-int(n) // page) for n in lengths]
    width, pages = max([1] + needs), max(1, sum(needs))
    tables = np.full((len(lengths), width), 0xFFFFFFFF, np.uint32)
    start = 0
    for row, need in zip(tables, needs):
        row[:need] = np.arange(start, start + need)
        start += need
    words = np.concatenate([np.asarray(x, np.uint32).reshape(-1) for x in (ids, positions, lengths, tables)])
    host, device, plan, result = (ctypes.c_void_p() for _ in range(4))
    u64 = ctypes.c_uint64
    succeed(runtime.rudnnHostPlanCreatePacked(
        u64(page), u64(pages), u64(len(lengths)), u64(len(ids)), u64(width),
        words.ctypes.data_as(ctypes.c_void_p), u64(len(words)), ctypes.byref(host)))
    succeed(runtime.rudnnDeviceCreateHost(ctypes.byref(device)))
    succeed(runtime.rudnnDevicePlanUpload(host, device, None, ctypes.byref(plan)))
    succeed(runtime.rudnnWorkListBuild(plan, ctypes.byref(options), ctypes.byref(result)))
    data, count, merges, slots = ctypes.POINTER(ctypes.c_uint32)(), u64(), u64(), ctypes.c_uint32()
    succeed(runtime.rudnnWorkListGet(
        result, ctypes.byref(data), ctypes.byref(count), ctypes.byref(merges), ctypes.byref(slots)))
    out = np.ctypeslib.as_array(data, (count.value,)).copy().view(np.int32)
    for name, handle in (("WorkList", result), ("DevicePlan", plan), ("Device", device), ("HostPlan", host)):
        getattr(runtime, f"rudnn{name}Destroy")(handle)
    split = 5 * options.parts
    return out[:split].reshape(-1, 5), out[split:].reshape(-1, 3), slots.value


def text(options, lengths, ids, dynamic):
    s, q = ("?", "?") if dynamic else (len(lengths), len(ids))
    ins = [f"tensor<{s}xi32>", f"tensor<{q}xi32>", f"tensor<{q}xi32>"]
    outs = [f"tensor<{options.parts}x5xi32>", f"tensor<{s}x3xi32>", "tensor<2xi32>"]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(ins + outs))
    causal = "causal, " if options.causal else ""
    return f"""
func.func @NAME({arguments}) -> ({', '.join(outs)}) {{
  %r:3 = rudnn.paged.plan ins(%a0, %a1, %a2 : {', '.join(ins)})
      outs(%a3, %a4, %a5 : {', '.join(outs)})
      {{{causal}tile_tokens = {options.tile_tokens}, fixed_cost = {options.fixed_cost}, fixed_split = {options.fixed_split}}}
      -> {', '.join(outs)}
  return %r#0, %r#1, %r#2 : {', '.join(outs)}
}}
"""


def covers(options, lengths, ids, positions, ranges, merges):
    """Every tile is in one range, in order; every piece of a cut sequence has the
    next slot. Written after the documentation of the op."""
    seen = np.zeros(len(lengths), np.int64)
    for s, p in zip(ids, positions):
        seen[s] = max(seen[s], min(lengths[s], p + 1) if options.causal else lengths[s])
    tiles = -(-seen // options.tile_tokens)
    todo = [(s, t) for s in range(len(lengths)) for t in range(tiles[s])]
    cut, slot = {m[0]: m for m in merges}, 0
    for s0, t0, s1, t1, first in ranges:
        part = [x for x in todo if (s0, t0) <= x < (s1, t1)]
        if todo[: len(part)] != part or first != slot:
            return False
        todo = todo[len(part) :]
        for s in sorted({s for s, _ in part}):
            count = sum(1 for x in part if x[0] == s)
            pieces = -(-count // options.fixed_split) if options.fixed_split else 1
            slot += pieces if s in cut else 0
    return not todo and slot == sum(m[2] for m in merges)


def plan(label, lengths, ids, positions, dynamic=True, **chosen):
    options = Options(**{**dict(parts=8, tile_tokens=16, fixed_cost=5, fixed_split=0, causal=True), **chosen})
    arrays = [np.asarray(x, np.int64).astype(np.int32) for x in (lengths, ids, positions)]
    outs = [np.full(x, 77, np.int32) for x in ((options.parts, 5), (len(lengths), 3), (2,))]
    ranges, merges, counts = program.call(
        text(options, lengths, ids, dynamic), arrays + outs, [(x, "i32") for x in outs])
    want_ranges, want_merges, slots = words_of_runtime(*arrays, options)
    program.require(np.array_equal(ranges, want_ranges), f"{label}: ranges")
    program.require(np.array_equal(counts, [len(want_merges), slots]), f"{label}: counts")
    program.require(np.array_equal(merges[: len(want_merges)], want_merges), f"{label}: merges")
    program.require(np.all(merges[len(want_merges) :] == -1), f"{label}: rows past the merges")
    if sum(lengths) < 10000:
        program.require(covers(options, lengths, ids, positions, want_ranges, want_merges), f"{label}: cover")


def random_batch(sequences, longest, rows):
    lengths = rng.integers(0, longest + 1, sequences) * (rng.random(sequences) < 0.8)
    ids = rng.integers(0, sequences, rows)
    positions = [int(rng.integers(0, max(1, lengths[s]))) for s in ids]
    return lengths, ids, positions


# One text per combination of options; the batches differ.
MODES = [
    dict(parts=parts, tile_tokens=tile, fixed_cost=cost, fixed_split=split, causal=causal)
    for parts, tile, cost, split in (
        (1, 1, 0, 0), (3, 1, 0, 0), (8, 16, 5, 0), (132, 64, 5, 0), (7, 3, 65535, 0),
        (1, 1, 0, 1), (3, 1, 0, 2), (8, 16, 5, 4), (132, 64, 5, 16), (7, 3, 65535, 1), (5, 2, 3, 4294967295),
    )
    for causal in (False, True)
]


def test_random_plans():
    for mode in MODES:
        for size in (1, 2, 5, 17, 64):
            for longest in (0, 3, 40, 300):
                plan(f"{mode} {size} {longest}", *random_batch(size, longest, int(rng.integers(0, 3 * size))), **mode)


def test_long_histories():
    for mode in MODES[6:8] + MODES[16:18]:
        plan(f"long {mode}", *random_batch(200, 70000, 300), **mode)


def test_equal_sequences():
    """Divide evenly among the parts: no cuts under the greedy rule."""
    ids = np.arange(16)
    plan("equal", [160] * 16, ids, [159] * 16)
    plan("equal, split", [160] * 16, ids, [159] * 16, fixed_split=4)


def test_static_shapes():
    for causal in (False, True):
        plan("static", [33, 0, 200, 7], [0, 2, 2, 1, 2], [5, 199, 3, 17, 0], dynamic=False, causal=causal)
        plan("static, split", [33, 0, 200, 7], [0, 2, 2, 1, 2], [5, 199, 3, 17, 0], dynamic=False, causal=causal, fixed_split=2)


def test_nothing_to_do():
    """T38: parts without work are empty ranges. Rows of an empty history merge
    nothing; sequences without rows have no part in the list."""
    for split in (0, 3):
        plan("no rows", [50, 9], [], [], fixed_split=split)
        plan("empty histories", [0, 0, 0], [2, 0], [17, 0], fixed_split=split)
        plan("a sequence without rows", [50, 9, 70], [0, 2], [49, 69], fixed_split=split)


def test_no_sequences():
    """The runtime refuses a batch without sequences; the op has empty ranges."""
    options = Options(parts=4, tile_tokens=16, fixed_cost=5, fixed_split=0, causal=True)
    empty = np.zeros(0, np.int32)
    outs = [np.full(x, 77, np.int32) for x in ((4, 5), (0, 3), (2,))]
    ranges, merges, counts = program.call(text(options, [], [], True), [empty] * 3 + outs, [(x, "i32") for x in outs])
    program.require(np.array_equal(ranges, np.zeros((4, 5))), "no sequences: ranges")
    program.require(np.array_equal(counts, [0, 0]), "no sequences: counts")


def test_rows_without_a_sequence():
    """A bad sequence id is left out: as if the row were not there."""
    options = Options(parts=8, tile_tokens=16, fixed_cost=5, fixed_split=0, causal=True)
    lengths = np.array([100, 40], np.int32)
    outs = [np.full(x, 77, np.int32) for x in ((8, 5), (2, 3), (2,))]
    call = lambda ids, positions: program.call(
        text(options, lengths, ids, True), [lengths, np.array(ids, np.int32), np.array(positions, np.int32)] + outs,
        [(x, "i32") for x in outs])
    for a, b in zip(call([0, 2, 1, -1], [99, 5, 39, 8]), call([0, 1], [99, 39])):
        program.require(np.array_equal(a, b), "bad sequence ids")


program.run([test for name, test in list(globals().items()) if name.startswith("test_")])
