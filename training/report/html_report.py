"""The page of a league: its figures, and the template filled in."""

from __future__ import annotations

import base64
import hashlib
import re
import statistics
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move
from training.league.records import League, WinDrawLoss, select_entrants
from training.report import charts
from training.report.games import pack_games
from training.report.standings import StandingsRow, player_results, tallies

SCRIPTS = (  # each after those that it imports
    "app/engine/rules.js",
    *(f"app/static/{name}.js" for name in ("dom", "position", "board", "replay", "pdn")),
    *(f"report/template/{name}.js" for name in ("tables", "choice", "viewer")),
)
MOST_ENDINGS = 20  # a faulty agent may forfeit every game for a reason of its own
ROOM = 50  # Elo on both sides of a rating, where its interval is none or narrow


class Group(NamedTuple):
    """Games of one opening or ending: its number among the packed ones, and Black's results."""

    number: int
    key: str
    black: WinDrawLoss


def group_games(games: Iterable[tuple[str, float]]) -> list[Group]:
    """Group games, given by a key and Black's score, in the order of their keys."""
    return [Group(number, *item) for number, item in enumerate(tallies(games).items())]


def count_games(league: League) -> dict[str, Any]:
    """Return the template's variables that depend on the games."""
    games, taken = league.games, list(player_results(league.games))
    lengths = [charts.game_length(game) for game in games]
    bars = charts.length_histogram(games)
    cards = group_games((game.opening, game.score) for game in games)
    endings = group_games((game.reason, game.score) for game in games)
    endings.sort(key=lambda ending: -ending.black.games)
    return {
        "overall": WinDrawLoss(*map(sum, zip(*(ending.black for ending in endings), strict=True))),
        "pairs": tallies(((result.player, result.opponent), result.score) for result in taken),
        "sides": tallies(((result.player, result.side), result.score) for result in taken),
        "cards": sorted(cards, key=lambda card: -card.black.score),
        "each": tallies(((it.game.opening, it.player), it.score) for it in taken),
        "endings": endings[:MOST_ENDINGS],
        "rarer": endings[MOST_ENDINGS:],
        "bars": bars,
        "frequency": charts.make_axis([0, max(1, *(bar.tally.games for bar in bars))], 4),
        "median": statistics.median(lengths) if lengths else 0,
        "longest": max(lengths, default=0),
    }


def render_report(
    league: League,
    moves: Sequence[tuple[Move, ...]],
    standings: Sequence[StandingsRow],
    *,
    verdict: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return a league, with the moves of its games, as one self-contained HTML page.

    All tables show the entrants in the order of the standings. The verdict is the first sentence,
    the notes stand below the standings.
    """
    league = select_entrants(league, [standing.name for standing in standings])
    script = "\n".join(["const modules = {};", *map(_module, SCRIPTS)])
    ends = [(one.low, one.high, one.elo - ROOM, one.elo + ROOM) for one in standings]
    template = _environment().get_template("page.html.jinja")
    return template.render(
        league=league,
        standings=standings,
        verdict=verdict,
        notes=notes,
        rating=charts.make_axis(value for end in ends for value in end),
        style=Markup(_file("report/template/style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        packed=pack_games(league, moves),
        **count_games(league),
    )


def _file(path: str) -> str:
    return files("training").joinpath(path).read_text("utf-8")


def _module(path: str) -> str:
    """Return a module of JavaScript as a statement, so that several fit into one script."""
    text = _file(path)
    names = re.findall(r"^export (?:const|class|function) (\w+)", text, re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    imports = r'^import (\{.*\}) from ".*?(\w+)\.js";$'
    text = re.sub(imports, r"const \1 = modules.\2;", text, flags=re.MULTILINE)
    name = PurePosixPath(path).stem
    return f"modules.{name} = (() => {{\n{text}return {{ {', '.join(names)} }};\n}})();"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("training.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {filter_.__name__: filter_ for filter_ in charts.FORMATS}
    environment.globals |= {"black": BLACK, "white": WHITE}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment
