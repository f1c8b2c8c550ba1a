"""The evaluation of Al-Khateeb's thesis (2011, section 3.4): ratings over random orderings.

The printed ratings do not follow the printed formula: ``MODES`` has the rules that lead to them.
And 5000 orderings of the same games are not 5000 samples; for statistics that hold see
:mod:`training.rating.intervals`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from training.runtime.extras import extra

START, ORDERINGS = 1600.0, 5000
_LOWER_BOUNDS = (200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400)
_CLASSES = ("J", "I", "H", "G", "F", "E", "D", "C", "B", "A", "Expert", "Master", "Senior Master")


class RatingMode(NamedTuple):
    """How the results of a match move the two ratings."""

    draw: float  # what a drawn game scores, for either player
    in_turn: bool  # is the second player rated against the first one's new rating?
    exchanged: bool  # are draws and losses taken for each other?


MODES = {
    "written": RatingMode(0.5, False, False),
    "printed": RatingMode(0.0, True, False),
    "exchanged": RatingMode(0.0, True, True),
}


class Rating(NamedTuple):
    """Final ratings over the orderings."""

    mean: float
    sd: float

    @property
    def grade(self) -> str:
        """The class of the mean, from "J" to "A", then "Expert", "Master", "Senior Master"."""
        return grade(self.mean)


@dataclass(frozen=True)
class MatchRatings:
    """The thesis's verdict on a match.

    Attributes
    ----------
    first, second
        The two players' ratings.
    p_value
        One-tailed Welch t-test of the difference of the means, in the direction observed, with the
        orderings for samples. It is next to 0 for almost any match, and not evidence of anything.
    """

    first: Rating
    second: Rating
    p_value: float

    @property
    def better(self) -> int:
        """1 if the first player is "statistically better" (of a higher class), -1, or 0."""
        first, second = (_level(rating.mean) for rating in (self.first, self.second))
        return (first > second) - (first < second)


def grade(rating: float) -> str:
    """Return the class of a rating (Table 3.3)."""
    return _CLASSES[_level(rating)]


def _level(rating: float) -> int:
    return bisect_right(_LOWER_BOUNDS, rating)


def updated_rating(rating: Any, opponent: Any, score: Any) -> Any:
    """Return the rating after a game with `opponent` (equation 3.3); arrays or numbers."""
    factor = np.select([np.less(rating, 2100), np.less(rating, 2400)], [32.0, 24.0], 16.0)
    expected = 1 / (1 + 10 ** (np.subtract(opponent, rating) / 400))
    return rating + factor * (score - expected)


def rate_match(
    wins: int,
    draws: int,
    losses: int,
    rng: np.random.Generator,
    *,
    mode: str = "written",
    orderings: int = ORDERINGS,
) -> MatchRatings:
    """Rate the players of a match as the thesis does.

    Parameters
    ----------
    wins, draws, losses
        The first player's.
    rng
        Draws the orderings.
    mode
        ``"written"``: the formula. ``"printed"``: as most tables were made: a draw scores 0 for
        both, and the second player is rated against the first one's new rating. ``"exchanged"``:
        the same, with draws and losses taken for each other.

    Raises ValueError for an unknown mode, a negative count or no game.
    """
    if min(wins, draws, losses) < 0 or wins + draws + losses == 0:
        raise ValueError(f"not the results of a match: {wins}-{draws}-{losses}")
    scores = np.repeat([1.0, 0.5, 0.0], [wins, draws, losses])
    orders = _orders(len(scores), orderings, rng)
    first, second = map(_summary, final_ratings(scores[orders], mode))
    return MatchRatings(first, second, welch(first, second, orderings))


def final_ratings(scores: Any, mode: str = "written") -> tuple[Any, Any]:
    """Both players' ratings after games in a given order.

    `scores` is float64[..., games]: the first player's 1, 0.5 or 0; the results are float64[...].
    Raises ValueError for other scores and an unknown mode.
    """
    if mode not in MODES:
        raise ValueError(f"unknown mode {mode!r}: choose from {', '.join(MODES)}")
    draw, in_turn, exchanged = MODES[mode]
    scores = _checked(scores)
    if exchanged:
        scores = np.where(scores == 1, 1, 0.5 - scores)
    drawn = scores == 0.5
    outcomes = np.stack([np.where(drawn, draw, scores), np.where(drawn, draw, 1 - scores)])
    first, second = np.full((2, *scores.shape[:-1]), START)
    for gained, other_gained in np.moveaxis(outcomes, -1, 0):
        before, first = first, updated_rating(first, second, gained)
        second = updated_rating(second, first if in_turn else before, other_gained)
    return first, second


def welch(first: Rating, second: Rating, samples: int) -> float:
    """P of the one-tailed t-test with unequal variances, in the direction of the difference."""
    if first.sd == second.sd == 0:  # all games alike
        return 0.5 if first.mean == second.mean else 0.0
    with extra("train"):
        from scipy.stats import ttest_ind_from_stats

    higher, lower = (first, second) if first.mean >= second.mean else (second, first)
    test = ttest_ind_from_stats(
        *higher, samples, *lower, samples, equal_var=False, alternative="greater"
    )
    return float(test.pvalue)


def rate_series(
    scores: Any,
    opponents: Any,
    rng: np.random.Generator,
    *,
    start: float = START,
    orderings: int = ORDERINGS,
) -> Rating:
    """Rate a player by games with opponents of known rating, such as Blondie24's 165 on the web.

    `scores` (1, 0.5 or 0) and `opponents` (their ratings) are one number a game. Raises ValueError
    for other scores, for no game, and if there are not as many of both.
    """
    scores, opponents = _checked(scores), np.asarray(opponents, float)
    if len(scores) != len(opponents) or not len(scores):
        raise ValueError(f"{len(scores)} scores and {len(opponents)} ratings: one of each a game")
    rating = np.full(orderings, start)
    for game in _orders(len(scores), orderings, rng).T:
        rating = updated_rating(rating, opponents[game], scores[game])
    return _summary(rating)


def _checked(scores: Any) -> Any:
    scores = np.asarray(scores, float)
    if not np.isin(scores, (0, 0.5, 1)).all():
        raise ValueError("a game scores 1, 0.5 or 0")
    return scores


def _orders(games: int, orderings: int, rng: np.random.Generator) -> Any:
    """int64[orderings, games]: a permutation a row."""
    if orderings < 2:
        raise ValueError(f"{orderings} orderings: a standard deviation takes two or more")
    return rng.permuted(np.tile(np.arange(games), (orderings, 1)), axis=1)


def _summary(ratings: Any) -> Rating:
    return Rating(float(ratings.mean()), float(ratings.std(ddof=1)))
