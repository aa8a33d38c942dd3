"""The mixture-of-experts ops in NumPy float64, straight from their definitions,
and text of functions around single ops."""

import re

import numpy as np


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{d}x" for d in shape) + dtype + ">"


def static(text, arrays, results):
    """A function @NAME with the static shapes of `arrays` and `results` around the one of
    `text`, which is inlined: casts to dynamic shapes fold into its op."""
    head = re.search(r"@NAME\((.*?)\) -> \((.*?)\) \{", text)
    args = [arg.split(": ") for arg in head.group(1).split(", ")]
    outs = head.group(2).split(", ")

    def fixed(type_text, array):
        return tensor(np.shape(array), type_text.rstrip(">").split("x")[-1])

    wanted = [fixed(t, a) for (_, t), a in zip(args, arrays)]
    given = [fixed(t, e) for t, e in zip(outs, results)]
    lines = [f"%s{i} = tensor.cast {name} : {w} to {t}" for i, ((name, t), w) in enumerate(zip(args, wanted)) if w != t]
    names = [name if w == t else f"%s{i}" for i, ((name, t), w) in enumerate(zip(args, wanted))]
    types = ", ".join(t for _, t in args)
    count = f":{len(outs)}" if len(outs) > 1 else ""
    values = [f"%r#{i}" if count else "%r" for i in range(len(outs))]
    lines.append(f"%r{count} = call @NAME_dynamic({', '.join(names)}) : ({types}) -> ({', '.join(outs)})")
    for i, (t, g) in enumerate(zip(outs, given)):
        if t != g:
            lines.append(f"%o{i} = tensor.cast {values[i]} : {t} to {g}")
            values[i] = f"%o{i}"
    body = "\n  ".join(lines)
    inner = text.replace("func.func @NAME(", "func.func private @NAME_dynamic(")
    return f"""{inner}
func.func @NAME({', '.join(f'{name}: {w}' for (name, _), w in zip(args, wanted))}) -> ({', '.join(given)}) {{
  {body}
  return {', '.join(values)} : {', '.join(given)}
}}"""


def variants(seen, label, text, arrays, results, dtype):
    """(label, text) of a case: as it is and, the first time for its op, type and whether it
    has tokens, with static shapes."""
    yield label, text
    op = re.search(r"rudnn\.([a-z_.]+)", text).group(1)
    key = (op, dtype, np.size(arrays[0]) == 0)
    if "?" in text and np.size(arrays[0]) != 1 and key not in seen and np.shape(arrays[0])[0] < 100:
        seen.add(key)
        yield label + " (static)", static(text, arrays, results)


def function(op, ins, outs, attributes="", weights=0, bias=False):
    """A function @NAME around one op. `ins` are (shape, dtype) with "?" for dynamic
    extents; `outs` are (shape, dtype) where a dynamic extent is an MLIR index
    expression: (argument, dim) or (argument, dim, factor). `weights` of the last
    ins stand in a weights(..) clause, or `bias` one in bias(..)."""
    names = [f"%a{i}" for i in range(len(ins))]
    types = [tensor(shape, dtype) for shape, dtype in ins]
    lines, out_types, out_names = [], [], []
    for i, (shape, dtype) in enumerate(outs):
        sizes, extents = [], []
        for d, extent in enumerate(shape):
            if not isinstance(extent, tuple):
                extents.append(extent)
                continue
            arg, dim, factor = (*extent, 1)[:3]
            tag = f"%o{i}d{d}"
            lines += [f"{tag}c = arith.constant {dim} : index",
                      f"{tag}n = tensor.dim {names[arg]}, {tag}c : {types[arg]}",
                      f"{tag}f = arith.constant {factor} : index",
                      f"{tag} = arith.muli {tag}n, {tag}f : index"]
            sizes.append(tag)
            extents.append("?")
        out_types.append(tensor(extents, dtype))
        out_names.append(f"%o{i}")
        lines.append(f"%o{i} = tensor.empty({', '.join(sizes)}) : {out_types[-1]}")

    def group(keyword, start, end):
        return (f"{keyword}({', '.join(names[start:end])} : "
                f"{', '.join(types[start:end])})")

    extra = weights or int(bias)
    first = len(ins) - extra
    operands = group("ins", 0, first)
    if extra:
        operands += " " + group("bias" if bias else "weights", first, len(ins))
    results = ", ".join(out_types)
    count = f":{len(outs)}" if len(outs) > 1 else ""
    returned = ", ".join(f"%r#{i}" if count else "%r" for i in range(len(outs)))
    args = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
    body = "\n  ".join(lines)
    return f"""func.func @NAME({args}) -> ({results}) {{
  {body}
  %r{count} = rudnn.moe.{op} {operands}
      outs({', '.join(out_names)} : {results}) {{{attributes}}} -> {results}
  return {returned} : {results}
}}"""


def softmax(logits):
    with np.errstate(invalid="ignore"):
        top = np.max(logits, axis=1, keepdims=True)
        e = np.exp(logits - top)
        return e / e.sum(axis=1, keepdims=True)


def sigmoid(x):
    with np.errstate(over="ignore"):
        return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))),
                        np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def route(logits, k, renormalize):
    """ids, weights; ties to the lower expert; NaN rows take 0, 1, .."""
    p = softmax(logits.astype(np.float64))
    key = np.where(np.isnan(p), 0.0, p)
    ids = np.argsort(-key, axis=1, kind="stable")[:, :k]
    weights = np.take_along_axis(p, ids, 1)
    if renormalize:
        weights = weights / weights.sum(axis=1, keepdims=True)
    return ids.astype(np.int32), weights


def route_sigmoid_grouped(logits, bias, k, groups, selected, top_two, renormalize, scale):
    tokens, experts = logits.shape
    p = sigmoid(logits.astype(np.float64))
    choice = p if bias is None else p + bias.astype(np.float64)
    choice = np.where(np.isnan(choice), -np.inf, choice)
    blocks = np.sort(choice.reshape(tokens, groups, experts // groups), axis=2)
    score = blocks[:, :, -1]
    if top_two:
        score = score + blocks[:, :, -2]
    kept = np.argsort(-score, axis=1, kind="stable")[:, :selected]
    ids = np.zeros((tokens, k), np.int32)
    for t in range(tokens):
        allowed = [e for e in range(experts) if e // (experts // groups) in kept[t]]
        ids[t] = sorted(allowed, key=lambda e: (-choice[t, e], e))[:k]
    weights = np.take_along_axis(p, ids.astype(np.int64), 1)
    if renormalize:
        with np.errstate(invalid="ignore"):
            weights = weights / weights.sum(axis=1, keepdims=True)
    return ids, weights * scale


def dispatch(x, ids, experts):
    """values, offsets, slot_rows, row_slots, row_experts."""
    tokens, k = ids.shape
    flat = ids.reshape(-1).astype(np.int64)
    valid = (flat >= 0) & (flat < experts)
    order = np.argsort(np.where(valid, flat, experts), kind="stable")
    count = int(valid.sum())
    row_slots = np.where(np.arange(flat.size) < count, order, -1).astype(np.int32)
    slot_rows = np.full(flat.size, -1, np.int32)
    slot_rows[order[:count]] = np.arange(count)
    row_experts = np.where(row_slots >= 0, flat[order], -1).astype(np.int32)
    values = np.zeros((flat.size, x.shape[1]))
    values[:count] = x[order[:count] // k]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(flat[valid], minlength=experts))])
    return (values, offsets.astype(np.int32), slot_rows.reshape(tokens, k), row_slots,
            row_experts)


def silu(g):
    return g * sigmoid(g)


def experts(x, offsets, gate, up, down):
    x, gate, up, down = (a.astype(np.float64) for a in (x, gate, up, down))
    y = np.zeros_like(x)
    for e in range(len(gate)):
        rows = x[offsets[e]:offsets[e + 1]]
        y[offsets[e]:offsets[e + 1]] = (silu(rows @ gate[e].T) * (rows @ up[e].T)) @ down[e].T
    return y


def experts_backward(dy, x, offsets, gate, up, down):
    dy, x, gate, up, down = (a.astype(np.float64) for a in (dy, x, gate, up, down))
    dx = np.zeros_like(x)
    dgate, dup, ddown = np.zeros_like(gate), np.zeros_like(up), np.zeros_like(down)
    for e in range(len(gate)):
        rows = slice(offsets[e], offsets[e + 1])
        g, u = x[rows] @ gate[e].T, x[rows] @ up[e].T
        s = sigmoid(g)
        da = dy[rows] @ down[e]
        dg, du = da * u * s * (1 + g * (1 - s)), da * g * s
        dx[rows] = dg @ gate[e] + du @ up[e]
        dgate[e], dup[e], ddown[e] = dg.T @ x[rows], du.T @ x[rows], dy[rows].T @ (g * s * u)
    return dx, dgate, dup, ddown


def combine(y, slot_rows, weights):
    """weights None: dispatch_backward."""
    tokens, k = slot_rows.shape
    out = np.zeros((tokens, y.shape[1]))
    for t in range(tokens):
        for j in range(k):
            row = slot_rows[t, j]
            if 0 <= row < len(y):
                weight = 1.0 if weights is None else np.float64(weights[t, j])
                out[t] += weight * y[row].astype(np.float64)
    return out


def combine_backward(grad, y, slot_rows, row_slots, weights):
    k = slot_rows.shape[1]
    grad, y64, weights = (a.astype(np.float64) for a in (grad, y, weights))
    dy = np.zeros_like(y64)
    for row, slot in enumerate(row_slots):
        if 0 <= slot < slot_rows.size:
            dy[row] = weights[slot // k, slot % k] * grad[slot // k]
    dweights = np.zeros(slot_rows.shape)
    for (t, j), row in np.ndenumerate(slot_rows):
        if 0 <= row < len(y64):
            dweights[t, j] = grad[t] @ y64[row]
    return dy, dweights


def router(logits, ids, grad, scoring, renormalize, scale):
    """weights and dlogits for the gradient of the weights, from the Jacobian."""
    logits = logits.astype(np.float64)
    tokens, n = logits.shape
    p = softmax(logits) if scoring == "softmax" else sigmoid(logits)
    weights = np.full(ids.shape, np.nan)
    dlogits = np.full(logits.shape, np.nan)
    for t in range(tokens):
        if any(i < 0 or i >= n for i in ids[t]):
            continue
        selected = p[t, ids[t]]
        total = selected.sum() if renormalize else 1.0
        weights[t] = scale * selected / total
        # d weights[j] / d selected[i], then d selected[i] / d logits.
        jacobian = np.eye(len(selected)) / total
        if renormalize:
            jacobian = jacobian - np.outer(selected, np.ones(len(selected))) / total**2
        dselected = scale * jacobian.T @ grad[t].astype(np.float64)
        dp = np.zeros(n)
        np.add.at(dp, ids[t].astype(np.int64), dselected)
        if scoring == "softmax":
            dlogits[t] = p[t] * (dp - p[t] @ dp)
        else:
            dlogits[t] = p[t] * (1 - p[t]) * dp
    return weights, dlogits
