"""Points with intervals: paired differences as a forest, cost against pass rate, estimates against the fastest."""
import matplotlib.pyplot as plt
from matplotlib import ticker

import style

MOST_PAIRS = 60  # rows of a forest on one page


def pair_rows(table):
    """Differences in points with what Holm's test said of them."""
    rows = [row for row in table if row["difference"]]
    if len(rows) > MOST_PAIRS:
        rows = [row for row in rows if row["family"] == "contrasts" and row["scope"] == "all"]
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
        for row in rows[:MOST_PAIRS]
    ]


def is_separated(row):
    return row["verdict"] in ("a-better", "b-better", "always-significant")


def paint_pairs(rows, width):
    figure, axes = plt.subplots(figsize=(width, 0.65 + 0.27 * len(rows)))
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


def span(value, low, high):
    return [
        [max(0, value - (low if low is not None else value))],
        [max(0, (high if high is not None else value) - value)],
    ]


def paint_cost(rows, width):
    figure, axes = plt.subplots(figsize=(width, 2.3 + 0.1 * len(rows)))
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
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_ylim(0, 100)
    axes.set_ylabel("pass rate (%)")
    unit = "USD" if rows[0]["unit"] == "usd" else "tokens"
    axes.set_xlabel(style.wrapped(f"{unit} per pass; dotted: nothing cheaper is better", width * 0.8))
    labels = [row["cell"] for row in rows]
    style.legend_below(figure, axes.get_legend_handles_labels()[0], labels, style.columns_for(labels, width))
    return figure


def estimate_rows(table):
    return [
        {key: row[key] for key in ("cell", "scope", "passed", "estimated", "median_us", "median_to_fastest")}
        for row in table
        if row["median_to_fastest"]
    ]


def paint_estimates(rows, width):
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    scopes = list(dict.fromkeys(row["scope"] for row in rows))
    figure, axes = plt.subplots(figsize=(width, 1.0 + 0.3 * len(cells)))
    for i, scope in enumerate(scopes):
        mine = [row for row in rows if row["scope"] == scope]
        looks = style.line(i)
        looks["linestyle"] = "none"
        axes.plot(
            [float(row["median_to_fastest"]) for row in mine],
            [cells.index(row["cell"]) + (i - (len(scopes) - 1) / 2) * 0.16 for row in mine],
            label=scope,
            **looks,
        )
    axes.set_yticks(range(len(cells)), cells)
    axes.set_ylim(len(cells) - 0.5, -0.5)
    axes.axvline(1, color="#222222", linewidth=0.6, linestyle=":")
    most = max(float(row["median_to_fastest"]) for row in rows)
    axes.set_xlim(0.98, max(1.1, 1.02 * most))
    axes.set_xlabel(style.wrapped("median estimate of passing kernels over the fastest of its task", width * 0.62))
    style.legend_below(figure, axes.get_legend_handles_labels()[0], scopes, style.columns_for(scopes, width))
    return figure
