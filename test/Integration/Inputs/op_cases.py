"""One small static case of every op, with random operands."""

import re

import numpy as np

import rudnn_test

rng = np.random.default_rng(17)


class Case:
    """An op on tensors. `clauses` are (keyword, operands), an operand an array of f32, i1
    or i32; `outs` are shapes of f32, (shape, dtype) or an array that is read and written. `tiles` are tile sizes of its
    loops."""

    def __init__(self, op, tiles, clauses, outs, attributes=""):
        self.op, self.tiles, self.arrays, self.parameters = op, tiles, [], []
        text = " ".join(f"{keyword}({self.group(operands)})" for keyword, operands in clauses)
        self.outs = []
        for out in outs:
            if isinstance(out, np.ndarray):
                self.outs.append(out)
                continue
            shape, dtype = out if isinstance(out[-1], str) else (out, "f32")
            self.outs.append(np.full(shape, -7, rudnn_test.numpy_type(dtype)))
        inits = self.group(self.outs)
        results = inits.split(" : ")[1]
        returned = ", ".join(f"%r#{i}" if len(outs) > 1 else "%r" for i in range(len(outs)))
        count = f":{len(outs)}" if len(outs) > 1 else ""
        self.text = f"""func.func @whole({', '.join(self.parameters)}) -> ({results}) {{
  %r{count} = rudnn.{op} {text} outs({inits}) {{{attributes}}} -> {results}
  return {returned} : {results}
}}
"""

    def group(self, operands):
        names, types = [], []
        for array in operands:
            dtype = {"float32": "f32", "bool": "i1", "int32": "i32"}[array.dtype.name]
            names.append(f"%a{len(self.arrays)}")
            types.append("tensor<" + "".join(f"{n}x" for n in array.shape) + dtype + ">")
            self.parameters.append(f"{names[-1]}: {types[-1]}")
            self.arrays.append(array)
        return ", ".join(names) + " : " + ", ".join(types)

    def dynamic(self, operand):
        """The function @dynamic, which has operand number `operand` with dynamic extents; a 1,
        which may be broadcast, stays."""
        name = f"%a{operand}"
        old = self.parameters[operand].split(": ")[1]
        *extents, dtype = old[len("tensor<"):-1].split("x")
        new = "tensor<" + "".join("1x" if n == "1" else "?x" for n in extents) + dtype + ">"

        def clause(match):
            names, types = match.group(2).split(", "), match.group(3).split(", ")
            types = [new if n == name else t for n, t in zip(names, types)]
            return f"{match.group(1)}({', '.join(names)} : {', '.join(types)})"

        parameters = list(self.parameters)
        parameters[operand] = f"{name}: {new}"
        types = [p.split(": ")[1] for p in parameters]
        results = ", ".join(types[len(types) - len(self.outs):])
        _, op, returned, _, _ = self.text.split("\n")
        op = re.sub(r"(\w+)\((%[^:()]*) : ([^()]*)\)", clause, op)
        op = re.sub(r"-> tensor<.*", f"-> {results}", op)
        returned = re.sub(r" : .*", f" : {results}", returned)
        return f"func.func @dynamic({', '.join(parameters)}) -> ({results}) {{\n{op}\n{returned}\n}}\n"


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ids(*values):
    return np.array(values, np.int32)


rows, gamma, beta = normal(5, 7, 16), normal(16), normal(16)
cases = [
    Case("rms_norm", (2, 3), [("ins", [rows, gamma])], [rows.shape]),
    Case("layer_norm", (2, 3), [("ins", [rows, gamma]), ("beta", [beta])], [rows.shape]),
    Case("softmax", (2, 3), [("ins", [rows])], [rows.shape]),
]

# Attention: 6 query heads over 2 key heads, 7 queries over 10 keys.
q, k, v = normal(3, 6, 7, 8), normal(3, 2, 10, 8), normal(3, 2, 10, 5)
mask, bias, sinks = rng.random((3, 1, 7, 10)) < 0.2, normal(1, 6, 7, 10), normal(6)
options = [("mask", [mask]), ("bias", [bias]), ("sinks", [sinks])]
causal = "causal = #rudnn.causal<bottom_right>, window_left = 6"
out_shapes = [(3, 6, 7, 5), (3, 6, 7)]
for tiles in ((2, 1, 3), (1, 3, 7), (3, 6, 2)):
    cases.append(Case("attention", tiles, [("ins", [q, k, v]), *options], out_shapes, causal))
cases.append(Case("attention_backward", (2, 1), [
    ("ins", [q, k, v, normal(3, 6, 7, 5), normal(3, 6, 7, 5), normal(3, 6, 7)]), *options],
    [q.shape, k.shape, v.shape], causal))
cases.append(Case("merge_attention_states", (2, 4, 3), [
    ("states", [normal(3, 6, 7, 5), normal(3, 6, 7, 5)]), ("lses", [normal(3, 6, 7), normal(3, 6, 7)])], out_shapes))

# Paged: 5 rows of 3 sequences, one without a history; pages of 3 tokens.
pages = [ids([4, 1, 0], [2, 3, 0], [0, 0, 0]), ids(8, 4, 0), ids(0, 1, 0, 2, 1), ids(7, 3, 2, 0, 1)]
q, k, v = normal(5, 6, 8), normal(5, 3, 2, 8), normal(5, 3, 2, 4)
grad, latent, rotary = normal(5, 6, 4), normal(5, 3, 1, 8), normal(5, 3, 1, 3)
cases += [
    Case("paged.attention", (2, 1), [("ins", [q, k, v]), ("pages", pages), ("sinks", [sinks])],
         [(5, 6, 4), (5, 6)], "causal, num_splits = 2"),
    Case("paged.mla", (2, 3), [("ins", [q, normal(5, 6, 3), latent, rotary]), ("pages", pages)],
         [q.shape], "causal, scale = 0.3 : f64"),
    Case("paged.append", (1,), [("ins", [normal(2, 2, 8), normal(2, 2, 4)]),
                                ("pages", pages[:2] + [ids(0, 1), ids(7, 3)])], [k, v]),
    Case("paged.attention_backward", (1,), [("ins", [q, k, v, grad]), ("pages", pages), ("sinks", [sinks])],
         [q.shape, k.shape, v.shape, (6,)], "causal, gradients = #rudnn.paged_gradients<dq|dk|dv|dsinks>"),
    Case("paged.attention_backward", (2, 1), [("ins", [q, k, v, grad]), ("pages", pages)],
         [q.shape], "causal, gradients = #rudnn.paged_gradients<dq>"),
    Case("paged.mla_backward", (2, 3), [
        ("ins", [q, normal(5, 6, 3), latent, rotary, normal(5, 6, 8)]), ("pages", pages)],
        [q.shape, (5, 6, 3)], "causal, scale = 0.3 : f64, gradients = #rudnn.paged_gradients<dq|dqp>"),
]

# Mixture of experts: 7 tokens, 8 experts, 2 of them per token.
logits, chosen = normal(7, 8), ids(*rng.integers(0, 8, (7, 2)))
slot_rows = rng.permutation(14).reshape(7, 2).astype(np.int32)
slot_rows[3, 1] = -1
weights, y = normal(7, 2), normal(14, 9)
offsets = ids(0, 3, 3, 9, 12)
cases += [
    Case("moe.route", (3,), [("ins", [logits])], [((7, 2), "i32"), (7, 2)], "renormalize"),
    Case("moe.route_sigmoid_grouped", (3,), [("ins", [logits]), ("bias", [normal(8)])], [((7, 2), "i32"), (7, 2)],
         "groups = 4, selected_groups = 2, group_top_two"),
    Case("moe.experts", (5,), [("ins", [y, offsets]), ("weights", [normal(4, 6, 9), normal(4, 6, 9), normal(4, 9, 6)])],
         [y.shape]),
    Case("moe.combine", (3, 4), [("ins", [y, slot_rows, weights])], [(7, 9)]),
    Case("moe.router_weights", (3,), [("ins", [logits, chosen])], [(7, 2)], "renormalize"),
    Case("moe.router_backward", (3,), [("ins", [logits, chosen, weights])], [(7, 8)]),
    Case("moe.dispatch_backward", (3, 4), [("ins", [y, slot_rows])], [(7, 9)]),
]

# Gated delta rule: 3 batches, 3 heads.
delta = [normal(3, 3, 7, 4), 0.3 * normal(3, 3, 7, 4), normal(3, 3, 7, 5), rng.random((3, 3, 7)).astype(np.float32),
         -rng.random((3, 3, 7)).astype(np.float32), normal(3, 3, 4, 5)]
grouped = [normal(3, 4, 7, 5), rng.random((3, 4, 7)).astype(np.float32), -rng.random((3, 4, 7)).astype(np.float32),
           normal(3, 4, 4, 5)]
cases += [
    Case("gated_delta_rule", (2, 1), [("ins", delta)], [(3, 3, 7, 5), (3, 3, 4, 5)]),
    Case("gated_delta_rule", (2, 1), [("ins", [normal(3, 2, 7, 4), 0.3 * normal(3, 2, 7, 4), *grouped])],
         [(3, 4, 7, 5), (3, 4, 4, 5)]),
    Case("chunk_gated_delta_rule", (2, 1), [("ins", delta)], [(3, 3, 7, 5), (3, 3, 4, 5)], "chunk_size = 3"),
]

# Convolution: batch and channels.
x, w, dy = normal(3, 4, 9, 8), normal(5, 4, 3, 2), normal(3, 5, 5, 4)
geometry = "stride = array<i64: 2, 2>, padding = array<i64: 1, 0, 1, 0>"
cases += [
    Case("conv", (2, 1), [("ins", [x, w]), ("bias", [normal(5)])], [dy.shape], geometry),
    Case("conv_data_backward", (2, 2), [("ins", [dy, w])], [x.shape], geometry),
    Case("conv_weight_backward", (1, 2), [("ins", [x, dy])], [w.shape], geometry),
]

# Ops without loops of their own.
untiled = [
    Case("moe.dispatch", (), [("ins", [normal(7, 9), chosen])],
         [((14, 9), "f32"), ((9,), "i32"), ((7, 2), "i32"), ((14,), "i32"), ((14,), "i32")]),
    Case("moe.combine_backward", (), [
        ("ins", [normal(7, 9), y, slot_rows, rng.permutation(14).astype(np.int32), weights])], [y.shape, (7, 2)]),
    Case("moe.experts_backward", (), [
        ("ins", [y, normal(14, 9), offsets]), ("weights", [normal(4, 6, 9), normal(4, 6, 9), normal(4, 9, 6)])],
        [y.shape, (4, 6, 9), (4, 6, 9), (4, 9, 6)]),
    Case("paged.plan", (), [("ins", [ids(8, 4, 0), ids(0, 1, 0, 2, 1), ids(7, 3, 2, 0, 1)])],
         [((5, 5), "i32"), ((3, 3), "i32"), ((2,), "i32")], "tile_tokens = 2"),
]
