"""Anyone's code by name: ``package.module:name`` or ``file.py:name``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
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
