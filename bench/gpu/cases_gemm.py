"""Matrix products: linalg.matmul with elementwise code behind it."""

# Name, rows, columns, depth, [N, K] right operand, epilogue.
BENCH = [(f"{epilogue or ('nt' if transposed else 'nn')}_{size}", size, size, size, transposed, epilogue)
         for size in (4096, 8192)
         for transposed, epilogue in ((True, ""), (False, ""), (True, "silu"), (True, "gelu"),
                                      (True, "residual"), (True, "swiglu"))]
# Rows, columns, depth of a transformer's products, [N, K] right operand (a group of its own).
SHAPES = [(f"{dtype}_{rows}_{columns}_{depth}", rows, columns, depth, dtype)
          for dtype in ("bf16", "f16") for columns, depth in ((4096, 4096), (14336, 4096), (4096, 14336))
          for rows in ((16, 64, 128, 256, 512, 1024, 2048, 4096, 16384) if dtype == "bf16" else (16, 4096))]
# Batch, rows, columns, depth of a batch of products, [K, N] right operand.
BATCHES = [(f"batch_{n}_{size}_{depth}", n, size, size, depth)
           for n, size, depth in ((32, 1024, 128), (32, 2048, 2048), (256, 256, 256))]
# Columns, depth, right operand as [N, K], epilogue, type, type of the result; rows are dynamic.
CHECK = [(256, 64, True, "", "bf16", "bf16"), (8, 8, False, "", "bf16", "bf16"),
         (264, 72, False, "silu", "bf16", "bf16"), (520, 1000, True, "gelu", "f16", "f16"),
         (128, 256, True, "residual", "bf16", "bf16"), (1000, 520, False, "swiglu", "bf16", "bf16"),
         (8, 256, False, "", "bf16", "f32"), (333, 128, True, "silu", "f16", "f16"),
         (1, 64, True, "", "bf16", "f32"), (512, 4096, True, "tanh", "bf16", "f32")]
ROWS = (0, 1, 63, 128, 129, 1000)

# The epilogue's inputs besides the product, and its code.
EPILOGUES = {
    "": ((), ""),
    "silu": (("row",), """
    %z = arith.addf %p, %e0 : f32
    %n = arith.negf %z : f32
    %u = math.exp %n : f32
    %d = arith.addf %u, %one : f32
    %r = arith.divf %z, %d : f32"""),
    "gelu": (("row",), """
    %z = arith.addf %p, %e0 : f32
    %s = arith.mulf %z, %rsqrt2 : f32
    %u = math.erf %s : f32
    %d = arith.addf %u, %one : f32
    %h = arith.mulf %z, %half : f32
    %r = arith.mulf %h, %d : f32"""),
    "tanh": (("row",), """
    %z = arith.addf %p, %e0 : f32
    %r = math.tanh %z : f32"""),
    "residual": (("full",), """
    %r = arith.addf %p, %e0 : f32"""),
    "swiglu": (("full",), """
    %n = arith.negf %p : f32
    %u = math.exp %n : f32
    %d = arith.addf %u, %one : f32
    %g = arith.divf %p, %d : f32
    %r = arith.mulf %g, %e0 : f32"""),
}


def text(name, rows, columns, depth, transposed, epilogue, dtype="bf16", result=None):
    """linalg.matmul and an elementwise linalg.generic; rows None: dynamic."""
    result = result or dtype
    m = "?" if rows is None else rows
    a, b = f"tensor<{m}x{depth}x{dtype}>", f"tensor<{depth}x{columns}x{dtype}>"
    maps = ""
    if transposed:
        b = f"tensor<{columns}x{depth}x{dtype}>"
        maps = ("indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
                "affine_map<(m, n, k) -> (m, n)>]")
    wide, d = f"tensor<{m}x{columns}xf32>", f"tensor<{m}x{columns}x{result}>"
    kinds, code = EPILOGUES[epilogue]
    extras = [f"tensor<{columns}x{dtype}>" if kind == "row" else f"tensor<{m}x{columns}x{dtype}>"
              for kind in kinds]
    extra_args = "".join(f", %x{i}: {t}" for i, t in enumerate(extras))
    size = "%m" if rows is None else ""
    full, row = "affine_map<(m, n) -> (m, n)>", "affine_map<(m, n) -> (n)>"
    extra_maps = "".join(", " + (row if kind == "row" else full) for kind in kinds)
    widen = "".join(f"\n    %e{i} = arith.extf %y{i} : {dtype} to f32" for i in range(len(kinds)))
    last = "%r" if code else "%p"
    tail = f"linalg.yield {last} : f32" if result == "f32" else (
        f"%t = arith.truncf {last} : f32 to {result}\n    linalg.yield %t : {result}")
    return f"""
func.func @{name}(%a: {a}, %b: {b}{extra_args}) -> {d} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %rsqrt2 = arith.constant 0.70710678 : f32
  %m = tensor.dim %a, %c0 : {a}
  %w = tensor.empty({size}) : {wide}
  %f = linalg.fill ins(%zero : f32) outs(%w : {wide}) -> {wide}
  %q = linalg.matmul {maps} ins(%a, %b : {a}, {b}) outs(%f : {wide}) -> {wide}
  %i = tensor.empty({size}) : {d}
  %o = linalg.generic {{indexing_maps = [{full}{extra_maps}, {full}], iterator_types = ["parallel", "parallel"]}}
      ins(%q{''.join(f', %x{i}' for i in range(len(kinds)))} : {', '.join([wide] + extras)}) outs(%i : {d}) {{
  ^bb0(%p: f32{''.join(f', %y{i}: {dtype}' for i in range(len(kinds)))}, %old: {result}):{widen}{code}
    {tail}
  }} -> {d}
  return %o : {d}
}}"""


def batch_text(name, batch, rows, columns, depth):
    """linalg.batch_matmul, rounded to bf16."""
    a, b = f"tensor<{batch}x{rows}x{depth}xbf16>", f"tensor<{batch}x{depth}x{columns}xbf16>"
    wide, d = (f"tensor<{batch}x{rows}x{columns}x{t}>" for t in ("f32", "bf16"))
    full = "affine_map<(n, i, j) -> (n, i, j)>"
    return f"""
func.func @{name}(%a: {a}, %b: {b}) -> {d} {{
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : {wide}
  %f = linalg.fill ins(%zero : f32) outs(%w : {wide}) -> {wide}
  %q = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs(%f : {wide}) -> {wide}
  %i = tensor.empty() : {d}
  %o = linalg.generic {{indexing_maps = [{full}, {full}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%q : {wide}) outs(%i : {d}) {{
  ^bb0(%p: f32, %old: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  }} -> {d}
  return %o : {d}
}}"""


def _name(case):
    columns, depth, transposed, epilogue, dtype, result = case
    return f"product_{columns}_{depth}_{'nt' if transposed else 'nn'}_{epilogue or 'plain'}_{dtype}_{result}"


def sources():
    return {"products": "".join(text(_name(case), None, *case) for case in CHECK),
            "products_bench": "".join(text(*case) for case in BENCH),
            "products_shapes": "".join(
                text(name, rows, columns, depth, True, "", dtype)
                for name, rows, columns, depth, dtype in SHAPES)
            + "".join(batch_text(*case) for case in BATCHES)}


def operands(rows, columns, depth, transposed, epilogue, dtype):
    import torch
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]

    def randn(*shape):
        return torch.randn(*shape, device="cuda").to(kind)

    b = randn(columns, depth) if transposed else randn(depth, columns)
    extras = [randn(columns) if e == "row" else randn(rows, columns) for e in EPILOGUES[epilogue][0]]
    return [randn(rows, depth), b / depth ** 0.5] + extras


def reference(a, b, extras, transposed, epilogue):
    """In the type of the operands: float64 as the truth, 16 bits as the peer."""
    import torch
    f = torch.nn.functional
    right = b.t() if transposed else b
    if epilogue in ("silu", "gelu", "tanh"):
        p = torch.addmm(extras[0], a, right)
        return f.silu(p) if epilogue == "silu" else f.gelu(p) if epilogue == "gelu" else torch.tanh(p)
    if epilogue == "residual":
        return torch.addmm(extras[0], a, right)
    p = torch.mm(a, right)
    return f.silu(p) * extras[0] if epilogue else p


def _check(folder, checker):
    import torch
    from artifact import Artifact
    artifact = Artifact(folder / "products.so")
    for case in CHECK:
        columns, depth, transposed, epilogue, dtype, result = case
        for rows in ROWS:
            a, b, *extras = operands(rows, columns, depth, transposed, epilogue, dtype)
            call = artifact.bind(_name(case), a, b, *extras)
            out, = call()
            torch.cuda.synchronize()
            expected = reference(a.double(), b.double(), [e.double() for e in extras], transposed, epilogue)
            bits = {"f32": 17, "f16": 10, "bf16": 7}[result]
            scale = expected.abs().max().item() if expected.numel() else 0.0
            label = f"{_name(case)} rows={rows}"
            checker.compare(label, out, expected, scale * 2.0 ** -bits + 1e-5)
            checker.repeats(label, call)


def _bench(folder, results, sustained):
    """The peer: cuBLAS through torch, with a kernel for what cuBLAS can't add."""
    import peers
    from artifact import Artifact
    from runner import interleaved, report
    artifact = Artifact(folder / "products_bench.so")
    for name, rows, columns, depth, transposed, epilogue in BENCH:
        a, b, *extras = operands(rows, columns, depth, transposed, epilogue, "bf16")
        contestants = {"rudnn": artifact.bind(name, a, b, *extras)}
        if epilogue == "silu":
            contestants.update(peers.bias_silu(a, b, *extras))
        else:
            contestants["torch"] = lambda: reference(a, b, extras, transposed, epilogue)
        report(results, f"gemm_{name}", interleaved(contestants, sustained=sustained),
               2 * rows * columns * depth / 1e12, "TFLOP/s")


def _bench_shapes(folder, results, sustained):
    import torch
    from artifact import Artifact
    from runner import interleaved, report
    artifact = Artifact(folder / "products_shapes.so")
    for name, rows, columns, depth, dtype in SHAPES:
        a, b = operands(rows, columns, depth, True, "", dtype)
        contestants = {"rudnn": artifact.bind(name, a, b), "torch": lambda: torch.mm(a, b.t())}
        report(results, f"gemm_{name}", interleaved(contestants, sustained=sustained),
               2 * rows * columns * depth / 1e12, "TFLOP/s")
    for name, batch, rows, columns, depth in BATCHES:
        a = torch.randn(batch, rows, depth, device="cuda").bfloat16()
        b = torch.randn(batch, depth, columns, device="cuda").bfloat16()
        contestants = {"rudnn": artifact.bind(name, a, b), "torch": lambda: torch.bmm(a, b)}
        report(results, f"gemm_{name}", interleaved(contestants, sustained=sustained),
               2 * batch * rows * columns * depth / 1e12, "TFLOP/s")


CHECKS = {"gemm": _check}
BENCHES = {"gemm": _bench, "gemm_shapes": _bench_shapes}
