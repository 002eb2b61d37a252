"""Prints a program, or a kernel file's: python3 -m neuronxcc.nki._trace.dump FILE [name=shape:dtype ...].

FILE is a program; or a .py kernel with its arguments, e.g. x=128x512:float32."""

import sys

from .decode import decode


def _index(program, a, rank_names):
    parts = [f"{k}*{_atom(program, t)}" if k != 1 else _atom(program, t) for t, k in a["terms"]]
    parts += [f"{d}*{rank_names[k]}" if d != 1 else rank_names[k] for k, d in enumerate(a.get("slots", ())) if d]
    if a["c"] or not parts:
        parts.append(str(a["c"]))
    return "+".join(parts).replace("+-", "-")


def _atom(program, number):
    atom = program["atoms"][number]
    if atom["kind"] == "loop":
        return f"t{atom['id']}"
    if atom["kind"] == "program_id":
        return f"pid{atom['id']}"
    return f"({_index(program, atom['operand'], '')} {'//' if atom['kind'] == 'floor_div' else '%'} {atom['divisor']})"


_SLOTS = "abcdefgh"


def _buffer(program, number):
    return f"{program['buffers'][number]['kind']}{number}" + (
        f"'{program['buffers'][number]['name']}'" if program["buffers"][number]["name"] else ""
    )


def _access(program, a):
    dims = [_index(program, d, _SLOTS) for d in a["dims"]]
    if "dyn" in a:
        dims[a["dyn"]["dim"]] += f"+<{_access(program, a['dyn']['tile'])}>"
    return f"{_buffer(program, a['buffer'])}[{', '.join(dims)}]"


def _source(program, s):
    if "access" in s:
        return _access(program, s["access"])
    return repr(s["constant"]) if "constant" in s else f"index({_index(program, s['index'], _SLOTS)})"


def _conditions(program, items):
    return " & ".join(f"{_index(program, c['index'], _SLOTS)} {c['kind']}" for c in items)


def _expression(program, node):
    texts = [_source(program, s) for s in node["sources"]]
    for name, *operands in node["steps"]:
        texts.append(f"{name}({', '.join(texts[o] for o in operands)})")
    return texts[-1] if node["steps"] else texts[0]


def _effect(program, node):
    """What happens to the destination of a map, fold, matmul or scan."""
    kind = node["node"]
    if kind == "matmul":
        sign = "+=" if node["accumulate"] else "="
        return f"{sign} {_access(program, node['stationary'])} @ {_access(program, node['moving'])}"
    if kind == "scan":
        sources = ", ".join(_source(program, s) for s in node["sources"])
        return f"= scan.{node['op0']}.{node['op1']}({sources})"
    sign = "=" if node["accumulate"] is None else f"{node['accumulate']}="
    fold = f"{'-' if node['negate'] else ''}fold.{node['function']} " if kind == "fold" else ""
    return f"{sign} {fold}{_expression(program, node)}"


def _operation(program, node):
    space = "x".join(map(str, node["shape"]))
    if node["node"] == "special":
        targets = [_access(program, d) for d in node["destinations"]]
        text = f"special {node['kind']} {targets} <- {[_source(program, s) for s in node['sources']]}"
    else:
        text = f"{_access(program, node['dst'])} {_effect(program, node)}"
    mask = f" if {_conditions(program, node['mask'])}" if node["mask"] else ""
    loops = f" over loops {node['loops']}" if node.get("loops") else ""
    return f"{node['instr']}/{node['engine']} {space}: {text}{loops}{mask}"


def _lines(program, block, depth):
    pad = "  " * depth
    for node in block:
        head = f"{node['line']:>5} {pad}"
        if node["node"] == "loop":
            steps = f"(from {node['start']} by {node['step']})"
            yield f"{head}loop t{node['id']} {node['kind']} {node['trips']} trips {steps}"
            yield from _lines(program, node["body"], depth + 1)
        elif node["node"] == "if":
            yield f"{head}if {_conditions(program, node['conditions'])}"
            yield from _lines(program, node["then"], depth + 1)
            if node["else"]:
                yield f"{head}else"
                yield from _lines(program, node["else"], depth + 1)
        elif node["node"] == "alloc":
            b = program["buffers"][node["buffer"]]
            fill = "" if node["fill"] is None else f" filled {node['fill']}"
            yield f"{head}alloc {_buffer(program, node['buffer'])} {b['shape']} {b['dtype']}{fill}"
        else:
            yield head + _operation(program, node)


def text_of(data):
    """The whole program as text."""
    p = decode(data)
    out = [f"kernel {p['entry']} grid {p['grid'] or '-'} tracer {p['tracer']}, {len(data)} bytes"]
    for k, b in enumerate(p["buffers"]):
        alias = f" alias of {b['alias']}" if b["alias"] >= 0 else ""
        out.append(f"  {_buffer(p, k)} {b['shape']} {b['dtype']} partition dim {b['pdim']}{alias}")
    out.append(f"  params {p['params']} outputs {p['outputs']}{' (tuple)' if p['tuple'] else ''}")
    return "\n".join(out + list(_lines(p, p["body"], 0)))


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0].endswith(".py"):
        from .._harness import compile_source

        params = []
        for text in arguments[1:]:
            name, _, rest = text.partition("=")
            shape, _, dtype = rest.partition(":")
            params.append((name, tuple(int(n) for n in shape.split("x")), dtype or "float32"))
        with open(arguments[0], encoding="utf-8") as file:
            result = compile_source(file.read(), None, params, None, {})
        if not result["ok"]:
            print(f"{result['code']} line {result['line']}\n{result['message']}", file=sys.stderr)
            return 1
        print("\n".join(result["warnings"]), end="\n" if result["warnings"] else "")
        print(text_of(result["program"]))
        return 0
    with open(arguments[0], "rb") as file:
        print(text_of(file.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
