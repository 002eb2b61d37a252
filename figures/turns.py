"""Passes by turn, with the interval of the rate at each turn."""
import matplotlib.pyplot as plt

import style


def turn_rows(table):
    rows = []
    for row in table:
        rate = style.number(row["rate"])
        if rate is None:
            continue  # episodes are outstanding
        rows.append(
            {
                "cell": row["cell"],
                "turn": int(row["turn"]),
                "rate": 100 * rate,
                "method": row["interval_method"],
                "low": 100 * float(row["interval_low"]),
                "high": 100 * float(row["interval_high"]),
                "open": row["open"],
            }
        )
    return rows


def paint_turns(rows, width):
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    figure, axes = plt.subplots(figsize=(width, style.height(2.3, 0.1, len(cells))))
    for i, cell in enumerate(cells):
        mine = [row for row in rows if row["cell"] == cell]
        turns = [row["turn"] for row in mine]
        axes.plot(turns, [row["rate"] for row in mine], label=cell, **style.line(i))
        low, high = [row["low"] for row in mine], [row["high"] for row in mine]
        axes.fill_between(turns, low, high, color=style.colour(i), alpha=0.15, linewidth=0)
    axes.set_xticks(sorted({row["turn"] for row in rows}))
    axes.set_ylim(0, 100)
    axes.set_xlabel("turn")
    axes.set_ylabel("passed within so many turns (%)")
    style.legend_below(figure, axes.get_legend_handles_labels()[0], cells, style.columns_for(cells, width))
    return figure


def power_rows(table):
    return [
        {"tasks": int(row["tasks"]), "replicates": int(row["replicates"]), "smallest": 100 * float(row["smallest"])}
        for row in table
    ]


def paint_power(rows, width):
    figure, axes = plt.subplots(figsize=(width, 2.3))
    for i, replicates in enumerate(sorted({row["replicates"] for row in rows})):
        mine = sorted((row for row in rows if row["replicates"] == replicates), key=lambda row: row["tasks"])
        label = f"{replicates} replicate{'' if replicates == 1 else 's'}"
        axes.plot([row["tasks"] for row in mine], [row["smallest"] for row in mine], label=label, **style.line(i))
    axes.set_xlabel("tasks")
    axes.set_ylabel("smallest difference shown (points)")
    axes.set_ylim(0, None)
    axes.legend()
    return figure
