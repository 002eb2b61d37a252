"""Shapes, ranks and the sizes that an instruction takes: code, line and wording of the diagnostic."""

import unittest

from kernels import X
from refusal_cases import END, OUT, TILE, check_cases

CASES = {
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
    "a row that starts at partition 5": (
        TILE + "r = nl.exp(t[5:6, :])\n",
        X,
        "PARTITION_LIMIT",
        3,
        ["starts at partition 5", "0, 32, 64 or 96"],
    ),
}


class Shapes(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)


if __name__ == "__main__":
    unittest.main()
