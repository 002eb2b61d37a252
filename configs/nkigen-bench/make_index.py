#!/usr/bin/python3
"""Writes index.json from the task files, and about.json and tasks.md, which are for people (docs/formats/benchmark.md).
Run it after every change of a task.

usage: make_index.py [--check]      --check: writes nothing; names the files that are not as it would write them, exit 1

What torch cannot say stands in comments of the task file:
    # nkigrid: category=activation
    # nkigrid: domain x=positive          (real when there is no such line)
    # nkigrid: domain target=index 1000
The title is the first paragraph of the model's docstring; origins.txt says where a task comes from. What a task is, is
asked where `bench add` asks it (runner/device/check/task_pose.py).
"""
import json
import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(FOLDER.parents[1] / "runner" / "device" / "check"))
import subsets  # noqa: E402
import task_pose  # noqa: E402

MOST_BYTES = 16 << 20


def origins():
    """{task id: origin} of origins.txt."""
    origin, found = None, {}
    for line in (FOLDER / "origins.txt").read_text().splitlines():
        if "/" in line and not line.startswith("#"):
            found[line.strip()] = origin
        elif line and not line.startswith("#"):
            origin = line.strip()
    return found


def posed(path, task_id, origin):
    """@returns (index entry, its object of about.json)"""
    try:
        entry, about = task_pose.pose(path.read_text(), task_id, None, MOST_BYTES)
    except task_pose.Refused as refused:
        sys.exit(f"{task_id}: {refused}")
    if entry["category"] is None:
        sys.exit(f"{task_id}: no '# nkigrid: category=...' comment")
    tags = sorted({origin, *about.pop("tags")})
    return {"id": task_id, **entry}, {"title": about.pop("title"), "origin": origin, "tags": tags, **about}


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
        entry, about[task_id] = posed(path, task_id, origin.pop(task_id, "kernelbench"))
        tasks.append(entry)
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
