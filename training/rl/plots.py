"""Plot of the scores of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from training.rl.evaluation import BASELINES
from training.runtime.curves import new_figure, save_figure


def plot_scores(history: dict[str, list[float]], title: str, path: Path) -> None:
    """Plot the score against each baseline over the steps of training.

    Parameters
    ----------
    history
        Metrics by name, one value a checkpoint.
    title
        Title of the plot.
    path
        The PNG file.
    """
    figure = new_figure()
    axes = figure.subplots()
    millions = np.array(history["steps"]) / 1e6
    for number, name in enumerate(BASELINES):
        scores, style = history[f"score/{name}"], ("-", "--")[number % 2]  # curves may coincide
        axes.plot(millions, scores, marker=".", linestyle=style, label=f"against {name}")
    axes.axhline(0.5, color="grey", linewidth=0.7)
    axes.set(
        xlabel="millions of actions learned from",
        ylabel="score (a win 1, a draw ½)",
        ylim=(-0.02, 1.02),
        title=title,
    )
    save_figure(figure, path)
