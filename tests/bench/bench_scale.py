"""A grid of 10^5 episodes: what its user waits for, and the memory it takes. A log of all of them, sealed, is behind
`status`."""
import os
import pathlib
import subprocess
import tempfile
import time

from harness import BUILD, ROOT, figure

NKIGRID = BUILD / "nkigrid"
ENV = dict(os.environ, NKIGRID_CONFIGS=str(ROOT / "configs"))
GRID = """\
name: scale
benchmark: nkigen-bench
tasks: ["L1/00[1-9]_*", "L2/001_*"]
replicates: 2500
models:
  novice: {api: synthetic, profile: novice}
  expert: {api: synthetic, profile: expert}
modes:
  ss: {kind: single-shot}
  agent: {kind: tool-agent, turns: 6}
prompts: {rank-aware: prompts/rank-aware.md}
cells:
  - {model: [novice, expert], mode: [ss, agent], prompt: rank-aware}
slurm: {shards: 1000, nodes: 1, ranks_per_node: 8, time: "08:00:00"}
"""


def best_of_three(*command):
    """Seconds and peak MiB of a program; the fastest of three, since other work on the machine only ever adds."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(time.perf_counter() - start)
        message = process.stderr.read().decode()
        process.stderr.close()
        assert process.returncode in (0, 1), (command, message)
    return min(seconds), usage.ru_maxrss / 1024


def bench():
    with tempfile.TemporaryDirectory(prefix="nkigrid-bench-") as folder:
        grid, run = pathlib.Path(folder, "grid.yaml"), pathlib.Path(folder, "run")
        grid.write_text(GRID)
        for what, command in (
            ("check", ["check", grid]),
            ("submit --dry-run", ["submit", grid, "-o", run, "--dry-run"]),
        ):
            seconds, mebibytes = best_of_three(NKIGRID, *command)
            figure(f"{what}, 10^5 episodes", f"{seconds:.2f} s, {mebibytes:.0f} MiB", "< 2 s, 300 MiB")
        full = pathlib.Path(folder, "full")
        subprocess.run([BUILD / "tests/log/nkigrid_log_make_run", grid, full], check=True, env=ENV)
        for state in ("live", "sealed"):
            seconds, mebibytes = best_of_three(NKIGRID, "status", full)
            figure(f"status, 10^5 episodes, {state} log", f"{seconds:.2f} s, {mebibytes:.0f} MiB", "< 2 s, 300 MiB")
            subprocess.run([NKIGRID, "seal", full], check=True, env=ENV, stdout=subprocess.DEVNULL)
