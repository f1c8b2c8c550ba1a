"""A league as the rows of a regression: its games, and the prior as further games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from training.league.record import GameRecord
from training.rating.clusters import clusters
from training.rating.regression import Rows


def meetings(games: Sequence[GameRecord], entrants: int) -> Any:
    """How often any two have met (int64[entrants, entrants], symmetric)."""
    met = np.zeros((entrants, entrants), np.int64)
    for game in games:
        met[game.black, game.white] += 1
    return met + met.T


def played(games: Sequence[GameRecord], entrants: int, first_move: bool) -> Rows:
    """The games themselves, clustered by opening."""
    black = np.array([game.black for game in games])
    white = np.array([game.white for game in games])
    points = np.array([game.score for game in games])
    design = _design(black, white, entrants, first_move)
    return Rows(design, points, np.ones(len(games)), clusters(games))


def prior(met: Any, draws: float, first_move: bool) -> Rows:
    """`draws` drawn games for each entrant, in proportion to its games with each opponent.

    Drawn games between equals would seem to be free of error. So any two who have met (`met`, of
    :func:`meetings`) get a pair of games that one of them wins and a pair that the other wins,
    weighted to make the same strengths.
    """
    first, second = np.nonzero(np.triu(met, 1))
    share = draws * met / met.sum(axis=1)[:, None]
    weights = np.tile((share + share.T)[first, second] / 8, 4)
    black, white = np.tile(np.r_[first, second], 2), np.tile(np.r_[second, first], 2)
    pairs = np.arange(len(first))
    won, lost = np.ones(len(first)), np.zeros(len(first))
    design = _design(black, white, len(met), first_move)
    clusters = np.r_[pairs, pairs, pairs + len(first), pairs + len(first)]
    return Rows(design, np.r_[won, lost, lost, won], weights, clusters)


def _design(black: Any, white: Any, entrants: int, first_move: bool) -> Any:
    """1 for Black and -1 for White, the first entrant left out as zero; then 1 for Black's move."""
    design = np.zeros((len(black), entrants + 1))
    rows = np.arange(len(black))
    design[rows, black] += 1
    design[rows, white] -= 1
    design[:, entrants] = 1
    return design[:, 1 : entrants + first_move]
