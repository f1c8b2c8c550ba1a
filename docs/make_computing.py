"""Make docs/computing.png: strength of the zoo's players by the computing of their training.

    python docs/make_computing.py

The leaderboard has Elo and CPU-seconds of all players; docs/runs/alphazero-seed-0.csv has those of
AlphaZero's player along one run.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from training.runtime.curves import new_figure, save_figure

DOCS = Path(__file__).parent
ROW = re.compile(
    r"^\| \d+ \| \[([^]]+)\]\S+ \| ([+-]\d+) .* (\d+) CPU-seconds \| `python training/(\w+)", re.M
)
KINDS = {
    "evolve": ("evolution", "tab:blue", "o"),
    "td": ("temporal differences", "tab:orange", "s"),
}
NAMED = ("strong", "learns-squares", "learns", "blondie24", "c10", "samuel", "nguyen")
STRONG_BEFORE = 3_970  # CPU-seconds of its first teacher: docs/strong.md


def main() -> None:
    """Draw the picture."""
    figure, axes = new_figure()
    rows = ROW.findall((DOCS.parent / "agents" / "zoo" / "README.md").read_text("utf-8"))
    for kind, (label, colour, marker) in KINDS.items():
        points = [
            (name, int(seconds) + STRONG_BEFORE * (name == "strong"), int(elo))
            for name, elo, seconds, command in rows
            if command == kind
        ]
        _, x, y = zip(*points, strict=True)
        axes.plot(x, y, marker, color=colour, label=f"{label}, at 4 plies", alpha=0.7)
        for name, *place in points:
            if name in NAMED:
                axes.annotate(name, place, (5, 4), textcoords="offset points", fontsize=8)
    path = DOCS / "runs" / "alphazero-seed-0.csv"
    x, y, low, high = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    looks = {"fmt": "^-", "color": "tab:green", "capsize": 3}
    axes.errorbar(x, y, [y - low, high - y], label="AlphaZero, at 200 simulations", **looks)
    axes.set(
        xscale="log", xlabel="CPU-seconds of training", ylabel="Elo (0: piece counter at 4 plies)"
    )
    axes.margins(x=0.08)
    save_figure(figure, DOCS / "computing.png")


if __name__ == "__main__":
    main()
