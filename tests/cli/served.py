"""What tests of `server:` share: a grid whose server is a stub, and what that saw."""
import json
import pathlib

from harness import Case, environment, nkigrid, wait_until

STUB = pathlib.Path(__file__).parent / "stub_server.py"
GRID = """\
name: kept
benchmark: nkigen-bench
tasks: nkigen-smoke
replicates: 2
lanes: 8
device: {{backend: sim, sdk: "2.24", target: trn1}}
models:
  one: {{api: openai, model: m, retry_limit: 20 s, concurrency: 6, key: {{env: STUB_KEY}}, server: {server}}}
{more}
modes: {{ss: {{kind: single-shot}}}}
prompts: {{rank-aware: prompts/rank-aware.md}}
cells:
  - {{model: [{models}], mode: ss, prompt: rank-aware}}
"""
CANARY = "canary-9f27c1d05b"


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class ServerCase(Case):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        self.stub_folder = self.folder / "stub"
        self.stub_folder.mkdir()

    def grid(self, *words, more="", models="one", **keys):
        """Writes the grid. words: of the stub; keys: of `server`."""
        command = ["/usr/bin/python3", str(STUB), "--port", "{port}", "--host", "{host}"]
        command += ["--folder", str(self.stub_folder), *words]
        server = json.dumps({"command": command, "start_timeout": "60 s", **keys})
        return self.write("grid.yaml", GRID.format(server=server, more=more, models=models))

    def run_grid(self, *args, **env):
        return nkigrid(*args, env=environment(STUB_KEY=CANARY, **env))

    def starts(self):
        path = self.stub_folder / "starts"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def requests(self):
        """(port, begin, end) of each."""
        lines = (self.stub_folder / "requests").read_text().splitlines()
        return [(int(port), float(begin), float(end)) for port, begin, end in map(str.split, lines)]

    def note(self, name="all.one.0"):
        return json.loads((self.run_folder / f"log/servers/{name}.json").read_text())

    def check_none_left(self):
        pids = [start[name] for start in self.starts() for name in ("pid", "child") if start[name]]
        self.assertTrue(pids)
        wait_until(lambda: not any(is_alive(pid) for pid in pids), 30, f"the end of {pids}")
