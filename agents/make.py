"""Agents by name, by weight file, or from anyone's code."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent, PlayerAgent
from agents.alphabeta import AlphaBeta
from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.baselines.uniform import Uniform
from agents.load import load_player
from agents.montecarlo.player import MonteCarlo, monte_carlo
from agents.workspace import MAX_DEPTH

SUFFIX = ".safetensors"
DEFAULT_DEPTH = 4
UNLIMITED = 1_000_000_000  # simulations, where time is the limit

BASELINES: dict[str, Callable[[int | None], Any]] = {
    "random": lambda depth: Uniform(),
    "heuristic": lambda depth: Heuristic(),
    "material": lambda depth: AlphaBeta(Material(), depth or DEFAULT_DEPTH, random_ties=True),
    "mcts": lambda depth: monte_carlo(cut=0),
    "mcts-ept": lambda depth: monte_carlo(),
}


def available() -> list[str]:
    """The names that :func:`make` knows: the baselines, and the trained players of the zoo."""
    return [*BASELINES, *sorted(_zoo())]


def make(
    agent: str,
    *,
    depth: int | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    **options: Any,
) -> Agent:
    """Make an agent.

    Parameters
    ----------
    agent
        A name out of :func:`available`, a weight file (``champion.safetensors``), or anyone's
        class or function as ``package.module:factory`` or ``file.py:factory``.
    depth
        Plies to search; by default those a player was trained with, 4 for ``material``.
    simulations
        Playouts a move, for ``mcts`` and ``mcts-ept`` (1,000 by default); for a player that
        searches, to play by Monte Carlo tree search with its evaluator instead.
    seconds
        Time a move, instead of a depth or simulations.
    seed
        For agents that use chance.
    options
        For a factory only: passed on, as are the others that are not None.

    Raises ValueError for what is unknown, impossible or cannot be read.
    """
    is_file = agent.endswith(SUFFIX)
    if ":" in agent and not is_file:
        given = {"depth": depth, "simulations": simulations, "seconds": seconds, "seed": seed}
        given |= options
        return _from_factory(agent, {k: v for k, v in given.items() if v is not None})
    if options:
        raise ValueError(
            f"{agent!r} takes depth, simulations, seconds and seed, not {', '.join(options)}"
        )
    _check(depth, simulations, seconds, seed)
    player = load_player(agent, depth) if is_file else _named_player(agent, depth)
    player = _budgeted(agent, player, depth, simulations, seconds)
    return PlayerAgent(agent, player, np.random.default_rng(seed), seconds)


def _budgeted(
    agent: str, player: Any, depth: int | None, simulations: int | None, seconds: float | None
) -> Any:
    """The player with what it may spend on a move."""
    if isinstance(player, AlphaBeta) and simulations is not None:
        if depth is not None:
            raise ValueError("a player has a depth or simulations, not both")
        player = monte_carlo(player.evaluator, simulations)
    if isinstance(player, AlphaBeta):
        return player if seconds is None else player._replace(depth=depth or MAX_DEPTH)
    if depth is not None:
        raise ValueError(f"{agent!r} does not search by plies: it takes no depth")
    if isinstance(player, MonteCarlo):
        most = player.simulations if seconds is None else UNLIMITED
        return player._replace(simulations=simulations or most)
    if simulations is not None or seconds is not None:
        raise ValueError(f"{agent!r} does not search: it takes no simulations and no seconds")
    return player


def _check(
    depth: int | None, simulations: int | None, seconds: float | None, seed: int | None
) -> None:
    if depth is not None and not (isinstance(depth, int) and 1 <= depth <= MAX_DEPTH):
        raise ValueError(f"depth must be a whole number from 1 to {MAX_DEPTH}, not {depth!r}")
    if simulations is not None and not (isinstance(simulations, int) and simulations >= 1):
        raise ValueError(f"simulations must be a whole number from 1 on, not {simulations!r}")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds must be more than 0, not {seconds!r}")
    if seed is not None and not (isinstance(seed, int) and seed >= 0):
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")


def _named_player(agent: str, depth: int | None) -> Any:
    if agent in BASELINES:
        return BASELINES[agent](depth)
    if agent in _zoo():
        return load_player(_zoo()[agent], depth)
    raise ValueError(
        f"no agent {agent!r}: known are {', '.join(available())}, a weight file (*{SUFFIX}), "
        "or a factory such as package.module:name or file.py:name"
    )


def _zoo() -> dict[str, Path]:
    folder = Path(str(files("agents") / "zoo"))
    return {path.name.removesuffix(SUFFIX): path for path in folder.glob(f"*{SUFFIX}")}


def _from_factory(text: str, given: dict[str, Any]) -> Agent:
    place, _, name = text.rpartition(":")
    if not (place and name) or place.startswith("."):
        raise ValueError(f"{text!r} is not a factory: write package.module:name or file.py:name")
    try:
        module = _module(place)
    except (ImportError, OSError, SyntaxError) as error:
        raise ValueError(f"cannot import {place!r}: {error}") from error
    factory = getattr(module, name, None)
    if not callable(factory):
        raise ValueError(f"{place!r} has no class or function {name!r}")
    try:
        inspect.signature(factory).bind(**given)
    except TypeError as error:
        raise ValueError(f"{text!r} cannot be called with {given}: {error}") from None
    made = factory(**given)
    if not callable(getattr(made, "act", None)):
        raise ValueError(f"{text!r} made {made!r}, which has no method act(board)")
    agent: Agent = made
    return agent


def _module(place: str) -> Any:
    """A module by its name, or by its file, which is executed once in a process."""
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place).resolve()
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
