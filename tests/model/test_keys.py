"""A key is nowhere: servers that echo what they were sent, in each form, and every surface that could show it. What is
on the disk is read through h5py, which undoes the compression."""
import base64
import json
import os
import pathlib
import sys
import unittest
import urllib.parse

import h5py

sys.path.insert(0, str(pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"]) / "tests/cli"))
from block_server import BlockServer  # noqa: E402
from harness import Case, environment, nkigrid, processes_below, start  # noqa: E402

CANARY = "sk-proj-CANARYcanary+0123456789/abcdefABCDEF"
OTHER = "zzzz-another-CANARY-of-another-server"
GRID = """\
name: keys
benchmark: nkigen-bench
tasks: [L1/001_add]
replicates: 1
models:
  one: {{api: openai, endpoint: "http://127.0.0.1:{port}/v1", model: m, key: {{env: ONE_KEY}}, retry_limit: 1 s}}
  two: {{api: openai, endpoint: "http://127.0.0.1:{port}/v1", model: n, key: {{file: two.key}}, retry_limit: 1 s}}
modes: {{ss: {{kind: single-shot}}}}
prompts: {{rank-aware: prompts/rank-aware.md}}
cells:
  - {{model: [one, two], mode: ss, prompt: rank-aware}}
infra_retries: 1
"""


def forms():
    """What an echo may look like."""
    for key in (CANARY, OTHER):
        yield from (key, key[:10], key[:8] + "*" * 20 + key[-4:], urllib.parse.quote(key, safe=""))
        yield from (base64.b64encode(before + key.encode()).decode() for before in (b"", b"k", b"k:"))


ECHO = " ".join(f"<{form}>" for form in forms())
TRACES = [CANARY[:9], "CANARY", OTHER[:9]] + [
    base64.b64encode(before + key.encode()).decode()[4:16] for key in (CANARY, OTHER) for before in (b"", b"k", b"k:")
]


ENDLESS = """\
import neuronxcc.nki as nki


@nki.jit
def kernel(x, y):
    while True:
        pass
"""


def shown_of(pid):
    """The command line and the environment that a process shows to its own user."""
    shown = b""
    for name in ("cmdline", "environ"):
        try:
            shown += pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
        except OSError:
            pass  # it has ended, or hides it
    return shown.decode("latin1")


class Parrot(BlockServer):
    """Answers each request with one status and the echo, in its body and its headers."""

    def __init__(self, status):
        super().__init__()
        self.status, self.asked = status, 0

    def body(self):
        if self.status != 200:
            return {"error": {"message": f"incorrect API key provided: {ECHO}", "type": ECHO, "code": ECHO}}
        calls = [{"id": ECHO, "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": ECHO})}}]
        message = {"role": "assistant", "content": f"```python\n# {ECHO}\n```", "reasoning_content": ECHO}
        return {
            "choices": [{"index": 0, "finish_reason": "stop", "message": {**message, "tool_calls": calls}}],
            "system_fingerprint": ECHO,
        }

    def answer(self, request, _):
        self.asked += 1
        # Escapes hide a key from a search over bytes.
        body = json.dumps(self.body()).replace("sk-proj", "\\u0073k-pr\\u006fj").replace("/", "\\/").encode()
        request.send(body, self.status, {"X-Echo": CANARY})


def hdf5_bytes(path):
    """Every value of a segment, decompressed."""
    found = []
    with h5py.File(path) as file:
        file.visititems(lambda _, item: found.append(item[()].tobytes()) if isinstance(item, h5py.Dataset) else None)
        found += [repr(value).encode() for value in file.attrs.values()]
    return b"\0".join(found)


class Keys(Case):
    def play(self, status):
        """A run against the parrot; everything that it and the verbs after it show and store."""
        secret = self.folder / "two.key"
        secret.write_text(OTHER + "\n")
        secret.chmod(0o600)
        run = self.folder / f"run{status}"
        env = environment(ONE_KEY=CANARY)
        seen = {}
        with Parrot(status) as parrot:
            grid = self.write(f"grid{status}.yaml", GRID.format(port=parrot.port))
            for arguments in (("check", grid), ("run", grid, "-o", run)):
                done = nkigrid(*arguments, env=env)
                seen[arguments[0]] = done.stdout + done.stderr
            self.assertGreater(parrot.asked, 0)
        for arguments in (
            ("status", run),
            ("status", run, "--json"),
            ("export", run),
            ("export", run, "--attempts"),
            ("export", run, "--turns", "--texts"),
            ("show", run, "one.ss.rank-aware/L1/001_add#1"),
            ("show", run, "two.ss.rank-aware/L1/001_add#1", "--json"),
            ("tables", run, "--table", "all", "--format", "json"),
            ("seal", run),
            ("log", "check", run, "--json"),
        ):
            done = nkigrid(*arguments, env=env)
            seen[" ".join(str(word) for word in arguments if word != run)] = done.stdout + done.stderr
        for path in run.rglob("*"):
            if path.is_file():
                data = hdf5_bytes(path) if path.suffix == ".h5" else path.read_bytes()
                seen[str(path.relative_to(self.folder))] = data.decode("latin1")
        return seen

    def check_nowhere(self, seen):
        for place, text in seen.items():
            for trace in TRACES:
                self.assertNotIn(trace, text, place)

    def test_a_refusal_that_echoes_it(self):
        seen = self.play(401)
        self.check_nowhere(seen)
        self.assertIn("incorrect API key provided: <[key]>", seen["run"])
        self.assertIn("[key]", json.loads(seen["status --json"])["stopped_by"])

    def test_a_fault_that_echoes_it(self):
        seen = self.play(500)
        self.check_nowhere(seen)
        self.assertIn("[key]", json.loads(seen["status --json"])["stopped_by"])  # an outage: no row tells of it

    def test_a_reply_that_echoes_it(self):
        seen = self.play(200)
        self.check_nowhere(seen)
        self.assertTrue(any(p.endswith(".h5") and "# <[key]>" in text for p, text in seen.items()), sorted(seen))

    def test_no_process_and_no_script_shows_it(self):
        """While a kernel is traced that does not end: what `ps` shows of every process, and what submit writes."""
        secret = self.folder / "two.key"
        secret.write_text(OTHER + "\n")
        secret.chmod(0o600)
        env = environment(ONE_KEY=CANARY)
        parrot = Parrot(200)
        parrot.body = lambda: {"choices": [{"message": {"role": "assistant", "content": f"```python\n{ENDLESS}```"}}]}
        seen, programs = {}, set()
        with parrot:
            text = GRID.format(port=parrot.port) + "check: {compile_timeout: 2 s}\n"
            grid = self.write("grid.yaml", text)
            (self.folder / "one.key").write_text(CANARY + "\n")
            (self.folder / "one.key").chmod(0o600)
            job = self.write("job.yaml", text.replace("{env: ONE_KEY}", "{file: one.key}"))
            done = nkigrid("submit", job, "-o", self.folder / "DRY", "--dry-run", env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen["submit"] = done.stdout + done.stderr
            process = start("run", grid, "-o", self.folder / "RUN", env=env)
            self.addCleanup(process.stderr.close)
            while process.poll() is None:
                alive = processes_below(process.pid)
                if len(alive) < 2:
                    continue  # it may have just begun, with what its caller gave it; keys leave before a child is there
                for pid in alive:
                    shown = shown_of(pid)
                    seen[f"{pid} {shown[:80]}"] = shown
                    programs.add(shown.split("\0")[0].rsplit("/", 1)[-1])
        self.assertTrue(any("python" in program for program in programs), programs)  # the tracer was seen
        for path in self.folder.rglob("*"):
            if path.is_file() and path.suffix != ".key":
                seen[str(path)] = (hdf5_bytes(path) if path.suffix == ".h5" else path.read_bytes()).decode("latin1")
        self.assertTrue(any("#SBATCH" in text for text in seen.values()), sorted(seen))
        self.check_nowhere(seen)

    def test_a_key_in_the_grid_is_not_repeated(self):
        for wrong in (CANARY, "{env: '" + CANARY + "'}", "{command: ['" + CANARY + "']}"):
            text = GRID.format(port=1).replace("{env: ONE_KEY}", f"'{wrong}'" if wrong == CANARY else wrong)
            grid = self.write("wrong.yaml", text)
            for options in ((), ("--json",)):
                done = nkigrid("check", grid, *options)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.check_nowhere({str(options): done.stdout + done.stderr})


if __name__ == "__main__":
    unittest.main()
