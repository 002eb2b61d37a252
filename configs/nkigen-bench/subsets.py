"""Draws the subsets of the benchmark: the same ids from the same tasks and seed, on every machine."""
import hashlib

SEED = "nkigen-bench 2607.04395"
DEMO_LEVELS = {"L1": 12, "L2": 8, "L3": 4}  # the first tasks of each level: what the demo has always played
SMOKE = ["L1/001_add", "L1/008_matmul", "L2/001_linear_gelu", "L3/003_bottleneck"]
LEVELS = ("L1", "L2", "L3")


def order(text):
    """The place of a text in the seed's shuffle."""
    return hashlib.sha256(f"{SEED}/{text}".encode()).hexdigest()


def balanced(entries, count):
    """`count` tasks of one level: rounds over its categories in shuffled order, one task of each a round, so that a
    category is short only when it has no more."""
    queues = {}
    for entry in sorted(entries, key=lambda e: order(e["id"])):
        queues.setdefault(entry["category"], []).append(entry["id"])
    chosen = []
    while len(chosen) < count and queues:
        for category in sorted(queues, key=order):
            if len(chosen) < count:
                chosen.append(queues[category].pop(0))
            if not queues[category]:
                del queues[category]
    return chosen


def drawn(entries, each):
    """`each` tasks of every level, sorted; None when a level has fewer."""
    levels = [[e for e in entries if e["id"].startswith(level + "/")] for level in LEVELS]
    if any(len(level) < each for level in levels):
        return None
    return sorted(task_id for level in levels for task_id in balanced(level, each))


def cheap_half(entries, about):
    """The half of each level that costs a simulator least: FLOPs and bytes together."""
    kept = []
    for level in LEVELS:
        inside = [e for e in entries if e["id"].startswith(level + "/")]
        cost = lambda e: (about[e["id"]]["flops"] + about[e["id"]]["hbm_bytes"], e["id"])
        kept += sorted(inside, key=cost)[: len(inside) // 2]
    return kept


def subsets_of(entries, about):
    """Every subset that the tasks can fill: {name: ids}."""
    demo = []
    for level, count in DEMO_LEVELS.items():
        demo += sorted(e["id"] for e in entries if e["id"].startswith(level + "/"))[:count]
    wide = drawn(entries, 50)
    inside = [e for e in entries if e["id"] in (wide or [])]
    subsets = {
        "nkigen-demo": demo,
        "nkigen-smoke": SMOKE,
        "nkigen-24": demo,
        "nkigen-150": wide,
        "nkigen-60": drawn(inside, 20),
        "local-60": drawn(cheap_half(entries, about), 20),
    }
    return {name: ids for name, ids in subsets.items() if ids}
