# RUN: %python %s
"""Tensors that are expanded and collapsed by extents known at run time only, several of
them in one group of dims, around ops of the dialect."""

import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[1]))
import rudnn_test

rng = np.random.default_rng(8)
suite = rudnn_test.Suite()

# Packed rows as [batch, sequence, width], in and out.
TEXT = """func.func @NAME(%x: tensor<?x5xDT>, %a: index, %b: index) -> tensor<?x?x5xDT> {
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 5] : tensor<?x5xDT> into tensor<?x?x5xDT>
  %i = tensor.empty(%a, %b) : tensor<?x?x5xDT>
  %y = rudnn.softmax ins(%e : tensor<?x?x5xDT>) outs(%i : tensor<?x?x5xDT>) -> tensor<?x?x5xDT>
  return %y : tensor<?x?x5xDT>
}"""
# Three extents out of one, the middle one static; back to one at the end.
TRIPLE = """func.func @NAME(%x: tensor<?xf32>, %a: index, %b: index) -> tensor<?xf32> {
  %e = tensor.expand_shape %x [[0, 1, 2]] output_shape [%a, 3, %b] : tensor<?xf32> into tensor<?x3x?xf32>
  %i = tensor.empty(%a, %b) : tensor<?x3x?xf32>
  %y = rudnn.softmax ins(%e : tensor<?x3x?xf32>) outs(%i : tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %c = tensor.collapse_shape %y [[0, 1, 2]] : tensor<?x3x?xf32> into tensor<?xf32>
  return %c : tensor<?xf32>
}"""


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True)) if x.size else x
    return e / e.sum(-1, keepdims=True) if x.size else x


for dtype in ("f32", "f16", "bf16"):
    for a, b in ((2, 3), (1, 7), (4, 1), (0, 3), (3, 0)):
        x = rudnn_test.cast(rng.standard_normal((a * b, 5)), dtype)
        expected = softmax(x.astype(np.float64)).reshape(a, b, 5)
        suite.add(f"{dtype} {a} x {b}", TEXT.replace("DT", dtype), [x, a, b], [expected], rudnn_test.RTOL[dtype], rudnn_test.ATOL[dtype])
for a, b in ((2, 5), (1, 1), (0, 4)):
    x = rng.standard_normal(a * 3 * b).astype(np.float32)
    expected = softmax(x.astype(np.float64).reshape(a, 3, b)).reshape(-1)
    suite.add(f"triple {a} x 3 x {b}", TRIPLE, [x, a, b], [expected], 2e-5, 1e-6)

suite.run()
