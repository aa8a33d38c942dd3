"""Dense attention in NumPy float64, and the MLIR text of the same problem.

The formulas are those of the op descriptions, written over whole matrices: nothing here is
shared with the decomposition.
"""

import dataclasses

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import rudnn_test

LN2 = np.log(2.0)


def round_to(x, dtype):
    """x as the element type holds it, in float64."""
    x = np.asarray(x, np.float32)
    if dtype == "f16":
        return x.astype(np.float16).astype(np.float64)
    if dtype == "bf16":
        bits = x.view(np.uint32).astype(np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        wide = rounded.astype(np.uint32).view(np.float32)
        return np.where(np.isfinite(x), wide, x).astype(np.float64)
    return x.astype(np.float64)


# Half a unit in the last place of each type, doubled: the one rounding, and f32 sums.
ROUNDING = {"f32": 4e-6, "f16": 2.0**-10, "bf16": 2.0**-7}


def close(name, actual, expected, dtype, terms=None, rounded_weights=False):
    """Equal up to one rounding to `dtype` after f32 sums. `terms` is for sums of that many
    terms of magnitude 1 that may cancel. With `rounded_weights` the softmax weights were rounded
    to `dtype` before the sum, as kernels of matrix instructions do."""
    actual = np.asarray(actual, np.float64)
    assert actual.shape == expected.shape, f"{name}: shape {actual.shape} not {expected.shape}"
    both = np.isneginf(actual) & np.isneginf(expected)
    finite = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    size = float(np.max(finite, initial=1.0 if terms else 1e-3))
    allowed = ROUNDING[dtype] * finite + 1e-6 * np.sqrt(terms or 4) * size
    if rounded_weights:
        allowed = allowed + ROUNDING[dtype] * size
    with np.errstate(invalid="ignore"):
        wrong = ~both & ~(np.abs(actual - expected) <= allowed)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{name}: {int(wrong.sum())} of {wrong.size} elements wrong, first at {where}: "
            f"{actual[where]} instead of {expected[where]}"
        )


class Cases:
    """Functions of many cases, compiled as one module; each result goes to a check."""

    def __init__(self, options=()):
        self.texts, self.calls, self.options = [], [], options

    def add(self, label, text, arrays, checks):
        """`text` defines @NAME; `checks`: one function of a result per result, or None."""
        if not rudnn_test.is_selected(arrays):
            return
        entry = f"f{len(self.texts)}"
        self.texts.append(text.replace("@NAME", "@" + entry))
        self.calls.append((label, entry, arrays, checks))

    def run(self):
        module = rudnn_test.Module("\n".join(self.texts), options=self.options)
        results = module.call_many([(entry, arrays) for _, entry, arrays, _ in self.calls])
        failures = 0
        for (label, _, _, checks), actual in zip(self.calls, results):
            try:
                assert len(actual) == len(checks), f"{len(actual)} results"
                for check, result in zip(checks, actual):
                    if check:
                        check(result)
            except AssertionError as error:
                failures += 1
                print(f"FAILED {label}: {error}")
        print(f"{len(self.calls)} cases, {failures} failed")
        return 1 if failures else 0


def is_close(name, expected, dtype, terms=None, rounded_weights=False):
    return lambda actual: close(name, actual, expected, dtype, terms, rounded_weights)


def stored(x, dtype):
    """x as rudnn_test takes it for this element type."""
    return x if x.dtype == np.bool_ else rudnn_test.cast(x, dtype)


@dataclasses.dataclass
class Options:
    causal: str = "none"
    scale: float = None
    softcap: float = None
    left: int = None
    right: int = None
    offset: int = None  # query_offset
    base: str = "e"


def excluded(shape, options, mask=None):
    """Which keys [B,Hq,Sq,Sk] do not count for which row."""
    _, _, rows, keys = shape
    offset = options.offset
    if offset is None:
        offset = 0 if options.causal == "top_left" else keys - rows
    position = np.arange(rows)[:, None] + offset
    key = np.arange(keys)[None, :]
    out = np.zeros((rows, keys), bool)
    if options.causal != "none":
        out |= key > position
    if options.left is not None:
        out |= key < position - options.left
    if options.right is not None:
        out |= key > position + options.right
    out = np.broadcast_to(out, shape)
    return out | mask if mask is not None else out


def scores(q, k, options, bias=None):
    """Scaled, capped and biased scores, and what the cap saw."""
    group = q.shape[1] // k.shape[1]
    scale = options.scale if options.scale is not None else q.shape[3] ** -0.5
    raw = q @ np.repeat(k, group, 1).transpose(0, 1, 3, 2) * scale
    s = options.softcap * np.tanh(raw / options.softcap) if options.softcap else raw
    return (s + bias if bias is not None else s), raw


def forward(q, k, v, options, mask=None, bias=None, sinks=None):
    """(out, lse): lse in options.base."""
    group = q.shape[1] // k.shape[1]
    s, _ = scores(q, k, options, bias)
    s = np.where(excluded(s.shape, options, mask), -np.inf, s)
    top = np.max(s, -1, initial=-np.inf)
    sink = np.full(q.shape[1], -np.inf) if sinks is None else sinks
    sink = np.broadcast_to(sink[None, :, None], top.shape)
    top = np.maximum(top, sink)
    top = np.where(np.isneginf(top), 0.0, top)
    p = np.exp(s - top[..., None])
    total = p.sum(-1) + np.exp(sink - top)
    seen = total > 0
    safe = np.where(seen, total, 1.0)
    out = p @ np.repeat(v, group, 1) / safe[..., None]
    lse = np.where(seen, top + np.log(safe), -np.inf)
    return out, (lse / LN2 if options.base == "two" else lse)


def backward(q, k, v, dout, options, mask=None, bias=None, sinks=None, out=None):
    """Gradients by name, of sum(out * dout); `out` as the caller holds it, when rounded."""
    group = q.shape[1] // k.shape[1]
    natural = dataclasses.replace(options, base="e")
    exact, lse = forward(q, k, v, natural, mask, bias, sinks)
    out = exact if out is None else out
    s, raw = scores(q, k, options, bias)
    hidden = excluded(s.shape, options, mask)
    blind = np.isneginf(lse)
    p = np.exp(np.where(hidden, -np.inf, s) - np.where(blind, 0.0, lse)[..., None])
    dp = dout @ np.repeat(v, group, 1).transpose(0, 1, 3, 2)
    delta = (dout * out).sum(-1)
    ds = p * (dp - delta[..., None])
    scale = options.scale if options.scale is not None else q.shape[3] ** -0.5
    dx = ds * scale
    if options.softcap:
        dx = dx * (1 - np.tanh(raw / options.softcap) ** 2)

    def by_key_head(x):
        return x.reshape(x.shape[0], k.shape[1], group, *x.shape[2:]).sum(2)

    grads = {
        "dq": dx @ np.repeat(k, group, 1),
        "dk": by_key_head(dx.transpose(0, 1, 3, 2) @ q),
        "dv": by_key_head(p.transpose(0, 1, 3, 2) @ dout),
    }
    if bias is not None:
        axes = tuple(d for d in range(4) if bias.shape[d] == 1)
        grads["dbias"] = ds.sum(axes, keepdims=True)
    if sinks is not None:
        weight = np.exp(sinks[None, :, None] - np.where(blind, np.inf, lse))
        grads["dsinks"] = -(weight * delta).sum((0, 2))
    return grads


@dataclasses.dataclass
class Problem:
    """One configuration: what is computed, on which shapes and types."""

    batch: int = 2
    q_heads: int = 4
    kv_heads: int = 2
    rows: int = 65
    keys: int = 65
    head: int = 16
    value: int = 16
    dtype: str = "f32"
    dynamic: bool = False
    mask: str = None  # letters of the dims that are not broadcast, of "bhqk"
    bias: str = None
    bias_dtype: str = None
    sinks: bool = False
    lse: bool = False
    spread: float = 1.0  # standard deviation of q
    seed: int = 0
    strategy: str = None  # "schedule": an error where its kernels can't be made
    options: Options = dataclasses.field(default_factory=Options)

    def sizes(self):
        return dict(b=self.batch, h=self.q_heads, q=self.rows, k=self.keys)

    def broadcast_shape(self, letters):
        return tuple(n if c in letters else 1 for c, n in self.sizes().items())

    def arrays(self):
        """The operands by name, in float64 and representable in their types."""
        rng = np.random.default_rng(self.seed)

        def normal(shape, dtype, spread=1.0):
            return round_to(rng.standard_normal(shape) * spread, dtype)

        b, hq, hk = self.batch, self.q_heads, self.kv_heads
        a = {
            "q": normal((b, hq, self.rows, self.head), self.dtype, self.spread),
            "k": normal((b, hk, self.keys, self.head), self.dtype),
            "v": normal((b, hk, self.keys, self.value), self.dtype),
        }
        if self.mask is not None:
            a["mask"] = rng.random(self.broadcast_shape(self.mask)) < 0.3
        if self.bias is not None:
            a["bias"] = normal(self.broadcast_shape(self.bias), self.bias_type())
        if self.sinks:
            a["sinks"] = normal((hq,), "f32")
        return a

    def stored_arrays(self, a):
        """The operands in the order of the function's arguments."""
        types = {"bias": self.bias_type(), "sinks": "f32"}
        return [stored(x, types.get(n, self.dtype)) for n, x in a.items()]

    def add_forward(self, cases, label=None, arrays=None):
        """A case of rudnn.attention against the reference; returns (out, lse)."""
        a = arrays or self.arrays()
        optional = [a.get(n) for n in ("mask", "bias", "sinks")]
        out, lse = forward(a["q"], a["k"], a["v"], self.options, *optional)
        checks = [is_close("out", out, self.dtype, rounded_weights=self.may_round_weights())]
        if self.lse:
            checks.append(is_close("lse", lse, "f32"))
        cases.add(label or str(self), self.forward_text(), self.stored_arrays(a), checks)
        return out, lse

    def add_backward(self, cases, label=None, arrays=None, dout=None):
        """A case of rudnn.attention_backward with every gradient that it has."""
        a = arrays or self.arrays()
        optional = [a.get(n) for n in ("mask", "bias", "sinks")]
        out, lse = forward(a["q"], a["k"], a["v"], self.options, *optional)
        out = round_to(out, self.dtype)
        if dout is None:
            dout = np.random.default_rng(self.seed + 1).standard_normal(out.shape)
        dout = round_to(dout, self.dtype)
        expected = backward(a["q"], a["k"], a["v"], dout, self.options, *optional, out=out)
        types = {"dbias": self.bias_type(), "dsinks": "f32"}
        # A gradient sums over rows, keys and value dims, as far as it has none.
        every = self.batch * self.q_heads * self.rows * self.keys * self.value
        checks = [
            is_close(n, x, types.get(n, self.dtype), max(every // max(x.size, 1), self.value))
            for n, x in expected.items()
        ]
        extra = [stored(out, self.dtype), stored(dout, self.dtype), lse.astype(np.float32)]
        text = self.backward_text("bias" in a, "sinks" in a)
        cases.add(label or str(self), text, self.stored_arrays(a) + extra, checks)

    def may_round_weights(self):
        """Whether kernels of matrix instructions may compute this: those of a schedule, which a
        GPU target chooses for 16-bit elements unless the op says otherwise."""
        if self.dtype == "f32" or self.strategy == "fallback":
            return False
        return self.strategy == "schedule" or rudnn_test.TARGET != "cpu"

    def bias_type(self):
        return self.bias_dtype or self.dtype

    # -- MLIR ----------------------------------------------------------------

    def type(self, shape, dtype, static=()):
        """The tensor type; dims not in `static` are dynamic when the problem is."""
        dims = [
            "?" if self.dynamic and d not in static and n != 1 else str(n)
            for d, n in enumerate(shape)
        ]
        return f"tensor<{'x'.join(dims + [dtype])}>"

    def types(self):
        b, hq, hk = self.batch, self.q_heads, self.kv_heads
        t = {
            "q": self.type((b, hq, self.rows, self.head), self.dtype, (1, 3)),
            "k": self.type((b, hk, self.keys, self.head), self.dtype, (1, 3)),
            "v": self.type((b, hk, self.keys, self.value), self.dtype, (1, 3)),
            "out": self.type((b, hq, self.rows, self.value), self.dtype, (1, 3)),
            "lse": self.type((b, hq, self.rows), "f32", (1,)),
        }
        if self.mask is not None:
            t["mask"] = self.type(self.broadcast_shape(self.mask), "i1", (1,))
        if self.bias is not None:
            t["bias"] = self.type(self.broadcast_shape(self.bias), self.bias_type(), (1,))
        if self.sinks:
            t["sinks"] = f"tensor<{hq}xf32>"
        return t

    def optional_operands(self):
        t = self.types()
        text = "".join(
            f" {name}(%{name} : {t[name]})" for name in ("mask", "bias", "sinks") if name in t
        )
        return text + (" query_offset(%offset)" if self.options.offset is not None else "")

    def attributes(self):
        o = self.options
        text = []
        if o.causal != "none":
            text.append(f"causal = #rudnn.causal<{o.causal}>")
        for name, value in (("scale", o.scale), ("softcap", o.softcap)):
            if value is not None:
                text.append(f"{name} = {value:.17e} : f64")
        for name, value in (("window_left", o.left), ("window_right", o.right)):
            if value is not None:
                text.append(f"{name} = {value}")
        if o.base != "e":
            text.append(f"lse_base = #rudnn.log_base<{o.base}>")
        if self.strategy:
            text.append(f'rudnn.strategy = "{self.strategy}"')
        return text

    def init(self, name, type_text, like):
        """A tensor.empty of this type, its dynamic extents those of %like."""
        lines, sizes = [], []
        for d, extent in enumerate(type_text[7:-1].split("x")[:-1]):
            if extent == "?":
                lines.append(f"  %{name}_i{d} = arith.constant {d} : index")
                lines.append(f"  %{name}_{d} = tensor.dim {like[0]}, %{name}_i{d} : {like[1]}")
                sizes.append(f"%{name}_{d}")
        lines.append(f"  %{name}_init = tensor.empty({', '.join(sizes)}) : {type_text}")
        return "\n".join(lines)

    def function(self, extra, body, results):
        """func @NAME over the operands and `extra` ones, returning `results`."""
        t = self.types()
        names = [n for n in ("q", "k", "v", "mask", "bias", "sinks") if n in t]
        arguments = ", ".join(
            [f"%{n}: {t[n]}" for n in names] + [f"%{n}: {ty}" for n, ty in extra]
        )
        returned = ", ".join(ty for _, ty in results)
        offset = self.options.offset
        constant = f"  %offset = arith.constant {offset} : index\n" if offset is not None else ""
        return (
            f"func.func @NAME({arguments}) -> ({returned}) {{\n{constant}{body}\n"
            f"  return {', '.join(v for v, _ in results)} : {returned}\n}}\n"
        )

    def forward_text(self):
        t = self.types()
        lines = [self.init("out", t["out"], ("%q", t["q"]))]
        inits, types = ["%out_init"], [t["out"]]
        if self.lse:
            lines.append(self.init("lse", t["lse"], ("%q", t["q"])))
            inits.append("%lse_init")
            types.append(t["lse"])
        values = [f"%r#{i}" for i in range(len(types))] if len(types) > 1 else ["%r"]
        attributes = self.attributes()
        attributes = " {" + ", ".join(attributes) + "}" if attributes else ""
        count = f":{len(types)}" if len(types) > 1 else ""
        lines.append(
            f"  %r{count} = rudnn.attention ins(%q, %k, %v : {t['q']}, {t['k']}, {t['v']})"
            f"{self.optional_operands()}\n      outs({', '.join(inits)} : {', '.join(types)})"
            f"{attributes} -> {', '.join(types)}"
        )
        return self.function([], "\n".join(lines), list(zip(values, types)))

    def backward_text(self, dbias=False, dsinks=False):
        t = self.types()
        outs = [("dq", t["q"], "q"), ("dk", t["k"], "k"), ("dv", t["v"], "v")]
        attributes = self.attributes()
        if dbias:
            outs.append(("dbias", t["bias"], "bias"))
            attributes.append("bias_gradient")
        if dsinks:
            outs.append(("dsinks", t["sinks"], "sinks"))
            attributes.append("sinks_gradient")
        lines = [self.init(n, ty, (f"%{like}", t[like])) for n, ty, like in outs]
        types = [ty for _, ty, _ in outs]
        attributes = " {" + ", ".join(attributes) + "}" if attributes else ""
        lines.append(
            f"  %r:{len(outs)} = rudnn.attention_backward ins(%q, %k, %v, %out, %dout, %lse : "
            f"{t['q']}, {t['k']}, {t['v']}, {t['out']}, {t['out']}, {t['lse']})"
            f"{self.optional_operands()}\n"
            f"      outs({', '.join(f'%{n}_init' for n, _, _ in outs)} : {', '.join(types)})"
            f"{attributes} -> {', '.join(types)}"
        )
        extra = [("out", t["out"]), ("dout", t["out"]), ("lse", t["lse"])]
        values = [f"%r#{i}" for i in range(len(outs))]
        return self.function(extra, "\n".join(lines), list(zip(values, types)))
