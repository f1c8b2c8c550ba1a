"""Asking an engine that speaks the Hub protocol, and getting it ready to play this game."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping

from agents.external.hub_notation import VARIANT, read_line, write_line
from agents.external.process import LineProcess

Declared = dict[str, dict[str, str]]


def answers(
    process: LineProcess, question: str, last: str, seconds: float
) -> Iterator[tuple[str, dict[str, str]]]:
    """Send a line and yield the commands and arguments that come, up to the one called `last`.

    Of a line that is not in the protocol's form the first word is taken. Raises EngineError for an
    ``error``, and when the last answer has not come within the `seconds`.
    """
    process.say(question)
    end = time.monotonic() + seconds
    awaited, command = f"{last!r} within {seconds:g} s of {question!r}", ""
    while command != last:
        line = process.read(awaited, end - time.monotonic())
        try:
            command, given = read_line(line)
        except ValueError:
            command, given = line.split()[0], {}
        if command == "error":
            raise process.failure(f"reports an error: {given.get('message', line)}")
        yield command, given


def answer(process: LineProcess, question: str, last: str, seconds: float) -> dict[str, str]:
    """The arguments of the last of the :func:`answers`."""
    [(_, given)] = deque(answers(process, question, last, seconds), maxlen=1)
    return given


def shake_hands(
    process: LineProcess, params: Mapping[str, object], wishes: Mapping[str, object], seconds: float
) -> None:
    """Learn what the engine is called and what parameters it has, set them, and await it ready.

    Those of `wishes` are set if the engine has them and their value is among the declared ones.
    Raises EngineError for an engine that fails or does not play this game, and ValueError for one
    of `params` that the engine does not have.
    """
    about: dict[str, str] = {}
    declared: Declared = {}
    for command, given in answers(process, "hub", "wait", seconds):
        if command == "id":
            about |= given
        elif command == "param":
            declared[given.get("name", "")] = given
    if about.get("name"):
        process.name = f"{about['name']} {about.get('version', '')}".strip()
    unknown = sorted(params.keys() - declared.keys())
    if unknown:
        raise ValueError(
            f"{process.name} has no parameter {', '.join(unknown)}: "
            f"it has {', '.join(declared) or 'none'}"
        )
    chosen = {**{n: value for n, value in wishes.items() if _takes(declared, n, value)}, **params}
    if "variant" in declared and "variant" not in chosen:
        raise process.failure(f"plays {declared['variant']['values']}, not {VARIANT}")
    for name, value in chosen.items():
        shown = str(value).lower() if isinstance(value, bool) else value
        process.say(write_line("set-param", {"name": name, "value": shown}))
    answer(process, "init", "ready", seconds)


def _takes(declared: Declared, name: str, value: object) -> bool:
    """Whether the engine has a parameter that may have this value."""
    values = declared.get(name, {}).get("values")
    return name in declared and (values is None or str(value) in values.split())
