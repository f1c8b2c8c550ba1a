"""Clusters of games whose results depend on each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from training.league.records import GameRecord


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
        seats = game.black, game.white
        pair = frozenset(seats), played[seats]
        played[seats] += 1
        pairs.append(pair)
        moves[pair].add((*seats, game.moves))
    return [(pair[0], frozenset(moves[pair])) for pair in pairs]
