"""The page of a league: its figures, and the template filled in."""

from __future__ import annotations

import base64
import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from checkers_env import openings
from checkers_env.movegen import BLACK, WHITE
from training.league.records import League, WinDrawLoss
from training.report.charts import (
    Axis,
    css_position,
    format_label,
    format_percent,
    format_rating,
    format_value,
    game_length,
    length_histogram,
    make_axis,
)
from training.report.games import START, pack_games
from training.report.standings import StandingsRow, player_results, tallies

MOST_ENDINGS = 20  # a faulty agent may forfeit every game for a reason of its own


class Card(NamedTuple):
    """An opening: what Black made of it, and each entrant with either colour."""

    number: int
    text: str
    name: str
    black: WinDrawLoss
    entrants: list[WinDrawLoss]


class Ending(NamedTuple):
    """A reason for which games ended, and Black's results in them."""

    number: int
    reason: str
    black: WinDrawLoss


def count_games(league: League) -> dict[str, Any]:
    """Return the template's variables that depend on the games."""
    taken = list(player_results(league.games))
    lengths = [game_length(game) for game in league.games]
    bars = length_histogram(league.games)
    endings = _endings(league)
    return {
        "overall": WinDrawLoss(*map(sum, zip(*(ending.black for ending in endings), strict=True))),
        "pairs": tallies(((result.player, result.opponent), result.score) for result in taken),
        "sides": tallies(((result.player, result.side), result.score) for result in taken),
        "cards": _cards(league),
        "endings": endings[:MOST_ENDINGS],
        "rarer": endings[MOST_ENDINGS:],
        "bars": bars,
        "frequency": make_axis([0, max(1, *(bar.tally.games for bar in bars))], 4),
        "median": statistics.median(lengths) if lengths else 0,
        "longest": max(lengths, default=0),
    }


def _cards(league: League) -> list[Card]:
    """Return the openings, sorted by Black's score, best first."""
    black = tallies((game.opening, game.score) for game in league.games)
    each = tallies(
        ((result.game.opening, result.player), result.score)
        for result in player_results(league.games)
    )
    players = range(len(league.entrants))
    cards = [
        Card(
            number,
            opening or START,
            openings.NAMES.get(opening, ""),
            tally,
            [each.get((opening, player), WinDrawLoss()) for player in players],
        )
        for number, (opening, tally) in enumerate(black.items())
    ]
    return sorted(cards, key=lambda card: -card.black.score)


def _endings(league: League) -> list[Ending]:
    """Return the reasons for which games ended, the most frequent first."""
    counts = tallies((game.reason, game.score) for game in league.games)
    endings = [Ending(number, *item) for number, item in enumerate(counts.items())]
    return sorted(endings, key=lambda ending: -ending.black.games)


SCRIPTS = ("tables.js", "board.js", "drawing.js", "choice.js", "pdn.js", "viewer.js")
ROOM = 50  # Elo on both sides of a rating, where its interval is none or narrow


def render_report(
    league: League,
    standings: Sequence[StandingsRow],
    *,
    verdict: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return a league as one self-contained HTML page.

    Parameters
    ----------
    standings
        A line for each entrant of the league, in the order in which all tables show them.
    verdict
        First sentence of the page.
    notes
        Sentences below the standings: what the intervals are, for one.

    Raises
    ------
    ValueError
        If the standings do not match the entrants, or a game is invalid.
    """
    league = reorder_entrants(league, [standing.name for standing in standings])
    script = "\n".join(map(_file, SCRIPTS))
    template = _environment().get_template("page.html.jinja")
    return template.render(
        league=league,
        standings=standings,
        verdict=verdict,
        notes=notes,
        rating=_rating_axis(standings),
        style=Markup(_file("style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        packed=pack_games(league),
        **count_games(league),
    )


def reorder_entrants(league: League, names: Sequence[str]) -> League:
    """Put the entrants into the order of `names`. Raise ValueError for other names."""
    entrants = {entrant.name: entrant for entrant in league.entrants}
    if len(entrants) < len(league.entrants):
        raise ValueError(f"entrants must differ in name: {', '.join(entrants)}")
    if sorted(names) != sorted(entrants):
        raise ValueError(f"standings of {', '.join(names)}, not of {', '.join(entrants)}")
    place = [names.index(name) for name in entrants]
    games = (
        replace(game, black=place[game.black], white=place[game.white]) for game in league.games
    )
    return replace(league, entrants=tuple(entrants[name] for name in names), games=tuple(games))


def _rating_axis(standings: Sequence[StandingsRow]) -> Axis:
    ends = [(one.low, one.high, one.elo - ROOM, one.elo + ROOM) for one in standings]
    return make_axis(value for end in ends for value in end)


def _file(name: str) -> str:
    return files("training.report").joinpath("template", name).read_text("utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("training.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    formats = (css_position, format_label, format_percent, format_rating, format_value)
    environment.filters |= {filter_.__name__: filter_ for filter_ in formats}
    environment.globals |= {"black": BLACK, "white": WHITE}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment
