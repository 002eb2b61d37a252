"""The forty failures that models make most, as kernels: what each is, its body, and the diagnostic that must come
(codes: docs of the taxonomy)."""

OUT = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"
TILE = OUT + "t = nl.load(x[0:128, :])\n"
END = "nl.store(out[...], value=t)\nreturn out\n"
X = [("x", (256, 512), "float32")]
RAGGED = [("x", (300, 512), "float32")]
NCHW = [("x", (256, 8, 16, 16), "float32")]
MIXED = [("x", (128, 128), "float32"), ("b", (128, 128), "bfloat16")]
GRIDS = "p, f = nl.mgrid[0:128, 0:512]\n"

# (row, body, parameters, code). Code None: it compiles. The whole messages are in failure_wording.txt, in this order.
FAILURES = [
    (1, TILE + "t = nl.dot(t, t)\n" + END, X, "UNKNOWN_API"),
    (1, TILE + "t = nl.einsum('ij,jk', t, t)\n" + END, X, "UNKNOWN_API"),
    (2, TILE + "t = nl.clip(t, 0.0, 1.0)\n" + END, X, "UNKNOWN_API"),
    (2, TILE + "t = nl.leaky_relu(t)\n" + END, X, "UNKNOWN_API"),
    (2, TILE + "t = nl.concatenate([t, t])\n" + END, X, "UNKNOWN_API"),
    (2, TILE + "m = t.mean(axis=1)\n" + END, X, "UNKNOWN_API"),
    (
        3,
        TILE
        + "p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(p, t[:, 0:128], t)\n"
        + END,
        X,
        "WRONG_API_ERA",
    ),
    (4, TILE + "s = nl.sum(t, dim=1)\n" + END, X, "BAD_SIGNATURE"),
    (4, OUT + "t = nl.load(x, [0, 128])\n" + END, X, "BAD_SIGNATURE"),
    (5, OUT + "t = nl.load(x[0:256, 0:64])\n" + END, X, "PARTITION_LIMIT"),
    (5, OUT + "t = nl.load(w)\n" + END, [("w", (512,), "float32")], "PARTITION_LIMIT"),
    (
        6,
        OUT + "a, b = nl.ndarray((256, 128), dtype=nl.float32), nl.ndarray((256, 512), dtype=nl.float32)\n"
        "t = nisa.nc_matmul(a, b)\n" + END,
        X,
        "PARTITION_LIMIT",
    ),
    (6, TILE + "t = nl.matmul(t[:, 0:256], t)\n" + END, X, "PARTITION_LIMIT"),
    (
        7,
        TILE + "w = nl.zeros((128, 1024), dtype=nl.float32)\nt = nisa.nc_matmul(t[:, 0:128], w)\n" + END,
        X,
        "MATMUL_LIMIT",
    ),
    (7, TILE + "t = nisa.nc_matmul(t[:, 0:256], t)\n" + END, X, "MATMUL_LIMIT"),
    (8, TILE + "a = nl.load(x[0:64, 0:128])\nt = nisa.nc_matmul(a, t)\n" + END, X, "MATMUL_LAYOUT"),
    (9, TILE + "c = nl.max(t, axis=1)\nr = t[0:1, :]\nt = c + r\n" + END, X, "SHAPE_BROADCAST"),
    (10, TILE + "c = nl.max(t, axis=1)\nt = nisa.tensor_tensor(t, c, op=np.add)\n" + END, X, None),
    (10, TILE + "r = t[0:1, :]\nt = nisa.tensor_tensor(t, r, op=np.add)\n" + END, X, "SHAPE_BROADCAST"),
    (11, OUT + "t = nl.exp(x[0:128, :])\n" + END, X, "WRONG_MEMORY"),
    (11, TILE + "t = nl.load(t)\n" + END, X, "WRONG_MEMORY"),
    (12, TILE + "p = nisa.nc_matmul(t[:, 0:128], t)\nt = nisa.nc_matmul(t[:, 0:128], p)\n" + END, X, "WRONG_MEMORY"),
    (
        13,
        TILE + "p = nisa.nc_matmul(t[:, 0:128], t)\nt = nisa.tensor_tensor(p, p, op=np.multiply)\n" + END,
        X,
        "WRONG_MEMORY",
    ),
    (14, TILE + "return out\n", X, "OUTPUT_CONTRACT"),
    (14, TILE + "return t\n", X, "OUTPUT_CONTRACT"),
    (
        15,
        "out = nl.ndarray((300, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nfor i in nl.affine_range(300 // 128):\n"
        "    nl.store(out[i * 128:(i + 1) * 128, :], value=nl.load(x[i * 128:(i + 1) * 128, :]))\nreturn out\n",
        RAGGED,
        None,
    ),
    (16, TILE + "nl.store(x[0:128, :], value=t)\nreturn x\n", X, "OUTPUT_CONTRACT"),
    (
        17,
        "for i in nl.affine_range(2):\n    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "    nl.store(out, value=nl.load(x[0:128, :]))\nreturn out\n",
        X,
        "OUTPUT_CONTRACT",
    ),
    (18, OUT + "t = nl.load(x)\n", NCHW, "RANK_LAYOUT"),
    (19, TILE + "t = nl.transpose(t)\n" + END, X, "RANK_LAYOUT"),
    (19, OUT + "u = nl.zeros((32, 4, 8), dtype=nl.float32)\nt = nl.transpose(u)\n" + END, X, "RANK_LAYOUT"),
    (20, OUT + "t = nl.zeros((128,), dtype=nl.float32)\n" + END, X, "RANK_LAYOUT"),
    (20, OUT + "t = nl.load(x[nl.arange(128), 0])\n" + END, X, "INDEXING"),
    (21, OUT + "t = nl.load(x[nl.arange(128)[:, None], :])\n" + END, X, "INDEXING"),
    (
        22,
        OUT + "for i in nl.affine_range(2):\n    for j in nl.affine_range(2):\n"
        "        t = nl.load(x[nl.ds(i * j * 128, 128), :])\n",
        X,
        "INDEXING",
    ),
    (22, OUT + "t = nl.load(x[nl.arange(128)[:, None] // 2, nl.arange(512)[None, :]])\n" + END, X, "INDEXING"),
    (23, OUT + GRIDS + "for i in nl.affine_range(3):\n    t = nl.load(x[i * 128 + p, f])\n", RAGGED, "OOB"),
    (
        23,
        OUT
        + "for i in nl.affine_range(3):\n    n = min(128, 300 - i * 128)\n    t = nl.load(x[i * 128:i * 128 + n, :])\n",
        RAGGED,
        "CONTROL_FLOW",
    ),
    (24, OUT + GRIDS + "t = nl.load(x[p, f], mask=(p < 100) and (f < 100))\n" + END, X, "INDEXING"),
    (24, TILE + "t = nl.exp(t, mask=t > 0)\n" + END, X, "INDEXING"),
    (25, TILE + "ts = [t, t]\nfor i in nl.affine_range(2):\n    u = nl.exp(ts[i])\n" + END, X, "CONTROL_FLOW"),
    (
        25,
        TILE
        + "ts = []\nfor i in nl.affine_range(2):\n    ts.append(nl.load(x[i * 128:(i + 1) * 128, :]))\nt = ts[0]\n"
        + END,
        X,
        "CONTROL_FLOW",
    ),
    (
        25,
        TILE
        + "ts = []\nfor i in nl.affine_range(2):\n    ts.append(nl.load(x[i * 128:(i + 1) * 128, :]))\nt = ts[1]\n"
        + END,
        X,
        "CONTROL_FLOW",
    ),
    (
        25,
        OUT.replace("128", "256") + "row = 0\nfor i in nl.affine_range(2):\n"
        "    nl.store(out[row:row + 128, :], value=nl.load(x[row:row + 128, :]))\n    row += 128\nreturn out\n",
        X,
        "CONTROL_FLOW",
    ),
    (25, TILE + "n = 0\nfor i in nl.affine_range(2):\n    n = n + 1\n" + END, X, None),
    (26, TILE + "if t > 0:\n    t = nl.exp(t)\n" + END, X, "CONTROL_FLOW"),
    (
        27,
        OUT + "for i in nl.affine_range(2):\n    t = nl.load(x[i * 128:(i + 1) * 128, :])\n" + END,
        X,
        "SCOPE_LOOP_DEP",
    ),
    (
        28,
        TILE
        + "for i in nl.sequential_range(2):\n    u = nl.load(x[i * 128:(i + 1) * 128, :])\n    t = nl.maximum(t, u)\n"
        + END,
        X,
        "SCOPE_LOOP_DEP",
    ),
    (
        29,
        TILE
        + "acc = nl.zeros((128, 512), dtype=nl.float32)\nfor i in nl.affine_range(2):\n    acc[...] = acc + t\n"
        + END,
        X,
        "SCOPE_LOOP_DEP",
    ),
    (
        30,
        OUT + "t = nl.ndarray((128, 512), dtype=nl.float32)\nfor k in nl.sequential_range(2):\n"
        "    acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)\n"
        "    w = nl.load(x[k * 128:(k + 1) * 128, :])\n    acc += nisa.nc_matmul(w[:, 0:128], w)\n    t[...] = acc\n"
        + END,
        X,
        None,
    ),
    (31, OUT + "t = nl.zeros((128, 512), dtype=np.float64)\n" + END, X, "DTYPE"),
    (
        31,
        TILE + "b = nl.zeros((128, 1), dtype=nl.float8_e4m3)\nt = nisa.activation(op=nl.exp, data=t, bias=b)\n" + END,
        X,
        "DTYPE",
    ),
    (
        31,
        TILE + "s = nl.ones((128, 1), dtype=nl.bfloat16)\nt = nisa.activation(op=nl.exp, data=t, scale=s)\n" + END,
        X,
        "DTYPE",
    ),
    (32, OUT + "p = nisa.nc_matmul(nl.load(x), nl.load(b))\n", MIXED, "DTYPE"),
    (33, TILE + "t = nl.copy(nl.copy(t, dtype=nl.bfloat16), dtype=nl.float32)\n" + END, X, None),
    (34, TILE + "e = nl.exp(t)\nt = nl.log(nl.divide(e, nl.sum(e, axis=1)))\n" + END, X, None),
    (35, TILE + "s = nl.sum(t, axis=0)\n" + END, X, "UNSUPPORTED_OP"),
    (36, OUT + "t = nl.ndarray((128, 60000), dtype=nl.float32)\n" + END, X, "CAPACITY"),
    (37, TILE + "for i in nl.static_range(100000):\n    t = nl.exp(t)\n" + END, X, "CAPACITY"),
    (38, OUT + "t = nl.ndarray((128, 512), dtype=nl.float32)\nt[0:64, :] = nl.load(x[0:64, :])\n" + END, X, None),
    (39, TILE + "t = np.exp(t)\n" + END, X, "UNKNOWN_API"),
    (
        40,
        "out = nl.ndarray((128 * 512,), dtype=nl.float32, buffer=nl.shared_hbm)\np, f = nl.mgrid[0:128, 0:512]\n"
        "t = nl.load(x[p, f])\nnl.store(out[512 * p + f], value=t)\nreturn out\n",
        X,
        None,
    ),
]
