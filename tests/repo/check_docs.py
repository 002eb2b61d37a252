"""Every page of docs/ stands in its index, and what the pages link or name under docs/ exists.

Usage: check_docs.py            looks at the repository
       check_docs.py --prove    looks at made-up faults and fails unless each is found
"""
import re
import sys

import tree

NAMED = re.compile(r"docs/[\w/]+\.md")
LINK = re.compile(r"\]\(([^)#:\s]+\.md)\)")


def index_faults(pages, index):
    return [f"docs/{page} is not in docs/README.md" for page in pages if f"]({page})" not in index]


def name_faults(path, text, exists):
    """
    path:   a page, relative to the root
    exists: whether the root holds a path
    """
    linked = [str(path.parent / link) for link in LINK.findall(text)]
    return [f"{path}: no {name}" for name in sorted({*linked, *NAMED.findall(text)}) if not exists(name)]


def look():
    docs = tree.ROOT / "docs"
    pages = sorted(str(path.relative_to(docs)) for path in docs.rglob("*.md") if path.name != "README.md")
    faults = index_faults(pages, (docs / "README.md").read_text())
    naming = [*docs.rglob("*.md"), *(tree.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    for path in naming:
        relative = path.relative_to(tree.ROOT)
        faults += name_faults(relative, path.read_text(), lambda name: (tree.ROOT / name).exists())
    tree.finish("docs", len(pages) + len(naming), faults)


def prove():
    here = {"docs/a.md"}
    faults = []
    if index_faults(["a.md", "b/c.md"], "| [a](a.md) |") != ["docs/b/c.md is not in docs/README.md"]:
        faults.append("not noticed: a page outside the index")
    text = "[a](a.md), [gone](gone.md), docs/formats/gone.md, docs/a.md"
    page = tree.ROOT.joinpath("docs/README.md").relative_to(tree.ROOT)
    if len(name_faults(page, text, here.__contains__)) != 2:
        faults.append("not noticed: a link and a name of pages that do not exist")
    tree.finish("docs proof", 2, faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look()
