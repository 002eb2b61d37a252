"""The log: appends against the machine's own syncs and against h5py, sealing, tables. NKIGRID_BENCH_FULL=1: 10^6 turns
sealed and tables over 10^7 (some minutes and 12 GB of disk under TMPDIR); else a twentieth of it."""
import glob
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from harness import BUILD, ROOT, figure, report

LOAD = BUILD / "tests/log/nkigrid_bench_log"
FULL = os.environ.get("NKIGRID_BENCH_FULL") == "1"
ENV = dict(os.environ, NKIGRID_CONFIGS=str(ROOT / "configs"))
MIB = 2**20


def load(*words):
    done = subprocess.run([LOAD, *map(str, words)], check=True, capture_output=True, env=ENV)
    return json.loads(done.stdout)


def timed(*command):
    """Seconds and peak bytes of a program."""
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), command
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def h5py_row_by_row(folder, count=400):
    """A turn a row, each column and text grown by one: what a script does. Seconds a turn, nothing synced."""
    import h5py
    import numpy as np

    columns = {name: "S40" for name in ("episode", "event", "flags", "stage", "code", "group")}
    columns.update(
        {name: "i4" for name in ("attempt", "turn", "tool_calls", "line", "tokens_in", "tokens_out", "api_retries")}
    )
    columns.update({name: "i1" for name in ("nudged", "compile_ok", "verify_ok")})
    columns.update(
        {name: "f8" for name in ("llm_s", "wait_s", "compile_s", "verify_s", "max_abs_err", "rel_l2", "estimate_us")}
    )
    texts = ("request", "reply", "kernel", "tool_output")
    columns.update({f"{text}_{part}": "u8" for text in texts for part in ("offset", "length")})
    with h5py.File(folder + "/peer.h5", "w") as file:
        sets = {
            name: file.create_dataset(
                "turns/" + name, (0,), dtype, maxshape=(None,), chunks=(4096,), compression=4, shuffle=True
            )
            for name, dtype in columns.items()
        }
        heap = file.create_dataset("text", (0,), "u1", maxshape=(None,), chunks=(256 * 1024,), compression=4)
        text = np.frombuffer(os.urandom(512) * 4, dtype="u1")
        start = time.perf_counter()
        for row in range(count):
            for name in texts:
                at = heap.shape[0]
                heap.resize((at + len(text),))
                heap[at:] = text
            for name, dataset in sets.items():
                dataset.resize((row + 1,))
                dataset[row] = b"word" if columns[name] == "S40" else 1
        file.flush()
        return (time.perf_counter() - start) / count


def bench_append(folder):
    ours = load("append", folder, 64, 100 if FULL else 40)
    report(
        "journal append of 4 KiB, one lane, durable", ours["one_lane_s"], ours["plain_s"], "write + fdatasync", "<= 1.3"
    )
    report(
        "a turn (reply, then turn) at 64 lanes, durable", ours["turn_s"], ours["plain_s"], "write + fdatasync", "<= 0.1"
    )
    peer = statistics.median(h5py_row_by_row(folder) for _ in range(3))
    report("a turn at 64 lanes, durable", ours["turn_s"], peer, "h5py row by row, not synced", "<= 0.1")
    return peer


def bench_seal(folder, peer):
    turns = 1_000_000 if FULL else 50_000
    made = load("generate", folder + "/log", turns)
    seconds, peak = timed(LOAD, "seal", folder + "/log/load.journal")
    import h5py

    text = size = 0
    for path in glob.glob(folder + "/log/*.h5"):
        size += os.path.getsize(path)
        with h5py.File(path) as file:
            text += len(file["text"])
    report(f"sealing a turn ({turns} of them)", seconds / turns, peer, "h5py row by row, not synced", "<= 0.1")
    figure(
        f"memory to seal {turns} turns, {made['text_bytes'] / turns / 1024:.1f} KiB of text each",
        f"{peak / MIB:.0f} MiB",
        "< 1024 MiB",
    )
    figure("text that repeats stored once", f"{made['text_bytes'] / text:.2f} x less", "-")
    figure("and deflated, columns included", f"{made['text_bytes'] / size:.2f} x less", "-")
    # What a log that keeps each request whole would hold, KiB a turn: the prompt, the replies (3) and answers (1)
    # before; reply, kernel, answer.
    whole = sum(1 + 4 * (turn - 1) + 3 + 3 + 1 for turn in range(1, 11)) / 10
    figure("text against whole requests a turn (ten turns)", f"{whole * 1024 * turns / text:.2f} x less", "-")


def bench_tables(folder):
    replicates = 6945 if FULL else 347
    grid = (ROOT / "configs/demo.yaml").read_text()
    import re

    grid = re.sub(r"(?m)^replicates:.*$", f"replicates: {replicates}", grid)
    path = pathlib.Path(folder, "grid.yaml")
    path.write_text(grid)
    made = load("segments", path, folder + "/run", 10)
    fold = load("fold", folder + "/run")
    assert fold["turns"] == made["turns"] and fold["scored"] == made["episodes"]
    figure(
        f"ledger of {made['episodes']} episodes",
        f"{fold['ledger_s']:.2f} s, {fold['ledger_peak_bytes'] / MIB:.0f} MiB",
        "-",
    )
    figure(f"columns of {made['turns']} turns", f"{fold['turns_s']:.2f} s", "-")
    seconds, peak = timed(BUILD / "nkigrid", "tables", folder + "/run", "--table", "all")
    figure(
        f"tables over {made['turns']} turn rows ({made['parts']} segments)",
        f"{seconds:.2f} s, {peak / MIB:.0f} MiB",
        "< 10 s, < 1024 MiB",
    )


def bench():
    for part in ("append_seal", "tables"):
        with tempfile.TemporaryDirectory() as folder:
            if part == "tables":
                bench_tables(folder)
            else:
                bench_seal(folder, bench_append(folder))
