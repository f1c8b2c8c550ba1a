"""Statistics of the verdicts: t-tests, intervals, false discoveries and chi-squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float | int) and self.low <= value <= self.high


def student(values: Sequence[float]) -> Interval:
    """Return the mean of independent values and its 95 % interval by Student's t.

    One value has an infinite interval. Of equal values the interval is their value alone.
    """
    numbers = np.array(values, float)
    mean = float(numbers.mean()) if len(numbers) else math.nan
    if len(numbers) < 2:
        return Interval(mean, -math.inf, math.inf)
    half = float(half_width(numbers))
    return Interval(mean, mean - half, mean + half)


def half_width(values: ArrayLike) -> NDArray[np.float64]:
    """Return half the width of the mean's 95 % interval, by Student's t; 0 for a single value.

    Values have shape (seeds, ...), half widths (...).
    """
    values = np.asarray(values)
    seeds = len(values)
    if seeds < 2:
        return np.zeros(np.shape(values)[1:])
    return stats.t.isf(LEVEL / 2, seeds - 1) * stats.sem(values, axis=0)


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return the q of each p: the least false discovery rate at which its test passes.

    Source: Benjamini & Hochberg 1995.
    """
    return [float(q) for q in stats.false_discovery_control(ps)] if len(ps) else []


def match_interval(wins: int, draws: int, losses: int) -> Interval:
    """Return the share of the points of one match, with its 95 % interval over games.

    Below 30 games it is the interval of Clopper & Pearson (1934), with a draw as half a success:
    for games with draws that is wider than need be. From 30 games on it is Student's.
    """
    games, points = wins + draws + losses, wins + draws / 2
    if games >= 30:
        return student([1.0] * wins + [0.5] * draws + [0.0] * losses)
    low = stats.beta.ppf(LEVEL / 2, points, games - points + 1) if points else 0.0
    high = stats.beta.isf(LEVEL / 2, points + 1, games - points) if points < games else 1.0
    return Interval(points / games, float(low), float(high))


class ChiSquare(NamedTuple):
    """A chi-square with its degrees of freedom."""

    value: float
    df: int

    @property
    def p_uneven(self) -> float:
        """Chance of as large a value, if nothing differs and games are independent."""
        return float(stats.chi2.sf(self.value, self.df))


def spread_of_round_robin(points: NDArray[np.float64]) -> ChiSquare:
    """Return the chi-square of the players' totals in a round robin.

    Cards are the independent samples: a player's games with one card may depend on each other. If
    all players are equal, their totals of a card have mean 0 and one variance, on N - 1 dimensions.
    The points are those above one half, shape (players, players, cards), antisymmetric in players.
    """
    totals = points.sum(axis=1)
    players, cards = totals.shape
    variance = float(np.mean(totals**2)) * players / (players - 1)
    value = float(np.sum(totals.sum(axis=1) ** 2)) / (cards * variance) if variance else 0.0
    return ChiSquare(value, players - 1)


def spread_of_matches(points: NDArray[np.float64]) -> ChiSquare:
    """Return the chi-square of the scores of several matches, with one error over cards.

    Large values say that the matches differ by more than their games' chance. The points are those
    above one half by card, shape (matches, cards).
    """
    means, variance = points.mean(axis=1), float(points.var(axis=1, ddof=1).mean())
    square = float(np.sum((means - means.mean()) ** 2))
    value = square * points.shape[1] / variance if variance else 0.0
    return ChiSquare(value, len(means) - 1)
