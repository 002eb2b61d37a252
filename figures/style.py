"""How figures look, and how they are written: the same data give the same bytes.

Colours are those of Okabe and Ito (2008), which people with any form of colour blindness tell apart, in an order of
falling lightness; each comes with a hatch and a marker of its own, so that a figure printed in grey loses nothing.
"""
import csv
import itertools
import pathlib
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)

# Width of a column and of a page with two, in inches (ACM, IEEE and NeurIPS differ by less than a tenth).
WIDTHS = {"": 3.35, "-wide": 6.9}
TALLEST = 8.3  # inches: with its caption a figure of that height fills a page of letter paper or A4
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#666666"]
HATCHES = ["", "///", "...", "xxx", "\\\\\\", "ooo", "---", "+++"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 1, 2))]

matplotlib.rcdefaults()  # whatever the reader's own matplotlibrc says
plt.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 7,
        "axes.titlesize": 7.5,
        "axes.labelsize": 7,
        "legend.fontsize": 6.5,
        "xtick.labelsize": 6.5,
        "ytick.labelsize": 6.5,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "hatch.linewidth": 0.5,
        "lines.linewidth": 1.0,
        "lines.markersize": 3.5,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
        "pdf.fonttype": 42,  # TrueType, whole: journals refuse Type 3
        "svg.fonttype": "path",  # glyphs as outlines: no reader needs the font
        "svg.hashsalt": "nkigrid",  # ids of the SVG do not depend on the process
    }
)


def colour(i):
    return COLOURS[i % len(COLOURS)]


def fill(i):
    """A bar's looks: colour, hatch, a thin edge."""
    return {"facecolor": colour(i), "hatch": HATCHES[i % len(HATCHES)], "edgecolor": "#222222", "linewidth": 0.5}


def line(i):
    return {
        "color": colour(i),
        "linestyle": DASHES[i % len(DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markeredgecolor": "#222222",
        "markeredgewidth": 0.4,
    }


def height(fixed, pitch, rows):
    """Of a figure with so many rows, which stand closer where a page would not hold them."""
    return min(TALLEST, fixed + pitch * rows)


def wrapped(text, inches):
    """Breaks words of an axis so that they fit, at blanks alone: a name with a dash in it stays whole."""
    return "\n".join(textwrap.wrap(text, int(inches * 17), break_on_hyphens=False, break_long_words=False))


def legend_below(figure, handles, labels, columns):
    """A legend under everything else, whatever its size: nothing is drawn over."""
    rows = -(-len(labels) // columns)
    share = (0.1 + 0.125 * rows) / figure.get_figheight()
    figure.legend(
        handles,
        labels,
        loc="lower center",
        ncol=columns,
        bbox_to_anchor=(0.5, 0),
        handlelength=1.8,
        columnspacing=1.2,
        labelspacing=0.25,
        borderaxespad=0.2,
    )
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))


def columns_for(labels, width):
    """How many labels stand side by side."""
    return max(1, min(len(labels), int(width * 14 / (7 + max(map(len, labels))))))


def number(text):
    """A field of a table: a number, or None where it is empty."""
    return float(text) if text not in ("", None) else None


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_data(folder, name, rows):
    """What a figure shows, as a table beside it."""
    columns = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    with open(pathlib.Path(folder) / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in rows)


def save(figure, folder, name, png):
    """SVG and PDF (PNG on request), without a time or a version in them."""
    base = pathlib.Path(folder) / name
    figure.savefig(f"{base}.svg", metadata={"Date": None, "Creator": "nkigrid"})
    figure.savefig(f"{base}.pdf", metadata={"CreationDate": None, "Creator": "nkigrid", "Producer": None})
    if png:
        figure.savefig(f"{base}.png", dpi=200, metadata={"Software": None})
    plt.close(figure)


def draw(folder, name, rows, paint, png):
    """Writes the data and the figure in both widths.

    paint(rows, width): a matplotlib figure of that width in inches
    """
    write_data(folder, name, rows)
    for suffix, width in WIDTHS.items():
        save(paint(rows, width), folder, name + suffix, png)
