"""Wins, draws and losses, counted by anything."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from checkers_env.rules import BLACK, WHITE
from training.league.record import GameRecord

Key = TypeVar("Key", bound=Hashable)


class Tally(NamedTuple):
    """How many games somebody won, drew and lost."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return sum(self)

    @property
    def score(self) -> float:
        """Points a game, a draw being half of one; nan without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan


class Seat(NamedTuple):
    """A game as one of its two players has it."""

    player: int
    opponent: int
    side: int
    score: float
    game: GameRecord


def seats(games: Iterable[GameRecord]) -> Iterator[Seat]:
    """Both seats of every game, Black's first."""
    for game in games:
        yield Seat(game.black, game.white, BLACK, game.score, game)
        yield Seat(game.white, game.black, WHITE, 1 - game.score, game)


def tallies(scores: Iterable[tuple[Key, float]]) -> dict[Key, Tally]:
    """The tally of each key out of the scores of single games; keys come as they came first."""
    counts = Counter(scores)
    return {
        key: Tally(counts[key, 1.0], counts[key, 0.5], counts[key, 0.0])
        for key in dict.fromkeys(key for key, _ in counts)
    }
