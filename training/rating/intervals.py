"""Score of a match, with its confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from training.league.records import GameRecord
from training.rating.clusters import opening_clusters
from training.runtime.extras import extra

with extra("train"):
    from scipy.special import stdtr as student_cdf
    from scipy.special import stdtrit as student_quantile


@dataclass(frozen=True)
class Score:
    """A player's score, with its interval over openings of the same kind.

    Attributes
    ----------
    wins, draws, losses
        Numbers of games.
    clusters
        Number of independent groups of games (see :mod:`training.rating.clusters`).
    mean
        Points a game, 0 to 1, with half a point for a draw.
    low, high
        Confidence interval of the true score.
    los
        Likelihood of superiority: the confidence that the true score exceeds 0.5. It is the level
        of the one-sided interval that just reaches 0.5.
    """

    wins: int
    draws: int
    losses: int
    clusters: int
    mean: float
    low: float
    high: float
    los: float


@dataclass(frozen=True)
class MatchScore:
    """A player's score over all games of a match, and with each colour (None without games)."""

    total: Score
    as_black: Score | None
    as_white: Score | None


def score_match(
    games: Sequence[GameRecord], first: int, second: int, confidence: float = 0.95
) -> MatchScore:
    """Return the score of entrant `first` against entrant `second`.

    Parameters
    ----------
    games
        Games; those of other entrants do not count.
    first, second
        Numbers of the entrants.
    confidence
        Level of the intervals.

    Raises
    ------
    ValueError
        If the two have not played each other, or `confidence` is not between 0 and 1.
    """
    black = [game for game in games if (game.black, game.white) == (first, second)]
    white = [game for game in games if (game.black, game.white) == (second, first)]
    if first == second or not black + white:
        raise ValueError(f"entrants {first} and {second} have not played each other")

    def of(some: list[GameRecord]) -> Score:
        return score(player_points(some, first), opening_clusters(some), confidence)

    return MatchScore(of(black + white), of(black) if black else None, of(white) if white else None)


def player_points(games: Sequence[GameRecord], player: int) -> NDArray[np.float64]:
    """Return the points of `player`, one of the two, in each game, shape (games,)."""
    return np.array([game.score if game.black == player else 1 - game.score for game in games])


def score(points: ArrayLike, clusters: ArrayLike, confidence: float = 0.95) -> Score:
    """Return the mean of points, with an interval for clustered games.

    Parameters
    ----------
    points
        1, 0.5 or 0 for each game, shape (games,).
    clusters
        Cluster of each game, by any labels, shape (games,).
    confidence
        Level of the interval, between 0 and 1.

    Raises
    ------
    ValueError
        If there are no games, or an argument is out of range.
    """
    points, clusters = np.asarray(points, float), np.asarray(clusters)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    if not points.size or points.shape != clusters.shape or not np.isin(points, (0, 0.5, 1)).all():
        raise ValueError("give points (1, 0.5 or 0) and a cluster for each of one game or more")
    _, numbers, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    sums = np.bincount(numbers, points)
    mean, groups, tail = float(points.mean()), len(sizes), (1 - confidence) / 2
    if np.allclose(sums, mean * sizes):
        low, high, los = _equal(mean, groups, tail)
    else:
        residuals = sums - mean * sizes
        variance = groups / (groups - 1) * residuals @ residuals / points.size**2
        low, high, los = _varied(mean, float(variance), groups, tail)
    wins, draws, losses = (int((points == result).sum()) for result in (1, 0.5, 0))
    return Score(wins, draws, losses, groups, mean, low, high, los)


def _varied(mean: float, variance: float, groups: int, tail: float) -> tuple[float, float, float]:
    """Return bounds and superiority from the cluster-robust variance of the mean.

    The interval is that of Wilson (1927) for the number of independent games with this variance. It
    uses Student's t for the number of clusters, as for surveys (Dean and Pagano, 2015). Unlike mean
    and standard error it stays between 0 and 1, and its coverage holds near them.
    """
    games = mean * (1 - mean) / variance
    freedom = groups - 1
    share = student_quantile(freedom, tail) ** 2 / games
    centre = (mean + share / 2) / (1 + share)
    half = np.sqrt(share * mean * (1 - mean) + share**2 / 4) / (1 + share)
    los = student_cdf(freedom, (mean - 0.5) / np.sqrt(0.25 / games))
    return float(centre - half), float(centre + half), float(los)


def _equal(mean: float, groups: int, tail: float) -> tuple[float, float, float]:
    """Return bounds and superiority if all clusters have the same score.

    The bounds are exact and binomial. If a share c of all clusters had another score, none of them
    would turn up with probability (1 - c)^groups. At worst they are all lost, or all won.
    """
    share = tail ** (1 / groups)
    # The largest probability of such results between equals; above one half it is no evidence.
    doubt = min((0.5 / max(mean, 1 - mean)) ** groups, 0.5)
    return mean * share, 1 - (1 - mean) * share, 1 - doubt if mean > 0.5 else doubt
