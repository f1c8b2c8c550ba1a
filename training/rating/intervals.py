"""Score of a match, with its confidence interval over clusters of games."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr as student_cdf
from scipy.special import stdtrit as student_quantile

from training.league.records import GameRecord

TAIL = (1 - 0.95) / 2  # probability beyond either end of an interval


class Score(NamedTuple):
    """A player's score, with its interval over openings of the same kind."""

    wins: int
    draws: int
    losses: int
    mean: float  # points a game, 0 to 1, with half a point for a draw
    low: float
    high: float
    los: float  # likelihood of superiority: the level of the one-sided interval that reaches 0.5


class MatchScore(NamedTuple):
    """A player's score over all games of a match, and with each colour (None without games)."""

    total: Score
    as_black: Score | None
    as_white: Score | None


def score_match(games: Sequence[GameRecord], first: int, second: int) -> MatchScore:
    """Return the score of entrant `first` against entrant `second`."""
    black = [game for game in games if (game.black, game.white) == (first, second)]
    white = [game for game in games if (game.black, game.white) == (second, first)]

    def of(some: list[GameRecord]) -> Score:
        return score(player_points(some, first), opening_clusters(some))

    return MatchScore(of(black + white), of(black) if black else None, of(white) if white else None)


def player_points(games: Sequence[GameRecord], player: int) -> NDArray[np.float64]:
    """Return the points of `player`, one of the two, in each game, shape (games,)."""
    return np.array([game.score if game.black == player else 1 - game.score for game in games])


def opening_clusters(games: Sequence[GameRecord]) -> NDArray[np.int64]:
    """Return the cluster of each game, numbered from 0 in order of appearance, shape (games,).

    All games of one opening are a cluster: an opening that favours Black decides both games of a
    pair, and deterministic players repeat their games. With a single opening, a cluster is a pair
    of games with colours swapped; pairs with equal moves are one cluster.
    """
    keys: list[Hashable] = [game.opening for game in games]
    if len(set(keys)) == 1:
        keys = _pairs(games)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.int64)


def _pairs(games: Sequence[GameRecord]) -> list[Hashable]:
    """Return the players and moves of each game's pair: the n-th game of two and its reverse."""
    played: Counter[tuple[int, int]] = Counter()
    pairs, moves = [], defaultdict(set)
    for game in games:
        players = game.black, game.white
        pair = frozenset(players), played[players]
        played[players] += 1
        pairs.append(pair)
        moves[pair].add((*players, game.moves))
    return [(pair[0], frozenset(moves[pair])) for pair in pairs]


def score(points: ArrayLike, clusters: ArrayLike) -> Score:
    """Return the mean of points (1, 0.5 or 0 a game), with an interval for clustered games."""
    points, clusters = np.asarray(points, float), np.asarray(clusters)
    if not points.size or points.shape != clusters.shape or not np.isin(points, (0, 0.5, 1)).all():
        raise ValueError("give points (1, 0.5 or 0) and a cluster for each of one game or more")
    _, numbers, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    sums = np.bincount(numbers, points)
    mean, groups = float(points.mean()), len(sizes)
    if np.allclose(sums, mean * sizes):
        low, high, los = _equal(mean, groups)
    else:
        residuals = sums - mean * sizes
        variance = groups / (groups - 1) * residuals @ residuals / points.size**2
        low, high, los = _varied(mean, float(variance), groups)
    wins, draws, losses = (int((points == result).sum()) for result in (1, 0.5, 0))
    return Score(wins, draws, losses, mean, low, high, los)


def _varied(mean: float, variance: float, groups: int) -> tuple[float, float, float]:
    """Return bounds and superiority from the cluster-robust variance of the mean.

    The interval is that of Wilson (1927) for the number of independent games with this variance. It
    uses Student's t for the number of clusters, as for surveys (Dean and Pagano, 2015). Unlike mean
    and standard error it stays between 0 and 1, and its coverage holds near them.
    """
    games = mean * (1 - mean) / variance
    freedom = groups - 1
    share = student_quantile(freedom, TAIL) ** 2 / games
    centre = (mean + share / 2) / (1 + share)
    half = np.sqrt(share * mean * (1 - mean) + share**2 / 4) / (1 + share)
    los = student_cdf(freedom, (mean - 0.5) / np.sqrt(0.25 / games))
    return float(centre - half), float(centre + half), float(los)


def _equal(mean: float, groups: int) -> tuple[float, float, float]:
    """Return bounds and superiority if all clusters have the same score.

    The bounds are exact and binomial. If a share c of all clusters had another score, none of them
    would turn up with probability (1 - c)^groups. At worst they are all lost, or all won.
    """
    share = TAIL ** (1 / groups)
    # The largest probability of such results between equals; above one half it is no evidence.
    doubt = min((0.5 / max(mean, 1 - mean)) ** groups, 0.5)
    return mean * share, 1 - (1 - mean) * share, 1 - doubt if mean > 0.5 else doubt
