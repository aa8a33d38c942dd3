# RUN: %python %s
"""Extents that don't fit together, known only when the code runs: rudnn-run ends with status 1
and a line that names the op, the operand, its extent and what it must be."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import rudnn_test

F, I = "xf32", "xi32"


def dynamic(rank, element=F):
    return "tensor<" + "x".join("?" * rank) + element + ">"


class Op:
    """An op whose operands have the given types; clauses are (keyword, first, last)."""

    def __init__(self, name, types, clauses, outs, attributes=""):
        def group(first, last):
            names = ", ".join(f"%a{i}" for i in range(first, last))
            return f"{names} : {', '.join(types[first:last])}"

        text = " ".join(f"{word}({group(first, last)})" for word, first, last in clauses)
        results = ", ".join(types[outs:])
        count = len(types) - outs
        returned = ", ".join(f"%r#{i}" if count > 1 else "%r" for i in range(count))
        args = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
        self.types = types
        self.text = f"""func.func @f({args}) -> ({results}) {{
  %r{f':{count}' if count > 1 else ''} = rudnn.{name} {text} outs({group(outs, len(types))}) {{{attributes}}} -> {results}
  return {returned} : {results}
}}
"""

    def run(self, shapes, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(self.text)
            file.flush()
            args = []
            for i, (shape, type_text) in enumerate(zip(shapes.split(), self.types)):
                value = "const:0" if "i32" in type_text else "const:1"
                args.append(f"--arg={i}:{value}@{shape}" if shape != "-" else f"--arg={i}:{value}")
            return subprocess.run([rudnn_test.tool("rudnn-run"), file.name, "-O0", *args, *options],
                                  capture_output=True, text=True, timeout=120)


failures = count = 0


def check(op, shapes, message):
    """With `message` None the shapes fit."""
    global failures, count
    count += 1
    done = op.run(shapes)
    lines = done.stderr.splitlines()
    good = done.returncode == 0 if message is None else done.returncode == 1 and message in lines
    if not good:
        failures += 1
        print(f"FAILED {op.text}{shapes}: status {done.returncode}, expected '{message}'\n{done.stderr[:1000]}")


x, row = dynamic(2), dynamic(1)
norm = Op("rms_norm", [x, row, x], [("ins", 0, 2)], 2)
check(norm, "4x8 8 4x8", None)
check(norm, "0x8 8 0x8", None)
check(norm, "4x8 5 4x8", "rudnn.rms_norm: gamma[dim 0] is 5, expected 8, the extent of x[dim 1]")
check(norm, "4x8 8 3x8", "rudnn.rms_norm: outs[0][dim 0] is 3, expected 4, the extent of x[dim 0]")
layer = Op("layer_norm", [x, "tensor<8xf32>", row, x], [("ins", 0, 2), ("beta", 2, 3)], 3)
check(layer, "4x8 - 7 4x8", "rudnn.layer_norm: beta[dim 0] is 7, expected 8, the extent of gamma[dim 0]")
check(layer, "4x7 - 7 4x7", "rudnn.layer_norm: gamma[dim 0] is 8, expected 7, the extent of x[dim 1]")
check(Op("softmax", [x, x], [("ins", 0, 1)], 1), "4x8 4x9",
      "rudnn.softmax: outs[0][dim 1] is 9, expected 8, the extent of x[dim 1]")

q, k, lse = "tensor<?x4x?x8xf32>", "tensor<?x2x?x8xf32>", "tensor<?x4x?xf32>"
attention = Op("attention", [q, k, k, dynamic(4, "xi1"), q, lse], [("ins", 0, 3), ("mask", 3, 4)], 4)
check(attention, "2x4x3x8 2x2x5x8 2x2x5x8 2x4x3x5 2x4x3x8 2x4x3", None)
check(attention, "2x4x3x8 2x2x5x8 2x2x6x8 2x4x3x5 2x4x3x8 2x4x3",
      "rudnn.attention: v[dim 2] is 6, expected 5, the extent of k[dim 2]")
check(attention, "2x4x3x8 1x2x5x8 2x2x5x8 2x4x3x5 2x4x3x8 2x4x3",
      "rudnn.attention: k[dim 0] is 1, expected 2, the extent of q[dim 0]")
check(attention, "2x4x3x8 2x2x5x8 2x2x5x8 2x1x3x5 2x4x3x8 2x4x3",
      "rudnn.attention: mask[dim 1] is 1, expected 4, the extent of q[dim 1]")
check(attention, "2x4x3x8 2x2x5x8 2x2x5x8 2x4x3x5 2x4x3x8 2x4x2",
      "rudnn.attention: lse[dim 2] is 2, expected 3, the extent of q[dim 2]")
backward = Op("attention_backward", [q, k, k, q, q, lse, q, k, k], [("ins", 0, 6)], 6)
check(backward, "2x4x3x8 2x2x5x8 2x2x5x8 2x4x3x8 2x4x3x8 2x4x3 2x4x3x8 2x2x5x8 2x2x4x8",
      "rudnn.attention_backward: dv[dim 2] is 4, expected 5, the extent of k[dim 2]")
merge = Op("merge_attention_states", [q, q, lse, lse, q, lse], [("states", 0, 2), ("lses", 2, 4)], 4)
check(merge, "2x4x3x8 2x4x4x8 2x4x3 2x4x3 2x4x3x8 2x4x3",
      "rudnn.merge_attention_states: states[1][dim 2] is 4, expected 3, the extent of states[0][dim 2]")

delta = Op("gated_delta_rule", ["tensor<?x2x?x4xf32>"] * 3 + ["tensor<?x2x?xf32>"] * 2 + ["tensor<?x2x4x4xf32>"]
           + ["tensor<?x2x?x4xf32>", "tensor<?x2x4x4xf32>"], [("ins", 0, 6)], 6)
check(delta, "1x2x5x4 1x2x5x4 1x2x5x4 1x2x5 1x2x4 1x2x4x4 1x2x5x4 1x2x4x4",
      "rudnn.gated_delta_rule: log_decay[dim 2] is 4, expected 5, the extent of q[dim 2]")

image, weight = "tensor<?x3x?x?xf32>", "tensor<4x3x3x2xf32>"
conv = Op("conv", [image, weight, "tensor<?x4x?x?xf32>"], [("ins", 0, 2)], 2, "stride = array<i64: 2, 1>")
check(conv, "2x3x8x5 - 2x4x3x4", None)
check(conv, "2x3x8x5 - 2x4x4x4",
      "rudnn.conv: y[dim 2] is 4, expected 3, what x[dim 2] gives")
check(conv, "2x3x2x5 - 2x4x1x4",
      "rudnn.conv: x[dim 2] with its padding is 2, expected at least 3, the reach of the kernel")
data = Op("conv_data_backward", ["tensor<?x4x?x?xf32>", weight, image], [("ins", 0, 2)], 2)
check(data, "2x4x6x4 - 3x3x8x5",
      "rudnn.conv_data_backward: dy[dim 0] is 2, expected 3, the extent of dx[dim 0]")
weights = Op("conv_weight_backward", [image, "tensor<?x4x?x?xf32>", weight], [("ins", 0, 2)], 2)
check(weights, "2x3x8x5 2x4x6x5 -",
      "rudnn.conv_weight_backward: dy[dim 3] is 5, expected 4, what x[dim 3] gives")

pages = [dynamic(2, I), dynamic(1, I), dynamic(1, I), dynamic(1, I)]
cache, rows = "tensor<?x?x2x8xf32>", "tensor<?x4x8xf32>"
paged = Op("paged.attention", [rows, cache, cache, *pages, rows], [("ins", 0, 3), ("pages", 3, 7)], 7)
check(paged, "3x4x8 5x4x2x8 5x4x2x8 2x3 2 3 3 3x4x8", None)
check(paged, "3x4x8 5x4x2x8 5x3x2x8 2x3 2 3 3 3x4x8",
      "rudnn.paged.attention: v[dim 1] is 3, expected 4, the extent of k[dim 1]")
check(paged, "3x4x8 5x4x2x8 5x4x2x8 2x3 1 3 3 3x4x8",
      "rudnn.paged.attention: lengths[dim 0] is 1, expected 2, the extent of tables[dim 0]")
check(paged, "3x4x8 5x4x2x8 5x4x2x8 2x3 2 3 2 3x4x8",
      "rudnn.paged.attention: positions[dim 0] is 2, expected 3, the extent of q[dim 0]")
new = "tensor<?x2x8xf32>"
append = Op("paged.append", [new, new, *pages, cache, cache], [("ins", 0, 2), ("pages", 2, 6)], 6)
check(append, "0x2x8 1x2x8 2x3 2 0 0 5x4x2x8 5x4x2x8",
      "rudnn.paged.append: new_v[dim 0] is 1, expected 0, the extent of new_k[dim 0]")
gradients = Op("paged.attention_backward", [rows, cache, cache, rows, *pages, cache], [("ins", 0, 4), ("pages", 4, 8)],
               8, "gradients = #rudnn.paged_gradients<dk>")
check(gradients, "3x4x8 5x4x2x8 5x4x2x8 3x4x8 2x3 2 3 3 4x4x2x8",
      "rudnn.paged.attention_backward: outs[0][dim 0] is 4, expected 5, the extent of k[dim 0]")

route = Op("moe.route", ["tensor<?x8xf32>", "tensor<?x2xi32>", "tensor<?x2xf32>"], [("ins", 0, 1)], 1)
check(route, "5x8 5x2 4x2", "rudnn.moe.route: weights[dim 0] is 4, expected 5, the extent of logits[dim 0]")
combine = Op("moe.combine", [x, "tensor<?x2xi32>", "tensor<?x2xf32>", x], [("ins", 0, 3)], 3)
check(combine, "6x4 3x2 3x2 3x5", "rudnn.moe.combine: out[dim 1] is 5, expected 4, the extent of y[dim 1]")

# A value out of range, and neither check with --no-check.
bad = Op("moe.combine", [x, "tensor<?x2xi32>", "tensor<?x2xf32>", x], [("ins", 0, 3)], 3)
check(bad, "0x4 3x2 3x2 3x4", "rudnn.moe.combine: slot_rows[0, 0] is 0, expected less than 0 or -1 (4294967295) for none")
count += 1
if bad.run("0x4 3x2 3x2 3x4", "--no-check").returncode != 0:
    failures += 1
    print("FAILED --no-check")
print(f"{count} cases, {failures} failed")
sys.exit(failures != 0)
