"""Arguments of the Hub commands ``param``, ``set-param``, ``pos`` and ``level``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from agents.agent import Agent, Limits
from agents.analysis import limits_of
from agents.external.hub.notation import VARIANT, read_move, read_position, write_position
from agents.search.selective import MAX_STRETCH
from agents.search.workspace import UNLIMITED
from checkers_env.board import Board

MOVES_TO_GO = 30  # moves that share the time of a whole game
MAX_SHARE = 0.9  # largest share of the time left for a move
MAX_HARD_SHARE = 0.3  # largest share of the time left for a hard move
MIN_SECONDS = 0.01

_COUNTS, _TIMES = ("depth", "nodes", "moves"), ("move-time", "time", "inc")  # arguments of a level
_ARGUMENTS = {"pos": ("pos", "moves"), "level": (*_COUNTS, *_TIMES, "infinite")}

AnyDialect = Literal["auto", "english", "pydraughts"]


@dataclass(frozen=True)
class HubConfig:
    """The agent and its limits. All fields are also parameters of the protocol."""

    agent: str = "blondie24"
    """A name, a weight file or a factory, as for agents.make; options after an @."""
    depth: int | None = None
    """Limit of plies, whatever the other program allows."""
    simulations: int | None = None
    """Limit of playouts a move, whatever the other program allows."""
    seconds: float | None = None
    """Limit of time a move, whatever the other program allows."""
    seed: int | None = None
    """Seed of stochastic agents."""
    dialect: AnyDialect = "auto"
    """Notation of positions; auto reads the start with White to move as pydraughts'."""


def declare_params(config: HubConfig) -> Iterator[dict[str, object]]:
    """Yield the arguments of a ``param`` line for each parameter; an empty value is None."""
    yield {"name": "variant", "value": VARIANT, "type": "enum", "values": VARIANT}
    for name, value in asdict(config).items():
        arguments = {"name": name, "value": "" if value is None else value, "type": "string"}
        if name == "dialect":
            arguments |= {"type": "enum", "values": " ".join(get_args(AnyDialect))}
        yield arguments


def set_param(config: HubConfig, arguments: dict[str, str]) -> HubConfig:
    """Return the configuration after a ``set-param``. Raise ValueError for a wrong one."""
    name, text = arguments.get("name", ""), arguments.get("value", "")
    choices = {"variant": (VARIANT,), "dialect": get_args(AnyDialect)}.get(name)
    if choices and text not in choices:
        raise ValueError(f"{name} {text!r} is not known here: it can be {', '.join(choices)}")
    if name == "variant":
        return config
    params = asdict(config)
    if name not in params:
        raise ValueError(f"no parameter {name!r}: there are variant, {', '.join(params)}")
    value: Any = text
    if name not in ("agent", "dialect"):
        parse = float if name == "seconds" else int
        value = None if text in ("", "none") else _number(name, text, parse)
    return replace(config, **{name: value})


def read_pos(arguments: dict[str, str], dialect: AnyDialect) -> Board:
    """Return the board of a ``pos``. Raise ValueError for a wrong one."""
    for word in unknown_arguments("pos", arguments):
        if word[0].isdigit():  # a move outside the quotes
            raise ValueError(f"pos has no {word!r}: there are pos, moves; quote what has spaces")
    text = arguments.get("pos", "")
    if dialect == "auto":
        dialect = "pydraughts" if text == write_position(Board(), "pydraughts") else "english"
    board = read_position(text, dialect)
    for word in arguments.get("moves", "").split():
        board.push(read_move(word, board))
    return board


def read_level(arguments: dict[str, str]) -> Limits:
    """Return the limits of a ``level``. Raise ValueError for a wrong one.

    With a clock, each move gets a share of the time, and more while its search is undecided.
    """
    counts = {n: _number(n, arguments[n], int) for n in _COUNTS if n in arguments}
    for name, value in counts.items():
        if value < 1:
            raise ValueError(f"{name} must be 1 or more, not {value}")
        counts[name] = min(value, UNLIMITED)
    times = {n: _number(n, arguments[n], float) for n in _TIMES if n in arguments}
    seconds, share = times.get("move-time"), None
    if seconds is not None and seconds < 0:
        raise ValueError(f"move-time must be 0 or more, not {arguments['move-time']}")
    if "time" in times:
        increment = times.get("inc", 0.0)  # comes before the move
        left = times["time"] + increment
        share = times["time"] / counts.get("moves", MOVES_TO_GO) + increment
        share = max(min(share, MAX_SHARE * left), MIN_SECONDS)
        seconds = max(share, min(MAX_STRETCH * share, MAX_HARD_SHARE * left))
    if "infinite" in arguments:
        seconds = math.inf
    return Limits(
        depth=counts.get("depth"),
        simulations=counts.get("nodes"),
        seconds=None if seconds is None else max(seconds, MIN_SECONDS),
        share=share,
    )


def unknown_arguments(command: str, arguments: dict[str, str]) -> list[str]:
    """Return the arguments that a command does not have here. The protocol ignores them."""
    return [name for name in arguments if name not in _ARGUMENTS.get(command, arguments)]


def suit_level(agent: Agent, limits: Limits) -> Limits:
    """Return the limits of a ``level`` for an agent: its nodes are positions or simulations.

    Raise ValueError if the agent counts neither of what it limits.
    """
    _, known = limits_of(agent)
    if "nodes" in known:
        return limits._replace(nodes=limits.simulations, simulations=None)
    counts = {"depth": ("depth", limits.depth), "nodes": ("simulations", limits.simulations)}
    for name, (kind, limit) in counts.items():
        if known and limit is not None and kind not in known:
            allowed = " or ".join(sorted(known))
            raise ValueError(f"this agent is limited by {allowed}, not by {name}")
    return limits


def _number(name: str, text: str, parse: Callable[[str], Any]) -> Any:
    try:
        value = parse(text)
    except ValueError:
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a {'whole ' * (parse is int)}number, not {text!r}")
    return value
