"""Each header of a room compiles alone: whoever includes it needs to include nothing before it.

Hundreds of headers work through the same few again and again. A header that includes a hub, itself or through others,
is therefore compiled behind that hub, precompiled: nothing then stands before it that it does not include itself, and
what it sees is the same as alone.

Usage: check_headers.py COMPILER [FOLDER...]    looks at the repository; FOLDER: where libraries have their headers
       check_headers.py COMPILER --prove        looks at made-up headers and fails unless the faulty ones are found
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

# The heaviest first: a header is compiled behind the first one that it includes.
HUBS = ("runner/log/records.hpp", "jobs/grid/grid.hpp", "runner/nkisim/program/program.hpp")


def closure(path, includes):
    """The files that a file includes, directly or not. includes: file -> those it names"""
    seen, todo = set(), [path]
    while todo:
        for name in includes.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def hub_of(header, includes, hubs):
    inside = closure(header, includes)
    return next((hub for hub in hubs if hub in inside), None)


def told(command, text, root):
    result = subprocess.run(command, input=text, cwd=root, capture_output=True, text=True)
    return result.stderr.strip() if result.returncode else None


def faults_of(command, root, includes, hubs):
    """
    command:  the compiler and its options
    includes: header -> the files of ours that it names; all relative to the root
    returns:  what the compiler says of each that does not compile alone
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def place(hub):
            return str(Path(folder, "behind~" + hub.replace("/", "~")))

        def precompile(hub):
            Path(place(hub)).write_text(f'#include "{hub}"\n')
            return told([*command, "-x", "c++-header", place(hub), "-o", place(hub) + ".gch"], "", root)

        def compile_alone(header):
            hub = hub_of(header, includes, hubs)
            behind = ["-include", place(hub)] if hub else []
            return told([*command, "-fsyntax-only", *behind, "-x", "c++", "-"], f'#include "{header}"\n', root)

        found = list(pool.map(precompile, hubs)) + list(pool.map(compile_alone, sorted(includes)))
    return [fault for fault in found if fault]


def command_of(compiler, folders=()):
    return [compiler, "-std=c++20", "-I", ".", *(word for folder in folders for word in ("-isystem", folder))]


def look(compiler, folders):
    paths = [path for path in tree.sources() if path.suffix in (".hpp", ".h") and not path.name.endswith(".inc.hpp")]
    includes = {str(path): [name for _, kind, name in tree.includes(path) if kind == '"'] for path in paths}
    tree.finish("headers alone", len(includes), faults_of(command_of(compiler, folders), tree.ROOT, includes, HUBS))


def prove(compiler):
    texts = {
        "hub.hpp": '#pragma once\n#include "small.hpp"\n#include <string>\n',
        "small.hpp": "#pragma once\nstruct Small {};\n",
        "good.hpp": '#pragma once\n#include "hub.hpp"\nstd::string good(Small small);\n',
        "leans.hpp": '#pragma once\n#include "small.hpp"\nstd::string leans(Small small);\n',
        "wants.hpp": '#pragma once\n#include "hub.hpp"\nstd::vector<Small> wants();\n',
    }
    includes = {name: [other for other in texts if f'"{other}"' in text] for name, text in texts.items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, name).write_text(text)
        found = faults_of(command_of(compiler), folder, includes, ["hub.hpp"])
    named = [name for name in texts if any(f"{name}:" in fault for fault in found)]
    faults = [] if named == ["leans.hpp", "wants.hpp"] else [f"found {found}"]
    tree.finish("headers proof", len(texts), faults)


if __name__ == "__main__":
    prove(sys.argv[1]) if "--prove" in sys.argv else look(sys.argv[1], sys.argv[2:])
