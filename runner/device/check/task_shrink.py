"""Scales a task's sizes down to what a simulator runs in a moment, and keeps the task: only whole numbers of
module-level assignments, get_inputs() and get_init_inputs() change. docs/formats/benchmark.md has the rule."""

import ast
import itertools
import math

import task_facts
import task_pose
from task_facts import Refused

TILE = 128
LEAST_BATCH = 2
LEAST_SIZE = 17  # smaller numbers are kernels, strides, heads, groups, experts: no sizes
GOAL_BYTES, GOAL_FLOPS = 4 << 20, 150e6  # what tasks of nkigen-bench keep to
WORTH = 0.95  # of its cost may be left: where fixed weights are what is large, smaller inputs save nothing
MOST_BYTES, MOST_FLOPS = 64 << 20, 2e9  # a task that cannot be brought under these is refused


def halved(size, is_batch):
    """Half a size. Whole tiles of 128 stay whole ones, a ragged rest stays, odd stays odd; between one tile and two
    there is no half that is ragged too, and the size stays. A batch may become small: its entries are alike."""
    if is_batch and LEAST_BATCH < size < LEAST_SIZE:
        return max(size // 2, LEAST_BATCH)
    if size >= 2 * TILE:
        return size // TILE // 2 * TILE + size % TILE
    if LEAST_SIZE <= size <= TILE:
        return size // 2 | size % 2
    return size


def divided(size, is_batch):
    """A size by its least prime factor: what must divide it (strides, windows, patches, heads) mostly still does. A
    prime stays."""
    if size < LEAST_SIZE:
        return halved(size, is_batch)
    return size // next((factor for factor in range(2, math.isqrt(size) + 1) if size % factor == 0), 1)


def smaller_sizes(sizes):
    """Yields what to try next, the best first: all sizes at once, since that keeps their ratios, then the largest.
    @param sizes {(value in the source, whether a batch's): value now}, and so are those it yields"""
    rules = (halved, divided)
    for rule in rules:
        yield {key: rule(size, key[1]) for key, size in sizes.items()}
    for rule, largest in itertools.product(rules, sorted(set(sizes.values()), reverse=True)):
        yield {key: rule(size, key[1]) if size == largest else size for key, size in sizes.items()}


def places_of(source, least_size=LEAST_SIZE):
    """[(line, column, end column, (value, whether it is a batch's))] of the whole numbers that may be sizes, from the
    last to the first."""
    tree, found = ast.parse(source), []
    for node in tree.body:
        is_draw = isinstance(node, ast.FunctionDef) and node.name in ("get_inputs", "get_init_inputs")
        if not is_draw and not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        is_batch = isinstance(node, ast.Assign) and any("batch" in ast.unparse(t).lower() for t in node.targets)
        for part in ast.walk(node):
            least = min(LEAST_BATCH, least_size) if is_batch else least_size
            is_size = isinstance(part, ast.Constant) and type(part.value) is int and part.value >= least
            if is_size and part.lineno == part.end_lineno:
                found.append((part.lineno, part.col_offset, part.end_col_offset, (part.value, is_batch)))
    return sorted(found, reverse=True)


def with_numbers(source, numbers):
    """The source with other numbers. @param numbers {(line, column, end column) of places_of(): what to write}"""
    lines = source.encode().split(b"\n")  # columns are counted in bytes
    for (line, start, end), number in sorted(numbers.items(), reverse=True):
        text = lines[line - 1]
        lines[line - 1] = text[:start] + str(number).encode() + text[end:]
    return b"\n".join(lines).decode()


def with_sizes(source, sizes):
    """The source with other sizes. @param sizes {(value in the source, whether a batch's): value to write}"""
    numbers = {tuple(place): sizes.get(key, key[0]) for *place, key in places_of(source)}
    return with_numbers(source, numbers)


def _cost(look):
    """Its bytes and work over the goal: at most 1 when it is small enough. Of a run that ended at an operation without
    a fake form, what came before it counts."""
    tensors = look.inputs + (look.outputs if look.results is not None else [])
    return max(task_facts.bytes_of(tensors) / GOAL_BYTES, look.work.flops() / GOAL_FLOPS)


def _form(look):
    """What shrinking must not change: how many tensors of which rank and type, and whether a fake run was to be had."""
    tensors = look.inputs + (look.outputs if look.results is not None else [])
    return look.results is not None, [(len(t["shape"]), t["dtype"], t.get("name")) for t in tensors]


def demand_small(size, flops):
    """@raises Refused over the limits"""
    if size > MOST_BYTES or flops > MOST_FLOPS:
        raise Refused(f"cannot be shrunk below {size / 2**20:.0f} MiB and {flops / 1e9:.1f} GFLOP")


def shrink(source, name):
    """@returns the source with smaller sizes; as it is when it is small enough
    @raises Refused when it cannot be brought under the limits"""
    try:
        look = task_pose.fake_look(source, name, float("inf"))
    except Refused:
        raise
    except Exception:  # nothing can be told of it without numbers: it stays as it is
        return source
    sizes = {key: key[0] for *_, key in places_of(source)}

    def tried(wanted):
        """The Look at a task with the wanted sizes, or None when it is none any more."""
        if wanted == sizes:
            return None
        try:
            other = task_pose.fake_look(with_sizes(source, wanted), name, float("inf"))
        except Exception:
            return None
        return other if _form(other) == _form(look) and _cost(other) <= WORTH * _cost(look) else None

    while _cost(look) > 1:
        steps = ((wanted, tried(wanted)) for wanted in smaller_sizes(sizes))
        wanted, smaller = next((step for step in steps if step[1] is not None), (None, None))
        if smaller is None:
            break
        look, sizes = smaller, wanted
    tensors = look.inputs + (look.outputs if look.results is not None else [])
    demand_small(task_facts.bytes_of(tensors), look.work.flops())
    return with_sizes(source, sizes)
