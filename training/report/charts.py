"""Charts of the page: axes, bars and number formats; positions in % of width and height."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from training.league.records import GameRecord, WinDrawLoss
from training.report.standings import tallies

MOST_BARS = 25
STEPS = (1, 2, 2.5, 5, 10)


class Axis(NamedTuple):
    """A scale whose ends are ticks."""

    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return the position of a value, 0 to 100; values beyond an end stand at the end."""
        low, high = self.ticks[0], self.ticks[-1]
        return 100 * ((min(max(value, low), high) - low) / (high - low))


class Bar(NamedTuple):
    """The games of `first` to `last` moves, as won, drawn and lost by Black."""

    first: int
    last: int
    tally: WinDrawLoss


def make_axis(values: Iterable[float], most: int = 8) -> Axis:
    """Return a scale of at most `most` steps over the finite values."""
    from matplotlib.ticker import MaxNLocator  # takes half a second to import

    finite = [value for value in values if math.isfinite(value)] or [0.0]
    ticks = MaxNLocator(most, steps=STEPS, integer=True).tick_values(min(finite), max(finite))
    first, *between, last = map(float, ticks)  # a sum of steps is off by a rounding error
    return Axis((min(first, *finite), *between, max(last, *finite)))


def game_length(game: GameRecord) -> int:
    """Return the number of full moves, counting a last half move."""
    return (len(game.moves) + 1) // 2


def length_histogram(games: Sequence[GameRecord]) -> list[Bar]:
    """Count games by length, in bars of equal width from 0 on, empty bars included."""
    longest = max(map(game_length, games), default=0)
    ticks = make_axis([0, longest + 1], MOST_BARS).ticks
    width = max(1, int(ticks[1] - ticks[0]))
    counts = tallies((game_length(game) // width, game.score) for game in games)
    return [
        Bar(bar * width, (bar + 1) * width - 1, counts.get(bar, WinDrawLoss()))
        for bar in range(longest // width + 1)
    ]


DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
MOST_ITEMS = 6  # largest number of items shown of a list
WORDS = ((None, "none"), (True, "yes"), (False, "no"))


def format_percent(share: float) -> str:
    """Return a share as a percentage with one decimal, such as ``62.5``; a dash for nan."""
    return DASH if math.isnan(share) else f"{100 * share:.1f}"


def format_rating(rating: float) -> str:
    """Return a rating without decimals, with a true minus sign; a dash for nan."""
    if math.isnan(rating):
        return DASH
    text = "∞" if math.isinf(rating) else f"{abs(rating):.0f}"
    return MINUS + text if rating < 0 and text != "0" else text


def css_position(place: float) -> str:
    """Return a position in a chart as a percentage of CSS and SVG."""
    return f"{place:.2f}".rstrip("0").rstrip(".") + "%"


def format_value(value: Any) -> str:
    """Return the value of a condition or an option as text."""
    for constant, word in WORDS:
        if value is constant:
            return word
    if isinstance(value, Mapping):
        return ", ".join(
            f"{format_label(name)} {format_value(item)}" for name, item in value.items()
        )
    if isinstance(value, list | tuple):
        listed = ", ".join(map(format_value, value[:MOST_ITEMS]))
        return listed if len(value) <= MOST_ITEMS else f"{listed}, … ({len(value)} in all)"
    return str(value)


def format_label(name: str) -> str:
    """Return the name of a condition or an option as text."""
    return name.replace("_", " ")


FORMATS = css_position, format_label, format_percent, format_rating, format_value
