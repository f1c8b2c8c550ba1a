"""Ratings of Al-Khateeb's thesis (2011, section 3.4), over random orderings of the games.

The printed ratings do not follow the printed formula: ``MODES`` has the rules that lead to them.
The 5,000 orderings of the same games are not independent samples; for sound intervals see
:mod:`training.rating.intervals`.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

START, ORDERINGS = 1600.0, 5000
_LOWER_BOUNDS = (200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400)
_CLASSES = ("J", "I", "H", "G", "F", "E", "D", "C", "B", "A", "Expert", "Master", "Senior Master")


class RatingMode(NamedTuple):
    """Rule by which the results of a match change the two ratings."""

    draw: float  # score of a drawn game, for either player
    in_turn: bool  # the second player is rated against the first player's new rating
    exchanged: bool  # draws count as losses and losses as draws


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
        """Class of the mean, from "J" to "A", then "Expert", "Master", "Senior Master"."""
        return grade(self.mean)


def grade(rating: float) -> str:
    """Return the class of a rating (Table 3.3)."""
    return _CLASSES[bisect_right(_LOWER_BOUNDS, rating)]


def updated_rating(
    rating: Floats | float, opponent: Floats | float, score: Floats | float
) -> Floats:
    """Return the rating after a game (thesis, equation 3.3)."""
    factor = np.select([np.less(rating, 2100), np.less(rating, 2400)], [32.0, 24.0], 16.0)
    expected = 1 / (1 + 10 ** (np.subtract(opponent, rating) / 400))
    return np.asarray(rating + factor * (score - expected))


def rate_match(
    wins: int,
    draws: int,
    losses: int,
    rng: np.random.Generator,
    *,
    mode: str = "written",
) -> tuple[Rating, Rating]:
    """Rate the players of a match, given by the results of the first, as the thesis does.

    Modes are the formula of the thesis (``"written"``), the rule of most of its tables
    (``"printed"``) and the same with draws and losses exchanged (``"exchanged"``).
    """
    if min(wins, draws, losses) < 0 or wins + draws + losses == 0:
        raise ValueError(f"wins, draws and losses must be 0 or more, not {wins}-{draws}-{losses}")
    scores = np.repeat([1.0, 0.5, 0.0], [wins, draws, losses])
    first, second = map(_summary, final_ratings(scores[_orders(len(scores), rng)], mode))
    return first, second


def final_ratings(scores: ArrayLike, mode: str = "written") -> tuple[Floats, Floats]:
    """Return both players' ratings, shape (...), after games in order, scores (..., games)."""
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


def rate_series(scores: ArrayLike, opponents: ArrayLike, rng: np.random.Generator) -> Rating:
    """Rate a player by games with opponents of known rating, e.g. Blondie24's 165 on the web."""
    scores, opponents = _checked(scores), np.asarray(opponents, float)
    if len(scores) != len(opponents) or not len(scores):
        raise ValueError(
            f"give a score and a rating for each of one game or more, not {len(scores)} scores and "
            f"{len(opponents)} ratings"
        )
    rating = np.full(ORDERINGS, START)
    for game in _orders(len(scores), rng).T:
        rating = updated_rating(rating, opponents[game], scores[game])
    return _summary(rating)


def _checked(scores: ArrayLike) -> Floats:
    scores = np.asarray(scores, float)
    if not np.isin(scores, (0, 0.5, 1)).all():
        raise ValueError("scores must be 1, 0.5 or 0")
    return scores


def _orders(games: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return random permutations of the games, one a row, shape (ORDERINGS, games)."""
    return rng.permuted(np.tile(np.arange(games), (ORDERINGS, 1)), axis=1)


def _summary(ratings: Floats) -> Rating:
    return Rating(float(ratings.mean()), float(ratings.std(ddof=1)))
