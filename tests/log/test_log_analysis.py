"""What a stranger does with a run: the lines of docs/analysis.md, and the export's `counted`."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/cli"))
from harness import SMALL, Case, nkigrid  # noqa: E402

MAKE_RUN = os.environ["NKIGRID_MAKE_RUN"]


class Analysis(Case):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        made = subprocess.run(
            [MAKE_RUN, str(SMALL), str(self.run_folder), "later"], capture_output=True, text=True, check=False
        )
        self.assertEqual(made.returncode, 0, made.stderr)

    def rows(self, *options):
        done = nkigrid("export", self.run_folder, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_the_page_counts_what_the_export_counts(self):
        recipes = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/analysis.md").read_text(), re.S)
        self.assertEqual(len(recipes), 2, "with h5py alone, and with pandas")
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 0)
        cells = collections.defaultdict(list)
        for row in self.rows():
            if row["counted"]:
                cells[row["cell"]].append(row["passed"])
        expected = [f"{cell} {sum(passed)} {len(passed)}" for cell, passed in sorted(cells.items())]
        for lines in recipes:
            done = subprocess.run(
                [sys.executable, "-", self.run_folder], input=lines, capture_output=True, text=True, check=False
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines(), expected)

    def test_one_attempt_of_a_scored_episode_is_counted(self):
        attempts = collections.defaultdict(list)
        for row in self.rows("--attempts"):
            attempts[row["episode"]].append(row)
        self.assertEqual(sum(map(len, attempts.values())), 8 * (4 + 1 + 1 + 1), "superseded ones are told of, too")
        for row in self.rows():
            counted = [a for a in attempts[row["episode"]] if a["counted"]]
            self.assertEqual(len(counted), row["counted"], row["episode"])
            self.assertEqual(row["counted"], int(row["outstanding"] is None))
            if counted:
                for name in set(row) & set(counted[0]):
                    self.assertEqual(row[name], counted[0][name], name)

    def test_a_superseded_zombie_counts_no_more(self):
        rows = [row for row in self.rows("--attempts") if row["outcome"] == "compile_fail"]
        self.assertEqual([(row["attempt"], row["counted"]) for row in rows], [(2, 1)] * 8)
        overtaken = {row["episode"] for row in rows}
        first = [row for row in self.rows("--attempts") if row["episode"] in overtaken and row["attempt"] == 1]
        self.assertEqual([row["counted"] for row in first], [0] * 8)

    def test_rewards_are_of_scored_attempts_and_follow_from_their_row(self):
        rows = self.rows("--attempts")
        self.assertEqual({row["reward_binary"] for row in rows}, {1.0, -0.5, None})
        for row in rows:
            scored = row["outcome"] not in ("api_error", "verifier_error", "device_error", "killed")
            binary = (1.0 if row["passed"] else -0.5) if scored else None
            self.assertEqual(row["reward_binary"], binary, row["outcome"])
            parts = [row["reward_" + part] for part in ("stages", "elements", "speed")]
            if None in parts:
                self.assertIsNone(row["reward_graded"])
                continue
            stages, elements, speed = parts
            graded = -0.5 + 1.5 * (stages / 2 + elements / 4 + speed / 4)
            self.assertAlmostEqual(row["reward_graded"], graded)
            self.assertEqual(stages == elements == 1, bool(row["passed"]))


if __name__ == "__main__":
    unittest.main()
