"""Paged attention in NumPy float64, row by row, and what the tests share.

Nothing here knows how the compiler cuts or orders the work: tokens that a row
sees are gathered into dense arrays and put through the textbook formulas.
"""

import numpy as np

NP_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.float32}


def stored(x, dtype):
    """x as the element type holds it (bf16 values in a float32 array)."""
    x = np.asarray(x, np.float32)
    if dtype == "f16":
        return x.astype(np.float16)
    if dtype == "bf16":
        bits = np.ascontiguousarray(x).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return np.where(np.isnan(x), np.float32(np.nan), rounded.view(np.float32))
    return x


class Pages:
    """Page tables and rows of a batch."""

    def __init__(self, page_size, pages, tables, lengths, ids, positions, width=None):
        self.page_size, self.pages = page_size, pages
        width = width or max([1] + [len(t) for t in tables])
        # Entries that no length needs hold what a careless scheduler leaves.
        self.tables = np.full((len(tables), width), -1, np.int32)
        for row, table in zip(self.tables, tables):
            row[: len(table)] = table
        self.lengths = np.array(lengths, np.int32)
        self.ids = np.array(ids, np.int32)
        self.positions = np.array(positions, np.int32)

    @property
    def rows(self):
        return len(self.ids)

    def operands(self):
        return [self.tables, self.lengths, self.ids, self.positions]

    def slot(self, sequence, token):
        return self.tables[sequence, token // self.page_size], token % self.page_size

    def seen(self, row, causal=False, left=None, right=None, **_):
        """Tokens that `row` sees, and their (page, slot)."""
        sequence, position = self.ids[row], self.positions[row]
        tokens = [
            t
            for t in range(self.lengths[sequence])
            if not (causal and t > position)
            and not (left is not None and t < position - left)
            and not (right is not None and t > position + right)
        ]
        return tokens, tuple(
            np.array([self.slot(sequence, t) for t in tokens], int).reshape(-1, 2).T
        )

    def live(self, **visible):
        """Which slots any row sees: bool [pages, page_size]."""
        live = np.zeros((self.pages, self.page_size), bool)
        for row in range(self.rows):
            live[self.seen(row, **visible)[1]] = True
        return live

    def poison(self, cache, **visible):
        """A copy of a cache with NaN in every slot that no row sees."""
        cache = np.array(cache)
        cache[~self.live(**visible)] = np.nan
        return cache


def ragged(page_size, lengths, queries, seed, spare_pages=2, spare_entries=1):
    """A random batch: sequences of these lengths on shuffled pages, `queries`
    rows per sequence at its last positions, rows in random order."""
    rng = np.random.default_rng(seed)
    needs = [-(-length // page_size) for length in lengths]
    pages = rng.permutation(sum(needs) + spare_pages)
    tables, start = [], 0
    for need in needs:
        tables.append(list(pages[start : start + need]))
        start += need
    ids, positions = [], []
    for sequence, (length, count) in enumerate(zip(lengths, queries)):
        ids += [sequence] * count
        positions += [max(0, length - count) + i for i in range(count)]
    order = rng.permutation(len(ids))
    return Pages(
        page_size,
        len(pages),
        tables,
        lengths,
        np.array(ids, int)[order],
        np.array(positions, int)[order],
        width=max([1] + needs) + spare_entries,
    )


def scores(rows, caches, head, slots, scale, softcap):
    """x[t] of one row and query head, in float64, before and after the cap."""
    x = 0
    for row, cache in zip(rows, caches):
        group = row.shape[0] // cache.shape[2]
        x = x + cache[slots][:, head // group].astype(np.float64) @ row[head].astype(np.float64)
    x = x * scale
    return x if softcap is None else softcap * np.tanh(x / softcap)


def attention(
    parts, values, pages, scale, causal=False, softcap=None, left=None, right=None, sinks=None
):
    """out [Q,Hq,Dv] and lse [Q,Hq]; parts: pairs of rows [Q,Hq,D] and cache."""
    heads = parts[0][0].shape[1]
    group = heads // values.shape[2]
    out = np.zeros((pages.rows, heads, values.shape[3]))
    lse = np.full((pages.rows, heads), -np.inf)
    for row in range(pages.rows):
        tokens, slots = pages.seen(row, causal, left, right)
        for head in range(heads):
            sink = -np.inf if sinks is None else float(sinks[head])
            lse[row, head] = sink
            if not tokens:
                continue
            x = scores([q[row] for q, _ in parts], [c for _, c in parts], head, slots, scale, softcap)
            top = max(x.max(), sink)
            weights = np.exp(x - top)
            total = weights.sum() + np.exp(sink - top)
            out[row, head] = weights / total @ values[slots][:, head // group].astype(np.float64)
            lse[row, head] = top + np.log(total)
    return out, lse


def page_types(pages, dynamic):
    """Types of the page operands."""
    s, w = pages.tables.shape
    q = pages.rows
    if dynamic:
        return ["tensor<?x?xi32>", "tensor<?xi32>", "tensor<?xi32>", "tensor<?xi32>"]
    return [f"tensor<{s}x{w}xi32>", f"tensor<{s}xi32>", f"tensor<{q}xi32>", f"tensor<{q}xi32>"]


def tensor_type(array, dtype, dynamic_dims=()):
    dims = ["?" if i in dynamic_dims else str(d) for i, d in enumerate(np.shape(array))]
    return f"tensor<{'x'.join(dims + [dtype])}>"


def op_text(name, ins, pages, outs, attributes="", sinks=None, dynamic=False):
    """A function around one op. ins and outs: lists of (array, dtype); Q, pages
    and the page size are dynamic on request. Arguments: ins, page operands,
    sinks, outs; results: the outs."""

    def types(pairs, caches):
        return [
            tensor_type(a, d, ((0, 1) if np.ndim(a) == 4 else (0,)) if dynamic else ())
            for a, d in pairs
        ]

    in_types, out_types = types(ins, True), types(outs, True)
    meta = page_types(pages, dynamic)
    sink_types = [] if sinks is None else [tensor_type(sinks, "f32")]
    arguments = [
        f"%{prefix}{i}: {t}"
        for prefix, group in (("i", in_types), ("p", meta), ("s", sink_types), ("o", out_types))
        for i, t in enumerate(group)
    ]
    names = lambda prefix, group: ", ".join(f"%{prefix}{i}" for i in range(len(group)))
    count = len(out_types)
    sink_text = f"sinks(%s0 : {sink_types[0]})" if sink_types else ""
    return f"""
func.func @NAME({', '.join(arguments)}) -> ({', '.join(out_types)}) {{
  %r:{count} = rudnn.paged.{name} ins({names('i', in_types)} : {', '.join(in_types)})
      pages({names('p', meta)} : {', '.join(meta)}) {sink_text}
      outs({names('o', out_types)} : {', '.join(out_types)}) {{{attributes}}}
      -> {', '.join(out_types)}
  return {', '.join(f'%r#{i}' for i in range(count))} : {', '.join(out_types)}
}}
"""


def attributes(scale, causal=False, softcap=None, left=None, right=None, **more):
    """The attribute dictionary that goes with the keywords of `attention`."""
    items = [f"scale = {scale!r} : f64"] if scale is not None else []
    items += ["causal"] if causal else []
    items += [f"softcap = {softcap!r} : f64"] if softcap is not None else []
    items += [f"window_left = {left}"] if left is not None else []
    items += [f"window_right = {right}"] if right is not None else []
    items += [f"{name} = {value}" for name, value in more.items()]
    return ", ".join(items)


class Program:
    """Runs tests whose functions are compiled as one module.

    The tests run twice: first to collect the texts (calls give NaN, nothing is
    checked), then with the compiled functions.
    """

    def __init__(self):
        self.texts, self.module, self.checks = {}, None, 0

    def call(self, text, arrays, outs):
        entry = self.texts.setdefault(text, f"f{len(self.texts)}")
        if self.module is None:
            return [np.full(np.shape(a), np.nan) for a, _ in outs]
        return self.module.call(entry, arrays)

    def run(self, tests):
        import rudnn_test

        tests = rudnn_test.selected_tests(tests)
        for test in tests:
            test()
        self.module = rudnn_test.Module(
            "\n".join(text.replace("@NAME", "@" + entry) for text, entry in self.texts.items())
        )
        for test in tests:
            before = self.checks
            test()
            print(f"{test.__name__}: {self.checks - before} checks")

    def require(self, holds, text):
        """`holds` may be an array."""
        if self.module is not None:
            self.checks += 1
            assert np.all(holds), text

    def check(self, name, actual, expected, rtol, atol):
        if self.module is not None:
            self.checks += 1
            check(name, actual, expected, rtol, atol)


def check(name, actual, expected, rtol, atol):
    """Raises with the first bad index; infinities must match exactly."""
    actual = np.asarray(actual, np.float64)
    assert actual.shape == expected.shape, f"{name}: shape {actual.shape}, expected {expected.shape}"
    with np.errstate(invalid="ignore"):
        good = (actual == expected) | (np.abs(actual - expected) <= atol + rtol * np.abs(expected))
    if not good.all():
        index = tuple(int(i) for i in np.argwhere(~good)[0])
        raise AssertionError(
            f"{name}: {int((~good).sum())} of {good.size} values differ, first at {index}: "
            f"{actual[index]}, expected {expected[index]}"
        )


def gradients(
    parts, values, grad, pages, scale, causal=False, softcap=None, left=None, right=None, sinks=None
):
    """Gradients of the row parts, the cache parts (without the value term), the
    values and the sinks, by the chain rule on dense arrays."""
    heads = parts[0][0].shape[1]
    group = heads // values.shape[2]
    d_rows = [np.zeros(q.shape) for q, _ in parts]
    d_caches = [np.zeros(c.shape) for _, c in parts]
    d_values, d_sinks = np.zeros(values.shape), np.zeros(heads)
    for row in range(pages.rows):
        tokens, slots = pages.seen(row, causal, left, right)
        if not tokens:
            continue
        for head in range(heads):
            kv = head // group
            x = scores([q[row] for q, _ in parts], [c for _, c in parts], head, slots, scale, softcap)
            sink = -np.inf if sinks is None else float(sinks[head])
            top = max(x.max(), sink)
            total = np.exp(x - top).sum() + np.exp(sink - top)
            p, p_sink = np.exp(x - top) / total, np.exp(sink - top) / total
            g = grad[row, head].astype(np.float64)
            dp = values[slots][:, kv].astype(np.float64) @ g
            mean = p @ dp
            ds = p * (dp - mean)
            if softcap is not None:
                ds = ds * (1 - (x / softcap) ** 2)
            ds = ds * scale
            d_sinks[head] -= p_sink * mean
            # A slot appears once among the tokens of one row.
            d_values[slots + (kv,)] += p[:, None] * g
            for (q, cache), dq, dc in zip(parts, d_rows, d_caches):
                dq[row, head] = ds @ cache[slots][:, kv].astype(np.float64)
                dc[slots + (kv,)] += ds[:, None] * q[row, head].astype(np.float64)
    return d_rows, d_caches, d_values, d_sinks
