"""Entrants of a league: texts such as ``blondie24@depth=6``, and the agents they stand for."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import agents
from agents.agent import Agent, PlayerAgent
from agents.agent_spec import SB3_SUFFIX, WEIGHTS_SUFFIX, AgentSpec
from agents.external.process import ProcessLimits, Starts
from agents.external.subprocess_agent import SubprocessAgent
from agents.factory import HUB_DEPTH
from agents.mcts.player import MonteCarlo
from agents.search.player import AlphaBeta
from checkers_env.files import read_regular
from training.league.game import printable
from training.league.records import Entrant

FOLDER_NAMED = {f"champion{WEIGHTS_SUFFIX}", f"model{WEIGHTS_SUFFIX}"}
LIMITS = {"depth", "simulations", "nodes", "seconds"}
FILES = {".py", WEIGHTS_SUFFIX, SB3_SUFFIX}
READY = 30.0  # seconds, at least, for an engine to get ready in
FOREVER = 1e6  # seconds, where there is no limit


class Entry(NamedTuple):
    """An entrant, a function that makes its agent, and whether there can be one of it only."""

    entrant: Entrant
    make: Callable[[], Agent]
    single: bool = False


def make_entry(
    text: str,
    *,
    depth: int | None = None,
    seconds: float | None = None,
    timeout: float | None = None,
    limits: ProcessLimits = ProcessLimits(),  # noqa: B008 - immutable
) -> Entry:
    """Return the entry of a text such as ``material``, ``material@depth=6`` or ``my.py:Mine``."""
    spec = AgentSpec.parse(text)
    name, options = spec.name, spec.options
    make: Callable[[], Agent]
    limits = limits._replace(starts=Starts())
    if spec.kind == "hub":
        options = _limited(options, depth, seconds, {"depth": HUB_DEPTH})
        times = {"timeout": timeout or FOREVER, "start_timeout": max(timeout or FOREVER, READY)}
        make = partial(agents.make, name, **times | {"limits": limits} | options)
    elif spec.kind in ("dxp", "llm"):
        make = partial(agents.make, name, **{"timeout": timeout or FOREVER, **options})
    elif not spec.is_builtin:
        code = partial(agents.make, name, **options)
        make = partial(SubprocessAgent, repr(text), code, timeout=timeout, limits=limits)
    else:
        player = getattr(agents.make(name, **options), "player", None)
        own = {it: getattr(player, it) for it in ("depth", "simulations") if hasattr(player, it)}
        options = _limited(options, depth, seconds, own)
        make = partial(agents.make, name, **options)
    if timeout and options.get("seconds", 0) >= timeout:
        raise ValueError(f"{text!r} would use up the {timeout:g} seconds that a move may take")
    agent = make()
    close_agent(agent)
    entrant = Entrant(display_name(name, options), name, options, describe_agent(agent, name))
    return Entry(entrant, make, spec.kind == "dxp")


def display_name(name: str, options: dict[str, Any]) -> str:
    """Return an agent's name for tables: a weight file loses its folder and suffix.

    The champion of a run has the name of the run's folder. Names can be printed, on one line.
    """
    limits = ", ".join(f"{key} {value}" for key, value in options.items())
    if name.endswith(WEIGHTS_SUFFIX):
        path = Path(name).absolute()
        in_run = path.name in FOLDER_NAMED
        name = path.parent.name if in_run else path.name.removesuffix(WEIGHTS_SUFFIX)
    return printable(f"{name} ({limits})" if limits else name)


def describe_agent(agent: Agent, name: str) -> str:
    """Return the kind of player and the version of its file; of an engine, also its own name."""
    what = "outside program or code"
    if isinstance(agent, PlayerAgent):
        kinds = {AlphaBeta: "alpha-beta", MonteCarlo: "Monte Carlo"}
        kind, player = kinds.get(type(agent.player)), agent.player
        what = f"{kind}, {type(player.evaluator).__name__}" if kind else "no search"
    spec = AgentSpec.from_name(name)
    if spec.kind == "hub":
        files = [path for word in shlex.split(spec.target) if (path := Path(word)).is_file()]
        engine = printable(getattr(agent, "name", what))
        return ", ".join([engine, *(f"{path.name} {file_digest(path)}" for path in files)])
    file = spec.target if spec.kind == "policy" else name
    for path in (Path(file), Path(file.rpartition(":")[0])):
        if path.suffix in FILES and path.is_file():
            return f"{what}, {path.name} {file_digest(path)}"
    return what


def file_digest(path: Path) -> str:
    """Return a short hash of a file's content."""
    return hashlib.sha256(read_regular(path)).hexdigest()[:12]


def is_confined(text: str) -> bool:
    """Return whether the agent of a text has processes of its own, with limits."""
    spec = AgentSpec.parse(text)
    return not spec.is_builtin and spec.kind not in ("dxp", "llm")


def close_agent(agent: Agent) -> None:
    """End what an agent has started, if it has a way to."""
    if end := getattr(agent, "close", None):
        end()


def search_depth(agent: Agent) -> int | None:
    """Return the plies that a built-in player searches; None for other agents."""
    return getattr(agent.player, "depth", None) if isinstance(agent, PlayerAgent) else None


def _limited(
    options: dict[str, Any], depth: int | None, seconds: float | None, own: dict[str, Any]
) -> dict[str, Any]:
    """Return options with a search limit: their own, the common one, or the default."""
    if not own or LIMITS & set(options):
        return options
    if seconds is not None:
        return options | {"seconds": seconds}
    return options | ({"depth": depth} if depth is not None and "depth" in own else own)
