"""Kernels of the benchmark, as text for the tracer."""
HEAD = """from neuronxcc import nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa

"""
ADD = (
    HEAD
    + """
GRID = (16, 8)

@nki.jit
def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    i_f = nl.program_id(1) * 512 + nl.arange(512)[None, :]
    nl.store(out[i_p, i_f], value=nl.load(x[i_p, i_f]) + nl.load(y[i_p, i_f]))
    return out
"""
)
MATMUL = (
    HEAD
    + """
@nki.jit
def kernel(lhs_t, rhs):
    k, m = lhs_t.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        for j in nl.affine_range(n // 512):
            acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for kk in nl.affine_range(k // 128):
                left = nl.load(lhs_t[nl.ds(kk * 128, 128), nl.ds(i * 128, 128)])
                right = nl.load(rhs[nl.ds(kk * 128, 128), nl.ds(j * 512, 512)])
                acc += nisa.nc_matmul(left, right)
            nl.store(out[nl.ds(i * 128, 128), nl.ds(j * 512, 512)], value=nl.copy(acc))
    return out
"""
)


def rows(body):
    """A kernel over tiles of 128 whole rows of x (and a row of weights w): `body` makes y of a."""
    return (
        HEAD
        + """
@nki.jit
def kernel(x, w):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    g = nl.load(w).broadcast_to((128, x.shape[1]))
    for t in nl.affine_range(x.shape[0] // 128):
        a = nl.load(x[nl.ds(t * 128, 128), :])
"""
        + "".join(f"        {line}\n" for line in body)
        + """        nl.store(out[nl.ds(t * 128, 128), :], value=y)
    return out
"""
    )


SOFTMAX = rows(
    [
        "e = nl.exp(a - nl.max(a, axis=1, keepdims=True))",
        "y = e / nl.sum(e, axis=1, keepdims=True)",
    ]
)
LAYERNORM = rows(
    [
        "c = a - nl.mean(a, axis=1, keepdims=True)",
        "v = nl.mean(nl.square(c), axis=1, keepdims=True)",
        "y = c * nl.rsqrt(v + 1e-5) * g",
    ]
)
RMSNORM = rows(["y = a * nl.rsqrt(nl.mean(nl.square(a), axis=1, keepdims=True) + 1e-5) * g"])
GELU = rows(["y = nl.gelu_apprx_tanh(a)"])
ATTENTION = (
    HEAD
    + """
@nki.jit
def kernel(q, k, v):
    heads, n, d = q.shape
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=nl.shared_hbm)
    for h in nl.affine_range(heads):
        for i in nl.affine_range(n // 128):
            qt = nl.load_transpose2d(q[h, nl.ds(i * 128, 128), :])
            scores = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
            for j in nl.affine_range(n // 128):
                kt = nl.load_transpose2d(k[h, nl.ds(j * 128, 128), :])
                scores[:, nl.ds(j * 128, 128)] = nl.copy(nisa.nc_matmul(qt, kt)) * (d**-0.5)
            e = nl.exp(scores - nl.max(scores, axis=1, keepdims=True))
            total = nl.sum(e, axis=1, keepdims=True)
            acc = nl.zeros((128, d), dtype=nl.float32, buffer=nl.psum)
            for j in nl.affine_range(n // 128):
                part = nl.copy(nisa.nc_transpose(e[:, nl.ds(j * 128, 128)]))
                acc += nisa.nc_matmul(part, nl.load(v[h, nl.ds(j * 128, 128), :]))
            nl.store(out[h, nl.ds(i * 128, 128), :], value=acc / total)
    return out
"""
)


def hundred_lines():
    """A kernel of 100 lines: loads, a chain of elementwise work, a reduction, a store, in a loop."""
    body = ["    for t in nl.affine_range(4):", "        a = nl.load(x[nl.ds(t * 128, 128), 0:512])"]
    steps = [
        "nl.exp(a)",
        "a * 0.5",
        "nl.maximum(a, 0.1)",
        "nl.tanh(a)",
        "a + 1.0",
        "nl.sqrt(nl.abs(a))",
        "a - nl.mean(a, axis=1, keepdims=True)",
    ]
    while len(body) < 88:
        body.append(f"        a = {steps[len(body) % len(steps)]}")
    body += ["        nl.store(out[nl.ds(t * 128, 128), 0:512], value=a)", "    return out"]
    return (
        HEAD
        + "@nki.jit\ndef kernel(x):\n    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
        + "\n".join(body)
        + "\n"
    )
