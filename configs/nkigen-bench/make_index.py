#!/usr/bin/python3
"""Writes index.json from the task files, and about.json and tasks.md, which are for people (docs/formats/benchmark.md).
Run it after every change of a task.

usage: make_index.py [--check]      --check: writes nothing; names the files that are not as it would write them, exit 1

What torch cannot say stands in comments of the task file:
    # nkigrid: category=activation
    # nkigrid: domain x=positive          (real when there is no such line)
    # nkigrid: domain target=index 1000
The title is the first sentence of the model's docstring; origins.txt says where a task comes from.
"""
import importlib.util
import inspect
import json
import pathlib
import re
import sys

import torch

import subsets
import work

FOLDER = pathlib.Path(__file__).resolve().parent
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


def drawn_task(module):
    """The model and its inputs, in their own dtypes."""
    torch.manual_seed(0)
    return module.Model(*module.get_init_inputs()).eval(), module.get_inputs()


def index_entry(path, task_id):
    module = load_module(path)
    category, domains = read_notes(path.read_text(), task_id)
    init = module.get_init_inputs()
    model, given = drawn_task(module)
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


def origins():
    """{task id: origin} of origins.txt."""
    origin, found = None, {}
    for line in (FOLDER / "origins.txt").read_text().splitlines():
        if "/" in line and not line.startswith("#"):
            found[line.strip()] = origin
        elif line and not line.startswith("#"):
            origin = line.strip()
    return found


def tags_of(entry, origin):
    """What people choose tasks by. Ragged: some axis needs several tiles of 128, and these do not fill it evenly."""
    tensors = entry["inputs"] + entry["outputs"]
    tags = {origin, f"rank-{len(entry['inputs'][0]['shape'])}"}
    tags |= {"ragged"} if any(n > 128 and n % 128 for t in tensors for n in t["shape"]) else set()
    tags |= {"bfloat16"} if any(t["dtype"] == "bfloat16" for t in tensors) else set()
    tags |= {"integer"} if any(t["dtype"] in ("int32", "uint8") for t in tensors) else set()
    tags |= {"several-outputs"} if len(entry["outputs"]) > 1 else set()
    tags |= {"weights"} if any(i["role"] != "input" for i in entry["inputs"]) else set()
    return sorted(tags)


def about_task(path, entry, origin):
    module = load_module(path)
    model, given = drawn_task(module)
    title = " ".join(inspect.getdoc(module.Model).split())
    return {"title": title, "origin": origin, "tags": tags_of(entry, origin), "rank": len(entry["inputs"][0]["shape"]),
            **work.work_of(entry, model, given)}


def to_text(tasks, about):
    """One line a tensor: small diffs, and a reader sees the whole task at once."""
    lines = ['{"format": "nkigrid-benchmark", "version": 1, "name": "nkigen-bench",', ' "tasks": [']
    for number, task in enumerate(tasks):
        lines.append(f'  {{"id": {json.dumps(task["id"])}, "category": {json.dumps(task["category"])},')
        for key in ("inputs", "outputs", "constants"):
            items = [json.dumps(item) for item in task[key]]
            body = "[" + ",\n     ".join(items) + "]"
            end = ("}" + ("," if number + 1 < len(tasks) else "")) if key == "constants" else ","
            lines.append(f'   "{key}": {body}{end}')
    named = lambda table: ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in table.items())
    return "\n".join(lines + [" ],", ' "subsets": {', named(subsets.subsets_of(tasks, about)), " }", "}", ""])


def about_text(about):
    """One line a task."""
    return "{\n" + ",\n".join(f"  {json.dumps(i)}: {json.dumps(said)}" for i, said in about.items()) + "\n}\n"


def to_table(tasks, about):
    """The tasks for people: one row each."""
    size = lambda i: "x".join(map(str, i["shape"])) + {"float32": "", "bfloat16": " bf16"}.get(i["dtype"], " int")
    lines = ["# The tasks of nkigen-bench", "", f"{len(tasks)} tasks; made by make_index.py. Sizes are those of the "
             "inputs, float32 where nothing is said; weights are not shown.", "",
             "| id | what | category | origin | inputs |", "|---|---|---|---|---|"]
    for task in tasks:
        inputs = ", ".join(size(i) for i in task["inputs"] if i["role"] == "input")
        title = about[task["id"]]["title"].replace("|", "\\|")
        lines.append(f"| {task['id']} | {title} | {task['category']} | {about[task['id']]['origin']} | {inputs} |")
    return "\n".join(lines) + "\n"


def main():
    torch.set_num_threads(1)  # the tensors are small: threads would only wait for one another
    tasks, about, origin = [], {}, origins()
    for path in sorted((FOLDER / "tasks").glob("*/*.py")):
        task_id = f"{path.parent.name}/{path.stem}"
        tasks.append(index_entry(path, task_id))
        about[task_id] = about_task(path, tasks[-1], origin.pop(task_id, "kernelbench"))
    if origin:
        sys.exit(f"origins.txt names '{next(iter(origin))}', which is no task")
    texts = {
        "index.json": to_text(tasks, about),
        "about.json": about_text(about),
        "tasks.md": to_table(tasks, about),
    }
    if sys.argv[1:] == ["--check"]:
        stale = [name for name, text in texts.items() if (FOLDER / name).read_text() != text]
        sys.exit(f"not as make_index.py would write them: {', '.join(stale)}" if stale else 0)
    if sys.argv[1:]:
        sys.exit(__doc__)
    for name, text in texts.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
