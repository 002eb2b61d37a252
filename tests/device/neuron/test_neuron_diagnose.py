"""Codes and clean text from what the vendor's compiler raises and logs."""
import importlib.util
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


diagnose = load(SOURCE / "runner/device/neuron/neuron_diagnose.py")
compiler = load(SOURCE / "runner/device/neuron/neuron_compile.py")
rules = load(SOURCE / "runner/nkisim/package/neuronxcc/nki/_entry.py")
LINK = (
    " Info on how to fix: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/nki/api/nki.errors.html#err-"
)


class OfTrace(unittest.TestCase):
    def code(self, error, in_kernel=True):
        return diagnose.of_trace(error, in_kernel)[0]

    def test_the_links_suffix_names_the_class(self):
        for kind, suffix, code in (
            (ValueError, "num-partition-exceed-arch-limit", "PARTITION_LIMIT"),
            (SyntaxError, "unexpected-output-dependencies", "SCOPE_LOOP_DEP"),
            (TypeError, "cannot-update-immutable-parameter", "OUTPUT_CONTRACT"),
            (IndexError, "tensor-access-out-of-bound", "OOB"),
            (TypeError, "unsupported-memory", "WRONG_MEMORY"),
            (SyntaxError, "1d-arange-not-supported", "INDEXING"),
            (SyntaxError, "dynamic-control-flow-not-supported", "CONTROL_FLOW"),
            (RuntimeError, "tensor-output-not-written-to", "OUTPUT_CONTRACT"),
        ):
            self.assertEqual(self.code(kind(f"some words.{LINK}{suffix}"), False), code)
        self.assertEqual(
            self.code(ValueError(f"in nc_matmul: sizes differ.{LINK}num-partition-mismatch")), "MATMUL_LAYOUT"
        )
        self.assertEqual(self.code(ValueError(f"sizes differ.{LINK}num-partition-mismatch")), "SHAPE_BROADCAST")
        self.assertEqual(
            self.code(ValueError(f"in transpose: 512 > 128.{LINK}size-of-dimension-exceed-arch-limit")), "RANK_LAYOUT"
        )
        self.assertEqual(self.code(ValueError(f"new in a later SDK.{LINK}something-else")), "COMPILER_INTERNAL")

    def test_every_class_of_the_manual_has_a_code_of_the_taxonomy(self):
        codes = set((SOURCE / "jobs/base/outcome.cpp").read_text().replace('"', " ").replace(",", " ").split())
        self.assertGreaterEqual(len(diagnose.OF_CLASS), 36)
        self.assertLessEqual(
            set(diagnose.OF_CLASS.values()) | {c for _, c in diagnose.OF_WORDS} | {c for _, c in diagnose.OF_LOG}, codes
        )

    def test_every_class_that_the_simulator_raises_is_known(self):
        package = SOURCE / "runner/nkisim/package"
        names = {
            name.replace("_", "-")
            for path in package.rglob("*.py")
            for name in re.findall(r'official="([a-z0-9_]+)"', path.read_text())
        }
        self.assertGreater(len(names), 25)
        self.assertLessEqual(names, set(diagnose.OF_CLASS))

    def test_without_a_link_the_kind_and_the_words_speak(self):
        self.assertEqual(self.code(AttributeError("module 'nl' has no attribute 'clip'")), "UNKNOWN_API")
        self.assertEqual(self.code(TypeError("sum() got an unexpected keyword argument 'dim'")), "BAD_SIGNATURE")
        self.assertEqual(self.code(TypeError("list indices must be integers or slices, not LoopVar")), "CONTROL_FLOW")
        self.assertEqual(self.code(ValueError("Insufficient rank")), "RANK_LAYOUT")
        self.assertEqual(self.code(NameError("name 'x' is not defined")), "PY_SYNTAX")
        self.assertEqual(self.code(KeyError("a"), in_kernel=True), "PY_EXCEPTION")
        self.assertEqual(self.code(AssertionError("lowering"), in_kernel=False), "COMPILER_INTERNAL")

    def test_the_line_stands_in_the_text_where_no_frame_has_it(self):
        for text, line in (
            ("never written to (kernel.py:7)", 7),
            ('File "kernel.py", line 12', 12),
            ("kernel.py, line 3", 3),
            ("other.py:5", 0),
        ):
            self.assertEqual(diagnose.line_in(text), line)

    def test_hostile_texts_do_no_harm(self):
        class Hostile(Exception):
            def __str__(self):
                raise SystemExit

        self.assertEqual(diagnose.of_trace(Hostile(), True), ("PY_EXCEPTION", "trace"))


class OfLog(unittest.TestCase):
    def test_bracketed_codes(self):
        for line, code, name in (
            ("[NLA001] address out of bound", "CAPACITY", "NLA001"),
            ("x [GCA046] infinite cost", "CAPACITY", "GCA046"),
            ("[INTERNAL_ERROR] [NCC_EOOM002] out of memory", "CAPACITY", "EOOM002"),
            ("[NCC_EVRF007] too many instructions", "CAPACITY", "EVRF007"),
            ("[F134] neuronx-cc terminated abnormally", "COMPILER_INTERNAL", "F134"),
            ("no code at all", "COMPILER_INTERNAL", ""),
        ):
            self.assertEqual(diagnose.of_log(line), (code, name))
        self.assertEqual(diagnose.of_log("[F134] ended\n[NLA001] why"), ("CAPACITY", "NLA001"))

    def test_exit_status(self):
        self.assertEqual(
            diagnose.exit_status(
                "Compilation failed for k with error Command '['neuronx-cc']' returned non-zero exit status 70."
            ),
            70,
        )
        self.assertEqual(diagnose.exit_status("Command '['neuronx-cc']' died with <Signals.SIGKILL: 9>."), -9)
        self.assertIsNone(diagnose.exit_status("ValueError: 70"))


class Clean(unittest.TestCase):
    def test_nothing_of_this_machine_is_left(self):
        text = diagnose.clean(
            "2025-07-05T12:00:01Z 4711 ERROR pid 4711 /tmp/nkigrid-neuron-x1/kernel.py:12 at 0x7f0012 "
            "in '/opt/venv/lib/a.py' 12:00:01.250"
        )
        self.assertEqual(text, "TIME ERROR pid N kernel.py:12 at 0x... in '...' TIME")

    def test_links_shapes_and_quotients_stay(self):
        text = f"shape [128, 512] a/b 1/2 {LINK.strip()}unsupported-memory"
        self.assertEqual(diagnose.clean(text), text)

    def test_long_texts_lose_their_middle(self):
        text = diagnose.clean("a" * 100_000 + "the end")
        self.assertLess(len(text), diagnose.MOST_CHARACTERS + 100)
        self.assertTrue(text.startswith("aaa") and text.endswith("the end") and "left out" in text)
        self.assertLess(len(diagnose.clean("/x" * 500_000)), diagnose.MOST_CHARACTERS + 100)


class Entry(unittest.TestCase):
    """nki.jit is watched, so that the entry's rules need nothing of the vendor's classes."""

    class Nki:
        @staticmethod
        def jit(func=None, mode="auto", **_):
            return object() if func else None

    def entry(self, text, wanted=None):
        nki = self.Nki()
        kernels = compiler.Kernels(nki)
        text, tree = rules.parse(text)
        namespace = {"nki": nki}
        exec(text, namespace)
        return rules.find_entry(tree, kernels.of(namespace), wanted).__name__

    def test_named_kernel_only_one_or_asked_for(self):
        one = "@nki.jit\ndef f(x): pass\n"
        helper = "@nki.jit(mode='trace')\ndef helper(x): pass\n"
        other = "@nki.jit(mode='auto')\ndef kernel(x): pass\n"
        self.assertEqual(self.entry(one + helper), "f")
        self.assertEqual(self.entry(one + other), "kernel")
        self.assertEqual(self.entry(one + other, "f"), "f")
        for text, wanted, words in (
            (helper, None, 'helper (nki.jit mode "trace")'),
            ("def kernel(x): pass\n", None, "kernel (no decorator)"),
            (one, "g", "no kernel named 'g'"),
            (one + one.replace("f(", "g("), None, "2 kernels, none named 'kernel'"),
        ):
            with self.assertRaises(rules.Refusal) as caught:
                self.entry(text, wanted)
            self.assertIn(words, str(caught.exception))
            self.assertEqual(caught.exception.code, "NO_KERNEL")


if __name__ == "__main__":
    unittest.main()
