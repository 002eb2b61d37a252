"""Seeds of the fuzzer of programs: the known kernels of the benchmark, traced. usage: seeds.py DIRECTORY (PYTHONPATH:
the package)"""

import json
import pathlib
import sys

from neuronxcc.nki import _harness

ROOT = pathlib.Path(__file__).resolve().parents[2] / "configs" / "nkigen-bench"


def write(directory):
    """One file a kernel. @returns how many"""
    count = 0
    for task in json.loads((ROOT / "index.json").read_text())["tasks"]:
        kernel = ROOT / "kernels" / (task["id"] + ".py")
        params = [(i["name"], tuple(i["shape"]), i["dtype"]) for i in task["inputs"]]
        result = _harness.compile_source(kernel.read_text(), None, params, None, {})
        if result["ok"]:
            pathlib.Path(directory, task["id"].replace("/", "~")).write_bytes(result["program"])
            count += 1
    return count


if __name__ == "__main__":
    print(f"{write(sys.argv[1])} seeds")
