"""An endpoint gets no more requests at once than the grid says, however many elements of the run are at work."""
import json
import subprocess
import threading
import unittest

from block_server import BlockServer
from harness import MPI_ENVIRONMENT, NKIGRID, Case, environment, nkigrid, status

LIMIT = 4
GRID = """\
name: shared
benchmark: nkigen-bench
tasks: nkigen-smoke
replicates: 2
lanes: 8
device: {{backend: sim, sdk: "2.24", target: trn1}}
models:
  one: {{api: openai, endpoint: "http://127.0.0.1:{port}/v1", model: m, concurrency: {limit}}}
  two: {{api: openai, endpoint: "http://127.0.0.1:{port}/v1", model: n, concurrency: {limit}}}
modes: {{ss: {{kind: single-shot}}}}
prompts: {{rank-aware: prompts/rank-aware.md}}
cells:
  - {{model: [one, two], mode: ss, prompt: rank-aware}}
slurm: {{shards: {shards}, time: "00:10:00"}}
"""
ANSWER = json.dumps(
    {
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "I have no kernel."}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
).encode()


class Endpoint(BlockServer):
    """Answers nobody before LIMIT requests are in flight, and then holds each a while for one too many to show."""

    def __init__(self):
        super().__init__()
        self.in_flight, self.most, self.answered = 0, 0, 0
        self.changed = threading.Condition()

    def answer(self, request, _):
        self.hold()
        request.send(ANSWER)

    def hold(self):
        with self.changed:
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.most >= LIMIT, timeout=120)
            self.changed.wait_for(lambda: self.most > LIMIT, timeout=0.2)
            self.in_flight -= 1  # before the answer: the next request may come at once
            self.answered += 1


class Complainer(BlockServer):
    """Says to the first of LIMIT requests that they are too many, and holds the others until it is told to go on."""

    def __init__(self):
        super().__init__()
        self.came, self.all_came, self.go_on = 0, threading.Event(), threading.Event()
        self.lock = threading.Lock()

    def answer(self, request, _):
        with self.lock:
            self.came += 1
            first = self.came == 1
            if self.came >= LIMIT:
                self.all_came.set()
        (self.all_came if first else self.go_on).wait(120)
        request.send(b"{}" if first else ANSWER, 429 if first else 200)


class Concurrency(Case):
    def freeze(self, **more):
        run = self.folder / "run"
        done = nkigrid("submit", self.write("grid.yaml", GRID.format(**more)), "-o", run, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        return run, done

    def test_two_elements_and_two_models_share_one_endpoint(self):
        with Endpoint() as endpoint:
            run, done = self.freeze(port=endpoint.port, limit=LIMIT, shards=2)
            script = run / "scripts/elements-0.sh"
            self.assertIn("--elements-at-once 2", script.read_text())
            elements = [
                subprocess.Popen(
                    ["sh", str(script)],
                    env=environment(SLURM_ARRAY_TASK_ID=str(element), **MPI_ENVIRONMENT),
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for element in range(2)
            ]
            said = [element.communicate(timeout=200)[1] for element in elements]
            self.assertEqual([element.returncode for element in elements], [0, 0], said)
            self.assertEqual(status(run)["scored"], 16)
            self.assertEqual(endpoint.answered, 16)
            self.assertEqual(endpoint.most, LIMIT)

    def test_one_process_by_hand_has_the_whole_limit(self):
        with Endpoint() as endpoint:
            run, _ = self.freeze(port=endpoint.port, limit=LIMIT, shards=2)
            done = nkigrid("run", run, "--shard", 1, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(endpoint.most, LIMIT)

    def test_status_shows_how_many_an_endpoint_takes_that_asked_for_fewer(self):
        with Complainer() as endpoint:
            run, _ = self.freeze(port=endpoint.port, limit=LIMIT, shards=1)
            worker = subprocess.Popen(
                [NKIGRID, "run", run, "--quiet"], env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self.addCleanup(worker.wait)
            self.addCleanup(endpoint.go_on.set)
            seen = {}
            while worker.poll() is None and not seen:
                seen = status(run)["narrowed"]
            self.assertRegex(" ".join(seen.values()), r"^takes [12] at once from one process$")
            self.assertRegex(
                nkigrid("status", run).stdout, r"takes [12] at once from one process \(it asked for fewer\)"
            )
            endpoint.go_on.set()
            self.assertEqual(worker.wait(timeout=200), 0)
            self.assertEqual(status(run)["narrowed"], {})
            self.assertFalse(list((run / "log/narrowed").iterdir()))

    def test_fewer_requests_than_elements_lower_the_throttle_and_say_so(self):
        run, done = self.freeze(port=9, limit=2, shards=4)
        self.assertIn("at most 2 elements work at once", done.stderr)
        script = (run / "scripts/elements-0.sh").read_text()
        self.assertIn("#SBATCH --array=0-3%2\n", script)
        self.assertIn("--elements-at-once 2", script)
        plan = json.loads(nkigrid("plan", self.folder / "grid.yaml", "--json").stdout)
        self.assertEqual(plan["schedule"]["layouts"][0]["throttle"], 2)


if __name__ == "__main__":
    unittest.main()
