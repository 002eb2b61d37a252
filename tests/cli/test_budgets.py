"""Budgets: one that is reached ends within episodes, about a reply a lane later; a larger one goes on, nothing is paid
for twice."""
import json
import threading
import unittest

from block_server import BlockServer
from harness import Case, environment, nkigrid, status

LANES = 12
IN_FLIGHT = 3 * LANES  # replies that a busy machine lets through before every lane knows; of 10 a lane
USD = 0.015  # a reply of 1000 tokens in and 100 out, at the grid's price
GRID = """\
name: budgets
benchmark: nkigen-bench
tasks: nkigen-demo
lanes: {lanes}
device: {{backend: sim, sdk: "2.24", target: trn1}}
budget: {{{run}}}
slurm: {{shards: {shards}}}
models:
  dear: {{api: openai, endpoint: "{url}/dear/v1", model: m, price: {{input: 10, output: 50}}, budget: {{{model}}}}}
  free: {{api: openai, endpoint: "{url}/free/v1", model: m, price: {{input: 0, output: 0}}}}
modes: {{agent: {{kind: tool-agent, turns: 10}}}}
prompts: {{rank-aware: prompts/rank-aware.md}}
cells:
  - {{model: [dear, free], mode: agent, prompt: rank-aware}}
"""
KERNEL = "import neuronxcc.nki as nki\n\n@nki.jit\ndef kernel(a):\n    return missing_{}\n"


class Endpoint(BlockServer):
    """An agent that never gets on: it submits another broken kernel each turn. Counts its replies by model."""

    def __init__(self):
        super().__init__()
        self.replies, self.lock = {"dear": 0, "free": 0}, threading.Lock()

    def answer(self, request, body):
        turn = sum(message["role"] == "assistant" for message in json.loads(body)["messages"])
        arguments = json.dumps({"kernel_source": KERNEL.format(turn)})
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "compile_kernel", "arguments": arguments},
        }
        with self.lock:
            self.replies[request.path.split("/")[1]] += 1
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 1000, "completion_tokens": 100}
        answer = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}], "usage": usage}
        request.send(json.dumps(answer).encode())


class Budgets(Case):
    def setUp(self):
        super().setUp()
        self.endpoint = self.enterContext(Endpoint())
        self.out = self.folder / "run"

    def grid(self, run="", model="", shards=1, lanes=LANES):
        url = f"http://127.0.0.1:{self.endpoint.port}"
        return self.write("grid.yaml", GRID.format(run=run, model=model, url=url, shards=shards, lanes=lanes))

    def run_grid(self, *args, quiet=("--quiet",)):
        return nkigrid("run", *args, *quiet, env=environment())

    def test_a_models_budget_ends_its_episodes_between_turns_and_a_larger_one_goes_on(self):
        done = self.run_grid(self.grid(model="usd: 0.3"), "-o", self.out)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("budget.usd 0.3 of model dear is used up (give a larger one in the grid", done.stderr)
        spent = self.endpoint.replies["dear"] * USD
        self.assertGreaterEqual(spent, 0.3)
        self.assertLess(spent, 0.3 + IN_FLIGHT * USD)
        self.assertEqual(self.endpoint.replies["free"], 240, "the other model is played to its end")

        before = dict(self.endpoint.replies)
        again = self.run_grid(self.out, quiet=())
        self.assertEqual((again.returncode, self.endpoint.replies), (1, before), "what a drain left is known at once")
        self.assertIn(f"`nkigrid run GRID -o {self.out}` with a larger budget in GRID continues them", again.stderr)
        self.assertNotIn("nkigrid resume", again.stderr)

        done = self.run_grid(self.grid(model="usd: 10"), "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.endpoint.replies, {"dear": 240, "free": 240}, "no reply is paid for twice")
        self.assertEqual(status(self.out)["outstanding"], 0)

    def test_a_runs_budget_of_tokens_ends_all(self):
        done = self.run_grid(self.grid(run="tokens: 30000"), "-o", self.out)
        self.assertEqual(done.returncode, 1, done.stderr)
        tokens = 1100 * sum(self.endpoint.replies.values())
        self.assertGreaterEqual(tokens, 30000)
        self.assertLess(tokens, 30000 + IN_FLIGHT * 1100)

    def test_shards_of_a_run_have_its_budget_in_common(self):
        self.run_grid(self.grid(run="tokens: 0", shards=4), "-o", self.out)  # freezes it
        grid = self.out / "grid.yaml"
        grid.write_text(grid.read_text().replace("budget: {tokens: 0}", "budget: {usd: 0.6}"))
        for shard in range(4):
            done = self.run_grid(self.out, "--shard", shard)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("(this shard's part of 0.6)", done.stderr)
        spent = self.endpoint.replies["dear"] * USD
        self.assertGreaterEqual(spent, 0.59)
        self.assertLess(spent, 0.6 + 4 * IN_FLIGHT * USD)


if __name__ == "__main__":
    unittest.main()
