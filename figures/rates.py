"""Bars of pass rates with their intervals: by level and model (a panel a mode), and by factor."""
import matplotlib.pyplot as plt

import style


def percent(row, *names):
    """The first of some columns, in percent; None where it is empty."""
    values = [style.number(row.get(name)) for name in names]
    return next((100 * value for value in values if value is not None), None)


def level_rows(levels, cells):
    """Rates by level with the cell's factors beside them, of the subset with most of them (counts may have several)."""
    by_cell = {}
    for cell in cells:
        by_cell.setdefault(cell["cell"], cell)
    subsets = [by_cell[row["cell"]]["subset"] for row in levels]
    chosen = max(dict.fromkeys(subsets), key=subsets.count)
    rows = []
    for row in levels:
        cell = by_cell[row["cell"]]
        if cell["subset"] != chosen:
            continue
        rows.append(
            {
                "panel": cell["mode"] if len({c["prompt"] for c in cells}) < 2 else f"{cell['mode']}, {cell['prompt']}",
                "model": cell["model"],
                "level": row["level"],
                "rate": percent(row, "rate"),
                "low": percent(row, "interval_low"),
                "high": percent(row, "interval_high"),
                "passed": row["passed"],
                "episodes": row["episodes"],
            }
        )
    return [row for row in rows if row["rate"] is not None]


def bar(axes, x, width, row, i, label):
    # An interval may begin where the rate is: never a negative length.
    errors = [[max(0, row["rate"] - row["low"])], [max(0, row["high"] - row["rate"])]]
    axes.bar(x, row["rate"], width, label=label, **style.fill(i))
    axes.errorbar(x, row["rate"], errors, fmt="none", ecolor="#222222", elinewidth=0.7, capsize=1.5, capthick=0.7)


def paint_levels(rows, width):
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    levels = sorted({row["level"] for row in rows})
    across = len(panels) if width > 5 or len(panels) < 3 else 1
    down = -(-len(panels) // across)
    figure, grid = plt.subplots(down, across, figsize=(width, style.height(0.6, 1.7, down)), sharey=True, squeeze=False)
    share = 0.84 / len(models)
    for axes, panel in zip(grid.flat, panels):
        mine = [row for row in rows if row["panel"] == panel]
        for row in mine:
            i = models.index(row["model"])
            x = levels.index(row["level"]) + (i - (len(models) - 1) / 2) * share
            bar(axes, x, share * 0.92, row, i, None)
        counts = {level: sorted({int(row["episodes"]) for row in mine if row["level"] == level}) for level in levels}
        names = [f"{level}\nn={'/'.join(map(str, counts[level])) or 0}" for level in levels]
        axes.set_xticks(range(len(levels)), names)
        axes.set_title(panel)
        axes.set_ylim(0, 105)
    for axes in grid[:, 0]:
        axes.set_ylabel("pass rate (%)")
    handles = [plt.Rectangle((0, 0), 1, 1, **style.fill(i)) for i in range(len(models))]
    style.legend_below(figure, handles, models, style.columns_for(models, width))
    return figure


def ablation_rows(table):
    table = [row for row in table if row["rate"] and not row["context"].startswith("mean of")]
    several = len({row["subset"] for row in table}) > 1
    rows = []
    for row in table:
        rows.append(
            {
                "factor": row["factor"],
                "value": row["value"],
                "context": row["context"] + (f" ({row['subset']})" if several and row["subset"] else ""),
                "rate": percent(row, "rate"),
                "low": percent(row, "rate_low"),
                "high": percent(row, "rate_high"),
                "tasks": row["tasks"],
            }
        )
    return rows


def paint_ablation(rows, width):
    """Horizontal bars, for names are long: a group a context, under its name."""
    factors = list(dict.fromkeys(row["factor"] for row in rows))
    groups = {f: list(dict.fromkeys(row["context"] for row in rows if row["factor"] == f)) for f in factors}
    bars = {f: [row for row in rows if row["factor"] == f] for f in factors}
    heights = [len(bars[f]) + 1.5 * len(groups[f]) + 1 for f in factors]
    figure, grid = plt.subplots(
        len(factors),
        1,
        figsize=(width, style.height(0.5, 0.135, sum(heights))),
        sharex=True,
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )
    for axes, factor in zip(grid.flat, factors):
        values = list(dict.fromkeys(row["value"] for row in bars[factor]))
        y, ticks, names = 0, [], []
        for context in groups[factor]:
            axes.text(0.8, y, context, va="center", fontsize=6.5)
            y += 1
            for row in (row for row in bars[factor] if row["context"] == context):
                i = values.index(row["value"])
                errors = [[max(0, row["rate"] - row["low"])], [max(0, row["high"] - row["rate"])]]
                axes.barh(y, row["rate"], 0.9, **style.fill(i))
                axes.errorbar(row["rate"], y, xerr=errors, fmt="none", ecolor="#222222", elinewidth=0.7, capsize=1.5)
                ticks.append(y)
                names.append(f"{row['value']}, n={row['tasks']}")
                y += 1
            y += 0.5
        axes.set_yticks(ticks, names)
        axes.set_ylim(y - 0.6, -0.7)
        axes.set_title(f"by {factor}", loc="left")
        axes.set_xlim(0, 100)
    grid.flat[-1].set_xlabel("pass rate (%), n tasks")
    return figure
