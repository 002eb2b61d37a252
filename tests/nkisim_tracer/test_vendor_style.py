"""Written as tests for the vendor's package are: its import paths, decorators and simulate_kernel, outputs as
arguments, numpy results."""

import unittest
import unittest.mock
import warnings

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc import nki as nki_again
from neuronxcc.nki import baremetal, benchmark, jit, simulate_kernel
from neuronxcc.nki.isa.constants import oob_mode
from neuronxcc.nki.language import par_dim
from neuronxcc.nki.typing import tensor

nki_jit = nki.trace


@nki_jit
def add_kernel(a_tensor, b_tensor, c_tensor):
    """Outputs are the last arguments."""
    import neuronxcc.nki.language as nl

    ix, iy = nl.mgrid[0:128, 0:512]
    a = nl.load(a_tensor[ix, iy])
    b: tensor[128, 512] = nl.load(b_tensor[ix, iy])
    nl.store(c_tensor[ix, iy], value=a + b)


@jit(mode="simulation")
def two_outputs(x):
    low = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    high = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.load(x)
    nl.store(low, nl.minimum(t, 0.0))
    nl.store(high, nl.max(t, axis=1))
    return low, high


@baremetal
def plain_baremetal(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.load(x) * 2)
    return out


@baremetal(save_neff_name="file.neff", additional_compile_opt="-O1")
def baremetal_with_options(x, factor=1.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.load(x) * factor)
    return out


@benchmark(warmup=2, iters=5)
def timed(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.exp(nl.load(x)))
    return out


@nki_jit
def add_into(x, acc):
    nl.store(acc, value=nl.load(acc) + nl.load(x))


@nki_jit
def scatter_add(rows, values, table):
    i_p, i_f = nl.arange(64)[:, None], nl.arange(32)[None, :]
    where = nl.load(rows[nl.mgrid[0:64, 0:1]])
    nl.atomic_rmw(table[where[i_p, 0], i_f], value=nl.load(values[i_p, i_f]), op=np.add)


@nki_jit
def every_program_adds_its_row(x, total):
    i = nl.program_id(0)
    nl.atomic_rmw(
        total[nl.load(x[nl.ds(i, 1), 0:1], dtype=nl.int32), nl.arange(8)[None, :]],
        value=nl.load(x[nl.ds(i, 1), 0:8]),
        op=np.add,
    )


@nki_jit
def gather_partitions(source, index, num_elem, num_valid, output):
    import neuronxcc.nki.isa as nisa

    nl.store(output, nisa.local_gather(nl.load(source), nl.load(index), num_elem, num_valid))


@nki.jit
def sub_kernel_and_blocks(x, weights):
    """A traced helper, block dimensions, a returned numpy-typed constant and a keyword grid."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((x.shape[0] // 128, par_dim(128), x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    scale = (
        nl.load(weights).broadcast_to((128, x.shape[1]))
        if weights.shape[0] == 128
        else nl.broadcast_to(nl.load(weights), shape=(128, x.shape[1]))
    )
    for i in nl.affine_range(x.shape[0] // 128):
        tiles[i] = nl.load(x[nl.ds(i * 128, 128), :])
        tiles[i] = scaled(tiles[i], scale)
    for i in nl.affine_range(x.shape[0] // 128):
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=tiles[i], oob_mode=oob_mode.error)
    return out


@nki.trace
def scaled(tile, scale):
    return nl.multiply(tile, scale)


class VendorStyle(unittest.TestCase):
    def setUp(self):
        np.random.seed(4)

    def draw(self, *shape):
        return np.random.random_sample(shape).astype(np.float32)

    def test_outputs_as_arguments(self):
        a, b, c = self.draw(128, 512), self.draw(128, 512), np.zeros((128, 512), dtype=np.float32)
        self.assertIsNone(simulate_kernel(add_kernel, a, b, c))
        self.assertTrue(np.allclose(c, np.add(a, b)))

    def test_results_are_numpy_arrays_in_order(self):
        x = self.draw(64, 40) - 0.5
        low, high = simulate_kernel(two_outputs, x)
        self.assertIsInstance(low, np.ndarray)
        self.assertTrue(np.array_equal(low, np.minimum(x, 0)))
        self.assertTrue(np.array_equal(high, x.max(1, keepdims=True)))
        self.assertEqual((low.dtype, high.dtype), (np.float32, np.float32))

    def test_kernels_are_called_on_numpy_arrays(self):
        x = self.draw(100, 30)
        self.assertTrue(np.array_equal(plain_baremetal(x), 2 * x))
        self.assertTrue(np.array_equal(baremetal_with_options(x, factor=3.0), 3 * x))
        self.assertTrue(np.array_equal(baremetal_with_options(x), x))
        self.assertTrue(np.array_equal(nki.baremetal(plain_baremetal.func)(x), 2 * x))
        self.assertIs(nki_again, nki)

    def test_a_benchmark_has_latencies(self):
        x = self.draw(128, 64)
        np.testing.assert_allclose(timed(x), np.exp(x), rtol=1e-5)
        latency = timed.benchmark_result.nc_latency
        values = [latency.get_latency_percentile(p) for p in (0, 1, 10, 25, 50, 90, 99, 100)]
        self.assertGreater(values[0], 0)
        self.assertEqual(values, sorted(values))

    def test_a_benchmark_over_a_grid_leaves_its_latency_on_the_kernel(self):
        @nki.benchmark(warmup=2, iters=3, save_neff_name="kernel.neff")
        def doubled(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            i = nl.program_id(0) * 128
            nl.store(out[i : i + 128, :], value=nl.load(x[i : i + 128, :]) * 2.0)
            return out

        self.assertIsNone(doubled.benchmark_result)
        x = self.draw(256, 16)
        self.assertTrue(np.array_equal(doubled[2](x), 2 * x))
        self.assertGreater(doubled.benchmark_result.nc_latency.get_latency_percentile(99), 0)

    def test_every_mode_of_jit_runs_over_a_grid(self):
        def negated(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.hbm)
            i = nl.program_id(0) * 128
            nl.store(out[i : i + 128, :], value=nl.negative(nl.load(x[i : i + 128, :])))
            return [out]

        x = self.draw(256, 16)
        for mode in ("auto", "jax", "torchxla", "baremetal", "benchmark", "simulation", "trace"):
            for grid in (2, nl.nc(2), nl.spmd_dim(nl.nc(2), 1)):
                (got,) = nki.jit(negated, mode=mode, kernel_return=True, platform_target="trn1")[grid](x)
                self.assertTrue(np.array_equal(got, -x), mode)
            (got,) = simulate_kernel(nki.jit(negated, mode=mode)[2], x)
            self.assertTrue(np.array_equal(got, -x), mode)
        self.assertEqual(nki.isa.get_nc_version(), nki.isa.nc_version.gen2)

    def test_bfloat16_may_be_kept_in_float32(self):
        @nki.jit
        def halved(x):
            out = nl.ndarray(x.shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)
            nl.store(out, value=nl.multiply(nl.load(x, dtype=nl.bfloat16), 0.5, dtype=nl.bfloat16))
            return out

        x = self.draw(64, 40)
        rounded = simulate_kernel(halved, x)
        with unittest.mock.patch.dict("os.environ", NKISIM_BF16_AS_FP32="1"):
            exact = simulate_kernel(halved, x)
        self.assertTrue(np.array_equal(exact, x * np.float32(0.5)))
        error = np.abs(rounded / exact - 1).max()
        self.assertTrue(2**-10 < error <= 2**-8, error)

    def test_an_output_that_is_read_starts_as_the_argument(self):
        x, acc = self.draw(128, 16), self.draw(128, 16)
        want = acc + x
        simulate_kernel(add_into, x, acc)
        self.assertTrue(np.array_equal(acc, want))

    def test_atomic_updates_of_an_argument(self):
        rows, values, table = np.random.randint(0, 50, (64, 1)).astype(np.int32), self.draw(64, 32), self.draw(50, 32)
        want = table.copy()
        np.add.at(want, rows[:, 0], values)
        simulate_kernel(scatter_add, rows, values, table)
        np.testing.assert_allclose(table, want, rtol=1e-5)

    def test_programs_of_a_grid_share_such_an_argument(self):
        x = self.draw(4, 8)
        x[:, 0] = [0, 1, 1, 0]
        total = self.draw(2, 8)
        want = total.copy()
        np.add.at(want, [0, 1, 1, 0], x)
        simulate_kernel(every_program_adds_its_row[4], x, total)
        np.testing.assert_allclose(total, want, rtol=1e-5)

    def test_gather_by_the_cores_of_gpsimd(self):
        source = self.draw(128, 256, 4)
        index = np.tile(np.random.randint(0, 256, (16, 4)).astype(np.uint16), (8, 1))
        output = np.zeros((128, 4, 16, 4), np.float32)
        simulate_kernel(gather_partitions, source, index * np.uint16(4), 4, 64, output)
        flat = index[:16].flatten(order="F")
        self.assertTrue(np.array_equal(output.reshape(128, 64, 4), source[:, flat]))

    def test_sub_kernels_and_block_dimensions(self):
        x, w = self.draw(256, 48), self.draw(1, 48)
        self.assertTrue(np.array_equal(simulate_kernel(sub_kernel_and_blocks, x, w), x * w))

    def test_the_environment_names_the_sdk(self):
        @nki.jit
        def gathers(x, i):
            out = nl.ndarray(i.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            nl.store(out, value=nl.gather_flattened(nl.load(x), nl.load(i)))
            return out

        x, i = self.draw(16, 8), np.random.randint(0, 8, (16, 3)).astype(np.uint32)
        with self.assertRaisesRegex(AttributeError, "since SDK 2.25"):
            simulate_kernel(gathers, x, i)
        with unittest.mock.patch.dict("os.environ", NKISIM_SDK="2.26"):
            self.assertTrue(np.array_equal(simulate_kernel(gathers, x, i), np.take_along_axis(x, i.astype(int), 1)))

    def test_errors_are_pythons_own_kinds(self):
        @nki.jit
        def too_wide(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            nl.store(out, value=nl.load(x))
            return out

        with self.assertRaisesRegex(ValueError, "number of partitions 200 exceeds"):
            simulate_kernel(too_wide, self.draw(200, 4))
        with self.assertRaisesRegex(TypeError, "float64"):
            simulate_kernel(too_wide, np.zeros((4, 4)))

    def warned(self, kernel, x):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            simulate_kernel(kernel, x)
        self.assertTrue(all(w.category is RuntimeWarning and w.filename == __file__ for w in seen))
        return [str(w.message) for w in seen]

    def test_undefined_results_come_with_warnings_that_name_their_cause(self):
        @nki.jit
        def half_filled(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            half = nl.ndarray(x.shape, dtype=x.dtype)
            half[:, 0:32] = nl.log(nl.load(x[:, 0:32]))
            nl.store(out[:, 0:63], value=half[:, 0:63])
            return out

        line = half_filled.func.__code__.co_firstlineno
        texts = self.warned(half_filled, -np.ones((128, 64), np.float32))
        self.assertEqual(
            texts[:2],
            [
                "output 0: 128 of 8192 elements were never written, first at [0, 63]",
                f"variable `half` (line {line + 3}) was read before it was written, first at [0, 32] by line "
                f"{line + 5}",
            ],
        )
        self.assertRegex(texts[2], f"log at line {line + 4} needs values above 0: 4096 of 4096 values .*lie outside")

    def test_sound_results_come_without_warnings(self):
        @nki.jit
        def copied(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            nl.store(out, value=nl.load(x))
            return out

        self.assertEqual(self.warned(copied, self.draw(8, 4)), [])


if __name__ == "__main__":
    unittest.main()
