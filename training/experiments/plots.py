"""Plots of the page: effects of claims, scores of players, and training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from training.experiments.inference import half_width
from training.experiments.results import TrainingResult
from training.experiments.verdicts import LEAST, Verdict
from training.runtime.curves import new_figure, to_svg

# Colour and marker by verdict. Shapes differ too, for colour-blind readers. None: too few seeds.
LOOKS = {
    "confirmed": ("tab:green", "o"),
    "confirmed, smaller": ("tab:olive", "v"),
    "refuted": ("tab:red", "D"),
    "undecided": ("tab:grey", "s"),
    "not testable": ("tab:brown", "*"),
    None: ("lightgrey", "x"),
}


def forest(verdicts: Sequence[Verdict]) -> bytes:
    """Plot effects and intervals of claims with one unit, one below the other; return SVG."""
    figure, axes = _listed([verdict.claim.name for verdict in verdicts])
    for place, verdict in enumerate(verdicts):
        measured, theirs = verdict.measured, verdict.claim.theirs
        interval = measured.estimate.interval[1:]
        _mark(axes, place, measured.values, interval, *LOOKS[verdict.label])
        if theirs is not None:
            axes.plot(theirs.mean, place, "o", color="black", markerfacecolor="none")
    for label in dict.fromkeys(verdict.label for verdict in verdicts):
        colour, marker = LOOKS[label]
        axes.plot([], [], marker, color=colour, label=label or "too few seeds")
    axes.plot([], [], "o", color="black", markerfacecolor="none", label="the paper's")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(
        xlim=(-52, 52), xlabel="score less 50 %: mean over seeds, 95 % interval, and each seed"
    )
    return to_svg(figure, 4)


def dots(columns: Mapping[str, Mapping[str, Sequence[float]]], label: str) -> bytes:
    """Plot mean, 95 % interval and each seed's value of players, one below the other; return SVG.

    With fewer than LEAST seeds there is no interval: it would be far wider than all others.
    """
    players = list(dict.fromkeys(name for column in columns.values() for name in column))
    figure, axes = _listed(players)
    for number, (column, rows) in enumerate(columns.items()):
        marker = "osD^"[number % 4]
        shift = 0.3 * (number - (len(columns) - 1) / 2)
        for name, values in rows.items():
            mean = float(np.mean(values))
            half = float(half_width(values)) if len(values) >= LEAST else 0.0
            interval = (mean - half, mean + half)
            _mark(axes, players.index(name) + shift, values, interval, f"C{number}", marker)
        axes.plot([], [], marker, color=f"C{number}", label=column)
    axes.set(xlabel=f"{label}: mean, 95 % interval, each seed")
    axes.grid(axis="x", alpha=0.3)
    return to_svg(figure, len(columns))


def _listed(names: Sequence[str]) -> tuple[Any, Any]:
    """Return a new figure and its axes, with a row for each name from the top down."""
    figure, axes = new_figure(8.5, 1 + 0.27 * len(names))
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.5, -0.5))
    axes.spines["left"].set_visible(False)
    return figure, axes


def _mark(
    axes: Any,
    place: float,
    values: Sequence[float],
    interval: tuple[float, float],
    colour: str,
    marker: str,
) -> None:
    """Plot the values of some seeds, their mean, and the mean's interval if it is finite."""
    if np.isfinite(interval).all():
        axes.plot(interval, [place, place], color=colour, linewidth=2)
    axes.plot(values, [place] * len(values), "|", color=colour, alpha=0.5)
    axes.plot(np.mean(values), place, marker, color=colour, markersize=6)


def curves(
    runs: Mapping[str, Sequence[TrainingResult]], panels: Sequence[tuple[str, str]]
) -> bytes:
    """Plot measurements over training, mean and 95 % interval of each player's runs; return SVG."""
    figure, _ = new_figure(8.5, 3.2 * len(panels), len(panels))
    for axes, (name, label) in zip(figure.axes, panels, strict=True):
        for number, (player, seeds) in enumerate(runs.items()):
            lines = np.array([run.curves[name] for run in seeds])
            known = ~np.isnan(lines).any(axis=0)
            points, lines = seeds[0].points, lines[:, known]
            reached = 100 * points[known] / points[-1]
            colour, mean = f"C{number}", lines.mean(axis=0)
            seeds_told = f"{player} ({len(seeds)} seed{'s' if len(seeds) > 1 else ''})"
            axes.plot(reached, mean, color=colour, label=seeds_told)
            half = half_width(lines)
            axes.fill_between(reached, mean - half, mean + half, color=colour, alpha=0.2)
        axes.set(ylabel=label)
    axes.set(xlabel="% of the generations")
    return to_svg(figure, 3)
