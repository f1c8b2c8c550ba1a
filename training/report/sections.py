"""What the sections of the page show: all that is counted in the games of a league."""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple

from checkers_env import openings
from training.league.record import League
from training.report.charts import axis, histogram, length
from training.report.games import START
from training.report.tally import Tally, seats, tallies

MOST_ENDINGS = 20  # a faulty agent may forfeit every game for a reason of its own


class Card(NamedTuple):
    """An opening: what Black made of it, and each entrant with either colour."""

    number: int
    text: str
    name: str
    black: Tally
    entrants: list[Tally]


class Ending(NamedTuple):
    """A reason for which games ended, and what they were worth to Black."""

    number: int
    reason: str
    black: Tally


def counted(league: League) -> dict[str, Any]:
    """The variables of the template that depend on the games."""
    taken = list(seats(league.games))
    lengths = [length(game) for game in league.games]
    bars = histogram(league.games)
    endings = _endings(league)
    return {
        "overall": Tally(*map(sum, zip(*(ending.black for ending in endings), strict=True))),
        "pairs": tallies(((seat.player, seat.opponent), seat.score) for seat in taken),
        "sides": tallies(((seat.player, seat.side), seat.score) for seat in taken),
        "cards": _cards(league),
        "endings": endings[:MOST_ENDINGS],
        "rarer": endings[MOST_ENDINGS:],
        "bars": bars,
        "frequency": axis([0, max(1, *(bar.tally.games for bar in bars))], 4),
        "median": statistics.median(lengths) if lengths else 0,
        "longest": max(lengths, default=0),
    }


def _cards(league: League) -> list[Card]:
    """The openings, those first in which Black did best; numbers are of their first games."""
    black = tallies((game.opening, game.score) for game in league.games)
    each = tallies(((seat.game.opening, seat.player), seat.score) for seat in seats(league.games))
    players = range(len(league.entrants))
    cards = [
        Card(
            number,
            opening or START,
            openings.NAMES.get(opening, ""),
            tally,
            [each.get((opening, player), Tally()) for player in players],
        )
        for number, (opening, tally) in enumerate(black.items())
    ]
    return sorted(cards, key=lambda card: -card.black.score)


def _endings(league: League) -> list[Ending]:
    """The reasons, the most frequent first."""
    counts = tallies((game.reason, game.score) for game in league.games)
    endings = [Ending(number, *item) for number, item in enumerate(counts.items())]
    return sorted(endings, key=lambda ending: -ending.black.games)
