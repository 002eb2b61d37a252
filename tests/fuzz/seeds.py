"""Seeds of the fuzzer of programs: the known kernels of the benchmark, traced.

usage: seeds.py DIRECTORY [SUBSET] (PYTHONPATH: the package)"""

import json
import pathlib
import sys

from neuronxcc.nki import _harness

ROOT = pathlib.Path(__file__).resolve().parents[2] / "configs" / "nkigen-bench"


def write(directory, subset=None):
    """One file a kernel of the subset (none: of all tasks). @returns how many"""
    index, count = json.loads((ROOT / "index.json").read_text()), 0
    for task in index["tasks"]:
        kernel = ROOT / "kernels" / (task["id"] + ".py")
        if (subset and task["id"] not in index["subsets"][subset]) or not kernel.exists():
            continue
        params = [(i["name"], tuple(i["shape"]), i["dtype"]) for i in task["inputs"]]
        result = _harness.compile_source(kernel.read_text(), None, params, None, {})
        if result["ok"]:
            pathlib.Path(directory, task["id"].replace("/", "~")).write_bytes(result["program"])
            count += 1
    return count


if __name__ == "__main__":
    print(f"{write(*sys.argv[1:])} seeds")
