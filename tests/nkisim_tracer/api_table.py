"""One row a documented name: inputs, the kernel's body, the answer by numpy. `out` is created and returned around the
body."""

import math

import numpy as np

# The documented names of neuronxcc.nki.language (SDK 2.24 to 2.26, trn1).
DOCUMENTED = """
load store load_transpose2d copy atomic_rmw broadcast_to ndarray zeros ones full zeros_like empty_like rand
random_seed shared_constant shared_identity_matrix add subtract multiply divide power maximum minimum mod fmod
bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal greater greater_equal less less_equal
logical_and logical_or logical_xor abs negative sign trunc floor ceil exp log sqrt rsqrt reciprocal square sin cos tan
tanh arctan sigmoid relu gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid silu silu_dx erf erf_dx softplus mish invert
logical_not max min sum mean var prod all softmax rms_norm dropout matmul transpose where gather_flattened
affine_range sequential_range static_range arange mgrid ds expand_dims program_id num_programs program_ndim spmd_dim
nc loop_reduce all_reduce static_cast finfo gemm_grid gemm_stationary_grid device_print par_dim sbuf psum hbm
private_hbm shared_hbm tile_size fp32 uint8 int8 uint16 int16 uint32 int32 float8_e4m3 float8_e5m2 float16 bfloat16
tfloat32 float32 bool_
""".split()

RNG = np.random.default_rng(11)
F = np.float32


def draw(*shape):
    return RNG.standard_normal(shape).astype(F)


def integers(lo, hi, *shape, dtype=np.int32):
    return RNG.integers(lo, hi, shape).astype(dtype)


class Row:
    """names covered; inputs {name: array}; body; want array; options: sdk, grid, tol (None: exact)."""

    def __init__(self, names, inputs, body, want, sdk="2.24", grid=None, tol=2e-5, dtype="nl.float32"):
        self.names, self.inputs, self.body, self.want = names.split(), inputs, body, np.asarray(want)
        self.sdk, self.grid, self.tol, self.dtype = sdk, grid, tol, dtype

    @property
    def source(self):
        return (
            f"out = nl.ndarray({self.want.shape}, dtype={self.dtype}, buffer=nl.shared_hbm)\n{self.body}\nreturn out\n"
        )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def each(function, x):
    return np.vectorize(function)(x.astype(np.float64)).astype(F)


def phi(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def float8(x, mantissa, exponent_min, largest):
    """Round to nearest even on a small float's grid."""
    e = np.maximum(np.floor(np.log2(np.maximum(np.abs(x), 1e-30))), exponent_min)
    step = 2.0 ** (e - mantissa)
    return np.clip(np.round(x / step) * step, -largest, largest).astype(F)


A, B, C = draw(32, 16), draw(32, 16), draw(32, 48)
POS, SMALL = np.abs(A) + 0.25, (np.abs(A) * 0.4 + 0.1)
BIG = draw(128, 64)
I1, I2 = integers(-5000, 5000, 32, 16), integers(-5000, 5000, 32, 16)
SHIFTS = integers(0, 9, 32, 16)
U1 = integers(0, 2**20, 32, 16)
BIN, UNARY = "nl.store(out, value=nl.{}(nl.load(x), nl.load(y)))", "nl.store(out, value=nl.{}(nl.load(x)))"
COPY = "nl.store(out, value=nl.load(x))"
ROWS = []


def row(*args, **options):
    ROWS.append(Row(*args, **options))


for _n, _f in {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "power": np.power,
    "mod": np.mod,
    "fmod": np.fmod,
}.items():
    row("nl." + _n, {"x": POS, "y": np.abs(B) + 0.5}, BIN.format(_n), _f(POS, np.abs(B) + F(0.5)))
for _n, _f in {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
}.items():
    row(
        "nl." + _n,
        {"x": np.round(A), "y": np.round(B)},
        BIN.format(_n),
        _f(np.round(A), np.round(B)).astype(F),
        tol=None,
    )
for _n in ("logical_and", "logical_or", "logical_xor"):
    row(
        "nl." + _n,
        {"x": np.round(A), "y": np.round(B)},
        BIN.format(_n),
        getattr(np, _n)(np.round(A) != 0, np.round(B) != 0).astype(F),
        tol=None,
    )
for _n in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    row("nl." + _n, {"x": I1, "y": I2}, BIN.format(_n), getattr(np, _n)(I1, I2), tol=None, dtype="nl.int32")
row("nl.left_shift", {"x": U1, "y": SHIFTS}, BIN.format("left_shift"), U1 << SHIFTS, tol=None, dtype="nl.int32")
row(
    "nl.right_shift",
    {"x": I1, "y": SHIFTS},
    BIN.format("right_shift"),
    (I1.view(np.uint32) >> SHIFTS.astype(np.uint32)).view(np.int32),
    tol=None,
    dtype="nl.int32",
)
for _n, _f in {
    "abs": np.abs,
    "negative": np.negative,
    "sign": np.sign,
    "trunc": np.trunc,
    "floor": np.floor,
    "ceil": np.ceil,
    "square": np.square,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "arctan": np.arctan,
    "exp": np.exp,
    "sigmoid": sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * sigmoid(x),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "silu_dx": lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))),
    "erf": lambda x: each(math.erf, x),
    "erf_dx": lambda x: each(lambda v: 2 / math.sqrt(math.pi) * math.exp(-v * v), x),
    "gelu": lambda x: each(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))), x),
    "gelu_dx": lambda x: each(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))) + v * phi(v), x),
    "gelu_apprx_tanh": lambda x: each(gelu_tanh, x),
}.items():
    row("nl." + _n, {"x": np.clip(A, -1.4, 1.4)}, UNARY.format(_n), _f(np.clip(A, -1.4, 1.4)))
row("nl.gelu_apprx_sigmoid", {"x": A}, UNARY.format("gelu_apprx_sigmoid"), A * sigmoid(F(1.702) * A), sdk="2.26")
for _n, _f in {
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}.items():
    row("nl." + _n, {"x": POS}, UNARY.format(_n), _f(POS))
row("nl.invert", {"x": I1}, UNARY.format("invert"), ~I1, tol=None, dtype="nl.int32")
row("nl.logical_not", {"x": np.round(A)}, UNARY.format("logical_not"), (np.round(A) == 0).astype(F), tol=None)

# -- memory
row("nl.load nl.store nl.ndarray nl.sbuf nl.hbm nl.shared_hbm", {"x": A}, COPY, A, tol=None)
row("nl.load_transpose2d", {"x": A}, "nl.store(out, value=nl.load_transpose2d(x))", A.T, tol=None)
row(
    "nl.copy nl.psum",
    {"x": A},
    "t = nl.ndarray((32, 16), dtype=nl.float32, buffer=nl.psum)\nt[...] = nl.copy(nl.load(x))\nnl.store(out, value=t)",
    A,
    tol=None,
)
row(
    "nl.private_hbm",
    {"x": A},
    "h = nl.ndarray((32, 16), dtype=nl.float32, buffer=nl.private_hbm)\nnl.store(h, value=nl.load(x))\n"
    "nl.store(out, value=nl.load(h))",
    A,
    tol=None,
)
row(
    "nl.broadcast_to",
    {"x": A[:1]},
    "nl.store(out, value=nl.broadcast_to(nl.load(x), shape=(32, 16)))",
    np.broadcast_to(A[:1], (32, 16)),
    tol=None,
)
row(
    "nl.zeros nl.ones nl.full",
    {},
    "t = nl.zeros((32, 16), dtype=nl.float32) + nl.ones((32, 16), dtype=nl.float32) + nl.full((32, 16), 2.5, "
    "dtype=nl.float32)\n"
    "nl.store(out, value=t)",
    np.full((32, 16), 3.5, F),
    tol=None,
)
row(
    "nl.zeros_like nl.empty_like",
    {"x": A},
    "t = nl.load(x)\nu, v = nl.zeros_like(t), nl.empty_like(t)\nv[...] = t\nnl.store(out, value=u + v)",
    A,
    tol=None,
)
row(
    "nl.shared_constant",
    {"x": A},
    "nl.store(out, value=nl.load(x) + nl.load(nl.shared_constant(np.full((32, 16), 3.0), dtype=nl.float32)))",
    A + 3,
)
row(
    "nl.shared_identity_matrix nl.matmul nl.static_cast",
    {"x": A},
    "i = nl.static_cast(nl.load(nl.shared_identity_matrix(32)), nl.float32)\n"
    "nl.store(out, value=nl.matmul(i, nl.load(x)))",
    A,
)
_IDX = integers(0, 64, 40, 1)
_SUM = BIG[:, :16].copy()
np.add.at(_SUM, _IDX[:, 0], draw(40, 16) * 0 + 1.5)
row(
    "nl.atomic_rmw",
    {"x": np.ascontiguousarray(BIG[:, :16]), "i": _IDX},
    "nl.store(out, value=nl.load(x))\nf = nl.arange(16)[None, :]\nidx = nl.load(i)\n"
    "nl.atomic_rmw(out[idx, f], value=nl.full((40, 16), 1.5, dtype=nl.float32), op=np.add)",
    _SUM,
)
row("nl.expand_dims", {"x": A}, "t = nl.expand_dims(nl.load(x), 2)\nnl.store(out, value=t)", A[:, :, None], tol=None)
row(
    "nl.where",
    {"x": A, "y": B},
    "a, b = nl.load(x), nl.load(y)\nnl.store(out, value=nl.where(nl.greater(a, b), a, 0.5))",
    np.where(A > B, A, F(0.5)),
    tol=None,
)
_GI = integers(0, 48, 32, 5, dtype=np.uint32)
row(
    "nl.gather_flattened",
    {"x": C, "i": _GI},
    "nl.store(out, value=nl.gather_flattened(data=nl.load(x), indices=nl.load(i)))",
    np.take_along_axis(C, _GI.astype(int), 1),
    sdk="2.25",
    tol=None,
)

# -- reductions, composites
for _n in ("max", "min", "sum", "mean", "var", "prod"):
    row(
        "nl." + _n,
        {"x": SMALL},
        f"nl.store(out, value=nl.{_n}(nl.load(x), axis=1))",
        getattr(SMALL, _n)(axis=1)[:, None],
    )
row(
    "nl.all",
    {"x": np.round(np.abs(A) + 0.4)},
    "nl.store(out, value=nl.all(nl.load(x), axis=[1]))",
    np.round(np.abs(A) + 0.4).all(1)[:, None].astype(F),
    tol=None,
)
row("nl.softmax", {"x": A}, "nl.store(out, value=nl.softmax(nl.load(x), axis=1))", softmax(A))
row(
    "nl.rms_norm",
    {"x": A, "w": B[:1]},
    "nl.store(out, value=nl.rms_norm(nl.load(x), nl.load(w), axis=1, n=16, epsilon=1e-5))",
    A / np.sqrt((A * A).mean(1, keepdims=True) + F(1e-5)) * B[:1],
)
row("nl.transpose", {"x": A}, "nl.store(out, value=nl.transpose(nl.load(x)))", A.T, tol=None)
row(
    "nl.loop_reduce nl.affine_range",
    {"x": BIG},
    "t = nl.ndarray((32, 64), dtype=nl.float32)\nfor i in nl.affine_range(4):\n"
    "    t[...] = nl.loop_reduce(nl.load(x[i * 32:(i + 1) * 32, :]), op=np.add, loop_indices=[i])\n"
    "nl.store(out, value=t)",
    BIG.reshape(4, 32, 64).sum(0),
)
row(
    "nl.sequential_range",
    {"x": A},
    "t = nl.load(x)\nfor i in nl.sequential_range(3):\n    t[...] = t * 0.5 + 1.0\nnl.store(out, value=t)",
    ((A * 0.5 + 1) * 0.5 + 1) * 0.5 + 1,
)
row(
    "nl.static_range",
    {"x": A},
    "t = nl.load(x)\nfor i in nl.static_range(3):\n    t = t * (i + 1.0)\nnl.store(out, value=t)",
    A * 6,
)
row(
    "nl.arange nl.ds",
    {"x": C},
    "p, f = nl.arange(32)[:, None], nl.arange(8, 24)[None, :]\nt = nl.load(x[p, f])\n"
    "nl.store(out[:, nl.ds(0, 16)], value=t)",
    C[:, 8:24],
    tol=None,
)
row(
    "nl.mgrid",
    {"x": C},
    "g = nl.mgrid[0:32, 0:16]\nnl.store(out[g.p, g.x], value=nl.load(x[g.p, g.x * 3]))",
    C[:, ::3],
    tol=None,
)
row(
    "nl.gemm_grid nl.gemm_stationary_grid",
    {"a": BIG[:, :1].repeat(128, 1), "b": BIG[:, :1].repeat(512, 1)},
    "p, m = nl.gemm_stationary_grid()\nq, n = nl.gemm_grid()\n"
    "nl.store(out[q, n], value=nisa.nc_matmul(nl.load(a[p, m]), nl.load(b[q, n])))",
    np.full((128, 512), (BIG[:, 0].astype(np.float64) ** 2).sum()),
)
row(
    "nl.par_dim",
    {"x": A},
    "t = nl.ndarray((2, nl.par_dim(16), 16), dtype=nl.float32)\nfor i in nl.affine_range(2):\n"
    "    t[i] = nl.load(x[i * 16:(i + 1) * 16, :])\n"
    "for i in nl.affine_range(2):\n    nl.store(out[i * 16:(i + 1) * 16, :], value=t[1 - i])",
    np.concatenate([A[16:], A[:16]]),
    tol=None,
)
row(
    "nl.program_id nl.num_programs nl.program_ndim",
    {"x": A},
    "i = nl.program_id(0)\nt = nl.load(x[i * 8:(i + 1) * 8, :]) * float(nl.num_programs(0) * 10 + nl.program_ndim())\n"
    "nl.store(out[i * 8:(i + 1) * 8, :], value=t)",
    A * 41,
    grid="(4,)",
)
row(
    "nl.spmd_dim nl.nc",
    {"x": A},
    "i = nl.program_id(0)\nnl.store(out[i * 8:(i + 1) * 8, :], value=nl.load(x[i * 8:(i + 1) * 8, :]))",
    A,
    grid="(nl.spmd_dim(nl.nc(2), 2),)",
    tol=None,
)
row(
    "nl.all_reduce",
    {"x": BIG},
    "i = nl.program_id(0)\nt = nl.load(x[i * 32:(i + 1) * 32, :])\n"
    "nl.store(out, value=nl.all_reduce(t, op=np.add, program_axes=[i]))",
    BIG.reshape(4, 32, 64).sum(0),
    grid="(4,)",
)
row("nl.device_print", {"x": A}, "t = nl.load(x)\nnl.device_print('t', t)\nnl.store(out, value=t)", A, tol=None)
row(
    "nl.finfo nl.fp32",
    {},
    "nl.store(out, value=nl.full((4, 4), nl.finfo(nl.float32).min - nl.fp32.min, dtype=nl.float32))",
    np.zeros((4, 4)),
    tol=None,
)
row(
    "nl.tile_size",
    {},
    "s = nl.tile_size\nnl.store(out, value=nl.full((s.pmax, s.gemm_moving_fmax), 1.0 * s.psum_fmax, dtype=nl.float32))",
    np.full((128, 512), 512),
    tol=None,
)
for _n, _d in {
    "uint8": np.uint8,
    "int8": np.int8,
    "uint16": np.uint16,
    "int16": np.int16,
    "int32": np.int32,
    "uint32": np.uint32,
}.items():
    row(
        "nl." + _n,
        {"x": np.round(np.abs(A) * 20)},
        f"nl.store(out, value=nl.load(x, dtype=nl.{_n}))",
        np.round(np.abs(A) * 20).astype(_d),
        tol=None,
        dtype="nl." + _n,
    )
row(
    "nl.float16",
    {"x": A},
    "nl.store(out, value=nl.load(x, dtype=nl.float16))",
    A.astype(np.float16).astype(F),
    tol=None,
)
row("nl.bfloat16", {"x": A}, "nl.store(out, value=nl.load(x, dtype=nl.bfloat16))", float8(A, 7, -126, 3e38), tol=None)
row("nl.tfloat32", {"x": A}, "nl.store(out, value=nl.load(x, dtype=nl.tfloat32))", float8(A, 10, -126, 3e38), tol=None)
row(
    "nl.float8_e4m3", {"x": A}, "nl.store(out, value=nl.load(x, dtype=nl.float8_e4m3))", float8(A, 3, -6, 240), tol=None
)
row(
    "nl.float8_e5m2",
    {"x": A},
    "nl.store(out, value=nl.load(x, dtype=nl.float8_e5m2))",
    float8(A, 2, -14, 57344),
    tol=None,
)
row(
    "nl.float32 nl.bool_",
    {"x": A},
    "nl.store(out, value=nl.copy(nl.greater(nl.load(x), 0.0, dtype=nl.bool_), dtype=nl.float32))",
    (A > 0).astype(F),
    tol=None,
)
