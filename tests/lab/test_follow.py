"""`status --follow` on a real cluster: plain lines on a pipe, drawings on a terminal, JSON lines; few questions, none
that stops it."""
import json
import os
import pty
import re
import signal
import subprocess
import threading
import time
import unittest

from lab import DisturbedCase, harness

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ small: (\d+) of 48 episodes scored, (\d+) outstanding[^\x1b\r]*$")


class Follower:
    """One `status --follow` with its output as it comes."""

    def __init__(self, run, env, *options, terminal=False):
        self.text = b""
        self.said = b""
        out, theirs = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [harness.NKIGRID, "status", str(run), "--follow", *options],
            stdout=theirs,
            stderr=subprocess.PIPE,
            env={**env, "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
        )
        os.close(theirs)
        self.started = time.monotonic()
        errors = os.dup(self.process.stderr.fileno())
        self.process.stderr.close()
        self.readers = [
            threading.Thread(target=self.read, args=(end, name), daemon=True)
            for end, name in ((out, "text"), (errors, "said"))
        ]
        for reader in self.readers:
            reader.start()

    def read(self, end, name):
        try:
            while data := os.read(end, 65536):
                setattr(self, name, getattr(self, name) + data)
        except OSError:
            pass  # how a terminal says that nobody writes any more
        os.close(end)

    def end(self, seconds=60):
        """(exit code, what it showed, what it said on stderr)"""
        self.process.wait(seconds)
        for reader in self.readers:
            reader.join(10)
        return self.process.returncode, self.text.decode(), self.said.decode()


class Follow(DisturbedCase):
    def follow(self, *options, **more):
        follower = Follower(self.run_folder, self.cluster.environment(), *options, **more)
        self.addCleanup(lambda: follower.process.poll() is None and follower.process.kill())
        return follower

    def job_questions(self):
        """How often the controller was asked for its job table, by its own count."""
        return int(
            re.search(
                r"REQUEST_JOB_INFO\s+\( *2003\) count:(\d+)",
                self.cluster.command("sdiag").stdout + "REQUEST_JOB_INFO ( 2003) count:0",
            )[1]
        )

    def test_it_ends_with_the_run_and_outlives_its_controller(self):
        (array,) = self.submit()
        before = self.job_questions()
        pipe, terminal, lines = self.follow(), self.follow(terminal=True), self.follow("--json")
        started = time.monotonic()
        self.wait_for_scored(16)
        asked, allowed = self.job_questions() - before, 3 * (1 + (time.monotonic() - started) / 10)
        self.assertGreaterEqual(asked, 3)
        self.assertLessEqual(asked, allowed)
        self.model.delay = 2  # the run outlasts the questions' pause
        self.cluster.stop_controller()
        scored = harness.status(self.run_folder)["scored"]
        harness.wait_until(  # each looks at its own pace
            lambda: b"warning" in pipe.said and b"Slurm" in terminal.text and b'"warning":"Slurm' in lines.text,
            60,
            "a look of each without a controller",
        )
        self.model.delay = 0
        self.wait_for_scored(scored + 2)
        self.cluster.start_controller()
        self.wait_for_queue()
        self.check_pipe(*pipe.end())
        self.check_terminal(*terminal.end())
        self.check_json(array, *lines.end())
        self.check_undisturbed()

    def check_pipe(self, code, shown, said):
        self.assertEqual(code, 0, shown + said)
        looks, report = shown.split("\n\n", 1)
        counts = []
        for line in looks.split("\n"):
            self.assertRegex(line, LINE)
            counts.append(int(LINE.match(line)[1]))
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(len(set(counts)), 3)
        self.assertRegex(looks, "elements: 3 (PENDING|RUNNING)")
        self.assertTrue(
            report.startswith("small: 48 of 48 episodes scored, 0 outstanding\n") and report.endswith("\n"), report
        )
        self.assertEqual(said.count("warning"), 1, said)

    def check_terminal(self, code, shown, said):
        self.assertEqual((code, said), (0, ""))
        drawings = shown.split("\x1b[H")
        self.assertGreater(len(drawings), 4)
        self.assertEqual(shown.count("\x1b[2J"), 1, "cleared once, then drawn over")
        for drawing in drawings[1:]:
            self.assertRegex(drawing, r"^small: \d+ of 48 episodes scored")
            self.assertIn("\x1b[K", drawing)
        self.assertIn("small: 48 of 48", drawings[-1])
        self.assertTrue(
            any("Slurm" in drawing for drawing in drawings), "the controller's absence stands in the picture"
        )

    def check_json(self, array, code, shown, said):
        self.assertEqual(code, 0, said)
        self.assertTrue(shown.endswith("\n"))
        documents = [json.loads(line) for line in shown.rstrip("\n").split("\n")]
        self.assertGreater(len(documents), 4)
        self.assertEqual(documents[-1]["outstanding"], 0)
        self.assertEqual({document["episodes"] for document in documents}, {48})
        times = [document["time"] for document in documents]
        self.assertEqual(times, sorted(times))
        self.assertIn(array, [element["job"] for document in documents for element in document["elements"]])

    def test_a_run_that_nothing_works_on_is_over_and_ctrl_c_ends_sooner(self):
        grid = self.write("grid.yaml", self.model.grid("{shards: 1}"))
        self.assertEqual(self.nkigrid("submit", grid, "-o", self.run_folder, "--dry-run").returncode, 0)
        idle, stopped = self.follow(), self.follow(terminal=True)
        harness.wait_until(lambda: b"48" in stopped.text, what="the first drawing")
        stopped.process.send_signal(signal.SIGINT)
        self.assertEqual(stopped.end()[0], 130)
        code, shown, said = idle.end()
        self.assertEqual((code, said), (1, ""), "as status says it")
        self.assertGreaterEqual(time.monotonic() - idle.started, 9)
        self.assertEqual(shown.split("\n\n")[0].count("\n"), 0, "nothing changed, one line")


if __name__ == "__main__":
    unittest.main()
