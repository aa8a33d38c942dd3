"""Attention forward with every pair of option values, odd sizes and more than 2^31 elements."""

import itertools
import random

# Values that every pair of must occur in some function. Heads: queries and keys. Windows: left and
# right. The mask and bias name the dims of [batch, head, query, key] that are not broadcast.
VALUES = {
    "dtype": ("bf16", "f16"),
    "dims": ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256), (16, 16), (48, 80), (240, 240)),
    "heads": ((4, 4), (6, 2), (3, 1)),
    "causal": ("none", "bottom_right", "top_left"),
    "window": ((None, None), (70, None), (None, 40), (150, 3)),
    "offset": (None, 37, -5),
    "mask": ("", "bk", "qk", "bhqk"),
    "bias": ("", "k", "hq", "bhqk"),
    "bias_dtype": ("same", "f32"),
    "sinks": (False, True),
    "softcap": (None, 20.0),
    "scale": (None, 0.3),
    "lse": (None, "e", "two"),
}
# Query rows and keys of each function: with 127 and 65 the first rows of a causal one see no key.
SIZES = ((1, 1), (1, 300), (65, 127), (127, 65), (300, 1000))
BATCH = 2


def covering(values, seed):
    """Rows of values so that every pair of values of two options occurs (greedy)."""
    rng = random.Random(seed)
    names = list(values)
    wanted = {(a, i, b, j) for a, b in itertools.combinations(names, 2)
              for i in range(len(values[a])) for j in range(len(values[b]))}
    while wanted:
        best, gain = None, set()
        for _ in range(30):
            a, i, b, j = rng.choice(sorted(wanted))
            row = {n: rng.randrange(len(values[n])) for n in names}
            row[a], row[b] = i, j
            pairs = {(x, row[x], y, row[y]) for x, y in itertools.combinations(names, 2)} & wanted
            if len(pairs) > len(gain):
                best, gain = row, pairs
        wanted -= gain
        yield {n: values[n][i] for n, i in best.items()}


def functions():
    for number, row in enumerate(covering(VALUES, seed=5)):
        if row["causal"] == "none" and row["window"] == (None, None):
            row["offset"] = None  # refused where nothing depends on it
        yield f"options_{number}", row


def _broadcast(dims, rows, keys, heads, dynamic):
    """Shape of a mask or bias; `dynamic` writes sizes that are known when it runs as '?'."""
    full = {"b": BATCH, "h": heads, "q": "?" if dynamic else rows, "k": "?" if dynamic else keys}
    return tuple(full[d] if d in dims else 1 for d in "bhqk")


def _type(shape, element):
    return "tensor<" + "x".join(map(str, shape)) + f"x{element}>"


def _text(name, row):
    (h, hk), (d, dv), e = row["heads"], row["dims"], row["dtype"]
    q, k, v, out = (_type((BATCH, n, "?", w), e) for n, w in ((h, d), (hk, d), (hk, dv), (h, dv)))
    args, clauses = [f"%q: {q}", f"%k: {k}", f"%v: {v}"], ""
    bias = "f32" if row["bias_dtype"] == "f32" else e
    for word, element in (("mask", "i1"), ("bias", bias)):
        if row[word]:
            t = _type(_broadcast(row[word], 0, 0, h, True), element)
            args.append(f"%{word}: {t}")
            clauses += f" {word}(%{word} : {t})"
    if row["sinks"]:
        args.append(f"%sinks: tensor<{h}xf32>")
        clauses += f" sinks(%sinks : tensor<{h}xf32>)"
    constant = ""
    if row["offset"] is not None:
        constant = f"\n  %offset = arith.constant {row['offset']} : index"
        clauses += " query_offset(%offset)"
    attributes = [f"causal = #rudnn.causal<{row['causal']}>"]
    for key, value in (("window_left", row["window"][0]), ("window_right", row["window"][1])):
        if value is not None:
            attributes.append(f"{key} = {value} : i64")
    for key in ("softcap", "scale"):
        if row[key] is not None:
            attributes.append(f"{key} = {row[key]} : f64")
    if row["lse"] == "two":
        attributes.append("lse_base = #rudnn.log_base<two>")
    lse = _type((BATCH, h, "?"), "f32")
    inits, types, results = "%i", out, "%o"
    extra = ""
    if row["lse"]:
        extra = f"\n  %l = tensor.empty(%s) : {lse}"
        inits, types, results = "%i, %l", f"{out}, {lse}", "%o, %e"
    return f"""
func.func @{name}({", ".join(args)}) -> ({types}) {{
  %c2 = arith.constant 2 : index
  %s = tensor.dim %q, %c2 : {q}{constant}
  %i = tensor.empty(%s) : {out}{extra}
  {results} = rudnn.attention ins(%q, %k, %v : {q}, {k}, {v}){clauses} outs({inits} : {types}) {{{", ".join(attributes)}}} -> {types}
  return {results} : {types}
}}"""


def _huge_text():
    t = "tensor<1x1x?x64xbf16>"
    b = "tensor<1x1x?x?xbf16>"
    return f"""
func.func @huge(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
  %c2 = arith.constant 2 : index
  %s = tensor.dim %q, %c2 : {t}
  %i = tensor.empty(%s) : {t}
  %o = rudnn.attention ins(%q, %k, %v : {t}, {t}, {t}) outs(%i : {t}) {{causal = #rudnn.causal<bottom_right>, window_left = 100 : i64}} -> {t}
  return %o : {t}
}}
func.func @huge_bias(%q: {t}, %k: {t}, %v: {t}, %b: {b}) -> {t} {{
  %c2 = arith.constant 2 : index
  %s = tensor.dim %q, %c2 : {t}
  %i = tensor.empty(%s) : {t}
  %o = rudnn.attention ins(%q, %k, %v : {t}, {t}, {t}) bias(%b : {b}) outs(%i : {t}) -> {t}
  return %o : {t}
}}"""


def sources():
    return {"attention_options": "".join(_text(*f) for f in functions()),
            "attention_huge": _huge_text()}


def reference(q, k, v, row, mask, bias, sinks, first=0, offset=None):
    """The formula of the operator in float64; `first` is the position of the first key given."""
    import torch
    rows, keys = q.shape[2], k.shape[2]
    if offset is None:
        offset = row["offset"]
    if offset is None:
        offset = 0 if row["causal"] == "top_left" else keys - rows
    group = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(group, 1) for x in (k, v))
    s = q.double() @ k.transpose(2, 3) * (row["scale"] or q.shape[3] ** -0.5)
    if row["softcap"]:
        s = row["softcap"] * torch.tanh(s / row["softcap"])
    if bias is not None:
        s = s + bias.double()
    at = torch.arange(rows, device="cuda")[:, None] + offset
    key = torch.arange(keys, device="cuda")[None, :] + first
    left, right = row["window"]
    out = torch.zeros(rows, keys, dtype=torch.bool, device="cuda")
    if row["causal"] != "none":
        out |= key > at
    if left is not None:
        out |= key < at - left
    if right is not None:
        out |= key > at + right
    s = s.masked_fill(out, float("-inf"))
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    both = s
    if sinks is not None:
        column = sinks.double()[None, :, None, None].expand(*s.shape[:3], 1)
        both = torch.cat([s, column], -1)
    lse = torch.logsumexp(both, -1)
    weights = torch.exp(s - lse[..., None].nan_to_num(neginf=0.0))
    return weights @ v, lse / (0.6931471805599453 if row["lse"] == "two" else 1.0)


def _inputs(row, rows, keys, factor):
    import torch
    from runner import randn
    dtype = torch.bfloat16 if row["dtype"] == "bf16" else torch.float16
    (h, hk), (d, dv) = row["heads"], row["dims"]
    q = randn(BATCH, h, rows, d, dtype=dtype) * factor
    k, v = randn(BATCH, hk, keys, d, dtype=dtype), randn(BATCH, hk, keys, dv, dtype=dtype)
    mask = bias = sinks = None
    if row["mask"]:
        mask = torch.rand(_broadcast(row["mask"], rows, keys, h, False), device="cuda") < 0.3
    if row["bias"]:
        bias = randn(*_broadcast(row["bias"], rows, keys, h, False),
                     dtype=torch.float32 if row["bias_dtype"] == "f32" else dtype)
    if row["sinks"]:
        sinks = randn(h, dtype=torch.float32)
    return q, k, v, mask, bias, sinks


def _check_options(folder, checker):
    import torch
    from artifact import Artifact
    artifact = Artifact(folder / "attention_options.so")
    for name, row in functions():
        for (rows, keys), factor in [(size, 1) for size in SIZES] + [((130, 200), 50)]:
            inputs = _inputs(row, rows, keys, factor)
            call = artifact.bind(name, *[x for x in inputs if x is not None])
            results = call()
            torch.cuda.synchronize()
            expected = reference(*inputs[:3], row, *inputs[3:])
            label = f"{name} {rows}x{keys} times {factor} " + " ".join(
                f"{key}={value}" for key, value in row.items() if value not in (None, "", False))
            checker.compare(label, results[0], expected[0], 3e-2)
            if row["lse"]:
                error = 1e-2 if factor == 1 else 1.0
                checker.compare(label + " (lse)", results[1], expected[1], error)
            checker.repeats(label, call)


def _check_huge(folder, checker):
    """Tensors of more than 2^31 elements: the first and the last rows."""
    import torch
    from artifact import Artifact
    from runner import randn
    artifact = Artifact(folder / "attention_huge.so")
    plain = {"window": (100, None), "causal": "bottom_right", "offset": None, "softcap": None,
             "scale": None, "lse": None}
    n = 2 ** 25 + 65
    q, k, v = (randn(1, 1, n, 64) for _ in range(3))
    out, = artifact.bind("huge", q, k, v)()
    torch.cuda.synchronize()
    for start in (0, n - 256):
        low, end = max(0, start - 100), start + 256
        expected, _ = reference(q[:, :, start:end], k[:, :, low:end], v[:, :, low:end], plain, None,
                                None, None, first=low, offset=start)
        checker.compare(f"attention of {n} rows, from row {start}", out[:, :, start:end], expected,
                        2e-2)
    del q, k, v, out
    rows, keys = 2 ** 16 + 5, 2 ** 15 + 24
    q, k, v = randn(1, 1, rows, 64), randn(1, 1, keys, 64), randn(1, 1, keys, 64)
    bias = randn(1, 1, rows, keys)
    out, = artifact.bind("huge_bias", q, k, v, bias)()
    torch.cuda.synchronize()
    free = dict(plain, window=(None, None), causal="none")
    for start in (0, rows - 256):
        part = slice(start, start + 256)
        expected, _ = reference(q[:, :, part], k, v, free, None, bias[:, :, part], None)
        checker.compare(f"bias of {rows} x {keys}, from row {start}", out[:, :, part], expected, 2e-2)


CHECKS = {"attention_options": _check_options, "attention_huge": _check_huge}
BENCHES = {}
