# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_90a:1 RUDNN_TEST_REPEAT=3 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_80:1 RUDNN_TEST_REPEAT=2 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86 RUDNN_TEST_SAMPLE=2 %python %s
# RUN: env RUDNN_TEST_TARGET=emulate:sm_86:1 RUDNN_TEST_REPEAT=2 RUDNN_TEST_SAMPLE=2 %python %s
"""The schedule of matrix products in the emulator, with epilogues, against float64."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import rudnn_test

rng = np.random.default_rng(3)
suite = rudnn_test.Suite()

# What follows the f32 sum %s, as code with the f32 extras %e0, ..; their kinds; in NumPy.
EPILOGUES = {
    "none": ("", "%s", (), lambda s: s),
    "bias": ("%r = arith.addf %s, %e0 : f32", "%r", ("row",), lambda s, b: s + b),
    "bias_silu": ("""%x = arith.addf %s, %e0 : f32
    %m = arith.negf %x : f32
    %p = math.exp %m : f32
    %one = arith.constant 1.0 : f32
    %q = arith.addf %p, %one : f32
    %r = arith.divf %x, %q : f32""", "%r", ("row",), lambda s, b: (s + b) / (1 + np.exp(-s - b))),
    "residual": ("%r = arith.addf %s, %e0 : f32", "%r", ("full",), lambda s, x: s + x),
    "silu_mul": ("""%m = arith.negf %s : f32
    %p = math.exp %m : f32
    %one = arith.constant 1.0 : f32
    %q = arith.addf %p, %one : f32
    %y = arith.divf %s, %q : f32
    %r = arith.mulf %y, %e0 : f32""", "%r", ("full",), lambda s, x: s / (1 + np.exp(-s)) * x),
}


def check(m, n, k, epilogue="none", transposed=False, dtype="bf16", batch=None, dynamic=False):
    outer = () if batch is None else (batch,)
    code, value, kinds, formula = EPILOGUES[epilogue]

    def shaped(word, shape, element=dtype):
        dims = ["?" if dynamic and d == len(shape) - 2 else str(n) for d, n in enumerate(shape)]
        return f"{word}<{'x'.join(dims + [element])}>"

    shapes = {"a": (*outer, m, k), "b": (*outer, *((n, k) if transposed else (k, n)))}
    for i, kind in enumerate(kinds):
        shapes[f"e{i}"] = (n,) if kind == "row" else (*outer, m, n)
    arrays = {name: rudnn_test.cast(rng.standard_normal(shape), "f32" if shape == (n,) else dtype)
              for name, shape in shapes.items()}
    element = {name: "f32" if shape == (n,) else dtype for name, shape in shapes.items()}
    out = (*outer, m, n)
    size = f"  %c = arith.constant {len(out) - 2} : index\n  %rows = tensor.dim %in_a, %c : " \
        f"{shaped('tensor', shapes['a'])}\n" if dynamic else ""
    extras = [x for x in shapes if x.startswith("e")]
    wide = "\n    ".join(f"%{x} = arith.extf %n{x} : {element[x]} to f32" for x in extras
                         if element[x] != "f32")
    arguments = "".join(f", %{'' if element[x] == 'f32' else 'n'}{x}: {element[x]}" for x in extras)
    uses = f" extras({', '.join('%in_' + x for x in extras)} : " \
        f"{', '.join(shaped('tensor', shapes[x], element[x]) for x in extras)})" if extras else ""
    text = f"""func.func @NAME({', '.join(f'%in_{x}: {shaped("tensor", s, element[x])}' for x, s in shapes.items())}) -> {shaped('tensor', out)} {{
{size}  %d = tensor.empty({'%rows' if dynamic else ''}) : {shaped('tensor', out)}
  %result = rudnn_tile.gemm ins(%in_a, %in_b : {shaped('tensor', shapes['a'])}, {shaped('tensor', shapes['b'])}){uses}
      outs(%d : {shaped('tensor', out)}) {'transpose_b' if transposed else ''} epilogue {{
  ^bb0(%s: f32{arguments}):
    {wide}
    {code}
    %t = arith.truncf {value} : f32 to {dtype}
    rudnn_tile.yield %t : {dtype}
  }} -> {shaped('tensor', out)}
  return %result : {shaped('tensor', out)}
}}"""
    a, b = (arrays[x].astype(np.float64) for x in "ab")
    product = a @ (np.swapaxes(b, -1, -2) if transposed else b)
    expected = formula(product, *(arrays[x].astype(np.float64) for x in extras))
    suite.add(f"{m} x {n} x {k} {epilogue} {dtype} transposed={transposed} batch={batch}", text,
              list(arrays.values()), [expected], rudnn_test.RTOL[dtype],
              rudnn_test.ATOL[dtype] * k**0.5)


check(128, 256, 128, transposed=True)
check(130, 264, 200, transposed=True)  # tails in every dim, two column tiles
check(65, 72, 40, dtype="f16")
check(1, 8, 8)
check(300, 136, 328)  # more steps than stages
check(70, 264, 72, dynamic=True)
for batch, epilogue in enumerate(EPILOGUES):
    check(130, 136, 72, epilogue, transposed=batch % 2 == 0)
check(70, 72, 72, "residual", batch=3, dtype="f16")
check(70, 72, 72, transposed=True, batch=2)
# Few tiles: parts of the depth, which a second kernel adds.
check(16, 72, 1024, "bias_silu", transposed=True)
check(3, 1032, 1536, "residual", dtype="f16")

suite.run()
