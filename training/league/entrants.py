"""Who enters a league: texts such as ``blondie24@depth=6``, and the agents they stand for."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import agents
from agents.agent import Agent, PlayerAgent
from agents.agent_spec import DEPTH, ZIP
from agents.external.subprocess_agent import HostedAgent
from agents.mcts.player import MonteCarlo
from agents.registry import SUFFIX, is_weight_file
from agents.search.player import AlphaBeta, Informed
from training.league.records import Entrant

CHAMPION = f"champion{SUFFIX}"
OPTIONS: dict[str, Callable[[str], Any]] = {
    "depth": int,
    "simulations": int,
    "nodes": int,
    "seconds": float,
    "endgame": int,
    "selective": ("0", "1").index,
}
LIMITS = {"depth", "simulations", "nodes", "seconds"}
HUB, DXP, POLICY = "hub:", "dxp:", "policy:"
FILES = {".py", SUFFIX, ZIP}
READY = 30.0  # seconds, at least, for an engine to get ready in
FOREVER = 1e6  # seconds, where there is no limit


class Entry(NamedTuple):
    """An entrant, a function that makes its agent, and whether there can be one of it only."""

    entrant: Entrant
    make: Callable[[], Agent]
    single: bool = False


def enter(
    text: str,
    *,
    depth: int | None = None,
    seconds: float | None = None,
    patience: float | None = None,
) -> Entry:
    """The entry that a text asks for, such as ``material``, ``material@depth=6`` or ``my.py:Mine``.

    Parameters
    ----------
    text
        What :func:`agents.make` takes and, after an @, its options.
    depth, seconds
        For agents of ours that search and for Hub engines, unless the text has its own.
    patience
        Seconds after which an agent in another process is taken to hang.

    The agent is made once, to see whether it can be. Raises ValueError or EngineError if it cannot.
    """
    name, options = split(text)
    make: Callable[[], Agent]
    if name.startswith(HUB):
        options = _limited(options, depth, seconds, {"depth": DEPTH})
        make = partial(agents.make, name, timeout=max(patience or FOREVER, READY), **options)
    elif name.startswith(DXP):
        make = partial(agents.make, name, **{"seconds": patience or FOREVER, **options})
    elif _is_code(name):
        code = partial(agents.make, name, **options)
        make = partial(HostedAgent, repr(text), code, patience=patience)
    else:
        options = _limited(options, depth, seconds, _own_limit(agents.make(name, **options)))
        make = partial(agents.make, name, **options)
    if patience and options.get("seconds", 0) >= patience:
        raise ValueError(f"{text!r} would use up the {patience:g} seconds that a move may take")
    agent = make()
    close(agent)
    entrant = Entrant(called(name, options), name, options, about(agent, name))
    return Entry(entrant, make, name.startswith(DXP))


def split(text: str) -> tuple[str, dict[str, Any]]:
    """The agent and its options. Raises ValueError for options that there are not.

    What is made by code, or out of a zip file, may have options of its own: numbers, true, false,
    or else text.
    """
    name, at, given = text.rpartition("@")
    if not at or not re.fullmatch(r"[A-Za-z_]\w*=[^@]*", given) or not name:
        return text, {}
    options = {}
    for part in given.split(","):
        key, _, value = part.partition("=")
        if key not in OPTIONS and not (key.isidentifier() and _has_own_options(name)):
            raise ValueError(f"{text!r}: options are {', '.join(OPTIONS)}, not {key!r}")
        try:
            options[key] = OPTIONS.get(key, _read)(value)
        except ValueError:
            what = "0 or 1" if key == "selective" else "a number"
            raise ValueError(f"{text!r}: {key} is {what}, not {value!r}") from None
    return name, options


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def called(name: str, options: dict[str, Any]) -> str:
    """What tables call an agent with options: a weight file without its folder and ending.

    A file that every run has is called by the run's folder.
    """
    told = ", ".join(f"{key} {value}" for key, value in options.items())
    if name.endswith(SUFFIX):
        path = Path(name).absolute()
        name = path.parent.name if path.name == CHAMPION else path.name.removesuffix(SUFFIX)
    return f"{name} ({told})" if told else name


def about(agent: Agent, name: str) -> str:
    """What kind of player it is, in a word or two, and which version of its file."""
    what = _kind(agent.player) if isinstance(agent, PlayerAgent) else "outside program or code"
    file = name.removeprefix(POLICY)
    for path in (Path(file), Path(file.rpartition(":")[0])):
        if path.suffix in FILES and path.is_file():
            return f"{what}, {path.name} {digest(path)}"
    return what


def digest(path: Path) -> str:
    """What tells one version of a file from others."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _kind(player: Any) -> str:
    if isinstance(player, AlphaBeta | Informed):
        return f"alpha-beta, {type(player.evaluator).__name__}"
    if isinstance(player, MonteCarlo):
        return f"Monte Carlo, {type(player.evaluator).__name__}"
    return "no search"


def close(agent: Agent) -> None:
    """End what an agent has started, if it has a way to."""
    if end := getattr(agent, "close", None):
        end()


def searched_plies(agent: Agent) -> int | None:
    """The plies that a player of ours searches; None for who does not search by plies."""
    return getattr(agent.player, "depth", None) if isinstance(agent, PlayerAgent) else None


def _own_limit(agent: Any) -> dict[str, Any]:
    """What limits the search of a player of ours where nothing is said; nothing if it has none."""
    if isinstance(agent.player, MonteCarlo):
        return {"simulations": agent.player.simulations}
    plies = searched_plies(agent)
    return {} if plies is None else {"depth": plies}


def _limited(
    options: dict[str, Any], depth: int | None, seconds: float | None, own: dict[str, Any]
) -> dict[str, Any]:
    """The options of a search with a limit: theirs, the one given to all, or its own."""
    if not own or LIMITS & set(options):
        return options
    if seconds is not None:
        return options | {"seconds": seconds}
    return options | ({"depth": depth} if depth is not None and "depth" in own else own)


def _has_own_options(name: str) -> bool:
    return _is_code(name) and not name.startswith((HUB, DXP))


def _is_code(name: str) -> bool:
    return (":" in name and not is_weight_file(name)) or name.endswith(ZIP)
