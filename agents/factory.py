"""Agents from a user's code and from other programs: factories, engines, policies and bots."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.agent import Agent
from agents.agent_spec import WEIGHTS_SUFFIX, AgentSpec, Kind
from agents.continual.agent import make_continual
from checkers_env.agent import FunctionAgent
from checkers_env.files import open_regular

HUB_DEPTH = 4  # depth of an engine without a limit


def make_external(spec: AgentSpec, options: Mapping[str, Any]) -> Agent:
    """Make an agent from a user's code or from another program."""
    if spec.kind == "factory":
        return _call_factory(spec.name, options)
    try:
        return MAKERS[spec.kind](spec.target, **options)
    except TypeError as error:
        raise ValueError(f"{spec.name!r} cannot be made with {options}: {error}") from None


def _call_factory(text: str, options: Mapping[str, Any]) -> Agent:
    factory = load_factory(text)
    try:
        signature = inspect.signature(factory)
        if [*signature.parameters] == ["board"] and not (options or isinstance(factory, type)):
            return FunctionAgent(factory)
        signature.bind(**options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text!r} cannot be called with {options}: {error}") from None
    agent: Agent = factory(**options)
    if not callable(getattr(agent, "act", None)):
        raise ValueError(f"{text!r} made {agent!r}, which has no method act(board)")
    return agent


def load_factory(text: str) -> Callable[..., Any]:
    """Return the class or function ``package.module:name`` or ``file.py:name``.

    Raise ValueError if there is none.
    """
    factory = load_object(text)
    if not callable(factory):
        place, _, name = text.rpartition(":")
        raise ValueError(f"{place!r} has no class or function {name!r}")
    return factory


def load_object(text: str) -> Any:
    """Return the object ``package.module:name`` or ``file.py:name``; None for a missing name.

    Raise ValueError if the module or the file cannot be imported.
    """
    place, _, name = text.rpartition(":")
    if not (place and name) or place.startswith("."):
        raise ValueError(f"write package.module:name or file.py:name, not {text!r}")
    try:
        module = (
            _import_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        )
    except (ImportError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"cannot import {place!r}: {error}") from error
    return getattr(module, name, None)


def _import_file(path: Path) -> ModuleType:
    """Execute a file once in a process; its folder comes first on the path, as for a script."""
    open_regular(path).close()  # a pipe would never end
    path = path.resolve()
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


def _continual(target: str, **options: Any) -> Agent:
    """Make the agent of ``continual:POOL`` or ``continual:POOL:RECORD``."""
    pool, _, record = target.partition(f"{WEIGHTS_SUFFIX}:")
    return make_continual(pool + WEIGHTS_SUFFIX if record else pool, record or None, **options)


def _hub(command: str, **options: Any) -> Agent:
    """Make the agent of ``hub:COMMAND``: an engine that speaks the Hub protocol."""
    limits = {} if {"depth", "seconds", "nodes"} & set(options) else {"depth": HUB_DEPTH}
    return _external("hub.client:HubAgent", command, **limits, **options)


def _dxp(address: str, **options: Any) -> Agent:
    """Make the agent of ``dxp:HOST:PORT``, which listens, or ``dxp:listen:PORT``, which calls."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"write dxp:HOST:PORT or dxp:listen:PORT, not {'dxp:' + address!r}")
    place = {"listens": True} if host == "listen" else {"host": host}
    return _external("dxp.session:DxpAgent", port=int(port), **place, **options)


def _policy(place: str, **options: Any) -> Agent:
    """Make the agent of ``policy:file.py:name``: a function from observation and mask to action."""
    if options:
        raise ValueError(f"a policy takes no {', '.join(options)}")
    return _external("policy:PolicyAgent", load_factory(place), place)


def _openspiel(bot: str, **options: Any) -> Agent:
    """Make the agent of ``openspiel:mcts``: a bot of OpenSpiel."""
    if bot != "mcts":
        raise ValueError(f"the bot of OpenSpiel that has a name is mcts, not {bot!r}")
    try:
        return _external("openspiel:mcts", **options)
    except ImportError as error:
        raise ValueError(str(error)) from None


def _external(name: str, *arguments: Any, **options: Any) -> Agent:
    """Import from agents.external when it is needed: some modules need optional packages."""
    agent: Agent = pkgutil.resolve_name(f"agents.external.{name}")(*arguments, **options)
    return agent


MAKERS: dict[Kind, Callable[..., Agent]] = {
    "continual": _continual,
    "hub": _hub,
    "dxp": _dxp,
    "policy": _policy,
    "openspiel": _openspiel,
    "llm": partial(_external, "llm:make_llm"),
    "sb3": partial(_external, "policy:sb3_agent"),
}
