"""Puts the Python package together: copies it, makes `_trace/numbers.py` from numbers.def, compiles. Run by the build.

usage: assemble.py SOURCE NUMBERS_DEF TARGET STAMP (folders `neuronxcc` both)"""

import compileall
import pathlib
import re
import sys

ENTRY = re.compile(r"^([A-Z_]+)\((.*)\)")
# macro -> how many of its fields Python wants; C++ expressions may follow them
FIELDS = {"FN": 8, "INSTR": 3, "SPECIAL": 3, "RESERVED_SPECIAL": 2, "DTYPE": 6}
GAPS = ("ENGINE",)  # the numbers that NKI gives its engines


def entries(text):
    """{macro: rows}, a row being (number, name or further fields); numbers are unique and run on."""
    table = {}
    for line in text.splitlines():
        found = ENTRY.match(line)
        if found:
            macro = found[1]
            fields = [field.strip() for field in found[2].split(",")][: FIELDS.get(macro, 2)]
            table.setdefault(macro, []).append([int(field) if field.isdigit() else field for field in fields])
    specials = table.pop("SPECIAL")
    table["INSTR"] += [[instr, name] for _, instr, name in specials]
    table["SPECIAL"] = [[number, name] for number, _, name in specials] + table.pop("RESERVED_SPECIAL")
    for macro, rows in table.items():
        numbers = sorted(row[0] for row in rows)
        if len(set(numbers)) < len(numbers):
            raise SystemExit(f"numbers.def: {macro} gives a number twice")
        if macro not in GAPS and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise SystemExit(f"numbers.def: {macro} leaves a number out; a new line takes the next free one")
    return table


def python_of(table):
    """The module: a tuple of rows a macro, in the order of the lines."""
    parts = ['"""Made by the build from numbers.def, which says what the fields are: change that."""\n']
    for macro, rows in table.items():
        parts.append(f"{macro} = (\n" + "".join(f"    {tuple(row)!r},\n" for row in rows) + ")\n")
    return "\n".join(parts)


def put(path, data):
    """Writes what differs alone: byte code stays good."""
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def main(source, numbers_def, target, stamp):
    source, target = pathlib.Path(source), pathlib.Path(target)
    files = {path.relative_to(source): path.read_bytes() for path in source.rglob("*.py")}
    numbers = python_of(entries(pathlib.Path(numbers_def).read_text(encoding="utf-8")))
    files[pathlib.Path("nki/_trace/numbers.py")] = numbers.encode()
    for stale in set(path.relative_to(target) for path in target.rglob("*.py")) - set(files):
        (target / stale).unlink()
    for path, data in files.items():
        put(target / path, data)
    if not compileall.compile_dir(target, quiet=1):
        return 1
    pathlib.Path(stamp).touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
