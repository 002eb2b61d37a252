"""The kernels of nki-samples (tutorials, reference, contributed) against references in numpy and torch."""

import importlib
import pathlib

from case import Case, close, definitions, load, near

TITLE = "sample kernels of nki-samples"
CHECKOUT = "nki-samples"
TUTORIALS = "src/nki_samples/tutorials"


def _draw(*shapes, dtype="float32"):
    import numpy as np

    draw = np.random.default_rng(0)
    return [(draw.random(shape) - 0.5).astype(dtype) for shape in shapes]


def _softmax(x):
    import numpy as np

    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def add(kernel):
    a, b = _draw((256, 1024), (256, 1024), dtype="float16")
    close(kernel(a, b), a + b, 1e-2, 1e-3)


def matmul(kernel, sizes=(1024, 4096, 2048)):
    k, m, n = sizes
    a, b = _draw((k, m), (k, n))
    close(kernel(a, b), a.T @ b, 1e-3, 1e-3)


def softmax(kernel):
    (x,) = _draw((300, 700))
    close(kernel(x), _softmax(x))


def rms_norm(kernel):
    import numpy as np

    x, g = _draw((250, 512), (512,))
    close(kernel(x, g), x / np.sqrt((x * x).mean(axis=1, keepdims=True)) * g, 1e-3, 1e-4)


def layer_norm(kernel):
    import numpy as np

    x, g, b = _draw((300, 1024), (1024,), (1024,))
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-6) * g + b
    close(kernel(x, 1e-6, g, b), expected, 1e-3, 1e-4)


def average_pool(kernel):
    import torch

    (x,) = _draw((8, 12, 18))
    close(kernel(x, 3), torch.nn.functional.avg_pool2d(torch.from_numpy(x), 3, 3).numpy())


def transpose(kernel):
    (x,) = _draw((4, 15))
    close(kernel(x, (3, 5)), x.reshape(4, 3, 5).transpose(0, 2, 1).reshape(4, 15))


def sd_attention(kernel):
    q, k, v = _draw((4096, 64), (4096, 64), (4096, 64))
    close(kernel(q, k, v), _softmax(0.125 * q @ k.T) @ v, 1e-2, 1e-3)


def scan(kernel):
    import numpy as np

    delta, u, a, b, c = _draw((1, 256, 512), (1, 256, 512), (256, 16), (1, 16, 512), (1, 16, 512))
    state, out = np.zeros((256, 16)), np.zeros((1, 256, 512))
    for t in range(512):
        d = delta[0, :, t, None]
        state = np.exp(d * a) * state + d * b[0, None, :, t] * u[0, :, t, None]
        out[0, :, t] = (state * c[0, None, :, t]).sum(axis=1)
    close(kernel(delta, u, a, b, c), out, 1e-3, 1e-4)


def rotary(kernel):
    import numpy as np

    q, k, cos, sin = _draw((2, 3, 256, 64), (2, 3, 256, 64), (2, 256, 64), (2, 256, 64))
    turned = lambda x: np.concatenate([-x[..., 32:], x[..., :32]], axis=-1)  # noqa: E731
    expected = [x * cos[:, None] + turned(x) * sin[:, None] for x in (q, k)]
    close(kernel[2, 3](q, k, cos, sin), np.stack(expected), 1e-3, 1e-4)


def guarded_add(kernel):
    a, b = _draw((2, 8, 128, 512), (2, 8, 128, 512))
    close(kernel[2](a, b, a.size), a + b)


def attention(kernel, length):
    q, k, v = [2 * x for x in _draw((128, length), (128, length), (128, length))]
    close(kernel(q, k, v), _softmax(q.T @ k) @ v.T, 1e-2, 1e-2)


def pipelined(path):
    import neuronxcc.nki.language as nl

    q, k, v = (nl.static_cast(x, nl.bfloat16) for x in _draw((1, 128, 16384), (1, 128, 16384), (1, 16384, 128)))
    out = definitions(path).flash_fwd[0](q, k, v, mixed_precision=True, softmax_scale=0.125, use_causal_mask=False)
    expected = _softmax(0.125 * q[0, :, :512].T @ k[0]) @ v[0]
    close(out.reshape(16384, 128)[:512], expected, 5e-2, 1e-2)


def max_pool(kernel):
    import torch

    (x,) = _draw((448, 448))
    close(kernel(x, 3), torch.nn.functional.max_pool2d(torch.from_numpy(x)[None], 3, stride=1)[0].numpy())


def interpolate(kernel, shape, mode):
    import torch

    (x,) = _draw(shape)
    expected = torch.nn.functional.interpolate(torch.from_numpy(x), scale_factor=2, mode=mode)
    close(kernel(x), expected.numpy(), 1e-2, 1e-4)


def rms_norm_quant(kernel):
    """Rows of float8 with their scale in the last four bytes: of one shape with the normalised rows, but for
    rounding."""
    import numpy as np
    import neuronxcc.nki.language as nl

    reference = importlib.import_module("nki_samples.reference.rmsnorm_quant.rmsnorm_quant")
    x, g = (nl.static_cast(a, nl.bfloat16) for a in _draw((2, 128, 512), (1, 512)))
    out = kernel(x, g, reference.RmsNormQuantKernelArgs(1.0, reference.NormType.RMS_NORM, 1e-6))
    assert tuple(out.shape) == (2, 128, 516), f"shape {out.shape}"
    rows = np.asarray(x, dtype=np.float64)
    rows = rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + 1e-6) * np.asarray(g, dtype=np.float64)
    codes = np.asarray(out, dtype=np.float64)[..., :512]
    largest = lambda a: np.abs(a).max(axis=-1, keepdims=True)  # noqa: E731
    near(codes / largest(codes), rows / largest(rows), 0.05)


def _tutorial(root, file, name, check, *arguments):
    return lambda: check(getattr(load(pathlib.Path(root, TUTORIALS, file)), name), *arguments)


def _contributed(root, file, name, check, *arguments):
    return lambda: check(getattr(load(pathlib.Path(root, "contributed", file)), name), *arguments)


def _reference(root, module, name, check):
    def run():
        import sys

        sys.path.insert(0, str(pathlib.Path(root, "src")))
        check(getattr(importlib.import_module(f"nki_samples.reference.{module}"), name))

    return run


_MATMULS = "matrix_multiplication/matrix_multiplication_nki_kernels.py"
_MAMBA = "fused_mamba/mamba_nki_kernels.py"
_LAYER = "layernorm/layernorm_nki_kernel.py"
_TUTORIALS = [
    ("tensor_addition/tensor_addition_nki_kernels.py", "nki_tensor_add", add),
    ("tensor_addition/spmd_tensor_addition_nki_kernels.py", "nki_tensor_add", add),
    ("softmax/softmax_nki_kernels.py", "nki_softmax_kernel", softmax),
    ("rmsnorm/rmsnorm_nki_kernels.py", "nki_rmsnorm_kernel", rms_norm),
    (_LAYER, "nki_layernorm_kernel_v1", layer_norm),
    (_LAYER, "nki_layernorm_kernel_v2", layer_norm),
    ("average_pool2d/average_pool2d_nki_kernels.py", "tensor_avgpool_kernel", average_pool),
    ("transpose2d/transpose2d_nki_kernels.py", "tensor_transpose2D_kernel_", transpose),
    (_MATMULS, "nki_matmul_basic_", matmul, (128, 64, 512)),
    (_MATMULS, "nki_matmul_tiled_", matmul),
    (_MATMULS, "nki_matmul_hoist_load_", matmul),
    (_MATMULS, "nki_matmul_block_free_dimension_", matmul),
    (_MATMULS, "nki_matmul_fully_optimized_", matmul),
    ("sd_attention/sd_attention_nki_kernels.py", "fused_self_attn_for_SD_small_head_size", sd_attention),
    (_MAMBA, "mamba_v1", scan),
    (_MAMBA, "mamba_v2", scan),
    (_MAMBA, "mamba_v3", scan),
    ("rotary/rotary_nki_kernels.py", "nki_apply_rotary_embedding", rotary),
]
_ATTENTION = [("v1", 128), ("v2", 128)] + [(v, 4096) for v in "v3 v4 v5 v6 v7 v8 v8a v9 v10 v11".split()]


def cases(root):
    found = [Case(f"{row[1]} ({row[0].split('/')[0]})", _tutorial(root, *row)) for row in _TUTORIALS]
    found += [
        Case("add_kernel_nx8x128x512", _reference(root, "tutorial", "add_kernel_nx8x128x512", guarded_add)),
        Case(
            "rmsnorm_quant_kernel",
            _reference(root, "rmsnorm_quant.rmsnorm_quant", "rmsnorm_quant_kernel", rms_norm_quant),
        ),
        Case("matmul (contributed)", _contributed(root, "matmul.py", "matmul", _host_matmul)),
        Case("max_pooling_2d_stride_1", _contributed(root, "maxpooling.py", "max_pooling_2d_stride_1", max_pool)),
        Case(
            "interpolate_bilinear_2x_fwd",
            _contributed(
                root,
                "interpolate_bilinear_fwd.py",
                "interpolate_bilinear_2x_fwd",
                interpolate,
                (2, 64, 32, 32),
                "bilinear",
            ),
        ),
        Case(
            "interpolate_trilinear_2x_fwd",
            _contributed(
                root,
                "interpolate_trilinear_fwd.py",
                "interpolate_trilinear_2x_fwd",
                interpolate,
                (2, 64, 9, 9, 9),
                "trilinear",
            ),
        ),
        Case("pipelined_attention", lambda: pipelined(pathlib.Path(root, "contributed/pipelined_attention.py"))),
    ]
    for version, length in _ATTENTION:
        row = ("attention_fwd_performance/attention_kernels.py", f"attn_fwd_{version}", attention, length)
        found.append(Case(f"attn_fwd_{version}", _tutorial(root, *row)))
    return found


def _host_matmul(kernel):
    """A plain function that its file wraps itself."""
    from neuronxcc import nki

    matmul(nki.baremetal(kernel))
