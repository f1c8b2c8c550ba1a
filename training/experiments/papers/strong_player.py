"""Strong player: its score over training time, and the value of each ingredient.

The runs measure themselves against the piece counter and keep no weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from training.experiments.jobs import Player
from training.experiments.results import TrainingResult
from training.experiments.tables import Measure, Row, Table, interval
from training.regimes.treestrap import TreeStrap
from training.trainer.presets import STRONG_ABLATIONS, STRONG_GENERATIONS

FIRST, STRONG = (Player(name, seed=0) for name in ("strong-1", "strong"))
SCORES = {plies: f"score/material-{plies}" for plies in TreeStrap.evaluation_depths}
HALVES = (8, 6, 4, 2, 1, 0)  # columns: training time halved so often


def at(run: TrainingResult, line: ArrayLike, share: float = 1.0) -> float:
    """Return the last value of a curve measured in a share of a run; nan for none."""
    line = np.asarray(line)
    reached = run.points <= max(1.0, share * run.points[-1])
    known = np.flatnonzero(reached & ~np.isnan(run.curves[SCORES[4]]))
    return float(line[known[-1]]) if len(known) and len(line) else np.nan


def _results(run: TrainingResult) -> list[float]:
    scores = [100 * at(run, run.curves[name]) for name in SCORES.values()]
    return [*scores, run.origin.cpu_seconds]


def _growth(line: Callable[[TrainingResult], ArrayLike]) -> Measure:
    """Return the measure of a run's curve by share of its training."""
    shares = [0.5**halves for halves in HALVES]
    columns = tuple(f"1/{2**halves}" if halves else "all" for halves in HALVES)
    return Measure(columns, lambda run: [at(run, line(run), share) for share in shares], interval)


def _score(plies: int) -> Measure:
    return _growth(lambda run: 100 * run.curves[SCORES[plies]])


RESULTS = Measure(
    (*(f"at {plies} plies, %" for plies in SCORES), "CPU-seconds of training"), _results, interval
)

TABLES = (
    *(
        Table(
            f"strong-{plies}-plies",
            f"the strong player against the piece counter, both at {plies} plies, by share of its "
            "training, %",
            _score(plies),
            (Row(FIRST, (), ()), Row(STRONG, (), ())),
        )
        for plies in SCORES
    ),
    Table(
        "strong-time",
        "the CPU-seconds that it had been trained by then",
        _growth(lambda run: run.origin.clock),
        (Row(FIRST, (), ()), Row(STRONG, (), ())),
    ),
    Table(
        "strong-ingredients",
        "the strong player without one ingredient at a time, against the piece counter",
        RESULTS,
        tuple(Row(Player(name), (), ()) for name in STRONG_ABLATIONS),
        note=f"Of each {STRONG_GENERATIONS} generations, of as many games as take about the same "
        "CPU time. "
        + "; ".join(
            f"{name.removeprefix('strong-')}: {preset.what}"
            for name, preset in STRONG_ABLATIONS.items()
        )
        + ".",
    ),
)
