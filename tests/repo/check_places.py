"""A function that a header declares stands in the source beside it: of x.hpp in x.cpp, x_*.cpp or make_x.cpp.

Looked at are functions of a namespace, by the lines that begin in the first column. A definition elsewhere in the
folder's room is a fault; none at all is left to the linker.

Usage: check_places.py            looks at the repository
       check_places.py --prove    looks at made-up files and fails unless the fault is found
"""
import re
import sys
from pathlib import Path

import tree

# A line of the first column that says `type name(`, up to what ends the parameters: `;` declares, `{` defines.
FUNCTION = re.compile(
    r"^(?:\[\[\w+\]\] )?(?!return|using|namespace|typedef|struct|class|enum|template|else|case|#|//|\})"
    r"[A-Za-z_][\w:<>,&*\[\] ]*?[ &*](?P<name>[a-z_]\w*)\((?P<rest>[^;{]*)(?P<end>[;{])",
    re.M,
)
# Headers whose functions stand elsewhere on purpose, and why.
ELSEWHERE = {
    "aggregate/layout/sheet.hpp": "a format, a source",
    "cli/verb.hpp": "a verb, a source",
    "jobs/benchmark/formats.hpp": "a format, a source",
    "jobs/grid/grid.hpp": "all that other rooms see of grid files, read.cpp and write.cpp",
    "runner/log/segment_table.hpp": "a template over what segment_reader.cpp opens",
    "runner/model/wire/wire.hpp": "a wire, a source",
    "runner/mpi/comm.hpp": "a communicator, a source",
}
UNNAMED = re.compile(r"^namespace \{.*?^\}  // namespace$", re.M | re.S)


def declared(text):
    """Names of functions that a header declares and does not define."""
    found = (match for match in FUNCTION.finditer(text.replace("= {}", "")) if match["end"] == ";")
    return {match["name"] for match in found if not match[0].startswith(("inline ", "constexpr ", "static "))}


def defined(text):
    """Names of functions that a source defines for others."""
    return {match["name"] for match in FUNCTION.finditer(UNNAMED.sub("", text)) if match["end"] == "{"}


def misplaced(texts, room_of):
    """
    texts: path -> text of every source and header
    returns: a sentence a fault
    """
    places = {}
    for path, text in texts.items():
        if path.suffix == ".cpp":
            for name in defined(text):
                places.setdefault((room_of(path), name), []).append(path)
    faults = []
    for path, text in texts.items():
        if path.suffix != ".hpp" or str(path) in ELSEWHERE:
            continue
        for name in sorted(declared(text)):
            found = places.get((room_of(path), name), [])
            if found and not any(belongs(source, path) for source in found):
                faults.append(f"{path}: {name}() is defined in {found[0]}; declare it in a header of that name")
    return faults


def belongs(source, header):
    """x.cpp, x_more.cpp and make_x.cpp are x.hpp's."""
    stem = source.stem.removeprefix("make_") + "_"
    return source.parent == header.parent and (stem.startswith(header.stem + "_") or source.stem == header.stem)


def look():
    texts = {path: (tree.ROOT / path).read_text(encoding="utf-8") for path in tree.sources()}
    tree.finish("places of functions", len(texts), misplaced(texts, tree.room_of))


def prove():
    texts = {
        Path(
            "a/x.hpp"
        ): "namespace a {\nint here(int);\nstd::string split(int a,\n                  int b);\nvoid away();\n"
        "inline int own() { return 1; }\nvoid far(int a = {});\n}\n",
        Path("a/x.cpp"): "namespace a {\nnamespace {\n\nvoid away() {}\n\n}  // namespace\n\nint here(int) {\n}\n}\n",
        Path("a/x_more.cpp"): "std::string split(int a, int b) {\n}\n",
        Path("a/y.cpp"): "void away() {\n}\nvoid far(int a) {\n}\n",
    }
    found = misplaced(texts, lambda path: "a")
    faults = [] if [fault.split(" ")[1] for fault in found] == ["away()", "far()"] else [f"found {found}"]
    tree.finish("places of functions proof", len(texts), faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look()
