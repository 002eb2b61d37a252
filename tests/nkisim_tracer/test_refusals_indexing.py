"""Subscripts and masks: code, line and wording of the diagnostic."""

import unittest

import kernels
from kernels import HEAD_LINES, X
from refusal_cases import END, OUT, TILE, check_cases

CASES = {
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
    "None in a subscript": (TILE + "m = nl.exp(t[:, None, :])\n", X, "INDEXING", 3, ["None"]),
    "a tensor on the free axis as an index": (
        "i = nl.load(n)\np, f = nl.mgrid[0:128, 0:4]\nt = nl.load(x[p, i])\n",
        [("x", (128, 512), "float32"), ("n", (128, 4), "int32")],
        "INDEXING",
        3,
        ["err-indirect-indices-free-dim"],
    ),
    "an indirect index by nl.mgrid": (
        "i = nl.load(n)\np, f = nl.mgrid[0:128, 0:512]\nt = nl.load(x[i[p, 0], f])\n",
        X + [("n", (128, 1), "int32")],
        "INDEXING",
        3,
        ["repeats its values along axis 1", "i_p = nl.arange(p)[:, None]", "err-indirect-indices-free-dim"],
    ),
}


class Indexing(unittest.TestCase):
    def test_each_fault_gets_its_code_line_and_wording(self):
        check_cases(self, CASES)

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


if __name__ == "__main__":
    unittest.main()
