"""Where the marks of a chart stand, in per cent of its width and height."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from training.league.record import GameRecord
from training.report.tally import Tally, tallies

MOST_BARS = 25
STEPS = (1, 2, 2.5, 5, 10)


class Axis(NamedTuple):
    """A scale whose ends are ticks."""

    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where a value stands from 0 to 100; what lies beyond an end is put at it."""
        low, high = self.ticks[0], self.ticks[-1]
        return 100 * ((min(max(value, low), high) - low) / (high - low))


class Bar(NamedTuple):
    """The games of `first` to `last` moves, as won, drawn and lost by Black."""

    first: int
    last: int
    tally: Tally


def axis(values: Iterable[float], most: int = 8) -> Axis:
    """A scale of at most `most` steps over those of the values that are finite."""
    from matplotlib.ticker import MaxNLocator  # takes half a second to import

    finite = [value for value in values if math.isfinite(value)] or [0.0]
    ticks = MaxNLocator(most, steps=STEPS, integer=True).tick_values(min(finite), max(finite))
    first, *between, last = map(float, ticks)  # a sum of steps is off by a rounding error
    return Axis((min(first, *finite), *between, max(last, *finite)))


def length(game: GameRecord) -> int:
    """A game's moves: one by each side is a move, and so is a last one by one side only."""
    return (len(game.moves) + 1) // 2


def histogram(games: Sequence[GameRecord]) -> list[Bar]:
    """Game lengths in bars of equal width from 0 on, empty ones included."""
    longest = max(map(length, games), default=0)
    ticks = axis([0, longest + 1], MOST_BARS).ticks
    width = max(1, int(ticks[1] - ticks[0]))
    counts = tallies((length(game) // width, game.score) for game in games)
    return [
        Bar(bar * width, (bar + 1) * width - 1, counts.get(bar, Tally()))
        for bar in range(longest // width + 1)
    ]
