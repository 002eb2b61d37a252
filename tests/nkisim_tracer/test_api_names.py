"""Every documented name of nl and nisa (SDK 2.24 to 2.26, trn1): a run against numpy, or a documented refusal."""

import unittest

import numpy as np

import api_table
import api_table_isa  # adds its rows
import kernels
from neuronxcc.nki._trace import engine
from neuronxcc.nki._trace.names import REGISTRY, SINCE

DOCUMENTED = {"nl": api_table.DOCUMENTED, "nisa": api_table_isa.DOCUMENTED}
# tested by their statistics below: no numpy stream equals theirs
RANDOM = {"nl.rand", "nl.random_seed", "nl.dropout", "nisa.dropout"}
# instructions of NeuronCore-v3
REFUSED = {"nisa.range_select", "nisa.select_reduce", "nisa.sequence_bounds"}


def run(body, inputs, want_shapes, sdk="2.24", grid=None):
    params = [(name, array.shape, str(array.dtype)) for name, array in inputs.items()]
    result = kernels.compile_body(body, params, f"GRID = {grid}\n" if grid else "", sdk=sdk)
    if not result["ok"]:
        raise AssertionError(f"{result['code']}: {result['message']}")
    arrays, report = engine.run_raw(result["program"], list(inputs.values()), result["outputs"])
    if report.get("code", "none") not in ("none", "", None):
        raise AssertionError(str(report))
    return [engine.to_host(a, name) for a, (_, name) in zip(arrays, result["outputs"])]


class EveryDocumentedName(unittest.TestCase):
    def test_each_row_agrees_with_numpy(self):
        for row in api_table.ROWS:
            with self.subTest(" ".join(row.names)):
                got = run(row.source, row.inputs, None, row.sdk, row.grid)[0]
                self.assertEqual(got.shape, row.want.shape)
                if row.tol is None:
                    self.assertTrue(
                        np.array_equal(got.astype(np.float64), row.want.astype(np.float64)),
                        np.abs(got - row.want.astype(got.dtype)).max(),
                    )
                else:
                    np.testing.assert_allclose(got, row.want, rtol=row.tol, atol=row.tol)

    def test_each_name_has_a_row_or_a_refusal(self):
        covered = {name for row in api_table.ROWS for name in row.names} | RANDOM | REFUSED
        documented = {f"{module}.{name}" for module, names in DOCUMENTED.items() for name in names}
        self.assertEqual(sorted(documented - covered), [])
        self.assertEqual(sorted(covered - documented), [])
        for row in api_table.ROWS:
            for name in row.names:
                self.assertIn(
                    name.split(".")[1],
                    row.body + f" {row.grid} {row.dtype} nl.float32 nl.ndarray nl.shared_hbm nl.sbuf nl.hbm",
                    f"a row that does not use {name}",
                )

    def test_nothing_is_offered_that_is_not_documented(self):
        for module, names in DOCUMENTED.items():
            self.assertEqual(sorted(set(REGISTRY[module]) - set(names)), [])

    def test_instructions_of_later_chips_are_refused_by_the_target(self):
        for name in sorted(REFUSED):
            for sdk in ("2.24", "2.26"):
                result = kernels.compile_body(f"{name}(nl.load(x[0:128, :]))\n", sdk=sdk)
                self.assertEqual(result["code"], "UNSUPPORTED_OP", name)
                self.assertIn(f"{name} does not exist on trn1", result["message"])
                self.assertIn("NeuronCore-v3", result["message"])

    def test_later_names_are_unknown_before_their_sdk(self):
        for (module, name), since in SINCE.items():
            if f"{module}.{name}" in REFUSED:
                continue
            result = kernels.compile_body(f"f = {module}.{name}\n", sdk="2.24")
            self.assertEqual(result["code"], "UNKNOWN_API", name)
            self.assertIn(f"since SDK {since[0]}.{since[1]}", result["message"])
        for body, keyword in (
            ("nisa.nc_match_replace8(data=t, vals=nisa.max8(src=t), imm=0.0, dst_idx=t)", "dst_idx"),
            ("nisa.dma_transpose(x[0:128, :], axes=(1, 0))", "axes"),
        ):
            result = kernels.compile_body(f"t = nl.load(x[0:128, :])\n{body}\n")
            self.assertEqual(result["code"], "BAD_SIGNATURE")
            self.assertIn(f"unexpected keyword argument '{keyword}'", result["message"])


class RandomNumbers(unittest.TestCase):
    def test_rand_is_uniform_repeatable_and_differs_between_calls_and_trips(self):
        body = (
            "out = nl.ndarray((4, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nnl.random_seed(7)\n"
            "for i in nl.affine_range(3):\n"
            "    nl.store(out[i], value=nl.rand((128, 512), dtype=nl.float32))\n"
            "nl.store(out[3], value=nl.rand((128, 512)))\nreturn out\n"
        )
        got = run(body, {}, None)[0]
        self.assertTrue(np.array_equal(got, run(body, {}, None)[0]))
        self.assertTrue((got >= 0).all() and (got < 1).all())
        for k in range(4):
            histogram = np.histogram(got[k], 16, (0, 1))[0] / got[k].size
            self.assertLess(np.abs(histogram - 1 / 16).max(), 0.004)
            self.assertLess(abs(np.corrcoef(got[k][:, :-1].ravel(), got[k][:, 1:].ravel())[0, 1]), 0.02)
            for j in range(k):
                self.assertLess(abs(np.corrcoef(got[k].ravel(), got[j].ravel())[0, 1]), 0.02)
        other = run(body.replace("seed(7)", "seed(8)"), {}, None)[0]
        self.assertLess(abs(np.corrcoef(got.ravel(), other.ravel())[0, 1]), 0.02)

    def test_the_same_seed_draws_the_same_mask_in_other_loops(self):
        """As a backward pass does: it sets the forward pass's seeds in loops of its own."""
        head = "out = nl.ndarray((2, 64, 32), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        draw = (
            "nl.random_seed(100 + i)\n"
            "{0}nl.store(out[i], value=nl.dropout(nl.ones((64, 32), dtype=nl.float32), rate=0.5))\n"
        )
        one = head + "for i in nl.affine_range(2):\n    " + draw.format("    ") + "return out\n"
        other = (
            head
            + "for j in nl.affine_range(3):\n    for i in nl.sequential_range(2):\n        if j == 2:\n            "
            + draw.format("            ")
            + "return out\n"
        )
        first, second = run(one, {}, None)[0], run(other, {}, None)[0]
        self.assertTrue(np.array_equal(first, second))
        self.assertGreater((first[0] != first[1]).mean(), 0.3)

    def test_programs_without_a_seed_differ(self):
        body = (
            "out = nl.ndarray((2, 64, 32), dtype=nl.float32, buffer=nl.shared_hbm)\n"
            "nl.store(out[nl.program_id(0)], value=nl.rand((64, 32)))\nreturn out\n"
        )
        got = run(body, {}, None, grid="(2,)")[0]
        self.assertGreater((got[0] != got[1]).mean(), 0.99)

    def test_a_seed_may_be_a_tile(self):
        body = (
            "out = nl.ndarray((32, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nnl.random_seed(nl.load(s))\n"
            "nl.store(out, value=nl.rand((32, 64)))\nreturn out\n"
        )
        first, again, other = (run(body, {"s": np.array([[k]], np.int32)}, None)[0] for k in (3, 3, 4))
        self.assertTrue(np.array_equal(first, again))
        self.assertGreater((first != other).mean(), 0.99)

    def test_dropout_zeroes_the_asked_share_and_keeps_the_rest(self):
        x = np.abs(np.random.default_rng(2).standard_normal((128, 512))).astype(np.float32) + 1
        for call in (
            "nl.dropout(t, rate={})",
            "nisa.dropout(t, prob={})",
            "nisa.dropout(t, prob=nl.full((128, 1), {}, dtype=nl.float32))",
        ):
            for rate in (0.0, 0.25, 1.0):
                body = (
                    "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x)\n"
                    f"nl.store(out, value={call.format(rate)})\nreturn out\n"
                )
                got = run(body, {"x": x}, None)[0]
                kept = got != 0
                self.assertTrue(np.array_equal(got[kept], x[kept]))
                self.assertAlmostEqual(1 - kept.mean(), rate, delta=0.01 if 0 < rate < 1 else 0)


class MutableParameters(unittest.TestCase):
    FILE = kernels.HEAD + (
        "{grid}@nki.jit\ndef kernel(x: nt.mutable_tensor, y):\n    i = nl.program_id(0) if {pid} else 0\n"
        "    t = nl.load(x[i * 32:(i + 1) * 32, :]) + nl.load(y[i * 32:(i + 1) * 32, :])\n"
        "    nl.store(x[i * 32:(i + 1) * 32, :], value=t)\n    return {ret}\n"
    )
    PARAMS = [("x", (64, 16), "float32"), ("y", (64, 16), "float32")]

    def test_a_mutable_parameter_starts_as_its_argument_and_is_returned(self):
        from neuronxcc.nki import _harness

        x, y = np.random.default_rng(1).standard_normal((2, 64, 16)).astype(np.float32)
        for grid, pid, rows in (("", False, 32), ("GRID = (2,)\n", True, 64)):
            result = _harness.compile_source(
                self.FILE.format(grid=grid, pid=pid, ret="x"), None, self.PARAMS, None, {"sdk": "2.26"}
            )
            self.assertTrue(result["ok"], result)
            got = engine.run_raw(result["program"], [x, y], result["outputs"])[0][0]
            want = x.copy()
            want[:rows] += y[:rows]
            self.assertTrue(np.array_equal(got, want))

    def test_it_must_be_returned_and_exists_since_2_26(self):
        from neuronxcc.nki import _harness

        source = self.FILE.format(grid="", pid=False, ret="nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)")
        result = _harness.compile_source(source, None, self.PARAMS, None, {"sdk": "2.26"})
        self.assertEqual(result["code"], "OUTPUT_CONTRACT")
        self.assertIn("err-mutable-parameter-not-returned", result["message"])
        result = _harness.compile_source(source, None, self.PARAMS, None, {"sdk": "2.24"})
        self.assertEqual((result["code"], result["stage"]), ("UNKNOWN_API", "trace"))
        self.assertIn("since SDK 2.26", result["message"])


class DirectAllocation(unittest.TestCase):
    HEAD = (
        "import neuronxcc.nki.compiler as ncc\nout = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "t = nl.ndarray((2, nl.par_dim(128), 64), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0, "
        "num_free_tiles=(2,)))\n"
        "u = nl.ndarray((128, 64), dtype=nl.float32, buffer=ncc.sbuf.alloc(lambda *a: (0, 0)))\n"
        "v = nl.ndarray((128, 64), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=1))\n"
        "t[1] = nl.load(x)\n"
    )

    def test_allocators_say_which_memory(self):
        x = np.random.default_rng(1).standard_normal((128, 64)).astype(np.float32)
        got = run(
            self.HEAD + "u[...] = nl.multiply(t[1], 2.0)\nv[...] = nl.copy(u)\nnl.store(out, value=v)\nreturn out\n",
            {"x": x},
            None,
        )[0]
        self.assertTrue(np.array_equal(got, 2 * x))

    def test_their_documented_limits_are_kept(self):
        for body, code, fragment in (
            (
                "z = nl.zeros((128, 4), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))",
                "OUTPUT_CONTRACT",
                "err-tensor-creation-on-scratchpad",
            ),
            (
                "z = nl.ndarray((128, 4), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=180224))",
                "CAPACITY",
                "base_addr 180224",
            ),
            (
                "z = nisa.nc_transpose(t[1])",
                "UNSUPPORTED_OP",
                "err-transpose-on-tensor-engine-not-allowed-in-allocated-kernel",
            ),
            ("z = nisa.activation(op=nl.exp, data=t[1])", "OUTPUT_CONTRACT", "err-bias-tensor-must-be-specified"),
        ):
            result = kernels.compile_body(self.HEAD + body + "\n", [("x", (128, 64), "float32")])
            self.assertEqual(result["code"], code, result["message"])
            self.assertIn(fragment, result["message"])


if __name__ == "__main__":
    unittest.main()
