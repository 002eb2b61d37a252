"""The apis of providers, by the real binary over real sockets: what is sent, retried, counted, paid and logged; a run
that is replayed from its log; and keys that go nowhere but where they belong."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from api_server import ApiServer
from harness import Case, environment, nkigrid, timeless_tables

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
KERNEL = (SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py").read_text()
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+CANARYKEY",
    "AWS_SESSION_TOKEN": "session-CANARY-token",
}
CELLS = """\
modes: {agent: {kind: tool-agent, turns: 3, stop_on_pass: false}}
prompts: {naive: prompts/naive.md}
"""
HEAD = """\
name: apis
benchmark: nkigen-bench
tasks: [L1/001_add]
infra_retries: 0
check: {trials: 1}
device: {backend: sim, sdk: "2.24", target: trn1}
"""
TABLES = ("cells", "errors", "turns", "transitions", "readings", "rules")


def grid(port):
    at = f"http://127.0.0.1:{port}"
    return f"""\
{HEAD}models:
  opus: {{api: anthropic, endpoint: "{at}/messages/v1", model: claude-x, max_tokens: 4000, temperature: 0.5,
    key: {{env: ANT}}, price: {{input: 5, output: 25, cache_read: 0.5, cache_write: 6.25}}}}
  o9: {{api: openai, form: responses, endpoint: "{at}/responses/v1", body: {{reasoning: {{effort: low}}}},
    headers: {{x-gate: {{env: GATE}}, x-plain: word}}}}
  rock: {{api: bedrock, region: us-west-2, endpoint: "{at}/converse", model: "anthropic.claude-x-v1:0"}}
  moved: {{api: openai, endpoint: "{at}/elsewhere/v1", key: {{env: ANT}}}}
{CELLS}cells:
  - {{model: [opus, o9, rock, moved], mode: agent, prompt: naive}}
"""


def replaying(run):
    models = "".join(f"  {name}: {{api: replay, run: {run}}}\n" for name in ("opus", "o9", "rock"))
    return f"{HEAD}models:\n{models}{CELLS}cells:\n  - {{model: [opus, o9, rock], mode: agent, prompt: naive}}\n"


class Apis(Case):
    def play(self):
        run = self.folder / "RUN"
        env = environment(ANT="sk-ant-CANARY0123456789", GATE="gate-CANARY-0123456789", **AWS)
        with ApiServer(KERNEL) as server:
            (self.folder / "grid.yaml").write_text(grid(server.port))
            self.done = nkigrid("run", self.folder / "grid.yaml", "-o", run, env=env)
        self.server = server
        return run

    def rows(self, run, *options):
        return [json.loads(line) for line in nkigrid("export", run, *options).stdout.splitlines()]

    def test_each_api_is_spoken_as_its_documents_say(self):
        run = self.play()
        rows = {row["model"]: row for row in self.rows(run)}
        for model in ("opus", "o9", "rock"):
            self.assertEqual(rows[model]["outcome"], "pass", self.done.stderr)
            self.assertEqual(rows[model]["turns"], 3)
        # What was refused or overloaded was sent again and is no turn; each turn is asked for once.
        asked = {name: api.asked for name, api in self.server.apis.items()}
        self.assertEqual(asked, {"messages": 5, "responses": 3, "converse": 4, "elsewhere": 1, "trap": 0})
        self.assertEqual(rows["opus"]["api_retries"], 1)
        self.assertEqual(rows["rock"]["api_retries"], 1)
        # 3 turns of 100 fresh and 1,000 written tokens, 0 + 1,000 + 2,000 read from the cache, 50 said.
        self.assertEqual(rows["opus"]["tokens_in"], 6300)
        self.assertEqual(rows["opus"]["tokens_cached"], 3000)
        self.assertAlmostEqual(rows["opus"]["cost_usd"], (300 * 5 + 3000 * 6.25 + 3000 * 0.5 + 150 * 25) / 1e6)
        # Who answers from elsewhere is told, and gets no key.
        self.assertNotEqual(rows["moved"].get("outcome"), "pass")
        self.assertIn("HTTP 307", self.done.stderr)
        self.readings(run)
        self.sent(run)
        self.keys(run)
        reread = json.loads(nkigrid("reread", run, "--json").stdout)
        self.assertEqual((reread["replies"], reread["without_raw"], reread["changes"]), (9, 0, []))
        self.replay(run)

    def readings(self, run):
        table = nkigrid("tables", run, "--table", "readings", "--format", "csv").stdout
        rows = {(row["cell"], row["reading"]): row for row in csv.DictReader(io.StringIO(table))}
        self.assertEqual(rows["o9.agent.naive", "usage=missing"]["times"], "3")
        self.assertEqual(rows["opus.agent.naive", "left_out=temperature"]["times"], "3")
        self.assertEqual(rows["rock.agent.naive", ""]["replies"], "3")

    def sent(self, run):
        """The log holds every request that brought a reply, byte for byte."""
        shown = nkigrid("show", run, "opus.agent.naive/L1/001_add#1", "--wire").stdout.splitlines()
        turns = [json.loads(line) for line in shown]
        came = [body.decode() for path, _, body in self.server.requests if path.startswith("/messages/")]
        self.assertEqual([turn["request"] for turn in turns], came[2:5])  # the first two were refused
        self.assertTrue(all(json.loads(turn["response"])["type"] == "message" for turn in turns))
        headers = next(headers for path, headers, _ in self.server.requests if path.startswith("/responses/"))
        self.assertEqual((headers["x-gate"], headers["x-plain"]), ("gate-CANARY-0123456789", "word"))

    def keys(self, run):
        shown = self.done.stdout + self.done.stderr
        for arguments in (
            ("status", run),
            ("export", run, "--turns", "--texts"),
            ("show", run, "opus.agent.naive/L1/001_add#1"),
        ):
            shown += nkigrid(*arguments).stdout
        self.assertNotIn("CANARY", shown)
        for path in run.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"CANARY", path.read_bytes(), path)

    def replay(self, run):
        """With no endpoint at all: the same bytes, nothing paid, the same tables."""
        again = self.folder / "AGAIN"
        (self.folder / "again.yaml").write_text(replaying(run))
        done = nkigrid("run", self.folder / "again.yaml", "-o", again)
        self.assertEqual(done.returncode, 0, done.stderr)
        models = {"opus", "o9", "rock"}
        texts = lambda of: sorted(
            (row["cell"], row["turn"], row["reply"], row["request"])
            for row in self.rows(of, "--turns", "--texts")
            if row["cell"].split(".")[0] in models
        )
        self.assertEqual(texts(again), texts(run))
        for table in TABLES:
            tables = [nkigrid("tables", of, "--table", table, "--format", "csv").stdout for of in (run, again)]
            kept = [[line for line in text.splitlines() if not line.startswith("moved.")] for text in tables]
            self.assertEqual(kept[0], kept[1], table)
        changed = replaying(run).replace("prompts/naive.md", "prompts/rank-aware.md")
        (self.folder / "changed.yaml").write_text(changed)
        done = nkigrid("run", self.folder / "changed.yaml", "-o", self.folder / "CHANGED")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("turn 1 was asked something else there", done.stderr)

    def test_a_run_is_replayed_on_another_machine(self):
        """Its folder elsewhere, another host name, one lane, no network at all: the same bytes in every table."""
        other = ["unshare", "--map-root-user", "--uts", "--net", "sh", "-c", 'hostname elsewhere; exec "$@"', "sh"]
        if subprocess.run([*other, "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces for this user")
        with ApiServer(KERNEL) as server:
            text = grid(server.port).replace(", moved]", "]")
            (self.folder / "grid.yaml").write_text(text)
            env = environment(ANT="sk-ant-CANARY0123456789", GATE="gate-CANARY-0123456789", **AWS)
            done = nkigrid("run", self.folder / "grid.yaml", "-o", self.folder / "RUN", "--lanes", "3", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        here = timeless_tables(self.folder / "RUN")
        moved = self.folder / "far" / "away"
        moved.parent.mkdir()
        shutil.copytree(self.folder / "RUN", moved)
        shutil.rmtree(self.folder / "RUN")
        self.assertEqual(timeless_tables(moved), here)
        (self.folder / "again.yaml").write_text(replaying(moved))
        again = self.folder / "AGAIN"
        done = nkigrid("run", self.folder / "again.yaml", "-o", again, "--lanes", "1", prefix=other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({row["node"] for row in self.rows(again)}, {"elsewhere"})
        self.assertEqual(timeless_tables(again), here)


if __name__ == "__main__":
    unittest.main()
