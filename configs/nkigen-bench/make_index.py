#!/usr/bin/python3
"""Writes index.json from the task files (docs/formats/benchmark.md). Run it after every change of a task.

usage: make_index.py [--print]      --print: to stdout, the file stays as it is

What torch cannot say stands in comments of the task file:
    # nkigrid: category=activation
    # nkigrid: domain x=positive          (real when there is no such line)
    # nkigrid: domain target=index 1000
"""
import importlib.util
import inspect
import json
import pathlib
import re
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
SMOKE = ["L1/001_add", "L1/008_matmul", "L2/001_linear_gelu", "L3/003_bottleneck"]
# What a kernel sees of each torch type; float64 and the rest are refused.
DTYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.int32: "int32", torch.int64: "int32",
          torch.bool: "uint8", torch.uint8: "uint8"}
DOMAINS = {"real", "positive", "unit", "probability", "index"}


def load_module(path):
    spec = importlib.util.spec_from_file_location("task_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def read_notes(source, task_id):
    """@returns the category and {input name: (domain, bound)} of the `# nkigrid:` comments."""
    category, domains = None, {}
    for note in re.findall(r"^# nkigrid: *(.*?) *$", source, re.M):
        if match := re.fullmatch(r"category=([\w-]+)", note):
            category = match[1]
        elif (match := re.fullmatch(r"domain (\w+)=(\w+)(?: (\d+))?", note)) and match[2] in DOMAINS:
            if (match[2] == "index") != bool(match[3]):
                sys.exit(f"{task_id}: domain of '{match[1]}': index needs a bound, the others have none")
            domains[match[1]] = (match[2], int(match[3] or 0))
        else:
            sys.exit(f"{task_id}: cannot read the comment '# nkigrid: {note}'")
    if category is None:
        sys.exit(f"{task_id}: no '# nkigrid: category=...' comment")
    return category, domains


def dtype_name(tensor, what):
    if tensor.dtype not in DTYPES:
        sys.exit(f"{what}: {tensor.dtype} is refused")
    return DTYPES[tensor.dtype]


def parameter_names(function):
    return [p for p in inspect.signature(function).parameters if p != "self"]


def index_entry(path, task_id):
    module = load_module(path)
    category, domains = read_notes(path.read_text(), task_id)
    torch.manual_seed(0)
    init = module.get_init_inputs()
    model = module.Model(*init).eval()
    given = module.get_inputs()
    names = parameter_names(module.Model.forward)
    constants = [(n, v) for n, v in zip(parameter_names(module.Model.__init__), init)]
    constants += [(n, v) for n, v in zip(names, given) if not isinstance(v, torch.Tensor)]

    tensors = [(n, v, "input") for n, v in zip(names, given) if isinstance(v, torch.Tensor)]
    tensors += [(n, v, "parameter") for n, v in model.named_parameters()]
    tensors += [(n, v, "buffer") for n, v in model.named_buffers() if v.is_floating_point()]
    inputs = []
    for name, value, role in tensors:
        name = name.replace(".", "_")
        domain, bound = domains.pop(name, ("real", 0))
        inputs.append({"name": name, "shape": list(value.shape) or [1], "dtype": dtype_name(value, f"{task_id} {name}"),
                       "role": role, "domain": domain, "bound": bound})
    if domains:
        sys.exit(f"{task_id}: a domain is given for '{next(iter(domains))}', which is no input")

    with torch.no_grad():
        result = model(*given)
    results = result if isinstance(result, tuple) else (result,)
    outputs = [{"shape": list(r.shape) or [1], "dtype": dtype_name(r, f"{task_id} output")} for r in results]
    return {"id": task_id, "category": category, "inputs": inputs, "outputs": outputs,
            "constants": [{"name": n, "value": repr(v)} for n, v in constants]}


def to_text(tasks):
    """One line a tensor: small diffs, and a reader sees the whole task at once."""
    lines = ['{"format": "nkigrid-benchmark", "version": 1, "name": "nkigen-bench",', ' "tasks": [']
    for number, task in enumerate(tasks):
        lines.append(f'  {{"id": {json.dumps(task["id"])}, "category": {json.dumps(task["category"])},')
        for key in ("inputs", "outputs", "constants"):
            items = [json.dumps(item) for item in task[key]]
            body = "[" + ",\n     ".join(items) + "]"
            end = ("}" + ("," if number + 1 < len(tasks) else "")) if key == "constants" else ","
            lines.append(f'   "{key}": {body}{end}')
    subsets = {"nkigen-demo": [task["id"] for task in tasks], "nkigen-smoke": SMOKE}
    lines += [" ],", ' "subsets": {']
    lines += [f'  {json.dumps(n)}: {json.dumps(ids)}{"," if n != "nkigen-smoke" else ""}' for n, ids in subsets.items()]
    return "\n".join(lines + [" }", "}", ""])


def main():
    tasks = []
    for path in sorted((FOLDER / "tasks").glob("*/*.py")):
        tasks.append(index_entry(path, f"{path.parent.name}/{path.stem}"))
    text = to_text(tasks)
    json.loads(text)
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text)
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        (FOLDER / "index.json").write_text(text)


if __name__ == "__main__":
    main()
