"""Files that include one another in a circle can only be understood together: no such knot is larger than four units.

A unit is a header and the source of the same stem; what either includes counts for it.

Usage: check_knots.py            looks at the repository
       check_knots.py --prove    looks at a made-up knot and fails unless it is found
"""
import sys
from pathlib import Path

import tree

MOST_UNITS = 4


def unit_of(path):
    return str(Path(path).with_suffix(""))


def graph_of(includes):
    """
    includes: (file, included file) pairs, both from the root
    returns: unit -> the units that it includes
    """
    graph = {}
    for path, name in includes:
        if unit_of(path) != unit_of(name):
            graph.setdefault(unit_of(path), set()).add(unit_of(name))
            graph.setdefault(unit_of(name), set())
    return graph


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for unit in graph[todo.pop()]:
            if unit not in seen:
                seen.add(unit)
                todo.append(unit)
    return seen


def knots(graph):
    """The strongly connected components of more than one unit, each sorted, largest first."""
    reach = {unit: reachable(graph, unit) for unit in graph}
    found = {tuple(sorted(v for v in reach[u] if u in reach[v])) for u in graph if u in reach[u]}
    return sorted(found, key=lambda knot: (-len(knot), knot))


def look():
    pairs = [(str(path), name) for path in tree.sources() for _, kind, name in tree.includes(path) if kind == '"']
    graph = graph_of(pairs)
    faults = [
        f"{len(knot)} units include one another: {', '.join(knot)}" for knot in knots(graph) if len(knot) > MOST_UNITS
    ]
    tree.finish("include knots", len(graph), faults)


def prove():
    ring = [(f"a/{i}.cpp", f"a/{(i + 1) % 5}.hpp") for i in range(5)]
    chain = [("b/x.hpp", "b/y.hpp"), ("b/y.cpp", "b/z.hpp"), ("b/x.cpp", "b/x.hpp")]
    found = knots(graph_of(ring + chain))
    faults = [] if found == [tuple(f"a/{i}" for i in range(5))] else [f"found {found}"]
    tree.finish("knot proof", len(ring) + len(chain), faults)


if __name__ == "__main__":
    prove() if "--prove" in sys.argv else look()
