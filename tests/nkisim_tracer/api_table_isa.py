"""The rows of neuronxcc.nki.isa (see api_table.py)."""

import numpy as np

from api_table import A, B, BIG, C, F, I1, POS, draw, integers, row, softmax

# The documented names of neuronxcc.nki.isa (SDK 2.24 to 2.26, trn1).
DOCUMENTED = """
nc_matmul nc_transpose activation activation_reduce tensor_tensor tensor_scalar tensor_scalar_reduce
scalar_tensor_tensor tensor_reduce tensor_partition_reduce tensor_tensor_scan tensor_copy tensor_copy_dynamic_src
tensor_copy_dynamic_dst tensor_copy_predicated reciprocal memset dropout iota affine_select range_select select_reduce
sequence_bounds bn_stats bn_aggr max8 nc_find_index8 nc_match_replace8 nc_stream_shuffle local_gather dma_copy
dma_transpose get_nc_version reduce_cmd oob_mode dge_mode nc_version engine tensor_engine vector_engine scalar_engine
gpsimd_engine sync_engine unknown_engine fp32 dma_engine
""".split()

_COLUMN = draw(32, 1)
_BIT = integers(0, 2, 32, 16, dtype=np.uint8)
row(
    "nisa.nc_matmul",
    {"a": BIG, "b": BIG},
    "nl.store(out, value=nisa.nc_matmul(nl.load(a), nl.load(b)))",
    BIG.T @ BIG,
    tol=1e-4,
)
row(
    "nisa.nc_matmul",
    {"a": A},
    "i = nl.load(nl.shared_identity_matrix(32, dtype=nl.float32))\n"
    "nl.store(out, value=nisa.nc_matmul(nl.load(a), i, is_transpose=True))",
    A.T,
    tol=None,
)
row(
    "nisa.nc_matmul",
    {"a": A, "b": C.reshape(32, 4, 12)},
    "nl.store(out, value=nisa.nc_matmul(nl.load(a), nl.load(b)))",
    np.einsum("km,kxy->mxy", A, C.reshape(32, 4, 12)),
)
row(
    "nisa.nc_transpose nisa.tensor_engine nisa.vector_engine",
    {"a": A},
    "t = nl.load(a)\n"
    "u = nisa.nc_transpose(nisa.nc_transpose(t, engine=nisa.vector_engine), engine=nisa.vector_engine)\n"
    "nl.store(out, value=nisa.nc_transpose(u, engine=nisa.tensor_engine))",
    A.T,
    tol=None,
)
row(
    "nisa.nc_transpose",
    {"a": C.reshape(32, 4, 12)},
    "nl.store(out, value=nisa.nc_transpose(nl.load(a)))",
    C.T,
    tol=None,
)
row(
    "nisa.activation",
    {"a": A, "c": _COLUMN},
    "nl.store(out, value=nisa.activation(op=nl.exp, data=nl.load(a), bias=nl.load(c), scale=0.5))",
    np.exp(A * F(0.5) + _COLUMN),
)
row(
    "nisa.activation nisa.reduce_cmd",
    {"a": A},
    "r = nl.ndarray((32, 1), dtype=nl.float32)\nt = nl.load(a)\n"
    "u = nisa.activation(op=np.square, data=t, reduce_op=np.add, reduce_res=r, "
    "reduce_cmd=nisa.reduce_cmd.reset_reduce)\n"
    "v = nisa.activation(op=np.square, data=t, reduce_op=np.add, reduce_res=r, reduce_cmd=nisa.reduce_cmd.reduce)\n"
    "nl.store(out, value=u + v + r)",
    2 * A * A + 2 * (A * A).sum(1, keepdims=True),
)
row(
    "nisa.activation_reduce",
    {"a": A},
    "r = nl.ndarray((32, 1), dtype=nl.float32)\n"
    "t = nisa.activation_reduce(op=np.exp, data=nl.load(a), reduce_op=np.add, reduce_res=r)\n"
    "nl.store(out, value=t / r)",
    softmax(A),
)
row(
    "nisa.tensor_tensor",
    {"a": A, "b": B},
    "nl.store(out, value=nisa.tensor_tensor(nl.load(a), nl.load(b), op=np.subtract))",
    A - B,
)
row(
    "nisa.tensor_scalar nisa.scalar_engine",
    {"a": A, "c": _COLUMN},
    "nl.store(out, value=nisa.tensor_scalar(nl.load(a), np.subtract, nl.load(c), reverse0=True, op1=np.multiply, "
    "operand1=3.0, engine=nisa.scalar_engine))",
    (_COLUMN - A) * 3,
)
row(
    "nisa.tensor_scalar_reduce",
    {"a": A},
    "r = nl.ndarray((32, 1), dtype=nl.float32)\n"
    "t = nisa.tensor_scalar_reduce(data=nl.load(a), op0=np.multiply, operand0=2.0, reduce_op=np.max, "
    "reduce_res=r)\nnl.store(out, value=t + r)",
    2 * A + (2 * A).max(1, keepdims=True),
)
row(
    "nisa.scalar_tensor_tensor",
    {"a": A, "b": B},
    "nl.store(out, value=nisa.scalar_tensor_tensor(data=nl.load(a), op0=np.subtract, operand0=1.0, op1=np.multiply, "
    "operand1=nl.load(b)))",
    (A - 1) * B,
)
row(
    "nisa.tensor_reduce",
    {"a": A},
    "nl.store(out, value=nisa.tensor_reduce(np.max, nl.load(a), axis=[1], negate=True))",
    -A.max(1, keepdims=True),
    tol=None,
)
row(
    "nisa.tensor_partition_reduce",
    {"a": A},
    "nl.store(out, value=nisa.tensor_partition_reduce(np.add, nl.load(a)))",
    A.sum(0, keepdims=True),
)
_scan, _r = [], np.full(32, 0.5, F)
for _j in range(16):
    _r = A[:, _j] * _r + B[:, _j]
    _scan.append(_r)
row(
    "nisa.tensor_tensor_scan",
    {"a": A, "b": B},
    "nl.store(out, value=nisa.tensor_tensor_scan(nl.load(a), nl.load(b), initial=0.5, op0=np.multiply, op1=np.add))",
    np.stack(_scan, 1),
    tol=1e-4,
)
row(
    "nisa.tensor_copy nisa.gpsimd_engine",
    {"a": A},
    "nl.store(out, value=nisa.tensor_copy(nl.load(a), engine=nisa.gpsimd_engine))",
    A,
    tol=None,
)
row(
    "nisa.tensor_copy_dynamic_src",
    {"a": C, "o": np.array([[7]], np.int32)},
    "i, f = nl.arange(32)[:, None], nl.arange(16)[None, :]\nt, k = nl.load(a), nl.load(o)\n"
    "nl.store(out, value=nisa.tensor_copy_dynamic_src(t[i, k + f]))",
    C[:, 7:23],
    tol=None,
)
_moved = np.zeros((32, 48), F)
_moved[:, 9:25] = A
row(
    "nisa.tensor_copy_dynamic_dst",
    {"a": A, "o": np.array([[9]], np.int32)},
    "i, f = nl.arange(32)[:, None], nl.arange(16)[None, :]\nt, k = nl.zeros((32, 48), dtype=nl.float32), nl.load(o)\n"
    "nisa.tensor_copy_dynamic_dst(dst=t[i, k + f], src=nl.load(a))\nnl.store(out, value=t)",
    _moved,
    tol=None,
)
row(
    "nisa.tensor_copy_predicated",
    {"a": A, "b": B, "m": _BIT},
    "d = nl.load(b)\nnisa.tensor_copy_predicated(src=nl.load(a), dst=d, predicate=nl.load(m))\nnl.store(out, value=d)",
    np.where(_BIT != 0, A, B),
    tol=None,
)
row("nisa.reciprocal", {"a": POS}, "nl.store(out, value=nisa.reciprocal(nl.load(a)))", 1 / POS)
row(
    "nisa.memset nisa.unknown_engine",
    {},
    "nl.store(out, value=nisa.memset((32, 16), 1.25, nl.float32, engine=nisa.unknown_engine))",
    np.full((32, 16), 1.25),
    tol=None,
)
row(
    "nisa.iota",
    {},
    "nl.store(out, value=nisa.iota(nl.arange(32)[:, None] * 7 - nl.arange(16)[None, :], dtype=nl.int32))",
    np.arange(32)[:, None] * 7 - np.arange(16)[None, :],
    tol=None,
    dtype="nl.int32",
)
row(
    "nisa.affine_select",
    {"a": A},
    "p, f = nl.mgrid[0:32, 0:16]\n"
    "nl.store(out, value=nisa.affine_select(pred=(p >= 2 * f), on_true_tile=nl.load(a), on_false_value=-9.0))",
    np.where(np.arange(32)[:, None] >= 2 * np.arange(16)[None, :], A, -9),
    tol=None,
)
row(
    "nisa.bn_stats nisa.bn_aggr",
    {"a": C},
    "nl.store(out, value=nisa.bn_aggr(nisa.bn_stats(nl.load(a))))",
    np.stack([C.mean(1), C.var(1)], 1),
    tol=1e-4,
)
_order = np.argsort(-C, axis=1)[:, :8]
row("nisa.max8", {"a": C}, "nl.store(out, value=nisa.max8(src=nl.load(a)))", np.take_along_axis(C, _order, 1), tol=None)
row(
    "nisa.nc_find_index8",
    {"a": C},
    "t = nl.load(a)\nnl.store(out, value=nisa.nc_find_index8(data=t, vals=nisa.max8(src=t)))",
    _order,
    tol=None,
    dtype="nl.uint32",
)
_cut = C.copy()
np.put_along_axis(_cut, _order, F(-5), 1)
row(
    "nisa.nc_match_replace8",
    {"a": C},
    "t = nl.load(a)\nnl.store(out, value=nisa.nc_match_replace8(data=t, vals=nisa.max8(src=t), imm=-5.0))",
    _cut,
    tol=None,
)
row(
    "nisa.nc_match_replace8",
    {"a": C},
    "t = nl.load(a)\ni = nl.ndarray((32, 8), dtype=nl.uint32)\n"
    "u = nisa.nc_match_replace8(data=t, vals=nisa.max8(src=t), imm=-5.0, dst_idx=i)\n"
    "nl.store(out, value=i)",
    _order,
    sdk="2.25",
    tol=None,
    dtype="nl.uint32",
)
row(
    "nisa.nc_stream_shuffle",
    {"a": A},
    "d = nl.zeros((32, 16), dtype=nl.float32)\n"
    "nisa.nc_stream_shuffle(nl.load(a), d, [(k * 5) % 32 for k in range(32)])\nnl.store(out, value=d)",
    A[(np.arange(32) * 5) % 32],
    tol=None,
)
_G = integers(0, 12, 32, 3, dtype=np.uint16) * np.uint16(4)


def _local_gather(data, index, elements, valid):
    """Row by row: the indices of 16 partitions, read down the columns."""
    out = np.zeros((data.shape[0], valid, elements), F)
    for p in range(data.shape[0]):
        core = p // 16 * 16
        for j in range(valid):
            start = int(index[core + j % 16, j // 16])
            out[p, j] = data[p, start : start + elements]
    return out


row(
    "nisa.local_gather",
    {"a": C, "i": _G},
    "nl.store(out, value=nisa.local_gather(nl.load(a), nl.load(i), 4, 48))",
    _local_gather(C, _G, 4, 48).reshape(32, 3, 16, 4),
    tol=None,
)
row(
    "nisa.local_gather",
    {"a": C, "i": _G},
    "nl.store(out, value=nisa.local_gather(nl.load(a), nl.load(i), num_elem_per_idx=2, num_valid_indices=21))",
    _local_gather(C, _G, 2, 21),
    tol=None,
)
row(
    "nisa.dma_copy nisa.oob_mode nisa.dge_mode",
    {"a": A},
    "nl.store(out, value=nl.load(a))\nnisa.dma_copy(dst=out, src=a, dst_rmw_op=np.add, oob_mode=nisa.oob_mode.error, "
    "dge_mode=nisa.dge_mode.none)",
    2 * A,
)
row("nisa.dma_transpose", {"a": A}, "nl.store(out, value=nisa.dma_transpose(a))", A.T, tol=None)
row(
    "nisa.dma_transpose",
    {"a": C.reshape(4, 8, 3, 16)},
    "nl.store(out, value=nisa.dma_transpose(a, axes=(3, 1, 2, 0)))",
    C.reshape(4, 8, 3, 16).transpose(3, 1, 2, 0),
    sdk="2.26",
    tol=None,
)
row(
    "nisa.get_nc_version nisa.nc_version nisa.engine nisa.sync_engine nisa.fp32 nisa.dma_engine",
    {},
    "assert nisa.get_nc_version() == nisa.nc_version.gen2 and nisa.engine.sync == nisa.sync_engine\n"
    "assert nisa.fp32.min == nl.fp32.min and nisa.dma_engine is not None\n"
    "nl.store(out, value=nisa.memset((1, 1), 2.0, nl.float32))",
    np.full((1, 1), 2),
    tol=None,
)
row(
    "nisa.tensor_scalar",
    {"x": I1},
    "nl.store(out, value=nisa.tensor_scalar(nl.load(x), np.bitwise_and, 255))",
    I1 & 255,
    tol=None,
    dtype="nl.int32",
)
