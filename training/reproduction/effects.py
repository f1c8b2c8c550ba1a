"""What a claim is measured by: one figure for each seed, out of the games or runs of its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from training.rating.elo import elo_difference
from training.reproduction.results import TrainingResult
from training.reproduction.tables import POINTS, SCORE, Seen, by_material, with_cards
from training.runtime.extras import extra

with extra("train"):
    from scipy.stats import kendalltau

# Shares of a curve: its beginning, where it has risen, and where it has levelled off.
FIRST, RISEN, LAST = (0, 0.1), (0.1, 0.3), (0.8, 1)

LEAD = 2  # pieces

Effect = Callable[[Sequence[Any]], float]


def score(games: Sequence[Seen]) -> float:
    """Wins and half the draws, per cent of the games that began with a card."""
    return SCORE.of(games)[0]


def advantage(rows: Sequence[Sequence[Seen]]) -> float:
    """How far the first players score above one half."""
    return float(np.mean([score(games) for games in rows])) - 50


def red_advantage(rows: Sequence[Sequence[Seen]]) -> float:
    """How far red, who moves first, scores above one half, whoever it is."""
    reds = [POINTS[game.result] for games in rows for game in games if game.red and game.opening]
    others = [
        1 - POINTS[game.result] for games in rows for game in games if not game.red and game.opening
    ]
    return 100 * float(np.mean(reds + others)) - 50


def rating_difference(rows: Sequence[Sequence[Seen]]) -> float:
    """The rating points that a score stands for, drawn games going to who has more pieces.

    A score of 100 % counts as half a point less.
    """
    (games,) = rows
    points = [POINTS[by_material(game).result] for game in with_cards(games)]
    share = float(np.clip(np.mean(points), 0.5 / len(points), 1 - 0.5 / len(points)))
    return float(elo_difference(share))


def decided(rows: Sequence[Sequence[Seen]]) -> float:
    """How far the first players score above one half if drawn games go to who has more pieces."""
    return advantage([[by_material(game) for game in games] for games in rows])


def share_drawn(rows: Sequence[Sequence[Seen]]) -> float:
    """Per cent of the games that are drawn."""
    return 100 * float(np.mean([game.result == "D" for game in with_cards([*chain(*rows)])]))


def share_led(rows: Sequence[Sequence[Seen]]) -> float:
    """Per cent of the drawn games at whose end a side is LEAD pieces ahead; nan without any."""
    drawn = [game for game in with_cards([*chain(*rows)]) if game.result == "D"]
    led = [abs(game.difference) >= LEAD for game in drawn]
    return 100 * float(np.mean(led)) if led else float("nan")


def fewer_drawn(rows: Sequence[Sequence[Seen]]) -> float:
    """How many more per cent are drawn in the first half of the rows than in the second."""
    half = len(rows) // 2
    return share_drawn(rows[:half]) - share_drawn(rows[half:])


def order(rows: Sequence[Sequence[Seen]]) -> float:
    """Kendall's tau of the claimed order, the weakest first, and the order of the scores."""
    return float(kendalltau(range(len(rows)), [score(games) for games in rows]).statistic)


def growth(rows: Sequence[Sequence[Seen]]) -> float:
    """How much higher the first player scores in the last row than in the first row."""
    return score(rows[-1]) - score(rows[0])


def levels(name: str) -> Effect:
    """How far the first run's curve ends above the second's."""
    return lambda runs: _mean(runs[0], name, *LAST) - _mean(runs[1], name, *LAST)


def late(name: str) -> Effect:
    """The mean of a curve's second half."""
    return lambda runs: _mean(runs[0], name, 0.5, 1)


def rise(name: str) -> Effect:
    """How much a curve's end lies above its beginning."""
    return lambda runs: _mean(runs[0], name, *LAST) - _mean(runs[0], name, *FIRST)


def fall(name: str) -> Effect:
    """How much a curve's end lies below where it had risen to."""
    return lambda runs: _mean(runs[0], name, *RISEN) - _mean(runs[0], name, *LAST)


def speed(runs: Sequence[TrainingResult]) -> float:
    """How many powers of ten more CPU time the second run took than the first.

    What a ratio is off by, compiling in one run or another program beside it, is a factor too.
    """
    return math.log10(runs[1].origin.cpu_seconds / runs[0].origin.cpu_seconds)


def _mean(run: TrainingResult, name: str, start: float, end: float) -> float:
    """The mean of a part of a curve, from one share of its points to another; nan for none."""
    line = run.curves[name]
    line = line[~np.isnan(line)]
    part = line[int(start * len(line)) : max(1, round(end * len(line)))]
    return float(part.mean()) if len(part) else float("nan")
