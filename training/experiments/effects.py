"""Effects: one figure a seed, computed from the games or runs of a claim's rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from training.experiments.results import TrainingResult
from training.experiments.tables import (
    DIFFERENCES,
    POINTS,
    POOL,
    SCORE,
    PlayerGame,
    by_material,
    with_cards,
)
from training.rating.elo import elo_difference

# Parts of a curve, as shares of its points: the beginning, the early rise, the level at the end.
FIRST, RISEN, LAST = (0, 0.1), (0.1, 0.3), (0.8, 1)

LEAD = 2  # pieces

# From the games, or the training result, of each row of a claim to the figure of one seed.
Effect = Callable[[Sequence[Any]], float]


def score(games: Sequence[PlayerGame]) -> float:
    """Return the score in %: wins and half the draws, of the games that began with a card."""
    return SCORE.of(games)[0]


def advantage(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return how far the first players' mean score lies above 50 %, in % of the points."""
    return float(np.mean([score(games) for games in rows])) - 50


def red_advantage(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return how far the side that moves first scores above 50 %, in % of the points."""
    reds = [POINTS[game.result] for games in rows for game in games if game.red and game.opening]
    others = [
        1 - POINTS[game.result] for games in rows for game in games if not game.red and game.opening
    ]
    return 100 * float(np.mean(reds + others)) - 50


def rating_difference(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the first player's score as an Elo difference; more pieces win a drawn game.

    A score of 100 % (or 0 %) has no finite difference: it counts as half a point less (or more).
    """
    (games,) = rows
    points = [POINTS[by_material(game).result] for game in with_cards(games)]
    share = float(np.clip(np.mean(points), 0.5 / len(points), 1 - 0.5 / len(points)))
    return float(elo_difference(share))


def decided(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the :func:`advantage` if more pieces win a drawn game."""
    return advantage([[by_material(game) for game in games] for games in rows])


def share_drawn(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the share of drawn games in %."""
    return 100 * float(np.mean([game.result == "D" for game in with_cards([*chain(*rows)])]))


def share_led(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the share of drawn games that end with a lead of LEAD pieces, in %; nan for none."""
    drawn = [game for game in with_cards([*chain(*rows)]) if game.result == "D"]
    led = [abs(game.difference) >= LEAD for game in drawn]
    return 100 * float(np.mean(led)) if led else float("nan")


def fewer_drawn(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the share of drawn games in the first half of the rows less that in the second."""
    half = len(rows) // 2
    return share_drawn(rows[:half]) - share_drawn(rows[half:])


def order(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return Kendall's tau between the claimed order, the weakest first, and the scores."""
    return float(kendalltau(range(len(rows)), [score(games) for games in rows]).statistic)


def growth(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the first player's score in the last row less that in the first row, in %."""
    return score(rows[-1]) - score(rows[0])


def levels(name: str) -> Effect:
    """Return the effect: the level of the first run's curve less that of the second's."""
    return lambda runs: _mean(runs[0], name, *LAST) - _mean(runs[1], name, *LAST)


def late(name: str) -> Effect:
    """Return the effect: the mean of a curve's second half."""
    return lambda runs: _mean(runs[0], name, 0.5, 1)


def rise(name: str) -> Effect:
    """Return the effect: how far a curve's end lies above its beginning."""
    return lambda runs: _mean(runs[0], name, *LAST) - _mean(runs[0], name, *FIRST)


def climb(name: str) -> Effect:
    """Return the effect: how far a curve's end lies above its early rise."""
    return lambda runs: _mean(runs[0], name, *LAST) - _mean(runs[0], name, *RISEN)


def fall(name: str) -> Effect:
    """Return the effect: how far a curve's end lies below its early rise."""
    return lambda runs: _mean(runs[0], name, *RISEN) - _mean(runs[0], name, *LAST)


def speed(runs: Sequence[TrainingResult]) -> float:
    """Return the ratio of CPU times, second run to first, in powers of ten.

    The logarithm suits the noise: compilation or another program multiplies the time. The ratio of
    runs on different processors is nan.
    """
    if runs[0].origin.processor != runs[1].origin.processor:
        return math.nan
    return math.log10(runs[1].origin.cpu_seconds / runs[0].origin.cpu_seconds)


def pieces_ahead(rows: Sequence[Sequence[PlayerGame]]) -> float:
    """Return the last row's mean piece difference from the start position, less the first row's."""
    first, last = (float(np.mean(DIFFERENCES.of(games))) for games in (rows[0], rows[-1]))
    return last - first


def recent_reuse(runs: Sequence[TrainingResult]) -> float:
    """Return the copies of a strategy in the newer half of the pool, less those in the older."""
    _, _, older, newer = POOL.of(runs[0])
    return newer - older


def _mean(run: TrainingResult, name: str, start: float, end: float) -> float:
    """Return the mean of a curve between two shares of its points; nan for no points."""
    line = run.curves[name]
    line = line[~np.isnan(line)]
    part = line[int(start * len(line)) : max(1, round(end * len(line)))]
    return float(part.mean()) if len(part) else float("nan")
