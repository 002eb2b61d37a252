"""A whole device in one file: `site_device.py compile` and `site_device.py verify` of docs/formats/command_protocol.md.

It answers for the NKI simulator, whose folder NKIGRID_DEVICE_NKISIM names; a site puts its own compiler and runtime in the two marked places."""
import base64
import json
import os
import sys

import numpy

sys.path.insert(0, os.environ["NKIGRID_DEVICE_NKISIM"])
from neuronxcc.nki import _harness  # noqa: E402
from neuronxcc.nki._trace import engine  # noqa: E402


def answer(**reply):
    sys.__stdout__.write(json.dumps(reply) + "\n")
    sys.__stdout__.flush()


def compile_kernel(request):
    with open(request["source"], encoding="utf-8") as file:
        source = file.read()
    params = [(t["name"], tuple(t["shape"]), t["dtype"]) for t in request["inputs"]]
    options = {key: request[key] for key in ("sdk", "target", "strict_paper_names")}
    made = _harness.compile_source(source, request["entry"], params, None, options)  # <- your compiler
    if not made["ok"]:
        return answer(**made)  # {"ok": False, "code", "stage", "line", "message", "warnings"}
    with open(os.path.join(request["scratch"], "kernel.made"), "w", encoding="utf-8") as file:
        json.dump({"program": base64.b64encode(made["program"]).decode(), "outputs": made["outputs"]}, file)
    answer(ok=True, artifact="kernel.made", entry=made["entry"], warnings=made["warnings"], estimate_us=engine.estimate_us(made["program"]))


def run_kernel(request):
    with open(request["artifact"], encoding="utf-8") as file:
        made = json.load(file)
    inputs = [numpy.fromfile(t["file"], dtype=numpy.uint8, count=t["bytes"], offset=t["offset"]) for t in request["inputs"]]
    outputs = [(tuple(shape), dtype) for shape, dtype in made["outputs"]]
    wanted = [(tuple(t["shape"]), t["dtype"]) for t in request["outputs"]]
    if outputs != wanted:
        return answer(ok=False, code="WRONG_OUTPUT_SHAPE_DTYPE", message=f"the kernel returns {outputs}, the task wants {wanted}")
    poison = request["poison"]
    arrays, report = engine.run_raw(base64.b64decode(made["program"]), inputs, outputs,  # <- your runtime
                                    poison["float32_bits"], poison["integer_byte"])
    if report.get("code"):
        return answer(ok=False, code=report["code"], line=report["line"], message=report["message"])
    for array, tensor in zip(arrays, request["outputs"]):
        array.tofile(tensor["file"])
    answer(ok=True, hints=report["hints"])


if sys.argv[1] == "compile":
    compile_kernel(json.loads(sys.stdin.readline()))
else:
    answer(ok=True)  # ready: what came before is not the kernel's time
    for line in sys.stdin:
        run_kernel(json.loads(line))
