"""What others offer for the same work, as functions without arguments."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel


def attention(q, k, v, causal):
    """cuDNN's and FlashAttention's forward through torch, where they take the case."""
    found = {}
    for label, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION),
                           ("flash", SDPBackend.FLASH_ATTENTION)):
        def run(backend=backend):
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])
        try:
            run()
            found[label] = run
        except RuntimeError as error:
            print(f"torch {label} refuses: {str(error).splitlines()[0][:80]}")
    return found


def attention_varlen(q, k, v, offsets, longest, causal):
    """torch's FlashAttention and cuDNN over packed sequences, where they take the case."""
    from runner import graph_of
    aten, found = torch.ops.aten, {}
    candidates = {
        "flash": lambda: aten._flash_attention_forward(
            q, k, v, offsets, offsets, longest, longest, 0.0, causal, False),
        "cudnn": lambda: aten._cudnn_attention_forward(
            q, k, v, None, offsets, offsets, longest, longest, False, 0.0, causal, False),
    }
    for label, run in candidates.items():
        try:
            run()
            graph_of(run)
            found[label] = run
        except RuntimeError as error:
            print(f"torch {label} refuses: {str(error).splitlines()[0][:80]}")
    return found


def _eager_row(op, x, g, b, residual):
    f, width = torch.nn.functional, x.shape[-1:]
    if op == "rms_norm":
        return f.rms_norm(x, width, g, 1e-5)
    if op == "add_rms_norm":
        total = x + residual
        return f.rms_norm(total, width, g, 1e-5), total
    return f.layer_norm(x, width, g, b, 1e-5) if op == "layer_norm" else torch.softmax(x, -1)


def row(op, x, g, b, residual=None, compiled=True):
    """torch's kernels for a row operator, what torch.compile makes of them, and the fastest number
    of warps of a Triton kernel."""
    found = {"torch": lambda: _eager_row(op, x, g, b, residual)}
    if compiled:
        compiled_peer(found, "compile", lambda: compile_of(_eager_row), op, x, g, b, residual)
        compiled_peer(found, "triton", lambda: _fastest_triton, op, x, g, b, residual)
    return found


def compiled_peer(found, name, make, *operands):
    """Adds a peer that has to be compiled, if this machine can: a machine without a compiler keeps
    the other peers."""
    try:
        function = make()
        if name == "triton":
            found[name] = function(*operands)
        else:
            function(*operands)
            found[name] = lambda: function(*operands)
    except Exception as error:  # whatever their compilers raise
        print(f"no peer {name}: {type(error).__name__}: {str(error).splitlines()[0][:100]}", flush=True)


def compile_of(function):
    """Static shapes, and no memory of earlier ones, which would make them dynamic."""
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False)


def _fastest(runners):
    from runner import graph_of, time_graph
    graphs = [(graph_of(run), run) for run in runners]
    return min(graphs, key=lambda pair: time_graph(pair[0], 20))[1]


def _fastest_triton(op, x, g, b, residual):
    import peers_triton
    return _fastest(peers_triton.row(op, x, g, b, residual).values())


def copy(x):
    """Reads and writes as much as a row operator does: the driver's copy or, where that is slow (large
    copies in CUDA graphs), a kernel that changes the sign."""
    out = torch.empty_like(x)
    return _fastest([lambda: out.copy_(x), lambda: torch.neg(x, out=out)])


def copy_two(x, residual):
    """Reads and writes as much as a sum and its norm do."""
    first, second = copy(x), copy(residual)
    return lambda: (first(), second())


def _bias_silu(product, bias):
    return torch.nn.functional.silu(product + bias)


def bias_silu(a, b, bias):
    """cuBLAS and one kernel: the bias in cuBLASLt's epilogue and torch's SiLU, or a plain product and
    what torch.compile makes of bias and SiLU."""
    found = {"torch": lambda: torch.nn.functional.silu(torch.addmm(bias, a, b.t()))}

    def make():
        fused = compile_of(_bias_silu)
        return lambda a, b, bias: fused(torch.mm(a, b.t()), bias)
    compiled_peer(found, "mm_compile", make, a, b, bias)
    return found
