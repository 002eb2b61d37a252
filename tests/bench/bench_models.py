"""Requests to a model's endpoint, over real sockets: what a thousand that wait cost one process, and how well a grid's
`concurrency` is kept full, on one rank and shared by several."""
import contextlib
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

from harness import BUILD, ROOT, figure

SERVER = BUILD / "tests/model/nkigrid_bench_slow_server"
ENV = dict(
    os.environ,
    NKIGRID_CONFIGS=str(ROOT / "configs"),
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
)
GRID = """\
name: waits
benchmark: nkigen-bench
tasks: ["L1/00[1-8]_*"]
replicates: {replicates}
lanes: {lanes}
models:
  slow: {{api: openai, endpoint: "http://127.0.0.1:{port}/v1", concurrency: {concurrency}}}
modes:
  talk: {{kind: multi-turn, turns: {turns}}}
prompts: {{naive: prompts/naive.md}}
cells:
  - {{model: slow, mode: talk, prompt: naive}}
"""


@contextlib.contextmanager
def endpoint(delay):
    """A server, and what it saw once the block ends."""
    server = subprocess.Popen([SERVER, str(delay)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    seen = {"port": int(server.stdout.readline())}
    try:
        yield seen
    finally:
        rest, _ = server.communicate()
    seen.update(json.loads(rest))


def run(ranks, delay, concurrency, episodes, turns, lanes):
    """@param lanes of all ranks together
    @returns what the server saw, with the runner's seconds of CPU and wall, and its peak MiB"""
    with tempfile.TemporaryDirectory(prefix="nkigrid-bench-") as folder, endpoint(delay) as seen:
        grid = pathlib.Path(folder, "grid.yaml")
        grid.write_text(
            GRID.format(
                replicates=episodes // 8,
                lanes=lanes // ranks,
                port=seen["port"],
                concurrency=concurrency,
                turns=turns,
            )
        )
        command = [BUILD / "nkigrid", "run", grid, "-o", pathlib.Path(folder, "run"), "-q"]
        if ranks > 1:
            command = ["mpirun", "-n", str(ranks), *command]
        start = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, env=ENV)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        assert process.returncode == 0, command
    seen.update(cpu=usage.ru_utime + usage.ru_stime, wall=wall, mebibytes=usage.ru_maxrss / 1024)
    assert seen["requests"] == episodes * turns, seen
    return seen


def bench():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8192), hard), hard))
    seen = run(1, 10, 1000, 1000, 2, 1000)
    figure("1,000 requests in flight against 10 s, one process: most in flight", f"{seen['most']}", "<= 1000")
    figure("the same: cores, over the run's whole wall time", f"{seen['cpu'] / seen['wall']:.2f}", "< 1")
    figure("the same: peak memory of a process", f"{seen['mebibytes']:.0f} MiB", "< 1536 MiB")
    for ranks in (1, 2, 4):
        # A lane holds no slot while it writes the log: half as many again as slots keep them full on a slow disk, too,
        # and 2,000 episodes are five whole waves of them.
        seen = run(ranks, 0.05, 256, 2000, 10, 400)
        busy = seen["slot_seconds"] / (256 * seen["s"])
        what = f"20,000 turns against 50 ms, concurrency 256, 400 lanes, ranks {ranks}"
        figure(f"{what}: slots busy", f"{busy:.3f}, most {seen['most']}", ">= 0.95, <= 256")
        figure("the same: CPU of the runner a turn, start and seal included", f"{seen['cpu'] / 20:.3f} ms", "-")
