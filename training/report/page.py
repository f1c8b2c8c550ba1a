"""The page: the template filled in, and written."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from checkers_env.files import write_atomically
from checkers_env.rules import BLACK, WHITE
from training.league.record import League
from training.report.charts import Axis, axis
from training.report.games import packed
from training.report.sections import counted
from training.report.wording import at, called, percent, shown, whole

SCRIPTS = ("tables.js", "board.js", "drawing.js", "choice.js", "pdn.js", "viewer.js")
ROOM = 50  # Elo on both sides of a rating, where its interval is none or narrow


class Standing(NamedTuple):
    """A line of the standings; `low` and `high` bound the rating, scores are from 0 to 1."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    score_low: float
    score_high: float
    about: str = ""


def write_report(
    path: Path,
    league: League,
    standings: Sequence[Standing],
    *,
    title: str = "League",
    notes: Sequence[str] = (),
) -> None:
    """Write the page of :func:`report_page` to a file, all or nothing."""
    page = report_page(league, standings, title=title, notes=notes)
    write_atomically(path, page.encode())


def report_page(
    league: League,
    standings: Sequence[Standing],
    *,
    title: str = "League",
    notes: Sequence[str] = (),
) -> str:
    """A league as one HTML page that loads nothing from elsewhere.

    Parameters
    ----------
    standings
        A line for each entrant of the league, in the order in which all tables show them.
    notes
        Sentences below the standings: what the intervals are, for one.

    Raises ValueError for standings that are not those of the entrants, and for games that
    :func:`training.report.games.packed` cannot hold.
    """
    league = in_order(league, [standing.name for standing in standings])
    script = "\n".join(map(_file, SCRIPTS))
    template = _environment().get_template("page.html.jinja")
    return template.render(
        title=title,
        league=league,
        standings=standings,
        notes=notes,
        rating=_rating_axis(standings),
        style=Markup(_file("style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        packed=packed(league),
        **counted(league),
    )


def in_order(league: League, names: Sequence[str]) -> League:
    """The league with its entrants in the order of `names`. Raises ValueError for other names."""
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


def _rating_axis(standings: Sequence[Standing]) -> Axis:
    ends = [(one.low, one.high, one.elo - ROOM, one.elo + ROOM) for one in standings]
    return axis(value for end in ends for value in end)


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
    environment.filters |= {
        "at": at,
        "called": called,
        "percent": percent,
        "shown": shown,
        "whole": whole,
    }
    environment.globals |= {"black": BLACK, "white": WHITE}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment
