"""Row operators in Triton: one program a row, the whole row in registers, as its tutorials do."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm(x, g, y, width: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, block)
    inside = at < width
    v = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
    factor = tl.rsqrt(tl.sum(v * v, 0) / width + 1e-5)
    scale = tl.load(g + at, mask=inside).to(tl.float32)
    tl.store(y + row + at, (v * factor * scale).to(y.dtype.element_ty), mask=inside)


@triton.jit
def _add_rms_norm(x, residual, g, y, total, width: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, block)
    inside = at < width
    v = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(residual + row + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(total + row + at, v.to(total.dtype.element_ty), mask=inside)
    factor = tl.rsqrt(tl.sum(v * v, 0) / width + 1e-5)
    scale = tl.load(g + at, mask=inside).to(tl.float32)
    tl.store(y + row + at, (v * factor * scale).to(y.dtype.element_ty), mask=inside)


@triton.jit
def _layer_norm(x, g, b, y, width: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, block)
    inside = at < width
    v = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
    centered = tl.where(inside, v - tl.sum(v, 0) / width, 0.0)
    factor = tl.rsqrt(tl.sum(centered * centered, 0) / width + 1e-5)
    scale = tl.load(g + at, mask=inside).to(tl.float32)
    shift = tl.load(b + at, mask=inside).to(tl.float32)
    tl.store(y + row + at, (centered * factor * scale + shift).to(y.dtype.element_ty), mask=inside)


@triton.jit
def _softmax(x, y, width: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, block)
    inside = at < width
    v = tl.load(x + row + at, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + at, (power / tl.sum(power, 0)).to(y.dtype.element_ty), mask=inside)


def row(op, x, g, b, residual=None):
    """Number of warps -> function without arguments that runs the kernel into a buffer of its own."""
    rows, width = x.shape
    y = torch.empty_like(x)
    total = torch.empty_like(x) if op == "add_rms_norm" else None
    kernel, operands = {"rms_norm": (_rms_norm, (x, g, y)),
                        "add_rms_norm": (_add_rms_norm, (x, residual, g, y, total)),
                        "layer_norm": (_layer_norm, (x, g, b, y)),
                        "softmax": (_softmax, (x, y))}[op]
    block = triton.next_power_of_2(width)

    def runner(warps):
        def run():
            kernel[(rows,)](*operands, width=width, block=block, num_warps=warps)
            return y
        return run
    # Up to 64 and down to 4 elements a thread, more spill or leave threads idle.
    fitting = [warps for warps in (2, 4, 8, 16, 32) if 4 <= block // (32 * warps) <= 64]
    return {warps: runner(warps) for warps in fitting}
