"""Operands in the wrong memory, and what no memory holds: code, line and wording of the diagnostic."""

import unittest

import kernels
from kernels import HEAD_LINES, X
from refusal_cases import END, OUT, TILE, check_cases

CASES = {
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
    "a huge unrolling": (
        TILE + "for i in nl.static_range(30000):\n    t = nl.exp(t)\n",
        X,
        "CAPACITY",
        3,
        ["unrolls 30000 times", "nl.affine_range"],
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
}


class Memory(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

    def test_the_first_error_sticks_whatever_the_kernel_catches(self):
        body = (
            TILE + "try:\n    u = nl.exp(x[0:128, :])\nexcept Exception:\n    u = t\nnl.store(out[...], value=u)\n"
            "return out\n"
        )
        result = kernels.compile_body(body)
        self.assertEqual(
            (result["ok"], result.get("code"), result.get("line")), (False, "WRONG_MEMORY", HEAD_LINES + 2 + 4)
        )


if __name__ == "__main__":
    unittest.main()
