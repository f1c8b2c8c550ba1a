"""Players that are not ours, by name: hub:, dxp:, policy:, openspiel:, and zip files of SB3."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from agents.agent import Agent
from agents.code import named

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
