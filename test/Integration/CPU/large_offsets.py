# RUN: %python %s
"""T26, T28: offsets past 2^31 elements. The tensors are views of memory that is
mapped but, except for the rows that are looked at, never touched; each function
reads the rows behind element 2^31 of a tensor of more than 4 GiB."""

import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[1]))
import rudnn_test

if rudnn_test.TARGET != "cpu":
    print("skipped: only the CPU target reads the caller's memory in place")
    sys.exit(0)

LIMIT = 2**31
rng = np.random.default_rng(26)

TEXT = """
// T26: attention and its gradients over 24 tokens of a packed tensor, token stride 9728.
func.func @attention(%q: tensor<?x9728xf16>) -> (tensor<1x2x24x8xf16>, tensor<1x2x24xf32>) {
  %s = tensor.extract_slice %q[ROW0, 0] [24, 16] [1, 1] : tensor<?x9728xf16> to tensor<24x16xf16>
  %e = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [1, 24, 2, 8] : tensor<24x16xf16> into tensor<1x24x2x8xf16>
  %i = tensor.empty() : tensor<1x2x24x8xf16>
  %t = linalg.transpose ins(%e : tensor<1x24x2x8xf16>) outs(%i : tensor<1x2x24x8xf16>) permutation = [0, 2, 1, 3]
  %l = tensor.empty() : tensor<1x2x24xf32>
  %o:2 = rudnn.attention ins(%t, %t, %t : tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>)
      outs(%i, %l : tensor<1x2x24x8xf16>, tensor<1x2x24xf32>) -> tensor<1x2x24x8xf16>, tensor<1x2x24xf32>
  return %o#0, %o#1 : tensor<1x2x24x8xf16>, tensor<1x2x24xf32>
}
func.func @attention_backward(%big: tensor<?x9728xf16>, %o: tensor<1x2x24x8xf16>, %l: tensor<1x2x24xf32>) -> tensor<1x2x24x8xf16> {
  %s = tensor.extract_slice %big[ROW0, 0] [24, 16] [1, 1] : tensor<?x9728xf16> to tensor<24x16xf16>
  %e = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [1, 24, 2, 8] : tensor<24x16xf16> into tensor<1x24x2x8xf16>
  %i = tensor.empty() : tensor<1x2x24x8xf16>
  %t = linalg.transpose ins(%e : tensor<1x24x2x8xf16>) outs(%i : tensor<1x2x24x8xf16>) permutation = [0, 2, 1, 3]
  %0:3 = rudnn.attention_backward ins(%t, %t, %t, %o, %t, %l : tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>,
      tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>, tensor<1x2x24xf32>)
      outs(%i, %i, %i : tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>)
      -> tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16>
  return %0#2 : tensor<1x2x24x8xf16>
}
// T28: the last 4 of more than 299593 rows of 7168.
func.func @softmax(%x: tensor<?x7168xf16>) -> tensor<4x7168xf16> {
  %s = tensor.extract_slice %x[ROW1, 0] [4, 7168] [1, 1] : tensor<?x7168xf16> to tensor<4x7168xf16>
  %i = tensor.empty() : tensor<4x7168xf16>
  %y = rudnn.softmax ins(%s : tensor<4x7168xf16>) outs(%i : tensor<4x7168xf16>) -> tensor<4x7168xf16>
  return %y : tensor<4x7168xf16>
}
// The same with the row from a loop of the op itself: gathered rows and pages.
func.func @combine(%y: tensor<?x7168xf16>, %s: tensor<3x2xi32>, %w: tensor<3x2xf32>) -> tensor<3x7168xf16> {
  %i = tensor.empty() : tensor<3x7168xf16>
  %o = rudnn.moe.combine ins(%y, %s, %w : tensor<?x7168xf16>, tensor<3x2xi32>, tensor<3x2xf32>) outs(%i : tensor<3x7168xf16>) -> tensor<3x7168xf16>
  return %o : tensor<3x7168xf16>
}
func.func @paged(%q: tensor<2x2x8xf16>, %k: tensor<?x16x1x8xf16>, %t: tensor<1x2xi32>, %l: tensor<1xi32>,
    %ids: tensor<2xi32>, %p: tensor<2xi32>) -> tensor<2x2x8xf16> {
  %i = tensor.empty() : tensor<2x2x8xf16>
  %o = rudnn.paged.attention ins(%q, %k, %k : tensor<2x2x8xf16>, tensor<?x16x1x8xf16>, tensor<?x16x1x8xf16>)
      pages(%t, %l, %ids, %p : tensor<1x2xi32>, tensor<1xi32>, tensor<2xi32>, tensor<2xi32>)
      outs(%i : tensor<2x2x8xf16>) {causal} -> tensor<2x2x8xf16>
  return %o : tensor<2x2x8xf16>
}
"""


def mapped(shape):
    """Zeros that take no memory until they are written."""
    return np.zeros(shape, np.float16)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


row0, row1 = 225304, 299594
assert row0 * 9728 > LIMIT and row1 * 7168 > LIMIT
module = rudnn_test.load(TEXT.replace("ROW0", str(row0)).replace("ROW1", str(row1)))

packed = mapped((row0 + 24, 9728))
packed[row0:, :16] = rng.standard_normal((24, 16))
x = packed[row0:, :16].astype(np.float64).reshape(24, 2, 8).transpose(1, 0, 2)
p = softmax(x @ x.transpose(0, 2, 1) / np.sqrt(8))
out, lse = module.call("attention", [packed])
rudnn_test.assert_close(out[0], p @ x, 2e-3, 2e-3, "T26, attention")
(dv,) = module.call("attention_backward", [packed, out, lse])
rudnn_test.assert_close(dv[0], p.transpose(0, 2, 1) @ x, 2e-3, 2e-3, "T26, dv")
del packed

rows = mapped((row1 + 4, 7168))
rows[row1:] = rng.standard_normal((4, 7168))
wide = rows[row1:].astype(np.float64)
(y,) = module.call("softmax", [rows])
rudnn_test.assert_close(y, softmax(wide), 2e-3, 1e-6, "T28, softmax")
slots = np.array([[row1, -1], [row1 + 1, row1 + 3], [-1, row1 + 2]], np.int32)
weights = rng.standard_normal((3, 2)).astype(np.float32)
(y,) = module.call("combine", [rows, slots, weights])
expected = np.stack([sum(w * wide[s - row1] for w, s in zip(*pair) if s >= 0) for pair in zip(weights, slots)])
rudnn_test.assert_close(y, expected, 2e-3, 4e-3, "T28, combine")
del rows

pages = LIMIT // (16 * 8) + 3
cache = mapped((pages, 16, 1, 8))
cache[pages - 2 :] = rng.standard_normal((2, 16, 1, 8))
q = rng.standard_normal((2, 2, 8)).astype(np.float16)
table, ids = np.array([[pages - 1, pages - 2]], np.int32), np.zeros(2, np.int32)
(y,) = module.call("paged", [q, cache, table, np.array([20], np.int32), ids, np.array([19, 17], np.int32)])
history = np.concatenate([cache[pages - 1, :, 0], cache[pages - 2, :, 0]]).astype(np.float64)
for row, seen in enumerate((20, 18)):
    h = history[:seen]
    want = softmax(q[row].astype(np.float64) @ h.T / np.sqrt(8)) @ h
    rudnn_test.assert_close(y[row], want, 2e-3, 2e-3, f"T26, paged row {row}")
print("5 functions read past element 2^31")
