"""Pentanomial results: pairs of games from one opening with colours swapped, and normalized Elo."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.league.records import GameRecord
from training.rating.clusters import opening_clusters
from training.rating.elo import ELO_PER_LOGIT, EloEstimate
from training.rating.intervals import player_points
from training.runtime.extras import extra

with extra("train"):
    from scipy.special import stdtrit as student_quantile

PAIR_SCORES = np.arange(5) / 4


def count_pairs(games: Sequence[GameRecord], first: int, second: int) -> NDArray[np.int64]:
    """Count pairs in which `first` scored 0, 1/2, 1, 3/2 and 2 points against `second`.

    A pair is the n-th game of an opening with one colour and the n-th with the other. A game
    without a partner does not count.

    Parameters
    ----------
    games
        Games; those of other entrants do not count.
    first, second
        Numbers of the entrants.
    """
    counts = np.zeros(5, np.int64)
    met = [game for game in games if {game.black, game.white} == {first, second}]
    for opening in dict.fromkeys(game.opening for game in met):
        seats: tuple[list[GameRecord], list[GameRecord]] = ([], [])
        for game in met:
            if game.opening == opening:
                seats[game.black == first].append(game)
        for pair in zip(*seats, strict=False):
            counts[round(2 * player_points(pair, first).sum())] += 1
    return counts


def normalized_elo(
    games: Sequence[GameRecord], first: int, second: int, confidence: float = 0.95
) -> EloEstimate | None:
    """Return the normalized Elo of entrant `first` against `second`.

    It is the distance of the score from 1/2 in standard deviations of a game. The scale makes it
    equal Elo if no game is drawn. Unlike Elo it does not shrink if most games are drawn (M. Van den
    Bergh, "Normalized Elo", 2021).

    Parameters
    ----------
    games
        Games; those of other entrants do not count.
    first, second
        Numbers of the entrants.
    confidence
        Level of the interval.

    Returns
    -------
    The estimate; None if all pairs have the same score.
    """
    counts = count_pairs(games, first, second)
    pairs = int(counts.sum())
    if not pairs:
        return None
    mean = counts @ PAIR_SCORES / pairs
    deviation = np.sqrt(2 * (counts @ (PAIR_SCORES - mean) ** 2) / pairs)  # of a single game
    if not deviation:
        return None
    met = [game for game in games if {game.black, game.white} == {first, second}]
    clusters = len(np.unique(opening_clusters(met)))
    elo = 2 * ELO_PER_LOGIT * (mean - 0.5) / deviation
    quantile = student_quantile(max(clusters - 1, 1), (1 + confidence) / 2)
    half = 2 * ELO_PER_LOGIT * quantile / np.sqrt(2 * clusters)
    return EloEstimate(float(elo), float(elo - half), float(elo + half))
