"""The rules of a submission: imports, entry, grid, arguments; and that nothing but the answer comes out."""

import contextlib
import io
import os
import sys
import types
import unittest
import unittest.mock

from kernels import HEAD, X, compile_file

from neuronxcc.nki import _harness
from neuronxcc.nki._trace.decode import decode

BODY = """
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, value=nl.load(x[0:128, :]))
    return out
"""


def kernel(name="kernel", decorator="@nki.jit", arguments="x"):
    return f"{decorator}\ndef {name}({arguments}):{BODY}"


def _of_package(function):
    """The function as if it stood in a file of the package."""
    from neuronxcc.nki._trace import indexing

    code = function.__code__.replace(co_filename=indexing.__file__)
    return types.FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


class Submissions(unittest.TestCase):
    def refused(self, source, code, *fragments, stage="parse", **more):
        result = compile_file(source, **more)
        self.assertFalse(result["ok"])
        self.assertEqual((result["code"], result["stage"]), (code, stage), result["message"])
        for fragment in fragments:
            self.assertIn(fragment, result["message"])
        return result

    def test_the_entry_is_named_kernel_or_the_only_one_or_asked_for(self):
        self.assertEqual(compile_file(HEAD + kernel("other"))["entry"], "other")
        two = HEAD + kernel("first") + kernel("kernel")
        self.assertEqual(compile_file(two)["entry"], "kernel")
        self.assertEqual(compile_file(two, entry="first")["entry"], "first")
        self.refused(HEAD + kernel("a") + kernel("b"), "NO_KERNEL", "2 kernels", "found: a, b")
        self.refused(two, "NO_KERNEL", "no kernel named 'third'", "found: first, kernel", entry="third")

    def test_helpers_and_plain_functions_are_no_entries(self):
        self.refused(HEAD + kernel("kernel", ""), "NO_KERNEL", "no kernel found", "kernel (no decorator)")
        self.refused(HEAD + kernel("part", '@nki.jit(mode="trace")'), "NO_KERNEL", 'part (nki.jit mode "trace")')
        self.assertEqual(
            compile_file(HEAD + kernel("part", '@nki.jit(mode="trace")') + kernel("main"))["entry"], "main"
        )

    def test_imports(self):
        for line in (
            "import math",
            "from functools import partial",
            "import neuronxcc.nki.compiler as ncc",
            "from neuronxcc import nki",
        ):
            self.assertTrue(compile_file(HEAD + line + "\n" + kernel())["ok"], line)
        self.refused("import torch\n" + HEAD + kernel(), "PY_SYNTAX", "No module named 'torch' (kernel.py:1)")
        self.refused(HEAD + "import os\n" + kernel(), "PY_SYNTAX", "No module named 'os'")
        self.refused("import nki\n" + HEAD + kernel(), "WRONG_API_ERA", "neuronxcc.nki", "SDK 2.24")
        self.refused("from nki import language\n", "WRONG_API_ERA")
        hidden = HEAD + kernel().replace("    out =", "    __import__('socket')\n    out =")
        found = self.refused(hidden, "PY_SYNTAX", "No module named 'socket'")
        self.assertEqual(found["line"], HEAD.count("\n") + 3)
        self.assertIn(f"(kernel.py:{found['line']})", found["message"])
        self.assertEqual(
            self.refused(HEAD + "\n__import__('os').getcwd()\n" + kernel(), "PY_SYNTAX", "'os'")["line"],
            HEAD.count("\n") + 2,
        )

    def test_unknown_names_in_import_statements(self):
        result = self.refused(
            HEAD + "from neuronxcc.nki.language import expp\n" + kernel(), "UNKNOWN_API", "nl.exp(x", stage="trace"
        )
        self.assertEqual(result["line"], HEAD.count("\n") + 1)

    def test_syntax_errors_read_as_compilers_give_them(self):
        result = self.refused(
            HEAD + "def kernel(x:\n    pass\n", "PY_SYNTAX", 'File "kernel.py", line', "def kernel(x:", "SyntaxError: "
        )
        self.assertEqual(result["line"], HEAD.count("\n") + 1)
        self.assertEqual(
            self.refused(HEAD + "y = undefined_name\n" + kernel(), "PY_SYNTAX", "NameError", "undefined_name")["line"],
            HEAD.count("\n") + 1,
        )
        self.refused("x = 1\0", "PY_SYNTAX")
        self.refused("#" * 70000, "PY_SYNTAX", "64 KiB")

    def test_whatever_a_module_raises_can_be_sent_and_counts_lines_from_one(self):
        result = self.refused(HEAD + 'raise SyntaxError("m", ("other.py", -5, 1, "t"))\n' + kernel(), "PY_SYNTAX")
        self.assertGreaterEqual(result["line"], 0)
        result = self.refused(HEAD + 'raise ValueError("\\ud800")\n' + kernel(), "PY_EXCEPTION", "ValueError")
        result["message"].encode("utf-8")

    def test_a_byte_order_mark_is_no_syntax_error(self):
        self.assertTrue(compile_file("\ufeff" + HEAD + kernel())["ok"])

    def test_the_same_source_is_the_same_program_in_every_process(self):
        import subprocess

        source = (
            HEAD + "import numpy as np\n"
            "SCALE = float(np.random.rand() + np.random.default_rng().random() + np.random.RandomState().rand())\n"
            + kernel().replace("    out =", "    x = x\n    scale = nl.full((128, 1), SCALE, nl.float32)\n    out =")
        )
        script = (
            "import hashlib, sys\nfrom neuronxcc.nki._harness import compile_source\n"
            "r = compile_source(sys.argv[1], None, [('x', (256, 512), 'float32')], None, {})\n"
            "print(r.get('message') or hashlib.sha256(r['program']).hexdigest())\n"
        )
        said = {
            subprocess.run([sys.executable, "-B", "-c", script, source], capture_output=True, text=True).stdout
            for _ in range(2)
        }
        self.assertEqual(len(said), 1, said)
        self.assertEqual(len(said.pop().strip()), 64)

    def test_a_grid_is_a_tuple(self):
        for grid in ("3", "[2, 2]", "(0,)", "(1, 1, 1, 1)", "(True,)", "(70000,)"):
            self.refused(HEAD + f"GRID = {grid}\n" + kernel(), "NO_KERNEL", "GRID is")

    def test_a_kernel_with_a_mode_is_told_so_at_its_line(self):
        for decorator, mode in (('@nki.jit(mode="baremetal")', "baremetal"), ("@nki.benchmark", "benchmark")):
            answer = self.refused(HEAD + kernel(decorator=decorator), "NO_KERNEL", f'decorated with mode "{mode}"')
            self.assertEqual(answer["line"], HEAD.count("\n") + 2)
            self.assertIn("@nki.jit\n    def kernel(", answer["message"])

    def test_a_kernel_may_come_from_a_builder(self):
        built = "def build(tile):\n    @nki.jit\n    def inner(x):" + BODY.replace("\n", "\n    ").replace(
            "128", "tile"
        )
        answer = compile_file(HEAD + built + "\n    return inner\n\n\nkernel = build(128)\n")
        self.assertTrue(answer["ok"], answer.get("message"))
        self.assertEqual(answer["outputs"], [((128, 512), "float32")])

    def test_arguments_are_counted(self):
        self.refused(
            HEAD + kernel(arguments="x, y"),
            "NO_KERNEL",
            "takes 2 arguments, the task passes 1",
            "x [256, 512] float32",
            "def kernel(x):",
        )
        self.refused(HEAD + kernel(arguments="*x"), "NO_KERNEL", "takes *args")
        self.assertTrue(compile_file(HEAD + kernel(arguments="x, scale=2.0"))["ok"])

    def test_the_grid_is_the_file_s(self):
        body = kernel().replace(
            "x[0:128, :]", "x[nl.program_id(0) * 128 + nl.arange(128)[:, None], nl.arange(512)[None, :]]"
        )
        result = compile_file(HEAD + "GRID = (2,)\n" + body)
        self.assertEqual(decode(result["program"])["grid"], [2])
        for grid in ("(0,)", "(2, 2, 2, 2)", "(70000,)", "('a',)", "(2.0,)"):
            self.refused(HEAD + f"GRID = {grid}\n" + body, "NO_KERNEL", "GRID")

    def test_a_file_may_do_anything_and_only_an_answer_comes_out(self):
        hostile = {
            "print": "print('noise')\n",
            "exit": "raise SystemExit(3)\n",
            "interrupt": "raise KeyboardInterrupt\n",
            "recursion": "def f():\n    return f()\nf()\n",
            "bad str": "class E(Exception):\n    def __str__(self):\n        raise E\nraise E\n",
            "assert": "assert False, 'no'\n",
        }
        noise = io.StringIO()
        with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
            for name, text in hostile.items():
                with self.subTest(name):
                    result = compile_file(HEAD + text + kernel())
                    self.assertEqual(result["ok"], name == "print")
        self.assertEqual(noise.getvalue(), "")

    def test_a_fault_of_the_tracer_is_not_the_kernel_s(self):
        """A KeyError, IndexError or the like of the package's own code never speaks for the kernel; one of the kernel's
        file does."""
        tail = "    out ="
        source = HEAD + kernel().replace(tail, "    nl.load(x[0:128, :])\n" + tail)
        line = HEAD.count("\n") + 3
        for kind in (
            KeyError,
            IndexError,
            AttributeError,
            AssertionError,
            StopIteration,
            RuntimeError,
            SyntaxError,
            NameError,
            ZeroDivisionError,
        ):
            with self.subTest(kind.__name__):

                def broken(*_, **__):
                    raise kind("inner words")

                with unittest.mock.patch("neuronxcc.nki._trace.indexing._expand", _of_package(broken)):
                    result = self.refused(
                        source,
                        "COMPILER_INTERNAL",
                        "a fault of its own",
                        kind.__name__,
                        f"(kernel.py:{line})",
                        stage="trace",
                    )
                self.assertEqual(result["line"], line)
                self.assertNotIn("inner words", result["message"])
                own = HEAD + kernel().replace(tail, f"    raise {kind.__name__}('of the kernel')\n" + tail)
                result = compile_file(own)
                self.assertNotEqual(result["code"], "COMPILER_INTERNAL")
                self.assertIn("of the kernel", result["message"])

    def test_what_the_kernel_itself_raises_is_told_with_its_words_and_its_line(self):
        """No syntax error: an assert that does not hold, a raise, what Python makes of a statement; in the kernel, in a
        helper, and at the top."""
        tail = "    out ="
        line = HEAD.count("\n") + 3
        for statement, words in (
            ("assert x.shape[0] < 0, f'rows {x.shape[0]}'", "AssertionError: rows 256 (kernel.py:"),
            ("assert x.shape[0] < 0", "AssertionError: assert x.shape[0] < 0 (kernel.py:"),
            ("raise ValueError('pad the rows first')", "ValueError: pad the rows first (kernel.py:"),
            ("raise RuntimeError", "RuntimeError: raise RuntimeError (kernel.py:"),
            ("{}['gone']", "KeyError: 'gone' (kernel.py:"),
            ("1 // 0", "ZeroDivisionError: "),
            ("(1, 2)[2]", "IndexError: "),
        ):
            with self.subTest(statement):
                result = self.refused(
                    HEAD + kernel().replace(tail, f"    {statement}\n{tail}"),
                    "PY_EXCEPTION",
                    words,
                    "rule: ",
                    "fix: ",
                    stage="trace",
                )
                self.assertEqual(result["line"], line)
                self.assertNotIn("SyntaxError", result["message"])
                top = self.refused(
                    HEAD + statement.replace("x.shape[0]", "128") + "\n" + kernel(), "PY_EXCEPTION", stage="parse"
                )
                self.assertEqual(top["line"], HEAD.count("\n") + 1)
                helper = f"def helper(x):\n    {statement}\n\n\n"
                inner = self.refused(
                    HEAD + helper + kernel().replace(tail, f"    helper(x)\n{tail}"),
                    "PY_EXCEPTION",
                    words,
                    stage="trace",
                )
                self.assertEqual(inner["line"], HEAD.count("\n") + 2)

    def test_a_kernel_s_object_that_fails_inside_a_call_is_the_kernel_s(self):
        hostile = "class N:\n    def __index__(self):\n        return {}['gone']\n\n\n"
        result = compile_file(HEAD + hostile + kernel().replace("    out =", "    nl.arange(N())\n    out ="))
        self.assertEqual((result["ok"], result["code"]), (False, "PY_EXCEPTION"), result["message"])
        self.assertIn("KeyError: 'gone'", result["message"])

    def test_values_that_a_call_does_not_take_are_told_with_the_call(self):
        self.refused(
            HEAD + kernel().replace("    out =", "    nl.load(x[0:128, :]).expand_dims('a')\n    out ="),
            "BAD_SIGNATURE",
            "expand_dims() was given a value that it does not take",
            "documented signature",
            stage="trace",
        )

    def test_a_message_has_nothing_that_a_terminal_obeys(self):
        source = HEAD + kernel().replace(
            "    out =",
            "    raise ValueError('a\\x1b[2J\\0\\r\\x9b\\u202e\\u2028\\udc80 caf\\u00e9\\n\\tnext')\n    out =",
        )
        message = self.refused(
            source, "PY_EXCEPTION", "a\\x1b[2J\\x00\\r\\x9b\\u202e\\u2028\\udc80 caf\u00e9\n\tnext", stage="trace"
        )["message"]
        self.assertTrue(all(c.isprintable() or c in "\n\t" for c in message), message)
        named = HEAD + kernel().replace(
            "    out =",
            "    nl.exp(nl.ndarray((256, 4), dtype=nl.float32, name='t\\x1b[31m', buffer=nl.hbm))\n    out =",
        )
        self.assertNotIn("\x1b", compile_file(named)["message"])

    def test_no_address_reaches_a_message(self):
        result = compile_file(HEAD + kernel().replace("    out =", "    raise ValueError(object())\n    out ="))
        self.assertIn("0x...", result["message"])

    def test_outputs_as_arguments_are_refused(self):
        source = HEAD + "@nki.jit\ndef kernel(x, out):\n    nl.store(out[0:128, :], value=nl.load(x[0:128, :]))\n"
        self.refused(
            source,
            "OUTPUT_CONTRACT",
            "immutable parameter 'out'",
            stage="trace",
            params=X + [("out", (128, 512), "float32")],
        )

    def test_float64_arguments_are_refused(self):
        self.refused(HEAD + kernel(), "DTYPE", "float64", stage="trace", params=[("x", (256, 512), "float64")])

    def test_warming_up_gives_what_it_should_and_is_repeatable(self):
        self.assertTrue(_harness.warm_up())
        self.assertTrue(_harness.warm_up())

    def test_every_known_kernel_of_the_benchmark_compiles(self):
        root = os.path.join(os.environ["NKIGRID_SOURCE_DIR"], "configs", "nkigen-bench")
        import json

        with open(os.path.join(root, "index.json"), encoding="utf-8") as file:
            tasks = json.load(file)["tasks"]
        tasks = [t for t in tasks if os.path.exists(os.path.join(root, "kernels", t["id"] + ".py"))]
        self.assertGreaterEqual(len(tasks), 24)
        for task in tasks:
            with self.subTest(task["id"]), open(
                os.path.join(root, "kernels", task["id"] + ".py"), encoding="utf-8"
            ) as file:
                params = [(i["name"], i["shape"], i["dtype"]) for i in task["inputs"]]
                result = _harness.compile_source(file.read(), None, params, None, {})
                self.assertTrue(result["ok"], result.get("message"))
                self.assertEqual(
                    [(list(s), d) for s, d in result["outputs"]], [(o["shape"], o["dtype"]) for o in task["outputs"]]
                )


if __name__ == "__main__":
    unittest.main()
