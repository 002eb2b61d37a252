"""Timelines of final kernels that pass, out of `nkigrid kernel --profile`: each text once for its task."""
import json
import pathlib
import subprocess

FINEST = 1 / 2000  # of a timeline: what is nearer to what stands before it on its lane is one span with it


def merged(spans, gap):
    """Spans [begin, end] in their order, those with less than a gap between them put together."""
    out = []
    for begin, end in sorted(spans):
        if out and begin - out[-1][1] < gap:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return [[round(begin, 3), round(end, 3)] for begin, end in out]


def of_trace(trace):
    """{us, lanes: [{name, spans}]} of a trace; None for one without events."""
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    us = max((event["ts"] + event["dur"] for event in events), default=0)
    if us <= 0:
        return None
    lanes = []
    for lane, name in sorted(names.items()):
        spans = [(event["ts"], event["ts"] + event["dur"]) for event in events if event["tid"] == lane]
        if spans:
            lanes.append({"name": name, "spans": merged(spans, us * FINEST)})
    return {"us": us, "lanes": lanes}


class Timelines:
    """Asks once for each kernel of a task in a run; None where the device gives none."""

    def __init__(self, nkigrid, folder):
        self.nkigrid, self.folder, self.known = nkigrid, pathlib.Path(folder), {}

    def of(self, run, task, kernel):
        key = (run, task, kernel)  # runs may be of different devices
        if key not in self.known:
            self.known[key] = self.ask(run, task, kernel)
        return self.known[key]

    def ask(self, run, task, kernel):
        source, trace = self.folder / "kernel.py", self.folder / "trace.json"
        source.write_text(kernel, encoding="utf-8")
        trace.unlink(missing_ok=True)
        words = ["--task", task, "--benchmark", run / "inputs/benchmark", "--device-grid", run / "grid.yaml"]
        subprocess.run(
            [self.nkigrid, "kernel", source, *words, "--profile", trace, "-q"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return of_trace(json.loads(trace.read_text())) if trace.exists() else None
