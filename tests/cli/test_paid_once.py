"""What kill -9 makes a run pay for again: at most one request a lane, by the count of a server that keeps them all."""
import collections
import json
import os
import signal
import threading
import unittest

import harness
from block_server import BlockServer
from harness import Case, environment, nkigrid

KERNEL = (harness.SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py").read_text()
CALLS = [("compile_kernel", {"kernel_source": KERNEL}), ("verify_kernel", {"trials": 1})]
EPISODES, TURNS, LANES = 6, 3, 2


def grid(port):
    return f"""\
name: paid
benchmark: nkigen-bench
tasks: [L1/001_add]
replicates: {EPISODES}
check: {{trials: 1}}
device: {{backend: sim, sdk: "2.24", target: trn1}}
models:
  m: {{api: openai, endpoint: "http://127.0.0.1:{port}/v1", max_tokens: 100}}
modes:
  agent: {{kind: tool-agent, turns: {TURNS}, stop_on_pass: false}}
prompts: {{naive: prompts/naive.md}}
cells:
  - {{model: m, mode: agent, prompt: naive}}
"""


class Counter(BlockServer):
    """Answers so many requests at once, and the rest when it is told to: those are in flight meanwhile."""

    def __init__(self, at_once):
        super().__init__()
        self.asked, self.held, self.at_once = [], 0, at_once
        self.released, self.lock = threading.Event(), threading.Lock()

    def answer(self, request, body):
        with self.lock:
            self.asked.append(body)
            hold = len(self.asked) > self.at_once and not self.released.is_set()
            self.held += hold
        if hold:
            self.released.wait()
        request.send(json.dumps(self.reply(json.loads(body))).encode())

    @staticmethod
    def reply(request):
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        message = {"role": "assistant", "content": "Done."}
        if turn < len(CALLS):
            name, arguments = CALLS[turn]
            function = {"name": name, "arguments": json.dumps(arguments)}
            message = {
                "role": "assistant",
                "tool_calls": [{"id": f"c{turn}", "type": "function", "function": function}],
            }
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    def __exit__(self, *_):
        self.released.set()
        super().__exit__()


class PaidOnce(Case):
    def kill_and_resume(self, at_once, ranks):
        server = self.enterContext(Counter(at_once))
        run = self.folder / f"run{at_once}_{ranks}"
        path = self.write(f"grid{at_once}_{ranks}.yaml", grid(server.port))
        prefix = harness.mpirun(ranks) if ranks > 1 else ()
        env = environment(**harness.MPI_ENVIRONMENT)
        process = harness.start("run", path, "-o", run, "--lanes", LANES, "--quiet", prefix=prefix, env=env)
        self.addCleanup(process.stderr.close)
        harness.wait_until(lambda: server.held > 0 or process.poll() is not None, what="a request in flight")
        for pid in reversed(harness.processes_below(process.pid)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
        server.released.set()
        done = nkigrid("resume", run, "--local", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        outcomes = [json.loads(line)["outcome"] for line in nkigrid("export", run).stdout.splitlines()]
        self.assertEqual(outcomes, ["pass"] * EPISODES)
        return collections.Counter(server.asked)

    def check(self, at_once, ranks):
        with self.subTest(at_once=at_once, ranks=ranks):
            asked = self.kill_and_resume(at_once, ranks)
            self.assertEqual(len(asked), EPISODES * TURNS)  # each is asked, and nothing else is
            again = [times for times in asked.values() if times > 1]
            self.assertGreaterEqual(len(again), 1)  # what was in flight
            self.assertLessEqual(len(again), LANES * ranks)
            self.assertTrue(all(times == 2 for times in again), again)

    def test_at_most_one_request_a_lane(self):
        for at_once in (0, 4, 11):
            self.check(at_once, 1)

    def test_at_most_one_request_a_lane_of_all_ranks(self):
        for at_once in (1, 7):
            self.check(at_once, 2)


if __name__ == "__main__":
    unittest.main()
