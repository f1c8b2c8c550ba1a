"""Statistics of the verdicts: t-tests, equivalence, false discoveries, power and chi-squares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05
POWER = 0.8  # chance of a decision that "seeds to decide" asks for
MOST_SEEDS = 1000
QUANTILES = 400  # of the sample variance, by which powers are integrated


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float | int) and self.low <= value <= self.high

    def overlaps(self, other: Interval) -> bool:
        """Return whether the two intervals have a value in common."""
        return self.low <= other.high and other.low <= self.high


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


def difference_p(values: Sequence[float]) -> float:
    """Return p of the two-sided t-test against 0; 1 for fewer than two values.

    For equal values it is that of the sign test.
    """
    if len(values) < 2:
        return 1.0
    if np.ptp(values) == 0:
        return _sign_test_p(len(values)) if values[0] else 1.0
    return float(stats.ttest_1samp(values, 0).pvalue)


def equality_p(values: Sequence[float], margin: float) -> float:
    """Return p of the test that the mean is within a margin of 0 (two one-sided t-tests).

    It is twice the larger p of the two tests, so that it is at most 5 % exactly where the 95 %
    interval is within the margin. For equal values it is that of the sign test.
    """
    if len(values) < 2:
        return 1.0
    if np.ptp(values) == 0:
        return _sign_test_p(len(values)) if abs(values[0]) < margin else 1.0
    above = stats.ttest_1samp(values, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(values, margin, alternative="less").pvalue
    return min(1.0, 2 * float(max(above, below)))


def _sign_test_p(count: int) -> float:
    """Return p of the two-sided sign test for so many values of one sign."""
    return float(2.0 ** (1 - count))


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return the q of each p: the least false discovery rate at which its test passes.

    Source: Benjamini & Hochberg 1995.
    """
    return [float(q) for q in stats.false_discovery_control(ps)] if len(ps) else []


def difference_power(mean: float, sd: float, seeds: int, level: float = LEVEL) -> float:
    """Return the chance that a two-sided t-test of two seeds or more finds a mean other than 0."""
    shift, limit = mean / sd * math.sqrt(seeds), stats.t.isf(level / 2, seeds - 1)
    return float(stats.nct.sf(limit, seeds - 1, abs(shift)))


def equality_power(
    mean: float, sd: float, seeds: int, margin: float, level: float = LEVEL
) -> float:
    """Return the chance that :func:`equality_p` is below a level, for two seeds or more."""
    error = sd / math.sqrt(seeds)
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    found = error * np.sqrt(stats.chi2.ppf(middles, seeds - 1) / (seeds - 1))
    room = margin - stats.t.isf(level / 2, seeds - 1) * found
    within = stats.norm.cdf((room - mean) / error) - stats.norm.cdf((-room - mean) / error)
    return float(np.where(room > 0, within, 0.0).mean())


def seeds_to_decide(
    values: Sequence[float],
    margin: float,
    levels: tuple[float, float] = (LEVEL, LEVEL),
    *,
    beyond: float = 0.0,
) -> int | None:
    """Return the seeds that decide a claim with a chance of 80 %, if it is as the seeds so far.

    The mean and the standard deviation of the seeds so far are taken for the true ones. A claim is
    decided by a difference from 0, or by equality within the margin; a claim of equality also by a
    difference from 0 `beyond` its margin. The number includes the seeds so far, and is None above
    MOST_SEEDS. The levels are of the two-sided test against 0, and of the test of equality.
    """
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    if sd == 0:
        return len(values)

    def decides(seeds: int) -> bool:
        return difference_power(max(0.0, abs(mean) - beyond), sd, seeds, levels[0]) >= POWER or (
            abs(mean) < margin and equality_power(mean, sd, seeds, margin, levels[1]) >= POWER
        )

    low, high = 1, 2
    while not decides(high):
        if high > MOST_SEEDS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high if high <= MOST_SEEDS else None


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

    @property
    def p_even(self) -> float:
        """Chance of as small a value, if nothing differs and games are independent."""
        return float(stats.chi2.cdf(self.value, self.df))


def evenness(pairs: Iterable[tuple[int, int]]) -> ChiSquare:
    """Return the chi-square of matches between equals: wins and losses of each pair of players.

    Drawn games do not count. If the players are equal and the games independent, each decided game
    is a toss, and (wins - losses)^2 / (wins + losses) has a mean of 1.
    """
    decided = [(wins, losses) for wins, losses in pairs if wins + losses]
    value = sum((wins - losses) ** 2 / (wins + losses) for wins, losses in decided)
    return ChiSquare(value, len(decided))


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
