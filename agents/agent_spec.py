"""The text that names an agent: ``strong@depth=6``, ``hub:./engine``, ``file.py:factory``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agents.search.selective import MARGINS

Kind = Literal[
    "name", "weights", "continual", "hub", "dxp", "policy", "openspiel", "llm", "sb3", "factory"
]

PREFIXES: tuple[Kind, ...] = ("continual", "hub", "dxp", "policy", "openspiel", "llm")
WEIGHTS_SUFFIX, SB3_SUFFIX = ".safetensors", ".zip"
FLAGS = ("selective", "ends_at_jump", "ends_early")
OPTIONS: dict[str, Callable[[str], Any]] = {
    "depth": int,
    "simulations": int,
    "nodes": int,
    "seconds": float,
    "blunder": float,
    "endgame": int,
    **dict.fromkeys(FLAGS, ("0", "1").index),
    "tie": str,
    "order": str,
    "reduces": int,
    **dict.fromkeys(MARGINS, float),
}
PLAYER_FILES = (f"champion{WEIGHTS_SUFFIX}", f"champion{SB3_SUFFIX}", f"model{WEIGHTS_SUFFIX}")


def find_player_file(folder: Path) -> Path:
    """Return the weight file or policy in a run's folder, or in that of a model hub.

    Raise ValueError if there is none, or several of which none has a name of :data:`PLAYER_FILES`.
    """
    for name in PLAYER_FILES:
        if (folder / name).is_file():
            return folder / name
    found = sorted(folder.glob(f"*{WEIGHTS_SUFFIX}"))
    if len(found) == 1 and found[0].stem != "checkpoint":
        return found[0]
    raise ValueError(
        f"the folder {str(folder)!r} holds no player: expected {', '.join(PLAYER_FILES)}, "
        f"or one other {WEIGHTS_SUFFIX} file; it has {len(found)}"
    )


@dataclass(frozen=True)
class AgentSpec:
    """An agent and its options, as a text names them."""

    name: str  # the text without options, as agents.make takes it
    # `"name"` (one of agents.available), `"weights"` (a `.safetensors` file), `"sb3"` (a `.zip`
    # file of Stable-Baselines3), `"factory"` (`package.module:name` or `file.py:name`), or the
    # prefix of the text: `"hub"`, `"dxp"`, `"policy"`, `"openspiel"`, `"llm"` or `"continual"`.
    kind: Kind
    target: str  # the name without its prefix: a command, an address, a path, or the whole name
    options: dict[str, Any] = field(default_factory=dict)  # keyword arguments for agents.make

    @classmethod
    def from_name(cls, name: str) -> AgentSpec:
        """Return the spec of a text without options. Every text has one.

        A folder, written with a slash, stands for the player in it.
        """
        for prefix in PREFIXES:
            if name.startswith(f"{prefix}:"):
                return cls(name, prefix, name.removeprefix(f"{prefix}:"))
        if "/" in name.replace(os.sep, "/") and os.path.isdir(name):
            name = str(find_player_file(Path(name)))
        if name.endswith(WEIGHTS_SUFFIX):
            return cls(name, "weights", name)
        if name.endswith(SB3_SUFFIX):
            return cls(name, "sb3", name)
        return cls(name, "factory" if ":" in name else "name", name)

    @classmethod
    def parse(cls, text: str) -> AgentSpec:
        """Return the spec of a text that may end in options: ``material@depth=6,endgame=4``.

        All but players and weight files may have options of their own: numbers, true, false or
        text; a Hub engine its parameters. The path of a file that exists has no options.
        """
        name, _, options = text.rpartition("@")
        has_options = name and re.fullmatch(r"[A-Za-z_]\w*=[^@]*", options)
        if not has_options or os.path.exists(text):
            return cls.from_name(text)
        spec = cls.from_name(name)
        return replace(spec, options=dict(spec._option(text, it) for it in options.split(",")))

    def _option(self, text: str, assignment: str) -> tuple[str, Any]:
        key, _, value = assignment.partition("=")
        parse = OPTIONS.get(key)
        if parse is None and (self.is_builtin or not key.isidentifier()):
            raise ValueError(f"{text!r}: options are {', '.join(OPTIONS)}, not {key!r}")
        try:
            return key, (parse or _value)(value)
        except ValueError:
            expected = "0 or 1" if key in FLAGS else "a number"
            raise ValueError(f"{text!r}: {key} is {expected}, not {value!r}") from None

    @property
    def is_builtin(self) -> bool:
        """Whether it is a player of this project or a weight file: to make one runs no code."""
        return self.kind in ("name", "weights")

    def __str__(self) -> str:
        options = [f"{key}={_value_text(key, value)}" for key, value in self.options.items()]
        return f"{self.name}@{','.join(options)}" if options else self.name


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _value_text(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(int(value) if key in FLAGS and isinstance(value, bool) else value)
