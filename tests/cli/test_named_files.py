"""Whatever a command line may name: where a pipe, a socket or a device stands, each verb says so at once. The verbs and
their options are taken from the help pages, so none is left out."""
import os
import re
import shutil
import socket
import unittest

import harness
from harness import Case, nkigrid

READ = {"RUN", "GRID", "GRID|RUN", "RUN|GRID", "FILE", "DIR", "TREE", "A", "B"}
WRITTEN = {"-o,--output", "-o", "--profile"}  # a pipe in its place is replaced or refused, and not waited for
ENTRY = re.compile(
    r"^ +(?P<name>[-\w,]+) (?P<type>[A-Z][A-Z0-9|]*|bash\|zsh)(?:=\S+)?(?P<more>( \.\.\.)?( REQUIRED)?.*)$"
)
PARENTS = ("bench", "log")


class Entry:
    def __init__(self, found):
        self.name, self.type = found["name"], found["type"]
        self.required = " REQUIRED" in found["more"]
        self.positional = not self.name.startswith("-")

    def words(self, value):
        return [value] if self.positional else [self.name.split(",")[-1], value]


def page(*verb):
    """Its entries, and its verbs."""
    text = nkigrid(*verb, "--help").stdout
    entries, _, rest = text.partition("\nSubcommands:")
    found = (ENTRY.match(line) for line in entries.splitlines())
    return [Entry(match) for match in found if match], re.findall(r"^  ([a-z]\w*) ", rest, re.M)


def verbs():
    for verb in page()[1]:
        yield from ([(verb, below) for below in page(verb)[1]] if verb in PARENTS else [(verb,)])


class NamedFiles(Case):
    def setUp(self):
        super().setUp()
        text = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.grid, self.run_folder = self.write("grid.yaml", text), self.folder / "run"
        self.assertEqual(nkigrid("run", self.grid, "-o", self.run_folder, "-q").returncode, 0)
        tree = self.folder / "tree"
        shutil.copytree(harness.SOURCE / "configs" / "nkigen-bench", tree)
        self.good = {"RUN": self.run_folder, "RUN|GRID": self.run_folder, "GRID": self.grid, "GRID|RUN": self.grid}
        self.good |= {"FILE": tree / "kernels/L1/001_add.py", "ID": "L1/001_add", "TREE": tree, "A": tree, "B": tree}
        self.good |= {"FOLDER": self.folder / "new", "bash|zsh": "bash", "MODEL": "m"}
        os.mkfifo(self.folder / "pipe")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(str(self.folder / "socket"))

    def command(self, verb, entries, named, bad):
        words = list(verb)
        for entry in entries:
            if entry is named or entry.required:
                words += entry.words(bad if entry is named else self.good[entry.type])
        if (verb, named.name) == (("figures",), "--counts"):
            words += ["-o", self.folder / "figures"]
        if verb == ("submit",):
            words += ["--dry-run"]
        return words

    def test_none_is_waited_for(self):
        tried = set()
        for verb in verbs():
            entries = page(*verb)[0]
            for named in (entry for entry in entries if entry.type in READ or entry.name in WRITTEN):
                for bad in ("pipe", "socket", "/dev/zero")[: 1 if named.name in WRITTEN else 3]:
                    words = self.command(verb, entries, named, self.folder / bad)
                    with self.subTest(" ".join(map(str, words))):
                        done = nkigrid(*words, timeout=100)
                        tried.add((*verb, named.name))
                        self.assertNotIn("internal error", done.stderr)
                        if named.name not in WRITTEN:
                            self.assertIn(done.returncode, (2, 3, 4), done.stdout + done.stderr)
                            self.assertIn(os.path.basename(bad), done.stderr)
                            self.assertLess(len(done.stderr), 1500)
        self.assertGreater(len(tried), 40, tried)
        self.assertIn(("figures", "--counts"), tried)
        self.assertIn(("bench", "list", "--benchmark"), tried)


if __name__ == "__main__":
    unittest.main()
