"""Shared by the tests of refusals. A case is a name with (body, params, code, line, fragments): line counts from the
body's first, 1, and 0 is not asserted; fragments are parts of the message."""

import kernels
from kernels import HEAD_LINES

OUT = "out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n"
TILE = OUT + "t = nl.load(x[0:128, :])\n"
END = "nl.store(out[...], value=t)\nreturn out\n"


def check_cases(test, cases):
    """Each case is refused with its code, line and wording, and without an address or a path of this machine."""
    for name, (body, params, code, line, fragments) in cases.items():
        with test.subTest(name):
            result = kernels.compile_body(body, params)
            test.assertFalse(result["ok"], name)
            test.assertEqual(result["code"], code, result["message"])
            test.assertEqual(result["stage"], "trace")
            for fragment in fragments:
                test.assertIn(fragment, result["message"])
            if line:
                test.assertEqual(result["line"], HEAD_LINES + 2 + line, result["message"])
                test.assertIn(f"(kernel.py:{result['line']})", result["message"])
            test.assertNotRegex(result["message"], r"0x[0-9a-f]{4}|/work|/tmp|/usr")
