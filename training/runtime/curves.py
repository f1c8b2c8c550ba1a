"""Metrics of a run as CSV, as a plot, and for TensorBoard."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.search.interrupt import defer_signals
from checkers_env.files import write_atomically

if TYPE_CHECKING:
    from tensorboard.summary import Writer


def to_csv(columns: Mapping[str, Sequence[float] | Any]) -> bytes:
    """Return columns of one length as CSV, under their names."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    printed = [[f"{number:.6g}" for number in column] for column in columns.values()]
    rows.writerows(zip(*printed, strict=True))
    return text.getvalue().encode()


def write_scalars(log: Writer, metrics: Mapping[str, float], step: int) -> None:
    """Write metrics for TensorBoard.

    Signals wait until it is done. An error raised inside the writer's queue could leave its lock
    held, for which its thread and ``log.close()`` would wait without end.
    """
    with defer_signals():
        for name, number in metrics.items():
            log.add_scalar(name, number, step)


def flush_scalars(log: Writer) -> None:
    """Wait until everything is on disk; signals wait too, as in :func:`write_scalars`."""
    with defer_signals():
        log.flush()


LINES = {
    "curve/heuristic": ("against the heuristic player", "tab:blue"),
    "curve/material": ("against the piece counter at 1 ply", "tab:orange"),
}
SMOOTHED_OVER = 20


def plot_curve(history: dict[str, list[float]], title: str, path: Path) -> None:
    """Plot mean payoff over the generations, with a running mean, as a PNG file."""
    figure, axes = new_figure()
    for name, (label, colour) in LINES.items():
        values = np.array(history.get(name, []))
        generations = np.flatnonzero(np.isfinite(values))
        values = values[generations]
        axes.plot(generations, values, color=colour, alpha=0.25, linewidth=0.7)
        axes.plot(generations, _running_mean(values), color=colour, linewidth=2, label=label)
    axes.axhline(0, color="grey", linewidth=0.7)
    axes.set(
        xlabel="generation",
        ylabel="mean payoff of the parents (+1 / 0 / -2)",
        ylim=(-2.05, 1.05),
        title=title,
    )
    save_figure(figure, path)


def new_figure(width: float = 8, height: float = 4.5, *panels: int) -> tuple[Any, Any]:
    """Return a figure of a size in inches, and its axes: one, or so many rows and columns."""
    from matplotlib.figure import Figure  # takes a second to import

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(*panels, sharex=True)
    for panel in figure.axes:
        panel.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure of curves, with a legend, as a PNG file, atomically."""
    for axes in figure.axes:
        axes.legend(loc="lower right", frameon=False)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=150)
    write_atomically(path, picture.getvalue())


def to_svg(figure: Any, legend_columns: int = 0) -> bytes:
    """Return a figure as SVG, perhaps with a legend above it: equal data give equal bytes."""
    import matplotlib as mpl

    if legend_columns:
        legend = figure.axes[-1].get_legend_handles_labels()
        figure.legend(*legend, loc="outside upper center", ncols=legend_columns, frameon=False)
    picture = io.BytesIO()
    # No date, and no chance in the names of parts.
    with mpl.rc_context({"svg.hashsalt": "checkers-laboratory", "svg.fonttype": "none"}):
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()


def _running_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the last 20 values at each one."""
    sums = np.cumsum(np.concatenate([[0.0], values]))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - SMOOTHED_OVER, 0)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts))
