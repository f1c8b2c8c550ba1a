"""Statistics of the verdicts: t-tests, intervals, false discoveries and chi-squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # loads a part at its first use: scipy.stats takes a second
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float | int) and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


class Estimate(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of that error."""

    mean: float
    error: float
    df: float

    @property
    def interval(self) -> Interval:
        """The 95 % interval by Student's t; without bounds if there are no degrees of freedom."""
        quantile = float(scipy.special.stdtrit(self.df, LEVEL / 2))
        low = self.error * quantile if self.df > 0 else -math.inf
        return Interval(self.mean, self.mean + low, self.mean - low)

    @property
    def difference_p(self) -> float:
        """The p of the two-sided test against 0."""
        return min(1.0, 2 * self._tail(abs(self.mean)))

    def equality_p(self, margin: float) -> float:
        """Return twice the larger p of the two one-sided tests that the mean is within a margin.

        It is at most 5 % exactly where the 95 % interval is within the margin.
        """
        return min(1.0, 2 * self._tail(margin - abs(self.mean)))

    def _tail(self, distance: float) -> float:
        """Return the chance of an error of at least a distance, upwards."""
        if self.df <= 0:
            return 1.0
        if self.error == 0:
            return 2.0 ** -(self.df + 1) if distance > 0 else 1.0  # the sign test
        return float(scipy.special.stdtr(self.df, -distance / self.error))


def independent(values: Sequence[float]) -> Estimate:
    """Estimate the mean of one value a seed, as Student does."""
    numbers = np.asarray(values, float)
    error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.inf
    mean = float(numbers.mean()) if len(numbers) else math.nan
    return Estimate(mean, error, len(numbers) - 1)


def student(values: Sequence[float]) -> Interval:
    """Return the mean of independent values and its 95 % interval by Student's t.

    One value has an infinite interval. Of equal values the interval is their value alone.
    """
    return independent(values).interval


def half_width(values: ArrayLike) -> NDArray[np.float64]:
    """Return half the width of the mean's 95 % interval, by Student's t; 0 for a single value.

    Values have shape (seeds, ...), half widths (...).
    """
    values = np.asarray(values)
    if len(values) < 2:
        return np.zeros(values.shape[1:])
    return -scipy.special.stdtrit(len(values) - 1, LEVEL / 2) * scipy.stats.sem(values, axis=0)


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return the q of each p: the least false discovery rate at which its test passes.

    Source: Benjamini & Hochberg 1995.
    """
    return [float(q) for q in scipy.stats.false_discovery_control(ps)] if len(ps) else []


def match_interval(wins: int, draws: int, losses: int) -> Interval:
    """Return the share of the points of one match, with its 95 % interval over games.

    Below 30 games it is the interval of Clopper & Pearson (1934), with a draw as half a success:
    for games with draws that is wider than need be. From 30 games on it is Student's.
    """
    games, points, lost = wins + draws + losses, wins + draws / 2, losses + draws / 2
    if games >= 30:
        return student([1.0] * wins + [0.5] * draws + [0.0] * losses)
    low = scipy.special.betaincinv(points, lost + 1, LEVEL / 2) if points else 0.0
    high = scipy.special.betainccinv(points + 1, lost, LEVEL / 2) if lost else 1.0
    return Interval(points / games, float(low), float(high))


class ChiSquare(NamedTuple):
    """A chi-square with its degrees of freedom."""

    value: float
    df: int

    @property
    def p_uneven(self) -> float:
        """Chance of as large a value, if nothing differs and games are independent."""
        return float(scipy.special.chdtrc(self.df, self.value))

    @classmethod
    def total(cls, parts: Sequence[ChiSquare]) -> ChiSquare:
        """Return the sum of independent chi-squares."""
        return cls(sum(it.value for it in parts), sum(it.df for it in parts))


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
