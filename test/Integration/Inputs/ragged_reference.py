"""Attention over packed sequences in NumPy float64: dense attention of each sequence by itself,
and the MLIR text of the same problem."""

import dataclasses

import numpy as np

import attention_reference as ref
from attention_reference import Options, is_close, round_to, stored


def sequences(offsets):
    return [slice(a, b) for a, b in zip(offsets[:-1], offsets[1:])]


def packed(dense):
    """[1,H,n,X] as [n,H,X]."""
    return dense[0].transpose(1, 0, 2)


def dense(rows):
    return rows.transpose(1, 0, 2)[None]


@dataclasses.dataclass
class Problem:
    """One configuration: what is computed, on which shapes and types."""

    queries: tuple  # rows of each sequence
    keys: tuple = None  # keys of each sequence; as many as rows when not given
    more_queries: int = 0  # rows and keys behind the last sequence, all NaN
    more_keys: int = 0
    q_heads: int = 4
    kv_heads: int = 2
    head: int = 16
    value: int = 16
    dtype: str = "f32"
    dynamic: bool = False
    sinks: bool = False
    lse: bool = True
    spread: float = 1.0
    seed: int = 0
    strategy: str = None
    options: Options = dataclasses.field(default_factory=Options)

    def offsets(self):
        """Of the queries and of the keys, i32 [B+1]."""
        lengths = self.queries, self.queries if self.keys is None else self.keys
        return [np.concatenate([[0], np.cumsum(n)]).astype(np.int32) for n in lengths]

    def arrays(self):
        rng = np.random.default_rng(self.seed)
        rows, keys = (o[-1] for o in self.offsets())

        def normal(count, poisoned, heads, width, spread=1.0):
            x = round_to(rng.standard_normal((count, heads, width)) * spread, self.dtype)
            return np.concatenate([x, np.full((poisoned, heads, width), np.nan)])

        a = {
            "q": normal(rows, self.more_queries, self.q_heads, self.head, self.spread),
            "k": normal(keys, self.more_keys, self.kv_heads, self.head),
            "v": normal(keys, self.more_keys, self.kv_heads, self.value),
        }
        if self.sinks:
            a["sinks"] = round_to(rng.standard_normal(self.q_heads), "f32")
        return a

    def forward(self, a):
        out = np.zeros((*a["q"].shape[:2], self.value))
        sinks = a.get("sinks", np.full(self.q_heads, -np.inf))
        factor = ref.LN2 if self.options.base == "two" else 1.0
        lse = np.repeat((sinks / factor)[:, None], len(out), 1)
        for rows, keys in zip(*map(sequences, self.offsets())):
            o, l = ref.forward(*(dense(a[n][r]) for n, r in (("q", rows), ("k", keys), ("v", keys))),
                               self.options, sinks=a.get("sinks"))
            out[rows], lse[:, rows] = packed(o), l[0]
        return out, lse

    def backward(self, a, out, dout):
        grads = {f"d{n}": np.zeros_like(x) for n, x in a.items()}
        for rows, keys in zip(*map(sequences, self.offsets())):
            g = ref.backward(*(dense(a[n][r]) for n, r in (("q", rows), ("k", keys), ("v", keys))),
                             dense(dout[rows]), self.options, sinks=a.get("sinks"), out=dense(out[rows]))
            for name, part in (("dq", rows), ("dk", keys), ("dv", keys)):
                grads[name][part] = packed(g[name])
            if self.sinks:
                grads["dsinks"] += g["dsinks"]
        return grads

    def operands(self, a):
        """In the order of the function's arguments."""
        shaped = [stored(a[n], self.dtype) for n in "qkv"] + self.offsets()
        return shaped + ([stored(a["sinks"], "f32")] if self.sinks else [])

    def add_forward(self, cases, label=None, arrays=None, checks=None):
        a = arrays or self.arrays()
        out, lse = self.forward(a)
        if checks is None:
            checks = [is_close("out", out, self.dtype, rounded_weights=self.strategy == "schedule")]
            checks += [is_close("lse", lse, "f32")] if self.lse else []
        cases.add(label or str(self), self.forward_text(), self.operands(a), checks)
        return out, lse

    def add_backward(self, cases, label=None, arrays=None):
        a = arrays or self.arrays()
        out, lse = self.forward(a)
        out = round_to(out, self.dtype)
        dout = round_to(np.random.default_rng(self.seed + 1).standard_normal(out.shape), self.dtype)
        dout[len(dout) - self.more_queries :] = np.nan
        expected = self.backward(a, out, dout)
        longest = max([1, *self.queries, *(self.keys or ())])
        terms = {n: longest * self.value for n in expected} | {"dsinks": len(out) * self.value}
        checks = [is_close(n, x, "f32" if n == "dsinks" else self.dtype, terms[n]) for n, x in expected.items()]
        extra = [stored(out, self.dtype), stored(dout, self.dtype), lse.astype(np.float32)]
        cases.add(label or str(self), self.backward_text(), self.operands(a) + extra, checks)

    # -- MLIR ----------------------------------------------------------------

    def types(self):
        offsets = self.offsets()
        rows = "?" if self.dynamic else offsets[0][-1] + self.more_queries
        keys = "?" if self.dynamic else offsets[1][-1] + self.more_keys
        count = "?" if self.dynamic else len(offsets[0])
        hq, hk, d, dv, t = self.q_heads, self.kv_heads, self.head, self.value, self.dtype
        return {
            "q": f"tensor<{rows}x{hq}x{d}x{t}>", "k": f"tensor<{keys}x{hk}x{d}x{t}>",
            "v": f"tensor<{keys}x{hk}x{dv}x{t}>", "a": f"tensor<{count}xi32>", "b": f"tensor<{count}xi32>",
            "sinks": f"tensor<{hq}xf32>", "out": f"tensor<{rows}x{hq}x{dv}x{t}>", "dout": f"tensor<{rows}x{hq}x{dv}x{t}>",
            "lse": f"tensor<{hq}x{rows}xf32>",
        }

    def function(self, op, extra, outs, attributes=()):
        """`outs`: (name, type, the operand that has its dynamic extent)."""
        t = self.types()
        o = self.options
        arguments = [*"qkvab"] + (["sinks"] if self.sinks else []) + list(extra)
        attributes = list(attributes)
        if o.causal != "none":
            attributes.append(f"causal = #rudnn.causal<{o.causal}>")
        for name, value in (("scale", o.scale), ("softcap", o.softcap)):
            if value is not None:
                attributes.append(f"{name} = {value:.17e} : f64")
        for name, value in (("window_left", o.left), ("window_right", o.right)):
            if value is not None:
                attributes.append(f"{name} = {value}")
        if o.base != "e" and self.lse:
            attributes.append(f"lse_base = #rudnn.log_base<{o.base}>")
        if self.strategy:
            attributes.append(f'rudnn.strategy = "{self.strategy}"')
        lines = ["  %c0 = arith.constant 0 : index"]
        for name, kind, like in outs:
            size = ""
            if "?" in kind:
                lines.append(f"  %{name}_n = tensor.dim %{like}, %c0 : {t[like]}")
                size = f"%{name}_n"
            lines.append(f"  %{name}_init = tensor.empty({size}) : {kind}")
        ins = ["q", "k", "v", *extra]
        kinds = ", ".join(kind for _, kind, _ in outs)
        sinks = f" sinks(%sinks : {t['sinks']})" if self.sinks else ""
        results = [f"%r#{i}" for i in range(len(outs))] if len(outs) > 1 else ["%r"]
        lines.append(
            f"  %r{f':{len(outs)}' if len(outs) > 1 else ''} = rudnn.{op} ins({', '.join('%' + n for n in ins)} : "
            f"{', '.join(t[n] for n in ins)})\n      offsets(%a, %b : {t['a']}, {t['b']}){sinks} "
            f"outs({', '.join(f'%{n}_init' for n, _, _ in outs)} : {kinds}) {{{', '.join(attributes)}}} -> {kinds}"
        )
        signature = ", ".join(f"%{n}: {t[n]}" for n in arguments)
        body = "\n".join(lines)
        return f"func.func @NAME({signature}) -> ({kinds}) {{\n{body}\n  return {', '.join(results)} : {kinds}\n}}\n"

    def forward_text(self):
        t = self.types()
        outs = [("o", t["out"], "q")] + ([("l", t["lse"], "q")] if self.lse else [])
        return self.function("ragged_attention", [], outs)

    def backward_text(self):
        t = self.types()
        outs = [("dq", t["q"], "q"), ("dk", t["k"], "k"), ("dv", t["v"], "v")]
        if self.sinks:
            outs.append(("dsinks", t["sinks"], "q"))
        return self.function("ragged_attention_backward", ["out", "dout", "lse"], outs, ["sinks_gradient"] * self.sinks)
