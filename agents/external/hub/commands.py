"""What a Hub engine is told: its parameters, a position, and what it may spend on a move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from agents.agent import Agent
from agents.analysis import Limits
from agents.external.hub.notation import VARIANT, read_move, read_position, write_position
from checkers_env.board import Board

MOVES_LEFT = 30  # that the time for a whole game is shared out to
LARGEST_SHARE = 0.9  # of the time left
LONGEST, LARGEST_HOLD = 4.0, 0.3  # shares, and part of the time left, that a hard move may take
LEAST_TIME = 0.01  # seconds

_WHOLE, _TIMES = ("depth", "nodes", "moves"), ("move-time", "time", "inc")  # of a level
_KNOWN = {"pos": ("pos", "moves"), "level": (*_WHOLE, *_TIMES, "infinite")}  # arguments

AnyDialect = Literal["auto", "english", "pydraughts"]


@dataclass(frozen=True)
class Settings:
    """Which agent plays, and how; each can be set as a parameter of the protocol too."""

    agent: str = "blondie24"
    """A name, a weight file or a factory, as for agents.make."""
    depth: int | None = None
    """Most plies to search, whatever the other program allows."""
    simulations: int | None = None
    """Most playouts a move, whatever the other program allows."""
    seconds: float | None = None
    """Most time a move, whatever the other program allows."""
    seed: int | None = None
    """For agents that use chance."""
    dialect: AnyDialect = "auto"
    """How positions are written; auto takes the start with White to move to be pydraughts'."""


_READ: dict[str, Callable[[str], Any]] = {
    "agent": str,
    "depth": int,
    "simulations": int,
    "seconds": float,
    "seed": int,
    "dialect": str,
}


def parameters(settings: Settings) -> Iterator[dict[str, object]]:
    """The arguments of a ``param`` line for each parameter; an empty value is none."""
    yield {"name": "variant", "value": VARIANT, "type": "enum", "values": VARIANT}
    for name, value in asdict(settings).items():
        shown = {"name": name, "value": "" if value is None else value, "type": "string"}
        if name == "dialect":
            shown |= {"type": "enum", "values": " ".join(get_args(AnyDialect))}
        yield shown


def changed(settings: Settings, given: dict[str, str]) -> Settings:
    """The settings after a ``set-param``. Raises ValueError."""
    name, text = given.get("name", ""), given.get("value", "")
    choices = {"variant": (VARIANT,), "dialect": get_args(AnyDialect)}.get(name)
    if choices and text not in choices:
        raise ValueError(f"{name} {text!r} is not known here: it can be {', '.join(choices)}")
    if name == "variant":
        return settings
    if name not in _READ:
        raise ValueError(f"no parameter {name!r}: there are variant, {', '.join(_READ)}")
    optional = name not in ("agent", "dialect")
    value: Any = None if optional and text in ("", "none") else _number(name, text, _READ[name])
    return replace(settings, **{name: value})


def read_game(given: dict[str, str], dialect: AnyDialect) -> Board:
    """The board of a ``pos``. Raises ValueError."""
    for word in unknown("pos", given):
        if word[0].isdigit():  # a move that was meant to be among the moves
            raise ValueError(f"pos has no {word!r}: there are pos, moves; quote what has spaces")
    text = given.get("pos", "")
    if dialect == "auto":
        turned = text == write_position(Board(), "pydraughts")
        dialect = "pydraughts" if turned else "english"
    board = read_position(text, dialect)
    for word in given.get("moves", "").split():
        board.push(read_move(word, board))
    return board


def read_level(given: dict[str, str]) -> Limits:
    """The limits of a ``level``. Raises ValueError.

    Of a clock each move is meant to take its share, and may take more while it is not decided.
    """
    whole = {n: _number(n, given[n], int) for n in _WHOLE if n in given}
    for name, value in whole.items():
        if value < 1:
            raise ValueError(f"{name} must be 1 or more, not {value}")
    times = {n: _number(n, given[n], float) for n in _TIMES if n in given}
    seconds, share = times.get("move-time"), None
    if seconds is not None and seconds < 0:
        raise ValueError(f"move-time must be 0 or more, not {given['move-time']}")
    if "time" in times:
        gained = times.get("inc", 0.0)  # comes before the move
        left = times["time"] + gained
        share = times["time"] / whole.get("moves", MOVES_LEFT) + gained
        share = max(min(share, LARGEST_SHARE * left), LEAST_TIME)
        seconds = max(share, min(LONGEST * share, LARGEST_HOLD * left))
    if "infinite" in given:
        seconds = math.inf
    return Limits(
        depth=whole.get("depth"),
        simulations=whole.get("nodes"),
        seconds=None if seconds is None else max(seconds, LEAST_TIME),
        share=share,
    )


def unknown(command: str, given: dict[str, str]) -> list[str]:
    """The arguments that a command does not have here. The protocol has them ignored."""
    return [name for name in given if name not in _KNOWN.get(command, given)]


def check_level(agent: Agent, limits: Limits) -> None:
    """Raise ValueError for a ``level`` in plies or simulations if the agent counts in the other."""
    counted = {"depth": (limits.depth, "depth"), "nodes": (limits.simulations, "simulations")}
    player = getattr(agent, "player", None)
    known = [name for name, (_, attribute) in counted.items() if hasattr(player, attribute)]
    for name, (most, _) in counted.items():
        if known and most is not None and name not in known:
            raise ValueError(f"this agent is limited by seconds or {known[0]}, not by {name}")


def _number(name: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        value = read(text)
    except ValueError:
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a {'whole ' * (read is int)}number, not {text!r}")
    return value
