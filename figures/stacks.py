"""How episodes ended: groups of errors as stacked bars, first error against last as a matrix."""
import matplotlib.pyplot as plt

import style

MOST_GROUPS = 7  # that are told apart; the rest is one


def error_rows(table):
    """Shares of scored episodes: passed, groups of errors by their number, the rest, no kernel."""
    outcomes = (
        "pass",
        "compile_fail",
        "compile_timeout",
        "run_fail",
        "mismatch",
        "no_code",
        "bad_tool_args",
        "truncated",
        "context_full",
        "refused",
        "cheat",
    )
    groups = [key for key in table[0] if key not in ("cell", "scored", *outcomes)]
    totals = {group: sum(int(row[group]) for row in table) for group in groups}
    shown = [group for group in sorted(groups, key=lambda g: (-totals[g], g))[:MOST_GROUPS] if totals[group]]
    rows = []
    for row in table:
        scored = int(row["scored"])
        if scored == 0:
            continue
        counts = {"pass": int(row.get("pass", 0))} | {group: int(row[group]) for group in shown}
        counts["other errors"] = sum(int(row[group]) for group in groups if group not in shown)
        counts["no kernel"] = scored - sum(counts.values())
        rows += [{"cell": row["cell"], "scored": scored, "part": part, "episodes": n} for part, n in counts.items()]
    ended = {row["part"] for row in rows if row["episodes"]}
    return [row for row in rows if row["part"] in ended]


def paint_errors(rows, width):
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    parts = list(dict.fromkeys(row["part"] for row in rows))
    figure, axes = plt.subplots(figsize=(width, style.height(1.35, 0.24, len(cells))))
    left = dict.fromkeys(cells, 0.0)
    for i, part in enumerate(parts):
        looks = style.fill(i - ("pass" in parts))
        if part == "pass":
            looks = {"facecolor": "white", "edgecolor": "#222222", "linewidth": 0.7}
        if i > len(style.COLOURS):
            looks = {"facecolor": "#BBBBBB", "edgecolor": "#222222", "linewidth": 0.5}
        for row in (row for row in rows if row["part"] == part):
            share = 100 * row["episodes"] / row["scored"]
            axes.barh(cells.index(row["cell"]), share, 0.72, left=left[row["cell"]], **looks)
            if part == "pass" and share > 8:
                axes.text(share / 2, cells.index(row["cell"]), f"{share:.0f} %", ha="center", va="center", fontsize=6)
            left[row["cell"]] += share
        axes.bar(0, 0, label=part, **looks)
    names = [f"{cell}\nn={next(row['scored'] for row in rows if row['cell'] == cell)}" for cell in cells]
    axes.set_yticks(range(len(cells)), names)
    axes.set_ylim(len(cells) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.set_xlabel("scored episodes (%)")
    style.legend_below(figure, axes.get_legend_handles_labels()[0], parts, style.columns_for(parts, width))
    return figure


def transition_rows(table):
    """Over all cells: how often an episode's first error was one group and its last another, or it passed."""
    counts = {}
    for row in table:
        if row["first_error"] == "none":
            continue  # nothing failed
        key = (row["first_error"], row["last_error"])
        counts[key] = counts.get(key, 0) + int(row["episodes"])
    totals = {}
    for (first, last), n in counts.items():
        for group in (first, last):
            totals[group] = totals.get(group, 0) + n
    shown = sorted((g for g in totals if g != "pass"), key=lambda g: (-totals[g], g))[: MOST_GROUPS + 2]
    merged = {}
    for (first, last), n in counts.items():
        first = first if first in shown else "other"
        last = last if last in shown or last == "pass" else "other"
        merged[first, last] = merged.get((first, last), 0) + n
    return [{"first_error": a, "last_error": b, "episodes": n} for (a, b), n in sorted(merged.items())]


def paint_transitions(rows, width):
    firsts = sorted({row["first_error"] for row in rows}, key=lambda g: (g == "other", g))
    lasts = sorted({row["last_error"] for row in rows}, key=lambda g: (g == "pass", g == "other", g))
    table = [[0] * len(lasts) for _ in firsts]
    for row in rows:
        table[firsts.index(row["first_error"])][lasts.index(row["last_error"])] = row["episodes"]
    figure, axes = plt.subplots(figsize=(width, 0.9 + 0.23 * max(4, len(firsts))))
    most = max(max(line) for line in table)
    axes.imshow(table, cmap="Greys", aspect="auto", vmin=0, vmax=1.4 * most)
    for y, line in enumerate(table):
        for x, n in enumerate(line):
            if n:
                axes.text(x, y, n, ha="center", va="center", fontsize=6, color="white" if n > 0.75 * most else "black")
    axes.set_xticks(range(len(lasts)), lasts, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(firsts)), firsts)
    axes.set_xlabel("last failing turn (pass: passed in the end)")
    axes.set_ylabel("first failing turn")
    return figure
