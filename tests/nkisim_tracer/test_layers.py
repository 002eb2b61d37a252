"""Imports of the package: no circle, nothing imported from inside a function but what its comment explains."""

import ast
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"], "runner/nkisim/package/neuronxcc")
FILES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
#: Loaded when they are needed: ctypes and numpy for runs on arrays; what the command line alone wants.
LATE = {("nki._trace.launch", "nki._trace.engine"), ("nki._trace.dump", "nki._harness")}


def imports_of(name, tree):
    """(imported file, stands inside a function) of every relative import."""
    package = name.split(".")[:-1]
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                inner = ".".join([*base, alias.name])
                target = inner if inner in FILES else ".".join(base) if ".".join(base) in FILES else ""
                target = target or ".".join([*base, "__init__"])
                if target in FILES:
                    yield target, id(node) not in top


def layer_of():
    """{file: number of its layer}, from the list in the package's docstring; a file of a folder has the folder's."""
    lines = re.findall(r"^  (\w+) +(.*)$", ast.get_docstring(ast.parse(FILES["nki._trace.__init__"].read_text())), re.M)
    named = {word: k for k, (_, words) in enumerate(lines) for word in re.findall(r"\w+", words.split(":")[0])}
    inside = {n: n.split(".")[2] for n in FILES if n.startswith("nki._trace.") and not n.endswith("__init__")}
    return {n: named[part] for n, part in inside.items()}


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.imports = {n: set(imports_of(n, ast.parse(path.read_text()))) for n, path in FILES.items()}

    def test_every_file_of_the_package_is_read(self):
        self.assertIn("nki._trace.tensor", FILES)
        self.assertIn(("nki._trace.affine", False), self.imports["nki._trace.tensor"])

    def test_no_circles(self):
        """Kahn: files whose imports are all placed are placed; what is left imports itself in the end."""
        left = {n: {target for target, _ in found if target != n} for n, found in self.imports.items()}
        while placed := {n for n, targets in left.items() if not targets & set(left)}:
            left = {n: targets for n, targets in left.items() if n not in placed}
        self.assertEqual({n: sorted(targets & set(left)) for n, targets in left.items()}, {})

    def test_imports_stand_at_the_top(self):
        late = {(n, target) for n, found in self.imports.items() for target, inside in found if inside}
        self.assertEqual(late, LATE)

    def test_imports_run_down_the_layers(self):
        layer = layer_of()
        for n, found in self.imports.items():
            for target, late in found:
                if n in layer and target in layer and not late:
                    self.assertLessEqual(layer[target], layer[n], f"{n} imports {target}")

    def test_nothing_below_the_api_imports_it(self):
        api = {n for n in FILES if n.startswith("nki._trace.api.")}
        users = {n for n, found in self.imports.items() if any(target in api for target, _ in found)} - api
        self.assertEqual(users, {"nki.language.__init__", "nki.isa.__init__"})


if __name__ == "__main__":
    unittest.main()
