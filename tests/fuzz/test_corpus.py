"""The fuzzer's corpus, replayed without the fuzzer: traced kernels of the benchmark and kept inputs, whole, cut and
damaged."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import seeds

REPLAY = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"], "tests", "fuzz", "nkigrid_fuzz_replay")
DATA = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"], "tests", "data")
KEPT = DATA / "nkisim" / "fuzz"
OTHERS = sorted(folder.name for folder in (DATA / "fuzz").iterdir())  # as tests/fuzz/run has them


class Corpus(unittest.TestCase):
    def test_no_input_of_the_corpus_traps(self):
        with tempfile.TemporaryDirectory() as folder:
            traced = seeds.write(folder, "nkigen-demo")
            ran = subprocess.run([REPLAY, "program", folder, KEPT], capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, f"{ran.stdout[-300:]}\n{ran.stderr[-3000:]}")
        files, inputs = map(int, re.search(r"(\d+) files, (\d+) inputs", ran.stdout).groups())
        self.assertEqual(files, traced + len(list(KEPT.iterdir())))
        self.assertGreater(traced, 10)
        self.assertGreater(inputs, 10_000)

    def test_no_input_of_the_other_targets_traps(self):
        for target in OTHERS:
            with self.subTest(target):
                ran = subprocess.run(
                    [REPLAY, target, DATA / "fuzz" / target], capture_output=True, text=True, timeout=300
                )
                self.assertEqual(ran.returncode, 0, f"{ran.stdout[-300:]}\n{ran.stderr[-3000:]}")

    def test_each_target_has_a_corpus_and_is_fuzzed(self):
        known = subprocess.run([REPLAY], capture_output=True, text=True, check=True, timeout=60).stdout.split()
        self.assertEqual(known, sorted(["program", *OTHERS]))

    def test_an_empty_corpus_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(subprocess.run([REPLAY, "program", folder], capture_output=True, timeout=60).returncode, 1)


if __name__ == "__main__":
    unittest.main()
