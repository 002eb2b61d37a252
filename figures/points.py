"""Points with intervals: paired differences as a forest, cost against pass rate, estimates against the fastest."""
import matplotlib.pyplot as plt
from matplotlib import ticker

import style

MOST_PAIRS = 36  # rows of a forest that can be read on one page


def pair_rows(table):
    """Differences in points with what Holm's test said of them."""
    rows = [row for row in table if row["difference"]]
    compared = len(rows)
    if compared > MOST_PAIRS:
        rows = [row for row in rows if row["family"] == "contrasts" and row["scope"] == "all"][:MOST_PAIRS]
        print(f"pairs: {len(rows)} of {compared} comparisons are drawn; `tables --table pairs` prints all")
    return [
        {
            "a": row["a"],
            "b": row["b"],
            "scope": row["scope"] + (f" ({row['subset']})" if row.get("subset") else ""),
            "difference": 100 * float(row["difference"]),
            "low": 100 * float(row["interval_low"]),
            "high": 100 * float(row["interval_high"]),
            "p_holm": row["p_holm"],
            "verdict": row["verdict"],
        }
        for row in rows
    ]


def is_separated(row):
    return row["verdict"] in ("a-better", "b-better", "always-significant")


def paint_pairs(rows, width):
    figure, axes = plt.subplots(figsize=(width, style.height(0.65, 0.27, len(rows))))
    for y, row in enumerate(rows):
        looks = {"markerfacecolor": style.colour(0) if is_separated(row) else "white"}
        axes.errorbar(
            row["difference"],
            y,
            xerr=[[row["difference"] - row["low"]], [row["high"] - row["difference"]]],
            fmt="s" if is_separated(row) else "o",
            color="#222222",
            elinewidth=0.8,
            capsize=1.5,
            **looks,
        )
        p = style.number(row["p_holm"])
        words = row["verdict"] if p is None else ("p<0.001" if p < 0.001 else f"p={p:.3f}")
        axes.annotate(words, (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=5.5)
    axes.axvline(0, color="#222222", linewidth=0.6, linestyle=":")
    names = [f"{row['a']}\n- {row['b']}, {row['scope']}" for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=5.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(style.wrapped("difference (points), 95 % interval; filled: separated", width * 0.62))
    return figure


def cost_rows(costs, cells):
    rates = {cell["cell"]: cell for cell in cells}
    unit = "usd" if all(row["usd_per_pass"] for row in costs) and costs else "tokens"
    rows = []
    for row in costs:
        cell = rates[row["cell"]]
        value = style.number(row[f"{unit}_per_pass"])
        if value is None or not cell["rate"]:
            continue  # a cell that never passes has no cost of a pass
        rows.append(
            {
                "cell": row["cell"],
                "unit": unit,
                "cost": value,
                "cost_low": style.number(row[f"{unit}_per_pass_low"]),
                "cost_high": style.number(row[f"{unit}_per_pass_high"]),
                "rate": 100 * float(cell["rate"]),
                "low": 100 * float(cell["interval_low"]),
                "high": 100 * float(cell["interval_high"]),
            }
        )
    best = 0
    for row in sorted(rows, key=lambda row: (row["cost"], -row["rate"])):
        row["pareto"] = int(row["rate"] > best)
        best = max(best, row["rate"])
    return rows


def tell_decades(axis):
    """Plain numbers at 1, 2 and 5 of each decade of a logarithmic axis; at decades alone where there are many."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def span(value, low, high):
    return [
        [max(0, value - (low if low is not None else value))],
        [max(0, (high if high is not None else value) - value)],
    ]


def paint_cost(rows, width):
    figure, axes = plt.subplots(figsize=(width, style.height(2.3, 0.1, len(rows))))
    for i, row in enumerate(rows):
        looks = style.line(i)
        looks["linestyle"] = "none"
        axes.errorbar(
            row["cost"],
            row["rate"],
            yerr=span(row["rate"], row["low"], row["high"]),
            xerr=span(row["cost"], row["cost_low"], row["cost_high"]),
            elinewidth=0.7,
            capsize=1.5,
            label=row["cell"],
            markersize=4.5,
            **looks,
        )
    front = sorted((row for row in rows if row["pareto"]), key=lambda row: row["cost"])
    axes.plot([r["cost"] for r in front], [r["rate"] for r in front], color="#222222", linewidth=0.6, linestyle=":")
    axes.set_xscale("log")
    tell_decades(axes.xaxis)
    axes.set_ylim(0, 100)
    axes.set_ylabel("pass rate (%)")
    unit = "USD" if rows[0]["unit"] == "usd" else "tokens"
    axes.set_xlabel(style.wrapped(f"{unit} per pass; dotted: nothing cheaper is better", width * 0.8))
    labels = [row["cell"] for row in rows]
    style.legend_below(figure, axes.get_legend_handles_labels()[0], labels, style.columns_for(labels, width))
    return figure


def estimate_rows(table):
    """A cell's median estimate of a task's passing kernels, and what the hardware allows."""
    return [
        {key: row[key] for key in ("cell", "level", "task", "kernels")}
        | {"roofline_us": float(row["roofline_us"]), "median_us": float(row["median_us"])}
        for row in table
    ]


def paint_estimates(rows, width):
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    figure, axes = plt.subplots(figsize=(width, style.height(2.5, 0.1, len(cells))))
    for i, cell in enumerate(cells):
        mine = [row for row in rows if row["cell"] == cell]
        looks = style.line(i) | {"linestyle": "none", "markersize": 3, "alpha": 0.8}
        axes.plot([row["roofline_us"] for row in mine], [row["median_us"] for row in mine], label=cell, **looks)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        tell_decades(axis)
    low, high = (f(f(row["roofline_us"], row["median_us"]) for row in rows) for f in (min, max))
    spread = [low / 1.3, high * 1.3]
    for times, words in ((1, "the roofline"), (10, "10 x")):
        axes.plot(spread, [times * value for value in spread], color="#222222", linewidth=0.6, linestyle=":")
        middle = (spread[0] * max(row["roofline_us"] for row in rows)) ** 0.5
        beside = {
            "ha": "center",
            "va": "center",
            "backgroundcolor": "white",
            "bbox": {"pad": 0.5, "fc": "white", "ec": "none"},
        }
        axes.annotate(words, (middle, times * middle), fontsize=5.5, **beside)
    axes.set_xlim(spread[0], 1.3 * max(row["roofline_us"] for row in rows))
    axes.set_ylim(*spread)
    axes.set_xlabel("roofline of the task (us)")
    axes.set_ylabel("estimate, median of passing kernels (us)")
    style.legend_below(figure, axes.get_legend_handles_labels()[0], cells, style.columns_for(cells, width))
    return figure
