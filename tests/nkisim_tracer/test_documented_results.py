"""Result types, casts and operators as the documents of SDK 2.24 state them, against numpy."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

from against_numpy import AgainstNumpy, RNG, draw
from kernels import compile_body


def _integers(low, high, dtype, *shape):
    return RNG.integers(low, high, shape).astype(dtype)


class Integers(AgainstNumpy):
    """The engines compute in float32, and casts to integers saturate; 32-bit adds and multiplies alone are GpSimd's."""

    def test_results_of_8_and_16_bits_saturate(self):
        @nki.jit
        def kernel(x, y):
            total = nl.ndarray(x.shape, dtype=nl.int8, buffer=nl.shared_hbm)
            product = nl.ndarray(y.shape, dtype=nl.uint16, buffer=nl.shared_hbm)
            row = nl.ndarray((128, 1), dtype=nl.int8, buffer=nl.shared_hbm)
            a, b = nl.load(x), nl.load(y)
            nl.store(total, nl.add(a, a))
            nl.store(product, nl.multiply(b, b))
            nl.store(row, nl.sum(a, axis=1))
            return total, product, row

        x, y = _integers(-128, 128, np.int8, 128, 8), _integers(0, 1000, np.uint16, 128, 8)
        total, product, row = kernel(x, y)
        np.testing.assert_array_equal(total, np.clip(2 * x.astype(np.int64), -128, 127))
        np.testing.assert_array_equal(product, np.clip(y.astype(np.int64) ** 2, 0, 65535))
        np.testing.assert_array_equal(row, np.clip(x.sum(axis=1, keepdims=True, dtype=np.int64), -128, 127))

    def test_narrowing_copies_saturate(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.uint8, buffer=nl.shared_hbm)
            nl.store(out, nl.copy(nl.load(x), dtype=nl.uint8))
            return out

        x = _integers(-600, 600, np.int32, 128, 8)
        np.testing.assert_array_equal(kernel(x), np.clip(x, 0, 255))

    def test_32_bit_sums_stay_exact(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
            nl.store(out, nl.add(nl.load(x), 1))
            return out

        x = _integers(2**30, 2**31 - 2, np.int32, 128, 8)
        np.testing.assert_array_equal(kernel(x), x + 1)

    def test_the_scalar_engine_copies_through_float32(self):
        @nki.jit
        def kernel(x):
            scalar = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
            table = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
            vector = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(scalar, nisa.tensor_copy(t, engine=nisa.scalar_engine))
            nl.store(table, nisa.activation(op=nl.copy, data=t))
            nl.store(vector, nisa.tensor_copy(t, engine=nisa.vector_engine))
            return scalar, table, vector

        x = _integers(2**30, 2**31 - 2**10, np.int32, 128, 8)
        scalar, table, vector = kernel(x)
        np.testing.assert_array_equal(scalar, x.astype(np.float32).astype(np.int64))
        np.testing.assert_array_equal(table, scalar)
        np.testing.assert_array_equal(vector, x)

    def test_means_of_integers_are_float32(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            mean = nl.mean(nl.load(x), axis=1)
            assert mean.dtype == nl.float32
            nl.store(out, mean)
            return out

        x = _integers(0, 100, np.int32, 128, 30)
        self.close(kernel(x), x.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32), 1e-6)


class BitPatterns(AgainstNumpy):
    """Bitwise functions treat elements as bit patterns of their type; the right shift is the logical one."""

    def test_right_shifts_of_narrow_signed_types_move_zeros_in(self):
        @nki.jit
        def kernel(x, y):
            small = nl.ndarray(x.shape, dtype=nl.int8, buffer=nl.shared_hbm)
            wide = nl.ndarray(y.shape, dtype=nl.int16, buffer=nl.shared_hbm)
            a, b = nl.load(x), nl.load(y)
            nl.store(small, nl.right_shift(a, np.int8(1)))
            nl.store(wide, nisa.tensor_scalar(b, nl.right_shift, 3, op1=nl.bitwise_or, operand1=1))
            return small, wide

        x, y = _integers(-128, 128, np.int8, 128, 8), _integers(-3000, 3000, np.int16, 128, 8)
        small, wide = kernel(x, y)
        np.testing.assert_array_equal(small, (x.view(np.uint8) >> 1).view(np.int8))
        np.testing.assert_array_equal(wide, ((y.view(np.uint16) >> 3) | 1).view(np.int16))

    def test_unsigned_words_and_numbers_stay_words(self):
        """A xorshift. By promotion uint32 with a Python number, int32, would be float32, which has no bits."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.uint32, buffer=nl.shared_hbm)
            t = nl.load(x)
            t = nl.bitwise_xor(t, nl.left_shift(t, 13))
            t = t ^ (t >> 17)
            nl.store(out, nl.bitwise_xor(t, nl.left_shift(t, 5)))
            return out

        x = _integers(0, 2**32, np.uint32, 128, 8)
        want = x ^ (x << np.uint32(13))
        want ^= want >> np.uint32(17)
        np.testing.assert_array_equal(kernel(x), want ^ (want << np.uint32(5)))


class Signatures(AgainstNumpy):
    def test_names_and_places_of_arguments(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x).assert_shape((128, 8))
            t = nl.mod(t, 3.0, nl.float32)
            assert nl.fmod(t, 2.0, nl.bfloat16).dtype == nl.bfloat16
            nl.store(out, nl.maximum(nl.static_cast(arr=t, dtype=nl.float32), nisa.fp32.min))
            return out

        x = draw(128, 8)
        self.close(kernel(x), np.mod(x, np.float32(3)))

    def test_a_wrong_assertion_of_a_shape(self):
        told = compile_body("t = nl.load(x[0:128, :]).assert_shape((128, 8))\n")
        self.assertEqual(told["code"], "RANK_LAYOUT")
        self.assertIn("assert_shape says [128, 8], the tensor has [128, 512]", told["message"])


class Defaults(AgainstNumpy):
    def test_statistics_have_the_type_of_their_data(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x, dtype=nl.bfloat16)
            stats = nisa.bn_stats(t)
            assert stats.dtype == nl.bfloat16 and nisa.bn_stats(t, dtype=nl.float32).dtype == nl.float32
            assert nisa.bn_aggr(stats).dtype == nl.bfloat16
            nl.store(out, nisa.bn_aggr(stats, dtype=nl.float32))
            return out

        x = draw(128, 64)
        self.close(kernel(x), np.stack([x.mean(axis=1), x.var(axis=1)], axis=1), 2e-2)

    def test_leaving_out_of_bounds_out_is_of_one_call(self):
        """A view that one copy reads with oob_mode.skip still faults in a load."""

        @nki.jit
        def kernel(x, places):
            out = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            idx = nl.load(places)
            rows = x[idx[nl.arange(64)[:, None], 0], nl.arange(8)[None, :]]
            t = nl.zeros((64, 8), dtype=nl.float32)
            nisa.dma_copy(dst=t, src=rows, oob_mode=nisa.oob_mode.skip)
            nl.store(out, nl.load(rows))
            return out

        places = np.arange(64, dtype=np.int32)[:, None]
        with self.assertRaises(IndexError):
            kernel(draw(32, 8), places)


class Operators(AgainstNumpy):
    def test_operators_of_one_operand_stand_beside_zero(self):
        """rsqrt as the documents' page on choosing engines writes it; reciprocal and abs from the same table."""

        @nki.jit
        def kernel(x):
            outs = [nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm) for _ in (0, 1, 2)]
            t = nl.load(x)
            nl.store(outs[0], nisa.tensor_scalar(t, op0=nl.rsqrt, operand0=0.0, engine=nisa.gpsimd_engine))
            nl.store(outs[1], nisa.tensor_scalar(t, op0=np.add, operand0=1.0, op1=nl.rsqrt, operand1=0.0))
            nl.store(outs[2], nisa.tensor_scalar(t, nl.reciprocal, 0.0, op1=np.multiply, operand1=-2.0))
            return tuple(outs)

        x = np.abs(draw(128, 16)) + 0.1
        for got, want in zip(kernel(x), (x**-0.5, (x + 1) ** -0.5, -2 / x)):
            self.close(got, want)

    def test_a_reduction_by_subtract_takes_the_others_from_the_first(self):
        @nki.jit
        def kernel(x):
            plain = nl.ndarray((128, 3), dtype=nl.float32, buffer=nl.shared_hbm)
            minus = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            scaled = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(plain, nisa.tensor_reduce(nl.subtract, t, axis=[2]))
            nl.store(minus, nisa.tensor_reduce(np.subtract, t, axis=[1, 2], negate=True))
            sums = nl.ndarray((128, 1), dtype=nl.float32)
            nisa.tensor_scalar_reduce(data=t, op0=np.multiply, operand0=2.0, reduce_op=nl.subtract, reduce_res=sums)
            nl.store(scaled, sums)
            return plain, minus, scaled

        x = draw(128, 3, 5)
        plain, minus, scaled = kernel(x)
        flat = np.subtract.reduce(x.reshape(128, 15).astype(np.float64), axis=1)[:, None]
        self.close(plain, np.subtract.reduce(x.astype(np.float64), axis=2).astype(np.float32))
        self.close(minus, -flat)
        self.close(scaled, 2 * flat)

    def test_eight_values_may_have_three_axes(self):
        @nki.jit
        def kernel(x):
            places = nl.ndarray((64, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
            rest = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            t = nl.load(x)
            best = nisa.max8(src=t).reshape((64, 2, 4))
            nl.store(places, nisa.nc_find_index8(data=t, vals=best))
            nl.store(rest, nisa.nc_match_replace8(data=t, vals=best, imm=-1.0))
            return places, rest

        x = RNG.permutation(64 * 24).reshape(64, 4, 6).astype(np.float32)
        places, rest = kernel(x)
        flat = x.reshape(64, 24)
        order = np.argsort(-flat, axis=1)[:, :8]
        np.testing.assert_array_equal(places, order)
        np.put_along_axis(flat, order, -1.0, axis=1)
        np.testing.assert_array_equal(rest, flat.reshape(x.shape))


if __name__ == "__main__":
    unittest.main()
