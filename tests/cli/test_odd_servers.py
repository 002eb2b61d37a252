"""Servers as they are: what one of them does oddly costs no model its kernel, and what breaks is no model's failure."""
import json
import os
import pathlib
import unittest

from harness import Case, nkigrid
from odd_server import CASES, ENCODINGS, OddServer

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
KERNEL = (SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py").read_text()
ALL = [*CASES, *ENCODINGS]
FULL = {"full_in_words", "full_in_silence"}
FAULTS = {"broken_off", "without_choices", "sign_in_page"}


def grid(port):
    models = "".join(
        f'  {case}: {{api: openai, endpoint: "http://127.0.0.1:{port}/{case}/v1", model: m, max_tokens: 4000, '
        "retry_limit: 1 s}\n"
        for case in ALL
    )
    return f"""\
name: odd
benchmark: nkigen-bench
tasks: [L1/001_add]
infra_retries: 0
check: {{trials: 1}}
device: {{backend: sim, sdk: "2.24", target: trn1}}
models:
{models}modes:
  ss: {{kind: single-shot}}
  agent: {{kind: tool-agent, turns: 5}}
prompts: {{naive: prompts/naive.md}}
cells:
  - {{model: [{", ".join(ALL)}], mode: [ss, agent], prompt: naive}}
"""


class OddServers(Case):
    def test_each_oddity_ends_as_it_must(self):
        run = self.folder / "RUN"
        with OddServer(KERNEL) as server:
            (self.folder / "grid.yaml").write_text(grid(server.port))
            nkigrid("run", self.folder / "grid.yaml", "-o", run)
        rows = [json.loads(line) for line in nkigrid("export", run).stdout.splitlines()]
        outcomes = {(row["model"], row["mode"]): row.get("outcome") for row in rows}
        for case in ALL:
            for mode in ("ss", "agent"):
                with self.subTest(case=case, mode=mode):
                    got = outcomes.get((case, mode))
                    if case in FAULTS:
                        self.assertIn(got, (None, "api_error"))
                    else:
                        self.assertEqual(got, "context_full" if case in FULL else "pass")
        audited = json.loads(nkigrid("audit", run, "--json").stdout)
        self.assertEqual((audited["unchecked"], audited["disagreements"]), (0, []))


if __name__ == "__main__":
    unittest.main()
