"""Attention over packed sequences of different lengths, in bf16."""

# 16k tokens in all; hidden size 2048 (4096 with grouped heads).
LENGTHS = {
    "equal": [2048] * 8,
    "mixed": [7013, 3301, 2203, 1497, 911, 607, 401, 223, 131, 61, 29, 7],
    "short": [64 + 37 * i % 192 for i in range(102)],
}
for lengths in LENGTHS.values():
    lengths[-1] += 16384 - sum(lengths)
HEADS = {"d128": (16, 16, 128), "d64": (32, 32, 64), "d128_gqa": (32, 8, 128)}
# Timed: name, lengths, query heads, key heads, head dim, causal.
CASES = [(f"attention_varlen_{heads}_{batch}{'_causal' if causal else ''}",
          batch, *HEADS[heads], causal)
         for heads, batches in (("d128", LENGTHS), ("d64", ("mixed",)), ("d128_gqa", ("mixed",)))
         for batch in batches for causal in (False, True)]
# Checked: lengths of queries and keys, rows and keys behind the last sequence.
BATCHES = [
    ((130, 1, 63, 65), (300, 5, 127, 128), 0, 0),
    ((0, 0, 1023), (0, 0, 1023), 0, 0),
    ((3, 0, 0, 700), (0, 7, 0, 90), 0, 0),
    ((270, 689, 178), (202, 0, 54), 100, 300),
    ((1,) * 60, tuple(range(1, 600, 10)), 3, 5),
    ((0, 0), (0, 40), 50, 0),
]
DIMS = (64, 96, 128, 192, 256)


def _text(name, h, hk, d, causal, lse):
    q, k = f"tensor<?x{h}x{d}xbf16>", f"tensor<?x{hk}x{d}xbf16>"
    out, kinds, results = "%i", q, "%o"
    more = ""
    if lse:
        more = f"  %l = tensor.empty(%n) : tensor<{h}x?xf32>\n"
        out, kinds, results = "%i, %l", f"{q}, tensor<{h}x?xf32>", "%o, %e"
    attrs = "{causal = #rudnn.causal<bottom_right>}" if causal else ""
    return f"""
func.func @{name}(%q: {q}, %k: {k}, %v: {k}, %a: tensor<?xi32>, %b: tensor<?xi32>) -> ({kinds}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : {q}
  %i = tensor.empty(%n) : {q}
{more}  {results} = rudnn.ragged_attention ins(%q, %k, %v : {q}, {k}, {k})
      offsets(%a, %b : tensor<?xi32>, tensor<?xi32>) outs({out} : {kinds}) {attrs} -> {kinds}
  return {results} : {kinds}
}}"""


def _functions():
    """One for all batches of the same heads."""
    return {f"varlen_{heads}{'_causal' if causal else ''}": (*HEADS[heads], causal)
            for heads in HEADS for causal in (False, True)}


def sources():
    checked = [(f"check_d{d}{'_causal' if causal else ''}", 4, 2, d, causal, True)
               for d in DIMS for causal in (False, True)]
    timed = [(name, *shape, False) for name, shape in _functions().items()]
    return {"attention_varlen": "".join(_text(*f) for f in checked + timed)}


def _offsets(lengths):
    import torch
    ends = torch.tensor([0, *lengths], dtype=torch.int64).cumsum(0)
    return ends.to(torch.int32).cuda()


def _reference(q, k, v, queries, keys, causal):
    """Each sequence by itself in float64; rows of none are 0."""
    import torch
    from cases_attention import reference
    out = torch.zeros(*q.shape[:2], v.shape[2], dtype=torch.float64, device="cuda")
    lse = torch.full((q.shape[1], q.shape[0]), float("-inf"), dtype=torch.float64, device="cuda")
    row = key = 0
    for n, m in zip(queries, keys):
        if n and m:
            parts = [x[i:i + c].transpose(0, 1)[None]
                     for x, i, c in ((q, row, n), (k, key, m), (v, key, m))]
            o, e = reference(*parts, causal)
            out[row:row + n], lse[:, row:row + n] = o[0].transpose(0, 1), e[0]
        row, key = row + n, key + m
    return out, lse


def _check(folder, checker):
    import torch
    from artifact import Artifact
    from runner import randn
    artifact = Artifact(folder / "attention_varlen.so")
    for d in DIMS:
        for causal in (False, True):
            for queries, keys, more, more_keys in BATCHES:
                q, k, v = (randn(sum(n) + extra, h, d)
                           for n, extra, h in ((queries, more, 4), (keys, more_keys, 2), (keys, more_keys, 2)))
                for x, n in ((q, queries), (k, keys), (v, keys)):
                    x[sum(n):] = float("nan")
                call = artifact.bind(f"check_d{d}{'_causal' if causal else ''}", q, k, v,
                                     _offsets(queries), _offsets(keys))
                out, lse = call()
                torch.cuda.synchronize()
                expected, expected_lse = _reference(q, k, v, queries, keys, causal)
                label = f"varlen d={d} causal={causal} queries={queries[:4]} keys={keys[:4]}"
                checker.compare(label, out, expected, 2e-2)
                checker.compare(label + " lse", lse, expected_lse, 1e-2)
                checker.repeats(label, call)


def _check_neighbours(folder, checker):
    """NaN in one sequence reaches no other one."""
    import torch
    from artifact import Artifact
    from runner import randn
    artifact = Artifact(folder / "attention_varlen.so")
    lengths = (400, 300, 500)
    for d in DIMS:
        q, k, v = randn(1200, 4, d), randn(1200, 2, d), randn(1200, 2, d)
        expected, _ = _reference(q, k, v, lengths, lengths, True)
        for x in (q, k, v):
            x[400:700] = float("nan")
        out, _ = artifact.bind(f"check_d{d}_causal", q, k, v, _offsets(lengths), _offsets(lengths))()
        torch.cuda.synchronize()
        for name, rows in (("before", slice(0, 400)), ("behind", slice(700, 1200))):
            checker.compare(f"varlen d={d} {name} NaN", out[rows], expected[rows], 2e-2)


def _check_timed(folder, checker):
    import torch
    from artifact import Artifact
    from runner import randn
    artifact = Artifact(folder / "attention_varlen.so")
    for name, batch, h, hk, d, causal in CASES:
        lengths = LENGTHS[batch]
        q, k, v = randn(16384, h, d), randn(16384, hk, d), randn(16384, hk, d)
        function = f"varlen_{'_'.join(name.split('_')[2:]).replace('_' + batch, '')}"
        offsets = _offsets(lengths)
        out, = artifact.bind(function, q, k, v, offsets, offsets)()
        torch.cuda.synchronize()
        checker.compare(name, out, _reference(q, k, v, lengths, lengths, causal)[0], 2e-2)


def _bench(folder, results, sustained):
    import peers
    from artifact import Artifact
    from runner import interleaved, randn, report
    artifact = Artifact(folder / "attention_varlen.so")
    for name, batch, h, hk, d, causal in CASES:
        lengths = LENGTHS[batch]
        q, k, v = randn(16384, h, d), randn(16384, hk, d), randn(16384, hk, d)
        function = f"varlen_{'_'.join(name.split('_')[2:]).replace('_' + batch, '')}"
        offsets = _offsets(lengths)
        contestants = {"rudnn": artifact.bind(function, q, k, v, offsets, offsets),
                       **peers.attention_varlen(q, k, v, offsets, max(lengths), causal)}
        flops = sum(4 * h * n * n * d / (2 if causal else 1) for n in lengths)
        report(results, name, interleaved(contestants, sustained=sustained), flops / 1e12, "TFLOP/s")


CHECKS = {"attention_varlen": _check, "attention_varlen_neighbours": _check_neighbours,
          "attention_varlen_timed": _check_timed}
BENCHES = {"attention_varlen": _bench}
