"""What endpoints of each api do wrong, a row each, over real sockets by the real binary: the outcome, the retries, the
waits, the bytes that are logged and what it cost."""
import json
import pathlib
import socketserver
import tempfile
import threading
import unittest

from fault_rows import APIS, TOKENS, Row, all_rows, failed, said
from fault_server import Answer, FaultServer
from harness import Case, environment, nkigrid

ROWS = all_rows()
SPEC = {
    "chat": "api: openai",
    "responses": "api: openai, form: responses",
    "anthropic": "api: anthropic",
    "bedrock": "api: bedrock, region: us-west-2",
}
PATH = {"chat": "/v1", "responses": "/v1", "anthropic": "/v1", "bedrock": ""}
PRICE = {"input": 5, "output": 25, "cache_read": 0.5}


def grid(port, rows=ROWS):
    price = ", ".join(f"{name}: {usd}" for name, usd in PRICE.items())
    models = "".join(
        f'  {name}: {{{SPEC[row.api]}, endpoint: "http://127.0.0.1:{port}/{name}{PATH[row.api]}", model: m, '
        f"key: {{env: KEY}}, max_tokens: 4000, temperature: 0.5, retry_limit: 20 s, price: {{{price}}}}}\n"
        for name, row in rows.items()
    )
    return f"""\
name: faults
benchmark: nkigen-bench
tasks: [L1/001_add]
infra_retries: 0
check: {{trials: 1}}
device: {{backend: sim, sdk: "2.24", target: trn1}}
models:
{models}modes:
  ss: {{kind: single-shot}}
prompts: {{naive: prompts/naive.md}}
cells:
  - {{model: [{", ".join(rows)}], mode: ss, prompt: naive}}
"""


class Faults(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="nkigrid-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.run_folder, path = (pathlib.Path(folder.name) / name for name in ("RUN", "grid.yaml"))
        with FaultServer({name: row.script for name, row in ROWS.items()}) as server:
            path.write_text(grid(server.port))
            env = environment(KEY="sk-CANARY0123456789")
            cls.done = nkigrid("run", path, "-o", cls.run_folder, "--lanes", len(ROWS), env=env)
        cls.asked = server.asked
        lines = lambda *options: map(json.loads, nkigrid("export", cls.run_folder, *options).stdout.splitlines())
        cls.episodes = {row["model"]: row for row in lines()}
        cls.turns = {row["cell"].split(".")[0]: row for row in lines("--turns")}

    def for_each(self, outcomes, check):
        for name, row in ROWS.items():
            if row.outcome in outcomes:
                with self.subTest(row=name):
                    check(name, row)

    def test_each_ends_as_it_must(self):
        def check(name, row):
            self.assertEqual(self.episodes[name].get("outcome"), row.outcome)

        self.for_each(("pass", "context_full", "refused"), check)

    def test_a_model_that_stops_leaves_its_episode_and_says_why(self):
        def check(name, row):
            self.assertIsNone(self.episodes[name].get("outcome"))
            said = [line for line in self.done.stderr.splitlines() if f"model '{name}'" in line]
            self.assertTrue(any(row.words in line for line in said), said)

        self.assertEqual(self.done.returncode, 4, self.done.stderr[-2000:])
        self.for_each(("stopped",), check)

    def test_each_asks_as_often_as_it_must(self):
        def check(name, row):
            self.assertEqual(len(self.asked[name]), row.asked)

        self.for_each(("pass", "context_full", "refused", "stopped"), check)

    def test_retries_are_counted_and_are_no_turns(self):
        def check(name, row):
            episode = self.episodes[name]
            self.assertEqual((episode["turns"], episode["api_retries"]), (1, row.retries))

        self.for_each(("pass",), check)

    def test_waits_are_the_servers_and_longer_never_shorter(self):
        def check(name, row):
            self.assertGreaterEqual(self.turns[name]["wait_s"], row.wait)
            self.assertLess(self.turns[name]["wait_s"], max(9, row.wait * 2))

        self.for_each(("pass",), check)

    def test_the_bytes_that_came_are_the_bytes_that_are_logged(self):
        kinds = (
            "reset",
            "cut_json",
            "no_temperature",
            "seconds",
            "cut",
            "overloaded_after_200",
            "bom",
            "gzip",
            "filter",
        )

        def check(name, row):
            if not name.endswith(kinds):
                return
            shown = nkigrid("show", self.run_folder, f"{name}.ss.naive/L1/001_add#1", "--wire").stdout
            turn = json.loads(shown.splitlines()[0])
            if "Content-Encoding" not in row.script[-1].headers and not row.script[-1].body.startswith(b"\xef"):
                self.assertEqual(turn["response"].encode(), row.script[-1].body)
            self.assertEqual(turn["request"].encode(), self.asked[name][-1][1])

        self.for_each(("pass", "refused"), check)

    def test_what_is_paid_is_what_the_reply_counted(self):
        fresh = TOKENS["in"] - TOKENS["cached"]
        usd = (fresh * PRICE["input"] + TOKENS["cached"] * PRICE["cache_read"] + TOKENS["out"] * PRICE["output"]) / 1e6

        def check(name, row):
            episode = self.episodes[name]
            paid = {"pass": (TOKENS["in"], TOKENS["cached"], usd)}.get(row.outcome, (0, 0, 0))
            self.assertEqual((episode["tokens_in"], episode["tokens_cached"]), paid[:2])
            self.assertAlmostEqual(episode["cost_usd"], paid[2])

        self.for_each(("pass", "context_full"), check)

    def test_doctor_says_before_the_night_what_a_server_wants_otherwise(self):
        reply = Answer(said("chat", "Yes."))
        limit = failed("chat", 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        fixed = failed("chat", 400, "Unsupported value: 'temperature' does not support 0.5 with this model.")
        with FaultServer({"m": [limit, fixed, reply]}) as server:
            path = self.write("grid.yaml", grid(server.port, {"m": Row("chat", [])}))
            done = nkigrid("doctor", path, "--probe", "--json", env=environment(KEY="sk-CANARY0123456789"))
        texts = [finding["text"] for finding in json.loads(done.stdout)["findings"] if finding["what"] == "model m"]
        self.assertIn("it wants max_completion_tokens", texts[-1])
        self.assertIn("it refuses temperature", texts[-1])
        self.assertEqual(json.loads(server.asked["m"][-1][1])["max_completion_tokens"], 16)

    def test_a_server_that_speaks_no_tls_is_told_in_words(self):
        class Plain(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        with socketserver.TCPServer(("127.0.0.1", 0), Plain) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            text = grid(server.server_address[1], {"m": Row("chat", [])}).replace("http://", "https://")
            done = nkigrid(
                "doctor", self.write("grid.yaml", text), "--json", env=environment(KEY="sk-CANARY0123456789")
            )
        texts = [finding["text"] for finding in json.loads(done.stdout)["findings"] if finding["what"] == "model m"]
        self.assertRegex(texts[0], "does not answer .*(SSL|TLS)")

    def test_what_a_model_refuses_is_left_out_and_said(self):
        for api in APIS:
            with self.subTest(api=api):
                last = self.asked[f"{api}_no_temperature"][-1][1]
                self.assertNotIn(b"temperature", last)
                self.assertIn("left_out=temperature", self.turns[f"{api}_no_temperature"]["flags"])


if __name__ == "__main__":
    unittest.main()
