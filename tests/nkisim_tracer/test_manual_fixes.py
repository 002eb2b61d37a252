"""What the official manual tells to do in place of each error compiles, and computes what it says."""

import unittest

import numpy as np

from test_api_names import run

RNG = np.random.default_rng(3)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def out_of(shape, dtype="nl.float32"):
    return f"out = nl.ndarray({shape}, dtype={dtype}, buffer=nl.shared_hbm)\n"


class ManualFixes(unittest.TestCase):
    def agrees(self, body, inputs, want, sdk="2.24"):
        got = run(body + "return out\n", inputs, None, sdk)[0]
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)

    def test_a_weight_becomes_a_row_that_is_broadcast(self):
        w, x = draw(1024), draw(128, 1024)
        self.agrees(
            out_of((128, 1024)) + "row = nl.load(w.reshape((1, 1024)))\n"
            "nl.store(out, value=nl.load(x) * row.broadcast_to((128, 1024)))\n",
            {"w": w, "x": x},
            x * w,
        )
        self.agrees(
            out_of((128, 1024)) + "row = nl.load(x[3:4, :])\nnl.store(out, value=row.broadcast_to((128, 1024)))\n",
            {"x": x},
            np.broadcast_to(x[3:4], (128, 1024)),
        )

    def test_the_last_partial_tile_is_masked(self):
        x = draw(300, 64)
        self.agrees(
            out_of((300, 64)) + "i_p, i_f = nl.arange(128)[:, None], nl.arange(64)[None, :]\n"
            "for i in nl.affine_range(3):\n    t = nl.load(x[i * 128 + i_p, i_f], mask=(i * 128 + i_p < 300))\n"
            "    nl.store(out[i * 128 + i_p, i_f], value=t, mask=(i * 128 + i_p < 300))\n",
            {"x": x},
            x,
        )

    def test_one_dimensional_aranges_become_columns(self):
        x = draw(128, 1)
        self.agrees(
            out_of((2, 64, 1)) + "t = nl.load(x)\ni = nl.arange(64)[:, None]\nnl.store(out[0], value=nl.exp(t[i, 0]))\n"
            "nl.store(out[1], value=nl.exp(t[0:64, 0]))\n",
            {"x": x},
            np.exp(np.stack([x[:64]] * 2)),
        )

    def test_bias_and_scale_come_from_memset(self):
        x = draw(128, 16)
        self.agrees(
            out_of((2, 128, 16)) + "t = nl.load(x)\n"
            "nl.store(out[0], value=nisa.activation(op=nl.exp, data=t[...], bias=nisa.memset((128, 1), 1.25, "
            "dtype=nl.bfloat16)))\n"
            "nl.store(out[1], value=nisa.activation(op=nl.exp, data=t[...], scale=nisa.memset((128, 1), 0.5, "
            "dtype=np.float32)))\n",
            {"x": x},
            np.stack([np.exp(x + np.float32(1.25)), np.exp(x * np.float32(0.5))]),
        )

    def test_presence_of_a_parameter_is_asked_with_is_none(self):
        x = draw(128, 16)
        self.agrees(
            out_of((128, 16))
            + "t = nl.load(x)\nb = None\nc: nt.Optional[nt.tensor] = t\nif b is not None:\n    t = nl.exp(b)\n"
            "if c is not None:\n    t = t * 2.0\n"
            "nl.store(out, value=t)\n",
            {"x": x},
            2 * x,
        )

    def test_indices_that_are_written_are_iotas(self):
        self.agrees(
            out_of((1, 8), "nl.uint32")
            + "_, x = nl.mgrid[0:1, 0:8]\ny = nisa.iota(x, dtype=nl.uint32)\ny[0, 5] = 1024\nnl.store(out, value=y)\n",
            {},
            [[0, 1, 2, 3, 4, 1024, 6, 7]],
        )

    def test_an_input_is_updated_in_a_copy(self):
        x = draw(100, 16)
        self.agrees(
            out_of((100, 16)) + "nisa.dma_copy(dst=out, src=x)\nt = nl.load(out)\nnl.store(out, value=t + 1)\n",
            {"x": x},
            x + 1,
        )

    def test_conditions_on_positions_are_masks(self):
        x = draw(1, 1024)
        self.agrees(
            out_of((1, 1024))
            + "t = nl.load(x)\ny = nl.zeros((1, 1024), dtype=nl.float32)\nfor j0 in nl.affine_range(8):\n"
            "    j = j0 * 128 + nl.arange(128)[None, :]\n"
            "    i = nl.arange(1)[:, None]\n    y[i, j] = nl.add(t[0, j], t[0, j - 200], mask=j >= 200)\n"
            "nl.store(out, value=y)\n",
            {"x": x},
            np.concatenate([np.zeros((1, 200)), x[:, 200:] + x[:, :-200]], 1),
        )

    def test_block_tensors_are_indexed_first(self):
        self.agrees(
            out_of((4, 8, 8)) + "a = nl.zeros((4, nl.par_dim(8), 8), dtype=nl.float32, buffer=nl.sbuf)\n"
            "c = nl.ndarray((4, nl.par_dim(8), 8), dtype=nl.float32, buffer=nl.sbuf)\n"
            "for i in range(4):\n    c[i] = nl.add(a[i], 32)\n    nl.store(out[i], value=c[i])\n",
            {},
            np.full((4, 8, 8), 32),
        )

    def test_hbm_tensors_are_filled_by_stores_of_numbers(self):
        self.agrees(
            out_of((3, 128, 8)) + "for i in range(3):\n    nl.store(dst=out[i, :, :], value=1.0)\n",
            {},
            np.ones((3, 128, 8)),
        )
        self.agrees(
            out_of((128, 700))
            + "for i in nl.affine_range((700 + 512 - 1) // 512):\n    tile = nl.mgrid[0:128, 0:512]\n"
            "    nl.store(out[tile.p, i * 512 + tile.x], value=0, mask=i * 512 + tile.x < 700)\n",
            {},
            np.zeros((128, 700)),
        )

    def test_tiles_are_allocated_before_a_branch(self):
        a, b = draw(32, 8), draw(32, 8)
        self.agrees(
            out_of((4, 32, 8))
            + "for i in range(4):\n    tmp = nl.ndarray(shape=a.shape, dtype=a.dtype)\n    if i < 2:\n"
            "        tmp[...] = nl.load(a)\n    else:\n"
            "        tmp[...] = nl.load(b)\n    nl.store(out[i], tmp)\n",
            {"a": a, "b": b},
            np.stack([a, a, b, b]),
        )

    def test_a_loop_variable_becomes_a_tile_by_iota(self):
        self.agrees(
            out_of((128, 16))
            + "data = nl.zeros((nl.par_dim(128), 16), dtype=np.float32)\nfor i in nl.sequential_range(4):\n"
            "    i_tile = nisa.iota(i, dtype=nl.uint32).broadcast_to(data.shape)\n    data[...] = data + i_tile\n"
            "nl.store(out, value=data)\n",
            {},
            np.full((128, 16), 6),
        )

    def test_partitions_are_broadcast_explicitly(self):
        x, y = draw(128, 16), draw(1, 16)
        self.agrees(
            out_of((128, 16)) + "a, b = nl.load(x), nl.load(y)\n"
            "nl.store(out, value=nisa.tensor_tensor(a, b.broadcast_to([128, 16]), op=nl.add))\n",
            {"x": x, "y": y},
            x + y,
        )

    def test_a_larger_destination_repeats_the_free_axis(self):
        y = draw(128, 1)
        self.agrees(
            out_of((128, 16)) + "t = nl.zeros(shape=(128, 16), dtype=nl.float32, buffer=nl.sbuf)\nt[...] = nl.load(y)\n"
            "nl.store(out, value=t)\n",
            {"y": y},
            np.repeat(y, 16, 1),
        )

    def test_carried_writes_are_sequential(self):
        self.agrees(
            out_of((4, 128, 8)) + "a = nl.ndarray((4, nl.par_dim(128), 8), dtype=nl.float32, buffer=nl.sbuf)\n"
            "for i in nl.affine_range(4):\n    a[i] = 0\n"
            "for i in nl.sequential_range(4):\n    a[0] = 7\nfor i in nl.affine_range(4):\n"
            "    nl.store(out[i], value=a[i])\n",
            {},
            np.concatenate([np.full((1, 128, 8), 7), np.zeros((3, 128, 8))]),
        )

    def test_masks_of_loop_variables_choose_the_trips_that_store(self):
        self.agrees(
            out_of((8,), "nl.int32") + "for i in range(8):\n    nl.store(out, i, mask=i < 4)\n", {}, np.full(8, 3)
        )
        self.agrees(
            out_of((8,), "nl.int32")
            + "for i in range(8):\n    for j in range(8):\n        nl.store(out, i, mask=(2*i + 3*j + 1) < 20)\n",
            {},
            np.full(8, 7),
        )

    def test_mutable_parameters_are_returned(self):
        import kernels
        from neuronxcc.nki import _harness
        from neuronxcc.nki._trace import engine

        x = draw(32, 8)
        source = kernels.HEAD + (
            "@nki.jit\ndef kernel(x: nt.mutable_tensor):\n"
            "    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n    y = nl.load(x) + 1\n"
            "    nl.store(out, value=y)\n    nl.store(x, value=y)\n    return out, x\n"
        )
        result = _harness.compile_source(source, None, [("x", (32, 8), "float32")], None, {"sdk": "2.26"})
        self.assertTrue(result["ok"], result)
        got, _ = engine.run_raw(result["program"], [x], result["outputs"])
        self.assertTrue(all(np.array_equal(g, x + 1) for g in got))


if __name__ == "__main__":
    unittest.main()
