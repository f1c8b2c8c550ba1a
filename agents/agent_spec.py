"""Players that are not ours, by name: hub:, dxp:, policy:, openspiel:, and zip files of SB3."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.agent import Agent


def agent_from(text: str, given: dict[str, Any]) -> Agent:
    """What the class or function of that name makes of the options.

    Raises ValueError if there is none, if it cannot take them, or if it makes no agent.
    """
    factory = named(text)
    try:
        inspect.signature(factory).bind(**given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text!r} cannot be called with {given}: {error}") from None
    made = factory(**given)
    if not callable(getattr(made, "act", None)):
        raise ValueError(f"{text!r} made {made!r}, which has no method act(board)")
    agent: Agent = made
    return agent


def named(text: str) -> Any:
    """The class or function of that name. Raises ValueError if there is none."""
    place, _, name = text.rpartition(":")
    if not (place and name) or place.startswith("."):
        raise ValueError(f"{text!r} is not a factory: write package.module:name or file.py:name")
    try:
        module = _module(place)
    except (ImportError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"cannot import {place!r}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{place!r} has no class or function {name!r}")
    return found


def _module(place: str) -> Any:
    """A module by its name, or by its file, which is executed once in a process.

    As for a script, its folder comes first in the search for what it imports.
    """
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
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


DEPTH = 4  # for a Hub engine, when nothing is said


def hub(command: str, **options: Any) -> Agent:
    """``hub:COMMAND``: an engine that speaks the Hub protocol."""
    limits = {"depth": DEPTH} if not {"depth", "seconds", "nodes"} & set(options) else {}
    return _of("hub").hub_agent(command, **limits, **options)


def dxp(address: str, **options: Any) -> Agent:
    """``dxp:HOST:PORT``: a program that listens there; ``dxp:listen:PORT``: one that calls."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"write dxp:HOST:PORT or dxp:listen:PORT, not {'dxp:' + address!r}")
    opponent = _of("dxp_opponent")
    if host == "listen":
        return opponent.listen(port=int(port), **options)
    return opponent.connect(host, int(port), **options)


def policy(place: str, **options: Any) -> Agent:
    """``policy:file.py:name``: a function from observation and mask to action."""
    if options:
        raise ValueError(f"a policy takes no {', '.join(options)}")
    return _of("policy").PolicyAgent(named(place), place)


def openspiel(bot: str, **options: Any) -> Agent:
    """``openspiel:mcts``: a bot of OpenSpiel."""
    if bot != "mcts":
        raise ValueError(f"the bot of OpenSpiel that has a name is mcts, not {bot!r}")
    try:
        return _of("openspiel").mcts(**options)
    except ImportError as error:
        raise ValueError(str(error)) from None


def sb3(path: str, **options: Any) -> Agent:
    """A zip file of Stable-Baselines3: a policy trained with MaskablePPO."""
    return _of("policy").sb3_agent(path, **options)


KINDS: dict[str, Callable[..., Agent]] = {
    "hub": hub,
    "dxp": dxp,
    "policy": policy,
    "openspiel": openspiel,
}
ZIP = ".zip"


def outside(text: str) -> Callable[..., Agent] | None:
    """A function that makes the player of that name from its options; None if it is not one."""
    kind, colon, rest = text.partition(":")
    if colon and kind in KINDS:
        return lambda **options: KINDS[kind](rest, **options)
    if text.endswith(ZIP):
        return lambda **options: sb3(text, **options)
    return None


def _of(module: str) -> Any:
    """A module of this package, imported when it is needed: some need what is not installed."""
    return importlib.import_module(f"agents.external.{module}")
