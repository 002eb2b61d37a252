"""One kernel an error class: code, line and wording of the diagnostic."""

import unittest

import kernels
from kernels import HEAD_LINES, X

OUT = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"
TILE = OUT + "t = nl.load(x[0:128, :])\n"
END = "nl.store(out[...], value=t)\nreturn out\n"
FP = [("x", (128, 128), "float32"), ("b", (128, 128), "bfloat16")]

# name: (body, params, code, line of the body (from 1; 0: not asserted), fragments of the message)
CASES = {
    "a dot product by name": (
        TILE + "t = nl.dot(t, t)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["no attribute 'dot'", "nl.matmul(x, y"],
    ),
    "einsum": (
        TILE + "t = nl.einsum('ij,ij', t, t)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["einsum", "nc_matmul(stationary, moving"],
    ),
    "clip": (TILE + "t = nl.clip(t, 0, 1)\n" + END, X, "UNKNOWN_API", 3, ["nl.minimum(nl.maximum(x, lo), hi)"]),
    "a near name": (TILE + "t = nl.expp(t)\n" + END, X, "UNKNOWN_API", 3, ["nl.exp(x, *, dtype=None, mask=None)"]),
    "a tile method": (
        TILE + "m = t.mean(axis=1)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["no attribute 'mean'", "nl.mean(x, axis"],
    ),
    "a name for nisa": (TILE + "t = nisa.matmul(t, t)\n" + END, X, "UNKNOWN_API", 3, ["nl.matmul", "nisa.nc_matmul"]),
    "numpy on a tile": (TILE + "t = np.exp(t)\n" + END, X, "UNKNOWN_API", 3, ["numpy.exp", "nl.exp"]),
    "a name of a later SDK": (
        TILE + "t = nl.gather_flattened(t, t)\n" + END,
        X,
        "UNKNOWN_API",
        3,
        ["no attribute 'gather_flattened'", "since SDK 2.25"],
    ),
    "an instruction of trn2": (
        TILE + "nisa.range_select(t)\n" + END,
        X,
        "UNSUPPORTED_OP",
        3,
        ["does not exist on trn1", "NeuronCore-v3"],
    ),
    "a wrong keyword": (
        TILE + "s = nl.sum(t, dim=1)\n" + END,
        X,
        "BAD_SIGNATURE",
        3,
        ["nl.sum() ", "dim", "nl.sum(x, axis"],
    ),
    "a missing argument": (TILE + "s = nisa.nc_matmul(t[:, 0:128])\n" + END, X, "BAD_SIGNATURE", 3, ["'moving'"]),
    "destination first": (TILE + "nisa.tensor_copy(dst=t, src=t)\n" + END, X, "WRONG_API_ERA", 3, ["dst", "SDK 2.24"]),
    "a load of 256 partitions": (
        OUT + "t = nl.load(x)\n" + END,
        X,
        "PARTITION_LIMIT",
        2,
        [
            "partitions 256 exceeds architecture limit of 128",
            "src: [256, 512] float32 in hbm",
            "nl.affine_range(2)",
            "Info on how to fix: https://awsdocs",
            "err-num-partition-exceed-arch-limit",
        ],
    ),
    "a tile of 256 partitions": (
        OUT + "t = nl.ndarray((256, 4), dtype=nl.float32)\n" + END,
        X,
        "PARTITION_LIMIT",
        2,
        ["(2, nl.par_dim(128), 4)"],
    ),
    "a stationary of 256 columns": (
        TILE + "p = nisa.nc_matmul(t[:, 0:256], t)\n" + END,
        X,
        "MATMUL_LIMIT",
        3,
        ["256 of stationary", "gemm_stationary_fmax = 128"],
    ),
    "a moving of 1024 columns": (
        "w = nl.load(x)\nout = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "p = nisa.nc_matmul(w[:, 0:128], w)\n",
        [("x", (128, 1024), "float32")],
        "MATMUL_LIMIT",
        3,
        ["1024 of moving", "512", "err-size-of-dimension-exceed-arch-limit"],
    ),
    "an untransposed operand": (
        OUT + "a = nl.load(x[0:64, 0:128])\nb = nl.load(x[0:128, :])\np = nisa.nc_matmul(a, b)\n",
        X,
        "MATMUL_LAYOUT",
        4,
        ["64 partitions, moving 128", "load_transpose2d", "stationary: [64, 128] float32 in sbuf"],
    ),
    "matmul of shapes that do not chain": (
        OUT + "a = nl.load(x[0:64, 0:96])\nb = nl.load(x[0:128, :])\np = nl.matmul(a, b)\n",
        X,
        "MATMUL_LAYOUT",
        4,
        ["96 and 128 differ"],
    ),
    "a partition broadcast by an operator": (
        TILE + "r = t[0:1, :]\nt = t + r\n" + END,
        X,
        "SHAPE_BROADCAST",
        4,
        ["Unexpected partition broadcast!", "nl.add"],
    ),
    "tensor_tensor with a row": (
        TILE + "m = t[0:1, :]\nt = nisa.tensor_tensor(t, m, op=np.add)\n" + END,
        X,
        "SHAPE_BROADCAST",
        4,
        ["nisa.tensor_scalar", "data2: [1, 512] float32 in sbuf"],
    ),
    "tensor_tensor with some columns": (
        TILE + "t = nisa.tensor_tensor(t, t[:, 0:2], op=np.add)\n" + END,
        X,
        "SHAPE_BROADCAST",
        3,
        ["nisa.tensor_scalar", "data2: [128, 2] float32 in sbuf"],
    ),
    "a store of another shape": (
        TILE + "nl.store(out[0:64, :], value=t)\nreturn out\n",
        X,
        "SHAPE_BROADCAST",
        3,
        ["[128, 512]", "[64, 512]"],
    ),
    "exp of an argument": (
        OUT + "t = nl.exp(x[0:128, :])\n" + END,
        X,
        "WRONG_MEMORY",
        2,
        ["expected x in sbuf or psum, got hbm", "nl.load"],
    ),
    "a load of a tile": (TILE + "t = nl.load(t)\n" + END, X, "WRONG_MEMORY", 3, ["expected src in hbm, got sbuf"]),
    "matmul of a psum tile": (
        TILE + "p = nisa.nc_matmul(t[:, 0:128], t)\nq = nisa.nc_matmul(t[:, 0:128], p)\n" + END,
        X,
        "WRONG_MEMORY",
        4,
        ["expected moving in sbuf, got psum", "nl.copy"],
    ),
    "two psum operands": (
        TILE + "p = nisa.nc_matmul(t[:, 0:128], t)\nt = nisa.tensor_tensor(p, p, op=np.add)\n" + END,
        X,
        "WRONG_MEMORY",
        4,
        ["both operands are in psum"],
    ),
    "no store": (TILE + "return out\n", X, "OUTPUT_CONTRACT", 1, ["never written", "nl.store"]),
    "nothing returned": (
        TILE + "nl.store(out[...], value=t)\n",
        X,
        "OUTPUT_CONTRACT",
        3,
        ["returns nothing", "shared_hbm"],
    ),
    "a returned tile": (TILE + "return t\n", X, "OUTPUT_CONTRACT", 3, ["returns a tile in sbuf"]),
    "a store to a parameter": (
        TILE + "nl.store(x[0:128, :], value=t)\nreturn out\n",
        X,
        "OUTPUT_CONTRACT",
        3,
        ["Cannot update immutable parameter 'x'"],
    ),
    "shared_hbm in a loop": (
        "for i in nl.affine_range(2):\n    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        X,
        "OUTPUT_CONTRACT",
        2,
        ["inside a loop", "top level"],
    ),
    "a filled HBM tensor": (
        "out = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        X,
        "OUTPUT_CONTRACT",
        1,
        ["initial value"],
    ),
    "a whole 4-D tensor": (
        "t = nl.load(x)\n",
        [("x", (256, 8, 16, 16), "float32")],
        "RANK_LAYOUT",
        1,
        ["4-D", "x[n, c0:c0+128, h, :]"],
    ),
    "a transpose of 512 columns": (TILE + "t = nl.transpose(t)\n" + END, X, "RANK_LAYOUT", 3, ["512", "128 x 128"]),
    "a 1-D tile": (
        OUT + "t = nl.zeros((128,), dtype=nl.float32)\nt[...] = 1.0\n",
        X,
        "RANK_LAYOUT",
        3,
        ["Insufficient rank", "(128, 1)", "made at line 10"],
    ),
    "a block tensor without its index": (
        TILE + "b = nl.zeros((2, nl.par_dim(128), 512), dtype=nl.float32)\nt = nl.exp(b)\n" + END,
        X,
        "RANK_LAYOUT",
        4,
        ["Failed to infer tile"],
    ),
    "a wrong annotation": (
        OUT + "t: nt.tensor[128, 256] = nl.load(x[0:128, :])\n" + END,
        X,
        "RANK_LAYOUT",
        2,
        ["[128, 256]", "[128, 512]"],
    ),
    "a reduction of another axis number": (
        TILE + "s = nl.sum(t, axis=2)\n" + END,
        X,
        "RANK_LAYOUT",
        3,
        ["axis 2", "rank 2"],
    ),
    "a 1-D arange": (
        OUT + "t = nl.load(x[nl.arange(128), 0])\n",
        X,
        "INDEXING",
        2,
        ["one axis", "nl.arange(n)[:, None]", "err-1d-arange-not-supported"],
    ),
    "a mixed subscript": (
        OUT + "t = nl.load(x[nl.arange(128)[:, None], :])\n",
        X,
        "INDEXING",
        2,
        ["':'", "all slices"],
    ),
    "a product of loop variables": (
        OUT + "for i in nl.affine_range(2):\n    for j in nl.affine_range(2):\n"
        "        t = nl.load(x[i * j:i * j + 128, :])\n",
        X,
        "INDEXING",
        4,
        ["not affine"],
    ),
    "a modulo of an arange": (
        OUT + "t = nl.load(x[nl.arange(128)[:, None] % 4, nl.arange(512)[None, :]])\n",
        X,
        "INDEXING",
        2,
        ["arange grid"],
    ),
    "a mask with and": (
        OUT + "p, f = nl.mgrid[0:128, 0:512]\nt = nl.load(x[p, f], mask=(p < 100) and (f < 100))\n",
        X,
        "INDEXING",
        3,
        ["& only"],
    ),
    "a mask that is a tile": (TILE + "u = nl.exp(t, mask=t > 0)\n", X, "INDEXING", 3, ["tensor value", "nl.where"]),
    "an assignment to an index": (
        OUT + "p = nl.arange(128)[:, None]\np[0, 0] = 3\n",
        X,
        "INDEXING",
        3,
        ["nisa.iota", "err-cannot-assign-to-index"],
    ),
    "a negative index": (OUT + "t = nl.load(x[-1:, :])\n", X, "INDEXING", 2, ["negative"]),
    "an edge that is not masked": (
        OUT + "for i in nl.affine_range(3):\n    t = nl.load(x[i * 128:(i + 1) * 128, :])\n",
        X,
        "OOB",
        3,
        ["[0, 383]", "size of 256", "mask="],
    ),
    "a condition as an index": (
        TILE + "p, f = nl.mgrid[0:128, 0:512]\nu = nl.exp(t[p < 64, f])\n" + END,
        X,
        "INDEXING",
        4,
        ["is used as an index", "mask=(i_p < n)", "nisa.nc_matmul takes mask="],
    ),
    "a condition among slices": (
        TILE + "u = nl.exp(t[nl.arange(128)[:, None] < 64, 0:512])\n" + END,
        X,
        "INDEXING",
        3,
        ["mask=(i_p < n)"],
    ),
    "a float as an index": (
        TILE + "u = nl.exp(t[128 / 2, 0:512])\n" + END,
        X,
        "INDEXING",
        3,
        ["64.0 (float)", "fix: use // for integer division"],
    ),
    "a string as an index": (
        TILE + "u = nl.exp(t['a', 0:512])\n" + END,
        X,
        "INDEXING",
        3,
        ["'a' (str)", "fix: compute an integer"],
    ),
    "a dict of tiles of a loop": (
        TILE
        + "d = {}\nfor i in nl.affine_range(2):\n    d['a'] = nl.load(x[0:128, :])\nt = nl.exp(d['a'][0:64, :])\n"
        + END,
        X,
        "CONTROL_FLOW",
        6,
        ["'d' holds the tiles of one trip, not of 2", "traced once", "nl.static_range"],
    ),
    "a list that a helper gets": (
        TILE + "ts = []\nfor i in nl.sequential_range(2):\n    ts.append(nl.exp(t))\ndef last(ts):\n"
        "    return nl.exp(ts[-1])\nt = last(ts)\n" + END,
        X,
        "CONTROL_FLOW",
        7,
        ["'ts' holds the tiles of one trip", "nl.static_range"],
    ),
    "a store that no counter explains": (
        OUT + "for i in nl.affine_range(2):\n    nl.store(out[...], value=nl.load(x[i * 128:(i + 1) * 128, :]))\n"
        "return out\n",
        X,
        "SCOPE_LOOP_DEP",
        3,
        ["Unexpected output dependencies"],
    ),
    "a count in range arguments": (
        OUT + "for i in nl.affine_range(2):\n    for j in nl.affine_range(i):\n        pass\n",
        X,
        "CONTROL_FLOW",
        3,
        ["depends on a loop variable"],
    ),
    "a list indexed by a loop variable": (
        TILE + "ts = [t, t]\nfor i in nl.affine_range(2):\n    u = nl.exp(ts[i])\n",
        X,
        "CONTROL_FLOW",
        5,
        ["list indices must be integers or slices, not LoopVar", "static_range"],
    ),
    "an if on a tile": (
        TILE + "if t > 0:\n    t = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        3,
        ["tensor value", "nl.where", "err-dynamic-control-flow-not-supported"],
    ),
    "an if on an arange": (
        TILE + "p = nl.arange(128)[:, None]\nif p > 3:\n    t = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        4,
        ["nl.arange"],
    ),
    "a break in a symbolic loop": (
        TILE + "for i in nl.affine_range(4):\n    if i > 2:\n        break\n",
        X,
        "CONTROL_FLOW",
        4,
        ["break"],
    ),
    "a condition with and": (
        TILE + "for i in nl.affine_range(4):\n    for j in nl.affine_range(4):\n        if i > 0 and j > 0:\n"
        "            u = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        5,
        ["&"],
    ),
    "a ternary on a loop variable": (
        TILE + "for i in nl.affine_range(4):\n    k = 1 if i > 0 else 2\n",
        X,
        "CONTROL_FLOW",
        4,
        ["conditional expression"],
    ),
    "a tile used after its loop": (
        OUT + "for i in nl.affine_range(2):\n    t = nl.load(x[i * 128:(i + 1) * 128, :])\n" + END,
        X,
        "SCOPE_LOOP_DEP",
        4,
        ["outside of its parent scope", "allocate it before the loop", "err-local-variable-used-out-of-scope"],
    ),
    "a running maximum by name": (
        TILE + "m = nl.max(t, axis=1)\nfor i in nl.sequential_range(2):\n    u = nl.load(x[i * 128:(i + 1) * 128, :])\n"
        "    m = nl.maximum(m, nl.max(u, axis=1))\n",
        X,
        "SCOPE_LOOP_DEP",
        4,
        ["'m' is rebound", "m[...] ="],
    ),
    "a name bound in a branch": (
        TILE + "for i in nl.affine_range(2):\n    u = t\n    if i > 0:\n        v = t\n    w = nl.exp(v)\n",
        X,
        "SCOPE_LOOP_DEP",
        7,
        ["'v'", "parent scope"],
    ),
    "a carried write in affine_range": (
        TILE
        + "acc = nl.zeros((128, 512), dtype=nl.float32)\nfor i in nl.affine_range(2):\n    acc[...] = acc + t\n"
        + END,
        X,
        "SCOPE_LOOP_DEP",
        5,
        ["missing indices", "+=", "err-unexpected-output-dependencies"],
    ),
    "int64": (OUT + "t = nl.zeros((128, 4), dtype=np.int64)\n", X, "DTYPE", 2, ["int64", "int32"]),
    "float32 with bfloat16": (
        "a = nl.load(x)\nc = nl.load(b)\np = nisa.nc_matmul(a, c)\n",
        FP,
        "DTYPE",
        3,
        ["float32 is multiplied with bfloat16"],
    ),
    "an integer bias": (
        TILE + "z = nl.zeros((128, 1), dtype=nl.int32)\nt = nisa.activation(op=nl.exp, data=t, bias=z)\n",
        X,
        "DTYPE",
        4,
        ["bias is int32"],
    ),
    "a reduction over partitions": (
        TILE + "s = nl.sum(t, axis=0)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["Reduction on partition axes is not supported"],
    ),
    "an activation that is none": (
        TILE + "t = nisa.activation(op=nl.maximum, data=t)\n",
        X,
        "UNSUPPORTED_OP",
        3,
        ["maximum"],
    ),
    "a tile of 240 KB a partition": (
        OUT + "t = nl.zeros((128, 60000), dtype=nl.float32)\n",
        X,
        "CAPACITY",
        2,
        ["240000 bytes", "176 KiB"],
    ),
    "a psum tile of 32 KB": (
        OUT + "t = nl.zeros((128, 8192), dtype=nl.float32, buffer=nl.psum)\n",
        X,
        "CAPACITY",
        2,
        ["32768", "16 KiB"],
    ),
    "a row that starts at partition 5": (
        TILE + "r = nl.exp(t[5:6, :])\n",
        X,
        "PARTITION_LIMIT",
        3,
        ["starts at partition 5", "0, 32, 64 or 96"],
    ),
    "partitions in reverse": (
        TILE + "p, f = nl.mgrid[0:128, 0:512]\nr = nl.exp(t[127 - p, f])\n",
        X,
        "INDEXING",
        4,
        ["partition step -1"],
    ),
    "a mask on the wrong axis": (
        OUT + "for i in nl.affine_range(3):\n    p, f = nl.mgrid[0:128, 0:512]\n"
        "    t = nl.load(x[i * 128 + p, f], mask=(f < 500))\n",
        X,
        "OOB",
        4,
        ["[0, 383]", "size of 256"],
    ),
    "a mask that trims too little": (
        OUT + "for i in nl.affine_range(3):\n    p, f = nl.mgrid[0:128, 0:512]\n"
        "    t = nl.load(x[i * 128 + p, f], mask=(i * 128 + p < 300))\n",
        X,
        "OOB",
        4,
        ["[0, 299] under its mask"],
    ),
    "the matmul operator": (TILE + "t = t @ t\n", X, "UNKNOWN_API", 3, ["operator @", "nl.matmul"]),
    "a huge unrolling": (
        TILE + "for i in nl.static_range(30000):\n    t = nl.exp(t)\n",
        X,
        "CAPACITY",
        3,
        ["unrolls 30000 times", "nl.affine_range"],
    ),
    "an enumerated range": (
        TILE + "for n, i in enumerate(nl.affine_range(2)):\n    u = nl.exp(t)\n",
        X,
        "CONTROL_FLOW",
        3,
        ["enumerate"],
    ),
    "None in a subscript": (TILE + "m = nl.exp(t[:, None, :])\n", X, "INDEXING", 3, ["None"]),
    "a bitwise function of floats": (TILE + "m = nl.bitwise_and(t, t)\n", X, "DTYPE", 3, ["float32", "integer"]),
    "a tensor on the free axis as an index": (
        "i = nl.load(n)\np, f = nl.mgrid[0:128, 0:4]\nt = nl.load(x[p, i])\n",
        [("x", (128, 512), "float32"), ("n", (128, 4), "int32")],
        "INDEXING",
        3,
        ["err-indirect-indices-free-dim"],
    ),
    "an HBM tensor that no HBM holds": (
        OUT + "h = nl.ndarray((50000, 100000), dtype=nl.float32, buffer=nl.hbm)\n",
        X,
        "CAPACITY",
        2,
        ["20000000000 bytes", "16 GiB"],
    ),
    "an output of absurd size": (
        "out = nl.ndarray((10**12, 10**12), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        X,
        "CAPACITY",
        1,
        ["[1000000000000, 1000000000000] float32 in shared_hbm"],
    ),
    "blocks that cannot be counted": (
        OUT + "t = nl.ndarray((10**18, nl.par_dim(128), 512), dtype=nl.float32)\n",
        X,
        "CAPACITY",
        2,
        ["at most 2^62 bytes"],
    ),
    "a loop of 10^30 trips": (
        TILE + "for i in nl.sequential_range(10**30):\n    t[...] = nl.exp(t)\n" + END,
        X,
        "CAPACITY",
        3,
        ["trips", "2147483648"],
    ),
    "a run of 10^12 instructions": (
        TILE
        + "".join(f"{'    ' * k}for i{k} in nl.sequential_range(1000):\n" for k in range(4))
        + " " * 16
        + "t[...] = nl.exp(t)\n"
        + END,
        X,
        "CAPACITY",
        7,
        ["instructions up to here", "at most 100000000 instructions", "larger tiles"],
    ),
    "ten thousand reshapes and more": (
        TILE + "for k in [0] * 20000:\n    y = x.reshape((512, 256))\n" + END,
        X,
        "CAPACITY",
        4,
        ["more than 16000 tiles"],
    ),
    "ten megabytes of constants": (
        OUT + "c = nl.load(nl.shared_constant(np.zeros((128, 20000)), dtype=nl.float32))\n"
        "nl.store(out, value=c[:, 0:512])\nreturn out\n",
        X,
        "CAPACITY",
        0,
        ["10240000 of them constants", "8 MiB", "nisa.iota"],
    ),
    "a returned list": (
        TILE + "nl.store(out, value=t)\nreturn [out]\n",
        X,
        "OUTPUT_CONTRACT",
        4,
        ["returns a list", "a list of 1", "return (out_a, out_b)"],
    ),
    "a returned private tensor": (
        "h = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.private_hbm)\n"
        "nl.store(h, value=nl.load(x[0:128, :]))\nreturn h\n",
        X,
        "OUTPUT_CONTRACT",
        1,
        [
            "in private HBM",
            "[128, 512] float32 in private_hbm",
            "nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)",
        ],
    ),
    "program_id without a grid": (OUT + "i = nl.program_id(0)\n", X, "BAD_SIGNATURE", 2, ["GRID"]),
}


class Refusals(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        for name, (body, params, code, line, fragments) in CASES.items():
            with self.subTest(name):
                result = kernels.compile_body(body, params)
                self.assertFalse(result["ok"], name)
                self.assertEqual(result["code"], code, result["message"])
                self.assertEqual(result["stage"], "trace")
                for fragment in fragments:
                    self.assertIn(fragment, result["message"])
                if line:
                    self.assertEqual(result["line"], HEAD_LINES + 2 + line, result["message"])
                    self.assertIn(f"(kernel.py:{result['line']})", result["message"])
                self.assertNotRegex(result["message"], r"0x[0-9a-f]{4}|/work|/tmp|/usr")

    def test_what_is_not_done_yet_names_the_line_and_the_way_round(self):
        """A reduction over programs that goes on in the same kernel, a mask over two axes of a matmul, a condition as
        an index."""
        reduced = (
            "i = nl.program_id(0)\n"
            + OUT
            + "r = nl.all_reduce(nl.load(x[nl.ds(i * 128, 128), :]), np.add, program_axes=[i])\n"
        )
        into = "t = nl.ndarray((128, 512), dtype=nl.float32)\n"
        grid, store, one = (
            "GRID = (2,)\n",
            "fix: nl.store(out[...], value=nl.all_reduce(...))",
            "fix: store to one place that is the same in every program",
        )
        square = "p, f = nl.mgrid[0:64, 0:64]\na = nl.load(x[0:64, 0:64])\n"
        apart, masked = (
            "fix: leave the mask out, zero what must not count in one operand",
            "nl.load(x[i_p, i_f], mask=(i_p < n))",
        )
        for before, body, statement, fix in (
            (grid, reduced, "nl.store(out, r + 1.0)", store),
            (grid, reduced, "y = nl.exp(r)", store),
            (grid, reduced, "y = nisa.tensor_copy(r[0:64, :])", store),
            (grid, reduced + into, "t[...] = r", store),
            (grid, reduced + "nl.store(out, r)\n", "y = nl.copy(r)", store),
            (grid, reduced, "nl.store(out[nl.ds(i * 64, 64), :], r[0:64, :])", one),
            (grid, reduced, "nl.store(out[nl.ds((i * 3 // 2) * 64, 64), :], r[0:64, :])", one),
            ("", square, "y = nisa.nc_matmul(a, a, mask=(p + f < 60))", apart),
            ("", square, "y = nl.matmul(a, a, mask=(p < f))", apart),
            ("", square, "y = nl.load(x[p < 60, f])", masked),
            ("", square + OUT, "nl.store(out[p < 60, f], a)", masked),
            ("", square, "y = a[p < 60, f]", masked),
        ):
            with self.subTest(statement):
                result = kernels.compile_body(body + statement + "\n", X, before)
                self.assertEqual((result["ok"], result["stage"]), (False, "trace"))
                self.assertEqual(
                    result["line"], HEAD_LINES + before.count("\n") + 3 + body.count("\n"), result["message"]
                )
                self.assertIn(f"(kernel.py:{result['line']})", result["message"])
                self.assertIn(fix, result["message"])

    def test_masks_and_branches_make_an_access_legal(self):
        grid = "    p, f = nl.mgrid[0:128, 0:512]\n"
        loop = OUT.replace("128", "256") + "for i in nl.affine_range(3):\n" + grid
        masked = (
            "    t = nl.load(x[i * 128 + p, f], mask=(i * 128 + p < 256))\n"
            "    nl.store(out[i * 128 + p, f], value=t, mask=(i * 128 + p < 256))\n"
        )
        self.assertTrue(kernels.compile_body(loop + masked + "return out\n")["ok"])
        guarded = "    if i < 2:\n        nl.store(out[i * 128 + p, f], value=nl.load(x[i * 128 + p, f]))\n"
        self.assertTrue(kernels.compile_body(loop + guarded + "return out\n")["ok"])
        late = kernels.compile_body(loop + guarded.replace("i < 2", "i > 0") + "return out\n")
        self.assertEqual(late["code"], "OOB")

    def test_shared_hbm_of_a_helper_is_refused(self):
        helper = "def make():\n    return nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n\n\n"
        result = kernels.compile_body("out = make()\nreturn out\n", before=helper)
        self.assertEqual(result["code"], "OUTPUT_CONTRACT")
        self.assertIn("inside a helper", result["message"])

    def test_the_first_error_sticks_whatever_the_kernel_catches(self):
        body = (
            TILE + "try:\n    u = nl.exp(x[0:128, :])\nexcept Exception:\n    u = t\nnl.store(out[...], value=u)\n"
            "return out\n"
        )
        result = kernels.compile_body(body)
        self.assertEqual(
            (result["ok"], result.get("code"), result.get("line")), (False, "WRONG_MEMORY", HEAD_LINES + 2 + 4)
        )

    def test_probing_for_a_name_is_legal(self):
        self.assertTrue(kernels.compile_body(TILE + "if not hasattr(nl, 'fancy'):\n    t = nl.exp(t)\n" + END)["ok"])

    def test_later_names_and_strict_names_follow_the_options(self):
        body = TILE + "t = nl.gelu_apprx_sigmoid(t)\n" + END
        self.assertEqual(kernels.compile_body(body, sdk="2.24")["code"], "UNKNOWN_API")
        self.assertTrue(kernels.compile_body(body, sdk="2.26")["ok"])
        matmul = TILE + "p = nl.matmul(t[:, 0:128], t)\nt[...] = p\n" + END
        self.assertTrue(kernels.compile_body(matmul)["ok"])
        hidden = kernels.compile_body(matmul, strict_paper_names=True)
        self.assertEqual(hidden["code"], "UNKNOWN_API")
        self.assertNotIn("nl.matmul(", hidden["message"])

    def test_a_counter_in_a_symbolic_loop_is_a_warning_labelled_so(self):
        body = TILE + "n = 0\nfor i in nl.affine_range(2):\n    n = n + 1\n" + END
        result = kernels.compile_body(body)
        self.assertTrue(result["ok"])
        self.assertEqual(len(result["warnings"]), 1)
        self.assertTrue(result["warnings"][0].startswith("warning (not blocking): 'n' changes once"))


if __name__ == "__main__":
    unittest.main()
