"""Attention forward in bf16."""

# Timed: name, batch, query heads, key heads, sequence, head dim, causal. 16k tokens in all, hidden
# size 2048 (4096 with grouped heads).
CASES = [(f"attention_d{d}_s{s}{'_causal' if causal else ''}{'_gqa' if hk != h else ''}",
          16384 // s, h, hk, s, d, causal)
         for d, h, hk in ((128, 16, 16), (64, 32, 32), (256, 8, 8), (128, 32, 8))
         for s in ((1024, 4096, 16384) if h == hk else (4096,))
         for causal in (False, True)]
# Sizes that are no multiple of a tile, for the function with dynamic sizes.
TAILS = [(1, 1), (1, 300), (63, 63), (65, 127), (127, 65), (128, 128), (1000, 1000), (1025, 1025)]
TAIL_DIMS = (64, 80, 128, 192, 256)


def _text(name, b, h, hk, s, d, causal):
    q, k = f"tensor<{b}x{h}x{s}x{d}xbf16>", f"tensor<{b}x{hk}x{s}x{d}xbf16>"
    attrs = "{causal = #rudnn.causal<bottom_right>}" if causal else ""
    return f"""
func.func @{name}(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %i = tensor.empty() : {q}
  %o = rudnn.attention ins(%q, %k, %v : {q}, {k}, {k}) outs(%i : {q}) {attrs} -> {q}
  return %o : {q}
}}"""


def _dynamic_text(name, d, causal):
    t, lse = f"tensor<2x4x?x{d}xbf16>", "tensor<2x4x?xf32>"
    k = f"tensor<2x2x?x{d}xbf16>"
    attrs = "{causal = #rudnn.causal<bottom_right>}" if causal else ""
    return f"""
func.func @{name}(%q: {t}, %k: {k}, %v: {k}) -> ({t}, {lse}) {{
  %c2 = arith.constant 2 : index
  %s = tensor.dim %q, %c2 : {t}
  %i = tensor.empty(%s) : {t}
  %l = tensor.empty(%s) : {lse}
  %o, %e = rudnn.attention ins(%q, %k, %v : {t}, {k}, {k}) outs(%i, %l : {t}, {lse}) {attrs} -> {t}, {lse}
  return %o, %e : {t}, {lse}
}}"""


def sources():
    return {"attention": "".join(_text(*case) for case in CASES),
            "tails": "".join(_dynamic_text(f"tails_d{d}{'_causal' if causal else ''}", d, causal)
                             for d in TAIL_DIMS for causal in (False, True))}


def reference(q, k, v, causal):
    """Attention and its log-sum-exp in float64, one head at a time."""
    import torch
    group = q.shape[1] // k.shape[1]
    out = torch.empty(*q.shape[:3], v.shape[3], dtype=torch.float64, device="cuda")
    lse = torch.empty(q.shape[:3], dtype=torch.float64, device="cuda")
    rows, keys = q.shape[2], k.shape[2]
    later = torch.ones(rows, keys, dtype=torch.bool, device="cuda").triu(keys - rows + 1)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            s = q[b, h].double() @ k[b, h // group].double().T / q.shape[3] ** 0.5
            if causal:
                s.masked_fill_(later, float("-inf"))
            lse[b, h] = torch.logsumexp(s, -1)
            p = torch.exp(s - lse[b, h][:, None])
            out[b, h] = torch.nan_to_num(p) @ v[b, h // group].double()
    return out, lse


def _check_tails(folder, checker):
    import torch
    from artifact import Artifact
    from runner import randn
    tails = Artifact(folder / "tails.so")
    for d in TAIL_DIMS:
        for causal in (False, True):
            for rows, keys in TAILS:
                q, k, v = randn(2, 4, rows, d), randn(2, 2, keys, d), randn(2, 2, keys, d)
                call = tails.bind(f"tails_d{d}{'_causal' if causal else ''}", q, k, v)
                out, lse = call()
                torch.cuda.synchronize()
                expected, expected_lse = reference(q, k, v, causal)
                label = f"attention d={d} rows={rows} keys={keys} causal={causal}"
                checker.compare(label, out, expected, 2e-2)
                checker.compare(label + " lse", lse, expected_lse, 1e-2)
                checker.repeats(label, call)


def _check_timed(folder, checker):
    """The functions that are timed, where float64 scores are affordable."""
    import torch
    from artifact import Artifact
    from runner import randn
    attention = Artifact(folder / "attention.so")
    for name, b, h, hk, s, d, causal in CASES:
        if s > 4096:
            continue
        q, k, v = randn(b, h, s, d), randn(b, hk, s, d), randn(b, hk, s, d)
        out, = attention.bind(name, q, k, v)()
        torch.cuda.synchronize()
        checker.compare(name, out, reference(q, k, v, causal)[0], 2e-2)


def _bench(folder, results, sustained):
    import peers
    from artifact import Artifact
    from runner import interleaved, randn, report
    attention = Artifact(folder / "attention.so")
    for name, b, h, hk, s, d, causal in CASES:
        q, k, v = randn(b, h, s, d), randn(b, hk, s, d), randn(b, hk, s, d)
        contestants = {"rudnn": attention.bind(name, q, k, v), **peers.attention(q, k, v, causal)}
        flops = 4 * b * h * s * s * d / (2 if causal else 1)
        report(results, name, interleaved(contestants, sustained=sustained), flops / 1e12,
               "TFLOP/s")


CHECKS = {"attention_tails": _check_tails, "attention_timed": _check_timed}
BENCHES = {"attention": _bench}
