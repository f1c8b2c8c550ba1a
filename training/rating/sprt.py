"""When a match of two may stop: a sequential probability ratio test on pairs of games.

The generalised test of the engine testers, for "pentanomial" results: a pair of games from one
opening, colours swapped, scores 0, 1/4, 1/2, 3/4 or 1, and it is pairs that are independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from training.league.records import GameRecord
from training.rating.clusters import opening_clusters
from training.rating.elo import expected_score
from training.rating.intervals import player_points


@dataclass(frozen=True)
class SprtState:
    """State of a test.

    Attributes
    ----------
    ratio
        Log-likelihood ratio of the results, `elo1` to `elo0`.
    lower, upper
        Bounds at which the test stops.
    pairs
        Number of pairs.
    """

    ratio: float
    lower: float
    upper: float
    pairs: int

    @property
    def decision(self) -> str:
        """The accepted hypothesis, ``"elo0"`` or ``"elo1"``, or ``""`` to play on."""
        if self.ratio >= self.upper:
            return "elo1"
        return "elo0" if self.ratio <= self.lower else ""


def sprt(
    pair_scores: Sequence[float],
    elo0: float,
    elo1: float,
    *,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> SprtState:
    """Test whether the first player is `elo0` or `elo1` points stronger, after each pair.

    The ratio is that of a normal mean with the variance of the scores. One pair won and one pair
    lost are added to them: otherwise the first two equal pairs would end the match.

    Parameters
    ----------
    pair_scores
        Mean score of the first player in each pair of games so far, 0 to 1.
    elo0, elo1
        Leads of the two hypotheses, in Elo points.
    alpha
        Accepted probability of "elo1" if `elo0` is true.
    beta
        Accepted probability of "elo0" if `elo1` is true.

    Raises
    ------
    ValueError
        If a score is not from 0 to 1, `elo0` is not below `elo1`, or a probability is out of range.
    """
    if not -math.inf < elo0 < elo1 < math.inf:
        raise ValueError(f"elo0 must be below elo1, and both finite, not {elo0} and {elo1}")
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha and beta must be between 0 and 0.5, not {alpha} and {beta}")
    scores = np.asarray(pair_scores, float)
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ValueError("scores of pairs must be between 0 and 1")
    low, high = expected_score(elo0), expected_score(elo1)
    mean = scores.mean() if scores.size else 0.5
    variance = np.mean((np.append(scores, (0, 1)) - mean) ** 2)
    ratio = len(scores) * (high - low) * (2 * mean - low - high) / (2 * variance)
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    return SprtState(float(ratio), lower, upper, len(scores))


def pair_scores(games: Sequence[GameRecord], first: int, second: int) -> list[float]:
    """Return the mean score of entrant `first` against `second` in each opening.

    Openings that lack a colour are left out.

    Parameters
    ----------
    games
        Games; those of other entrants do not count.
    first, second
        Numbers of the entrants.
    """
    met = [game for game in games if {game.black, game.white} == {first, second}]
    black = np.array([game.black == first for game in met], bool)
    return _means(player_points(met, first), opening_clusters(met), black).tolist()


def _means(
    scores: NDArray[np.float64], openings: NDArray[np.int64], black: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the mean of both colours' mean scores for each opening that has both.

    Parameters
    ----------
    scores, openings, black
        Score, number of the opening and whether the player had Black, each of shape (games,).
    """
    count = openings.max(initial=-1) + 1
    played, points = (
        np.stack([np.bincount(openings[its], weights[its], count) for its in (black, ~black)])
        for weights in (np.ones(len(scores)), scores)
    )
    both = played.all(axis=0)
    means: NDArray[np.float64] = (points[:, both] / played[:, both]).sum(axis=0) / 2
    return means


Bounds = tuple[float, float]  # the two leads of entrant 0 over entrant 1, in Elo


def is_decided(games: Mapping[int, GameRecord], bounds: Bounds) -> bool:
    """Return whether the test is decided by the games (given by number) before the first gap."""
    return bool(_test(_in_a_row(games), bounds).decision)


def games_until_decision(games: Mapping[int, GameRecord], bounds: Bounds) -> list[GameRecord]:
    """Return the games up to the decision, or up to the first missing one."""
    row = _in_a_row(games)
    ends = range(2, len(row) + 1, 2)
    return row[: next((end for end in ends if _test(row[:end], bounds).decision), len(row))]


def sprt_sentence(games: list[GameRecord], bounds: Bounds) -> str:
    """Return the result of the test as a sentence."""
    test = _test(games, bounds)
    what = {"elo0": f"{bounds[0]:+g} is accepted", "elo1": f"{bounds[1]:+g} is accepted"}
    return (
        f"Sequential test of leads of {bounds[0]:+g} and {bounds[1]:+g} Elo: "
        f"{what.get(test.decision, 'neither is accepted')} after {len(games)} games."
    )


def _test(row: list[GameRecord], bounds: Bounds) -> SprtState:
    return sprt(pair_scores(row[: len(row) // 2 * 2], 0, 1), *bounds)


def _in_a_row(games: Mapping[int, GameRecord]) -> list[GameRecord]:
    """Return the games up to the first missing number."""
    return [games[number] for number in takewhile(games.__contains__, range(len(games)))]
