"""Draws figures from the tables of a run.

Usage: draw.py TABLES FOLDER [--png] NAME...

TABLES holds <table>.csv as `nkigrid tables --format csv` prints them; FOLDER gets NAME.csv (what is shown), NAME.svg
and NAME.pdf one column wide, NAME-wide.svg and NAME-wide.pdf two. A figure without anything to show is named on
standard output with the reason, and not drawn.
"""
import argparse
import pathlib

import points
import rates
import stacks
import style
import turns

# figure: (tables it is made of, rows, paint)
FIGURES = {
    "levels": (("levels", "cells"), rates.level_rows, rates.paint_levels),
    "ablation": (("ablation",), rates.ablation_rows, rates.paint_ablation),
    "turns": (("turns",), turns.turn_rows, turns.paint_turns),
    "pairs": (("pairs",), points.pair_rows, points.paint_pairs),
    "errors": (("errors",), stacks.error_rows, stacks.paint_errors),
    "transitions": (("transitions",), stacks.transition_rows, stacks.paint_transitions),
    "cost": (("cost", "cells"), points.cost_rows, points.paint_cost),
    "power": (("power",), turns.power_rows, turns.paint_power),
    "estimates": (("rooflines",), points.estimate_rows, points.paint_estimates),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--png", action="store_true")
    parser.add_argument("names", nargs="+", choices=FIGURES)
    options = parser.parse_args()
    for name in options.names:
        tables, make_rows, paint = FIGURES[name]
        found = [style.read_table(options.tables / f"{table}.csv") for table in tables]
        rows = make_rows(*found) if all(found) else []
        if not rows:
            print(f"{name}: nothing to show")
            continue
        style.draw(options.folder, name, rows, paint, options.png)


if __name__ == "__main__":
    main()
