"""Dealing over MPI with real processes: balance against fixed shares, rate against GNU parallel and xargs, `plan` at
full size."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from harness import BUILD, ROOT, figure, rows

RANKS = 8
ENV = dict(
    os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1"
)


def dealing(*arguments, ranks=RANKS):
    command = [
        "mpirun",
        "--oversubscribe",
        "-n",
        str(ranks),
        BUILD / "tests/runner/nkigrid_bench_dealing",
        *map(str, arguments),
    ]
    return json.loads(subprocess.run(command, check=True, capture_output=True, env=ENV, text=True).stdout)


def balance():
    """450 heavy-tailed episodes (longest about six times the mean of 400 ms) on 8 ranks: makespan over the ideal
    one."""
    ratio = {}
    for policy in ("dealt", "exact", "contiguous", "hashed"):
        result = dealing("sleep", policy, 450, 0.4)
        ratio[policy] = result["seconds"] / result["ideal"]
        if policy == "exact":
            rows.append(
                (
                    "makespan of an element, real over what `plan` simulates",
                    f"{result['seconds']:.2f} s",
                    f"simulated {result['simulated']:.2f} s",
                    f"{result['seconds'] / result['simulated']:.3f}",
                    "0.95 .. 1.05",
                )
            )
    short = dealing("sleep", "dealt", 450, 0.2)
    figure(
        "the same, dealt, with episodes of 200 ms: hand-overs weigh twice as much",
        f"{short['seconds'] / short['ideal']:.3f}",
        "-",
    )
    for policy in ("contiguous", "hashed"):
        rows.append(
            (
                "makespan over ideal, 450 heavy-tailed episodes, 8 ranks",
                f"{ratio['dealt']:.3f}",
                f"{policy} {ratio[policy]:.3f}",
                f"{ratio['dealt'] / ratio[policy]:.3f}",
                "<= 1.05 ours",
            )
        )


def rate():
    result = statistics.median(dealing("empty", 200_000, 8)["seconds"] for _ in range(3))
    figure("episodes dealt and taken back over MPI, 8 ranks", f"{200_000 / result:.0f}/s", ">= 20000/s")


def peers():
    """/bin/true as the episode on both sides; then nothing as the episode on ours, launcher's start and end
    included."""
    count = 2000

    def timed(command, **more):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **more)
        return time.perf_counter() - start

    numbers = "".join(f"{i}\n" for i in range(count))
    tools = {"xargs -P8": ["xargs", "-P8", "-n1", "/bin/true"]}
    if shutil.which("parallel"):
        tools["GNU parallel -j8"] = ["parallel", "-j8", "/bin/true"]
    ours = dealing("spawn", count, 1)["seconds"]
    bench = BUILD / "tests/runner/nkigrid_bench_dealing"
    empty = timed(["mpirun", "--oversubscribe", "-n", str(RANKS), bench, "empty", str(count), "8"], env=ENV)
    for name, command in tools.items():
        theirs = timed(command, input=numbers, text=True)
        rows.append(
            (f"{count} episodes of /bin/true", f"{ours:.2f} s", f"{name} {theirs:.2f} s", f"{ours / theirs:.3g}", "< 1")
        )
        rows.append(
            (
                f"{count} empty episodes, mpirun included",
                f"{empty:.2f} s",
                f"{name} {theirs:.2f} s",
                f"{empty / theirs:.3g}",
                "< 1",
            )
        )


def plan():
    """10^6 episodes on 1,024 ranks."""
    models = "".join(f"  m{i}: {{api: openai, endpoint: 'http://h'}}\n" for i in range(20))
    grid = (ROOT / "configs/demo.yaml").read_text()
    head = grid[: grid.index("models:")].replace("replicates: 3", "replicates: 1042")
    names = ", ".join(f"m{i}" for i in range(20))
    tasks = json.loads((ROOT / "configs/nkigen-bench/index.json").read_text())["subsets"]["nkigen-demo"]
    replicates = -(-1_000_000 // (40 * len(tasks)))
    text = (
        head.replace("replicates: 1042", f"replicates: {replicates}").replace("lanes: auto", "lanes: 1")
        + f"models:\n{models}modes:\n"
        "  ss: {kind: single-shot}\n  agent: {kind: tool-agent, turns: 10}\n"
        "prompts: {rank-aware: prompts/rank-aware.md}\n"
        f"cells:\n  - {{model: [{names}], mode: [ss, agent], prompt: rank-aware}}\n"
        "slurm: {shards: 32, nodes: 1, ranks_per_node: 32, time: '90-00:00:00'}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "grid.yaml")
        path.write_text(text)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            out = subprocess.run(
                [BUILD / "nkigrid", "plan", path, "--json"], check=True, capture_output=True, text=True
            ).stdout
            seconds.append(time.perf_counter() - start)
    result = json.loads(out)
    own = result["schedule"]["layouts"][0]
    figure(
        f"plan of {result['all']['episodes']} episodes, {len(result['schedule']['layouts'])} layouts",
        f"{statistics.median(seconds):.2f} s",
        "<= 2 s",
    )
    figure("its simulated makespan over ideal, 1024 ranks", f"{own['makespan_s'] / own['ideal_s']:.4f}", "<= 1.02")


def bench():
    balance()
    rate()
    peers()
    plan()
