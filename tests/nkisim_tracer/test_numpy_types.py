"""Element types where numpy takes one: their sizes, their numbers, arrays of them; constants in the formats that numpy
lacks."""

import struct
import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
from neuronxcc.nki._trace import formats

from kernels import HEAD, compile_body, compile_file

NUMPYS = "uint8 int8 uint16 int16 uint32 int32 float16 float32".split()


class NumpyTakesThem(unittest.TestCase):
    def test_a_type_of_numpys_is_numpys(self):
        for name in NUMPYS:
            self.assertEqual(np.dtype(getattr(nl, name)), np.dtype(name))
            self.assertEqual(np.ones((2, 3), dtype=getattr(nl, name)).dtype, np.dtype(name))
            self.assertEqual(np.arange(3).astype(getattr(nl, name)).dtype, np.dtype(name))
        self.assertEqual(np.dtype(nl.bool_), np.dtype("bool"))
        self.assertEqual(np.finfo(nl.float16).max, np.finfo("float16").max)
        self.assertTrue(np.issubdtype(nl.float32, np.floating))

    def test_what_is_equal_is_found_in_one_dict(self):
        for name in [*NUMPYS, "bool_"]:
            ours, numpys = getattr(nl, name), getattr(np, name)
            self.assertEqual(({numpys: 4}[ours], {ours: 4}[numpys], len({ours, numpys})), (4, 4, 1))
        self.assertEqual({nl.bfloat16: 2, nl.float8_e4m3: 1, nl.tfloat32: 4}[nl.bfloat16], 2)

    def test_the_others_have_their_size(self):
        for name, size in (("bfloat16", 2), ("float8_e4m3", 1), ("float8_e5m2", 1), ("tfloat32", 4)):
            self.assertEqual(np.dtype(getattr(nl, name)).itemsize, size)

    def test_called_they_make_numbers(self):
        self.assertEqual((nl.float32(0.1), type(nl.float32(0.1))), (np.float32(0.1), np.float32))
        self.assertEqual((nl.int8(-3), type(nl.int8(-3))), (np.int8(-3), np.int8))
        self.assertEqual(nl.float32(), 0)
        self.assertEqual(nl.bfloat16(1 / 3), 0.333984375)  # 0x3eab, by the definition of the format
        self.assertEqual(nl.bfloat16(1 / 3).dtype, nl.bfloat16)

    def test_arrays_on_the_host_keep_a_type_that_numpy_has_not(self):
        """Codes of all values of the small formats, and bfloat16 by the definition: the upper half of a float32."""
        for name in ("float8_e4m3", "float8_e5m2"):
            every = np.array([formats.decode(code, name) for code in range(256)], dtype=np.float32)
            back = nl.static_cast(every, getattr(nl, name))
            np.testing.assert_array_equal(np.asarray(back), every)
            middle = np.concatenate([every * np.float32(k) for k in (1.03, 1.0625, 1.4, 0.97)])
            wanted = [formats.rounded(float(v), name) for v in middle]
            np.testing.assert_array_equal(np.asarray(nl.static_cast(middle, getattr(nl, name))), np.float32(wanted))
        values = np.random.default_rng(1).standard_normal(2000, dtype=np.float32)
        wanted = [formats.rounded(float(v), "bfloat16") for v in values]
        cast = nl.static_cast(values, nl.bfloat16)
        np.testing.assert_array_equal(np.asarray(cast), np.float32(wanted))
        self.assertEqual(cast[3:9].nki_dtype, nl.bfloat16)
        self.assertFalse(hasattr(cast * 2, "nki_dtype"))

    def test_they_are_arguments_and_results(self):
        @nki.jit
        def kernel(x):
            assert x.dtype == nl.bfloat16
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            nl.store(out, value=nl.load(x) * 3)
            return out

        x = nl.static_cast(np.random.default_rng(2).standard_normal((128, 8), dtype=np.float32), nl.bfloat16)
        once = kernel(x)
        wanted = [formats.rounded(float(v) * 3, "bfloat16") for v in np.asarray(x).ravel()]
        np.testing.assert_array_equal(np.asarray(once).ravel(), np.float32(wanted))
        self.assertEqual(kernel(once).nki_dtype, nl.bfloat16)

    def test_in_a_kernel(self):
        """As the allocated attention of the vendor's samples sizes its buffers, with numbers and arrays beside it."""

        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
            ones = nl.load(nl.shared_constant(np.ones(x.shape, dtype=nl.float32)))
            ramp = nl.load(nl.shared_constant(np.arange(8).reshape(1, 8).astype(nl.float32)))
            size = np.dtype(nl.bfloat16).itemsize
            nl.store(out, value=nl.add(nl.load(x) * ones * nl.float32(size), ramp))
            return out

        x = np.random.default_rng(0).standard_normal((16, 8), dtype=np.float32)
        np.testing.assert_array_equal(kernel(x), 2 * x + np.arange(8, dtype=np.float32))

    def test_a_number_keeps_its_type_in_a_promotion(self):
        for number, wide in (("nl.bfloat16(2.0)", "bfloat16"), ("nl.float32(2.0)", "float32")):
            body = f"""
                out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
                t = nl.load(x[0:128, :], dtype=nl.bfloat16) * {number}
                assert t.dtype == nl.{wide}
                nl.store(out, value=t)
                return out"""
            self.assertTrue(compile_body(body)["ok"], number)

    def test_bytes_are_never_taken_for_numbers(self):
        for constant in (
            "nl.shared_constant(np.ones((128, 512), dtype=nl.bfloat16))",
            "nl.shared_constant(np.ones((128, 512), dtype=nl.float8_e5m2), dtype=nl.float32)",
        ):
            result = compile_body(f"t = nl.load({constant})")
            self.assertEqual(result["code"], "DTYPE", result["message"])
            self.assertIn("make the array np.float32", result["message"])

    def test_an_array_of_bytes_is_told_how_to_become_numbers(self):
        @nki.jit
        def kernel(x):
            return x

        with self.assertRaisesRegex(TypeError, "nl.static_cast\\(x, nl.bfloat16\\)"):
            kernel(np.ones((4, 4), dtype=nl.bfloat16))
        result = compile_body("t = nl.load(nl.shared_constant(np.eye(128, dtype=nl.bfloat16)))")
        self.assertEqual(result["code"], "DTYPE")
        self.assertIn("np.eye(128, dtype=np.float32), dtype=nl.bfloat16)", result["message"])

    def test_a_type_is_no_value(self):
        result = compile_body("t = nl.zeros((128, 1), dtype=nl.float32)\nt[...] = nl.float32")
        self.assertEqual(result["code"], "BAD_SIGNATURE", result["message"])

    def test_a_file_may_use_them_at_its_top(self):
        source = HEAD + (
            "SIZE = np.dtype(nl.float16).itemsize\n@nki.jit\ndef kernel(x):\n"
            "    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"
            "    nl.store(out, value=nl.load(x[0:128, :]) * SIZE)\n    return out\n"
        )
        self.assertTrue(compile_file(source)["ok"])


class Formats(unittest.TestCase):
    def test_bfloat16_is_the_upper_half_of_a_float32(self):
        for code in range(1 << 16):
            (value,) = struct.unpack("<f", struct.pack("<I", code << 16))
            found = formats.decode(code, "bfloat16")
            self.assertTrue(found == value or (found != found and value != value), hex(code))

    def test_codes_read_back(self):
        for name, (exponent, mantissa) in formats.FORMATS.items():
            for code in range(1 << (1 + exponent + mantissa)):
                value = formats.decode(code, name)
                if value == value:
                    self.assertEqual(formats.encode(value, name), code, (name, hex(code)))

    def test_known_roundings(self):
        """Ties to even, subnormals, overflow: e4m3 with infinities ends at 240 (docs/formats/program.md), e5m2 at
        57344."""
        for name, value, expected in (
            ("float8_e4m3", 240.0, 240.0),
            ("float8_e4m3", 247.0, 240.0),
            ("float8_e4m3", 248.0, float("inf")),
            ("float8_e4m3", 2.0**-10, 0.0),
            ("float8_e4m3", 3 * 2.0**-10, 2.0**-8),
            ("float8_e4m3", -1.0625, -1.0),
            ("float8_e5m2", 61439.0, 57344.0),
            ("float8_e5m2", -61440.0, float("-inf")),
            ("bfloat16", 1 + 2.0**-8, 1.0),
            ("bfloat16", 1 + 3 * 2.0**-8, 1 + 2.0**-6),
            ("bfloat16", 3.4e38, float("inf")),
        ):
            self.assertEqual(formats.rounded(value, name), expected, (name, value))

    def test_a_constant_has_the_engines_values(self):
        """Each finite code of both float8 types, as a compile-time constant, comes back through the engine."""
        for name in ("float8_e4m3", "float8_e5m2"):
            values = np.array([formats.decode(code, name) for code in range(256)], np.float32)
            values = values[np.isfinite(values)].reshape(2, -1)

            @nki.jit
            def kernel():
                out = nl.ndarray(values.shape, dtype=nl.float32, buffer=nl.shared_hbm)
                nl.store(out, value=nl.load(nl.shared_constant(values, dtype=name)))
                return out

            np.testing.assert_array_equal(kernel(), values)


if __name__ == "__main__":
    unittest.main()
