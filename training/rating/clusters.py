"""Which games belong together: what happens in one says something of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from training.league.records import GameRecord


def opening_clusters(games: Sequence[GameRecord]) -> Any:
    """Return the cluster of each game, int64[games], numbered from 0 in order of appearance.

    All games from one opening are a cluster: an opening that favours Black decides both games of a
    pair, and players without chance repeat theirs. Where there is one opening only, a cluster is a
    pair of games with colours swapped, and pairs of the same moves are the same pair.
    """
    keys: list[Hashable] = [game.opening for game in games]
    if len(set(keys)) == 1:
        keys = _pairs(games)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.int64)


def _pairs(games: Sequence[GameRecord]) -> list[Hashable]:
    """For each game the players and moves of its pair: the n-th of a kind and its reverse."""
    played: Counter[tuple[int, int]] = Counter()
    pairs, moves = [], defaultdict(set)
    for game in games:
        seats = game.black, game.white
        pair = frozenset(seats), played[seats]
        played[seats] += 1
        pairs.append(pair)
        moves[pair].add((*seats, game.moves))
    return [(pair[0], frozenset(moves[pair])) for pair in pairs]
