"""The verb `show` through the real binary: a prompt as the model gets it, and transcripts of a run."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

NKIGRID = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"]) / "nkigrid"
CONFIGS = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "configs"

GRID = """
name: show
benchmark: nkigen-bench
tasks: [L1/001_add, L1/003_hardswish]
replicates: 1
seed: 5
models: {novice: {api: synthetic, profile: novice}, expert: {api: synthetic, profile: expert}}
modes: {ss: {kind: single-shot}, agent: {kind: tool-agent, turns: 10}}
prompts: {rank-aware: prompts/rank-aware.md}
cells:
  - {model: novice, mode: [ss, agent], prompt: rank-aware}
  - {model: expert, mode: ss, prompt: rank-aware}
"""


def show(*arguments, **environment):
    return subprocess.run(
        [NKIGRID, "show", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


class Show(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="nkigrid-test-")
        cls.grid = pathlib.Path(cls.folder.name) / "grid.yaml"
        cls.grid.write_text(GRID)
        cls.run_folder = pathlib.Path(cls.folder.name) / "run"
        done = subprocess.run(
            [NKIGRID, "run", cls.grid, "-o", cls.run_folder, "--quiet"], capture_output=True, text=True, timeout=280
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_prompt_is_what_the_first_request_holds(self):
        cell = "novice.agent.rank-aware"
        for source in (self.grid, self.run_folder):
            done = show(source, "--prompt", "L1/001_add", "--cell", cell, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            prompt = json.loads(done.stdout)
            self.assertEqual(prompt["messages"][0]["content"], (CONFIGS / "prompts" / "rank-aware.md").read_text())
            self.assertTrue(prompt["messages"][1]["content"].startswith("Task: L1/001_add\n"))
            self.assertEqual([tool["name"] for tool in prompt["tools"]], ["compile_kernel", "verify_kernel"])
        transcript = json.loads(show(self.run_folder, f"{cell}/L1/001_add#1", "--json").stdout)
        self.assertEqual(transcript["turns"][0]["request"], prompt["messages"])

    def test_transcript_tells_turns_and_the_outcome(self):
        for cell in ("novice.ss.rank-aware", "novice.agent.rank-aware"):
            for task in ("L1/001_add", "L1/003_hardswish"):
                episode = f"{cell}/{task}#1"
                end = json.loads(show(self.run_folder, episode, "--json").stdout)["end"]
                done = show(self.run_folder, episode, NO_COLOR="1")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("Turn 1 ", done.stdout)
                self.assertIn(f"Outcome: {end['outcome']}", done.stdout)
                if end["passed"] == 1:
                    self.assertIn(f"  estimate: {end['estimate_us']:.2f} us on one NeuronCore\n", done.stdout)
                self.assertIn("no language model", done.stdout)
                self.assertNotIn("\x1b", done.stdout)

    def test_why_the_final_kernel_failed_is_told_of_every_mode(self):
        done = subprocess.run([NKIGRID, "export", self.run_folder], capture_output=True, text=True, timeout=120)
        failed = [row for row in map(json.loads, done.stdout.splitlines()) if row["passed"] == 0 and row["code"] != ""]
        self.assertTrue(any(row["mode"] == "ss" for row in failed), "some single shot fails")
        for row in failed:
            end = json.loads(show(self.run_folder, row["episode"], "--json").stdout)["end"]
            self.assertEqual((end["code"], end["line"]), (row["code"], row["line"]))
            self.assertEqual(end["findings"]["message"], row["message"])
            self.assertEqual((end["trials"], end["trials_passed"]), (row["trials"], row["trials_passed"]))
            text = show(self.run_folder, row["episode"], NO_COLOR="1").stdout
            self.assertIn(row["message"].splitlines()[0], text.split("Outcome: ")[1])

    def test_a_run_alone_lists_its_episodes(self):
        done = show(self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["episodes"]), 6)
        self.assertEqual(len(show(self.run_folder, "-q").stdout.splitlines()), 6)

    def test_what_is_of_one_episode_is_refused_of_a_list(self):
        for words in (("--kernel",), ("--diff",), ("--wire",), ("--full",), ("--turn", "1")):
            for source in ((), ("novice.ss.rank-aware",)):
                done = show(self.run_folder, *source, *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertIn(f"{words[0]} is of one episode", done.stderr)

    def test_wrong_names_get_one_clear_error(self):
        for arguments, words in (
            ((self.run_folder, "novice.ss.rank-aware/L1/001_ad#1"), ("no episode", "did you mean")),
            ((self.grid, "a.b.c/L1/1_x#1"), ("is no run",)),
            ((self.run_folder, "nonsense"), ("nonsense",)),
            ((self.grid, "--prompt", "L1/001_ad"), ("no task", "L1/001_add")),
            ((self.grid, "--prompt", "L1/001_add", "--cell", "x"), ("no cell 'x'",)),
            ((self.grid,), ("--prompt TASK",)),
        ):
            done = show(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
