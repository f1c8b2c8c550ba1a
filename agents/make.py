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
from agents.workspace import MAX_DEPTH

SUFFIX = ".safetensors"
DEFAULT_DEPTH = 4

BASELINES: dict[str, Callable[[int | None], Any]] = {
    "random": lambda depth: Uniform(),
    "heuristic": lambda depth: Heuristic(),
    "material": lambda depth: AlphaBeta(Material(), depth or DEFAULT_DEPTH, random_ties=True),
}


def available() -> list[str]:
    """The names that :func:`make` knows: the baselines, and the trained players of the zoo."""
    return [*BASELINES, *sorted(_zoo())]


def make(
    agent: str,
    *,
    depth: int | None = None,
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
    seconds
        Time a move, instead of a depth: deepens ply by ply until it is up.
    seed
        For agents that use chance.
    options
        For a factory only: passed on, as are the others that are not None.

    Raises ValueError for what is unknown, impossible or cannot be read.
    """
    is_file = agent.endswith(SUFFIX)
    if ":" in agent and not is_file:
        given = {"depth": depth, "seconds": seconds, "seed": seed, **options}
        return _from_factory(agent, {k: v for k, v in given.items() if v is not None})
    if options:
        raise ValueError(f"{agent!r} takes depth, seconds and seed, not {', '.join(options)}")
    _check(depth, seconds, seed)
    player = load_player(agent, depth) if is_file else _named_player(agent, depth)
    if isinstance(player, AlphaBeta):
        if seconds is not None:
            player = player._replace(depth=depth or MAX_DEPTH)
    elif depth is not None or seconds is not None:
        raise ValueError(f"{agent!r} does not search: it takes no depth and no seconds")
    return PlayerAgent(agent, player, np.random.default_rng(seed), seconds)


def _check(depth: int | None, seconds: float | None, seed: int | None) -> None:
    if depth is not None and not (isinstance(depth, int) and 1 <= depth <= MAX_DEPTH):
        raise ValueError(f"depth must be a whole number from 1 to {MAX_DEPTH}, not {depth!r}")
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
